"""How far forces are from a solution, contact by contact.

The forces and velocities of a problem must belong together, as a solver leaves them. At a solution all measures are
zero. They are local and fall early; the momentum error of virtual_power.py answers for the packing as a whole.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..contacts.problem import ContactProblem
from ..runtime.threads import spread
from .kernels.factory import kernels_for
from .measures import measure

Array = NDArray[np.float64]


def natural_map(problem: ContactProblem) -> Array:
    """(c,) N, |R - R'| of each contact: R' is what the shock law makes of the present R and V, Eq. (sphere-shock)."""
    miss, loop = np.empty(problem.count), kernels_for(problem).lacks
    what = *problem.arrays, problem.dt, miss
    spread(loop, problem.count, *what)
    return miss


def residual(problem: ContactProblem) -> float:
    """The natural map over the forces, sqrt(sum |R - R'|^2)/sqrt(sum |R|^2), without unit.

    Without any force yet, the forces R' asked for take the place of R: 1 where a force is needed, 0 where none is. What
    rounding of the velocities asks for, of grains that fly side by side for instance, is none. inf where not finite.
    """
    return measure(problem).residual


def worst_contact(problem: ContactProblem) -> float:
    """The largest |R - R'| of any contact over |R| + <|R|>, without unit; inf if a force is not finite."""
    return measure(problem).worst


def missing_overlap(problem: ContactProblem) -> float:
    """m, mean of |R_n - R_n'| dt^2/m_n: by how much contacts overlap, or part, because their forces are not yet right.

    inf if a force is not finite.
    """
    return measure(problem).overlap
