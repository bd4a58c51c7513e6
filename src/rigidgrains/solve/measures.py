"""A look at the state: all that criteria ask of forces and velocities, measured in one pass over the contacts.

Sums are in units of the strongest force, so that they neither overflow nor underflow.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..contacts.problem import ContactProblem
from ..runtime.threads import part_of, together, worth
from .kernels.factory import kernels_for, without_forces
from .kernels.measures import COLUMNS
from .load import cell_mass, face_load

Array = NDArray[np.float64]

ROUNDING = 64.0 * float(np.finfo(float).eps)  # of m v/dt: forces and misses that are no larger are none


class Measures(NamedTuple):
    """What a look finds; the functions of residual.py and virtual_power.py say what each is.

    residual, worst : without unit; overlap (m)
    lost, gained, slid : terms of the virtual power, over F^2 dt/M, F and M as in `virtual_power.momentum_error`
    travel : by how much contacts that carry a force move in the step, mean of |V| dt over the mean radius; inf if none
    fastest : the largest of them
    """

    residual: float
    worst: float
    overlap: float
    lost: float
    gained: float
    slid: float
    travel: float
    fastest: float

    @property
    def momentum_error(self) -> float:
        return max(self.lost, self.gained)


NOTHING = Measures(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, math.inf, math.inf)


def measure(problem: ContactProblem) -> Measures:
    """Look at all contacts of a problem, whose velocities belong to its forces."""
    p = problem
    if p.count == 0:
        return NOTHING
    free = without_forces(p) if p.free is None else p.free
    size, body_size = part_of(p.count, 1), part_of(len(p.motion), 1)
    parts = max(-(-p.count // size), -(-len(p.motion) // body_size))
    table, net = np.empty((parts, COLUMNS)), np.empty((len(p.motion) - len(p.position), 3))
    what = size, body_size, table, net, *p.arrays, p.dt, free, len(p.position), p.heaviest, ROUNDING
    most, least, part, missing, square, overlap, lost, gained, slid, speed, pressing, worst, fastest, pushed, held = (
        together(kernels_for(p).look_at_all, worth(p.count), *what)
    )
    way = p.dt / p.mean_radius
    motion = (speed / pressing * way, fastest * way) if pressing else (math.inf, math.inf)
    if not (math.isfinite(missing) and math.isfinite(square) and math.isfinite(most)):
        return Measures(math.inf, math.inf, math.inf, math.inf, math.inf, math.inf, *motion)
    residual = math.sqrt(missing / square) if square > 0.0 else 1.0
    if math.sqrt(missing) <= math.sqrt(p.count) * part * least:
        residual = 0.0
    overlap = overlap / p.count if math.isfinite(overlap) else math.inf
    if most <= least:
        return Measures(residual, worst, overlap, 0.0, 0.0, 0.0, *motion)
    load, mass = max(0.5 * (pushed + held), math.sqrt(square / p.count)), p.moved_mass
    if p.edges is not None:
        load, mass = max(load, part * face_load(p)), mass + cell_mass(p)
    flow = load * load * p.dt
    lost, gained, slid = lost / most * mass / flow, gained / most * mass / flow, slid / most * mass / flow
    if not math.isfinite(lost + gained + slid):
        lost, gained, slid = (term if math.isfinite(term) else math.inf for term in (lost, gained, slid))
    return Measures(residual, worst, overlap, lost, gained, slid, *motion)
