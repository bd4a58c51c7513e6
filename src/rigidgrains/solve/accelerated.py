"""Accelerated sweeps: information crosses a packing of L/d grains in about L/d sweeps; plain sweeps take (L/d)^2.

Between sweeps forces and velocities are extrapolated in the direction they have taken, after Nesterov. The sweeps
between two restarts must all have the same order: the same colours, or there and back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ..contacts.problem import ContactProblem
from ..model.columns import INV_MASS, M_N, M_T, R_N
from ..runtime.arguments import is_number
from ..runtime.memory import copy_rows
from .accuracy import LEVEL, LEVELS, contact_travel, is_still
from .aliases import SETTINGS, with_earlier_names
from .associated import AssociatedStart
from .criteria import Criterion, MomentumCriterion, RigidSweeps, StateCriterion, Verdict, looks_at_state
from .deflation import EVERY, KEPT, Deflation
from .extrapolation import extent_of, extrapolate, judge
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

CLOSING = 4  # plain sweeps after the associated law: single contacts settle at once
ROUNDING = 1e-30  # of |R|^2/m: smaller changes are none
LEAST = 4  # sweeps that a step may make however small the packing
USUAL = 10.0  # times L/d sweeps, in which packings of equal grains are solved
AFFORDABLE, PATIENT = 2000, 5000  # candidates up to which steps fall back unasked, where so many sweeps may be made


@with_earlier_names(SETTINGS)
@dataclass
class AcceleratedSweeps(Sweeps):
    """Extrapolated sweeps. What is hard for them is reported, and solved by plain sweeps as far as these get.

    order   : "coloured" or "symmetric" (there and back, two sweeps a turn); another order does not converge
    associated : begin with the associated law, which finds forces that carry a packing at rest, where none are carried
              over; see associated.py. By colours, and with a criterion that looks at the state
    fallback : candidates up to which the second-order method takes over a step that sweeps do not solve, see
              fallback.py; 0 for none. With a criterion that looks at the state, for plain friction. None for AFFORDABLE
              ones, and none where max_sweeps bounds the work of a step to less than PATIENT sweeps
    accuracy : "fast", "balanced" or "exact", see accuracy.py; None asks the same of every step. Settings that are given
              besides win over those of the level: the criterion, max_sweeps, gap and slack
    reach   : sweeps of a step at most, times those of `crossing`; what is left then is carried over
    own     : names of the settings that win; by default those that are given
    Criteria as for Sweeps, without RigidSweeps, which counts plain sweeps.
    """

    order: str | Order = "coloured"
    criterion: Criterion = field(default_factory=MomentumCriterion)
    associated: bool = False
    fallback: int | None = None
    accuracy: str | None = None
    reach: float = math.inf
    own: tuple[str, ...] | None = None

    name: ClassVar[str] = "accelerated sweeps"
    plain: ClassVar[bool] = False
    _given = tuple[str, ...]()

    def __new__(cls, *values: Any, **settings: Any) -> AcceleratedSweeps:
        made = super().__new__(cls)
        given = {*list(cls.__dataclass_fields__)[: len(values)], *settings}
        made._given = tuple(name for name in LEVEL if name in given)
        return made

    def __post_init__(self, rigidity: float | None) -> None:
        super().__post_init__(rigidity)
        self.own = self._given if self.own is None else tuple(self.own)
        if self.accuracy is not None and self.accuracy not in LEVELS:
            raise ValueError(f"accuracy = {self.accuracy!r} is unknown; choose one of {', '.join(LEVELS)}")
        if not (is_number(self.reach) and self.reach > 0.0) and self.reach != math.inf:
            raise ValueError(f"reach = {self.reach!r} is no number of sweeps over L/d; give a positive one, 4 say")
        if not isinstance(self.order, Coloured | Symmetric):
            name = type(self.order).__name__
            raise ValueError(f"order {name} does not converge when extrapolated; choose 'coloured' or 'symmetric'")
        if self.associated and not self.order.coloured:
            raise ValueError("associated = True is known to sweeps by colours alone; take order = 'coloured'")
        if self.fallback is None:
            return
        if not is_number(self.fallback, whole=True) or self.fallback < 0:
            raise ValueError(f"fallback = {self.fallback!r} is no number of contacts; give one such as 2000, or 0")
        self.fallback = int(self.fallback)

    def solve(self, problem: ContactProblem, rng: Generator) -> SolveReport:
        if isinstance(self.criterion, RigidSweeps):
            raise ValueError("rigidity counts plain sweeps; give AcceleratedSweeps a MomentumCriterion, or use Sweeps")
        for name in ("associated", "fallback"):
            if getattr(self, name) and (self.sleep or not looks_at_state(self.criterion)):
                raise ValueError(f"{name} needs looks at the state; take a MomentumCriterion, and sleep = False")
        found = super().solve(problem, rng) if self.reach == math.inf else self._solve_within(problem, rng)
        return found if self.accuracy is None else replace(found, travel=contact_travel(problem))

    def _solve_within(self, problem: ContactProblem, rng: Generator) -> SolveReport:
        """Within the sweeps that L/d and heavy bodies allow; a step that needs more is carried over."""
        most = max(LEAST, math.ceil(self.reach * crossing(problem, burden(problem)))) if problem.count else LEAST
        found = super(AcceleratedSweeps, replace(self, max_sweeps=min(most, self.max_sweeps))).solve(problem, rng)
        if found.converged is not False or not math.isfinite(found.mean_force):
            return found
        return replace(found, converged=None, carried=True, why=f"carried over after {found.sweeps} sweeps")

    def for_step(self, last: SolveReport) -> AcceleratedSweeps:
        """With what the level of accuracy asks of grains that move, or are still."""
        if self.accuracy is None:
            return self
        level = LEVELS[self.accuracy].settings(still=is_still(last.travel))
        if "max_sweeps" in (own := self.own or ()):
            level["reach"] = math.inf
        return replace(self, **{name: value for name, value in level.items() if name not in own})

    def _pace(self, order: Order, problem: ContactProblem) -> Pace:
        assert isinstance(order, Coloured | Symmetric)
        most = self.fallback
        if most is None:
            looks = looks_at_state(self.criterion) and not self.sleep
            most = AFFORDABLE if looks and self.max_sweeps >= PATIENT else 0
        own = problem.extra is None and problem.count <= most and bool((problem.friction < math.inf).all())
        return Extrapolated(order, problem, associated=self.associated, fallback=own)


def crossing(problem: ContactProblem, heavy: float) -> float:
    """Sweeps that a load takes to cross a packing: L/d, and more under bodies that are heavier than it is wide.

    Extrapolated sweeps go by the root of the condition number, L/d times the mass on a contact over that of a grain
    (`mass_ratio.burden`), or L/d again where no body is heavy.
    """
    extent = extent_of(problem)
    return math.sqrt(extent * max(extent, heavy))


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
