"""Springs that pull grains: the swing of a mass, shares by mass, energy, files, mistakes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rigidgrains as rg
from rigidgrains import certificate, measure
from rigidgrains.events.errors import StageError
from rigidgrains.scene.errors import SceneError


def scene(**spring) -> rg.Scene:
    """Two free disks of 1 kg and 3 kg, 1 m apart, pulled along x."""
    one = rg.Scene(dimension=2)
    radii = [0.1, 0.1 * math.sqrt(3.0)]
    one.add_grains(name="pair", positions=[[0, 0], [1, 0]], radii=radii, density=100 / math.pi, velocity=[0.5, 0])
    words = {"grains": "pair", "stiffness": 16.0, "direction": [1, 0], "displacement": 0.0}
    one.add_spring("puller", **words | spring)
    return one


def test_a_mass_on_a_spring_swings():
    """x_n = dt v_0 sin(n a)/sin(a) with 2 sin(a/2) = w dt: the steps of implicit Euler, solved exactly."""
    dt, w = 0.01, math.sqrt(16.0 / 4.0)
    simulation = rg.Simulation(scene(), dt=dt)
    way = []
    simulation.observe(lambda sim: way.append(sim.bodies.position[:, 0] - [0.0, 1.0]))
    simulation.run(steps=700)  # more than two periods
    a = 2.0 * math.asin(0.5 * w * dt)
    expected = dt * 0.5 * np.sin(a * np.arange(1, 701)) / math.sin(a)
    # each grain has its share by mass: both go the same way
    assert np.array(way) == pytest.approx(np.stack([expected, expected], axis=1), abs=1e-12)


def test_the_end_moves_and_a_single_grain_follows():
    """Pulled at constant velocity from rest, the stretch of grain 1 swings about zero as that of a free mass."""
    dt, k, speed = 1e-3, 12.0, 0.3
    one = scene(index=1, stiffness=k, velocity=speed, displacement=None)
    simulation = rg.Simulation(one, dt=dt)
    simulation.bodies.velocity[:] = 0.0
    simulation.run(steps=2000)
    bodies, w = simulation.bodies, math.sqrt(k / 3.0)
    assert bodies.position[0].tolist() == [0.0, 0.0, 0.0]
    # x = V (t - sin(w t)/w), to first order in dt
    assert bodies.position[1, 0] - 1.0 == pytest.approx(speed * (2.0 - math.sin(2.0 * w) / w), abs=2.0 * w * dt * speed)
    assert bodies.springs[0].force == pytest.approx(k * speed * math.sin(2.0 * w) / w, abs=2.0 * w * dt * k * speed)


def test_energy_is_in_the_books():
    """Potential energy is k e^2/2; the budget of each step closes, its forces are those of the spring; certified."""
    simulation = rg.Simulation(scene(), dt=0.01)
    simulation.run(steps=60)
    frame, way = rg.Frame.of(simulation), simulation.bodies.position[0, 0]
    assert measure.energy(frame).potential == pytest.approx(0.5 * 16.0 * way**2, rel=1e-12)
    assert measure.energy(frame).total == pytest.approx(0.5 * 4.0 * 0.5**2, rel=0.01)  # to w dt/2
    budget = measure.energy_budget(frame)
    before = way - 0.01 * simulation.bodies.velocity[0, 0]
    assert budget.forces == pytest.approx(-16.0 * before * (way - before), rel=1e-9)
    assert abs(budget.error) < 1e-12
    assert certificate.check(frame).passed


def test_restart_is_exact_and_the_file_tells_the_force(tmp_path):
    def start():
        return rg.Simulation(scene(displacement="0.1*sin(3*t)"), dt=0.01)

    straight, path = start(), tmp_path / "swing.vtkhdf"
    straight.run(steps=50)
    torn, history = start(), rg.History()
    torn.observe(history).observe(rg.TrajectoryWriter(path, history=history), every=10)
    torn.run(steps=23)
    again = rg.resume(path)
    assert again.bodies.pull.tobytes() == torn.bodies.pull.tobytes()
    history = rg.History()
    again.observe(history).observe(rg.TrajectoryWriter(path, resume=True, history=history), every=10)
    again.run(steps=27)
    assert again.bodies.motion.tobytes() == straight.bodies.motion.tobytes()
    assert again.bodies.springs[0].force == straight.bodies.springs[0].force
    with rg.Trajectory(path) as trajectory:
        force, frame = trajectory.history["puller.force"], trajectory[-1]
        assert len(force) == 50
        assert force[-1] == straight.bodies.springs[0].force
        assert frame.external_force.sum(axis=0) == pytest.approx([force[-1], 0.0, 0.0], rel=1e-12, abs=1e-15)
        assert all(certificate.check(one).passed for one in trajectory[1:])


def test_a_function_is_asked_for_again(tmp_path):
    path = tmp_path / "swing.vtkhdf"
    simulation = rg.Simulation(scene(displacement=lambda t: 0.1 * t), dt=0.01)
    simulation.observe(rg.TrajectoryWriter(path))
    simulation.run(steps=3)
    with pytest.raises(ValueError, match=r"puller\.displacement"):
        rg.resume(path)
    assert rg.resume(path, functions={"puller.displacement": lambda t: 0.1 * t}).steps == 3


def test_auto_steps_follow_the_swing():
    simulation = rg.Simulation(scene(), dt=rg.AutoStep(travel=1.0))
    simulation.run(until=1.0)
    assert simulation.step_range[1] <= 2.0 * math.pi * math.sqrt(4.0 / 16.0) / 20.0


def test_mistakes_are_told():
    with pytest.raises(SceneError, match="velocity or displacement"):
        scene(velocity=1.0)
    twice = scene()
    with pytest.raises(SceneError, match="must not have a '/'"):
        twice.add_spring("left/right", grains="pair", stiffness=1.0, direction=[1, 0], velocity=1.0)
    with pytest.raises(SceneError, match="names must differ"):
        twice.add_spring("puller", grains="pair", stiffness=1.0, direction=[1, 0], velocity=1.0)
    with pytest.raises(SceneError, match="greater than zero"):
        scene(stiffness=-1.0)
    with pytest.raises(SceneError, match="no group of grains has this name"):
        scene(grains="pear").build()
    with pytest.raises(SceneError, match="numbered from 0 to 1"):
        scene(index=2).build()
    with pytest.raises(SceneError, match="2 components"):
        scene(direction=[1, 0, 0])
    drained = scene()
    drained.add_outlet("drain", point=[0, -5], normal=[0, 1])
    with pytest.raises(SceneError, match="may leave through an outlet"):
        drained.build()
    sheared = scene()
    with pytest.raises(SceneError, match="has no springs"):
        sheared.set_cell(lower=[-2, -2], upper=[2, 2], rate={"xy": 1.0})
    with pytest.raises(StageError, match=r"k dt\^2 = 16 kg is more than the mass of 4 kg .* use a dt below 0\.5 s"):
        rg.Simulation(scene(), dt=1.0).step()


def test_its_force_and_energy_are_plotted(tmp_path):
    """k x and k x^2/2 of the swing against time."""
    from rigidgrains.view.series import draw_history

    simulation = rg.Simulation(scene(), dt=0.01)
    history, way = rg.History(), []
    simulation.observe(history)
    simulation.observe(lambda sim: way.append(sim.bodies.position[0, 0]))
    simulation.run(steps=60)
    panels = {axes.get_ylabel(): axes for axes in draw_history(history, tmp_path / "history.png").axes}
    force = panels["force of spring (N)"].lines[0].get_ydata()
    assert force[1:] == pytest.approx(-16.0 * np.array(way[:-1]), rel=1e-9)
    energy = next(line for line in panels["energy (J)"].lines if line.get_label() == "springs")
    assert energy.get_ydata() == pytest.approx(8.0 * np.array(way) ** 2, rel=1e-9)
