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
from ..model.columns import INV_MASS, M_N, M_T, R_N
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
from .restarts import RESCUES, Next, Restarts
from .sweeps import SolveReport, Sweeps
from .virtual_power import flows

Array = NDArray[np.float64]

CLOSING = 4  # sweeps without momentum after dilation: single contacts settle at once
ROUNDING = 1e-30  # of |R|^2/m: smaller changes are none
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
        own = problem.extra is None and problem.count <= most and bool((problem.friction < math.inf).all())
        return Momentum(order, problem, hold=self.hold, appeals=own)


class Momentum(Pace):
    """Sweeps from where the last ones were heading. After each the problem holds forces within the cone."""

    order: Coloured | Symmetric

    def __init__(
        self, order: Coloured | Symmetric, problem: ContactProblem, *, hold: bool = False, appeals: bool = False
    ) -> None:
        super().__init__(order)
        self._work, self._hold, self._appeals = problem.work, hold, appeals
        self._free = self._work.take("free", len(problem.motion), 6)
        self._free[:] = problem.motion[:, :INV_MASS]

    def begin(self, problem: ContactProblem, among: np.ndarray | None = None) -> None:
        super().begin(problem, among)
        forces, motion = problem.forces, problem.motion
        self._start = self._like(forces, "start")  # where a sweep started
        self._forces, self._motion = self._like(forces, "forces"), self._like(motion, "motion")  # after the one before
        self._best = self._like(forces, "best forces"), self._like(motion, "best motion")
        copy_rows(forces, self._forces)
        copy_rows(motion, self._motion)
        self._weight = self._like(forces, "weight")
        np.divide(1.0, problem.geometry[:, [M_T]], out=self._weight)
        np.divide(1.0, problem.geometry[:, M_N], out=self._weight[:, R_N])
        self._extent, self._swings = extent_of(problem), Swings(self._work)
        self._dilation = Dilation()
        self._rule = Restarts(self._extent, count=self.restarts)
        self._keep_best(problem)

    def moved(self, change: Array) -> None:
        self._free += change

    def watch(self, problem: ContactProblem) -> None:
        if self._hold:
            self._dilation.begin(problem, self._extent)

    def sweep(self, problem: ContactProblem, rng: Generator) -> int:
        """1. Extrapolate. 2. Sweep. 3. Judge the change, and choose the momentum of the next sweep."""
        p, swings, rule = problem, self._swings, self._rule
        beta = rule.amount.beta
        left_out = len(swings.rows) > 0 and beta > 0.0
        if left_out:
            swings.part(beta, p.forces, self._forces)
        carry_on(beta, p.forces, self._forces, self._start)
        carry_on(beta, p.motion, self._motion)
        if left_out:
            swings.take_out(p, self._start)
        made = self.order.turn(p, rng, fresh=rule.fresh, associated=self._dilation.on)
        rule.fresh = False
        rule.sweeps += made
        along, change, step, square = judge(p.forces, self._forces, self._start, self._weight)
        size = math.sqrt(change) * math.sqrt(step)
        cosine = along / size if size > 0.0 else 0.0
        self.change = math.sqrt(change)
        if rule.watches(EVERY * KEPT):
            swings.keep(rule.sweeps, p.forces, self._start)
        chosen = rule.choose(
            cosine, max(change, ROUNDING * square), flows=lambda: flows(p),
            find_swings=lambda: swings.find(p.forces, self._start, self._weight), associated=self._dilation.on,
        )  # fmt: skip
        self._obey(p, chosen)
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
        rule = self._rule
        if self._dilation.changes(problem, verdict, rule.sweeps):
            self._keep_best(problem)
            rule.restart()
            rule.take_up()
            rule.pause(CLOSING)
            self._swings.begin_anew()
            self.restarts = rule.count
            return verdict.nearly
        if verdict.nearly and rule.calm():
            self._swings.begin_anew()
            self.restarts = rule.count
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
        p.motion[:, :INV_MASS] = self._free
        apply_forces(p)
        self._restart()
        self._rule.pause(self._plain)
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
        self._keep_best(p)
        self._restart()
        return made, found

    def finish(self, problem: ContactProblem, rng: Generator, *, converged: bool) -> bool:
        """Velocities from forces; the best forces seen, if the last are worse and were not good enough."""
        p = problem
        if not converged:
            self._back_to_best(p)
        p.motion[:, :INV_MASS] = self._free
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

    def _obey(self, problem: ContactProblem, what: Next) -> None:
        """Do with forces and swings what the rule of restarts has chosen."""
        rule = self._rule
        self.restarts = rule.count
        if rule.better:
            self._keep_best(problem)
        if what is Next.RESCUE:
            problem.forces[:], problem.motion[:] = self._best
            self.trouble = f"{rule.rescues} times back to the best forces"
            if rule.rescues >= RESCUES:
                self.trouble += ", then plain sweeps"
        if what in (Next.RESCUE, Next.FORGET):
            self._swings.forget()
        elif what is Next.RESTART:
            self._swings.begin_anew()

    def _keep_best(self, problem: ContactProblem) -> None:
        copy_rows(problem.forces, self._best[0])
        copy_rows(problem.motion, self._best[1])

    def _restart(self) -> None:
        self._rule.restart()
        self._swings.begin_anew()
        self.restarts = self._rule.count
