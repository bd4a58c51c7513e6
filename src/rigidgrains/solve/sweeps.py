"""The iterative solver, nonlinear Gauss-Seidel: sweep over the contacts until a criterion is met."""

from __future__ import annotations

import math
from dataclasses import InitVar, dataclass, field
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from ..contacts.problem import ContactProblem
from ..runtime.arguments import is_number
from ..runtime.copies import altered
from ..theory import Q
from .aliases import FIGURES, with_earlier_names
from .criteria import (
    Criterion,
    FixedSweeps,
    LocalCriterion,
    RigidSweeps,
    StateCriterion,
    SweepCriterion,
    Verdict,
    check_criterion,
    looks_at_state,
)
from .kernels.factory import apply_forces
from .kernels.sums import total_force
from .mass_ratio import Carried, carries, doubtful
from .orders import ORDERS, Order
from .pace import Pace
from .passivity import Passive, make_passive
from .sleep import check_sleep, sweep_awake

LOOK = 4  # sweeps between looks at the state at least, half of it before the first; later an eighth of those made


@with_earlier_names({"referee": FIGURES["referee"]})
@dataclass(frozen=True)
class SolveReport:
    """What a solver did in one step.

    converged  : whether the criterion was met; None where a number of sweeps was given and nothing asked of the forces
    updates    : contact updates, sweeps times candidates, of all attempts at a step
    mean_force : <|R|> over all candidates (N)
    residual, momentum_error : as residual.py and virtual_power.py define them; NaN where no criterion asked
    restarts   : how often accelerated sweeps began anew
    fallback   : iterations of the second-order method, where sweeps did not do
    weakened   : the least factor by which forces were made weaker so that they give no energy, see passivity.py
    exhausted  : the step was solved again as often as may be, and what was found is still not what it should be
    why        : what ended the sweeps
    carried    : sweeps ended after as many as the accuracy allows; what is left is carried over to the next step
    travel, fastest : by how much contacts with a force move in the step, on average and at most, mean radii; inf where
                 nobody asked, see accuracy.py
    deepest    : the deepest overlap of any candidate at its beginning, mean radii
    still      : the step was asked what is asked of grains at rest
    removed, slack : part of overlaps that the step removes, and what it leaves alone (mean radii)
    asked_...  : what was allowed of the momentum error, the residual and any contact, or in place of these of the
                 momentum error as a share of the power of friction; and of overlaps (mean radii); inf where not asked
    """

    sweeps: int
    updates: int
    converged: bool | None
    mean_force: float
    residual: float = math.nan
    momentum_error: float = math.nan
    restarts: int = 0
    why: str = ""
    fallback: int = 0
    weakened: float = 1.0
    exhausted: bool = False
    carried: bool = False
    travel: float = math.inf
    fastest: float = math.inf
    removed: float = 0.0
    slack: float = 0.0
    deepest: float = 0.0
    still: bool = False
    asked_momentum: float = math.inf
    asked_power: float = math.inf
    asked_residual: float = math.inf
    asked_contact: float = math.inf
    asked_overlap: float = math.inf

    def after(self, earlier: SolveReport, *, given: bool = False) -> SolveReport:
        """This solve, with the work of earlier attempts at the same step added.

        given : a number of sweeps was, and all were made again, from where the first attempt began: they count once
        """
        return altered(
            self,
            sweeps=self.sweeps if given else self.sweeps + earlier.sweeps,
            updates=self.updates + earlier.updates,
            restarts=self.restarts + earlier.restarts,
            fallback=self.fallback + earlier.fallback,
        )


UNTOUCHED = SolveReport(sweeps=0, updates=0, converged=None, mean_force=0.0, why="no contacts")


@dataclass
class Sweeps:
    """The paper's solver.

    order      : a name ("random", "random_sequential", "ordered", "random_blocks", "symmetric", "coloured", "parallel")
                 or an Order
    criterion  : LocalCriterion, GlobalCriterion, FixedSweeps, RigidSweeps, ResidualCriterion or MomentumCriterion
    max_sweeps : a step that needs more ends unconverged, and is counted as such
    gap        : "g_pos" or "g", the gap that the shock law closes, or the part of an overlap that a step removes
    slack      : overlap, over the mean radius, that is left alone where overlaps are removed
    sleep      : leave out clusters at rest, see sleep.py
    rigidity   : in place of a criterion, the l_diff over L that each step is to reach, 2.0 for instance
    """

    order: str | Order = "random"
    criterion: Criterion = field(default_factory=LocalCriterion)
    max_sweeps: int = 5000
    gap: str | float = "g_pos"
    slack: float = 0.0
    sleep: bool = False
    rigidity: InitVar[float | None] = None

    unit: ClassVar[str] = "sweeps"  # what `SolveReport.sweeps` counts
    name: ClassVar[str] = "plain sweeps"  # in words
    plain: ClassVar[bool] = True  # whether forces diffuse as the chain theory says, see theory.py
    tables: ClassVar[int] = 1  # of forces and velocities, that a sweep goes through

    def __post_init__(self, rigidity: float | None) -> None:
        if rigidity is not None:
            self.criterion = RigidSweeps(rigidity)
        check_criterion(self.criterion)
        if isinstance(self.order, str) and self.order in ORDERS:
            self.order = ORDERS[self.order]()
        if not isinstance(self.order, Order):
            raise ValueError(f"order {self.order!r} is unknown; choose one of {', '.join(ORDERS)}, or give an Order")
        if self.gap not in ("g_pos", "g") if isinstance(self.gap, str) else not _within(self.gap, 1.0):
            raise ValueError(
                f"gap {self.gap!r} is unknown; choose 'g_pos' (overlaps stop growing), 'g' (removed), or the part "
                "that a step removes, between 0 and 1"
            )
        if not _within(self.slack, 1.0) or self.slack == 1.0:
            raise ValueError(f"slack = {self.slack!r} is no overlap to leave alone; give 0 to 1, over the mean radius")
        if not is_number(self.max_sweeps, whole=True) or self.max_sweeps < 1:
            raise ValueError(f"max_sweeps = {self.max_sweeps!r} finds no force; give a whole number of at least 1")

    @property
    def coloured(self) -> int:
        """Tables of forces that sweeps by colours go through; 0 where contact rows need not stand by colours."""
        return self.tables if isinstance(self.order, Order) and self.order.coloured else 0

    def solve(self, problem: ContactProblem, rng: Generator) -> SolveReport:
        """Find the forces, starting from those carried over; velocities in `problem.motion` follow."""
        criterion = self.criterion
        assert isinstance(self.order, Order)
        if problem.count == 0:
            return altered(UNTOUCHED, converged=self.outcome(True))
        pace = self._pace(altered(self.order), problem)  # a solver may serve several simulations at a time
        apply_forces(problem)
        doubt, weakened = doubtful(problem, criterion), 1.0
        if self.sleep:
            check_sleep(criterion)
            most = criterion.sweeps if isinstance(criterion, FixedSweeps) else self.max_sweeps
            sweeps, updates, verdict = sweep_awake(problem, pace, rng, criterion, most - pace.closing)
            if sweeps == 0:
                return _asleep(problem, verdict, self.outcome(True))
        elif looks_at_state(criterion):
            criterion = Carried(criterion) if doubt else criterion
            sweeps, verdict = self._until_met(problem, pace, rng, Passive(criterion))
        elif isinstance(criterion, RigidSweeps):
            sweeps, updates, verdict = self._in_stages(problem, pace, rng, criterion)
        elif isinstance(criterion, FixedSweeps):
            sweeps, verdict = _so_many(problem, pace, rng, criterion.sweeps)
        else:
            sweeps, verdict = self._until_settled(problem, pace, rng, criterion, doubt=doubt)
        if not (self.sleep or isinstance(criterion, RigidSweeps)):
            sweeps += pace.closing
            updates = sweeps * problem.count
        if pace.finish(problem, rng, converged=verdict.met) and looks_at_state(criterion):
            verdict = Passive(criterion).judge(problem)  # of what is handed back
        if doubt and verdict.met:
            verdict = carries(problem, verdict)
        if not verdict.met and (weakened := make_passive(problem)) < 1.0 and looks_at_state(criterion):
            verdict = criterion.judge(problem)._replace(met=False)
        mean = total_force(problem.forces) / problem.count
        converged = self.outcome(bool(verdict.met)) if math.isfinite(mean) else False
        why = {True: "criterion met", None: "sweeps as given"}.get(converged, f"not met by {sweeps} sweeps")
        if pace.fallback:
            why += f"{' by' if converged else ' and'} {pace.fallback} iterations of the second-order method"
        if not math.isfinite(mean):
            why = "the forces are not finite"
        if pace.trouble:
            why += f"; {pace.trouble}"
        if weakened < 1.0:
            why += f"; forces times {weakened:.3g} where they would have given energy"
        return altered(
            UNTOUCHED, sweeps=sweeps, updates=updates, converged=converged, mean_force=mean, residual=verdict.residual,
            momentum_error=verdict.momentum_error, restarts=pace.restarts, why=why, fallback=pace.fallback,
            weakened=weakened, travel=_or_inf(verdict.travel), fastest=_or_inf(verdict.fastest),
        )  # fmt: skip

    def for_step(self, last: SolveReport, part: float = 1.0) -> Sweeps:
        """The solver of a step, after what is known of the one before; part : see `accuracy.part_of_crossing`."""
        return self

    def outcome(self, met: bool) -> bool | None:
        """What may be said of a step: None where sweeps were only counted, and as many made as were to be."""
        given = isinstance(self.criterion, FixedSweeps) or (met and isinstance(self.criterion, RigidSweeps))
        return None if given else met

    def _pace(self, order: Order, problem: ContactProblem) -> Pace:
        """How sweeps are made."""
        return Pace(order)

    def _until_settled(
        self, problem: ContactProblem, pace: Pace, rng: Generator, criterion: SweepCriterion, *, doubt: bool
    ) -> tuple[int, Verdict]:
        """Sweep over all contacts until what a sweep changes is small; returns sweeps and whether it was.

        doubt : whether that alone does not do, see mass_ratio.py
        """
        count = problem.count
        pace.begin(problem)
        mean, unsettled, settled, sweeps, look = total_force(problem.forces) / count, count, False, 0, 0
        while sweeps < self.max_sweeps - pace.closing and not settled:
            tolerance = criterion.tolerance(mean)
            previous = mean
            if tolerance is None:
                sweeps += pace.sweep(problem, rng)
            else:
                made, unsettled, total = pace.checked_sweep(problem, rng, *tolerance)
                sweeps += made
                mean = total / count
            settled = criterion.satisfied(sweeps, unsettled, mean, previous)
            if settled and doubt:
                settled = sweeps >= look and carries(problem, Verdict(True)).met
                look = sweeps + max(LOOK, sweeps // 8) if sweeps >= look else look
        return sweeps, Verdict(settled)

    def _until_met(
        self, problem: ContactProblem, pace: Pace, rng: Generator, criterion: StateCriterion
    ) -> tuple[int, Verdict]:
        """Sweep over all contacts and look at the state now and then, and when changes are as small as they should be.

        What a criterion measures falls as changes do: the last look tells how small they have to be.
        """
        pace.begin(problem)
        pace.begin_looks(problem)
        most = self.max_sweeps - pace.closing
        patience = pace.plan(problem, most)
        sweeps, verdict = _look_now_and_then(problem, pace, rng, criterion, patience)
        if not verdict.met:
            made, verdict = pace.fall_back(problem, rng, criterion, verdict)
            sweeps += made
        if not verdict.met and sweeps < most and not pace.futile:
            made, verdict = _look_now_and_then(problem, pace, rng, criterion, most - sweeps)
            sweeps += made
        return sweeps, verdict

    def _in_stages(
        self, problem: ContactProblem, pace: Pace, rng: Generator, criterion: RigidSweeps
    ) -> tuple[int, int, Verdict]:
        """Sweep over ever fewer contacts: each drops out when its cluster has had the sweeps it needs."""
        needed = criterion.sweeps_needed(problem, Q[type(pace.order).__name__])
        allowed = np.minimum(needed, self.max_sweeps)
        done = updates = 0
        for stage in np.unique(allowed):
            among = np.flatnonzero(allowed >= stage).astype(np.int32)
            pace.begin(problem, among)
            for _ in range(int(stage) - done):
                pace.sweep(problem, rng)
            updates += (int(stage) - done) * len(among)
            done = int(stage)
        return done, updates, Verdict(bool((needed <= self.max_sweeps).all()))


def _look_now_and_then(
    problem: ContactProblem, pace: Pace, rng: Generator, criterion: StateCriterion, most: int
) -> tuple[int, Verdict]:
    """Sweep until a look finds the criterion met, or so many times; sweeps and the last verdict."""
    sweeps, soon, look, before, verdict = 0, LOOK // 2, LOOK // 2, math.nan, Verdict(False)
    while sweeps < most and not verdict.met:
        enough = before / verdict.excess if verdict.excess > 0.0 else math.nan
        sweeps += pace.sweeps(problem, rng, min(look, most) - sweeps, soon - sweeps, enough)
        verdict, before = criterion.judge(problem), pace.change
        eager = not verdict.met and pace.adapt(problem, verdict)
        soon = sweeps + max(LOOK, 2 * (sweeps // 64))
        look = soon if eager else sweeps + max(LOOK, 2 * (sweeps // (4 if pace.foresees else 16)))
    return sweeps, verdict


def _or_inf(number: float) -> float:
    return math.inf if math.isnan(number) else number


def _within(value: object, most: float) -> bool:
    """True for numbers from 0 to the most."""
    return is_number(value) and 0.0 <= value <= most  # type: ignore[operator]


def _asleep(problem: ContactProblem, verdict: Verdict, converged: bool | None) -> SolveReport:
    """What is reported of a step without sweeps."""
    mean = total_force(problem.forces) / problem.count
    return SolveReport(0, 0, converged, mean, verdict.residual, verdict.momentum_error, why="at rest")


def _so_many(problem: ContactProblem, pace: Pace, rng: Generator, number: int) -> tuple[int, Verdict]:
    """A fixed number of sweeps, those that close included."""
    pace.begin(problem)
    return pace.sweeps(problem, rng, number - pace.closing), Verdict(True)
