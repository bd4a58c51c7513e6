"""Fallback: steps that no sweep solves go to the second-order method."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from support.builders import column, prepare

from rigidgrains import Scene, Simulation, TrajectoryWriter, resume
from rigidgrains.contacts.problem import ContactProblem
from rigidgrains.laws import Rolling
from rigidgrains.scene.make_solver import make_solver
from rigidgrains.solve import fallback
from rigidgrains.solve.accelerated import AcceleratedSweeps
from rigidgrains.solve.criteria import FixedSweeps, MomentumCriterion, ResidualCriterion, Verdict
from rigidgrains.solve.extrapolated import Extrapolated
from rigidgrains.solve.fallback import solve_by_second_order
from rigidgrains.solve.kernels.factory import apply_forces
from rigidgrains.solve.residual import residual, worst_contact
from rigidgrains.solve.restarts import Rule
from rigidgrains.solve.sweeps import Sweeps
from rigidgrains.solve.virtual_power import momentum_error

ORDERS = range(4)


def saved(name: str) -> ContactProblem:
    """A step in which disks are sheared: `repelling` 25 with walls of friction 3, `circling` 150 of a biaxial test."""
    with np.load(Path(__file__).parent / f"{name}.npz") as file:
        arrays = dict(file)
    return ContactProblem(**{**arrays, "dt": float(arrays["dt"])})


def solved(solver: Sweeps, name: str = "repelling", order: int = 0):
    problem = saved(name)
    return problem, solver.solve(problem, np.random.default_rng(order))


@pytest.mark.parametrize("solver", [Sweeps(), Sweeps(order="symmetric"), AcceleratedSweeps(fallback=0)], ids="RSA")
def test_there_are_steps_that_no_sweep_solves(solver):
    """Twenty thousand sweeps circle the solution; what they leave is reported as such."""
    solver.criterion, solver.max_sweeps = MomentumCriterion(), 20_000
    _, report = solved(solver)
    assert not report.converged
    assert report.sweeps == 20_000
    assert report.fallback == 0


@pytest.mark.parametrize("order", ORDERS)
def test_the_second_order_method_solves_them(order):
    """Forces obey Signorini's and Coulomb's laws, and velocities are those that the forces give."""
    problem, report = solved(AcceleratedSweeps(accuracy="exact", fallback=100), order=order)
    assert report.converged
    assert report.fallback > 0
    assert report.sweeps == 5000
    assert f"by {report.fallback} iterations of the second-order method" in report.why
    assert momentum_error(problem) == report.momentum_error <= 1e-2
    assert worst_contact(problem) <= 2.5e-3
    r_n, r_t = problem.forces[:, 0], np.linalg.norm(problem.forces[:, 1:], axis=1)
    assert (r_n >= 0.0).all()
    assert (r_t <= problem.geometry[:, 6] * r_n * (1.0 + 1e-12)).all()
    again = saved("repelling")
    again.forces[:] = problem.forces
    apply_forces(again)
    np.testing.assert_allclose(problem.motion, again.motion, rtol=0.0, atol=1e-12 * np.abs(again.motion).max())


def test_a_criterion_may_ask_for_more(monkeypatch):
    """What the first of its tolerances does not meet goes to the second."""
    criterion = ResidualCriterion(1e-10)
    for tolerances, met in (((1e-3,), False), ((1e-3, 1e-10), True)):
        monkeypatch.setattr(fallback, "TOLERANCES", tolerances)
        problem, report = solved(AcceleratedSweeps(accuracy="exact", fallback=100, criterion=criterion), order=1)
        assert report.converged is met
        assert (residual(problem) <= 1e-10) is met


@pytest.mark.parametrize("order", ORDERS)
def test_he_is_called_for_nothing_else(order):
    """Not where sweeps do, nor for more contacts than allowed."""
    _, report = solved(AcceleratedSweeps(accuracy="exact", fallback=43), order=order)
    assert report.fallback == 0
    assert report.sweeps == 5000
    bodies = column(20)
    report = AcceleratedSweeps(accuracy="exact", fallback=100).solve(
        prepare(bodies, 0.01), np.random.default_rng(order)
    )
    assert report.converged
    assert report.fallback == 0


def test_he_is_called_for_sweeps_that_were_too_few():
    """And refused where nobody looks at the state."""
    _, report = solved(AcceleratedSweeps(accuracy="exact", fallback=100, max_sweeps=100))
    assert report.converged
    assert report.fallback > 0
    assert report.sweeps == 100
    with pytest.raises(ValueError, match="fallback needs looks at the state; take a MomentumCriterion"):
        solved(AcceleratedSweeps(accuracy="exact", fallback=100, criterion=FixedSweeps(2000)))
    with pytest.raises(ValueError, match="fallback needs looks at the state"):
        solved(AcceleratedSweeps(accuracy="exact", fallback=100, sleep=True))


def test_infinite_friction_stays_with_sweeps():
    """FCLIB knows friction with a limit."""
    few = {"accuracy": "exact", "fallback": 100, "max_sweeps": 100}
    assert solved(AcceleratedSweeps(**few))[1].fallback > 0
    problem = saved("repelling")
    problem.geometry[0, 6] = math.inf
    assert AcceleratedSweeps(**few).solve(problem, np.random.default_rng(0)).fallback == 0


def test_torques_stay_with_sweeps():
    """FCLIB has three unknowns per contact."""
    for laws, called in (([], True), ([Rolling(0.01)], False)):
        simulation = Simulation(wedged(), dt=1.0)
        simulation.bodies.laws = laws
        simulation.run(steps=5)
        report = simulation.report()
        assert (report.fallback_steps > 0) is called
        assert (report.converged_steps == 5) is called


def test_what_it_does_not_improve_stays(monkeypatch):
    """The forces of the sweeps, to the bit, with their velocities."""
    alone, _ = solved(AcceleratedSweeps(fallback=0))

    def helpless(problem, criterion, free, most):
        problem.forces[:] = problem.motion[:] = np.nan
        return Verdict(False), 7

    monkeypatch.setattr("rigidgrains.solve.fallback.solve_by_second_order", helpless)
    problem, report = solved(AcceleratedSweeps(accuracy="exact", fallback=100))
    assert not report.converged
    assert (report.sweeps, report.fallback) == (5000, 7)
    assert "not met by 5000 sweeps and 7 iterations of the second-order method" in report.why
    np.testing.assert_array_equal(problem.forces, alone.forces)
    np.testing.assert_array_equal(problem.motion[:, :6], alone.motion[:, :6])


@pytest.mark.parametrize(("given", "iterations"), [({}, 20), ({"fallback": 100}, 1000)])
def test_who_does_not_ask_for_it_waits_for_seconds_at_most(monkeypatch, given, iterations):
    """Contacts times iterations are bounded, unless the user says fallback."""
    asked = []

    def helpless(problem, criterion, free, most):
        asked.append((problem.count, most))
        return Verdict(False), most

    monkeypatch.setattr("rigidgrains.solve.fallback.solve_by_second_order", helpless)
    monkeypatch.setattr("rigidgrains.solve.accelerated.WORK", 20 * solved(AcceleratedSweeps(fallback=0))[0].count)
    solved(AcceleratedSweeps(accuracy="exact", **given))
    assert [most for _, most in asked] == [iterations]


def test_forces_that_it_improves_are_handed_back(monkeypatch):
    """A criterion that nothing meets: of all forces those with the least residual."""
    monkeypatch.setattr(MomentumCriterion, "judge", lambda *_: Verdict(False, residual=1.0))
    problem, report = solved(AcceleratedSweeps(accuracy="exact", fallback=100, max_sweeps=1000))
    assert not report.converged
    assert report.fallback > 0
    assert residual(problem) < 1e-6


def test_forces_that_are_not_finite_are_no_start():
    problem = saved("repelling")
    free = problem.motion[:, :6].copy()
    problem.forces[:] = np.nan
    verdict, _ = solve_by_second_order(problem, MomentumCriterion(), free)
    assert verdict.met


@pytest.mark.parametrize("order", range(6))
def test_sweeps_that_circle_are_solved(order):
    """By less extrapolation, or by the fallback."""
    _, report = solved(AcceleratedSweeps(), "circling", order)
    assert report.converged


def test_they_circle_for_ever_without_a_cap(monkeypatch):
    """Most orders of this step are solved by extrapolation that is lowered where it comes to nothing."""
    reports = [solved(AcceleratedSweeps(fallback=0), "circling", order)[1] for order in range(6)]
    assert sum(report.converged for report in reports) >= 4
    monkeypatch.setattr(Extrapolated, "rule", Rule(most=1e-3, gain=0.0))
    reports = [solved(AcceleratedSweeps(fallback=0), "circling", order)[1] for order in range(6)]
    assert sum(report.converged for report in reports) < 4


def wedged() -> Scene:
    """Disks sheared between walls of friction 3, with few sweeps."""
    scene, edge = (
        Scene(dimension=2, friction=0.5, solver={"accuracy": "exact", "fallback": 100, "max_sweeps": 20}),
        (5.4, 5.4),
    )
    scene.add_grains(count=25, radius=(1 / 3, 2 / 3), density=1.0, region=((0, 0), edge), placement="dense", seed=1)
    scene.add_box(lower=(0, 0), upper=edge, open=["top", "bottom"])
    scene.add_plane("base", point=(0, 0), normal=(0, 1), velocity=(0.01, 0.0), friction=3.0)
    scene.add_piston("piston", point=(0, 5.4), normal=(0, -1), mass=5.0, load=0.05, friction=3.0)
    return scene


def test_a_run_with_fallbacks_can_be_resumed_to_the_bit(tmp_path):
    """It draws no random numbers, and its steps are counted on. Here sweeps are few, and it is called often."""
    whole, half = (Simulation(wedged(), dt=1.0) for _ in range(2))
    whole.run(steps=20)
    half.observe(TrajectoryWriter(tmp_path / "half.vtkhdf"), every=5)
    half.run(steps=10)
    again = resume(tmp_path / "half.vtkhdf")
    again.run(steps=10)
    np.testing.assert_array_equal(whole.bodies.motion, again.bodies.motion)
    assert whole.report().fallback_steps == again.report().fallback_steps > 2
    assert whole.report().converged_steps == 20


def test_the_report_counts_its_steps():
    simulation = Simulation(wedged(), dt=1.0)
    simulation.run(steps=5)
    simulation.tally.fallbacks = 2
    assert simulation.report().convergence() == "5 of 5 steps; 2 went to the second-order method"
    assert "2 steps went to the second-order method" in str(simulation.report())


def test_scenes_ask_for_it():
    scene = Scene(dimension=2, solver={"accuracy": "exact", "fallback": 500})
    assert make_solver(scene.solver).fallback == 500
    assert make_solver(Scene(dimension=2).solver).fallback is None


@pytest.mark.parametrize("order", ORDERS)
def test_it_takes_over_unasked(order):
    """After 5000 sweeps, unless it is not wanted, or fewer sweeps are all that a step may cost."""
    _, report = solved(AcceleratedSweeps(), order=order)
    assert report.converged
    assert report.fallback > 0
    assert solved(AcceleratedSweeps(fallback=0), order=order)[1].fallback == 0
    assert solved(AcceleratedSweeps(accuracy="exact", max_sweeps=4999), order=order)[1].fallback == 0


@pytest.mark.parametrize("fallback", [-1, 0.5, "yes", True])
def test_a_wrong_number_of_contacts_is_refused(fallback):
    with pytest.raises(ValueError, match="is no number of contacts; give one such as"):
        AcceleratedSweeps(accuracy="exact", fallback=fallback)
    with pytest.raises(ValueError, match="fallback"):
        Scene(dimension=2, solver={"fallback": fallback})


def test_other_methods_have_no_fallback():
    with pytest.raises(ValueError, match="belongs to method = 'accelerated'"):
        Scene(dimension=2, solver={"method": "sweeps", "fallback": 100})
    with pytest.raises(ValueError, match="needs a criterion that looks at the state"):
        Scene(dimension=2, solver={"method": "accelerated", "criterion": "local", "fallback": 100})
