"""The second-order method as the method of a simulation: interior point and Newton steps in place of sweeps."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.random import Generator

from ..contacts.problem import ContactProblem
from ..model.columns import INV_MASS
from ..runtime.arguments import is_number
from .criteria import Criterion, FixedSweeps, MomentumCriterion, looks_at_state
from .kernels.sums import total_force
from .orders import Order
from .passivity import Passive, make_passive
from .residual import residual
from .sweeps import SolveReport, Sweeps
from .virtual_power import momentum_error

if TYPE_CHECKING:
    from ..model.bodies import Bodies

REMEDY = "take method = 'accelerated'"


@dataclass
class SecondOrder(Sweeps):
    """Friction without a sweep, see referee.py; the forces carried over are where it looks first.

    criterion  : one that looks at the state, MomentumCriterion for instance
    max_sweeps : iterations, each of which factorises a matrix; a step that needs more ends unconverged
    warm       : sweeps that bring it near, forward and backward in turn; 0 for none, as a check of sweeps needs
    max_grains : more are refused: the factors of their matrices take too much time and memory
    """

    order: str | Order = "symmetric"
    criterion: Criterion = field(default_factory=MomentumCriterion)
    max_sweeps: int = 1000
    warm: int = 0
    max_grains: int = 5000

    unit: ClassVar[str] = "iterations of the second-order method"
    name: ClassVar[str] = "the second-order method"
    plain: ClassVar[bool] = False

    def __post_init__(self, rigidity: float | None) -> None:
        super().__post_init__(rigidity)
        if self.sleep or not looks_at_state(self.criterion):
            raise ValueError(
                "SecondOrder makes no sweeps that could be watched; take a criterion that looks at the state, "
                "MomentumCriterion() for instance, and sleep = False"
            )
        for name in ("warm", "max_grains"):
            value = getattr(self, name)
            if not is_number(value, whole=True) or value < 0:
                raise ValueError(f"{name} = {value!r} is no number of them; give a whole number of at least 0")

    def check(self, bodies: Bodies) -> None:
        """Raise ValueError for what this method does not know, before the first step."""
        for law in bodies.laws:
            if law.extended:
                raise ValueError(
                    f"the second-order method knows no torques at contacts, as {type(law).__name__} has them; {REMEDY}"
                )
        if np.isinf(bodies.friction).any():
            raise ValueError(f"the second-order method knows no friction = inf; give a number such as 10, or {REMEDY}")
        if bodies.count > self.max_grains:
            raise ValueError(
                f"the second-order method factorises matrices, and {bodies.count:,} grains are more than max_grains = "
                f"{self.max_grains:,}; {REMEDY}, or raise it: SecondOrder(max_grains={bodies.count})"
            )

    def solve(self, problem: ContactProblem, rng: Generator) -> SolveReport:
        """Find the forces; velocities in `problem.motion` follow."""
        from .fallback import appeal  # brings what few need: sparse matrices, FCLIB

        if problem.extra is not None or not (problem.friction < math.inf).all():
            raise ValueError(f"the second-order method knows forces and finite friction alone; {REMEDY}")
        if problem.count == 0:
            return SolveReport(sweeps=0, updates=0, converged=True, mean_force=0.0, why="no contacts")
        assert looks_at_state(self.criterion)
        free = problem.motion[:, :INV_MASS].copy()
        if self.warm:
            Sweeps(order=self.order, criterion=FixedSweeps(self.warm)).solve(problem, rng)
        verdict, iterations = appeal(problem, Passive(self.criterion), free, most=self.max_sweeps)
        mean, weakened = total_force(problem.forces) / problem.count, 1.0
        converged = verdict.met and math.isfinite(mean)
        if not converged and (weakened := make_passive(problem)) < 1.0:
            mean = total_force(problem.forces) / problem.count
        why = f"criterion {'met' if converged else 'not met'} by {iterations} iterations of the second-order method"
        if self.warm:
            why += f" after {self.warm} sweeps"
        return SolveReport(
            iterations, self.warm * problem.count, converged, mean, residual(problem), momentum_error(problem), why=why,
            weakened=weakened,
        )  # fmt: skip
