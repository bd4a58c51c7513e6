"""Cells that deform: streaming, collisions across faces, balance of power, cells under stress."""

from __future__ import annotations

import numpy as np
import pytest
from builders import exact, grains
from scipy.integrate import solve_ivp
from test_cell import box, gas, replicas

from rigidgrains import Frame, Trajectory, TrajectoryWriter, resume
from rigidgrains.cell import IMAGES, Cell, encode
from rigidgrains.laws import Cohesion, Restitution, Rolling, StaticFriction
from rigidgrains.observe.measure import overlaps
from rigidgrains.simulation import DivergenceError, Simulation
from rigidgrains.solve.accelerated import AcceleratedSweeps
from rigidgrains.solve.criteria import FixedSweeps
from rigidgrains.solve.orders import Coloured
from rigidgrains.solve.relaxed import RelaxedSweeps
from rigidgrains.solve.residual import momentum_error, natural_map, residual
from rigidgrains.solve.sweeps import Sweeps
from rigidgrains.threads import only

SHEAR = np.array([[0.0, 1.0, 0.0], [0, 0, 0], [0, 0, 0]])


def cell_of(x, y, z=None, *, lean=0.0, **control):
    """A cell with prescribed rates or stresses."""
    cell = box(x, y, z)
    cell.vectors[1, 0] = lean
    return Cell(cell.vectors, periodic=cell.periodic, **control)


def under(pressure, *, isotropic=True, flat=True, **rest):
    """Control by the same pressure on all sides."""
    sides = np.diag([True, True, not flat])
    return {"free": sides, "stress": pressure * sides, "isotropic": isotropic, **rest}


def real_velocity(bodies):
    return bodies.velocity + (bodies.position - bodies.cell.origin) @ bodies.flow[:, :3].T


def moment(simulation):
    """(3, 3) J, sum of R b over all contacts."""
    contacts, bodies = simulation.contacts, simulation.bodies
    branch = (bodies.radius[contacts.pairs].sum(axis=1) + contacts.gap)[:, None] * contacts.normal
    return contacts.force.T @ branch


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
    rows, flow = motion[: bodies.count], motion[bodies.rows - 3 : bodies.rows]
    grains_own = 0.5 * ((rows[:, :3] ** 2).sum(axis=1) / rows[:, 6]).sum()
    grains_own += 0.5 * ((rows[:, 3:6] ** 2).sum(axis=1) / rows[:, 7]).sum()
    each = flow[:, 3:6] > 0.0
    cell = 0.5 * (flow[:, :3][each] ** 2 / flow[:, 3:6][each]).sum()
    if flow[:, 6].any():
        k = int(np.argmax(flow[:, 6]))
        cell += 0.5 * flow[k, k] ** 2 / flow[k, 6]
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
    for dt in (4e-3, 2e-3, 1e-3):
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


CONTROLS = [
    {"rate": 0.7 * SHEAR},
    {"rate": np.diag([-0.3, 0.1, 0.0]) + 0.4 * SHEAR},
    under(5.0),
    under(5.0, isotropic=False),
    {"rate": 0.5 * SHEAR, "free": np.diag([False, True, False]), "stress": np.diag([0, 3.0, 0])},
    {"free": np.triu(np.ones((3, 3), bool)) & np.outer([1, 1, 0], [1, 1, 0]).astype(bool),
     "stress": 4.0 * np.diag([1, 1, 0]) + SHEAR},
]  # fmt: skip


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
            free_rate += dt * before[-3, 6] * np.trace(push) * np.diag(cell.periodic)
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


# Cells under stress


def triangular_cell(n=6, **control):
    """Touching disks on a triangular lattice that fills a cell."""
    position = [[2.0 * (i + 0.5 * (j % 2)), 3**0.5 * j, 0] for j in range(n) for i in range(n)]
    return grains(position, 1.0, 1.0, dimension=2, friction=0.3, cell=cell_of(2.0 * n, 3**0.5 * n, **control))


SOLVERS = {
    "random": exact(),
    "ordered": exact(order="ordered"),
    "random_sequential": exact(order="random_sequential"),
    "random_blocks": exact(order="random_blocks"),
    "symmetric": exact(order="symmetric"),
    "coloured": exact(order="coloured"),
    "relaxed": RelaxedSweeps(criterion=exact().criterion, max_sweeps=10_000),
    "accelerated": AcceleratedSweeps(criterion=exact().criterion, max_sweeps=10_000),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_a_lattice_carries_the_stress_of_its_cell(name):
    """At rest the contacts carry exactly what is prescribed, shear included, by whatever solver."""
    stress = np.array([[2.0, 0.3, 0], [0, 3.0, 0], [0, 0, 0]])
    bodies = triangular_cell(4, free=stress != 0.0, stress=stress)
    simulation = Simulation(bodies, dt=1e-2, solver=SOLVERS[name])
    for _ in range(3):
        simulation.step()
    np.testing.assert_allclose(np.triu(moment(simulation)) / bodies.cell.volume, stress, atol=1e-7)
    assert np.abs(bodies.flow[:, :3]).max() < 1e-8
    problem = simulation.contacts.problem(bodies, simulation.dt)
    assert residual(problem) < 1e-7
    assert natural_map(problem).max() < 1e-6
    assert momentum_error(problem) < 1e-5


def test_an_isotropic_cell_carries_its_pressure():
    """In 3D, on a cubic lattice: one degree of freedom, exact at rest; a sudden change is carried in the same step."""
    position = 2.0 * np.stack(np.meshgrid(*[np.arange(3)] * 3), axis=-1).reshape(-1, 3)
    bodies = grains(position, 1.0, 1.0, friction=0.2, cell=cell_of(6.0, 6.0, 6.0, **under(4.0, flat=False)))
    simulation = Simulation(bodies, dt=1e-2, solver=exact())
    for p in (4.0, 40.0, 0.5):
        bodies.cell.stress[range(3), range(3)] = p
        simulation.step()
        assert np.trace(moment(simulation)) / (3.0 * bodies.cell.volume) == pytest.approx(p, rel=1e-9)
    assert bodies.cell.volume == pytest.approx(216.0, rel=1e-9)
    figures = simulation.report().cell
    assert figures["pressure"] == pytest.approx(0.5, rel=1e-9)
    assert figures["packing_fraction"] == pytest.approx(np.pi / 6.0, rel=1e-9)  # simple cubic
    assert "packing fraction 0.5236" in str(simulation.report())


def test_a_loose_cell_is_compressed_to_rest():
    """200 disks under pressure: a packing that carries P, at rest, with rigid contacts."""
    p = 10.0
    bodies = gas(144, side=21.0, mu=0.2, speed=0.5, cell=cell_of(21.0, 21.0, **under(p)))
    simulation = Simulation(bodies, dt=5e-3, solver=AcceleratedSweeps())
    simulation.run(steps=1500)
    assert np.trace(moment(simulation)) / (2.0 * bodies.cell.volume) == pytest.approx(p, rel=2e-2)
    assert np.abs(bodies.flow[0, 0]) < 1e-3
    filled = (np.pi * bodies.radius**2).sum() / bodies.cell.volume
    assert 0.78 < filled < 0.86
    assert overlaps(bodies, simulation.contacts).max() < 2e-2
    problem = simulation.contacts.problem(bodies, simulation.dt)
    assert residual(problem) < 2e-3


@pytest.mark.parametrize("sleep", [False, True])
def test_a_cell_under_stress_gives_the_same_bits_on_any_number_of_threads(sleep):
    """Each force moves the cell, so that no contacts are free of each other, whatever their colours."""

    def bits(number):
        stress = np.diag([2.0, 3.0, 0])
        bodies = triangular_cell(8, free=stress != 0.0, stress=stress)
        solver = Sweeps(order=Coloured(worth=1), criterion=FixedSweeps(20), sleep=sleep)
        with only(number):
            simulation = Simulation(bodies, dt=0.01, solver=solver, seed=1)
            for _ in range(5):
                simulation.step()
        assert simulation.contacts.colouring.alone.all()
        return bodies.motion.tobytes() + simulation.contacts.forces.tobytes()

    assert bits(1) == bits(2) == bits(3)


def test_shear_under_a_normal_stress():
    """A dense cell sheared at a rate under a pressure from above: it carries that pressure on average, and dilates."""
    control = {"rate": 0.5 * SHEAR, "free": np.diag([False, True, False]), "stress": np.diag([0, 10.0, 0])}
    bodies = gas(81, side=13.5, mu=0.3, speed=0.3, cell=cell_of(13.5, 13.5, **control))
    simulation = Simulation(bodies, dt=4e-3, solver=AcceleratedSweeps())
    carried, side = [], []
    for step in range(1500):
        simulation.step()
        if step > 500:
            kinetic = (bodies.mass * bodies.velocity[:, 1] ** 2).sum()
            carried.append((moment(simulation)[1, 1] + kinetic) / bodies.cell.volume)
            side.append(-moment(simulation)[0, 1] / bodies.cell.volume)
    assert np.mean(carried) == pytest.approx(10.0, rel=0.1)
    assert 0.1 < np.mean(side) / np.mean(carried) < 0.6  # friction of the whole
    assert bodies.cell.vectors[0, 0] == 13.5


@pytest.mark.parametrize("law", [Restitution(0.8, 0.3), Rolling(0.1), StaticFriction(0.5), Restitution(0.5)])
@pytest.mark.parametrize("control", [CONTROLS[0], CONTROLS[2], CONTROLS[4]])
def test_every_law_holds_in_every_cell(law, control):
    """Solved to rounding with the law; contacts take energy."""
    bodies = gas(40, side=9.5, mu=0.3, speed=1.0, cell=cell_of(9.5, 9.5, **control), laws=[law])
    simulation = Simulation(bodies, dt=0.01, solver=exact())
    forces = 0
    for _ in range(40):
        simulation.step()
        assert residual(simulation.contacts.problem(bodies, simulation.dt)) < 1e-9
        forces += int((simulation.contacts.forces[:, 0] > 0.0).sum())
    assert forces > 10


@pytest.mark.parametrize("control", [CONTROLS[1], CONTROLS[5]])
def test_both_families_of_loops_agree(control):
    """Contacts with the columns of laws that ask for nothing do what plain ones do, bit by bit in the same order."""
    bodies = [
        gas(50, side=10.5, mu=0.3, cell=cell_of(10.5, 10.5, **control), laws=laws) for laws in ([], [Rolling(0.0)])
    ]
    for order in ("ordered", "coloured"):
        one, other = (Simulation(b, dt=0.01, solver=Sweeps(order=order), seed=1) for b in bodies)
        for _ in range(30):
            one.step()
            other.step()
        assert one.contacts.forces.shape[1] == 4
        assert other.contacts.forces.shape[1] == 7
        assert one.contacts.forces[:, 0].any()
        assert np.array_equal(one.bodies.motion, other.bodies.motion)


@pytest.mark.parametrize("control", [CONTROLS[0], CONTROLS[4]])
def test_threads_change_no_bit(control):
    """A sheared cell is swept on several threads, a cell under stress on one: both with the same bits."""
    ends = []
    for threads in (1, 2):
        bodies = gas(60, side=11.0, mu=0.3, cell=cell_of(11.0, 11.0, **control))
        solver = AcceleratedSweeps(order=Coloured(worth=1))
        with only(threads):
            simulation = Simulation(bodies, dt=0.01, solver=solver, seed=1)
            simulation.run(steps=40)
        ends.append(bodies.motion.copy())
    assert np.array_equal(*ends)


def test_cohesion_holds_a_cell_that_is_pulled():
    """Under tension the bonds of a lattice carry the negative pressure; more than they bear opens it."""
    held = triangular_cell(4, **under(-0.3))
    held.laws, held.radius[:] = [Cohesion(1.0)], 1.0 + 1e-12
    simulation = Simulation(held, dt=1e-2, solver=exact())
    for _ in range(3):
        simulation.step()
    assert np.trace(moment(simulation)) / (2.0 * held.cell.volume) == pytest.approx(-0.3, rel=1e-8)
    torn = triangular_cell(4, **under(-1.0))  # sum of R b = 3 * 16 * 2 F at most, over 2 * volume: 0.87 F
    torn.laws, torn.radius[:] = [Cohesion(1.0)], 1.0 + 1e-12
    simulation = Simulation(torn, dt=1e-2, solver=exact())
    for _ in range(10):
        simulation.step()
    assert torn.flow[0, 0] > 0.0
    assert simulation.contacts.normal_force.max(initial=0.0) <= 0.0


def test_straightening_keeps_forces():
    """A packing whose cell leans by more than half gets new vectors and keeps its contacts and forces."""
    bodies = triangular_cell(**under(3.0))
    simulation = Simulation(bodies, dt=1e-2, solver=exact())
    for _ in range(3):
        simulation.step()
    held = np.sort(simulation.contacts.forces[:, 0])
    lists = simulation.neighbours.pairs
    bodies.cell.vectors[1] += bodies.cell.vectors[0]  # the same images by other vectors
    leaning = np.array([[1, 0, 0], [-1, 1, 0], [0, 0, 1]])
    lists.image = encode((IMAGES[lists.image] @ leaning).astype(np.int32))
    assert (lists.image >= 0).all()
    builds = simulation.neighbours.builds
    simulation.neighbours.skin[:] = 0.0
    simulation.step()
    assert simulation.neighbours.builds > builds
    assert abs(bodies.cell.vectors[1, 0]) < 1e-9
    assert simulation.last_solve.sweeps <= 2  # the forces were there
    np.testing.assert_allclose(np.sort(simulation.contacts.forces[:, 0]), held, rtol=1e-8)


def test_a_cell_that_runs_away_says_so():
    bodies = gas(20, cell=cell_of(12.0, 12.0, **under(1e9)))
    simulation = Simulation(bodies, dt=0.1)
    with pytest.raises(DivergenceError, match="a cell strained by"):
        simulation.run(steps=3)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ({"rate": SHEAR.T}, "above the diagonal"),
        ({"rate": np.diag([0, 0, 1.0])}, "periodic directions"),
        ({"rate": SHEAR, "free": SHEAR > 0}, "both a rate and a stress"),
        ({"isotropic": True}, "free along all"),
        ({"free": SHEAR > 0, "inertia": 0.0}, "inertia"),
    ],
)
def test_contradictory_control_is_refused(words, part):
    with pytest.raises(ValueError, match=part):
        cell_of(9.0, 9.0, **words)


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
    simulation.run(steps=1)
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
