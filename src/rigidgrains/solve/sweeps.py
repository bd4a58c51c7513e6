"""The iterative solver: sweep over the contacts until a criterion is met."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from numpy.random import Generator

from ..contacts import ContactProblem
from .criteria import Criterion, FixedSweeps, LocalCriterion
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


@dataclass
class Sweeps:
    """The paper's solver.

    order      : a name ("random", "random_sequential", "ordered", "random_blocks", "symmetric", "parallel") or an Order
    criterion  : LocalCriterion, GlobalCriterion or FixedSweeps
    max_sweeps : a step that needs more ends unconverged, and is counted as such
    gap        : "g_pos" or "g", the gap that the shock law closes
    """

    order: str | Order = "random"
    criterion: Criterion = field(default_factory=LocalCriterion)
    max_sweeps: int = 5000
    gap: str = "g_pos"

    def __post_init__(self) -> None:
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
        order, criterion, count = self.order, self.criterion, problem.count
        assert isinstance(order, Order)
        apply_forces(problem.motion, problem.pairs, problem.geometry, problem.forces, problem.dt)
        if count == 0:
            return SolveReport(sweeps=0, updates=0, converged=True, mean_force=0.0)
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
        mean = total_force(problem.forces) / count
        converged = converged and math.isfinite(mean)
        return SolveReport(sweeps=sweeps, updates=sweeps * count, converged=converged, mean_force=mean)
