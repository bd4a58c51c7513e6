"""How far forces are from a solution, contact by contact.

The forces and velocities of a problem must belong together, as a solver leaves them. At a solution all measures are
zero. They are local and fall early; the momentum error of virtual_power.py answers for the packing as a whole.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..contacts.problem import ContactProblem
from ..model.columns import M_N, V_X
from ..runtime.compiled import kernel
from ..runtime.threads import in_parts, total
from .kernels.factory import kernels_for
from .kernels.sums import strongest_force, total_force

Array = NDArray[np.float64]

ROUNDING = 64.0 * float(np.finfo(float).eps)  # of m v/dt: forces and misses that are no larger are none


def natural_map(problem: ContactProblem) -> Array:
    """(c,) N, |R - R'| of each contact: R' is what the shock law makes of the present R and V, Eq. (sphere-shock)."""
    miss, loop = np.empty(problem.count), kernels_for(problem).lacks
    what = *problem.arrays, problem.dt, miss
    in_parts(lambda first, last: loop(first, last, *what), problem.count)
    return miss


def residual(problem: ContactProblem) -> float:
    """The natural map over the forces, sqrt(sum |R - R'|^2)/sqrt(sum |R|^2), without unit.

    Without any force yet, the forces R' asked for take the place of R: 1 where a force is needed, 0 where none is. What
    rounding of the velocities asks for, of grains that fly side by side for instance, is none.
    Sums are in units of the strongest force, so that they neither overflow nor underflow; inf if one is not finite.
    """
    p, most = problem, strongest(problem)
    scale = most if 1e-290 < most < math.inf else 1.0
    what, loop = (*p.arrays, p.dt, 1.0 / scale), kernels_for(p).lack_squares
    miss, force = total(in_parts(lambda first, last: loop(first, last, *what), p.count))
    miss, force = scale * math.sqrt(miss), scale * math.sqrt(force)
    if not (math.isfinite(miss) and math.isfinite(force)):
        return math.inf
    if miss <= math.sqrt(p.count) * rounding(p):
        return 0.0
    return float(miss / force) if force > 0.0 else 1.0


def worst_contact(problem: ContactProblem) -> float:
    """The largest |R - R'| of any contact over |R| + <|R|>, without unit; inf if a force is not finite."""
    p = problem
    if p.count == 0:
        return 0.0
    mean = total_force(p.forces) / p.count
    part = 1.0 / mean if 1e-290 < mean < math.inf else 1.0  # in units of <|R|> squares do not overflow
    what, loop = (*p.arrays, p.dt, part, part * mean, part * rounding(p)), kernels_for(p).worst_lack
    worst = max(in_parts(lambda first, last: loop(first, last, *what), p.count))
    return worst if math.isfinite(worst) else math.inf


def missing_overlap(problem: ContactProblem) -> float:
    """m, mean of |R_n - R_n'| dt^2/m_n: by how much contacts overlap, or part, because their forces are not yet right.

    inf if a force is not finite.
    """
    p = problem
    if p.count == 0:
        return 0.0
    what, loop = (*p.arrays, p.dt), kernels_for(p).overlap_lack
    miss = float(total(in_parts(lambda first, last: loop(first, last, *what), p.count))) / p.count
    return miss if math.isfinite(miss) else math.inf


def rounding(problem: ContactProblem) -> float:
    """N, what rounding of the fastest velocity makes of the heaviest contact."""
    return ROUNDING * float(_impulse(problem.motion, problem.geometry)) / problem.dt


def strongest(problem: ContactProblem) -> float:
    """The largest component of any force (N); infinite if one is not finite."""
    return strongest_force(problem.forces)


@kernel
def _impulse(motion, geometry):
    """The largest component of any velocity or spin times the largest m_n; 0 where a velocity is not finite."""
    fastest, heaviest = 0.0, 0.0
    for i in range(len(motion)):
        for k in range(V_X, V_X + 6):
            fastest = max(fastest, abs(motion[i, k]))
    for c in range(len(geometry)):
        heaviest = max(heaviest, geometry[c, M_N])
    return fastest * heaviest if fastest < math.inf else 0.0
