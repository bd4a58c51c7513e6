"""Cells that deform: streaming, collisions across faces, balance of power, files."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support.builders import exact, grains
from support.cells import CONTROLS, SHEAR, cell_of, gas, moment, replicas, under

from rigidgrains import Frame, Trajectory, TrajectoryWriter, resume
from rigidgrains.laws import Restitution
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.solve.accelerated import AcceleratedSweeps
from rigidgrains.solve.sweeps import Sweeps


def real_velocity(bodies):
    return bodies.velocity + (bodies.position - bodies.cell.origin) @ bodies.flow[:, :3].T


def contact_velocity(simulation, motion):
    """(c, 3) m/s by motion rows, with the flow."""
    contacts, bodies = simulation.contacts, simulation.bodies
    i, j, n = contacts.pairs[:, 0], contacts.pairs[:, 1], contacts.normal
    branch = (bodies.radius[contacts.pairs].sum(axis=1) + contacts.gap)[:, None] * n
    flow = motion[bodies.rows - 3 : bodies.rows, :3]
    v = motion[j, :3] - motion[i, :3] + branch @ flow.T
    return v - np.cross(motion[i, 3:6] + motion[j, 3:6], n)


def energy(bodies, motion):
    """J, of grains by their peculiar velocities and spins, and of the cell by its free components."""
    rows, flow, light = motion[: bodies.count], motion[bodies.rows - 3 : bodies.rows], bodies.motion[: bodies.count]
    grains_own = 0.5 * ((rows[:, :3] ** 2).sum(axis=1) / light[:, 6]).sum()
    grains_own += 0.5 * ((rows[:, 3:6] ** 2).sum(axis=1) / light[:, 7]).sum()
    each = bodies.flow[:, 3:6] > 0.0
    cell = 0.5 * (flow[:, :3][each] ** 2 / bodies.flow[:, 3:6][each]).sum()
    if bodies.flow[:, 6].any():
        k = int(np.argmax(bodies.flow[:, 6]))
        cell += 0.5 * flow[k, k] ** 2 / bodies.flow[k, 6]
    return grains_own + cell


# Flow without contacts


def test_a_free_grain_flies_straight_through_a_sheared_cell():
    """Lees and Edwards: whatever faces it crosses and however often the cell is straightened, all steps are alike."""
    rate, dt = 0.8 * SHEAR, 0.01
    bodies = grains([[1.0, 2.0, 0.5]], 0.1, velocity=[[0.3, 1.1, -0.4]], cell=cell_of(3.0, 2.5, 4.0, rate=rate))
    start = bodies.position[0].copy()
    v = (np.eye(3) - dt * rate) @ bodies.velocity[0] + rate @ start
    simulation = Simulation(bodies, dt=dt)
    leans = []
    for _ in range(1000):
        simulation.step()
        leans.append(bodies.cell.vectors[1, 0])
    assert np.abs(bodies.image[0] @ bodies.cell.vectors).max() > 5.0
    assert max(leans) < 1.7
    assert (np.diff(leans) < -1.0).sum() >= 5  # straightened again and again
    np.testing.assert_allclose(bodies.unwrapped[0], start + 10.0 * v, rtol=1e-10)


@pytest.mark.parametrize("mu", [0.0, 0.4])
def test_a_collision_across_a_sheared_face_is_that_in_the_open(mu):
    """Two grains that meet through a moving face do what Newton says without one, step by step."""
    rate, dt, spin = 0.5 * SHEAR, 0.005, [[0, 0, 1.0], [0, 0, -2.0]]
    peculiar = np.array([[0.4, -1.0, 0], [-0.3, 1.0, 0]])
    position = np.array([[4.0, 0.8, 0], [5.6, 7.5, 0]])
    across = grains(position, velocity=peculiar, spin=spin, dimension=2, friction=mu,
                    cell=cell_of(11.0, 9.0, lean=1.2, rate=rate))  # fmt: skip
    there = position - np.array([[0, 0, 0], across.cell.vectors[1]])  # grain 1 is met one cell below
    velocity = peculiar @ (np.eye(3) - dt * rate).T + there @ rate.T
    apart = grains(there, velocity=velocity, spin=spin, dimension=2, friction=mu)
    one, other = (Simulation(bodies, dt=dt, solver=exact()) for bodies in (across, apart))
    hit = 0.0
    for _ in range(120):
        one.step()
        other.step()
        hit = max(hit, one.contacts.forces[:, 0].max(initial=0.0))
        met = across.unwrapped - np.array([[0, 0, 0], across.cell.vectors[1]])
        np.testing.assert_allclose(met, apart.position, atol=1e-11)
    assert hit > 100.0
    np.testing.assert_allclose(across.spin, apart.spin, atol=1e-11)


@pytest.mark.parametrize(
    "control",
    [
        {"rate": 0.7 * SHEAR},
        {"rate": np.diag([-0.2, -0.2, 0.0])},
        {"rate": SHEAR, "free": np.diag([False, True, False]), "stress": np.diag([0, 3.0, 0]), "inertia": 0.25},
        under(5.0, inertia=0.25),
        under(5.0, isotropic=False, inertia=0.25),
    ],
)
def test_a_flowing_cell_is_like_its_replicas(control):
    """A cell of four copies flows as the cell does; its inertia goes with its mass and the square of its sides."""
    one = gas(40, side=10.0, mu=0.4, speed=2.0, cell=cell_of(10.0, 10.0, **{**control, "inertia": 1.0}))
    many = replicas(one, (2, 2, 1))
    cell = cell_of(20.0, 20.0, **control)
    many = grains(many.position, many.radius, many.mass, dimension=2, velocity=many.velocity, spin=many.spin,
                  friction=many.friction, cell=cell)  # fmt: skip
    first, second = (Simulation(bodies, dt=0.005, solver=exact()) for bodies in (one, many))
    met = 0
    for _ in range(60):
        first.step()
        second.step()
        met += int((first.contacts.forces[:, 0] > 0.0).sum())
    assert met > 20
    np.testing.assert_allclose(many.flow[:, :3], one.flow[:, :3], atol=1e-6)
    velocity = many.velocity.reshape(-1, 40, 3)
    np.testing.assert_allclose(velocity, np.broadcast_to(one.velocity, velocity.shape), atol=1e-6)


def test_a_cell_of_gas_against_its_equations():
    """Grains that never meet, under pressure: cell and gas swing as their differential equations say."""
    n, p, side = 8, 2.0, 10.0
    errors = []
    for dt in (8e-3, 4e-3, 2e-3):
        bodies = gas(n, side=side, speed=3.0, cell=cell_of(side, side, **under(p)))
        bodies.radius[:] = 1e-6
        mass, c = bodies.mass, bodies.velocity[:, :2].copy()
        inertia = 1.0 / bodies.flow[0, 6]

        def law(t, y, mass=mass, c=c, inertia=inertia):
            strain, rate = y  # sides have grown by exp(strain), velocities shrunk by as much
            return [
                rate,
                (np.exp(-2 * strain) * (mass[:, None] * c**2).sum() - 2 * p * side**2 * np.exp(2 * strain)) / inertia,
            ]

        simulation = Simulation(bodies, dt=dt)
        for _ in range(round(2.0 / dt)):
            simulation.step()
        solved = solve_ivp(law, (0.0, 2.0), [0.0, 0.0], rtol=1e-10, atol=1e-12).y[:, -1]
        errors.append(abs(bodies.flow[0, 0] - solved[1]))
        assert np.log(bodies.cell.vectors[0, 0] / side) == pytest.approx(solved[0], abs=0.5 * dt * 20)
    assert errors[2] < 0.02
    assert errors[1] / errors[2] == pytest.approx(2.0, rel=0.2)
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.3)


# Balance


@pytest.mark.parametrize("control", CONTROLS)
def test_power_balances_in_every_step(control):
    """Work of the cell = what contacts take + what grains and cell gain, to rounding, whatever is prescribed."""
    bodies = gas(60, side=11.0, mu=0.3, speed=1.0, cell=cell_of(11.0, 11.0, lean=2.0, **control))
    cell, dt = bodies.cell, 0.01
    simulation = Simulation(bodies, dt=dt, solver=Sweeps())
    taken = 0.0
    for _ in range(80):
        volume = cell.volume
        simulation.step()
        before, after = simulation.motion_before, bodies.motion
        rate, free_rate = before[-3:, :3], before[-3:, :3].copy()
        back = np.linalg.inv(np.eye(3) + dt * np.where(cell.free, rate, cell.rate))
        free = before.copy()
        free[:60, :3] = before[:60, :3] @ back.T
        kinetic = (bodies.mass[:, None] * 0.5 * (before[:60, :3] + free[:60, :3])).T @ free[:60, :3]
        push = np.triu(kinetic) - volume * cell.stress
        free_rate[:] = np.where(cell.free, rate, cell.rate)
        if cell.isotropic:
            free_rate += dt * bodies.flow[0, 6] * np.trace(push) * np.diag(cell.periodic)
        else:
            free_rate += dt * before[-3:, 3:6] * push
        free[-3:, :3] = free_rate
        forces = simulation.contacts.force
        contacts = (
            0.5 * dt * (forces * (contact_velocity(simulation, free) + contact_velocity(simulation, after))).sum()
        )
        prescribed = np.where(cell.free, 0.0, free_rate)
        work = -dt * (prescribed * (np.triu(kinetic) + moment(simulation))).sum()  # of whoever drives the cell
        work += dt * (np.where(cell.free, 0.5 * (rate + free_rate), 0.0) * push).sum()
        work -= dt * (np.where(cell.free, rate, 0.0) * np.triu(kinetic)).sum()
        gained = energy(bodies, after) - energy(bodies, before)
        scale = abs(work) + abs(contacts) + energy(bodies, after)
        assert gained == pytest.approx(work + contacts, abs=1e-12 * scale)
        taken += contacts
    assert taken < -1e-3
    momentum = (bodies.mass[:, None] * bodies.velocity).sum(axis=0)
    assert np.abs(momentum).max() < 1e-12 * bodies.mass.sum()


# Files


@pytest.mark.parametrize("solver", [Sweeps(), AcceleratedSweeps(), Sweeps(order="coloured")])
@pytest.mark.parametrize("control", [CONTROLS[2], CONTROLS[4]])
def test_resume_to_the_bit(tmp_path, solver, control):
    """A cell under stress goes on as if it had never stopped."""

    def start():
        bodies = gas(50, side=10.0, seed=3, speed=2.0, cell=cell_of(10.0, 10.0, **control), laws=[Restitution(0.3)])
        return Simulation(bodies, dt=0.01, solver=solver, seed=5)

    straight, parted = start(), start()
    straight.run(steps=40)
    parted.observe(TrajectoryWriter(tmp_path / "gas.vtkhdf"), every=10)
    parted.run(steps=23)
    resumed = resume(tmp_path / "gas.vtkhdf")
    resumed.run(steps=17)
    for name in ("position", "motion", "image"):
        assert np.array_equal(getattr(resumed.bodies, name), getattr(straight.bodies, name))
    assert np.array_equal(resumed.bodies.cell.vectors, straight.bodies.cell.vectors)
    assert np.array_equal(resumed.contacts.forces, straight.contacts.forces)


def test_frames_tell_real_and_peculiar_velocities(tmp_path):
    bodies = gas(50, side=10.0, seed=3, speed=2.0, cell=cell_of(10.0, 10.0, **CONTROLS[4]))
    simulation = Simulation(bodies, dt=0.01)
    simulation.observe(TrajectoryWriter(tmp_path / "gas.vtkhdf"), every=10)
    simulation.run(steps=30)
    v, flow = real_velocity(bodies), bodies.flow[:, :3].copy()
    image, vectors = bodies.image.copy(), bodies.cell.vectors.copy()
    simulation.run(steps=1)
    v -= (bodies.image - image) @ vectors @ flow.T  # of the image that is in the cell
    with Trajectory(tmp_path / "gas.vtkhdf") as trajectory:
        for frame in (Frame.of(simulation), trajectory[-1]):
            np.testing.assert_allclose(frame.velocity, real_velocity(bodies), rtol=1e-12)
            assert np.array_equal(frame.peculiar_velocity, bodies.velocity)
            np.testing.assert_allclose(frame.velocity_before, v, rtol=1e-9, atol=1e-9)
            assert np.array_equal(frame.cell_rate, bodies.flow[:, :3])
            assert np.array_equal(frame.cell_rate_before, flow)
            assert frame.cell_stress[1, 1] == 3.0
            assert np.isnan(frame.cell_stress[0, 0])
        assert len({frame.cell.tobytes() for frame in trajectory}) == len(trajectory)
