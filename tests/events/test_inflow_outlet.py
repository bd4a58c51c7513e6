"""Grains that enter and leave during a run: nothing is lost, contacts keep their forces, files follow."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial import cKDTree
from support.builders import column, exact, grains
from support.scenes import hopper

import rigidgrains as rg
from rigidgrains.certificate import check
from rigidgrains.detect.candidates import find_candidates
from rigidgrains.events.events import Events
from rigidgrains.events.population import Crowd, change, copy_grains
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.trajectory.checkpoint import pack

G = 9.81


def overlap(bodies):
    """The deepest overlap of two grains over the mean radius, by a tree."""
    tree = cKDTree(bodies.position)
    pairs = tree.query_pairs(2.0 * bodies.radius.max(), output_type="ndarray")
    i, j = pairs.T
    gap = np.linalg.norm(bodies.position[i] - bodies.position[j], axis=1) - bodies.radius[i] - bodies.radius[j]
    return max(0.0, -gap.min(initial=0.0)) / bodies.radius.mean()


@pytest.mark.parametrize("laws", [False, True])
def test_no_grain_is_lost(laws):
    """What was there and what entered is what is there and what left, in number and in mass, at every step."""
    simulation = Simulation(hopper(laws=laws))
    bodies, stage = simulation.bodies, simulation.bodies.events
    start, mass = bodies.count, bodies.mass.sum()
    (rain,), (drain,) = stage.inflows, stage.outlets
    for _ in range(600):
        simulation.step()
        assert bodies.count == start + rain.made - drain.count
        assert bodies.mass.sum() == pytest.approx(mass + rain.mass - drain.mass, rel=1e-12)
        assert len(np.unique(bodies.id)) == bodies.count
        assert bodies.groups["bed"] == slice(0, bodies.groups["bed"].stop)
        assert bodies.groups["rain"] == slice(bodies.groups["bed"].stop, bodies.count)
        assert (bodies.id[bodies.groups["rain"]] >= start).all()
        assert (bodies.id[bodies.groups["bed"]] < start).all()
    assert rain.made == math.floor(400.0 * 0.2995 + 1e-9)  # due at the beginning of the last step
    assert drain.count > 30
    assert bodies.position[:, 1].min() > -0.01 - 0.001
    assert simulation.tally.deepest < 0.05 * bodies.radius.mean()
    assert overlap(bodies) < 0.05
    report = simulation.report()
    assert report.outlets["drain"]["grains"] == drain.count
    assert "into rain" in str(report)
    if not laws:
        assert not check(rg.Frame.of(simulation), tolerance=0.1).failed


def test_no_grain_is_lost_in_steps_of_any_length():
    """dt = "auto": rates are in time, not in steps."""
    scene = hopper()
    scene.run = rg.scene.Run(dt="auto", seed=5)
    simulation = Simulation(scene)
    simulation.run(until=0.15)
    (rain,), (drain,) = simulation.bodies.events.inflows, simulation.bodies.events.outlets
    assert simulation.bodies.count == 60 + rain.made - drain.count
    assert rain.made == math.floor(400.0 * (simulation.time - simulation.dt) + 1e-6)
    assert drain.count > 5


def test_grains_enter_with_their_motion_and_without_overlap():
    """In free space each grain that has entered since moves as a free body: momentum is that of the rate."""
    scene = rg.Scene(dimension=3, run={"dt": 0.01})
    scene.add_inflow(
        "jet", radius=0.05, density=3.0, rate=100, region=[[0, 0, 0], [1, 1, 1]], velocity=[5, 0, 1], spin=[0, 2, 0]
    )
    simulation = Simulation(scene)
    simulation.run(steps=101)
    bodies = simulation.bodies
    assert bodies.count == 100
    mass = 3.0 * 4 / 3 * math.pi * 0.05**3
    np.testing.assert_allclose(bodies.mass, mass, rtol=1e-14)
    np.testing.assert_allclose((bodies.mass[:, None] * bodies.velocity).sum(axis=0), 100 * mass * np.array([5, 0, 1]))
    np.testing.assert_allclose(bodies.spin, np.tile([0, 2, 0], (100, 1)))
    assert overlap(bodies) == 0.0
    entered = 0.01 * np.arange(1, 101)  # the k-th grain, at k/rate; it has moved since
    start = bodies.position - (simulation.time - entered)[:, None] * bodies.velocity
    assert (start > 0.05 - 1e-9).all()
    assert (start < 0.95 + 1e-9).all()


def test_a_full_region_makes_grains_wait():
    """A box with room for a few: what is due is kept, and enters when the box is emptied."""
    scene = rg.Scene(dimension=2, run={"dt": 0.01, "seed": 1})
    scene.add_box(lower=[0, 0], upper=[1, 1])
    scene.add_inflow("in", radius=0.2, rate=100, region=[[0, 0], [1, 1]], total=30)
    scene.add_outlet("out", region=[[-1, -1], [2, 2]], since=1.005)
    simulation = Simulation(scene)
    simulation.run(steps=100)
    (flow,) = simulation.bodies.events.inflows
    inside = simulation.bodies.count
    assert 2 <= inside <= 5
    assert flow.made == inside
    assert flow.missing(simulation.time) == 30 - inside
    simulation.run(steps=30)
    assert flow.made == 30
    assert simulation.bodies.events.outlets[0].count + simulation.bodies.count == 30
    assert sorted(simulation.bodies.id) == list(range(30 - simulation.bodies.count, 30))


def test_a_mass_rate_is_kept():
    scene = rg.Scene(dimension=2, run={"dt": 0.01})
    sizes = {"values": [0.01, 0.02], "shares": [3, 1]}
    scene.add_inflow("in", radius=sizes, density=100, mass_rate=2.0, region=[[0, 0], [1, 1]], velocity=[100, 0])
    simulation = Simulation(scene)
    simulation.run(steps=500)
    (flow,) = simulation.bodies.events.inflows
    heaviest = 100 * math.pi * 0.02**2
    assert 2.0 * 4.99 - heaviest <= flow.mass <= 2.0 * 4.99 + 1e-9
    assert simulation.bodies.mass.sum() == pytest.approx(flow.mass)
    small = np.isclose(simulation.bodies.radius, 0.01).mean()
    assert small == pytest.approx(0.75, abs=0.02)


def test_recycled_grains_come_back_as_they_were():
    """Same ids, sizes, masses, materials and groups, again and again; only place and motion are new."""
    simulation = Simulation(hopper(rate=None, recycle="rain"))
    bodies = simulation.bodies
    kept = {i: (r, m, k) for i, r, m, k in zip(bodies.id, bodies.radius, bodies.mass, bodies.material)}
    total = bodies.count
    for _ in range(1200):
        simulation.step()
        (rain,) = bodies.events.inflows
        assert bodies.count + len(rain.waiting) == total
    assert rain.again > 20
    assert rain.made == 0
    for i, r, m, k in zip(bodies.id, bodies.radius, bodies.mass, bodies.material):
        assert kept[i] == (r, m, k)
    assert bodies.groups["bed"] == slice(0, bodies.count)


def test_contacts_that_stay_keep_their_forces():
    """From the middle of a column one is taken: the others keep their forces, those above it fall."""
    bodies = column(7, friction=0.3)
    simulation = Simulation(bodies, dt=0.01, solver=exact())
    simulation.run(steps=3)
    before = {tuple(bodies.id[pair] if pair[1] < 7 else (bodies.id[pair[0]], -1)): force.copy() for pair, force in
              zip(simulation.contacts.pairs, simulation.contacts.forces)}  # fmt: skip
    bodies.events = Events()
    builds = simulation.neighbours.builds
    simulation.neighbours = change(simulation.bodies, simulation.neighbours, simulation.contacts, leaving=np.array([2]))
    assert list(bodies.id) == [0, 1, 3, 4, 5, 6]
    after = simulation.contacts
    assert after.count == len(before) - 2
    for pair, force in zip(after.pairs, after.forces):
        name = (bodies.id[pair[0]], bodies.id[pair[1]] if pair[1] < 6 else -1)
        assert np.array_equal(force, before[name])
    simulation.step()
    assert simulation.neighbours.builds == builds  # nobody new: lists are kept
    weight = [10.0 * sum(bodies.id < 2), 10.0]  # the two below rest, those above fall freely
    forces = simulation.contacts.forces[:, 0]
    assert np.sort(forces[forces > 1e-9])[::-1] == pytest.approx(weight)
    np.testing.assert_allclose(bodies.velocity[2:, 1], -0.1)


def test_lists_after_a_change_are_those_of_a_fresh_search():
    """Contacts found in the step after a change are those that a new simulation of the same bodies finds."""
    simulation = Simulation(hopper())
    simulation.run(steps=150)
    bodies = simulation.bodies
    some = np.flatnonzero(np.arange(bodies.count) % 5 == 2)
    crowd = copy_grains(bodies, some[:3])
    crowd.position[:, 1] += 1.0
    crowd.id[:] = [1001, 1002, 1003]
    simulation.neighbours = change(
        simulation.bodies, simulation.neighbours, simulation.contacts, leaving=some, coming=crowd
    )
    fresh = grains(bodies.position, bodies.radius, bodies.mass, dimension=2, friction=0.4, walls=bodies.walls)
    fresh.motion[:, :6], fresh.gravity = bodies.motion[:, :6], bodies.gravity
    bodies.events = None
    other = Simulation(fresh, dt=simulation.dt)
    simulation.neighbours.refresh(bodies, simulation.dt)
    other.neighbours.refresh(fresh, simulation.dt)
    for one in (simulation, other):
        candidates = find_candidates(one.bodies, one.neighbours, one.dt)
        one.contacts.gather(one.bodies, one.neighbours, candidates, one.dt, gap="g_pos")
    found = [{tuple(pair) for pair in one.contacts.pairs.tolist()} for one in (simulation, other)]
    assert found[0] == found[1]
    assert len(found[0]) > 40


@pytest.mark.parametrize(
    ("stop", "recycle", "method"),
    [(1, None, "sweeps"), (150, None, "sweeps"), (151, "rain", "accelerated"), (260, "rain", "accelerated")],
)
def test_a_run_resumes_to_the_bit_in_mid_flow(tmp_path, stop, recycle, method):
    def make():
        scene = hopper(recycle=recycle, laws=stop == 150)
        scene.solver = rg.scene.Solver(method=method)
        return Simulation(scene)

    straight = make()
    straight.run(steps=300)
    path = tmp_path / "run.vtkhdf"
    first = make()
    first.observe(rg.TrajectoryWriter(path), every=20)
    first.run(steps=stop)
    second = rg.resume(path)
    history = rg.History()
    second.observe(history, every=20)
    second.observe(rg.TrajectoryWriter(path, resume=True), every=20)
    second.run(steps=300 - stop)
    for name in ("position", "motion", "orientation", "radius", "mass", "material", "id"):
        assert np.array_equal(getattr(second.bodies, name), getattr(straight.bodies, name)), name
    assert np.array_equal(second.contacts.forces, straight.contacts.forces)
    assert second.bodies.groups == straight.bodies.groups
    assert second.bodies.events.pack(second.bodies) == straight.bodies.events.pack(straight.bodies)
    assert straight.bodies.events.outlets[0].count > 5
    with rg.Trajectory(path) as trajectory:
        for frame in trajectory:
            assert (
                len(frame) == len(frame.id) == len(frame.radius) == len(frame.velocity) == int(frame.figures["grains"])
            )
            if recycle is None:
                assert frame.figures["left"] + len(frame) == 60 + frame.figures["entered"]
        assert len({len(frame) for frame in trajectory}) > 5
        assert dict(zip(trajectory[-1].id, trajectory[-1].radius)) == dict(
            zip(straight.bodies.id, straight.bodies.radius)
        )
        assert history["left"][-1] == straight.bodies.events.outlets[0].count


def test_everybody_may_leave():
    """A run goes on without grains, and new ones may come."""
    scene = rg.Scene(dimension=2, gravity=[0, -10], run={"dt": 0.01})
    scene.add_grains(positions=[[0, 0.5]], radius=0.1)
    scene.add_plane("side", point=[-5, 0], normal=[1, 0])
    scene.add_piston("lid", point=[0, 50], normal=[0, -1], mass=1, load=1)
    scene.add_outlet("drain", point=[0, 0], normal=[0, 1], until=1.0)
    scene.add_inflow("late", radius=0.1, rate=10, total=2, since=0.8, region=[[-1, 1], [1, 2]])
    simulation = Simulation(scene)
    history = rg.History()
    simulation.observe(history)
    simulation.observe(rg.StopWhenStatic(1e-9))
    simulation.run(steps=60)
    assert simulation.bodies.count == 0
    assert simulation.contacts.count == 0
    assert rg.Frame.of(simulation).position.shape == (0, 3)
    assert "grains" in str(simulation.report())
    simulation.run(steps=45)
    assert simulation.bodies.count == 2
    assert list(simulation.bodies.id) == [1, 2]
    assert history["grains"].min() == 0


def test_ids_in_displacements():
    """The mean squared displacement follows grains by their ids."""
    simulation = Simulation(hopper(), dt=1e-4)
    frames = [rg.Frame.of(simulation)]
    for _ in range(8):
        simulation.run(steps=40)
        frames.append(rg.Frame.of(simulation))
    from rigidgrains.measure import mean_squared_displacement

    moved = mean_squared_displacement(frames, origins="first")
    both = np.intersect1d(frames[0].id, frames[-1].id)
    x = [frame.position[np.isin(frame.id, both)] for frame in (frames[0], frames[-1])]
    assert moved.squared[-1] == pytest.approx(((x[1] - x[0]) ** 2).sum(axis=1).mean())
    assert len({len(frame) for frame in frames}) > 1


def test_crowds_survive_as_words():
    bodies = hopper().build()
    crowd = copy_grains(bodies, np.array([3, 7]))
    again = Crowd.from_words(crowd.words())
    for name in ("position", "radius", "mass", "orientation", "material", "id", "motion", "force"):
        assert np.array_equal(getattr(crowd, name), getattr(again, name))
        assert getattr(crowd, name).dtype == getattr(again, name).dtype
    assert again.group == ["bed", "bed"]


IN = {"name": "in", "radius": 0.1, "rate": 5.0, "region": [[0, 1], [1, 2]]}
OUT = {"name": "out", "point": [0, -1], "normal": [0, 1]}
ONE = {"positions": [[0.5, 0.1]], "radius": 0.1}


@pytest.mark.parametrize(
    ("words", "place", "told"),
    [
        ({"inflow": [{**IN, "rate": -5}]}, "inflow[0].rate", "greater than zero"),
        (
            {"inflow": [{**IN, "rate": None}], "outlet": [{**OUT, "recycle": "in"}]},
            "inflow[0].radius",
            "belongs to a rate",
        ),
        ({"inflow": [{**IN, "rate": None, "radius": None}]}, "inflow[0].rate", "recycle an outlet"),
        ({"inflow": [{**IN, "mass_rate": 1}]}, "inflow[0].mass_rate", "keep one"),
        ({"inflow": [{**IN, "region": [[0, 1], [1, 1]]}]}, "inflow[0].region", "has no size"),
        ({"inflow": [{**IN, "region": [[0, 1], [0.1, 2]]}]}, "inflow[0].region", "too small for a grain of radius 0.1"),
        ({"inflow": [{**IN, "region": None}]}, "inflow[0].region", "missing"),
        ({"inflow": [{**IN, "radius": None}]}, "inflow[0].radius", "missing"),
        ({"inflow": [{**IN, "material": "gold"}]}, "inflow[0].material", "unknown material"),
        ({"inflow": [{**IN, "velocity": [1, 0, 0]}]}, "inflow[0].velocity", "2 components"),
        ({"inflow": [{**IN, "spin": [1, 0, 0]}]}, "inflow[0].spin", "a number in 2D"),
        ({"inflow": [{**IN, "since": 3, "until": 2}]}, "inflow[0].until", "must come after since = 3"),
        ({"inflow": [IN, IN]}, "inflow[1].name", "already given by inflow[0]"),
        ({"inflow": [IN], "grains": [{**ONE, "name": "in"}]}, "inflow[0].name", "already given by grains[0]"),
        ({"outlet": [{"name": "out"}]}, "outlet[0].region", "missing; give a box, or point and normal"),
        ({"outlet": [{**OUT, "region": [[0, 0], [1, 1]]}]}, "outlet[0].region", "keep the box or the plane"),
        ({"outlet": [{**OUT, "point": None}]}, "outlet[0].point", "missing; a plane has"),
        ({"outlet": [{**OUT, "recycle": "inn"}], "inflow": [IN]}, "outlet[0].recycle", "did you mean 'in'"),
        ({"outlet": [{**OUT, "normal": [0, -1]}]}, "outlet[0].name", "1 grains are in this outlet at the start"),
    ],
)
def test_mistakes_are_told(words, place, told):
    with pytest.raises(rg.SceneError) as error:
        rg.Scene(**({"grains": [ONE]} | words)).build()
    (problem,) = error.value.problems
    assert problem.place == place
    assert told in str(problem)


def test_an_empty_scene_is_still_refused():
    with pytest.raises(rg.SceneError, match="there are no grains"):
        rg.Scene(outlet=[OUT]).build()


def test_grains_enter_a_periodic_cell_without_touching_images():
    """A dense rain over the faces of a cell: by a tree that knows the period no two grains overlap when they enter."""
    scene = rg.Scene(dimension=2, run={"dt": 1e-3}, cell={"lower": [0, 0], "upper": [1, 1]})
    scene.add_inflow("in", radius=0.06, rate=1e5, region=[[-0.1, 0], [1.1, 1]], total=30)
    scene.add_outlet("out", region=[[5, 5], [6, 6]])
    simulation = Simulation(scene)
    simulation.step()
    simulation.step()
    bodies = simulation.bodies
    assert bodies.count > 20
    tree = cKDTree(np.mod(bodies.position[:, :2], 1.0), boxsize=1.0)
    assert not tree.query_pairs(0.12 - 1e-9)
    assert bodies.image.shape == (bodies.count, 3)


def test_streams_and_a_cell_that_deforms_are_refused():
    cell = {"lower": [0, 0], "upper": [4, 4], "rate": {"xy": 0.1}}
    with pytest.raises(rg.SceneError, match="cannot enter or leave a cell that deforms"):
        rg.Scene(inflow=[IN], cell=cell).build()


@pytest.mark.parametrize("guided", [False, True])
def test_a_run_is_resumed_wherever_grains_have_left(tmp_path, guided):
    """Three grains far apart fall out one by one, one of them as prescribed; also when few or none are left."""
    scene = rg.Scene(dimension=2, gravity=(0, -10.0), run={"dt": 1e-2})
    scene.add_grains(name="ball", positions=[(0, 0.05), (0.5, 0.5), (2.0, 0.9)], radius=1e-2)
    scene.add_outlet("drain", point=(0, 0), normal=(0, 1))
    if guided:
        scene.add_motion("down", grains="ball", index=1, velocity=(0, -1.0))
    whole = rg.Simulation(scene)
    whole.run(steps=60)
    assert whole.bodies.count == 0
    torn, path = rg.Simulation(scene), tmp_path / "run.vtkhdf"
    torn.observe(rg.TrajectoryWriter(path), every=5)
    for steps in (15, 20, 13, 12):  # with 2, 1 and no grains left
        torn.run(steps=steps)
        torn = rg.resume(path).observe(rg.TrajectoryWriter(path, resume=True), every=5)
    assert torn.bodies.count == 0
    assert [outlet.count for outlet in torn.bodies.events.outlets] == [3]
    with rg.Trajectory(path) as trajectory:
        assert [len(frame) for frame in trajectory] == sorted((len(frame) for frame in trajectory), reverse=True)
        assert {len(frame) for frame in trajectory} == {0, 1, 2, 3}


def test_an_inflow_that_fails_leaves_streams_and_grains_as_they_were():
    """Else a grain that an outlet has handed on would be in the scene and on its way back."""
    scene = rg.Scene(dimension=2, gravity=(0, -10), run={"dt": 1e-2})
    scene.add_grains(positions=[(0, 0.05), (5, 3)], radius=0.5)
    scene.add_inflow("new", region=[[-3, 3], [3, 9]], rate=50, radius=0.1, scalars={"dye": "1/(0.065 - t)**0.5"})
    scene.add_inflow("top", region=[[-3, 10], [3, 20]])
    scene.add_outlet("drain", region=[[-1, -9], [1, 0.04]], recycle="top")
    simulation = rg.Simulation(scene)
    simulation.run(steps=8)
    simulation.bodies.position[0, 1] = 0.0
    before = pack(simulation)[1]
    with pytest.raises(rg.StageError, match="inflow 'new', scalar 'dye'"):
        simulation.step()
    assert pack(simulation)[1] == before
