"""Solve any FCLIB problem: by sweeps, by accelerated sweeps, or by the second-order method."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..aliases import current
from .general import BlockRows
from .problem import GlobalProblem, Problem
from .second_order import GlobalSystem, LocalSystem, second_order
from .sweeps import Progress, accelerated_sweeps, plain_sweeps, residuals

Array = NDArray[np.float64]

SECOND_ORDER = "second-order"
SOLVERS = ("auto", "accelerated", "sweeps", SECOND_ORDER)
MOST = {"auto": 2_000, "accelerated": 20_000, "sweeps": 20_000, SECOND_ORDER: 1_000}
FACTORISED = 5_000  # contacts up to which "auto" calls the second-order method
GROWING = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)  # parts of friction, from a convex problem to the one that is asked
AT_EACH = 3_000  # sweeps for each of these parts


@dataclass(frozen=True)
class Solution:
    """The best point found, and whether it is a solution.

    r, u            : (d c,) impulses and velocities, in the frames of the contacts
    solver          : who found it; sweeps that came before the second-order method are named
    iterations      : sweeps, or steps of the second-order method, each with one factorisation (with "auto" both)
    residual        : |r - P(r - u')| over |q|, P the projection onto the friction cone, u' = u + mu |u_t| n
    scaled_residual : the same with r times the mean of W_nn; converged means that both are within the tolerance
    history         : (iterations, larger of both residuals)
    reason          : why it did not converge
    """

    solver: str
    contacts: int
    r: Array
    u: Array
    iterations: int
    seconds: float
    residual: float
    scaled_residual: float
    converged: bool
    reason: str
    history: list[tuple[int, float]]


def solve_problem(
    problem: Problem,
    *,
    solver: str = "auto",
    tolerance: float = 1e-8,
    max_iterations: int | None = None,
    start: Array | None = None,
    warm: int = 0,
) -> Solution:
    """Find the impulses of a problem.

    solver         : "sweeps", "accelerated", "second-order" (interior point and Newton steps, without a sweep), or
                     "auto": accelerated sweeps, then the second-order method if need be
    tolerance      : for both residuals of `Solution`
    max_iterations : sweeps, or steps of the second-order method
    start          : (d c,) impulses to start from
    warm           : accelerated sweeps that bring the second-order method near, at most
    """
    solver = current(solver)
    if warm < 0 or (warm and solver != SECOND_ORDER):
        raise ValueError(f"warm = {warm} is no number of sweeps before solver = {SECOND_ORDER!r}; leave it out")
    if solver not in SOLVERS:
        raise ValueError(f"solver {solver!r} is unknown; choose one of {', '.join(SOLVERS)}")
    if not tolerance > 0.0:
        raise ValueError(f"tolerance = {tolerance} is never reached; give a positive number")
    most = MOST[solver] if max_iterations is None else max_iterations
    if most < 1:
        raise ValueError(f"max_iterations = {most} finds no force; give at least 1")
    local, d = problem.local(), problem.dimension
    rows = BlockRows.of(local.W, local.q, local.mu, d)
    _check_mobility(rows)
    r = np.zeros((rows.count, 3))
    if start is not None:
        r[:, :d] = np.asarray(start, dtype=float).reshape(rows.count, d)
    if rows.count:
        rows.sweep(r.copy(), np.zeros(0, np.int32))  # compiled before the clock starts
        residuals(rows, r)
    began = time.perf_counter()
    found, used = _call(problem, rows, r, solver, tolerance, most, warm)
    seconds = time.perf_counter() - began
    plain, scaled = residuals(rows, found.r)
    converged = max(plain, scaled) <= tolerance
    return Solution(
        solver=used,
        contacts=rows.count,
        r=found.r[:, :d].ravel(),
        u=rows.velocity(found.r)[:, :d].ravel(),
        iterations=found.sweeps,
        seconds=seconds,
        residual=plain,
        scaled_residual=scaled,
        converged=converged,
        reason="" if converged else found.reason or "the tolerance is below rounding",
        history=found.history,
    )


def _call(
    problem: Problem, rows: BlockRows, r: Array, solver: str, tolerance: float, most: int, warm: int
) -> tuple[Progress, str]:
    """What was found, and by whom."""
    if rows.count == 0:
        return Progress(r, 0.0), solver
    if solver == "sweeps":
        return plain_sweeps(rows, r, tolerance, most), solver
    if solver == SECOND_ORDER and not warm:
        return _second_order(problem, rows, r, tolerance, most), solver
    if solver == SECOND_ORDER:
        near = accelerated_sweeps(rows, r, tolerance, warm)
        return _second_order(problem, rows, near.r, tolerance, most), f"{solver} after {near.sweeps} sweeps"
    found = accelerated_sweeps(rows, r, tolerance, most)
    if solver == "accelerated" or found.residual <= tolerance or rows.count > FACTORISED:
        return found, "accelerated"
    return _take_over(problem, rows, found, tolerance), f"accelerated, then {SECOND_ORDER}"


def _second_order(problem: Problem, rows: BlockRows, start: Array, tolerance: float, most: int) -> Progress:
    """Interior point and Newton steps; impulses to start from are tried as well if there are any."""
    system: GlobalSystem | LocalSystem
    if isinstance(problem, GlobalProblem):
        system = GlobalSystem(problem.M, in_space(problem.H, problem.dimension))
    else:
        blocks = (rows.block.reshape(-1, 3, 3), rows.column, rows.start)
        system = LocalSystem(sparse.bsr_array(blocks, shape=2 * (3 * rows.count,)).tocsr())
    verdict = second_order(
        system, rows.q, rows.mu, problem.dimension, rows.own[:, 0],
        lambda r: max(residuals(rows, r)), start, tolerance=tolerance, max_iterations=most,
    )  # fmt: skip
    return Progress(
        verdict.r, min(verdict.history), verdict.iterations, list(enumerate(verdict.history)), verdict.reason
    )


def _take_over(problem: Problem, rows: BlockRows, swept: Progress, tolerance: float) -> Progress:
    """The second-order method after sweeps; if that fails, from the answers to the same problem with growing friction.

    Where friction is strong an interior point may end far from any solution, and sweeps circle. With growing friction
    sweeps go from each answer to the next.
    """
    found = _joined(swept, _second_order(problem, rows, swept.r, tolerance, MOST[SECOND_ORDER]))
    if found.residual > tolerance:
        r, sweeps = np.zeros_like(swept.r), 0
        for part in GROWING:
            progress = accelerated_sweeps(replace(rows, mu=part * rows.mu), r, tolerance, AT_EACH)
            r, sweeps = progress.r, sweeps + progress.sweeps
        found.sweeps += sweeps
        found = _joined(found, _second_order(problem, rows, r, tolerance, MOST[SECOND_ORDER]))
    return found


def _joined(first: Progress, then: Progress) -> Progress:
    """The better of two, with the work of both."""
    better = then if then.residual <= first.residual else first
    history = first.history + [(first.sweeps + k, value) for k, value in then.history]
    return Progress(better.r, better.residual, first.sweeps + then.sweeps, history, then.reason)


def in_space(H: sparse.csc_array, dimension: int) -> sparse.csc_array:
    """H with three columns per contact."""
    entries = sparse.coo_array(H)
    column = 3 * (entries.col // dimension) + entries.col % dimension
    return sparse.csc_array((entries.data, (entries.row, column)), shape=(H.shape[0], 3 * (H.shape[1] // dimension)))


def _check_mobility(rows: BlockRows) -> None:
    stuck = np.flatnonzero(~(rows.own[:, [0, 3, 5]] > 0.0).all(axis=1))
    if stuck.size:
        raise ValueError(f"contact {stuck[0]} has no mobility, W has {rows.own[stuck[0], 0]:g} there; leave it out")
