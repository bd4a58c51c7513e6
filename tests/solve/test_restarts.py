"""How extrapolation is controlled: what restarts it, and how far it goes."""

from __future__ import annotations

import numpy as np
import pytest

from rigidgrains.solve import steady
from rigidgrains.solve.restarts import GROWTH, RESCUES, Next, Restarts, next_bound

EXTENT = 10.0  # L/d


class Scripted(Restarts):
    """The rule for a packing of ten grains across, under numbers that are given to it."""

    flows = directions = False

    def __init__(self):
        super().__init__(EXTENT)

    def follow(self, cosine, change, **rest):
        return self.choose(cosine, change, flows=lambda: self.flows, deflate=lambda: self.directions, **rest)

    def restarts(self, *changes):
        """How many, by one sweep for each change, all straight on."""
        before = self.count
        for change in changes:
            self.sweeps += 1
            self.follow(1.0, change)
        return self.count - before


def test_the_bound_on_growth_follows_progress():
    """No restart by growth before 5 L/d sweeps; then the bound halves without progress, and recovers."""
    rule = Scripted()
    assert rule.restarts(1.0, 5.0) == 0
    rule.sweeps = 50
    assert rule.restarts(1.05) == 0
    assert rule.restarts(1.15) == 1  # slight growth, but more than 3 L/d sweeps after the last restart
    for below, above in ((15.9, 16.1), (7.9, 8.1), (3.9, 4.1), (3.9, 4.1)):  # without progress: 8, 4, 2, and not less
        assert rule.restarts(2.0, below) == 0
        assert rule.restarts(above) == 1
    assert rule.restarts(0.1, 0.19) == 0
    assert rule.restarts(0.21) == 1  # progress
    assert rule.restarts(0.01, 0.039) == 0
    assert rule.restarts(0.041) == 1


def test_the_bound_has_bounds():
    """It halves and doubles within them."""
    least, most = GROWTH
    assert (next_bound(4.0, in_vain=True), next_bound(4.0, in_vain=False)) == (2.0, 8.0)
    assert next_bound(least, in_vain=True) == least
    assert next_bound(most, in_vain=False) == most


def test_a_steady_factor_follows_the_cosine():
    """After 8 L/d sweeps: smaller while change and step are far from parallel, larger while they are, within bounds."""
    rule = Scripted()
    rule.sweeps = 80
    assert rule.restarts(1.0) == 1

    def beta(cosine):
        for _ in range(400):
            rule.follow(cosine, 1.0)
        return rule.factor.beta

    at_rest = beta(steady.AT_REST)
    assert at_rest == pytest.approx(1.0 - 1.0 / EXTENT)
    assert beta(0.0) == 1.0 - steady.MOST < at_rest
    assert beta(1.0) == pytest.approx(1.0 - steady.LEAST)
    assert rule.count == 1
    assert rule.follow(-0.1, 1.0) is Next.RESTART
    assert (rule.factor.beta, rule.count) == (0.0, 2)


@pytest.mark.parametrize(("cosine", "rescued", "restarts"), [(0.98, 0, 0), (0.9, 0, 1), (0.98, 1, 1)])
def test_growth_of_what_goes_straight_on_passes(cosine, rescued, restarts):
    """After 8 L/d sweeps, fourteenfold growth is a restart only if steps have turned, or if forces once ran away."""
    rule = Scripted()
    rule.sweeps = 80
    rule.restarts(1.0)  # the restart into a steady factor
    rule.rescues, before = rescued, rule.count
    for change in (1.0, 1.0, 14.0):
        rule.follow(cosine, change)
    assert rule.count - before == restarts
    rule.follow(cosine, 17.0 if restarts == 0 else 1.0)
    assert rule.count - before == 1


def test_late_growth_is_deflated_in_flow_alone():
    """Up to 100 L/d sweeps, where growth came to nothing before; in flow for good."""

    def grown(sweeps, *, flows=False, least=1.0):
        """What follows growth so late, from this least change; the least change before was 1."""
        rule = Scripted()
        rule.sweeps = 99 * int(EXTENT) - 9
        rule.restarts(1.0)  # the restart into a steady factor
        rule.sweeps, rule.flows, rule.directions = sweeps, flows, True
        assert rule.follow(0.5, least) is Next.GO_ON
        return rule.follow(0.5, 60.0 * least)

    early, late = 100 * int(EXTENT), 100 * int(EXTENT) + 1
    assert grown(early) is Next.DEFLATE
    assert grown(early, least=0.6) is Next.RESTART  # progress
    assert grown(late) is Next.FORGET
    assert grown(late, flows=True) is Next.DEFLATE


def test_single_contacts_settle_by_plain_sweeps():
    """After 20 L/d sweeps, for L/d of them; and not again before as many more have passed."""
    rule = Scripted()
    rule.sweeps = int(19 * EXTENT)
    assert not rule.calm()
    assert rule.count == 0
    rule.sweeps = int(20 * EXTENT) + 1
    assert rule.calm()
    assert rule.count == 1
    assert rule.restarts(*[1.0] * int(EXTENT - 1)) == 0
    assert rule.factor.beta == 0.0
    rule.restarts(*[1.0] * 20)
    assert rule.factor.beta > 0.5
    before = rule.count
    assert not rule.calm()
    assert rule.count == before


def test_packings_at_rest_keep_their_factor():
    """Sweeps that come to no smaller change for long are not slowed down where nothing slides for good."""
    rule = Scripted()
    rule.sweeps = 80
    rule.restarts(1.0)
    rule.sweeps = 10_000
    assert rule.follow(0.9, 1.0) is Next.GO_ON
    rule.flows = True
    assert rule.follow(0.9, 1.0) is Next.GO_ON  # looked at once in so many sweeps
    rule.sweeps = 20_000
    assert rule.follow(0.9, 1.0, associated=True) is Next.GO_ON
    rule.sweeps = 30_000
    assert rule.follow(0.9, 1.0) is Next.RESTART
    for _ in range(100):
        rule.follow(steady.IN_FLOW, 1.0)
    assert rule.factor.beta == pytest.approx(1.0 - steady.MOST)


def test_forces_that_run_away_are_taken_back_until_sweeps_become_plain():
    """A hundred times the least change of all; the best forces are those of a change a quarter of the best before."""
    rule = Scripted()
    for change, better in ((1.0, True), (0.26, False), (0.24, True)):
        assert rule.follow(1.0, change) is Next.GO_ON
        assert rule.better is better
    assert rule.follow(1.0, 23.9) is Next.GO_ON
    assert rule.factor.beta > 0.0
    for _ in range(RESCUES):
        assert rule.follow(1.0, 24.1) is Next.RESCUE
        assert rule.factor.beta == 0.0
    for change in (24.1, 1.0, 0.9):
        assert rule.follow(1.0, change) is Next.GO_ON
        assert rule.factor.beta == 0.0
        assert rule.fresh
    assert rule.follow(1.0, np.nan) is Next.RESCUE
    assert rule.count == rule.rescues == RESCUES + 1
