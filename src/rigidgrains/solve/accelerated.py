"""Accelerated sweeps: news crosses a packing of L/d grains in about L/d sweeps, where plain sweeps take (L/d)^2.

Between sweeps forces and velocities are carried on in the direction they have taken, after Nesterov. The sweeps between
two restarts must all have the same order: the same colours, or there and back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ..contacts.problem import ContactProblem
from ..runtime.arguments import is_number
from ..runtime.memory import copy_rows
from .associated import Dilation
from .criteria import Criterion, MomentumCriterion, RigidSweeps, StateCriterion, Verdict, looks_at_state
from .deflation import EVERY, KEPT, Swings
from .extrapolation import carry_on, extent_of, judge
from .kernels.factory import apply_forces
from .kernels.sums import changes
from .mass_ratio import burden
from .orders import Coloured, Order, Symmetric
from .pace import Pace
from .residual import residual
from .steady import Amount
from .sweeps import SolveReport, Sweeps
from .virtual_power import flows

Array = NDArray[np.float64]

# A change is the sum of |dR|^2/m over the contacts, by one sweep. Growth is over the least since the last restart.
PATIENCE = 5.0  # times L/d sweeps before growth is a reason to restart: earlier it costs twice the sweeps
STRETCH = 3.0  # times L/d sweeps since the last restart, after which a slight growth is reason enough
SLIGHT = 1.1
GROWTH = 2.0, 8.0  # least and most of the growth that is reason at any time
PROGRESS = 0.7  # of the least change before: what sweeps between two restarts must get below to be left alone longer
VAIN = 1  # times in a row that growth ends sweeps without such progress: then swings are looked for
LATE = 100.0  # times L/d sweeps after which they are not, at rest: at small residuals restarts get further
STRAIGHT = 0.93  # mean cosine between change and step since the last restart: above, it is not momentum that grows
KINK = 16.0  # growth that is reason even then
WAIT = 6.0  # times L/d sweeps without a change below all before: then it is reason after all
STEADY = 8.0  # times L/d sweeps after which momentum is held where changes and steps agree, see steady.py
STALL = 20.0  # times L/d sweeps in flow without a change below all before: then momentum is lowered
CALM = 1.0  # times L/d sweeps without momentum, where only single contacts are left
BUSY = 20.0  # times L/d sweeps before that, and between
CLOSING = 4  # sweeps without momentum after dilation: single contacts settle at once
RUNAWAY = 100.0  # over the least of all: back to the best forces
SAVED = 0.25  # a gain worth a new checkpoint
ROUNDING = 1e-30  # of |R|^2/m: smaller changes are none
RESCUES = 20  # after as many the sweeps go on without momentum
USUAL = 10.0  # times L/d sweeps, in which packings of equal grains are solved
AFFORDABLE, PATIENT = 2000, 5000  # candidates for which the referee is called by himself, after so many sweeps


@dataclass
class AcceleratedSweeps(Sweeps):
    """Sweeps with momentum. What is hard for them is reported, and solved by plain sweeps as far as these get.

    order   : "coloured" or "symmetric" (there and back, two sweeps a turn); another order does not converge
    hold    : look first for forces that hold a packing at rest, where none are carried over; see dilation.py. By
              colours, and with a criterion that looks at the state
    referee : candidates up to which the referee takes over a step that sweeps do not solve, see appeal.py; 0 for none.
              With a criterion that looks at the state, for plain friction. None for AFFORDABLE ones, and none where
              max_sweeps bounds the work of a step to less than PATIENT sweeps
    Criteria as for Sweeps, without RigidSweeps, which counts plain sweeps.
    """

    order: str | Order = "coloured"
    criterion: Criterion = field(default_factory=MomentumCriterion)
    hold: bool = False
    referee: int | None = None

    name: ClassVar[str] = "accelerated sweeps"
    plain: ClassVar[bool] = False

    def __post_init__(self, rigidity: float | None) -> None:
        super().__post_init__(rigidity)
        if not isinstance(self.order, Coloured | Symmetric):
            name = type(self.order).__name__
            raise ValueError(f"order {name} does not converge with momentum; choose 'coloured' or 'symmetric'")
        if self.hold and not self.order.coloured:
            raise ValueError("hold = True is known to sweeps by colours alone; take order = 'coloured'")
        if self.referee is None:
            return
        if not is_number(self.referee, whole=True) or self.referee < 0:
            raise ValueError(f"referee = {self.referee!r} is no number of contacts; give one such as 2000, or 0")
        self.referee = int(self.referee)

    def solve(self, problem: ContactProblem, rng: Generator) -> SolveReport:
        if isinstance(self.criterion, RigidSweeps):
            raise ValueError("rigidity counts plain sweeps; give AcceleratedSweeps a MomentumCriterion, or use Sweeps")
        for name in ("hold", "referee"):
            if getattr(self, name) and (self.sleep or not looks_at_state(self.criterion)):
                raise ValueError(f"{name} needs looks at the state; take a MomentumCriterion, and sleep = False")
        return super().solve(problem, rng)

    def _pace(self, order: Order, problem: ContactProblem) -> Pace:
        assert isinstance(order, Coloured | Symmetric)
        most = self.referee
        if most is None:
            looks = looks_at_state(self.criterion) and not self.sleep
            most = AFFORDABLE if looks and self.max_sweeps >= PATIENT else 0
        own = problem.plain and problem.count <= most and bool((problem.geometry[:, 6] < math.inf).all())
        return Momentum(order, problem, hold=self.hold, appeals=own)


class Momentum(Pace):
    """Sweeps from where the last ones were heading. After each the problem holds forces within the cone."""

    order: Coloured | Symmetric
    _amount: Amount
    _lowest: float
    _best_change: float
    _before: float
    _least: float
    _vain: int
    _since: int
    _restarted: int
    _turns: int
    _along: float
    _fresh: bool

    def __init__(
        self, order: Coloured | Symmetric, problem: ContactProblem, *, hold: bool = False, appeals: bool = False
    ) -> None:
        super().__init__(order)
        self._work, self._hold, self._appeals = problem.work, hold, appeals
        self._free = self._work.take("free", len(problem.motion), 6)
        self._free[:] = problem.motion[:, :6]

    def begin(self, problem: ContactProblem, among: np.ndarray | None = None) -> None:
        super().begin(problem, among)
        forces, motion = problem.forces, problem.motion
        self._start = self._like(forces, "start")  # where a sweep started
        self._forces, self._motion = self._like(forces, "forces"), self._like(motion, "motion")  # after the one before
        self._best = self._like(forces, "best forces"), self._like(motion, "best motion")
        copy_rows(forces, self._forces)
        copy_rows(motion, self._motion)
        self._weight = self._like(forces, "weight")
        np.divide(1.0, problem.geometry[:, 5:6], out=self._weight)
        np.divide(1.0, problem.geometry[:, 4], out=self._weight[:, 0])
        self._sweeps = self._rescues = 0
        self._extent, self._swings = extent_of(problem), Swings(self._work)
        self._dilation = Dilation()
        self._take_up(problem)

    def moved(self, change: Array) -> None:
        self._free += change

    def watch(self, problem: ContactProblem) -> None:
        if self._hold:
            self._dilation.begin(problem, self._extent)

    def sweep(self, problem: ContactProblem, rng: Generator) -> int:
        """1. Extrapolate. 2. Sweep. 3. Judge the change, and choose the momentum of the next sweep."""
        p, swings = problem, self._swings
        beta = self._amount.beta
        left_out = len(swings.rows) > 0 and beta > 0.0
        if left_out:
            swings.part(beta, p.forces, self._forces)
        carry_on(beta, p.forces, self._forces, self._start)
        carry_on(beta, p.motion, self._motion)
        if left_out:
            swings.take_out(p, self._start)
        made = self.order.turn(p, rng, fresh=self._fresh, associated=self._dilation.on)
        self._fresh = False
        self._sweeps += made
        along, change, step, square = judge(p.forces, self._forces, self._start, self._weight)
        size = math.sqrt(change) * math.sqrt(step)
        cosine = along / size if size > 0.0 else 0.0
        self.change = math.sqrt(change)
        if self._sweeps - self._since > PATIENCE * self._extent - EVERY * KEPT:
            swings.keep(self._sweeps, p.forces, self._start)
        self._choose(p, cosine, max(change, ROUNDING * square))
        return made

    def sweeps(self, problem: ContactProblem, rng: Generator, number: int) -> int:
        made = 0
        while made < number:
            made += self.sweep(problem, rng)
        return made

    def checked_sweep(
        self, problem: ContactProblem, rng: Generator, epsilon: float, delta: float
    ) -> tuple[int, int, float]:
        made = self.sweep(problem, rng)
        return made, *changes(self._start, problem.forces, epsilon, delta)

    def told(self, problem: ContactProblem, verdict: Verdict) -> bool:
        """Change the law where dilation has done its work; where few contacts are left, calm them.

        Calm is sweeps without momentum, which would keep the last contacts swinging.
        """
        if self._dilation.changes(problem, verdict, self._sweeps):
            self.restarts += 1
            self._take_up(problem)
            self._until = self._sweeps + CLOSING
            return verdict.nearly
        if verdict.nearly and self._sweeps >= self._until + BUSY * self._extent:
            self._until = self._sweeps + math.ceil(CALM * self._extent)
            self._restart()
        return False

    def patience(self, problem: ContactProblem, most: int) -> int:
        """All but the eighth that `fall_back` may take; no more than these where heavy bodies would take more than all.

        Sweeps with momentum go by the root of the condition number, L/d times the mass on a contact over that of a
        grain, or L/d again where no body is heavy.
        """
        heavy = burden(problem) if self._appeals else 0.0
        self._plain = 2 * (min(math.ceil(USUAL * self._extent), most // 8) // 2)  # there and back
        self.futile = heavy > self._extent and USUAL * math.sqrt(self._extent * heavy) > most
        return self._plain if self.futile else most - self._plain

    def fall_back(
        self, problem: ContactProblem, rng: Generator, criterion: StateCriterion, verdict: Verdict
    ) -> tuple[int, Verdict]:
        """1. The best forces so far. 2. Sweeps without momentum from there. 3. The referee; his forces if better."""
        p = problem
        self._back_to_best(p)
        p.motion[:, :6] = self._free
        apply_forces(p)
        self._restart()
        self._until = self._sweeps + self._plain
        made = self.sweeps(p, rng, self._plain)
        verdict = criterion.judge(p)
        if verdict.met or not self._appeals:
            return made, verdict
        from .fallback import appeal  # brings what few need: sparse matrices, FCLIB

        forces, motion = p.forces.copy(), p.motion.copy()
        least = self._back_to_best(p)
        found, self.referee = appeal(p, criterion, self._free)
        if not found.met and not residual(p) < least:
            p.forces[:], p.motion[:] = forces, motion
            return made, verdict
        copy_rows(p.forces, self._best[0])
        copy_rows(p.motion, self._best[1])
        self._restart()
        return made, found

    def finish(self, problem: ContactProblem, rng: Generator, *, converged: bool) -> bool:
        """Velocities from forces; the best forces seen, if the last are worse and were not good enough."""
        p = problem
        if not converged:
            self._back_to_best(p)
        p.motion[:, :6] = self._free
        apply_forces(p)
        return True

    def _back_to_best(self, problem: ContactProblem) -> float:
        """The best forces so far, if the last ones are worse; returns their residual. Velocities are not kept up."""
        p, last = problem, residual(problem)
        copy_rows(p.forces, self._start)
        p.forces[:], p.motion[:] = self._best
        best = residual(p)
        if last <= best:
            copy_rows(self._start, p.forces)
        return min(last, best)

    def _like(self, table: Array, name: str) -> Array:
        """Room for a table of this shape."""
        return self._work.take(f"{name} {table.shape[1]}", *table.shape)

    def _choose(self, problem: ContactProblem, cosine: float, change: float) -> None:
        """Go on, restart, or return to the best forces. The cosine is that between change and step."""
        plain = self._rescues >= RESCUES
        if not math.isfinite(change) or (change > RUNAWAY * self._lowest and not plain):
            self._rescue(problem)
            return
        if change < self._lowest:
            self._lowest, self._lowered = change, self._sweeps
        self._least = min(self._least, change)
        self._turns, self._along = self._turns + 1, self._along + cosine
        if change <= SAVED * self._best_change:
            self._best_change = change
            self._best[0][:], self._best[1][:] = problem.forces, problem.motion
        if plain or self._sweeps < self._until:
            self._fresh = True
        elif cosine < 0.0 or self._ripe(problem) or self._stalls(problem):
            self._restart()
        elif not self._grown(change):
            self._amount.rise(cosine)
        elif self._leaves_out(problem):
            self._before, self._least = min(self._before, self._least), change
            self._turns, self._along = 0, 0.0
            self._amount.rise(cosine)
        else:
            self._restart()

    def _leaves_out(self, problem: ContactProblem) -> bool:
        """Whether swings are left out from now on, in place of a restart. Late ones are worth it in flow alone."""
        if self._sweeps - self._since > LATE * self._extent and not flows(problem):
            self._swings.forget()
            return False
        return self._vain >= VAIN and self._swings.find(problem.forces, self._start, self._weight)

    def _take_up(self, problem: ContactProblem) -> None:
        """Begin with a law: nothing that came before is a measure of what comes."""
        copy_rows(problem.forces, self._best[0])
        copy_rows(problem.motion, self._best[1])
        self._lowest = self._best_change = self._before = math.inf
        self._since = self._lowered = self._idle = self._sweeps
        self._growth, self._amount = GROWTH[1], Amount(self._extent)
        self._vain = self._until = 0
        self._begin_anew()

    def _restart(self) -> None:
        self.restarts += 1
        self._before = min(self._before, self._least)
        self._begin_anew()

    def _ripe(self, problem: ContactProblem) -> bool:
        """Whether it is time for steady momentum: loads have crossed the packing, and what is left is all over it."""
        if self._amount.steady or self._sweeps - self._since <= STEADY * self._extent:
            return False
        self._amount.keep_steady(flows=flows(problem))
        return True

    def _stalls(self, problem: ContactProblem) -> bool:
        """Whether momentum is lowered from now on: sweeps in flow go in circles, without a change below all before.

        At rest such changes are rare, and it takes all the momentum to come to them.
        """
        idle = self._sweeps - max(self._lowered, self._idle)
        if not self._amount.steady or idle <= STALL * self._extent:
            return False
        self._idle = self._sweeps
        if self._dilation.on or not flows(problem):
            return False
        self._amount.lower()
        return True

    def _grown(self, change: float) -> bool:
        """Whether changes have grown so far that momentum feeds them.

        Where contacts slide, few of them may swing up and must be stopped early: the bound halves when the sweeps
        since the last restart came to nothing, and doubles when they did not. Forces that have gone straight on meet
        a contact that opens or slips: that growth passes.
        """
        if self._sweeps - self._since <= PATIENCE * self._extent:
            return False
        straight = self._amount.steady and self._rescues == 0 and self._along > STRAIGHT * self._turns
        straight = straight and self._sweeps - self._lowered <= WAIT * self._extent
        if straight and change <= KINK * self._least:
            return False
        if change > self._growth * self._least:
            vain = self._least > PROGRESS * self._before
            self._vain, factor = (self._vain + 1, 0.5) if vain else (0, 2.0)
            self._growth = min(max(factor * self._growth, GROWTH[0]), GROWTH[1])
            return True
        late = not self._amount.steady and self._sweeps - self._restarted > STRETCH * self._extent
        return late and change > SLIGHT * self._least

    def _begin_anew(self) -> None:
        """No momentum, and a fresh order."""
        self._amount.begin_anew()
        self._fresh = True
        self._least, self._restarted = math.inf, self._sweeps
        self._turns, self._along = 0, 0.0
        self._swings.begin_anew()

    def _rescue(self, problem: ContactProblem) -> None:
        """Back to the best forces."""
        problem.forces[:], problem.motion[:] = self._best
        self._swings.forget()
        self._rescues += 1
        self.restarts += 1
        self.trouble = f"{self._rescues} times back to the best forces"
        if self._rescues >= RESCUES:
            self.trouble += ", then plain sweeps"
        self._begin_anew()
