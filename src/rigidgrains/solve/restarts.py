"""Restarts: when extrapolated sweeps begin anew from where they are, decided sweep by sweep from two measured numbers.

change : sum of |dR|^2/m over the contacts, by one sweep
cosine : between that change and the step since the sweep before
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import Enum, auto

from .steady import ExtrapolationFactor

Ask = Callable[[], bool]

# Growth is over the least change since the last restart.
PATIENCE = 5.0  # times L/d sweeps before growth is a reason to restart: earlier it costs twice the sweeps
STRETCH = 3.0  # times L/d sweeps since the last restart, after which a slight growth is reason enough
SLIGHT = 1.1
GROWTH = 2.0, 8.0  # least and most of the growth that is reason at any time
PROGRESS = 0.7  # of the least change before: what sweeps between two restarts must get below to be left alone longer
VAIN = 1  # times in a row that growth ends sweeps without such progress: then directions to deflate are looked for
LATE = 100.0  # times L/d sweeps after which they are not, at rest: at small residuals restarts get further
STRAIGHT = 0.93  # mean cosine between change and step since the last restart: above, growth has other causes
KINK = 16.0  # growth that is reason even then
WAIT = 6.0  # times L/d sweeps without a change below all before: then it is reason after all
STEADY = 8.0  # times L/d sweeps after which beta is steady, where changes and steps agree, see steady.py
STALL = 20.0  # times L/d sweeps in flow without a change below all before: then beta is lowered
CALM = 1.0  # times L/d plain sweeps, where only single contacts are left
BUSY = 20.0  # times L/d sweeps before that, and between
RUNAWAY = 100.0  # over the least of all: back to the best forces
SAVED = 0.25  # a gain worth a new checkpoint
RESCUES = 20  # after as many the sweeps go on as plain ones


class Next(Enum):
    """What follows a sweep."""

    GO_ON = auto()
    DEFLATE = auto()  # go on, without the directions that were found
    RESTART = auto()
    FORGET = auto()  # restart, and leave out no directions any more
    RESCUE = auto()  # back to the best forces


class Growth(Enum):
    """By how much changes have grown since the last restart."""

    NONE = auto()  # or so little that it is no reason to restart
    LATE = auto()  # slightly, but long after it
    BEYOND = auto()  # the bound


def next_bound(bound: float, *, in_vain: bool) -> float:
    """The growth that is reason for the next restart, after one whose sweeps came to nothing, or did not."""
    return min(max((0.5 if in_vain else 2.0) * bound, GROWTH[0]), GROWTH[1])


class Restarts:
    """The extrapolation of the next sweep, and what else follows, from the numbers of the sweeps so far.

    sweeps   : made so far; count : restarts; rescues : times back to the best forces
    factor   : of the extrapolation; fresh : whether the next sweep has a new order
    better   : whether the last forces are worth keeping as the best ones
    """

    _least: float
    _turns: int
    _along: float

    def __init__(self, extent: float, *, count: int = 0) -> None:
        """extent : L/d"""
        self.extent, self.count, self.sweeps, self.rescues = extent, count, 0, 0
        self.take_up()

    def take_up(self) -> None:
        """Begin with a law: nothing that came before is a measure of what comes."""
        self._lowest = self._best = self._before = math.inf
        self._since = self._lowered = self._idle = self.sweeps
        self._bound, self.factor = GROWTH[1], ExtrapolationFactor(self.extent)
        self._vain = self._until = 0
        self.better = False
        self._begin_anew()

    def restart(self) -> None:
        """Extrapolate from here on, in a fresh order."""
        self.count += 1
        self._before = min(self._before, self._least)
        self._begin_anew()

    def pause(self, sweeps: int) -> None:
        """So many plain sweeps."""
        self._until = self.sweeps + sweeps

    def calm(self) -> bool:
        """Pause now and then where only single contacts are left, to let them settle; returns whether it did."""
        if self.sweeps < self._until + BUSY * self.extent:
            return False
        self.pause(math.ceil(CALM * self.extent))
        self.restart()
        return True

    def choose(self, cosine: float, change: float, *, flows: Ask, deflate: Ask, associated: bool = False) -> Next:
        """Go on, restart, or return to the best forces.

        flows      : whether the packing flows; asked only where it matters, as it costs half a sweep
        deflate    : find directions to be left out; returns whether there are any
        associated : whether sweeps are by the associated law
        """
        plain = self.rescues >= RESCUES
        self.better = False
        if not math.isfinite(change) or (change > RUNAWAY * self._lowest and not plain):
            self.rescues += 1
            self.count += 1
            self._begin_anew()
            return Next.RESCUE
        if change < self._lowest:
            self._lowest, self._lowered = change, self.sweeps
        self._least = min(self._least, change)
        self._turns, self._along = self._turns + 1, self._along + cosine
        if change <= SAVED * self._best:
            self._best, self.better = change, True
        if plain or self.sweeps < self._until:
            self.fresh = True
            return Next.GO_ON
        if cosine < 0.0 or self._become_steady(flows) or self._lower_in_flow(flows, associated):
            self.restart()
            return Next.RESTART
        growth = self._growth_of(change)
        if growth is Growth.NONE:
            self.factor.rise(cosine)
            return Next.GO_ON
        if growth is Growth.BEYOND:
            self._adapt_bound()
        if self.sweeps - self._since > LATE * self.extent and not flows():
            self.restart()
            return Next.FORGET
        if self._vain >= VAIN and deflate():
            self._before, self._least = min(self._before, self._least), change
            self._turns, self._along = 0, 0.0
            self.factor.rise(cosine)
            return Next.DEFLATE
        self.restart()
        return Next.RESTART

    def watches(self, ahead: int) -> bool:
        """Whether growth is, or within so many sweeps will be, a reason to restart."""
        return self.sweeps - self._since > PATIENCE * self.extent - ahead

    def _become_steady(self, flows: Ask) -> bool:
        """Make beta steady once loads have crossed the packing; returns whether it did."""
        if self.factor.steady or self.sweeps - self._since <= STEADY * self.extent:
            return False
        self.factor.keep_steady(flows=flows())
        return True

    def _lower_in_flow(self, flows: Ask, associated: bool) -> bool:
        """Lower beta where sweeps in flow go in circles, without a change below all before; returns whether it did.

        At rest such changes are rare, and it takes a large beta to come to them.
        """
        idle = self.sweeps - max(self._lowered, self._idle)
        if not self.factor.steady or idle <= STALL * self.extent:
            return False
        self._idle = self.sweeps
        if associated or not flows():
            return False
        self.factor.lower()
        return True

    def _growth_of(self, change: float) -> Growth:
        """Whether changes have grown so far that extrapolation feeds them.

        Forces that have gone straight on meet a contact that opens or slips: that growth passes.
        """
        if not self.watches(0):
            return Growth.NONE
        straight = self.factor.steady and self.rescues == 0 and self._along > STRAIGHT * self._turns
        straight = straight and self.sweeps - self._lowered <= WAIT * self.extent
        if straight and change <= KINK * self._least:
            return Growth.NONE
        if change > self._bound * self._least:
            return Growth.BEYOND
        late = not self.factor.steady and self.sweeps - self._restarted > STRETCH * self.extent
        return Growth.LATE if late and change > SLIGHT * self._least else Growth.NONE

    def _adapt_bound(self) -> None:
        """Halve the bound on growth if the sweeps since the last restart came to nothing, else double it.

        Where contacts slide, few of them may oscillate ever more and must be stopped early.
        """
        in_vain = self._least > PROGRESS * self._before
        self._vain = self._vain + 1 if in_vain else 0
        self._bound = next_bound(self._bound, in_vain=in_vain)

    def _begin_anew(self) -> None:
        self.factor.begin_anew()
        self.fresh = True
        self._least, self._restarted = math.inf, self.sweeps
        self._turns, self._along = 0, 0.0
