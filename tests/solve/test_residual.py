"""How far forces are from a solution: natural map, residual, virtual power, momentum error."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from support.builders import chain, cloud, column, exact, grains, prepare, triangular
from support.kernels import apply_forces

from rigidgrains.solve.criteria import FixedSweeps, MomentumCriterion, ResidualCriterion
from rigidgrains.solve.residual import natural_map, residual, worst_contact
from rigidgrains.solve.sweeps import Sweeps
from rigidgrains.solve.virtual_power import momentum_error

DT = 0.01


def moving(mu=0.3, sweeps=3):
    """A packing after too few sweeps: some contacts stick, some slide, some open."""
    problem = prepare(triangular(5, 5, mu=mu, g=3.0), DT)
    problem.motion[:20, :2] += 0.1 * np.random.default_rng(2).standard_normal((20, 2))
    Sweeps(criterion=FixedSweeps(sweeps)).solve(problem, np.random.default_rng(1))
    return problem


def by_hand(problem):
    """R', V_n + gap/dt and V_t of each contact, with plain arrays."""
    i, j = problem.pairs.T
    n, gap, m_n, m_t, mu = problem.geometry[:, :3], *problem.geometry[:, 3:7].T
    v = problem.motion[j, :3] - problem.motion[i, :3]
    v = v - np.cross(problem.motion[i, 3:6] + problem.motion[j, 3:6], n)
    v_n = (v * n).sum(axis=1)
    v_t = v - v_n[:, None] * n
    closing = v_n + gap / problem.dt
    r_n = np.maximum(0.0, problem.forces[:, 0] - m_n / problem.dt * closing)
    r_t = problem.forces[:, 1:] - (m_t / problem.dt)[:, None] * v_t
    length = np.sqrt((r_t**2).sum(axis=1))
    limit = np.where(r_n > 0.0, mu, 0.0) * r_n
    r_t *= np.minimum(1.0, limit / np.maximum(length, 1e-300))[:, None]
    return np.column_stack([r_n, r_t]), closing, v_t


@pytest.mark.parametrize("mu", [0.0, 0.3, 3.0])
def test_natural_map_is_the_distance_to_what_the_law_asks(mu):
    """|R - R'|, R' = max(0, R_n - (m_n/dt)(V_n + gap/dt)) and R_t - (m_t/dt) V_t cut at mu R_n'."""
    problem = moving(mu)
    asked, _, _ = by_hand(problem)
    miss = np.sqrt(((problem.forces - asked) ** 2).sum(axis=1))
    assert miss.max() > 1e-3
    np.testing.assert_allclose(natural_map(problem), miss, rtol=1e-9, atol=1e-12)
    assert residual(problem) == pytest.approx(np.sqrt((miss**2).sum() / (problem.forces**2).sum()), rel=1e-9)


@pytest.mark.parametrize("mu", [0.0, 0.3, math.inf])
def test_the_worst_contact_is_one_of_them(mu):
    """The largest |R - R'|/(|R| + <|R|>)."""
    problem = moving(mu)
    asked, _, _ = by_hand(problem)
    miss, force = (np.linalg.norm(part, axis=1) for part in (problem.forces - asked, problem.forces))
    assert worst_contact(problem) == pytest.approx((miss / (force + force.mean())).max(), rel=1e-9)
    problem.motion[3, 1] = math.nan
    assert worst_contact(problem) == math.inf


def test_the_momentum_error_is_a_sum():
    """S = sum of R_n (V_n + gap/dt) + mu R_n |V_t| + R_t . V_t."""
    problem = moving()
    _, closing, v_t = by_hand(problem)
    r_n, r_t, mu = problem.forces[:, 0], problem.forces[:, 1:], problem.geometry[:, 6]
    normal = r_n * closing
    sliding = mu * r_n * np.sqrt((v_t**2).sum(axis=1)) + (r_t * v_t).sum(axis=1)
    terms = np.concatenate([normal, sliding])
    larger = max(terms[terms > 0.0].sum(), -terms[terms < 0.0].sum())
    net = np.zeros((len(problem.motion), 3))
    force = r_n[:, None] * problem.geometry[:, :3] + r_t
    np.add.at(net, problem.pairs[:, 0], -force)
    np.add.at(net, problem.pairs[:, 1], force)
    load = 0.5 * np.linalg.norm(net, axis=1).sum()
    mass = 25 - 2 + 5.0  # disks of a lattice with two short rows, and the piston
    assert momentum_error(problem) == pytest.approx(larger * mass / (load**2 * DT), rel=1e-9)


@pytest.mark.parametrize("mu", [0.0, 0.4, math.inf])
def test_all_measures_vanish_at_a_solution(mu):
    """Forces settled to rounding: nothing is left, neither locally nor for the whole packing."""
    problem = prepare(triangular(4, 4, mu=mu, g=3.0), DT)
    assert exact().solve(problem, np.random.default_rng(1)).converged
    assert residual(problem) < 1e-11
    assert momentum_error(problem) < 1e-8
    assert natural_map(problem).max() < 1e-9


def test_the_error_of_a_chain_is_the_load_it_fails_to_carry():
    """After no sweep but the right force at the loaded end only, the others fall behind: an error of order 1, not 1e-2.

    The last disk rests, the one before it gets all of F: S = 0 for rest, and the load accelerates one disk.
    """
    n, force = 10, 2.0
    problem = prepare(chain(n, force=force), DT)
    last = int(np.argmax(problem.points()[:, 0]))
    problem.forces[last, 0] = force
    apply_forces(problem.motion, problem.pairs, problem.geometry, problem.forces, DT)
    # disk n - 2 moves at F dt: its contact with the last disk has V_n = F dt, S = F^2 dt; bodies n - 1 and n - 2 feel F
    assert momentum_error(problem) == pytest.approx(n, rel=1e-12)


def test_measures_do_not_depend_on_the_observer():
    """Everything at a constant velocity more: the same residual and momentum error."""
    problem = moving()
    before = residual(problem), momentum_error(problem)
    problem.motion[:, :3] += [3.0, -2.0, 0.0]
    assert (residual(problem), momentum_error(problem)) == pytest.approx(before, rel=1e-9)


@pytest.mark.parametrize("factor", [1e-100, 1e-30, 1.0, 1e30, 1e100])
def test_residual_has_no_scale(factor):
    """All forces and masses times a factor: the same figures, without overflow or underflow to 0."""
    problem = moving()
    before = residual(problem), momentum_error(problem)
    problem.forces *= factor
    problem.geometry[:, 4:6] *= factor
    problem.motion[:, 6:] /= factor
    problem = replace(problem)  # masses of a problem do not change; this is another one
    assert (residual(problem), momentum_error(problem)) == pytest.approx(before, rel=1e-6)


@pytest.mark.parametrize("count", [1, 7, 8, 9, 24, 29])
def test_residual_is_that_of_the_natural_map_whatever_the_number_of_contacts(count):
    """In lanes and one by one: sqrt(sum |R - R'|^2)/sqrt(sum |R|^2)."""
    whole = moving()
    some = replace(
        whole, pairs=whole.pairs[:count], geometry=whole.geometry[:count], forces=whole.forces[:count], colouring=None
    )
    expected = np.linalg.norm(natural_map(some)) / np.linalg.norm(some.forces)
    assert residual(some) == pytest.approx(expected, rel=1e-12)


def test_forces_that_blow_up_are_no_solution():
    """Huge forces, infinite ones and NaN: never 0."""
    problem = prepare(triangular(5, 5, mu=0.3), DT)
    problem.forces[:, 0] = 1e200 * np.random.default_rng(1).random(problem.count)
    apply_forces(problem.motion, problem.pairs, problem.geometry, problem.forces, DT)
    assert 0.1 < residual(problem) < 10.0
    assert momentum_error(problem) > 0.1
    for bad in (math.inf, math.nan):
        problem = moving()
        problem.forces[3, 1] = bad
        assert residual(problem) == math.inf
        assert momentum_error(problem) == math.inf
        problem = moving()
        problem.motion[3, 1] = bad
        assert residual(problem) == math.inf
        assert momentum_error(problem) == math.inf


def test_no_forces():
    """Where a force is needed and none is there the residual is 1; where none is needed it is 0."""
    assert residual(prepare(column(3), DT)) == 1.0
    apart = prepare(grains([[0, 0, 0], [2.0, 0, 0]], velocity=[[-1, 0, 0], [1, 0, 0]]), DT)
    assert apart.count == 1
    assert residual(apart) == momentum_error(apart) == 0.0
    nothing = prepare(grains([[0, 5, 0]]), DT)
    assert residual(nothing) == momentum_error(nothing) == 0.0
    assert natural_map(nothing).shape == (0,)


def side_by_side(push):
    """Twenty disks in a row that fly at 0.3 m/s, in velocities that differ by rounding, with a push on the last one."""
    bodies = grains([[2.0 * k, 0, 0] for k in range(20)], velocity=[[0.1 + 0.2, 0, 0], [0.3, 0, 0]] * 10)
    bodies.velocity[-1, 0] -= push
    problem = prepare(bodies, DT)
    assert problem.count == 19
    return problem


def test_rounding_asks_for_no_force():
    """Grains that fly side by side push each other by 1e-16 of their momentum: that is nothing, and 1e-12 is not."""
    problem = side_by_side(0.0)
    assert natural_map(problem).max() > 0.0
    assert residual(problem) == worst_contact(problem) == 0.0
    problem.forces[0, 0] = 1e-16 / DT
    assert momentum_error(problem) == 0.0
    problem = side_by_side(1e-12)
    assert residual(problem) == 1.0
    assert worst_contact(problem) == math.inf  # of no force
    problem.forces[-1, 0] = 1e-12 / DT
    assert momentum_error(problem) > 0.1


@pytest.mark.parametrize("mu", [0.0, math.inf])
def test_extreme_friction_gives_no_nan(mu):
    """mu = 0 and mu = inf, also for contacts without a force."""
    problem = moving(mu)
    assert (problem.forces[:, 0] == 0.0).any()
    assert np.isfinite(natural_map(problem)).all()
    assert 0.0 < residual(problem) < math.inf
    assert 0.0 < momentum_error(problem) < math.inf


@pytest.mark.parametrize(
    "criterion",
    [
        ResidualCriterion(1e-6),
        MomentumCriterion(1e-3),
        MomentumCriterion(1e-9, residual=1e-9),
        MomentumCriterion(1.0, contact=1e-8),
        MomentumCriterion(contact=math.inf),
    ],
)
@pytest.mark.parametrize("order", ["random", "coloured", "random_sequential"])
def test_criteria_hold_for_what_is_handed_back(criterion, order):
    """Converged means: measured again, the figures are within the limits, and equal to those reported."""
    problem = prepare(triangular(4, 5, mu=0.3, g=3.0), DT)
    report = Sweeps(order=order, criterion=criterion).solve(problem, np.random.default_rng(3))
    assert report.converged
    assert report.why == "criterion met"
    assert report.residual == residual(problem) <= getattr(criterion, "residual", criterion.epsilon)
    if isinstance(criterion, MomentumCriterion):
        assert report.momentum_error == momentum_error(problem) <= criterion.epsilon
        assert worst_contact(problem) <= criterion.contact


def test_criteria_that_cannot_be_met_are_reported():
    """max_sweeps ends the step, and the report gives the reason and the figures reached."""
    problem = prepare(triangular(6, 6, mu=0.3), DT)
    solver = Sweeps(criterion=ResidualCriterion(1e-12), max_sweeps=7)
    report = solver.solve(problem, np.random.default_rng(3))
    assert (report.converged, report.sweeps) == (False, 7)
    assert report.why == "not met by 7 sweeps"
    assert report.residual == residual(problem) > 1e-12


def test_collisions_settle_too():
    """Grains that hit each other in pairs: solved to rounding, the residual says so."""
    problem = prepare(cloud(30, mu=0.3), 0.5)
    exact().solve(problem, np.random.default_rng(0))
    assert (problem.forces[:, 0] > 0.0).any()
    assert residual(problem) < 1e-11


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_bad_limits_are_refused(bad):
    with pytest.raises(ValueError, match="epsilon"):
        ResidualCriterion(bad)
    with pytest.raises(ValueError, match="residual"):
        MomentumCriterion(residual=bad)
    if bad != math.inf:  # that is: whatever
        with pytest.raises(ValueError, match="contact"):
            MomentumCriterion(contact=bad)
