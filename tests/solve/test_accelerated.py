"""Accelerated sweeps: the same laws, the same solutions, fewer sweeps, honest reports."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from support.builders import chain, cloud, column, exact, grains, prepare, triangular
from support.checks import check_constraints
from support.kernels import apply_forces

from rigidgrains import Scene
from rigidgrains.scene import SceneError
from rigidgrains.scene.make_solver import make_solver
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.solve.accelerated import AcceleratedSweeps
from rigidgrains.solve.criteria import (
    FixedSweeps,
    GlobalCriterion,
    LocalCriterion,
    MomentumCriterion,
    ResidualCriterion,
    RigidSweeps,
)
from rigidgrains.solve.extrapolated import Extrapolated
from rigidgrains.solve.kernels.factory import apply_forces as update_velocities
from rigidgrains.solve.orders import Coloured
from rigidgrains.solve.passivity import make_passive
from rigidgrains.solve.residual import residual
from rigidgrains.solve.restarts import Rule
from rigidgrains.solve.sweeps import Sweeps
from rigidgrains.solve.virtual_power import momentum_error

DT = 0.01
TIGHT = {"criterion": ResidualCriterion(1e-12), "max_sweeps": 20_000}
SOLVERS = {
    "coloured": AcceleratedSweeps(**TIGHT),
}


@pytest.fixture(params=SOLVERS)
def solver(request):
    return SOLVERS[request.param]


# The same laws


@pytest.mark.parametrize("mu", [0.0, 0.05, 0.4, 3.0])
def test_packings_end_at_the_constraints(solver, mu, rng):
    """Signorini, the cone and the direction of sliding, for a lattice under load and weight."""
    problem = prepare(triangular(6, 6, mu=mu, g=3.0), DT)
    report = solver.solve(problem, rng)
    assert report.converged
    check_constraints(problem)


def test_collisions_end_at_the_constraints(solver, rng):
    problem = prepare(cloud(60, mu=0.4), 0.5)
    assert solver.solve(problem, rng).converged
    assert (problem.forces[:, 0] > 0.0).sum() > 20
    check_constraints(problem)


def test_momentum_is_conserved(solver, rng):
    """Free grains that collide: the sum of m v stays; velocities are the free ones plus M^-1 H R dt."""
    problem = prepare(cloud(60, mu=0.4), 0.5)
    mass = 1.0 / problem.motion[:, 6]
    before, free = mass @ problem.motion[:, :3], problem.motion.copy()
    solver.solve(problem, rng)
    np.testing.assert_allclose(mass @ problem.motion[:, :3], before, atol=1e-11)
    apply_forces(free, problem.pairs, problem.geometry, problem.forces, problem.dt)
    np.testing.assert_allclose(problem.motion, free, atol=1e-11)


@pytest.mark.parametrize("sweeps", [1, 2, 3, 10, 37])
def test_every_answer_lies_in_the_cone(sweeps, rng):
    """However early the sweeps stop: R_n >= 0, |R_t| <= mu R_n, and velocities that go with the forces."""
    problem = prepare(triangular(6, 6, mu=0.3, g=1.0), DT)
    free = problem.motion.copy()
    report = AcceleratedSweeps(criterion=FixedSweeps(sweeps)).solve(problem, rng)
    assert report.sweeps == sweeps
    tangential = np.linalg.norm(problem.forces[:, 1:], axis=1)
    assert (problem.forces[:, 0] >= 0.0).all()
    assert (tangential <= 0.3 * problem.forces[:, 0] * (1.0 + 1e-12)).all()
    apply_forces(free, problem.pairs, problem.geometry, problem.forces, DT)
    np.testing.assert_allclose(problem.motion, free, atol=1e-12)


# The same solutions


def test_a_chain_carries_its_load(solver, rng):
    problem = prepare(chain(40, force=3.0), DT)
    assert solver.solve(problem, rng).converged
    np.testing.assert_allclose(problem.forces[:, 0], 3.0, rtol=1e-8)


def test_a_column_carries_its_weight(solver, rng):
    """Under each grain hangs the weight of those above it."""
    problem = prepare(column(12, mass=2.0), DT)
    assert solver.solve(problem, rng).converged
    np.testing.assert_allclose(np.sort(problem.forces[:, 0]), 20.0 * np.arange(1, 13), rtol=1e-8)


def test_unique_forces_are_those_of_plain_sweeps(solver, rng):
    """Colliding grains with few contacts each: the forces are unique, and equal."""
    problem, reference = prepare(cloud(60, mu=0.2), 0.5), prepare(cloud(60, mu=0.2), 0.5)
    solver.solve(problem, rng)
    assert exact().solve(reference, rng).converged
    scale = reference.forces[:, 0].max()
    np.testing.assert_allclose(problem.forces, reference.forces, atol=1e-9 * scale)


def test_a_pyramid_of_smooth_disks(solver, rng):
    """Three disks without friction between walls: R = W/(2 cos 30) on both sides of the upper one."""
    s = np.sqrt(3.0)
    walls = triangular(2, 2).walls[:3]
    bodies = grains([[1, 1, 0], [3, 1, 0], [2, 1 + s, 0]], dimension=2, gravity=[0, -10, 0], walls=walls, friction=0.0)
    problem = prepare(bodies, DT)
    assert solver.solve(problem, rng).converged
    upper = (problem.pairs[:, 0] == 2) | (problem.pairs[:, 1] == 2)
    np.testing.assert_allclose(problem.forces[upper, 0], 10.0 / s, rtol=1e-9)


# Fewer sweeps


def test_news_crosses_a_chain_in_time_with_its_length(rng):
    """Twice the length takes about twice the sweeps, not four times: below L^1.4, and far fewer than plain ones."""
    sweeps = []
    for n in (50, 100, 200):
        problem = prepare(chain(n), DT)
        report = AcceleratedSweeps().solve(problem, rng)
        assert report.converged
        np.testing.assert_allclose(problem.forces[:, 0], 1.0, rtol=0.02)
        sweeps.append(report.sweeps)
    assert np.polyfit(np.log([50, 100, 200]), np.log(sweeps), 1)[0] < 1.4
    plain = Sweeps(criterion=MomentumCriterion(), max_sweeps=20 * sweeps[-1], order="symmetric")
    assert not plain.solve(prepare(chain(200), DT), rng).converged


def test_a_warm_start_costs_little(rng):
    """From forces that are right already, the first look ends the step."""
    problem = prepare(triangular(6, 6, mu=0.3, g=1.0), DT)
    AcceleratedSweeps(**TIGHT).solve(problem, rng)
    again = prepare(triangular(6, 6, mu=0.3, g=1.0), DT)
    again.forces[:] = problem.forces
    assert AcceleratedSweeps().solve(again, rng).sweeps <= 5


# Honest reports


@pytest.mark.parametrize("criterion", [LocalCriterion(1e-6), GlobalCriterion(1e-8), MomentumCriterion(1e-6, 1e-6)])
@pytest.mark.parametrize("make", [Sweeps, AcceleratedSweeps])
def test_criteria_serve_every_solver(make, criterion, rng):
    problem = prepare(triangular(5, 5, mu=0.3, g=1.0), DT)
    report = make(criterion=criterion).solve(problem, rng)
    assert report.converged
    assert report.why == "criterion met"
    assert report.updates == report.sweeps * problem.count
    assert residual(problem) < 1e-4
    if isinstance(criterion, MomentumCriterion):
        assert report.residual == pytest.approx(residual(problem), rel=1e-6)  # velocities are made anew of forces
        assert report.residual <= 1e-6
        assert report.momentum_error == pytest.approx(momentum_error(problem), rel=1e-6)
        assert report.momentum_error <= 1e-6


@pytest.mark.parametrize("make", [lambda: chain(100), lambda: triangular(12, 12, mu=0.3, g=3.0)])
def test_sweeps_end_soon_after_they_might(make):
    """Against looks after every sweep; looks after each eighth alone would be some 6 % late."""

    def warm():
        """With a trace of a force, so that one law holds throughout."""
        problem = prepare(make(), DT)
        problem.forces[0, 0] = 1e-9
        return problem

    def accepted(problem):
        """The residual of what would be handed back: velocities as forces make them, and forces that give no energy."""
        handed = copy.deepcopy(problem)
        handed.motion[:, :6] = free
        update_velocities(handed)
        make_passive(handed)
        return residual(handed)

    epsilons = 10.0 ** -np.arange(3.0, 9.0, 0.5)
    made = []
    for epsilon in epsilons:
        problem = warm()
        made.append(
            AcceleratedSweeps(criterion=ResidualCriterion(epsilon)).solve(problem, np.random.default_rng(1)).sweeps
        )
        assert residual(problem) <= epsilon
    problem, rng = warm(), np.random.default_rng(1)
    free = problem.motion[:, :6].copy()
    update_velocities(problem)
    pace = Extrapolated(Coloured(), problem)
    pace.begin(problem)
    found = [1.0]
    while found[-1] > epsilons[-1]:
        pace.sweep(problem, rng)
        found.append(accepted(problem))
    least = [next(k for k, value in enumerate(found) if k >= 3 and value <= epsilon) for epsilon in epsilons]
    late = np.array(made) / np.array(least) - 1.0
    assert (late >= 0.0).all()
    assert late.mean() < 0.1  # at least four sweeps between looks, each of which costs one


def test_too_few_sweeps_are_reported(rng):
    """Not converged, with a reason, the figures, and the better of the forces seen."""
    problem = prepare(chain(100), DT)
    report = AcceleratedSweeps(criterion=ResidualCriterion(1e-9), max_sweeps=20).solve(problem, rng)
    assert not report.converged
    assert "not met" in report.why
    assert 1e-9 < report.residual < 1.0
    assert report.residual == pytest.approx(residual(problem), rel=1e-6)


def test_without_luck_the_sweeps_become_plain(monkeypatch, rng):
    """If every change counted as running away: back to the best forces a few times, then plain sweeps that converge."""
    monkeypatch.setattr(Extrapolated, "rule", Rule(runaway=1e-12))
    problem = prepare(triangular(5, 5, mu=0.3, g=1.0), DT)
    report = AcceleratedSweeps(**TIGHT).solve(problem, rng)
    assert report.converged
    assert report.restarts >= Rule().rescues
    assert "then plain sweeps" in report.why
    check_constraints(problem)


def test_forces_that_are_not_finite_are_no_solution(rng):
    """Extrapolation cannot mend a start that is no number, and says so."""
    problem = prepare(triangular(4, 4), DT)
    problem.forces[2, 0] = np.nan
    report = AcceleratedSweeps(max_sweeps=50).solve(problem, rng)
    assert not report.converged
    assert "not finite" in report.why


def test_no_contact(solver, rng):
    report = solver.solve(prepare(grains([[0, 5, 0]]), DT), rng)
    assert (report.sweeps, report.converged, report.why) == (0, True, "no contacts")


# Within a simulation


def test_a_simulation_may_change_its_solver():
    """A packing at rest stays at rest from one solver to another."""
    simulation = Simulation(triangular(5, 5, mu=0.3, g=1.0), dt=DT, solver=exact())
    simulation.run(steps=3)
    place = simulation.bodies.position.copy()
    simulation.solver = AcceleratedSweeps(criterion=MomentumCriterion(1e-9, 1e-9))
    simulation.run(steps=20)
    assert simulation.last_solve.converged
    np.testing.assert_allclose(simulation.bodies.position, place, atol=1e-7)


def test_same_seed_same_bits():
    def bits(seed):
        simulation = Simulation(triangular(4, 4, mu=0.3, g=2.0), dt=DT, seed=seed, solver=AcceleratedSweeps())
        simulation.run(steps=5)
        return simulation.bodies.motion.tobytes() + simulation.contacts.forces.tobytes()

    assert bits(3) == bits(3) != bits(4)


# Names and mistakes


def test_orders_that_do_not_converge_are_refused():
    for order in ("random", "ordered", "parallel"):
        with pytest.raises(ValueError, match="leave it out, or take 'coloured'"):
            AcceleratedSweeps(order=order)


def test_rigidity_is_for_plain_sweeps(rng):
    with pytest.raises(ValueError, match="plain sweeps"):
        AcceleratedSweeps(criterion=RigidSweeps()).solve(prepare(chain(4), DT), rng)


@pytest.mark.parametrize(
    ("words", "kind", "order", "criterion"),
    [
        ({}, AcceleratedSweeps, "Coloured", MomentumCriterion()),
        ({"epsilon": 1e-3, "contact": 0.1}, AcceleratedSweeps, "Coloured", MomentumCriterion(1e-3, contact=0.1)),
        ({"criterion": "residual"}, AcceleratedSweeps, "Coloured", ResidualCriterion()),
        ({"method": "sweeps"}, Sweeps, "Random", LocalCriterion()),
        ({"order": "coloured"}, Sweeps, "Coloured", LocalCriterion()),
        ({"criterion": "local"}, Sweeps, "Random", LocalCriterion()),
        ({"delta": 0.5}, Sweeps, "Random", LocalCriterion(delta=0.5)),
        ({"criterion": "fixed", "sweeps": 7}, Sweeps, "Random", FixedSweeps(7)),
        ({"method": "accelerated", "criterion": "fixed", "sweeps": 7}, AcceleratedSweeps, "Coloured", FixedSweeps(7)),
        (
            {"method": "accelerated", "order": "coloured", "criterion": "residual"},
            AcceleratedSweeps,
            "Coloured",
            ResidualCriterion(),
        ),
        (
            {"order": "coloured", "criterion": "momentum", "epsilon": 1e-3, "residual": 1e-5},
            Sweeps,
            "Coloured",
            MomentumCriterion(1e-3, 1e-5),
        ),
    ],
)
def test_scenes_choose_by_name(words, kind, order, criterion):
    made = make_solver(Scene(dimension=2, solver=words).solver)
    assert type(made) is kind
    assert type(made.order).__name__ == order
    assert made.criterion == criterion
    assert getattr(made, "omega", 1.2) == 1.2


@pytest.mark.parametrize(
    ("words", "key", "remedy"),
    [
        ({"method": "accelerated", "order": "random"}, "solver.order", "take 'coloured'"),
        ({"method": "accelerated", "criterion": "rigid"}, "solver.criterion", "take 'momentum'"),
        ({"method": "relaxed"}, "solver.method", "'relaxed' is gone: over-relaxed sweeps"),
        ({"method": "sweeps", "residual": 1e-3}, "solver.residual", "belongs to criterion = 'momentum'"),
        ({"criterion": "residual", "contact": 1e-3}, "solver.contact", "belongs to criterion = 'momentum'"),
        ({"associated": True, "method": "sweeps"}, "solver.associated", "belongs to method = 'accelerated'"),
        (
            {"associated": True, "method": "accelerated", "criterion": "local"},
            "solver.associated",
            "residual, momentum, flow, overlap",
        ),
        ({"associated": True, "sleep": True}, "solver.associated", "and no sleep"),
        ({"method": "quick"}, "solver.method", "must be 'sweeps', 'accelerated' or 'second-order'"),
    ],
)
def test_mistakes_in_a_scene_are_named(words, key, remedy):
    with pytest.raises(SceneError) as error:
        Scene(dimension=2, solver=words).build()
    assert key in str(error.value)
    assert remedy in str(error.value)
