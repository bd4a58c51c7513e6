"""Accuracy: what a step is asked. Little while grains move, much where they are still.

In flow the length of a step decides how exact a result is, not the solver: what sweeps leave undone is carried over and
done in the next steps. Packings at rest and slow flows depend on their forces, and there these are cheap, since they
hardly change from step to step.

A step whose fastest contact moves nearly as far as a step may errs by its length. One in which all contacts move by
much less is exact in that, and what its sweeps leave is the larger error: there the criterion ends the sweeps, and the
bound on them is for the few steps that sweeps do not solve. Where little slides, for want of friction say, it asks what
is asked at rest: an error of 1 % of the load would keep grains moving. The fastest contact decides, not the mean: drums
and silos are slow but for a thin layer, which is what bounds their steps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .criteria import Criterion, FlowCriterion, MomentumCriterion

if TYPE_CHECKING:
    from .sweeps import SolveReport

STILL = 3e-4  # mean radii, by which contacts that carry a force move on average in a fall by DROP: less is rest
CALM = 1e-3  # likewise, from which on overlaps are removed: below, removal is what would keep grains moving
LEAVES = 2.0  # times as much ends it: what trembles about one bound is not asked by turns
SLOW = 0.1 / 3.0  # mean radii, a third of what balanced steps let pairs come closer: in slow flow no contact moves more
STRICT = MomentumCriterion(1e-3, 1e-4, 2.5e-4)  # where grains are still
REMOVED, SLACK = 0.1, 5e-4  # part of an overlap that a step removes while grains move; mean radii that are left alone
APART = 5e-3  # of the travel of a step, by which it moves overlapping grains apart at most
DROP = 2.5e-3  # mean diameters, how far what pulls most brings a body from rest in the longest step, a dt^2
LEVEL = ("criterion", "max_sweeps", "gap", "slack")  # settings that a level has, unless the user has them
DEFAULT = "balanced"


@dataclass(frozen=True)
class Accuracy:
    """A level of accuracy.

    moving : the criterion while grains move
    reach  : sweeps of a step at most, times those in which a load crosses the packing, L/d, or more under heavy bodies
             (`mass_ratio.crossing`), in a step as long as a fall by DROP takes (`part_of_crossing`); those of
             `max_sweeps` where it is infinite
    slow, slow_reach : both where the flow is slow (`is_slow`), the bound also where grains are still; None for no
             difference
    removed, slack : part of an overlap that a step removes while grains move, and mean radii that are left alone; where
             they are still overlaps stand
    travel : the time step where nobody chooses one, see `AutoStep`
    """

    moving: Criterion
    reach: float = math.inf
    removed: float = 0.0
    slack: float = 0.0
    travel: float = 0.1
    slow: Criterion | None = None
    slow_reach: float = math.inf

    @property
    def carries(self) -> bool:
        """Whether what is left after the sweeps of a step is done in the next ones; else such a step has failed."""
        return self.reach < math.inf

    def settings(self, last: SolveReport, part: float) -> dict[str, Any]:
        """What the solver of a step is given, after the last one; part : of a crossing, see `part_of_crossing`."""
        share = part * part  # of the time of a fall by DROP
        still = is_still(last, share)
        removed = 0.0 if still or last.travel <= CALM * share else self._removed(last.deepest)
        overlaps = {"gap": removed, "slack": self.slack} if removed else {"gap": "g_pos", "slack": 0.0}
        moving = self.moving, self.reach if still else self.reach * part
        criterion, reach = (self.slow, self.slow_reach) if self.slow and is_slow(last) else moving
        return {"still": still, "criterion": STRICT if still else criterion, "reach": reach, **overlaps}

    def _removed(self, deepest: float) -> float:
        """Part of overlaps, of which the deepest is so deep (mean radii), that a step removes.

        No contact is moved apart by more than APART of its travel: what many layers gain together throws up the top.
        """
        most = APART * self.travel
        return min(self.removed, most / max(deepest, most))


LEVELS: Mapping[str, Accuracy] = {
    "fast": Accuracy(FlowCriterion(0.2), 2.0, REMOVED, SLACK, travel=1.0),
    "balanced": Accuracy(
        FlowCriterion(0.1), 4.0, REMOVED, SLACK, slow=FlowCriterion(0.05, least=STRICT), slow_reach=64.0
    ),
    "exact": Accuracy(MomentumCriterion()),
}


def is_still(last: SolveReport, share: float = 1.0) -> bool:
    """Whether grains are still, after the last step: contacts moved by little, or by not much more if they were.

    share : of the time in which a body at rest falls by DROP, that a step takes; what moves by so much less is as fast
    """
    return last.travel <= share * (LEAVES * STILL if last.still else STILL)


def part_of_crossing(dt: float, fall: float) -> float:
    """Part of a level's sweeps that a step may make; fall : s, in which a body at rest falls by DROP, inf if none does.

    In that time a load has to cross the packing, in one step or in many. Within a step sweeps pass it on at a steady
    rate; from step to step it spreads diffusively, as the square root of their number.
    """
    return math.sqrt(min(1.0, dt / fall)) if fall < math.inf else 1.0


def is_slow(last: SolveReport) -> bool:
    """Whether flow is slow, after the last step: no contact that carries a force moved far."""
    return last.fastest <= SLOW
