"""The rule of extrapolation: what restarts it, how far it goes, and when the best forces are taken up again."""

from __future__ import annotations

import math

import pytest

from rigidgrains.solve.restarts import GO_ON, RESCUE, RESTART, ROUNDING, Rule, State, choose

EXTENT = 10.0  # L/d
RULE = Rule()
CROSSED = int(RULE.patience * EXTENT)  # sweeps


def follow(state, *changes, cosine=1.0):
    """The state after a sweep for each change."""
    for change in changes:
        state = choose.py_func(RULE, EXTENT, state, cosine, change)
    return state


def capped(change=1.0):
    """A state that has just got its cap, after sweeps that all changed as much."""
    return follow(State(), *[change] * (CROSSED + 1))


def test_the_compiled_rule_is_the_same():
    for state, change, cosine in ((State(), 1.0, 0.5), (capped(), 3.0, 0.2), (capped(), math.nan, 0.0)):
        one, other = choose(RULE, EXTENT, state, cosine, change), choose.py_func(RULE, EXTENT, state, cosine, change)
        assert repr(tuple(one)) == repr(tuple(other))


def test_at_first_it_is_nesterovs():
    """beta = (theta - 1)/theta', theta' = (1 + sqrt(1 + 4 theta^2))/2, from 0 towards 1; growth is no reason yet."""
    state, theta = State(), 1.0
    for k in range(CROSSED):
        state = follow(state, 1.0 + k)
        following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * theta**2))
        assert (state.what, state.beta) == (GO_ON, pytest.approx((theta - 1.0) / following, rel=1e-14))
        theta = following
    assert state.restarts == 0


def test_a_change_against_the_step_restarts():
    state = follow(State(), 1.0, 0.5, 0.3)
    assert state.beta > 0.0
    state = follow(state, 0.2, cosine=-1e-3)
    assert (state.what, state.beta, state.theta, state.restarts) == (RESTART, 0.0, 1.0, 1)
    assert (state.least, state.before) == (math.inf, 0.2)


def test_when_loads_have_crossed_the_packing_there_is_a_cap():
    """It begins with one restart at 1 - d/L, and beta stays below it."""
    state = capped()
    assert (state.what, state.damping, state.restarts) == (RESTART, 1.0 / EXTENT, 1)
    state = follow(state, *[1.0] * 200, cosine=RULE.cosine)
    assert state.beta == pytest.approx(1.0 - 1.0 / EXTENT, rel=1e-12)


@pytest.mark.parametrize("cosine", [0.5, 0.8, 0.95, 1.0])
def test_the_cap_follows_the_cosine(cosine):
    """1 - cap grows by exp(gain (target - cosine)) in each capped sweep, up to its most."""
    state = follow(capped(), *[1.0] * 200, cosine=RULE.cosine)
    after = follow(state, 1.0, cosine=cosine)
    assert after.damping == pytest.approx(state.damping * math.exp(RULE.gain * (RULE.cosine - cosine)), rel=1e-12)
    assert follow(state, *[1.0] * 2000, cosine=0.0).damping == RULE.most


def test_growth_restarts_and_halves_what_is_left_if_sweeps_came_to_nothing():
    state = follow(capped(), 0.5)  # better than before the restart
    assert follow(state, 0.99).what == GO_ON
    grown = follow(state, 1.01)
    assert (grown.what, grown.damping) == (RESTART, state.damping)
    vain = follow(grown, 0.8, 1.7)  # never below 0.5
    assert (vain.what, vain.damping) == (RESTART, 2.0 * state.damping)
    for _ in range(10):
        vain = follow(vain, 0.8, 1.7)
    assert vain.damping == RULE.most


def test_what_runs_away_goes_back_to_the_best():
    state = follow(State(), 1.0)
    for change in (1.01 * RULE.runaway, math.nan, math.inf):
        after = follow(state, change)
        assert (after.what, after.rescues, after.restarts, after.beta) == (RESCUE, 1, 1, 0.0)
        assert after.lowest == 1.0
    assert follow(state, 0.99 * RULE.runaway).what == GO_ON
    while state.rescues < RULE.rescues:
        state = follow(state, 1e6)
    for change in (1e6, 1e-6, 1e9):  # plain sweeps from here on
        state = follow(state, change)
        assert (state.what, state.beta) == (RESTART, 0.0)
    assert follow(state, math.nan).what == RESCUE


def test_forces_are_kept_when_they_are_better_by_far():
    state = follow(State(), 1.0)
    assert state.better
    state = follow(state, 1.01 * RULE.saved)
    assert (state.better, state.kept) == (False, 1.0)
    state = follow(state, 0.99 * RULE.saved)
    assert (state.better, state.kept) == (True, 0.99 * RULE.saved)


def test_a_pause_is_made_of_plain_sweeps():
    state = follow(State(until=4), 1.0, 1.0, 1.0)
    assert (state.what, state.beta, state.theta) == (RESTART, 0.0, 1.0)
    assert follow(state, 1.0, 1.0).what == GO_ON


def test_rounding_is_no_change():
    """Forces that have settled do not run away by their last digits."""
    state = follow(State(scale=1.0), 0.0, 1e-3 * ROUNDING, 0.9 * ROUNDING)
    assert (state.rescues, state.change) == (0, ROUNDING)
    assert follow(State(scale=0.0), 0.0).change == 0.0
