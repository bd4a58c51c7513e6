"""The iterative solver: orders, criteria, and what they find."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import pairwise

import numpy as np
import pytest
from support.builders import chain, column, exact, grains, prepare, triangular
from support.checks import check_constraints
from support.kernels import apply_forces, sweep

from rigidgrains.simulation.simulation import Simulation
from rigidgrains.simulation.stepper import DivergenceError
from rigidgrains.solve.criteria import FixedSweeps, GlobalCriterion, LocalCriterion
from rigidgrains.solve.orders import ORDERS, Ordered, Random, RandomBlocks, RandomSequential, Symmetric
from rigidgrains.solve.sweeps import SolveReport, Sweeps

DT = 0.01


def strength(forces):
    """|R| of each contact."""
    return np.sqrt((forces**2).sum(axis=1))


# Orders


@pytest.mark.parametrize("order", [Random(), Ordered(), Ordered(axis="-y"), RandomBlocks(block=8), Symmetric()])
def test_a_sweep_visits_each_contact_once(order, rng):
    """Every order but the random sequential one is a permutation, in every sweep."""
    problem = prepare(triangular(5, 5, mu=0.3), DT)
    order.begin(problem)
    for _ in range(4):
        assert sorted(order.sequence(rng)) == list(range(problem.count))


@pytest.mark.parametrize("order", [Random(), RandomBlocks(block=8), Symmetric()])
def test_orders_that_change_from_sweep_to_sweep(order, rng):
    """A new pattern for each sweep."""
    problem = prepare(triangular(5, 5), DT)
    order.begin(problem)
    first = order.sequence(rng).copy()
    assert not np.array_equal(first, order.sequence(rng))


def test_random_sweep_has_no_preference(rng):
    """Each contact comes first equally often: chi^2 of 3000 draws of 6 below its 99.99 % point."""
    problem = prepare(chain(6), DT)
    order = Random()
    order.begin(problem)
    first = np.bincount([order.sequence(rng)[0] for _ in range(3000)], minlength=6)
    assert ((first - 500.0) ** 2 / 500.0).sum() < 25.7


def test_random_sequential_repeats_and_leaves_out(rng):
    """Independent draws: a fraction 1/e of many contacts is left out of a sweep."""
    problem = prepare(chain(2000), DT)
    order = RandomSequential()
    order.begin(problem)
    drawn = np.unique(order.sequence(rng))
    assert 1.0 - len(drawn) / 2000 == pytest.approx(np.exp(-1.0), abs=0.05)


@pytest.mark.parametrize("axis", ["+x", "-x", "+y", "-y"])
def test_ordered_sweep_follows_the_axis(axis, rng):
    """Contact points are visited in order of their coordinate."""
    problem = prepare(triangular(4, 5, mu=0.1), DT)
    order = Ordered(axis=axis)
    order.begin(problem)
    along = problem.points()[order.sequence(rng), "xyz".index(axis[1])]
    steps = np.diff(along if axis[0] == "+" else -along)
    assert (steps >= 0.0).all()


def test_contact_points_lie_on_the_surfaces():
    """Half-way in the gap between two grains, on the line of centres."""
    problem = prepare(grains([[1, 0, 0], [4.0005, 0, 0]], [1.0, 2.0]), DT)
    np.testing.assert_allclose(problem.points(), [[2.00025, 0.0, 0.0]], atol=1e-12)


@pytest.mark.parametrize("axis", ["x", "*x", "+w", "down", ""])
def test_bad_axis_is_refused(axis):
    """An axis is a sign and one of x, y, z."""
    with pytest.raises(ValueError, match="axis"):
        Ordered(axis=axis)


def test_symmetric_goes_there_and_back(rng):
    """Two sweeps are mirror images."""
    order = Symmetric()
    order.begin(prepare(chain(5), DT))
    assert list(order.sequence(rng)) == list(order.sequence(rng))[::-1]


@pytest.mark.parametrize("block", [1, 7, 10_000])
def test_random_blocks_keep_neighbours_together(block, rng):
    """Within a block contacts follow each other up or down."""
    problem = prepare(triangular(5, 5), DT)
    order = RandomBlocks(block=block)
    order.begin(problem)
    sequence = order.sequence(rng)
    jumps = (np.abs(np.diff(sequence)) != 1).sum()
    assert jumps <= -(-problem.count // block) - 1 or block == 1


# What the solver finds


@pytest.mark.parametrize("order", [name for name in ORDERS if name not in ("parallel", "random_sequential")])
@pytest.mark.parametrize("mu", [0.0, 0.4])
def test_every_order_ends_at_the_constraints(order, mu, rng):
    """After convergence every contact obeys Signorini and Coulomb, whatever the order."""
    problem = prepare(triangular(4, 4, mu=mu, g=3.0), DT)
    report = exact(order=order).solve(problem, rng)
    assert report.converged
    check_constraints(problem)


def test_velocities_go_with_the_forces(rng):
    """The velocities left behind are the free ones plus M^-1 H R dt of the forces stored."""
    bodies = triangular(4, 4, mu=0.4)
    problem = prepare(bodies, DT)
    free = problem.motion.copy()
    Sweeps(criterion=FixedSweeps(37)).solve(problem, rng)
    apply_forces(free, problem.pairs, problem.geometry, problem.forces, DT)
    np.testing.assert_allclose(problem.motion, free, atol=1e-12)


def test_parallel_update_fails_where_random_converges(rng):
    """A compressed packing: the parallel update does not settle, the random sweep does."""
    settings = {"criterion": LocalCriterion(1e-6), "max_sweeps": 2000}
    assert Sweeps(order="random", **settings).solve(prepare(triangular(6, 6, mu=0.3), DT), rng).converged
    problem = prepare(triangular(6, 6, mu=0.3), DT)
    report = Sweeps(order="parallel", **settings).solve(problem, rng)
    assert not report.converged  # also where the forces have overflown, and inf - inf compares with nothing


def test_parallel_update_of_a_lattice_grows():
    """An inner grain of a lattice has 6 contacts: the largest eigenvalue of D^-1 W is 3 > 2, and forces run away."""
    simulation = Simulation(
        triangular(8, 8, mu=0.3), dt=DT, solver=Sweeps(order="parallel", criterion=FixedSweeps(2000))
    )
    try:
        simulation.run(steps=5)
    except DivergenceError:
        return
    weight = simulation.report().wall_force["piston"][1]
    assert abs(weight - 10.0) > 1.0  # what the piston should feel: its load


def test_parallel_update_of_one_contact_is_right(rng):
    """With one contact there is no neighbour, and the parallel update is the shock law."""
    problem = prepare(column(1), DT)
    Sweeps(order="parallel", criterion=FixedSweeps(1)).solve(problem, rng)
    assert problem.forces[0, 0] == pytest.approx(10.0, rel=1e-12)


# Order bias


def test_news_travels_with_an_ordered_sweep(rng):
    """Pressed at its right end, a chain feels the load everywhere after one sweep from right to left.

    Against the load information passes one contact per sweep.
    """
    n = 12
    problem = prepare(chain(n), DT)
    Sweeps(order=Ordered(axis="-x"), criterion=FixedSweeps(1)).solve(problem, rng)
    along = np.argsort(-problem.points()[:, 0])
    # Eq. (1d-update) from rest: each contact passes half of what it got; the wall has infinite mass and takes all.
    halves = 0.5 ** np.arange(1, n + 1)
    halves[-1] *= 2.0
    np.testing.assert_allclose(problem.forces[along, 0], halves, rtol=1e-9)
    for sweeps in (1, 2, 5):
        problem = prepare(chain(n), DT)
        Sweeps(order=Ordered(axis="+x"), criterion=FixedSweeps(sweeps)).solve(problem, rng)
        assert (problem.forces[along, 0] > 0.0).tolist() == [True] * sweeps + [False] * (n - sweeps)


def test_chain_carries_the_load_everywhere(rng):
    """Converged, every contact of the chain carries the whole force: nothing may move."""
    problem = prepare(chain(10, force=3.0), DT)
    exact().solve(problem, rng)
    np.testing.assert_allclose(problem.forces[:, 0], 3.0, rtol=1e-9)


# Criteria


def solve_by_hand(problem, sweeps, seed):
    """The forces after each of so many random sweeps, redrawn from the same seed."""
    rng, order = np.random.default_rng(seed), Random()
    apply_forces(problem.motion, problem.pairs, problem.geometry, problem.forces, problem.dt)
    order.begin(problem)
    trail = [problem.forces.copy()]
    for _ in range(sweeps):
        sequence = order.sequence(rng)
        sweep(sequence, problem.motion, problem.pairs, problem.geometry, problem.forces, problem.dt)
        trail.append(problem.forces.copy())
    return trail


@pytest.mark.parametrize(("epsilon", "delta"), [(1e-3, 1e-6), (0.1, 0.0), (0.0, 1e-3), (1e-4, None)])
def test_local_criterion_is_met_first_at_the_last_sweep(epsilon, delta):
    """Eq. (localcrit) with delta, for every contact: satisfied by the last sweep and by none before."""
    problem = prepare(triangular(4, 4, mu=0.3), DT)
    report = Sweeps(criterion=LocalCriterion(epsilon, delta)).solve(problem, np.random.default_rng(5))
    assert report.converged
    trail = solve_by_hand(prepare(triangular(4, 4, mu=0.3), DT), report.sweeps, 5)
    np.testing.assert_array_equal(problem.forces, trail[-1])
    settled = []
    for before, after in pairwise(trail):
        small = epsilon * strength(before).mean() if delta is None else delta
        settled.append(bool((strength(after - before) <= epsilon * strength(after) + small).all()))
    assert settled == [False] * (report.sweeps - 1) + [True]


@pytest.mark.parametrize("carried", [0.0, 50.0])
def test_global_criterion_is_met_first_at_the_last_sweep(carried):
    """Eq. (globalcrit): the change of <|R|> over the last sweep, up or down, over all candidates."""
    epsilon = 1e-3
    problem, again = (prepare(triangular(4, 4, mu=0.3), DT) for _ in range(2))
    problem.forces[:, 0] = again.forces[:, 0] = carried
    report = Sweeps(criterion=GlobalCriterion(epsilon)).solve(problem, np.random.default_rng(5))
    mean = np.array([strength(forces).mean() for forces in solve_by_hand(again, report.sweeps, 5)])
    assert (mean[1] < mean[0]) == (carried > 0.0)
    settled = np.abs(np.diff(mean)) <= epsilon * mean[1:]
    assert settled.tolist() == [False] * (report.sweeps - 1) + [True]


def test_tiny_forces_never_settle_without_delta():
    """A force with nothing to carry dies out by a constant factor per sweep: |dR|/|R| does not fall, whatever |R|."""

    def run(delta):
        problem = prepare(chain(3, force=0.0), DT)
        problem.forces[:, 0] = 1e-12  # a fluctuation left over from the step before
        solver = Sweeps(order=Ordered(axis="-x"), criterion=LocalCriterion(1e-3, delta), max_sweeps=100)
        return solver.solve(problem, np.random.default_rng(0)), strength(problem.forces).max()

    without, left = run(0.0)
    assert not without.converged
    assert 0.0 < left < 1e-20
    with_delta, left = run(1e-9)
    assert with_delta.converged
    assert with_delta.sweeps == 1
    assert left < 1e-12


def test_fixed_number_is_exact(rng):
    """Eq. (constNI): neither fewer nor more, also beyond max_sweeps."""
    for number in (1, 7, 1500):
        report = Sweeps(criterion=FixedSweeps(number), max_sweeps=1000).solve(prepare(chain(4), DT), rng)
        assert report.sweeps == number
        assert report.converged is None
        assert report.updates == 4 * number


def test_exhausted_sweeps_are_reported(rng):
    """max_sweeps ends a step that has not settled, and says so."""
    report = Sweeps(criterion=LocalCriterion(1e-12, 0.0), max_sweeps=3).solve(prepare(chain(20), DT), rng)
    assert report.sweeps == 3
    assert not report.converged


def test_no_contact_needs_no_sweep(rng):
    """A lone grain: nothing to do, converged."""
    report = Sweeps().solve(prepare(grains([[0, 5, 0]]), DT), rng)
    assert (report.sweeps, report.updates, report.converged, report.mean_force) == (0, 0, True, 0.0)


@pytest.mark.parametrize("criterion", [LocalCriterion(1e-8), GlobalCriterion(1e-10), FixedSweeps(200)])
@pytest.mark.parametrize("order", ["random", "random_sequential", "parallel"])
def test_mean_force_is_the_mean_of_the_forces(criterion, order, rng):
    """<|R|> in the report is that of the forces found, over all candidates, for every criterion and order."""
    problem = prepare(column(4), DT)
    report = Sweeps(criterion=criterion, order=order).solve(problem, rng)
    assert report.mean_force == pytest.approx(strength(problem.forces).mean(), rel=1e-9)


def test_random_sequential_update_settles_for_every_contact():
    """The local criterion speaks of every contact, also of those not drawn in the last sweep."""
    criterion = LocalCriterion(1e-3)
    for seed in range(20):
        problem = prepare(column(3), DT)
        report = Sweeps(order="random_sequential", criterion=criterion).solve(problem, np.random.default_rng(seed))
        assert report.converged
        np.testing.assert_allclose(np.sort(problem.forces[:, 0]), [10.0, 20.0, 30.0], rtol=0.1)


# The same seed


def final_bits(seed):
    simulation = Simulation(triangular(4, 4, mu=0.3, g=2.0), dt=DT, seed=seed, solver=Sweeps(max_sweeps=40))
    simulation.run(steps=10)
    return simulation.bodies.motion.tobytes() + simulation.contacts.forces.tobytes()


def test_same_seed_same_bits():
    """A run is repeated bit by bit with its seed, and differs with another."""
    assert final_bits(3) == final_bits(3)
    assert final_bits(3) != final_bits(4)


def test_unknown_names_are_refused():
    """The message names what is wrong and what to choose."""
    with pytest.raises(ValueError, match=r"'sideways'.*random_sequential"):
        Sweeps(order="sideways")
    with pytest.raises(ValueError, match=r"'gpos'.*'g_pos'"):
        Sweeps(gap="gpos")


def test_stored_order_is_the_plain_sweep_to_the_bit(rng):
    """Body 0 in registers: forces and velocities after several sweeps are those of the sweep over a sequence."""
    problem = prepare(triangular(6, 5, mu=0.4, g=3.0), DT)
    motion, forces, each = problem.motion.copy(), problem.forces.copy(), np.arange(problem.count, dtype=np.int32)
    order = Ordered()
    order.begin(problem)
    for _ in range(5):
        order.sweep(problem, rng)
        sweep(each, motion, problem.pairs, problem.geometry, forces, problem.dt)
    assert np.array_equal(problem.forces, forces)
    assert np.array_equal(problem.motion, motion)
    assert forces.any()


def test_the_work_of_all_attempts_at_a_step_counts():
    """Whatever is counted is added up; what was reached is that of the last attempt."""
    counts = [field.name for field in fields(SolveReport) if field.type == "int"]
    first = replace(SolveReport(1, 1, False, 2.0), **{name: 100 + k for k, name in enumerate(counts)})
    last = replace(SolveReport(1, 1, True, 3.0), **{name: 7 * k for k, name in enumerate(counts)})
    whole = last.after(first)
    assert [getattr(whole, name) for name in counts] == [100 + 8 * k for k in range(len(counts))]
    assert len(counts) >= 4
    assert whole.converged
    assert whole.mean_force == 3.0
