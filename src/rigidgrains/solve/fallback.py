"""Fallback: a step that no sweep solves goes to the second-order method.

Where contacts slide, a solution may repel sweeps: they circle it for ever, extrapolated or plain. Newton's method
does not mind. Heavy bodies on light ones take more sweeps than there are, and may need a path, see path.py.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..contacts.problem import ContactProblem
from ..model.columns import INV_MASS
from .criteria import StateCriterion, Verdict
from .kernels.factory import apply_forces
from .matrix.general import natural_map
from .matrix.second_order import Array, GlobalSystem, second_order
from .matrix.solve import in_space
from .matrix.step import forces, global_problem, impulses

MOST = 1000  # iterations
TOLERANCES = 1e-6, 1e-10  # natural map over |q|; the second for criteria that are not met by the first


def solve_by_second_order(
    problem: ContactProblem, criterion: StateCriterion, free: Array, most: int = MOST
) -> tuple[Verdict, int]:
    """Find forces by interior point and Newton steps, from those of the problem; the verdict on them, and iterations.

    free : (bodies, 6) velocities without contact forces
    """
    problem.motion[:, :INV_MASS] = free
    stated = global_problem(problem)
    d, inverse = stated.dimension, 1.0 / stated.M.diagonal()
    system, moved = GlobalSystem(stated.M, in_space(stated.H, d)), sparse.diags_array(inverse) @ stated.H
    mobility = np.asarray(moved.multiply(stated.H).sum(axis=0)).ravel()[::d]  # of W, which is dense in a moved cell
    q, r = np.zeros((problem.count, 3)), np.zeros((problem.count, 3))
    q[:, :d] = (stated.H.T @ (inverse * stated.f) + stated.w).reshape(-1, d)
    r[:, :d] = impulses(problem, d)
    if not np.isfinite(r).all():
        r[:] = 0.0
    unit, size = float(mobility.mean()), float(np.linalg.norm(q)) or 1.0

    def residual(r: Array) -> float:
        return float(natural_map(r, system.times(r) + q, stated.mu, unit)) / size

    def judge(r: Array) -> Verdict:
        problem.forces[:], problem.motion[:, :INV_MASS] = forces(problem, r[:, :d], d), free
        apply_forces(problem)
        return criterion.judge(problem)

    verdict, steps = Verdict(False), 0
    for tolerance in TOLERANCES:
        if steps and steps >= most:
            break
        left = most - steps
        found = second_order(
            system, q, stated.mu, d, mobility, residual, r, tolerance=tolerance, max_iterations=left,
            enough=lambda r: judge(r).met,
        )  # fmt: skip
        r, steps = found.r, steps + max(1, found.iterations)
        verdict = judge(r)
        if verdict.met or found.reason:
            break
    return verdict, steps
