"""Extrapolated sweeps: the compiled loop against a second implementation, on threads, in tiles, from any number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.builders import cloud, column, prepare

from rigidgrains.app import bench
from rigidgrains.detect import pairs
from rigidgrains.model.columns import M_N
from rigidgrains.runtime import threads as in_threads
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.solve.accelerated import AcceleratedSweeps
from rigidgrains.solve.criteria import FixedSweeps, MomentumCriterion, ResidualCriterion
from rigidgrains.solve.extrapolated import Extrapolated
from rigidgrains.solve.kernels.extrapolated import shuffle
from rigidgrains.solve.kernels.factory import apply_forces, kernels_for
from rigidgrains.solve.orders import Coloured
from rigidgrains.solve.restarts import GO_ON, Rule, State, choose
from rigidgrains.solve.sweeps import Sweeps

DT = 0.01
TIGHT = {"criterion": ResidualCriterion(1e-12), "max_sweeps": 20_000}
KINDS = "friction", "cell", "torque"


def made(kind, grains=400):
    return bench.problem_of_kind(kind, grains, coloured=True)


@pytest.fixture
def tiles(monkeypatch):
    """Spheres in tiles of 32, as if they were very many, and threads for the least of loops."""
    monkeypatch.setattr(pairs, "MANY", 100)
    for name, size in (("TILE", 32), ("PART", 16)):
        monkeypatch.setattr(pairs, name, size)
        monkeypatch.setattr("rigidgrains.detect.candidates." + name, size)


@pytest.fixture
def on_threads(monkeypatch):
    monkeypatch.setattr(in_threads, "WORTH", 1)
    yield in_threads.set_threads
    in_threads.set_threads(None)


def swept(problem, number, seed=3):
    """The pace after so many sweeps in one call."""
    apply_forces(problem)
    pace = Extrapolated(Coloured(worth=1), problem)
    pace.begin(problem)
    pace.sweeps(problem, np.random.default_rng(seed), number)
    return pace


def by_hand(problem, number, extent, seed=3):
    """Extrapolate, sweep contact after contact, measure, decide: the text of the method, with tables of its own."""
    p, rule, state = problem, Rule(), State(scale=float((problem.forces**2 / problem.geometry[:, [M_N]]).sum()))
    apply_forces(p)
    by, update = p.colouring, kernels_for(p).update
    order, seed = np.arange(by.count), np.random.default_rng(seed).integers(2**64, dtype=np.uint64)
    forces, motion = p.forces.copy(), p.motion.copy()  # of the sweep before
    for _ in range(number):
        if state.what != GO_ON:
            seed = np.uint64(shuffle(order, by.inner, seed))
        x, v = p.forces.copy(), p.motion.copy()
        y = x + state.beta * (x - forces)
        p.forces[:], p.motion[:] = y, v + state.beta * (v - motion)
        forces, motion = x, v
        for c in by.arranged(order):
            update(c, *p.arrays, p.dt, 1.0 / p.dt, False)
        change, step, weight = p.forces - y, p.forces - x, 1.0 / p.geometry[:, [M_N]]
        along, change, step = (
            float((weight * a * b).sum()) for a, b in ((change, step), (change, change), (step, step))
        )
        state = choose(rule, extent, state, along / np.sqrt(change * step), change)
    return state


@pytest.mark.parametrize("number", [1, 2, 7, 24])
@pytest.mark.parametrize("kind", KINDS)
def test_the_loop_is_what_its_text_says(kind, number):
    """Forces and velocities to the bit, sums to rounding; an odd number ends in the same tables as an even one."""
    one, other = made(kind), made(kind)
    pace = swept(one, number)
    state = by_hand(other, number, pace._extent)
    np.testing.assert_array_equal(one.forces, other.forces)
    np.testing.assert_array_equal(one.motion, other.motion)
    np.testing.assert_allclose(pace.state, state, rtol=1e-10)
    assert one.forces.any()


@pytest.mark.parametrize("number", [3, 10])
def test_tiles_are_swept_like_colours(tiles, number):
    one, other = made("friction", 600), made("friction", 600)
    assert one.colouring.inner.any()
    pace = swept(one, number)
    state = by_hand(other, number, pace._extent)
    np.testing.assert_array_equal(one.forces, other.forces)
    np.testing.assert_allclose(pace.state, state, rtol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tiled", [False, True])
def test_threads_change_no_bit(request, on_threads, kind, tiled):
    """Nor do they change a sum, on which decisions depend."""
    if tiled:
        request.getfixturevalue("tiles")
    found = []
    for number in (1, 2, 5):
        on_threads(number)
        problem = made(kind, 600)
        pace = swept(problem, 25)
        found.append((problem.forces.tobytes(), problem.motion.tobytes(), pace.state))
    assert found[0] == found[1] == found[2]


def test_sweeps_in_several_calls_go_on():
    """Where an order was kept there is no restart between calls: only random numbers are drawn anew."""
    one, two = made("friction"), made("friction")
    rng = np.random.default_rng(3)
    pace = swept(one, 12)
    assert pace.state.restarts == 0  # so that the order of all is the first
    apply_forces(two)
    other = Extrapolated(Coloured(), two)
    other.begin(two)
    for number in (5, 1, 6):
        other.sweeps(two, rng, number)
    np.testing.assert_array_equal(one.forces, two.forces)
    assert pace.state == other.state


def test_it_stops_where_changes_are_small_enough():
    problem = made("friction")
    pace = swept(problem, 6)
    enough = 0.5 * pace.change
    sweeps = pace.sweeps(problem, np.random.default_rng(0), 1000, 4, enough)
    assert pace.change <= enough
    assert 4 <= sweeps < 200
    assert sweeps % 2 == 0  # the tables have taken turns


def test_what_runs_away_ends_with_the_best_forces(monkeypatch):
    """A rule that calls every change too large: plain sweeps in the end, which converge."""
    monkeypatch.setattr(Extrapolated, "rule", Rule(runaway=1e-3, rescues=3.0))
    problem = prepare(column(12), DT)
    report = AcceleratedSweeps(criterion=ResidualCriterion(1e-6), fallback=0).solve(problem, np.random.default_rng(0))
    assert report.converged
    assert "3 times back to the best forces, then plain sweeps" in report.why


def test_sweeps_do_not_depend_on_the_unit_of_mass():
    """Masses and forces 2^40 times as small: the same restarts, and the same bits in the new unit."""
    answers = []
    for unit in (1.0, 2.0**-40):
        problem = prepare(cloud(60, mu=0.4), 0.5)
        problem.motion[:, 6:] /= unit
        problem.geometry[:, 4:6] *= unit
        report = AcceleratedSweeps(**TIGHT).solve(problem, np.random.default_rng(1))
        assert report.restarts > 0
        answers.append((report.sweeps, report.restarts, (problem.forces / unit).tobytes()))
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("sweeps", "criterion", "met", "nearly"),
    [
        (3, MomentumCriterion(1e9, residual=1e9), False, True),
        (3, MomentumCriterion(1e-3, residual=1e9), False, False),
        (3, MomentumCriterion(1e9, residual=1e-3), False, False),
        (4000, MomentumCriterion(), True, False),
    ],
)
def test_a_verdict_tells_when_only_single_contacts_are_left(sweeps, criterion, met, nearly):
    problem = prepare(column(12), DT)
    Sweeps(criterion=FixedSweeps(sweeps)).solve(problem, np.random.default_rng(0))
    verdict = criterion.judge(problem)
    assert (verdict.met, verdict.nearly) == (met, nearly)


def test_it_is_much_faster_than_plain_sweeps():
    """A column of n disks: about n sweeps where plain ones take n^2."""
    n = 40
    made = {}
    for name, solver in (("accelerated", AcceleratedSweeps), ("plain", Sweeps)):
        problem = prepare(column(n), DT)
        report = replace(solver(order="coloured"), criterion=ResidualCriterion(1e-6), max_sweeps=10**5).solve(
            problem, np.random.default_rng(0)
        )
        assert report.converged
        made[name] = report.sweeps
    assert made["accelerated"] < 10 * n < made["plain"] / 2


@pytest.mark.parametrize(("solver", "number"), [(Sweeps("coloured"), 0), (AcceleratedSweeps(), 19)])
def test_two_tables_fill_the_cache_with_half_the_grains(tiles, monkeypatch, solver, number):
    """600 spheres in tiles of 32; a solver that is changed in the middle of a run gets its own."""
    monkeypatch.setattr(pairs, "MANY", 1000)
    simulation = Simulation(bench.dense_bodies(600), dt=1e-4, solver=Sweeps("coloured", FixedSweeps(2)), seed=1)
    simulation.step()
    simulation.solver = solver
    simulation.step()
    assert len(simulation.contacts.colouring.tiles) == (number + 1 if number else 0)
