"""Solve any FCLIB problem: by sweeps, by accelerated sweeps, or by the referee."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..solve.general import BlockRows
from ..solve.referee import GlobalSystem, LocalSystem, Verdict, referee
from .problem import GlobalProblem, Problem
from .sweeps import Progress, accelerated_sweeps, plain_sweeps, residuals

Array = NDArray[np.float64]

SOLVERS = ("auto", "accelerated", "sweeps", "referee")
MOST = {"auto": 2_000, "accelerated": 20_000, "sweeps": 20_000, "referee": 500}
REFEREE_SIZE = 5_000  # contacts up to which "auto" calls the referee
WARM_UP = 3_000  # sweeps that bring the referee near
GROWING = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)  # parts of friction, from a convex problem to the one that is asked


@dataclass(frozen=True)
class Solution:
    """The best point found, and whether it is a solution.

    r, u            : (d c,) impulses and velocities, in the frames of the contacts
    iterations      : sweeps, or steps of the referee (with "auto" both)
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
) -> Solution:
    """Find the impulses of a problem.

    solver         : "sweeps", "accelerated", "referee", or "auto": accelerated sweeps, then the referee if need be
    tolerance      : for both residuals of `Solution`
    max_iterations : sweeps, or steps of the referee
    start          : (d c,) impulses to start from; the referee sweeps from there first
    """
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
    found, used = _call(problem, rows, r, solver, tolerance, most)
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
    problem: Problem, rows: BlockRows, r: Array, solver: str, tolerance: float, most: int
) -> tuple[Progress, str]:
    """What was found, and by whom."""
    if rows.count == 0:
        return Progress(r, 0.0), solver
    if solver == "sweeps":
        return plain_sweeps(rows, r, tolerance, most), solver
    if solver == "referee":
        near = accelerated_sweeps(rows, r, tolerance, WARM_UP)
        return _referee(problem, rows, near.r, tolerance, most), solver
    found = accelerated_sweeps(rows, r, tolerance, most)
    if solver == "accelerated" or found.residual <= tolerance or rows.count > REFEREE_SIZE:
        return found, "accelerated"
    certified = _referee(problem, rows, found.r, tolerance, MOST["referee"])
    certified.sweeps += found.sweeps
    certified.history = found.history + [(found.sweeps + k, value) for k, value in certified.history]
    if certified.residual <= found.residual:
        return certified, "accelerated, then referee"
    found.reason = f"{found.reason}; referee: {certified.reason}"
    return found, "accelerated, then referee"


def _referee(problem: Problem, rows: BlockRows, start: Array, tolerance: float, most: int) -> Progress:
    """From impulses that are near; if that leads nowhere, from those of the same problem with less friction.

    Where friction is strong an interior point may end far from any solution, and sweeps circle. With growing friction
    the sweeps go from each answer to the next.
    """
    system: GlobalSystem | LocalSystem
    if isinstance(problem, GlobalProblem):
        system = GlobalSystem(problem.M, in_space(problem.H, problem.dimension))
    else:
        blocks = (rows.block.reshape(-1, 3, 3), rows.column, rows.start)
        system = LocalSystem(sparse.bsr_array(blocks, shape=2 * (3 * rows.count,)).tocsr())

    def certify(start: Array) -> Verdict:
        return referee(
            system, rows.q, rows.mu, problem.dimension, rows.own[:, 0],
            lambda r: max(residuals(rows, r)), start, tolerance=tolerance, max_iterations=most,
        )  # fmt: skip

    verdict = certify(start)
    patient = most >= MOST["referee"]  # who allows fewer steps wants an early answer
    if min(verdict.history) > tolerance and patient:
        r = np.zeros_like(start)
        for part in GROWING:
            r = accelerated_sweeps(replace(rows, mu=part * rows.mu), r, tolerance, WARM_UP).r
        again = certify(r)
        again.iterations += verdict.iterations
        again.history = verdict.history + again.history
        verdict = again if again.history[-1] <= verdict.history[-1] else verdict
    history = list(enumerate(verdict.history))
    return Progress(verdict.r, min(verdict.history), verdict.iterations, history, verdict.reason)


def in_space(H: sparse.csc_array, dimension: int) -> sparse.csc_array:
    """H with three columns per contact."""
    entries = sparse.coo_array(H)
    column = 3 * (entries.col // dimension) + entries.col % dimension
    return sparse.csc_array((entries.data, (entries.row, column)), shape=(H.shape[0], 3 * (H.shape[1] // dimension)))


def _check_mobility(rows: BlockRows) -> None:
    stuck = np.flatnonzero(~(rows.own[:, [0, 3, 5]] > 0.0).all(axis=1))
    if stuck.size:
        raise ValueError(f"contact {stuck[0]} has no mobility, W has {rows.own[stuck[0], 0]:g} there; leave it out")
