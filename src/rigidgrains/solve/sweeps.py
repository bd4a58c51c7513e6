"""The iterative solver: sweep over the contacts until a criterion is met."""

from __future__ import annotations

import copy
import math
from dataclasses import InitVar, dataclass, field, replace

import numpy as np
from numpy.random import Generator

from ..contacts import ContactProblem
from ..theory import Q
from .criteria import Criterion, FixedSweeps, LocalCriterion, RigidSweeps
from .kernels import apply_forces, total_force
from .orders import ORDERS, Order


@dataclass(frozen=True)
class SolveReport:
    """What a solver did in one step.

    updates    : contact updates, sweeps times candidates
    mean_force : <|R|> over all candidates (N)
    """

    sweeps: int
    updates: int
    converged: bool
    mean_force: float

    def after(self, earlier: SolveReport) -> SolveReport:
        """This solve, with the work of earlier attempts at the same step added."""
        return replace(self, sweeps=self.sweeps + earlier.sweeps, updates=self.updates + earlier.updates)


@dataclass
class Sweeps:
    """The paper's solver.

    order      : a name ("random", "random_sequential", "ordered", "random_blocks", "symmetric", "parallel") or an Order
    criterion  : LocalCriterion, GlobalCriterion, FixedSweeps or RigidSweeps
    max_sweeps : a step that needs more ends unconverged, and is counted as such
    gap        : "g_pos" or "g", the gap that the shock law closes
    rigidity   : in place of a criterion, the l_diff over L that each step is to reach, 2.0 for instance
    """

    order: str | Order = "random"
    criterion: Criterion = field(default_factory=LocalCriterion)
    max_sweeps: int = 5000
    gap: str = "g_pos"
    rigidity: InitVar[float | None] = None

    def __post_init__(self, rigidity: float | None) -> None:
        if rigidity is not None:
            self.criterion = RigidSweeps(rigidity)
        if isinstance(self.order, str):
            if self.order not in ORDERS:
                raise ValueError(f"order {self.order!r} is unknown; choose one of {', '.join(ORDERS)}")
            self.order = ORDERS[self.order]()
        if self.gap not in ("g_pos", "g"):
            raise ValueError(f"gap {self.gap!r} is unknown; choose 'g_pos' (overlaps stop growing) or 'g' (removed)")
        if self.max_sweeps < 1:
            raise ValueError(f"max_sweeps = {self.max_sweeps} finds no force; give at least 1")

    def solve(self, problem: ContactProblem, rng: Generator) -> SolveReport:
        """Find the forces, starting from those carried over; velocities in `problem.motion` follow."""
        order = copy.copy(self._order)  # a solver may serve several simulations at a time
        apply_forces(problem.motion, problem.pairs, problem.geometry, problem.forces, problem.dt)
        if problem.count == 0:
            return SolveReport(sweeps=0, updates=0, converged=True, mean_force=0.0)
        iterate = self._in_stages if isinstance(self.criterion, RigidSweeps) else self._until_settled
        sweeps, updates, converged = iterate(problem, order, rng)
        mean = total_force(problem.forces) / problem.count
        return SolveReport(sweeps, updates, converged and math.isfinite(mean), mean)

    def _until_settled(self, problem: ContactProblem, order: Order, rng: Generator) -> tuple[int, int, bool]:
        """Sweep over all contacts until the criterion is met; returns sweeps, updates and whether it was."""
        criterion, count = self.criterion, problem.count
        order.begin(problem)
        mean, unsettled, converged, sweeps = total_force(problem.forces) / count, count, False, 0
        most = criterion.sweeps if isinstance(criterion, FixedSweeps) else self.max_sweeps
        while sweeps < most and not converged:
            tolerance = criterion.tolerance(mean)
            previous = mean
            if tolerance is None:
                order.sweep(problem, rng)
            else:
                unsettled, total = order.checked_sweep(problem, rng, *tolerance)
                mean = total / count
            sweeps += 1
            converged = criterion.satisfied(sweeps, unsettled, mean, previous)
        return sweeps, sweeps * count, converged

    def _in_stages(self, problem: ContactProblem, order: Order, rng: Generator) -> tuple[int, int, bool]:
        """Sweep over ever fewer contacts: each drops out when its cluster has had the sweeps it needs."""
        assert isinstance(self.criterion, RigidSweeps)
        needed = self.criterion.sweeps_needed(problem, Q[type(order).__name__])
        allowed = np.minimum(needed, self.max_sweeps)
        done = updates = 0
        for stage in np.unique(allowed):
            among = np.flatnonzero(allowed >= stage).astype(np.int32)
            order.begin(problem, among)
            for _ in range(int(stage) - done):
                order.sweep(problem, rng)
            updates += (int(stage) - done) * len(among)
            done = int(stage)
        return done, updates, bool((needed <= self.max_sweeps).all())

    @property
    def _order(self) -> Order:
        assert isinstance(self.order, Order)
        return self.order
