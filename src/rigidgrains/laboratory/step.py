"""Solvers on the contact problem of one step."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .. import fclib
from ..contacts.problem import ContactProblem
from ..solve.accelerated import AcceleratedSweeps
from ..solve.criteria import Verdict
from ..solve.kernels.factory import apply_forces
from ..solve.orders import ORDERS, Order
from ..solve.pace import Pace
from ..solve.residual import residual
from ..solve.sweeps import LOOK, SolveReport, Sweeps
from ..solve.virtual_power import momentum_error
from .case import MET, SECOND_ORDER, Array, Log, Trial
from .recheck import check_step

USUAL = ("random", "symmetric", "coloured", "accelerated")
STRICTER = 0.01  # FCLIB's residual that the second-order method is asked for, over the tolerance


def known_solvers() -> dict[str, Sweeps]:
    """By name: every order with plain sweeps, and what goes beyond them."""
    return {name: Sweeps(order=name) for name in ORDERS} | {
        "accelerated": AcceleratedSweeps(),
        "associated": AcceleratedSweeps(associated=True),
    }


@dataclass
class StepCase:
    """The problem of a step as it stood before the solve.

    problem : with free velocities, and in `forces` those from which all solvers start
    solvers : by name; add your own, its criterion does not matter here
    """

    name: str
    problem: ContactProblem
    about: str = ""
    solvers: dict[str, Sweeps] = field(default_factory=known_solvers)

    def __post_init__(self) -> None:
        if self.problem.extra is not None:
            raise ValueError(
                f"{self.name}: contacts with rolling, twisting or tangential rebound have torques, which the second"
                " look of the laboratory does not know; leave these laws out"
            )

    @property
    def count(self) -> int:
        return self.problem.count

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.solvers, SECOND_ORDER)

    @property
    def default(self) -> tuple[str, ...]:
        return USUAL

    def try_solver(self, name: str, *, tolerance: float, max_sweeps: int, seed: int) -> Trial:
        if name == SECOND_ORDER:
            return self._second_order(tolerance)
        self._watched(name, tolerance, LOOK, seed)  # compiled before the clock starts
        log, forces, report = self._watched(name, tolerance, max_sweeps, seed)
        checked = check_step(self.problem, forces)
        return log.trial(name, forces, checked=checked, tolerance=tolerance, why=report.why, restarts=report.restarts)

    def _watched(self, name: str, tolerance: float, most: int, seed: int) -> tuple[Log, Array, SolveReport]:
        """The looks at a solver, the forces it found and its report."""
        problem, watch = self.problem.copy(), Watch(tolerance, self.count)
        solver = replace(self.solvers[name], criterion=watch, max_sweeps=most)
        pace = solver._pace

        def counted(order: Order, problem: ContactProblem) -> Pace:
            return watch.follow(pace(order, problem))

        solver._pace = counted  # type: ignore[method-assign]
        report = solver.solve(problem, np.random.default_rng(seed))
        return watch.log, problem.forces, report

    def _second_order(self, tolerance: float) -> Trial:
        """One look, at the end: a step of the second-order method has no contact updates."""
        problem = self.problem.copy()
        stated = fclib.global_problem(problem)
        start = fclib.impulses(problem, stated.dimension).ravel()
        asked = max(STRICTER * tolerance, 1e-13)
        fclib.solve_problem(stated, solver="sweeps", max_iterations=1)  # compiled before the clock starts
        log = Log(self.count)
        found = fclib.solve_problem(stated, solver=SECOND_ORDER, tolerance=asked, start=start)
        problem.forces[:] = fclib.forces(problem, found.r, stated.dimension)
        apply_forces(problem)
        log.sweeps = found.iterations
        log.look(lambda: (residual(problem), momentum_error(problem)), counted=False)
        why, checked = found.reason or MET, check_step(self.problem, problem.forces)
        return log.trial(SECOND_ORDER, problem.forces, checked=checked, tolerance=tolerance, why=why)


class Watch:
    """A criterion that asks for a residual, and keeps what it has seen."""

    def __init__(self, tolerance: float, contacts: int) -> None:
        self.log = Log(contacts)
        self._tolerance = tolerance

    def judge(self, problem: ContactProblem) -> Verdict:
        local, whole = self.log.look(lambda: (residual(problem), momentum_error(problem)))
        return Verdict(local <= self._tolerance, local, whole, excess=local / self._tolerance)

    def follow(self, pace: Pace) -> Pace:
        """The same pace, with its sweeps counted."""
        sweeps, finish = pace.sweeps, pace.finish

        def counted(problem: ContactProblem, rng: np.random.Generator, *how: Any) -> int:
            made = sweeps(problem, rng, *how)
            self.log.sweeps += made
            return made

        def closed(problem: ContactProblem, rng: np.random.Generator, *, converged: bool) -> bool:
            self.log.sweeps += pace.closing
            return finish(problem, rng, converged=converged)

        pace.sweeps, pace.finish = counted, closed  # type: ignore[method-assign, assignment]
        return pace
