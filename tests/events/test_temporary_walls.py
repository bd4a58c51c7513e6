"""Walls that come and go: the step, forces carried over, restart, functions that files cannot keep."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.builders import RIGHT, column, floor, grains, plane

import rigidgrains as rg
from rigidgrains.certificate import check
from rigidgrains.model.time_functions import in_space
from rigidgrains.model.walls import Drive
from rigidgrains.simulation.figures import wall_forces
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.trajectory.checkpoint import pack

G = 10.0


def dam(until=0.05, **words):
    scene = rg.Scene(dimension=2, gravity=[0, -G], friction=0.3, run={"dt": 1e-3, "seed": 2}, **words)
    scene.add_grains(count=60, radius=[0.008, 0.012], region=[[0, 0], [0.2, 0.3]])
    scene.add_plane("floor", point=[0, 0], normal=[0, 1])
    scene.add_plane("left", point=[0, 0], normal=[1, 0])
    scene.add_plane("gate", point=[0.2, 0], normal=[-1, 0], until=until)
    scene.add_plane("stop", point=[0.5, 0], normal=[-1, 0], since=0.02)
    return scene


def test_a_gate_is_gone_in_the_very_step():
    """Up to its time it carries, from its time on there is neither wall nor force; other contacts keep theirs."""
    simulation = Simulation(dam(until=0.3))
    simulation.run(until=0.3)
    names = [wall.name for wall in simulation.bodies.walls]
    assert names == ["floor", "left", "gate", "stop"]
    assert wall_forces(simulation.bodies, simulation.contacts)["gate"][0] > 0.1
    before = {
        tuple(pair): force.copy() for pair, force in zip(simulation.contacts.pairs.tolist(), simulation.contacts.forces)
    }
    n, rows = simulation.bodies.count, simulation.contacts.count
    bodies = simulation.bodies
    simulation.neighbours = bodies.events.take_place(
        bodies, simulation.neighbours, simulation.contacts, simulation.time, simulation.dt
    )
    assert [wall.name for wall in simulation.bodies.walls] == ["floor", "left", "stop"]
    kept = {tuple(pair): force for pair, force in zip(simulation.contacts.pairs.tolist(), simulation.contacts.forces)}
    gone = [pair for pair in before if pair[1] == n + 2]
    assert len(kept) == rows - len(gone)
    assert gone
    for (i, j), force in kept.items():
        assert np.array_equal(force, before[i, j + 1 if j == n + 2 else j])
    simulation.step()
    frame = rg.Frame.of(simulation)
    assert [wall.name for wall in frame.walls] == ["floor", "left", "stop"]
    assert frame.wall_force.shape == (3, 3)
    assert frame.contacts.pair.max() < n + 3
    assert not check(frame, tolerance=0.1).failed
    simulation.run(until=0.5)
    assert simulation.bodies.position[:, 0].max() > 0.25


def test_forces_are_carried_over_when_a_wall_goes():
    """A column at rest: a wall beside it that vanishes changes nothing, not even the number of sweeps."""
    bodies = column(5, walls=[plane([1.5, 0, 0], -RIGHT, "side", until=0.1)])
    simulation = Simulation(bodies, dt=0.01, solver=rg.Sweeps(criterion=rg.LocalCriterion(1e-9)))
    simulation.run(steps=10)
    forces = simulation.contacts.forces.copy()
    simulation.step()
    assert [wall.name for wall in bodies.walls] == ["floor"]
    assert simulation.last_solve.sweeps <= 2
    np.testing.assert_allclose(simulation.contacts.forces, forces, rtol=1e-8)


def test_a_wall_appears_where_its_motion_has_brought_it():
    late = plane([9, 0, 0], -RIGHT, "late", since=0.1, drive=Drive(velocity=np.array([-10.0, 0, 0])))
    early = plane([9, 0, 0], -RIGHT, "early", drive=Drive(velocity=np.array([-10.0, 0, 0])))
    simulation = Simulation(grains([[0, 0, 0]], walls=[early, late]), dt=0.01)
    simulation.run(steps=30)
    np.testing.assert_allclose(late.shape.point, early.shape.point, atol=1e-12)


def test_a_wall_that_appears_in_a_grain_is_refused_and_the_state_is_kept():
    bodies = grains([[0, 0, 0]], velocity=[[1, 0, 0]], walls=[plane([0.5, 0, 0], -RIGHT, "late", since=0.1)])
    simulation = Simulation(bodies, dt=0.01)
    with pytest.raises(rg.StageError, match=r"wall 'late' cannot appear at t = 0.1 s: 1 grains.*since"):
        simulation.run(steps=30)
    assert simulation.steps == 10
    assert not simulation.midway
    assert bodies.position[0, 0] == pytest.approx(0.1)
    assert bodies.walls == []


def test_a_formula_that_fails_ends_the_run_with_the_state_before():
    bodies = grains([[0, 9, 0]], gravity=[0, -G, 0], walls=[floor(drive=Drive(path=in_space((0.0, "sqrt(0.1 - t)"))))])
    simulation = Simulation(bodies, dt=0.01)
    with pytest.raises(rg.StageError, match=r"step 11 cannot begin: formula 'sqrt\(0.1 - t\)' has no value"):
        simulation.run(steps=30)
    assert simulation.steps == 10
    assert not simulation.midway
    assert bodies.velocity[0, 1] == pytest.approx(-G * 0.1)


def test_a_formula_that_becomes_complex_is_told_with_its_place_and_time():
    """(0.05 - t)**0.5 has no real value from t = 0.05 s on, also where min() would hide it."""
    scene = rg.Scene(dimension=2, gravity=(0, -G), friction=0.5)
    scene.add_grains(positions=[(0.0, 0.5)], radius=0.1)
    scene.add_piston("lid", point=(0, 2), normal=(0, -1), mass=1.0, load="min(0, (0.05 - t)**0.5)")
    simulation = Simulation(scene, dt=0.01)
    told = (
        r"step 6 cannot begin: formula 'min\(0, .*' has no value at t = 0\.05\d* s: \(0\.05 - t\) \*\* 0\.5 is no real"
    )
    with pytest.raises(rg.StageError, match=told) as error:
        simulation.run(steps=30)
    assert "wall 'lid'" in str(error.value)
    assert simulation.steps == 5


@pytest.mark.parametrize("stop", [1, 30, 49, 50, 51])
def test_a_run_with_functions_and_gates_resumes_to_the_bit(tmp_path, stop):
    def scene():
        made = dam()
        made.gravity = ["0.5*sin(30*t)", -G]
        made.add_piston("lid", point=[0, 0.35], normal=[0, -1], mass=0.5, load={"table": [[0, 0], [0.1, 20.0]]})
        made.add_plane(
            "arm", point=[0.1, 0.6], normal=[0, 1], size=0.05, angle="0.5*sin(9*t)", displacement=["0.1*t", 0]
        )
        return made

    straight = Simulation(scene())
    straight.run(steps=80)
    path = tmp_path / "run.vtkhdf"
    first = Simulation(scene())
    first.observe(rg.TrajectoryWriter(path), every=10)
    first.run(steps=stop)
    second = rg.resume(path)
    second.observe(rg.TrajectoryWriter(path, resume=True), every=10)
    second.run(steps=80 - stop)
    for name in ("position", "motion", "orientation", "gravity", "id"):
        assert np.array_equal(getattr(second.bodies, name), getattr(straight.bodies, name)), name
    assert np.array_equal(second.contacts.forces, straight.contacts.forces)
    assert [wall.name for wall in second.bodies.walls] == [wall.name for wall in straight.bodies.walls]
    for one, other in zip(second.bodies.all_walls, straight.bodies.all_walls):
        assert np.array_equal(one.shape.point, other.shape.point)
        assert np.array_equal(one.drive.spin, other.drive.spin)
        assert one.load == other.load
    with rg.Trajectory(path) as trajectory:
        present = [[wall.name for wall in frame.walls] for frame in trajectory]
        assert "gate" in present[4]
        assert "gate" not in present[-1]
        assert "stop" not in present[1]
        assert trajectory.wall_names == ["floor", "left", "gate", "stop", "arm", "lid"]
        force = trajectory.wall_force
        assert not force[-1, 2].any()
        assert force[4, 2].any()


def test_functions_are_asked_for_again(tmp_path):
    def shake(t):
        return 0.01 * math.sin(30 * t)

    def make():
        scene = rg.Scene(dimension=2, gravity=[0, -G], run={"dt": 1e-3})
        scene.add_grains(positions=[[0, 0.1], [0.3, 0.1]], radius=0.1)
        scene.add_plane("floor", point=[0, 0], normal=[0, 1], displacement=[0, shake])
        scene.add_piston("lid", point=[0, 0.2], normal=[0, -1], mass=1, load=lambda t: 3 * t)
        return Simulation(scene)

    path = tmp_path / "run.vtkhdf"
    simulation = make()
    simulation.observe(rg.TrajectoryWriter(path), every=10)
    simulation.run(steps=20)
    with pytest.raises(rg.TrajectoryError, match=r"functions=\{'floor.displacement': ..., 'lid.load': ...\}"):
        rg.resume(path)
    with pytest.raises(ValueError, match=r"no function was lost at 'lid.velocity'"):
        rg.resume(path, functions={"lid.velocity": shake})
    resumed = rg.resume(path, functions={"floor.displacement": (0, shake), "lid.load": lambda t: 3 * t})
    resumed.run(steps=20)
    straight = make()
    straight.run(steps=40)
    assert np.array_equal(resumed.bodies.motion, straight.bodies.motion)
    assert rg.Trajectory(path)[-1].walls[0].name == "floor"


def test_where_a_wall_cannot_appear_its_stage_has_changed_nothing():
    scene = rg.Scene(dimension=2, gravity=(0, -G), run={"dt": 0.01})
    scene.add_grains(positions=[(0, 0.5)], radius=0.5)
    scene.add_plane("floor", point=(0, 0), normal=(0, 1))
    scene.add_plane("late", point=(0.2, 0), normal=(-1, 0), since="push")
    scene.add_stage("wait", until=0.05)
    scene.add_stage("push", until=0.05, gravity=(0, -3.0), friction=0.1, plane={"floor": {"velocity": (0.1, 0)}})
    simulation = Simulation(scene)
    simulation.run(steps=5)
    before = pack(simulation)[1]
    with pytest.raises(rg.StageError, match="wall 'late' cannot appear"):
        simulation.step()
    assert pack(simulation)[1] == before
    assert simulation.bodies.gravity[1] == -G
    simulation.bodies.position[0, 0] = -9.0  # out of the way
    simulation.step()
    assert [wall.name for wall in simulation.bodies.walls] == ["floor", "late"]
    assert simulation.bodies.gravity[1] == -3.0
