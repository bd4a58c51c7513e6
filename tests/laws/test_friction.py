"""Static and sliding friction, friction by speed, frictionless and infinitely rough contacts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.builders import floor, grains, settle, triangular
from support.worlds import scale

import rigidgrains as rg
from rigidgrains.certificate import check
from rigidgrains.laws import SpeedFriction, StaticFriction
from rigidgrains.trajectory.errors import TrajectoryError

G, DT = 10.0, 1e-2
SOLVERS = {
    **{order: rg.Sweeps(order=order) for order in ("random", "symmetric", "coloured", "random_sequential")},
    "accelerated": rg.AcceleratedSweeps(),
}


def block(slope, *, friction=0.3, laws=(), dimension=3):
    """A grain that cannot turn, on a plane that is tilted so that tan = slope."""
    angle = math.atan(slope)
    gravity = [G * math.sin(angle), -G * math.cos(angle), 0.0]
    bodies = grains(
        [[0, 1, 0]], dimension=dimension, gravity=gravity, walls=[floor()], friction=friction, laws=list(laws)
    )
    bodies.motion[0, 7] = 0.0
    return bodies


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize(("mu_s", "mu_d"), [(0.5, 0.3), (0.6, 0.0), (math.inf, 0.2)])
def test_a_block_starts_at_mu_s_and_slides_with_mu_d(mu_s, mu_d, dimension):
    laws = [StaticFriction(mu_s)]
    below = min(mu_s, 5.0) * 0.999
    assert settle(block(below, friction=mu_d, laws=laws, dimension=dimension), steps=20).bodies.velocity[0, 0] == 0.0
    if mu_s == math.inf:
        return
    slope, steps = mu_s * 1.001, 50
    along, across = G * math.sin(math.atan(slope)), G * math.cos(math.atan(slope))
    moved = settle(block(slope, friction=mu_d, laws=laws, dimension=dimension), steps=steps).bodies.velocity[0, 0]
    first = DT * (along - mu_s * across)  # the step in which it lets go still bears mu_s
    assert moved == pytest.approx(first + (steps - 1) * DT * (along - mu_d * across), rel=1e-12)


def test_a_sliding_block_holds_again_once_mu_d_has_stopped_it():
    """Between both angles: pushed it stops by g (mu_d cos - sin), and then does not start again."""
    slope, mu_d = 0.25, 0.3
    bodies = block(slope, friction=mu_d, laws=[StaticFriction(0.5)])
    bodies.velocity[0, 0] = 0.1
    simulation = settle(bodies, steps=1)
    simulation.step()
    slowing = G * (mu_d * math.cos(math.atan(slope)) - math.sin(math.atan(slope)))
    first = G * (0.5 * math.cos(math.atan(slope)) - math.sin(math.atan(slope)))  # a new contact begins with mu_s
    assert bodies.velocity[0, 0] == pytest.approx(0.1 - DT * (first + slowing), rel=1e-12)
    simulation.run(steps=40)
    assert bodies.velocity[0, 0] == 0.0
    assert simulation.contacts.memory[0, 0] == 0.0
    assert simulation.contacts.geometry[0, 6] == 0.5


def test_friction_by_speed_is_that_of_the_speed_before_the_step():
    """mu(v) = mu/(1 + v): the recursion of explicit friction, to rounding."""
    bodies = block(0.6, laws=[SpeedFriction(lambda v, mu: mu / (1.0 + v))])
    angle, v = math.atan(0.6), 0.0
    for _ in range(40):
        v += DT * G * (math.sin(angle) - 0.3 / (1.0 + v) * math.cos(angle))
    assert settle(bodies, steps=40).bodies.velocity[0, 0] == pytest.approx(v, rel=1e-12)


def test_a_function_that_gives_no_coefficient_is_told():
    bodies = block(0.6, laws=[SpeedFriction(lambda v, mu: -1.0)])
    with pytest.raises(ValueError, match="friction -1 at a speed of 0 m/s"):
        settle(bodies)
    with pytest.raises(ValueError, match="must be a function of speed and coefficient"):
        SpeedFriction(lambda v: v)
    with pytest.raises(ValueError, match="must be a function of speed and coefficient"):
        SpeedFriction(lambda v, mu: str(v).nothing)


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_and_a_certificate(name):
    bodies = triangular(4, 5, mu=0.1, g=5.0)
    bodies.laws.append(StaticFriction(0.4))
    simulation = rg.Simulation(bodies, dt=DT, solver=SOLVERS[name], seed=1)
    for _ in range(5):
        simulation.step()
        certificate = check(rg.Frame.of(simulation), tolerance=2e-2)
        assert certificate.passed, str(certificate)
    assert {0.1, 0.4} >= set(simulation.contacts.geometry[:, 6])


def test_infinite_friction_never_slides():
    bodies = block(20.0, friction=math.inf)
    simulation = settle(bodies, steps=5)
    assert np.all(bodies.velocity == 0.0)
    frame = rg.Frame.of(simulation)
    frame.mass[:], bodies.motion[0, 7] = frame.mass, 0.0
    assert frame.contacts.status.tolist() == [1]
    rough = grains([[0, 1, 0]], gravity=[G, -G, 0], walls=[floor()], friction=math.inf)
    assert settle(rough, steps=50).bodies.velocity[0, 0] == pytest.approx(5 / 7 * G * 50 * DT, rel=1e-12)


def test_memory_is_kept_to_the_bit(tmp_path):
    """Resumed in the middle of sliding and sticking contacts."""

    def make():
        bodies = triangular(4, 5, mu=0.05, g=5.0)
        bodies.laws.append(StaticFriction(0.2))
        bodies.velocity[:, 0] = np.linspace(-1.0, 1.0, bodies.count)
        return rg.Simulation(bodies, dt=DT, accuracy="exact", seed=3)

    path, straight, stopped = tmp_path / "run.vtkhdf", make(), make()
    straight.run(steps=12)
    stopped.observe(rg.TrajectoryWriter(path))
    stopped.run(steps=5)
    assert 0 < stopped.contacts.memory.sum() < stopped.contacts.count
    resumed = rg.resume(path)
    resumed.run(steps=7)
    assert np.array_equal(resumed.bodies.motion, straight.bodies.motion)
    assert np.array_equal(resumed.contacts.memory, straight.contacts.memory)
    with rg.Trajectory(path) as trajectory:
        assert all(check(frame).passed for frame in trajectory)
        assert trajectory[-1].law("StaticFriction_static") == pytest.approx(np.array([[0.2]]))


def test_a_function_must_be_given_again_to_resume(tmp_path):
    path, laws = tmp_path / "run.vtkhdf", [SpeedFriction(lambda v, mu: mu)]
    simulation = rg.Simulation(block(0.2, laws=laws), dt=DT)
    simulation.observe(rg.TrajectoryWriter(path))
    simulation.run(steps=2)
    with pytest.raises(TrajectoryError, match=r"SpeedFriction.*resume\(\) again"):
        rg.resume(path)
    rg.resume(path, laws=laws).run(steps=1)


def test_a_wrong_coefficient_is_caught():
    bodies = triangular(3, 3, mu=0.1, g=5.0)
    bodies.laws.append(StaticFriction(0.4))
    frame = rg.Frame.of(settle(bodies, steps=2))
    scale(frame, "mu", 1.1)
    assert [failed.name for failed in check(frame).failed if failed.name == "friction coefficient"]


def test_materials_and_pairs_of_a_scene():
    scene = rg.Scene(dimension=2, friction=0.2)
    scene.add_material("glass", friction=0.1, static_friction=0.3)
    scene.add_pair(materials=("glass", "default"), static_friction=math.inf)
    scene.add_grains(positions=[[0, 1], [3, 1]], radius=1.0, material="glass")
    scene.add_plane("floor", point=(0, 0), normal=(0, 1))
    bodies = scene.build()
    assert bodies.friction.tolist() == [[0.2, 0.2], [0.2, 0.1]]
    assert bodies.laws[0].static.tolist() == [[0.2, math.inf], [math.inf, 0.3]]


def test_static_below_sliding_friction_of_another_table():
    scene = rg.Scene(dimension=2, friction=0.5)
    scene.add_material("glass", static_friction=0.3)
    scene.add_grains(positions=[[0, 1]], radius=1.0, material="glass")
    with pytest.raises(rg.SceneError, match=r"static friction is less than sliding, 0\.5"):
        scene.build()


def test_what_knows_plain_friction_alone_says_so():
    with pytest.raises(ValueError, match="soft DEM knows plain friction, not StaticFriction"):
        rg.SoftDEM(block(0.1, laws=[StaticFriction(0.5)]), dt=1e-3, stiffness=1e3)
