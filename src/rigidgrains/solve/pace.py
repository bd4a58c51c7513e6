"""Paces: how a solver makes its sweeps. The plain pace is one sweep after another; other solvers bring their own."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ..contacts.problem import ContactProblem
from .criteria import StateCriterion, Verdict
from .orders import Index, Order

Array = NDArray[np.float64]


class Pace:
    """Plain sweeps in an order, for one solve.

    closing  : sweeps that `finish` will make
    restarts : how often the pace began anew
    change   : by how much the last sweep has changed forces, in whatever measure falls with the error; NaN if unknown
    foresees : whether `change` tells when a look will find a criterion met; then looks are rarer
    trouble  : what went wrong, if anything
    fallback : iterations of the second-order method
    futile   : whether no number of sweeps that may be made could do, and what is left is to `fall_back`
    """

    closing = 0
    restarts = 0
    change = math.nan
    foresees = False
    trouble = ""
    fallback = 0
    futile = False

    def __init__(self, order: Order) -> None:
        self.order = order

    def begin(self, problem: ContactProblem, among: Index | None = None) -> None:
        """Prepare for the sweeps of one step over all contacts, or over some of them."""
        self.order.begin(problem, among)

    def sweep(self, problem: ContactProblem, rng: Generator) -> int:
        """Sweep; returns how often."""
        self.order.sweep(problem, rng)
        return 1

    def sweeps(
        self, problem: ContactProblem, rng: Generator, number: int, soon: int = 0, enough: float = -math.inf
    ) -> int:
        """So many sweeps; returns how many.

        soon, enough : fewer, but at least `soon`, where `change` is known and comes down to `enough`
        """
        self.order.sweeps(problem, rng, number)
        return number

    def checked_sweep(
        self, problem: ContactProblem, rng: Generator, epsilon: float, delta: float
    ) -> tuple[int, int, float]:
        """Sweep; returns how often, the number of contacts with |dR| > epsilon |R| + delta, and the sum of |R|."""
        return 1, *self.order.checked_sweep(problem, rng, epsilon, delta)

    def add_velocity(self, change: Array) -> None:
        """Take note of a change (bodies, 6) of velocities that someone else has made in the problem."""

    def begin_looks(self, problem: ContactProblem) -> None:
        """Prepare for looks at the state, each of which is followed by `adapt`."""

    def adapt(self, problem: ContactProblem, verdict: Verdict) -> bool:
        """Adapt to a look that has found that sweeps must go on; returns whether the next one had better be soon."""
        return False

    def plan(self, problem: ContactProblem, most: int) -> int:
        """Plan a step of so many sweeps at most; returns after how many to `fall_back` if they do not do."""
        return most

    def fall_back(
        self, problem: ContactProblem, rng: Generator, criterion: StateCriterion, verdict: Verdict
    ) -> tuple[int, Verdict]:
        """Try what else there is; sweeps made, and the verdict on what is found."""
        return 0, verdict

    def finish(self, problem: ContactProblem, rng: Generator, *, converged: bool) -> bool:
        """Bring forces and velocities into the state that is handed back; returns whether anything was left to do."""
        return False
