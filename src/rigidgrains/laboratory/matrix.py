"""Solvers on a problem given by matrices, as in FCLIB's files."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..fclib import GlobalProblem, LocalProblem, solve_problem
from ..solve.matrix.general import BlockRows
from ..solve.matrix.solve import FACTORISED
from ..solve.matrix.sweeps import accelerated_sweeps, plain_sweeps, residuals
from .case import MET, SECOND_ORDER, Log, Trial
from .recheck import check_matrix

Array = NDArray[np.float64]

SWEEPING = ("random", "symmetric", "accelerated")
KNOWN = (*SWEEPING, SECOND_ORDER)


@dataclass
class MatrixCase:
    """A local or global problem.

    start : (d c,) impulses from which all solvers start; None for zero
    """

    name: str
    problem: LocalProblem | GlobalProblem
    about: str = ""
    start: Array | None = None

    def __post_init__(self) -> None:
        local = self.problem.local()
        self._rows = BlockRows.of(local.W, local.q, local.mu, local.dimension)
        stuck = np.flatnonzero(~(self._rows.own[:, [0, 3, 5]] > 0.0).all(axis=1))
        if stuck.size:
            raise ValueError(f"{self.name}: contact {stuck[0]} has no mobility in W; leave it out")

    @property
    def count(self) -> int:
        return self.problem.count

    @property
    def names(self) -> tuple[str, ...]:
        return KNOWN

    @property
    def default(self) -> tuple[str, ...]:
        return KNOWN if self.count <= FACTORISED else SWEEPING

    def try_solver(self, name: str, *, tolerance: float, max_sweeps: int, seed: int) -> Trial:
        if name == SECOND_ORDER:
            return self._second_order(tolerance)
        begin = np.zeros((self.count, 3))
        if self.start is not None:
            begin[:, : self.problem.dimension] = self.start.reshape(self.count, -1)
        self._rows.sweep(begin.copy(), np.zeros(0, np.int32))  # compiled before the clock starts
        residuals(self._rows, begin)
        log = Log(self.count)
        rows = WatchedRows(self._rows, log)
        if name == "random":
            r, why = random_sweeps(rows, begin, tolerance, max_sweeps, np.random.default_rng(seed))
        elif name == "symmetric":
            progress = plain_sweeps(rows, begin, tolerance, max_sweeps)
            r, why = progress.r, progress.reason or MET
        else:
            progress = accelerated_sweeps(rows, begin, tolerance, max_sweeps, seed)
            r, why = progress.r, progress.reason or MET
        rows.look(r)
        return self._judged(log, name, r[:, : self.problem.dimension].ravel(), tolerance, why)

    def _second_order(self, tolerance: float) -> Trial:
        """One look, at the end: a step of the second-order method has no contact updates."""
        solve_problem(self.problem, solver="sweeps", max_iterations=1)  # compiled before the clock starts
        log = Log(self.count)
        found = solve_problem(self.problem, solver=SECOND_ORDER, tolerance=tolerance, start=self.start)
        log.sweeps = found.iterations
        r = np.zeros((self.count, 3))
        r[:, : self.problem.dimension] = found.r.reshape(self.count, -1)
        log.look(lambda: measure(self._rows, r), counted=False)
        return self._judged(log, SECOND_ORDER, found.r, tolerance, found.reason or MET)

    def _judged(self, log: Log, name: str, r: Array, tolerance: float, why: str) -> Trial:
        return log.trial(name, r, checked=check_matrix(self.problem, r), tolerance=tolerance, why=why)


class WatchedRows(BlockRows):
    """The same rows, with sweeps counted and looks taken in between; measuring does not count as the solver's time."""

    def __init__(self, rows: BlockRows, log: Log) -> None:
        super().__init__(**vars(rows))
        self._plain, self._log = rows, log

    def sweep(self, r: Array, sequence: NDArray[np.int32]) -> None:
        super().sweep(r, sequence)
        self._log.sweeps += 1
        if self._log.due:
            self.look(r)

    def velocity(self, r: Array) -> Array:
        with self._log.paused():
            return super().velocity(r)

    def look(self, r: Array) -> None:
        self._log.look(lambda: measure(self._plain, r))


def random_sweeps(
    rows: WatchedRows, start: Array, tolerance: float, most: int, rng: np.random.Generator
) -> tuple[Array, str]:
    """The paper's reference: a fresh permutation each sweep. Returns the impulses and what ended the sweeps."""
    r, sequence, log = start.copy(), np.arange(rows.count, dtype=np.int32), rows._log
    while log.sweeps < most:
        rng.shuffle(sequence)
        rows.sweep(r, sequence)
        if log.curve and log.curve[-1].sweeps == log.sweeps and log.curve[-1].residual <= tolerance:
            return r, MET
    return r, f"not within {most} sweeps"


def measure(rows: BlockRows, r: Array) -> tuple[float, float]:
    """FCLIB's residual, the larger of both kinds, and the momentum error."""
    return max(residuals(rows, r)), momentum_error(rows, r)


def momentum_error(rows: BlockRows, r: Array) -> float:
    """S over |q|^2/w, w the mean of W_nn: the virtual work of the impulses over that of free motion.

    S = sum of r_n u_n + mu r_n |u_t| + r_t . u_t. As for steps, the larger of the sums with one sign counts.
    """
    u = rows.velocity(r)
    r_n, r_t, u_n, u_t = r[:, 0], r[:, 1:], u[:, 0], u[:, 1:]  # in the frame of each contact
    sliding = rows.mu * r_n * np.linalg.norm(u_t, axis=1) + (r_t * u_t).sum(axis=1)
    terms = np.concatenate([r_n * u_n, sliding])
    work = max(float(terms[terms > 0.0].sum()), -float(terms[terms < 0.0].sum()))
    free = float((rows.q**2).sum()) / float(rows.own[:, 0].mean())
    return work / free if free > 0.0 else work
