"""Cells under stress: what contacts carry, by every solver and law, and threads; control that is refused."""

from __future__ import annotations

import numpy as np
import pytest
from support.builders import exact, grains
from support.cells import CONTROLS, SHEAR, cell_of, gas, moment, under

from rigidgrains.laws import Cohesion, Restitution, Rolling, StaticFriction
from rigidgrains.model.cell import IMAGES, encode
from rigidgrains.runtime.threads import only
from rigidgrains.simulation.figures import overlaps
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.simulation.stepper import DivergenceError
from rigidgrains.solve.accelerated import AcceleratedSweeps
from rigidgrains.solve.criteria import FixedSweeps, LocalCriterion
from rigidgrains.solve.orders import Coloured
from rigidgrains.solve.residual import natural_map, residual
from rigidgrains.solve.sweeps import Sweeps
from rigidgrains.solve.virtual_power import momentum_error


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


def test_lonely_contacts_are_solved_by_the_parallel_update_too():
    """Two pairs that share no grain in a shear flow: the solution in the second sweep, whatever a kilogram is."""
    meet = [[2, 2, 0], [4, 2, 0], [8, 8, 0], [8, 10, 0]], [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]]
    found = []
    for mass, order in ((1.0, "ordered"), (1.0, "parallel"), (2.0**-40, "parallel"), (2.0**40, "parallel")):
        cell = cell_of(12.0, 12.0, rate=0.2 * SHEAR)
        bodies = grains(meet[0], 1.0, mass, dimension=2, velocity=meet[1], friction=0.3, cell=cell)
        simulation = Simulation(bodies, dt=1e-2, solver=Sweeps(order=order, criterion=LocalCriterion(1e-9)))
        simulation.step()
        found.append(bodies.motion[:, :6].copy())
        assert simulation.last_solve.sweeps == 2
        np.testing.assert_allclose(found[-1], found[0], atol=1e-12)


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
