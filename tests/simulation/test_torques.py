"""External torques on grains: exact motion, energy, files, resume, and the words of a scene."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.builders import exact, floor, grains

from rigidgrains import Scene, SceneError, Simulation, Trajectory, TrajectoryWriter, measure, resume
from rigidgrains.certificate import check
from rigidgrains.events.population import change, copy_grains
from rigidgrains.observe.stop import StopWhenStatic

DT = 1e-3


def twisted(bodies, torque):
    """Grains with external torques (n, 3)."""
    bodies.torque = np.array(torque, dtype=float)
    return bodies


@pytest.mark.parametrize(("dimension", "share"), [(2, 0.5), (3, 0.4)])
def test_a_free_grain_is_spun_up(dimension, share):
    """omega = T t/I with I = m r^2/2 of a disk and 2 m r^2/5 of a sphere; the centre stays where it is."""
    mass, radius, torque, steps = 3.0, 0.7, 0.2, 50
    simulation = Simulation(twisted(grains([[0, 0, 0]], radius, mass, dimension=dimension), [[0, 0, torque]]), dt=DT)
    simulation.run(steps=steps)
    assert simulation.bodies.spin[0, 2] == pytest.approx(torque * steps * DT / (share * mass * radius**2), rel=1e-12)
    assert not simulation.bodies.position.any()


def test_a_torque_in_space_turns_about_its_own_axis():
    """A sphere is spun up along T, whatever its direction, and is turned by sum of w dt = T/I dt^2 n(n + 1)/2."""
    torque, steps = np.array([0.3, -0.4, 1.2]), 20
    simulation = Simulation(twisted(grains([[0, 0, 0]], 1.0, 1.0), [torque]), dt=0.01)
    simulation.run(steps=steps)
    np.testing.assert_allclose(simulation.bodies.spin[0], torque / 0.4 * steps * 0.01, rtol=1e-12)
    angle = torque / 0.4 * 0.01**2 * steps * (steps + 1) / 2.0
    half = 0.5 * np.linalg.norm(angle)
    np.testing.assert_allclose(simulation.bodies.orientation[0, 1:], np.sin(half) * angle / (2.0 * half), rtol=1e-12)


def on_floor(torque, mu, steps=100):
    """A disk of m = 2, r = 0.5 on a rough floor, g = 10, under a torque about z."""
    bodies = grains([[0, 0.5, 0]], 0.5, 2.0, dimension=2, gravity=[0, -10, 0], friction=mu, walls=[floor()])
    simulation = Simulation(twisted(bodies, [[0, 0, torque]]), dt=DT, solver=exact())
    simulation.run(steps=steps)
    return simulation


def test_a_driven_wheel_rolls_while_friction_holds():
    """Rolling: a = T/(3/2 m r), friction T/(3/2 r) = 2 N at T = -1.5 N m, below mu m g = 6 N; w = -v/r."""
    simulation = on_floor(-1.5, 0.3)
    v, w = simulation.bodies.velocity[0, 0], simulation.bodies.spin[0, 2]
    assert v == pytest.approx(1.5 / (1.5 * 2.0 * 0.5) * 100 * DT, rel=1e-9)
    assert w == pytest.approx(-v / 0.5, rel=1e-9)
    assert np.abs(simulation.contacts.forces[0, 1:4]).max() == pytest.approx(2.0, rel=1e-9)


def test_a_driven_wheel_spins_where_friction_gives_way():
    """Sliding: a = mu g, dw/dt = (T - mu m g r)/I, for T = 12 N m beyond 3/2 mu m g r = 4.5 N m."""
    simulation = on_floor(-12.0, 0.3)
    assert simulation.bodies.velocity[0, 0] == pytest.approx(0.3 * 10.0 * 100 * DT, rel=1e-9)
    inertia = 0.5 * 2.0 * 0.5**2
    assert simulation.bodies.spin[0, 2] == pytest.approx(-(12.0 - 0.3 * 20.0 * 0.5) / inertia * 100 * DT, rel=1e-9)


def test_the_power_of_a_torque_is_in_the_budget():
    """forces/dt = T w at the end of the step; the balance closes, rolling without loss."""
    simulation = on_floor(-1.5, 0.3)
    budget = measure.energy_budget(simulation)
    assert budget.power["forces"] == pytest.approx(-1.5 * simulation.bodies.spin[0, 2], rel=1e-12)
    assert abs(budget.error) < 1e-12 * budget.kinetic
    assert abs(budget.contacts) < 1e-9 * budget.kinetic


def scene_2d():
    scene = Scene(dimension=2, gravity=(0, -10), friction=0.3, run={"dt": DT, "until": 0.1})
    scene.add_grains(name="wheels", positions=[(0, 0.5), (2, 0.5), (4, 0.5)], radius=0.5, density=1.0)
    scene.add_plane("floor", point=(0, 0), normal=(0, 1))
    scene.add_force(grains="wheels", index=[0, 2], torque=-0.3)
    scene.add_force(grains="wheels", index=0, torque=0.1, force=(0.5, 0))
    return scene


def test_scenes_name_torques():
    """They add up on the grains that they name, along z in 2D; a scene without any has no rows."""
    bodies = scene_2d().build()
    np.testing.assert_allclose(bodies.torque, [[0, 0, -0.2], [0, 0, 0], [0, 0, -0.3]], atol=1e-15)
    np.testing.assert_allclose(bodies.force[:, 0], [0.5, 0, 0])
    scene = Scene(dimension=3)
    scene.add_grains(name="balls", positions=[(0, 0, 0)], radius=1)
    assert not len(scene.build().torque)
    scene.add_force(grains="balls", torque=(1, 2, 3))
    np.testing.assert_allclose(scene.build().torque, [[1, 2, 3]])
    assert not len(scene.build().force)


@pytest.mark.parametrize(
    ("dimension", "words", "message"),
    [
        (2, {"torque": [0, 0, 1]}, "must be a number in 2D"),
        (3, {"torque": 1.0}, "a vector of 3 in 3D"),
        (2, {}, "give force, torque or both"),
        (2, {"torque": float("nan")}, "torque"),
    ],
)
def test_torques_that_cannot_be(dimension, words, message):
    scene = Scene(dimension=dimension)
    scene.add_grains(name="some", positions=[(0, 0, 0)[:dimension]], radius=1)
    with pytest.raises(SceneError, match=message):
        scene.add_force(grains="some", **words)


def test_the_schema_knows_torques():
    table = json.loads(json.dumps(Scene.model_json_schema()))["$defs"]["Force"]
    assert "torque" in table["properties"]
    assert table["required"] == ["grains"]


def test_a_resumed_run_is_the_same_to_the_bit_and_certified(tmp_path):
    """Checkpoints keep torques, frames have them, and the certificate finds angular momentum and energy balanced."""
    straight = Simulation(scene_2d())
    straight.run(steps=60)
    file = tmp_path / "wheels.vtkhdf"
    first = Simulation(scene_2d())
    first.observe(TrajectoryWriter(file), every=10)
    first.run(steps=30)
    again = resume(file)
    np.testing.assert_array_equal(again.bodies.torque, straight.bodies.torque)
    again.run(steps=30)
    np.testing.assert_array_equal(again.bodies.motion, straight.bodies.motion)
    frame = Trajectory(file)[-1]
    np.testing.assert_array_equal(frame.external_torque, again.bodies.torque)
    found = check(frame)
    assert found.passed, found
    assert found.energy["work of external torques"] > 0.0


def test_torques_follow_grains_that_move_in_their_arrays():
    """Taken out and let in again, or numbered anew, each grain keeps its own."""
    from rigidgrains.simulation.sorting import renumber

    simulation = Simulation(scene_2d())
    simulation.run(steps=2)
    crowd = copy_grains(simulation.bodies, np.array([0]))
    simulation.neighbours = change(simulation.bodies, simulation.neighbours, simulation.contacts, leaving=np.array([0]))
    np.testing.assert_allclose(simulation.bodies.torque[:, 2], [0.0, -0.3])
    simulation.neighbours = change(simulation.bodies, simulation.neighbours, simulation.contacts, coming=crowd)
    np.testing.assert_allclose(simulation.bodies.torque[:, 2], [0.0, -0.3, -0.2])
    renumber(simulation.bodies, simulation.neighbours, simulation.contacts, np.array([2, 0, 1]))
    np.testing.assert_allclose(simulation.bodies.torque[:, 2], [-0.2, 0.0, -0.3])


def test_a_grain_that_is_about_to_turn_is_not_at_rest():
    """r T/I = 2 T/(m r) = 2e-3 m/s^2: half of the speed asked for takes 2 s at least, and it must not stop before."""
    simulation = Simulation(twisted(grains([[0, 0, 0]], 1.0, 1.0, dimension=2), [[0, 0, 1e-3]]), dt=0.1)
    simulation.observe(StopWhenStatic(4e-3, looks=3), every=1)
    simulation.run(steps=30)
    assert simulation.steps == 30


def test_dt_auto_sees_a_torque():
    """A torque is all that acts: T/(m r) a second gives the first step, 0.0025 d = T/(m r) dt^2."""
    bodies = twisted(grains([[0, 1, 0]], 1.0, 2.0, dimension=2, friction=0.5, walls=[floor()]), [[0, 0, 4.0]])
    assert Simulation(bodies, dt="auto").dt == pytest.approx(np.sqrt(0.0025 * 2.0 / 2.0))
