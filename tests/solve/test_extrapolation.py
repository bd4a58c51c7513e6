"""Extrapolated sweeps: sums that judge a change, units, and verdicts on single contacts."""

from __future__ import annotations

import numpy as np
import pytest
from support.builders import cloud, column, prepare

from rigidgrains.solve.accelerated import AcceleratedSweeps
from rigidgrains.solve.criteria import FixedSweeps, MomentumCriterion, ResidualCriterion
from rigidgrains.solve.extrapolation import judge_some
from rigidgrains.solve.sweeps import Sweeps

DT = 0.01
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
