"""Stages: each ends when it is said to, changes what it is said to change, and is resumed to the bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.stages import DT, G, resting

import rigidgrains as rg
from rigidgrains import certificate
from rigidgrains.simulation.rest import inertial_number
from rigidgrains.simulation.sorting import renumber


def run(scene, **options):
    history = rg.History()
    simulation = rg.Simulation(scene, **options).observe(history)
    return simulation, history, simulation.run()


def test_stages_follow_each_other_and_the_last_ends_the_run():
    """A wall is at rest, then driven by the time of the stage, then by that of the run."""
    scene = resting()
    scene.add_plane("wall", point=(5, 0), normal=(-1, 0))
    scene.add_stage("wait", until=0.1)
    scene.add_stage("push", until=0.2, plane={"wall": {"velocity": ["-2*stage_time", 0]}})
    scene.add_stage("pull", until=0.1, plane={"wall": {"velocity": ["t", 0]}})
    simulation, history, report = run(scene)
    assert [(one["name"], one["steps"]) for one in report.stages] == [("wait", 10), ("push", 20), ("pull", 10)]
    assert [one["ended"] for one in report.stages] == pytest.approx([0.1, 0.3, 0.4], rel=1e-12)
    assert history["stage"].tolist() == [1] * 10 + [2] * 20 + [3] * 10
    gone = 0.2**2 - (0.4**2 - 0.3**2) / 2  # along its normal, into the grains
    assert simulation.bodies.walls[1].displacement == pytest.approx(gone, rel=1e-12)
    assert history["wall.displacement"][29] == pytest.approx(0.04, rel=1e-12)
    assert report.stopped == "all stages are over; pull: 0.1 s have passed"
    assert "stage push" in str(report)


def test_tables_are_of_the_run_or_of_the_stage():
    scene = resting()
    for name, word in (("own", {"of": "stage_time"}), ("run", {})):
        scene.add_plane(name, point=(5, 0), normal=(-1, 0))
        scene.add_stage(
            name, until=0.1, plane={name: {"velocity": [{"table": [[0, 0], [0.1, -1], [0.2, -3]], **word}, 0]}}
        )
    simulation, _, _ = run(scene)
    own, other = (wall.displacement for wall in simulation.bodies.walls[1:])
    assert own == pytest.approx(0.05 + 0.2, rel=1e-12)  # its table goes on in the next stage
    assert other == pytest.approx(0.2, rel=1e-12)


def test_a_gate_opens_when_the_column_is_at_rest():
    """Two disks stand on a gate; then they fall freely."""
    scene = rg.Scene(dimension=2, gravity=(0, -G), run={"dt": DT})
    scene.add_grains(positions=[(0, 0.51), (0, 1.52)], radius=0.5, density=1.0)
    scene.add_plane("gate", point=(0, 0), normal=(0, 1), until="collapse")
    scene.add_stage("settle", rest=True, limit=10.0)
    scene.add_stage("collapse", until=0.2)
    simulation, _, report = run(scene)
    assert report.stages[0]["reached"]
    assert report.stages[0]["ended"] < 5.0
    assert report.warnings == []
    assert simulation.bodies.walls == []
    assert simulation.bodies.velocity[:, 1] == pytest.approx([-2.0, -2.0], abs=2e-3 * math.sqrt(G))
    assert simulation.bodies.position[0, 1] == pytest.approx(0.5 - G * 0.2 * 0.21 / 2, abs=5e-3)


def test_what_falls_is_not_at_rest_and_a_limit_is_told():
    """A grain at the top of its flight has no speed, and nothing carries it."""
    scene = rg.Scene(dimension=2, gravity=(0, -G), run={"dt": DT})
    scene.add_grains(positions=[(0, 0)], radius=0.5, density=1.0, velocity=(0, 1.0))
    scene.add_stage("fly", rest=True, limit=0.3)
    scene.add_stage("on", until=0.1)
    simulation, _, report = run(scene)
    assert report.stages[0]["ended"] == pytest.approx(0.3)
    assert not report.stages[0]["reached"]
    assert [text for text in report.warnings if "stage 'fly' ended at its limit" in text and "not at rest" in text]
    assert simulation.time == pytest.approx(0.4)


def test_rest_is_an_open_force_below_a_part_of_all():
    """A disk of weight W on a slope slides at mu = tan a - s: W s cos a stays open. Rest is told below 1e-3 W alone."""
    for open_part, rests in ((3e-3, False), (-3e-3, True)):
        slope = math.atan(0.5)
        scene = resting(mu=0.5 - open_part)
        scene.gravity = (G * math.sin(slope), -G * math.cos(slope))
        scene.add_material("block", rolling=math.inf)
        scene.grains.clear()
        scene.plane.clear()
        scene.add_plane("floor", point=(0, 0), normal=(0, 1), material="block")
        scene.add_grains(positions=[(0.0, 0.5)], radius=0.5, density=1.0, material="block")
        scene.add_stage("wait", rest=True, limit=3.0)
        simulation, _, report = run(scene, solver=rg.Sweeps(criterion=rg.LocalCriterion(1e-12)))
        assert report.stages[0]["reached"] is rests
        assert (inertial_number(simulation.bodies, simulation.contacts) < 1e-3) is rests


def test_a_value_has_to_cross_the_bound():
    """The load on a lid rises with time: the stage ends with the first step in which the floor carries 5 N more."""
    scene = resting()
    scene.add_piston("lid", point=(0, 1.0), normal=(0, -1), mass=0.1, load="50*t")
    scene.add_stage("press", when={"column": "lid.force", "rising": 5.0}, limit=1.0)
    scene.add_stage("more", until=0.1)
    _, history, report = run(scene, solver=rg.Sweeps(criterion=rg.LocalCriterion(1e-12)))
    carried = 50 * (np.arange(1, len(history) + 1) - 0.5) * DT + 0.1 * G  # the mean load of the step, and the weight
    assert history["lid.force"] == pytest.approx(carried, rel=1e-6)
    first = 1 + int(np.argmax(carried >= 5.0))
    assert report.stages[0]["steps"] == first
    assert report.stages[0]["how"].startswith("lid.force rose to ")


def test_a_shock_is_over_before_a_value_has_stayed_beyond_its_bound():
    """A lid lands with m v/dt, several times the bound, within a step or two; later its load stays above 5 N."""
    stages = []
    for during in ({}, {"during": 0.02}):
        scene = resting()
        scene.add_piston("lid", point=(0, 1.2), normal=(0, -1), mass=0.1, load="50*t", velocity=5.0)
        scene.add_stage("press", when={"column": "lid.force", "rising": 5.0, **during}, limit=1.0)
        _, history, report = run(scene, solver=rg.Sweeps(criterion=rg.LocalCriterion(1e-12)))
        stages.append((report.stages[0], history["lid.force"], history["time"]))
    (shocked, forces, _), (stayed, more, times) = stages
    assert shocked["reached"]
    assert forces[-1] > 15.0
    assert len(forces) < 7
    below = 1 + int(np.flatnonzero(more < 5.0)[-1])
    assert stayed["ended"] == pytest.approx(times[below] + 0.02, rel=1e-9)
    assert more[-1] < 10.0


def test_a_value_that_is_beyond_the_bound_from_the_start_does_not_cross_it():
    scene = resting()
    scene.add_stage("fall", when={"column": "kinetic_energy", "falling": 1.0}, limit=0.1)
    _, _, report = run(scene)
    assert not report.stages[0]["reached"]
    assert "beyond all the time" in report.stages[0]["how"]


def test_friction_changes_for_contacts_that_are_there():
    """A block slides without friction, then with mu = 0.3: v = v0 - mu g t to the last bit but rounding."""
    scene = resting(mu=0.0, velocity=(2.0, 0))
    scene.add_material("slab", rolling=math.inf)
    scene.grains.clear()
    scene.plane.clear()
    scene.add_plane("floor", point=(0, 0), normal=(0, 1), material="slab")
    scene.add_grains(positions=[(0.0, 0.5)], radius=0.5, density=1.0, velocity=(2.0, 0), material="slab")
    scene.add_stage("smooth", until=0.1)
    scene.add_stage("rough", until=0.2, friction=0.3)
    scene.add_stage("own", until=0.1, material={"slab": {"friction": 0.1}})
    scene.add_stage("floor", until=0.1, plane={"floor": {"friction": 0.2}})
    simulation, _, _ = run(scene, solver=rg.Sweeps(criterion=rg.LocalCriterion(1e-12)))
    expected = 2.0 - G * (0.3 * 0.2 + 0.1 * 0.1 + 0.2 * 0.1)
    assert simulation.bodies.velocity[0, 0] == pytest.approx(expected, rel=1e-9)


def test_gravity_and_forces_change():
    """m dv = F dt + m g dt in each stage; grains are known by their numbers, wherever they stand."""
    scene = rg.Scene(dimension=2, run={"dt": DT})
    scene.add_grains(name="some", positions=[(0, 0), (5, 0), (10, 0)], radius=0.5, density=4 / math.pi)  # of 1 kg
    scene.add_stage("free", until=0.1)
    scene.add_stage("pull", until=0.1, force=[{"grains": "some", "index": [0, 2], "force": [3.0, 0], "torque": 0.125}])
    scene.add_stage("fall", until=0.1, gravity=[0, "-20*stage_time"], force=[])
    simulation = rg.Simulation(scene)
    simulation.run(until=0.05)
    renumber(simulation.bodies, simulation.neighbours, simulation.contacts, np.array([2, 1, 0]))
    simulation.run()
    velocity = simulation.bodies.velocity[np.argsort(simulation.bodies.id)]
    assert velocity[:, 0] == pytest.approx([0.3, 0.0, 0.3], rel=1e-12)
    assert velocity[:, 1] == pytest.approx([-0.1] * 3, rel=1e-12)
    assert sorted(simulation.bodies.spin[:, 2]) == pytest.approx([0.0, 0.1, 0.1], rel=1e-12)  # T t/I, I = m r^2/2


def test_inflow_opens_and_closes_with_stages():
    """What is due since the stage began: floor(rate t)."""
    scene = rg.Scene(dimension=2, gravity=(0, -G), run={"dt": DT})
    own = {"radius": 0.05, "rate": 105.0, "region": [[0, 0], [10, 4]]}
    scene.add_inflow("rain", **own, since="pour", until="wait")
    scene.add_outlet("drain", point=(0, 0), normal=(0, 1), since="drain")
    scene.add_stage("empty", until=0.05)
    scene.add_stage("pour", until=0.2)
    scene.add_stage("wait", until=0.3)
    scene.add_stage("drain", until=2.0)
    _, history, report = run(scene)
    ends = np.cumsum([one["steps"] for one in report.stages]) - 1
    assert history["grains"][ends].tolist() == [0, 19, 21, 0]  # those due since the last step of pouring enter in wait
    assert history["left"][-1] == 21


def test_a_piston_is_driven_and_then_free_again():
    scene = resting()
    scene.add_piston("lid", point=(0, 3.0), normal=(0, -1), mass=2.0, load=0.0)
    scene.add_stage("drive", until=0.1, piston={"lid": {"velocity": 0.5}})
    scene.add_stage("free", until=0.1, piston={"lid": {"load": 4.0}})
    scene.add_stage("hold", until=0.1, piston={"lid": {"velocity": 0.0}})
    simulation, history, _ = run(scene)
    fallen = 0.05 + 0.5 * 0.1 + (G + 4.0 / 2.0) * 0.1 * (0.1 + DT) / 2
    assert history["lid.displacement"][9::10] == pytest.approx([0.05, fallen, fallen], rel=1e-12)
    assert simulation.bodies.motion[1 + 1, 6] == 0.0


def test_an_adaptive_step_ends_on_the_end_of_a_stage():
    scene = resting()
    scene.run = {"dt": "auto", "dt_max": 0.03}
    scene.add_stage("a", until=0.1)
    scene.add_stage("b", until=0.05)
    simulation = rg.Simulation(scene)
    report = simulation.run()
    assert [one["ended"] for one in report.stages] == pytest.approx([0.1, 0.15], rel=1e-12)


def biaxial(size: float = 4.6) -> rg.Scene:
    """Pressed from all sides, at rest, strained from above, with a friction that begins with the strain."""
    scene = rg.Scene(dimension=2, friction=0.0, run={"dt": DT, "seed": 2})
    scene.add_grains(count=14, radius=(0.4, 0.6), density=1.27, region=((0, 0), (size, size)), placement="dense")
    scene.add_plane("bottom", point=(0, 0), normal=(0, 1), friction=0)
    load = {"mass": 20, "stress": 100, "friction": 0}
    scene.add_piston("left", point=(0, 0), normal=(1, 0), between=("bottom", "top"), **load)
    scene.add_piston("right", point=(size, 0), normal=(-1, 0), between=("bottom", "top"), **load)
    scene.add_piston("top", point=(0, size), normal=(0, -1), between=("left", "right"), **load)
    scene.add_stage("compress", when={"column": "top.force", "rising": 100}, limit=1.0)
    scene.add_stage("rest", rest=3e-3, limit=2.0)
    scene.add_stage("strain", until=0.3, friction=0.5, piston={"top": {"velocity": "0.4*min(1, stage_time/0.1)"}})
    return scene


def cell() -> rg.Scene:
    """Isotropic pressure in a periodic cell, then shear at that pressure across."""
    scene = rg.Scene(dimension=2, friction=0.3, run={"dt": 5e-3, "seed": 2})
    scene.set_cell(lower=(0, 0), upper=(5, 5))
    scene.add_grains(count=16, radius=(0.4, 0.6), density=1.27, placement="dense")
    scene.add_stage("press", until=0.2, cell={"pressure": 50.0})
    scene.add_stage("shear", until=0.2, cell={"rate": {"xy": "0.5*min(1, stage_time/0.1)"}, "stress": {"yy": 50.0}})
    return scene


@pytest.mark.parametrize("make", [biaxial, cell])
def test_a_run_is_resumed_in_any_stage_to_the_bit(make, tmp_path):
    """In the middle of a stage, at its end and right after; frames stand at the end of each stage."""
    path, straight = tmp_path / "run.vtkhdf", rg.Simulation(make())
    whole = rg.History()
    report = straight.observe(whole).run()
    ends = np.cumsum([one["steps"] for one in report.stages]).tolist()
    history = rg.History()
    torn = rg.Simulation(make()).observe(history).observe(rg.TrajectoryWriter(path, history=history), every=1000)
    torn.run(steps=ends[0] // 2)
    for upto in (ends[0], ends[0] + 1, (ends[0] + ends[1]) // 2, ends[1] - 1):
        torn, history = rg.resume(path), rg.History()
        writer = rg.TrajectoryWriter(path, resume=True, history=history)
        torn.observe(history).observe(writer, every=1000)
        torn.run(steps=upto - torn.steps)
    torn.run()
    assert torn.steps == straight.steps == ends[-1]
    for name in ("position", "motion", "orientation", "friction"):
        assert np.array_equal(getattr(torn.bodies, name), getattr(straight.bodies, name)), name
    assert np.array_equal(torn.contacts.forces, straight.contacts.forces)
    assert torn.report().stages == report.stages
    with rg.Trajectory(path) as trajectory:
        for name in whole.names:
            assert np.array_equal(trajectory.history[name], whole[name], equal_nan=True), name
        assert set(ends) <= set(trajectory.steps.tolist())
        for frame in trajectory:
            assert not certificate.check(frame).violated, certificate.check(frame)


def test_the_strain_of_a_cell_is_the_integral_of_its_rate():
    _, history, _ = run(cell())
    assert history["strain_xy"][-1] == pytest.approx(0.5 * (0.2 - 0.05), rel=1e-9)
    along, across = (1.0 - np.diff(history[f"strain_{name}"], prepend=0.0) for name in ("xx", "yy"))
    assert history["volume"] == pytest.approx(25.0 * np.cumprod(along * across), rel=1e-12)
    assert history["stress_yy"][-1] > 0.0


@pytest.mark.parametrize(
    "before", [{"rate": {"xx": -0.2, "yy": 0.1}}, {"stress": {"xx": 60.0, "yy": 40.0}}, {"rate": {"xy": 0.3}}]
)
def test_a_cell_keeps_its_shape_under_pressure_whatever_moved_it_before(before):
    """Sides stay in proportion from the first step on, and the energy of each step is balanced."""
    scene = cell()
    scene.stage.clear()
    scene.add_stage("move", until=0.1, cell=before)
    scene.add_stage("press", until=0.1, cell={"pressure": 50.0})
    simulation = rg.Simulation(scene)
    simulation.run(until=0.1)
    sides = np.diag(simulation.bodies.cell.vectors)[:2].copy()
    tilt = simulation.bodies.cell.vectors[1, 0] / sides[0]
    for _ in range(20):
        simulation.step()
        vectors = simulation.bodies.cell.vectors
        assert np.diag(vectors)[:2] / sides == pytest.approx([vectors[0, 0] / sides[0]] * 2, rel=1e-12)
        assert vectors[1, 0] / vectors[0, 0] == pytest.approx(tilt, abs=1e-12)
        assert not certificate.check(rg.Frame.of(simulation)).violated
    assert vectors[0, 0] != sides[0]


def test_a_run_with_an_open_end_needs_one():
    scene = resting()
    scene.add_stage("first", until=0.1)
    scene.add_stage("on")
    simulation = rg.Simulation(scene)
    with pytest.raises(ValueError, match="the last stage has none"):
        simulation.run()
    report = simulation.run(until=0.2)
    assert (report.steps, len(report.stages)) == (20, 1)


@pytest.mark.parametrize("pulled", [True, False])
def test_grains_with_prescribed_motion_never_keep_a_stage_from_rest(pulled):
    """Neither under gravity nor without it, where only the disk on the floor is pressed."""
    scene = resting() if pulled else rg.Scene(dimension=2, run={"dt": DT})
    if not pulled:
        scene.add_grains(name="grains[0]", positions=[(0, 0.5)], radius=0.5, density=1.0)
        scene.add_plane("floor", point=(0, 0), normal=(0, 1))
    scene.add_grains(name="tracer", positions=[(5, 5)], radius=0.5, density=1.0)
    scene.add_motion("path", grains="tracer", velocity=(3.0, 0.0))
    scene.add_stage("settle", rest=True, limit=20.0)
    simulation = rg.Simulation(scene)
    if not pulled:
        simulation.add_force(lambda mass: np.column_stack([0 * mass, -G * mass]), name="down", grains="grains[0]")
    assert simulation.run().stages[0]["reached"]


def test_functions_of_stages_to_come_are_asked_for_and_put_back(tmp_path):
    """Without them a run could go on to their stage, and no further."""
    scene, path = resting(), tmp_path / "run.vtkhdf"
    scene.add_plane("wall", point=(5, 0), normal=(-1, 0))
    scene.add_piston("lid", point=(0, 50), normal=(0, -1), velocity=0.0)
    shake, press, pull = lambda t: 0.1 * t, lambda t: 3 + t, lambda t: -G - t
    scene.add_stage("wait", until=0.05)
    scene.add_stage(
        "move", until=0.05, plane={"wall": {"velocity": [shake, 0]}}, piston={"lid": {"load": press, "mass": 2.0}}
    )
    scene.add_stage("fall", until=0.05, gravity=(0, pull), piston={"lid": {"velocity": shake}})
    straight = rg.Simulation(scene)
    straight.run()
    part = rg.Simulation(scene).observe(rg.TrajectoryWriter(path), every=100)
    part.run(steps=3)
    functions = {
        "stage.move.wall.velocity": (shake, 0), "stage.move.lid.load": press, "stage.fall.gravity": (0, pull),
        "stage.fall.lid.velocity": shake,
    }  # fmt: skip
    with pytest.raises(rg.TrajectoryError, match=r"'stage\.move\.wall\.velocity': \.\.\., .*'stage\.fall\.gravity'"):
        rg.resume(path)
    resumed = rg.resume(path, functions=functions)
    resumed.observe(rg.TrajectoryWriter(path, resume=True), every=100)
    resumed.run(steps=5)  # within the second stage
    later = rg.resume(path, functions=functions)
    later.run()
    assert later.time == straight.time
    for one, other in zip(straight.bodies.walls, later.bodies.walls):
        assert one.shape.point.tobytes() == other.shape.point.tobytes()
    assert straight.bodies.motion.tobytes() == later.bodies.motion.tobytes()
