"""Grains numbered anew: nothing but the numbers changes, and what is compared by id is the same."""

from __future__ import annotations

from copy import deepcopy
from itertools import pairwise

import numpy as np
import pytest
from support.builders import grains, triangular
from support.cells import SHEAR, cell_of, gas
from support.checks import content, differences
from support.scenes import drum, hopper

import rigidgrains as rg
from rigidgrains.app import bench
from rigidgrains.certificate import check
from rigidgrains.detect import morton as curve
from rigidgrains.detect.candidates import find_candidates
from rigidgrains.measure import mean_squared_displacement
from rigidgrains.runtime import threads
from rigidgrains.simulation import sorting
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.solve.orders import Ordered
from rigidgrains.trajectory.checkpoint import pack, unpack

ALONG = {"order": Ordered(axis="+x"), "criterion": rg.FixedSweeps(200)}  # by places, whatever the numbers are


def turning(*, sort=True, **options):
    """The drum when its grains have fallen."""
    simulation = drum(sort=False, **options)
    simulation.run(steps=150)
    simulation.sort = sort
    return simulation


def flowing(*, sort=True, **options):
    return Simulation(gas(60, cell=cell_of(12.0, 12.0, rate=0.2 * SHEAR), speed=0.5), dt=0.02, sort=sort, **options)


def stream(*, sort=True, **options):
    return Simulation(hopper(laws=True, recycle="rain"), sort=sort, **options)


def piston(*, sort=True, **options):
    return Simulation(triangular(6, 7, mu=0.3, g=10.0), dt=1e-2, sort=sort, **options)


WORLDS = {"drum": turning, "stream": stream, "cell": flowing, "piston": piston}


@pytest.fixture
def often(monkeypatch):
    """Every second step sorts, however few grains there are and in whatever order they stand."""
    monkeypatch.setattr(sorting, "LEAST", 1)
    monkeypatch.setattr(sorting, "EVERY", 2)
    monkeypatch.setattr(sorting, "WORTH", 0.0)


@pytest.fixture
def shuffled(monkeypatch, often):
    """The same, and each time in another order that has no sense."""
    rng = np.random.default_rng(1)

    def mixed(bodies):
        ends = sorting.borders(bodies)
        return np.concatenate([first + rng.permutation(last - first) for first, last in pairwise(ends)])

    monkeypatch.setattr(sorting, "along_curve", mixed)


def carried(simulation):
    """Forces and memories that the next step starts from, by the ids of both grains, or of a grain and a wall.

    R acts on the grain with the higher id, or on the wall.
    """
    bodies, contacts, lists = simulation.bodies, simulation.contacts, simulation.neighbours
    contacts.gather(bodies, lists, find_candidates(bodies, lists, simulation.dt), simulation.dt, gap="g_pos")
    name = [*bodies.id.tolist(), *(-1 - w for w in range(len(bodies.walls)))]
    found = {}
    body = contacts.pairs[:, 1].copy()
    for w, rows in enumerate(contacts.wall_rows):
        body[rows] = bodies.count + w
    for c in range(contacts.count):
        i, j, sign = name[contacts.pairs[c, 0]], name[body[c]], 1.0
        way = (bodies.shifts[contacts.image[c]]).tolist()
        if j >= 0 and i > j:
            i, j, sign, way = j, i, -1.0, [-x for x in way]
        forces = contacts.forces[c].tolist()
        turned = [sign * x for x in forces[1:]]
        found[i, j, *(x + 0.0 for x in way)] = forces[0], *turned, *contacts.memory[c : c + 1].ravel().tolist()
    return found


@pytest.mark.parametrize("anew", [False, True])
@pytest.mark.parametrize("world", WORLDS)
def test_contacts_keep_their_forces(world, anew, shuffled):
    """To the bit, with the lists as they are and with new ones."""
    simulation = WORLDS[world](sort=False)
    simulation.run(steps=100)  # in the gas many touch then
    one, other = (unpack(*deepcopy(pack(simulation))) for _ in range(2))
    sorting.renumber(other.bodies, other.neighbours, other.contacts, sorting.along_curve(other.bodies))
    assert not np.array_equal(one.bodies.id, other.bodies.id)
    if anew:
        for each in (one, other):
            lists, builds = each.neighbours, each.neighbours.builds
            lists.skin[:] = -1.0  # as if all had left it
            lists.refresh(each.bodies, each.dt)
            assert lists.builds == builds + 1
    here, there = carried(one), carried(other)
    assert here == there
    assert any(any(force[1:4]) for force in here.values())


@pytest.mark.parametrize("world", WORLDS)
def test_every_array_over_grains_follows(world, shuffled):
    """Whatever a checkpoint holds of each grain."""
    simulation = WORLDS[world](sort=False)
    simulation.run(steps=5)
    before, n = deepcopy(pack(simulation)[0]), simulation.bodies.count
    rows = sorting.along_curve(simulation.bodies)
    sorting.renumber(simulation.bodies, simulation.neighbours, simulation.contacts, rows)
    after = pack(simulation)[0]
    apart = ("pair_", "contact_", "wall_")
    checked = [name for name, array in before.items() if len(array) == n and not name.startswith(apart)]
    assert {"position", "radius", "mass", "orientation", "material", "id", "skin", "reference", "block"} <= {*checked}
    assert ("image" in checked) == (world == "cell")
    for name in checked:
        assert np.array_equal(after[name], before[name][rows]), name
    assert np.array_equal(after["motion"][:n], before["motion"][rows])
    assert np.array_equal(after["motion"][n:], before["motion"][n:])


@pytest.mark.parametrize("world", ["drum", "stream", "cell"])
def test_frames_of_a_short_run_are_the_same(world, shuffled):
    """Contacts are swept by their places, so that only rounding depends on numbers; these change every other step."""
    ours, theirs = (WORLDS[world](sort=sort, solver=rg.Sweeps(**ALONG)) for sort in (True, False))
    for _ in range(60):
        ours.step()
        theirs.step()
    assert not np.array_equal(ours.bodies.id, theirs.bodies.id)
    here, there = rg.Frame.of(ours), rg.Frame.of(theirs)
    assert np.array_equal(here.id, there.id)
    for name in ("position", "velocity", "spin", "orientation", "load", "external_force"):
        one, other = getattr(here, name), getattr(there, name)
        assert np.allclose(one, other, rtol=0.0, atol=1e-9 * max(1e-3, np.abs(other).max(initial=0.0))), name
    for name in ("radius", "mass", "material", "contact_number"):
        assert np.array_equal(getattr(here, name), getattr(there, name)), name
    pairs = [{tuple(sorted(pair)) for pair in frame.contacts.pair.tolist()} for frame in (here, there)]
    assert pairs[0] == pairs[1]
    assert ours.bodies.groups == theirs.bodies.groups


@pytest.mark.parametrize("world", WORLDS)
def test_frames_are_certified(world, often):
    """By formulas that know nothing of it; every grain remains what it was."""
    simulation = WORLDS[world](accuracy="exact")
    for _ in range(8):
        simulation.run(steps=7)
        assert check(rg.Frame.of(simulation)).passed
    assert not (np.diff(simulation.bodies.id) > 0).all()


def test_momentum_is_conserved(often):
    simulation = Simulation(gas(60), dt=0.02, sort=True)
    bodies = simulation.bodies
    radius = dict(zip(bodies.id.tolist(), bodies.radius.tolist()))
    simulation.run(steps=100)
    scale = (bodies.mass * np.linalg.norm(bodies.velocity, axis=1)).sum()
    assert np.abs(bodies.mass @ bodies.velocity).max() < 1e-12 * scale
    assert dict(zip(bodies.id.tolist(), bodies.radius.tolist())) == radius
    assert not (np.diff(bodies.id) > 0).all()


@pytest.mark.parametrize("world", WORLDS)
def test_a_resumed_run_is_the_same_to_the_bit(world, often, tmp_path):
    straight, torn = tmp_path / "straight.vtkhdf", tmp_path / "torn.vtkhdf"
    simulation = WORLDS[world]()
    simulation.observe(rg.TrajectoryWriter(straight), every=5)
    simulation.run(steps=45)
    stopped = WORLDS[world]()
    stopped.observe(rg.TrajectoryWriter(torn), every=5)
    stopped.run(steps=15)
    for steps in (5, 25):
        resumed = rg.resume(torn)
        assert resumed.sort
        resumed.observe(rg.TrajectoryWriter(torn, resume=True), every=5)
        resumed.run(steps=steps)
    assert not (np.diff(resumed.bodies.id) > 0).all()
    assert differences(content(straight), content(torn)) == []


def test_the_bits_do_not_depend_on_threads(often, monkeypatch):
    monkeypatch.setattr(threads, "PART", 256)
    monkeypatch.setattr(threads, "WORTH", 1)

    def run(number):
        threads.set_threads(number)
        bodies = bench.dense_bodies(2000)
        bodies.motion[:, :6] *= 20.0
        solver = rg.Sweeps(order="coloured", criterion=rg.FixedSweeps(5))
        simulation = Simulation(bodies, dt=0.05, seed=1, solver=solver)
        simulation.run(steps=6)
        return bodies.id.tobytes() + bodies.position.tobytes() + simulation.contacts.forces.tobytes()

    try:
        assert run(1) == run(2) == run(3)
    finally:
        threads.set_threads(None)


def test_springs_and_forces_stay_with_their_grains(often):
    """A spring on one grain of a group of two rows of three, and a force on another: each moves as without sorting."""

    def run(sort):
        scene = rg.Scene(dimension=2, run={"dt": 1e-2, "sort": sort})
        spots = [[x, y] for x in (9.0, 6.0, 3.0) for y in (3.0, 0.0)]
        scene.add_grains(name="some", positions=spots, radius=0.5, density=1.0, velocity=[0.1, 0.0])
        scene.add_spring("pull", grains="some", index=[1], stiffness=5.0, direction=[0, -1], velocity=1.0)
        scene.add_force(grains="some", index=[4], force=[0.0, 2.0])
        simulation = Simulation(scene)
        simulation.run(steps=20)
        return simulation

    ours, theirs = run(True), run(False)
    assert ours.bodies.id.tolist() != theirs.bodies.id.tolist() == [0, 1, 2, 3, 4, 5]
    here, there = rg.Frame.of(ours), rg.Frame.of(theirs)
    assert np.allclose(here.position, there.position, rtol=0.0, atol=1e-12)
    assert np.allclose(here.external_force, there.external_force, rtol=0.0, atol=1e-12)
    moved = np.abs(here.velocity[:, 1]) > 0.0
    assert moved.tolist() == [False, True, False, False, True, False]


def test_files_do_not_show_it(often, tmp_path):
    """Rows of all frames belong to the same grains, and so do displacements by rows and by ids."""
    simulation = drum(sort=True)
    simulation.observe(rg.TrajectoryWriter(tmp_path / "run.vtkhdf"), every=10)
    simulation.run(steps=60)
    assert not (np.diff(simulation.bodies.id) > 0).all()
    with rg.Trajectory(tmp_path / "run.vtkhdf") as trajectory:
        assert (trajectory.array("id") == np.arange(40)).all()
        place = trajectory.array("position")
        told = mean_squared_displacement(trajectory, origins="first").squared
        assert np.allclose(told, ((place - place[0]) ** 2).sum(axis=2).mean(axis=1), rtol=1e-12)
        order = np.argsort(simulation.bodies.id)
        assert np.array_equal(place[-1], simulation.bodies.position[order])


def test_mixed_grains_are_sorted_once(monkeypatch):
    """A random numbering of a packing becomes as good as that along the curve, and is then left alone."""
    monkeypatch.setattr(sorting, "LEAST", 4000)
    monkeypatch.setattr(sorting, "EVERY", 2)
    ordered = bench.dense_bodies(4000)
    mix = np.random.default_rng(0).permutation(4000)
    bodies = grains(ordered.position[mix], ordered.radius[mix], 1.0, velocity=ordered.velocity[mix])
    simulation = Simulation(bodies, dt=0.01, solver=rg.Sweeps(criterion=rg.FixedSweeps(2)), sort=True)
    simulation.step()
    before = sorting.distance(simulation.neighbours.pairs, np.arange(4000))
    assert before > 500.0  # of random numbers: 4000/e^1.5
    simulation.step()
    after = sorting.distance(simulation.neighbours.pairs, np.arange(4000))
    assert after < 0.1 * before
    ids = bodies.id.copy()
    assert not np.array_equal(ids, np.arange(4000))
    simulation.run(steps=6)
    assert np.array_equal(bodies.id, ids)


@pytest.mark.parametrize("why", ["few", "off"])
def test_it_is_left_when_not_wanted(why, often, monkeypatch):
    if why == "few":
        monkeypatch.setattr(sorting, "LEAST", 41)
    simulation = drum(sort=why == "few")
    simulation.run(steps=10)
    assert np.array_equal(simulation.bodies.id, np.arange(40))


def test_nothing_is_sorted_unasked(often):
    """Rows of arrays in a user's hands stay those of the same grains."""
    simulation = Simulation(gas(60), dt=0.02)
    simulation.run(steps=10)
    assert np.array_equal(simulation.bodies.id, np.arange(60))


def test_the_curve_visits_cells_as_it_should():
    """The bits of the numbers of a cell in turn, by text."""
    cell = np.random.default_rng(0).integers(0, 2**21, (50, 3)).astype(np.uint64)
    for (x, y, z), code in zip(cell.tolist(), curve.morton(cell).tolist()):
        assert f"{code:063b}" == "".join(c + b + a for a, b, c in zip(f"{x:021b}", f"{y:021b}", f"{z:021b}"))
