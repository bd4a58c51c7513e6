"""How momentum is led: what restarts it, and how much there is."""

from __future__ import annotations

import numpy as np
import pytest
from support.builders import chain, cloud, column, prepare

from rigidgrains.solve import accelerated, steady
from rigidgrains.solve.accelerated import AcceleratedSweeps
from rigidgrains.solve.criteria import FixedSweeps, MomentumCriterion, ResidualCriterion, Verdict
from rigidgrains.solve.extrapolation import judge_some
from rigidgrains.solve.orders import Coloured
from rigidgrains.solve.sweeps import Sweeps

DT = 0.01
NEARLY = Verdict(False, nearly=True)
TIGHT = {"criterion": ResidualCriterion(1e-12), "max_sweeps": 20_000}


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


@pytest.mark.parametrize("rows", [1, 2, 5, 8, 13])
@pytest.mark.parametrize("columns", [4, 7])
def test_changes_and_steps_are_judged_by_weighted_sums(rows, columns):
    """In lanes and number by number; some rows of a table."""
    forces, last, start = np.random.default_rng(rows).normal(size=(3, 20, columns))
    weight = np.random.default_rng(1).uniform(1.0, 2.0, size=(20, columns))
    some = slice(3, 3 + rows)
    f, w, d, s = forces[some], weight[some], (forces - start)[some], (forces - last)[some]
    expected = (w * d * s).sum(), (w * d * d).sum(), (w * s * s).sum(), (w * f * f).sum()
    assert judge_some(3, 3 + rows, forces, last, start, weight) == pytest.approx(expected, rel=1e-12)


def test_the_bound_on_growth_follows_progress():
    """No restart by growth before 5 L/d sweeps; then the bound halves without progress, and recovers."""
    _, pace, restarts = scripted_pace()
    assert restarts(1.0, 5.0) == 0
    pace._sweeps = 50
    assert restarts(1.05) == 0
    assert restarts(1.15) == 1  # slight growth, but more than 3 L/d sweeps after the last restart
    for below, above in ((15.9, 16.1), (7.9, 8.1), (3.9, 4.1), (3.9, 4.1)):  # without progress: 8, 4, 2, and not less
        assert restarts(2.0, below) == 0
        assert restarts(above) == 1
    assert restarts(0.1, 0.19) == 0
    assert restarts(0.21) == 1  # progress
    assert restarts(0.01, 0.039) == 0
    assert restarts(0.041) == 1


def test_steady_momentum_follows_the_cosine():
    """After 8 L/d sweeps: less momentum while change and step are far from parallel, more while they are, in bounds."""
    problem, pace, restarts = scripted_pace()
    pace._sweeps = 80
    assert restarts(1.0) == 1

    def momentum(cosine):
        for _ in range(400):
            pace._choose(problem, cosine, 1.0)
        return pace._amount.beta

    at_rest = momentum(steady.AT_REST)
    assert at_rest == pytest.approx(1.0 - 1.0 / pace._extent)
    assert momentum(0.0) == 1.0 - steady.MOST < at_rest
    assert momentum(1.0) == pytest.approx(1.0 - steady.LEAST)
    assert pace.restarts == 1
    pace._choose(problem, -0.1, 1.0)
    assert (pace._amount.beta, pace.restarts) == (0.0, 2)


@pytest.mark.parametrize(("cosine", "rescued", "restarts"), [(0.98, 0, 0), (0.9, 0, 1), (0.98, 1, 1)])
def test_growth_of_what_goes_straight_on_passes(cosine, rescued, restarts):
    """After 8 L/d sweeps, fourteenfold growth is a restart only if steps have turned, or if forces once ran away."""
    problem, pace, run = scripted_pace()
    pace._sweeps = 80
    run(1.0)  # the restart into steady momentum
    pace._rescues, before = rescued, pace.restarts
    for change in (1.0, 1.0, 14.0):
        pace._choose(problem, cosine, change)
    assert pace.restarts - before == restarts
    pace._choose(problem, cosine, 17.0 if restarts == 0 else 1.0)
    assert pace.restarts - before == 1


def test_late_swings_are_left_out_in_flow_alone(monkeypatch):
    """Up to 100 L/d sweeps, where growth came to nothing before; in flow for good."""
    problem, pace, _ = scripted_pace()
    pace._swings.find = lambda *_: True
    pace._sweeps = int(99 * pace._extent)
    assert not pace._leaves_out(problem)
    pace._vain = 1
    assert pace._leaves_out(problem)
    pace._swings.rows = np.arange(3)
    pace._sweeps = int(100 * pace._extent) + 1
    with monkeypatch.context() as patch:
        patch.setattr(accelerated, "flows", lambda problem: True)
        assert pace._leaves_out(problem)
    assert not pace._leaves_out(problem)
    assert len(pace._swings.rows) == 0


def test_single_contacts_settle_without_momentum():
    """After 20 L/d sweeps, for L/d of them; and not again before as many more have passed."""
    problem, pace, restarts = scripted_pace()
    extent = pace._extent
    pace._sweeps = int(19 * extent)
    pace.told(problem, NEARLY)
    assert pace.restarts == 0
    pace._sweeps = int(20 * extent) + 1
    pace.told(problem, NEARLY)
    assert pace.restarts == 1
    assert restarts(*[1.0] * int(extent - 1)) == 0
    assert pace._amount.beta == 0.0
    restarts(*[1.0] * 20)
    assert pace._amount.beta > 0.5
    before = pace.restarts
    pace.told(problem, NEARLY)
    assert pace.restarts == before


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


def scripted_pace():
    """The pace of a chain of 10, and what counts its restarts under changes that are given to it."""
    problem = prepare(chain(10), DT)
    pace = accelerated.Momentum(Coloured(), problem)
    pace.begin(problem)

    def restarts(*changes):
        before = pace.restarts
        for change in changes:
            pace._sweeps += 1
            pace._choose(problem, 1.0, change)
        return pace.restarts - before

    return problem, pace, restarts
