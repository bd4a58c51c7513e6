"""Extrapolated sweeps, after Nesterov: forces and velocities go on in the direction they have taken."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ..contacts.problem import ContactProblem
from ..model.columns import INV_MASS, M_N, M_T, R_N
from ..runtime.memory import copy_rows
from .associated import AssociatedStart
from .criteria import StateCriterion, Verdict
from .deflation import EVERY, KEPT, Deflation
from .extent import extent_of
from .extrapolation import extrapolate, judge
from .kernels.factory import apply_forces
from .kernels.sums import changes
from .mass_ratio import burden, crossing
from .orders import Coloured, Symmetric
from .pace import Pace
from .residual import residual
from .restarts import RESCUES, Next, Restarts
from .virtual_power import flows

Array = NDArray[np.float64]

CLOSING = 4  # plain sweeps after the associated law: single contacts settle at once
ROUNDING = 1e-30  # of |R|^2/m: smaller changes are none
USUAL = 10.0  # times L/d sweeps, in which packings of equal grains are solved


class Extrapolated(Pace):
    """Sweeps from where the last ones were heading. After each the problem holds forces within the cone."""

    order: Coloured | Symmetric

    def __init__(
        self, order: Coloured | Symmetric, problem: ContactProblem, *, associated: bool = False, fallback: bool = False
    ) -> None:
        super().__init__(order)
        self._work, self._may_begin, self._may_fall_back = problem.work, associated, fallback
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
        np.divide(1.0, problem.geometry[:, M_T, None], out=self._weight)
        np.divide(1.0, problem.geometry[:, M_N], out=self._weight[:, R_N])
        self._extent, self._deflation = extent_of(problem), Deflation(self._work)
        self._associated = AssociatedStart()
        self._rule = Restarts(self._extent, count=self.restarts)
        self._keep_best(problem)

    def add_velocity(self, change: Array) -> None:
        self._free += change

    def begin_looks(self, problem: ContactProblem) -> None:
        if self._may_begin:
            self._associated.begin(problem, self._extent)

    def sweep(self, problem: ContactProblem, rng: Generator) -> int:
        """1. Extrapolate. 2. Sweep. 3. Judge the change, and choose the extrapolation of the next sweep."""
        p, deflation, rule = problem, self._deflation, self._rule
        beta = rule.factor.beta
        deflated = len(deflation.rows) > 0 and beta > 0.0
        if deflated:
            deflation.measure(beta, p.forces, self._forces)
        extrapolate(beta, p.forces, self._forces, self._start)
        extrapolate(beta, p.motion, self._motion)
        if deflated:
            deflation.take_out(p, self._start)
        made = self.order.turn(p, rng, fresh=rule.fresh, associated=self._associated.on)
        rule.fresh = False
        rule.sweeps += made
        along, change, step, square = judge(p.forces, self._forces, self._start, self._weight)
        size = math.sqrt(change) * math.sqrt(step)
        cosine = along / size if size > 0.0 else 0.0
        self.change = math.sqrt(change)
        if rule.watches(EVERY * KEPT):
            deflation.remember(rule.sweeps, p.forces, self._start)
        chosen = rule.choose(
            cosine, max(change, ROUNDING * square), flows=lambda: flows(p), associated=self._associated.on,
            deflate=lambda: deflation.find_directions(p.forces, self._start, self._weight),
        )  # fmt: skip
        self._follow(p, chosen)
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

    def adapt(self, problem: ContactProblem, verdict: Verdict) -> bool:
        """Change the law where the associated one has done its work; where few contacts are left, calm them.

        Calm is sweeps without extrapolation, which would keep the last contacts oscillating.
        """
        rule = self._rule
        if self._associated.decide(problem, verdict, rule.sweeps):
            self._keep_best(problem)
            rule.restart()
            rule.take_up()
            rule.pause(CLOSING)
            self._deflation.begin_anew()
            self.restarts = rule.count
            return verdict.nearly
        if verdict.nearly and rule.calm():
            self._deflation.begin_anew()
            self.restarts = rule.count
        return False

    def plan(self, problem: ContactProblem, most: int) -> int:
        """All but the eighth that `fall_back` may take; no more where heavy bodies would take more than all."""
        heavy = burden(problem) if self._may_fall_back else 0.0
        self._plain = 2 * (min(math.ceil(USUAL * self._extent), most // 8) // 2)  # there and back
        self.futile = heavy > self._extent and USUAL * crossing(problem, heavy) > most
        return self._plain if self.futile else most - self._plain

    def fall_back(
        self, problem: ContactProblem, rng: Generator, criterion: StateCriterion, verdict: Verdict
    ) -> tuple[int, Verdict]:
        """1. The best forces so far. 2. Sweeps without extrapolation from there. 3. The second-order method."""
        p = problem
        self._back_to_best(p)
        p.motion[:, :INV_MASS] = self._free
        apply_forces(p)
        self._restart()
        self._rule.pause(self._plain)
        made = self.sweeps(p, rng, self._plain)
        verdict = criterion.judge(p)
        if verdict.met or not self._may_fall_back:
            return made, verdict
        from .fallback import solve_by_second_order  # brings what few need: sparse matrices, FCLIB

        forces, motion = p.forces.copy(), p.motion.copy()
        least = self._back_to_best(p)
        found, self.fallback = solve_by_second_order(p, criterion, self._free)
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

    def _follow(self, problem: ContactProblem, what: Next) -> None:
        """Do with forces and deflated directions what the rule of restarts has chosen."""
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
            self._deflation.forget()
        elif what is Next.RESTART:
            self._deflation.begin_anew()

    def _keep_best(self, problem: ContactProblem) -> None:
        copy_rows(problem.forces, self._best[0])
        copy_rows(problem.motion, self._best[1])

    def _restart(self) -> None:
        self._rule.restart()
        self._deflation.begin_anew()
        self.restarts = self._rule.count
