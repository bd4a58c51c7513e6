"""Over-relaxed sweeps (SOR): each contact goes a little further than the shock law asks. For cheap, soft steps."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from numpy.random import Generator

from ..contacts.problem import ContactProblem
from ..model.columns import M_R
from ..runtime.memory import copy_rows
from .criteria import RigidSweeps
from .orders import Index, Order
from .pace import Pace
from .sweeps import SolveReport, Sweeps


@dataclass
class RelaxedSweeps(Sweeps):
    """Sweeps with omega times the change of the sticking force; the last sweep is a plain one.

    omega : more than 1 and less than 2; 1.4 leaves the least overlap in settling runs, 1.8 stalls
    """

    omega: float = 1.4

    name: ClassVar[str] = "relaxed sweeps"
    plain: ClassVar[bool] = False

    def __post_init__(self, rigidity: float | None) -> None:
        super().__post_init__(rigidity)
        if not 1.0 <= self.omega < 2.0:
            raise ValueError(f"omega = {self.omega} does not converge; give at least 1 and less than 2, such as 1.4")

    def solve(self, problem: ContactProblem, rng: Generator) -> SolveReport:
        if isinstance(self.criterion, RigidSweeps):
            raise ValueError("rigidity counts plain sweeps; give RelaxedSweeps another criterion, or use Sweeps")
        return super().solve(problem, rng)

    def _pace(self, order: Order, problem: ContactProblem) -> Pace:
        return Relaxation(order, self.omega)


class Relaxation(Pace):
    """R - omega (m/dt)(g/dt + V) in place of R - (m/dt)(g/dt + V): the law with omega times the masses."""

    closing = 1

    def __init__(self, order: Order, omega: float) -> None:
        super().__init__(order)
        self._omega = omega

    def begin(self, problem: ContactProblem, among: Index | None = None) -> None:
        super().begin(problem, among)
        geometry = problem.work.take("relaxed", *problem.geometry.shape)
        copy_rows(problem.geometry, geometry)
        for mass in (4, 5):
            geometry[:, mass] *= self._omega
        extra = None if problem.extra is None else problem.extra.copy()
        if extra is not None:
            extra[:, M_R] *= self._omega
        self._relaxed = replace(problem, geometry=geometry, extra=extra)

    def sweep(self, problem: ContactProblem, rng: Generator) -> int:
        return super().sweep(self._relaxed, rng)

    def sweeps(
        self, problem: ContactProblem, rng: Generator, number: int, soon: int = 0, enough: float = -math.inf
    ) -> int:
        return super().sweeps(self._relaxed, rng, number)

    def checked_sweep(
        self, problem: ContactProblem, rng: Generator, epsilon: float, delta: float
    ) -> tuple[int, int, float]:
        return super().checked_sweep(self._relaxed, rng, epsilon, delta)

    def finish(self, problem: ContactProblem, rng: Generator, *, converged: bool) -> bool:
        self.order.sweep(problem, rng)
        return True
