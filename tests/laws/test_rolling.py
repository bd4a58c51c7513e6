"""Rolling and twisting friction: inclines, spinning tops, regimes, drums; in 2D and 3D."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.builders import UP, cloud, column, exact, floor, grains, settle, triangular
from support.worlds import scale

import rigidgrains as rg
from rigidgrains.certificate import check
from rigidgrains.laws import Cohesion, Restitution, Rolling, StaticFriction
from rigidgrains.model.shapes import Cylinder
from rigidgrains.model.walls import Drive, Wall

G, DT, R = 10.0, 1e-2, 0.5
INERTIA = {2: 0.5, 3: 0.4}


def incline(slope, mu_r, *, friction=0.9, dimension=3, steps=20):
    """A grain of radius R on a plane with tan = slope; its simulation after some steps."""
    angle = math.atan(slope)
    bodies = grains(
        [[0, R, 0]], R, dimension=dimension, friction=friction, laws=[Rolling(mu_r)], walls=[floor()],
        gravity=[G * math.sin(angle), -G * math.cos(angle), 0.0],
    )  # fmt: skip
    return settle(bodies, dt=DT, steps=steps)


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_grain_stays_on_an_incline_up_to_mu_r_over_r(dimension):
    stays = incline(0.2999, 0.3 * R, dimension=dimension)
    assert stays.bodies.motion[0, :6] == pytest.approx(np.zeros(6), abs=1e-12)
    assert check(rg.Frame.of(stays)).passed
    assert incline(0.3001, 0.3 * R, dimension=dimension).bodies.velocity[0, 0] > 1e-5


@pytest.mark.parametrize("dimension", [2, 3])
def test_both_regimes_down_an_incline(dimension):
    """Rolling: a = g (sin - mu_r/r cos)/(1 + I/(m r^2)). Where that needs more than mu N: a = g (sin - mu cos)."""
    slope, steps, share = 1.0, 20, INERTIA[dimension]
    sin = cos = math.sqrt(0.5)
    rolls = incline(slope, 0.2 * R, dimension=dimension)
    a = G * (sin - 0.2 * cos) / (1.0 + share)
    assert rolls.bodies.velocity[0, 0] == pytest.approx(a * DT * steps, rel=1e-9)
    assert rolls.bodies.spin[0, 2] == pytest.approx(-a * DT * steps / R, rel=1e-9)
    slides = incline(slope, 0.2 * R, dimension=dimension, friction=0.3)
    assert slides.bodies.velocity[0, 0] == pytest.approx(G * (sin - 0.3 * cos) * DT * steps, rel=1e-9)
    spin = G * cos * (0.3 - 0.2) / (share * R) * DT * steps
    assert slides.bodies.spin[0, 2] == pytest.approx(-spin, rel=1e-9)
    block = incline(slope, math.inf, dimension=dimension, friction=0.3)  # it does not turn at all
    assert block.bodies.velocity[0, 0] == pytest.approx(G * (sin - 0.3 * cos) * DT * steps, rel=1e-9)
    assert block.bodies.spin[0] == pytest.approx([0, 0, 0], abs=1e-9)


def test_a_spinning_sphere_stops_in_time():
    """Twisting: w falls by mu_t m g/I, and is zero after 2 r^2 w/(5 mu_t g)."""
    mu_t, w = 0.02, 30.0
    bodies = grains(
        [[0, R, 0]], R, gravity=[0, -G, 0], spin=[[0, w, 0]], friction=0.5, walls=[floor()], laws=[Rolling(0.0, mu_t)]
    )
    stop = 0.4 * R**2 * w / (mu_t * G)
    simulation = settle(bodies, dt=stop / 99.5, steps=50)
    assert bodies.spin[0, 1] == pytest.approx(w * (1.0 - 50 / 99.5), rel=1e-9)
    assert check(rg.Frame.of(simulation)).passed
    for _ in range(49):
        simulation.step()
    assert bodies.spin[0, 1] > 0.0
    simulation.step()
    assert bodies.spin[0] == pytest.approx([0, 0, 0], abs=1e-12)


def test_a_rolling_sphere_stops_in_any_direction():
    """The bound is a disk: rolling along a diagonal is slowed as much as along an axis."""
    stopped = []
    for direction in ([1, 0, 0], [math.sqrt(0.5), 0, math.sqrt(0.5)]):
        v = np.array(direction)
        spin = np.cross(UP, v) / R
        bodies = grains(
            [[0, R, 0]], R, gravity=[0, -G, 0], velocity=[v], spin=[spin], friction=0.9, walls=[floor()],
            laws=[Rolling(0.05, 0.0)],
        )  # fmt: skip
        settle(bodies, dt=DT, steps=20)
        stopped.append(np.linalg.norm(bodies.velocity[0]))
        assert np.cross(bodies.velocity[0], v) == pytest.approx([0, 0, 0], abs=1e-9)
    assert stopped == pytest.approx(2 * [1.0 - 0.2 * G * 0.05 / R / 1.4], rel=1e-9)


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_grain_that_cannot_roll_turns_with_its_drum(dimension):
    """Infinite rolling friction and friction: carried along like a piece of the drum."""
    z = np.array([0.0, 0.0, 1.0])
    drum = Wall("drum", Cylinder(np.zeros(3), z, 4.0, True, math.inf), drive=Drive(spin=0.5 * z))
    bodies = grains(
        [[0, -3, 0]], dimension=dimension, gravity=[0, -G, 0], friction=math.inf, walls=[drum], laws=[Rolling(math.inf)]
    )
    simulation = settle(bodies, steps=10)
    assert bodies.spin[0] == pytest.approx([0, 0, 0.5], rel=1e-9)
    certificate = check(rg.Frame.of(simulation))
    assert certificate.passed, str(certificate)


def test_two_spheres_of_different_size_come_to_a_common_spin():
    """Angular momentum of a pair without friction: I_0 w_0 + I_1 w_1 is shared when nothing may twist."""
    radius = np.array([0.5, 1.0])
    bodies = grains(
        [[0, 0, 0], [1.5, 0, 0]], radius, np.array([1.0, 2.0]), spin=[[3, 0, 0], [0, 0, 0]],
        force=[[5, 0, 0], [-5, 0, 0]], laws=[Rolling(math.inf, math.inf)],
    )  # fmt: skip
    settle(bodies, steps=2)
    inertia = 0.4 * bodies.mass * radius**2
    assert bodies.spin[:, 0] == pytest.approx(2 * [3.0 * inertia[0] / inertia.sum()], rel=1e-12)


WORLDS = {
    "piston": lambda: triangular(4, 5, mu=0.3, g=5.0),
    "column": lambda: column(5, friction=0.4, velocity=[[0.1, 0, 0]] * 5, spin=[[0, 0.4, 0.2]] * 5),
    "cloud": lambda: cloud(30, seed=3, mu=0.4),
}


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("method", [rg.Sweeps, rg.AcceleratedSweeps])
def test_every_solver_is_certified_with_all_laws_together(world, method):
    bodies = WORLDS[world]()
    bodies.laws += [StaticFriction(0.6), Cohesion(1.0, 0.05), Restitution(0.4, 0.2, 0.05), Rolling(0.1, 0.05)]
    solver = method(criterion=rg.ResidualCriterion(1e-5), max_sweeps=50_000)
    simulation = rg.Simulation(bodies, dt=5e-2 if world == "cloud" else DT, solver=solver, seed=2)
    for _ in range(6):
        simulation.step()
        certificate = check(rg.Frame.of(simulation))
        assert certificate.passed, str(certificate)
    assert np.any(simulation.contacts.forces[:, 4:] != 0.0)


@pytest.mark.parametrize("order", ["random", "ordered", "random_blocks", "random_sequential", "coloured", "symmetric"])
def test_every_order_stops_at_the_same_motion(order):
    found = []
    for solver in (exact(), exact(order=order)):
        bodies = cloud(12, seed=6, mu=0.4)
        bodies.laws.append(Rolling(0.1, 0.05))
        rg.Simulation(bodies, dt=5e-2, solver=solver).run(steps=6)
        found.append(bodies.motion.copy())
    assert found[1] == pytest.approx(found[0], abs=1e-7)


def test_threads_give_the_same_bits_as_one():
    from rigidgrains.solve.orders import Coloured

    found = []
    for worth in (1, 10**9):
        bodies = cloud(60, seed=6, mu=0.4)
        bodies.laws.append(Rolling(0.1, 0.05))
        rg.Simulation(bodies, dt=5e-2, solver=rg.Sweeps(order=Coloured(worth=worth)), seed=1).run(steps=5)
        found.append(bodies.motion.copy())
    assert np.array_equal(found[0], found[1])


def test_resumed_to_the_bit_with_all_laws(tmp_path):
    def make():
        bodies = cloud(30, seed=5, mu=0.3)
        bodies.laws += [StaticFriction(0.6), Cohesion(1.0, 0.05), Restitution(0.4, 0.2, 0.05), Rolling(0.1, 0.05)]
        return rg.Simulation(bodies, dt=2e-2, seed=3)

    path, straight, stopped = tmp_path / "run.vtkhdf", make(), make()
    straight.run(steps=20)
    stopped.observe(rg.TrajectoryWriter(path), every=3)
    stopped.run(steps=9)
    resumed = rg.resume(path)
    resumed.run(steps=11)
    assert np.array_equal(resumed.bodies.motion, straight.bodies.motion)
    assert np.array_equal(resumed.contacts.forces, straight.contacts.forces)
    with rg.Trajectory(path) as trajectory:
        assert all(check(frame).passed for frame in trajectory)


def test_files_of_other_programs_cannot_hold_torques(tmp_path):
    from rigidgrains.fclib import save_problem

    with pytest.raises(ValueError, match="three unknowns per contact"):
        save_problem(incline(0.2, 0.3 * R), tmp_path / "step.hdf5")


def test_the_laboratory_refuses_torques():
    from rigidgrains.laboratory.step import StepCase

    simulation = incline(0.2, 0.3 * R)
    with pytest.raises(ValueError, match="leave these laws out"):
        StepCase("incline", simulation.contacts.problem(simulation.bodies, simulation.dt))


def test_a_wrong_torque_is_caught():
    frame = rg.Frame.of(incline(0.2, 0.3 * R))
    scale(frame, "torque", 2.0)
    assert {"angular momentum", "torque"} <= {failed.name for failed in check(frame).failed}


@pytest.mark.parametrize("words", [{"rolling": -1.0}, {"rolling": 0.0, "twisting": -0.1}])
def test_out_of_range(words):
    with pytest.raises(ValueError, match="out of range"):
        Rolling(**words)
