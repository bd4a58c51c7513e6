"""A look at the state: all that criteria ask of forces and velocities, measured in one pass over the contacts.

Sums are in units of the strongest force, so that they neither overflow nor underflow.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..contacts.problem import ContactProblem
from ..model.columns import INV_MASS, N_X, N_Y, N_Z, R_N, R_X, R_Y, R_Z, S_X, S_Y, S_Z, V_X, V_Y, V_Z, X, Y, Z
from ..runtime.compiled import kernel
from ..runtime.threads import in_parts, total
from .kernels.factory import kernels_for, without_forces
from .kernels.sums import strength
from .load import cell_mass, face_load

Array = NDArray[np.float64]

ROUNDING = 64.0 * float(np.finfo(float).eps)  # of m v/dt: forces and misses that are no larger are none


class Measures(NamedTuple):
    """What a look finds; the functions of residual.py and virtual_power.py say what each is.

    residual, worst : without unit; overlap (m)
    lost, gained, slid : terms of the virtual power, over F^2 dt/M
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
    most, all_forces = strength(p.forces)
    least = ROUNDING * p.heaviest * _fastest(p.motion) / p.dt
    part = 1.0 / most if 1e-290 < most < math.inf else 1.0
    what = *p.arrays, p.dt, part, part * all_forces / p.count, part * least
    loop = kernels_for(p).look
    found = in_parts(lambda first, last: loop(first, last, *what), p.count)
    missing, square, overlap, lost, gained, slid, speed, pressing = total([sums[:8] for sums in found])
    way = p.dt / p.mean_radius
    motion = (speed / pressing * way, max(sums[9] for sums in found) * way) if pressing else (math.inf, math.inf)
    if not (math.isfinite(missing) and math.isfinite(square) and math.isfinite(most)):
        return Measures(math.inf, math.inf, math.inf, math.inf, math.inf, math.inf, *motion)
    residual = math.sqrt(missing / square) if square > 0.0 else 1.0
    if math.sqrt(missing) <= math.sqrt(p.count) * part * least:
        residual = 0.0
    overlap = overlap / p.count if math.isfinite(overlap) else math.inf
    worst = max(sums[8] for sums in found)
    if most <= least:
        return Measures(residual, worst, overlap, 0.0, 0.0, 0.0, *motion)
    load, mass = load_on(p, part, math.sqrt(square / p.count))
    lost, gained, slid = (_finite(term / most * mass / (load * load * p.dt)) for term in (lost, gained, slid))
    return Measures(residual, worst, overlap, lost, gained, slid, *motion)


def load_on(problem: ContactProblem, part: float, least: float) -> tuple[float, float]:
    """F, times `part`, and M of `virtual_power.momentum_error`; F is at least so large."""
    p, n = problem, len(problem.position)
    free = without_forces(p) if p.free is None else p.free
    pushed = float(total(in_parts(lambda first, last: _pushed(first, last, p.motion, free, part / p.dt), len(free))))
    held = np.zeros((len(p.motion) - n, 3))
    load = max(0.5 * (pushed + float(_held(p.pairs, p.geometry, p.forces, p.motion, n, part, held))), least)
    if p.edges is None:
        return load, p.moved_mass
    return max(load, part * face_load(p)), p.moved_mass + cell_mass(p)


def _finite(number: float) -> float:
    return number if math.isfinite(number) else math.inf


def _fastest(motion: Array) -> float:
    """The largest component of any velocity or spin; 0 where one is not finite."""
    fastest = float(max(in_parts(lambda first, last: _top(first, last, motion), len(motion))))
    return fastest if fastest < math.inf else 0.0


@kernel
def _top(first, last, motion):
    """The largest component of some velocities and spins."""
    top = 0.0
    for i in range(first, last):
        v = max(max(abs(motion[i, V_X]), abs(motion[i, V_Y])), abs(motion[i, V_Z]))
        s = max(max(abs(motion[i, S_X]), abs(motion[i, S_Y])), abs(motion[i, S_Z]))
        top = max(top, max(v, s))
    return top


@kernel
def _pushed(first, last, motion, free, rate):
    """Sum of the contact forces on some bodies that can move, by what they did to velocities."""
    pushed = 0.0
    for i in range(first, last):
        if motion[i, INV_MASS] > 0.0:
            x, y, z = motion[i, V_X] - free[i, V_X], motion[i, V_Y] - free[i, V_Y], motion[i, V_Z] - free[i, V_Z]
            m = rate / motion[i, INV_MASS]
            x, y, z = m * x, m * y, m * z
            pushed += math.sqrt(x * x + y * y + z * z)
    return pushed


@kernel
def _held(pairs, geometry, forces, motion, grains, part, net):
    """The same of walls that no force can move; net : (walls, 3) takes the force on each."""
    for c in range(len(pairs)):
        j = pairs[c, 1]
        if j >= grains and motion[j, INV_MASS] == 0.0:
            r_n = part * forces[c, R_N]
            net[j - grains, X] += part * forces[c, R_X] + r_n * geometry[c, N_X]
            net[j - grains, Y] += part * forces[c, R_Y] + r_n * geometry[c, N_Y]
            net[j - grains, Z] += part * forces[c, R_Z] + r_n * geometry[c, N_Z]
    held = 0.0
    for w in range(len(net)):
        held += math.sqrt(net[w, X] ** 2 + net[w, Y] ** 2 + net[w, Z] ** 2)
    return held
