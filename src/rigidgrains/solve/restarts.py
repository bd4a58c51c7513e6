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
VAIN = 1  # times in a row that growth ends sweeps without such progress: then swings are looked for
LATE = 100.0  # times L/d sweeps after which they are not, at rest: at small residuals restarts get further
STRAIGHT = 0.93  # mean cosine between change and step since the last restart: above, it is not extrapolation that makes changes grow
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
    LEAVE_OUT = auto()  # go on, without the swings that were found
    RESTART = auto()
    FORGET = auto()  # restart, and leave out no swings any more
    RESCUE = auto()  # back to the best forces


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
        self._growth, self.factor = GROWTH[1], ExtrapolationFactor(self.extent)
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
        """Pause where only single contacts are left, now and then: extrapolation keeps them oscillating. Whether it did."""
        if self.sweeps < self._until + BUSY * self.extent:
            return False
        self.pause(math.ceil(CALM * self.extent))
        self.restart()
        return True

    def choose(self, cosine: float, change: float, *, flows: Ask, find_swings: Ask, associated: bool = False) -> Next:
        """Go on, restart, or return to the best forces.

        flows       : whether the packing flows; asked only where it matters, as it costs half a sweep
        find_swings : look for swings to be left out, and whether there are any
        associated  : whether sweeps are by the associated law
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
        if cosine < 0.0 or self._ripe(flows) or self._stalls(flows, associated):
            self.restart()
            return Next.RESTART
        if not self._grown(change):
            self.factor.rise(cosine)
            return Next.GO_ON
        if self.sweeps - self._since > LATE * self.extent and not flows():
            self.restart()
            return Next.FORGET
        if self._vain >= VAIN and find_swings():
            self._before, self._least = min(self._before, self._least), change
            self._turns, self._along = 0, 0.0
            self.factor.rise(cosine)
            return Next.LEAVE_OUT
        self.restart()
        return Next.RESTART

    def watches(self, ahead: int) -> bool:
        """Whether growth is, or within so many sweeps will be, a reason to restart."""
        return self.sweeps - self._since > PATIENCE * self.extent - ahead

    def _ripe(self, flows: Ask) -> bool:
        """Whether it is time for a steady beta: loads have crossed the packing, and what is left is all over it."""
        if self.factor.steady or self.sweeps - self._since <= STEADY * self.extent:
            return False
        self.factor.keep_steady(flows=flows())
        return True

    def _stalls(self, flows: Ask, associated: bool) -> bool:
        """Whether beta is lowered from now on: sweeps in flow go in circles, without a change below all before.

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

    def _grown(self, change: float) -> bool:
        """Whether changes have grown so far that extrapolation feeds them.

        Where contacts slide, few of them may oscillate ever more and must be stopped early: the bound halves when the sweeps
        since the last restart came to nothing, and doubles when they did not. Forces that have gone straight on meet
        a contact that opens or slips: that growth passes.
        """
        if not self.watches(0):
            return False
        straight = self.factor.steady and self.rescues == 0 and self._along > STRAIGHT * self._turns
        straight = straight and self.sweeps - self._lowered <= WAIT * self.extent
        if straight and change <= KINK * self._least:
            return False
        if change > self._growth * self._least:
            vain = self._least > PROGRESS * self._before
            self._vain, factor = (self._vain + 1, 0.5) if vain else (0, 2.0)
            self._growth = min(max(factor * self._growth, GROWTH[0]), GROWTH[1])
            return True
        late = not self.factor.steady and self.sweeps - self._restarted > STRETCH * self.extent
        return late and change > SLIGHT * self._least

    def _begin_anew(self) -> None:
        self.factor.begin_anew()
        self.fresh = True
        self._least, self._restarted = math.inf, self.sweeps
        self._turns, self._along = 0, 0.0
