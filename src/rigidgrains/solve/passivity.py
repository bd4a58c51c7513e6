"""Passivity: contact forces that a step ends with give no energy, however early its sweeps ended.

The work of contact forces over a step is dt times the sum of R . V, with V at its end: forces act along the way that
bodies really go. V is relative, so that what driven walls and moving boundaries do through their contacts is not in it.
At a solution R_n V_n = -R_n gap/dt and R_t . V_t = -mu R_n |V_t|: no work is positive unless overlaps are removed
(gap < 0) or contacts rebound. Forces between two sweeps may be too strong: heavy bodies on light ones bounce off them.

All forces of a cluster, times s, make V a linear function of s and stay within their cones. With

    a = sum of R . V_free + R_n gap/dt,   b = sum of R . (V - V_free) > 0

the factor s = -a/b leaves a work of -s R_n gap, no more than the removal of overlaps explains. It also makes the dual
energy s a + s^2 b/2 least.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..contacts import ContactProblem
from .awake import clusters_of_bodies
from .loops import apply_forces

Array = NDArray[np.float64]

ROUNDING = 64.0 * float(np.finfo(float).eps)  # of the terms: work that is none


def make_passive(problem: ContactProblem) -> float:
    """Weaken the forces of each cluster that gives energy; returns the smallest factor, 1 where none does.

    Velocities of the problem must belong to its forces, and do so afterwards.
    """
    p, of = problem, _clusters(problem)

    def summed(terms: Array) -> Array:
        return np.asarray(np.bincount(of, terms, minlength=len(p.motion)), np.float64)

    ended, to_reach = contact_power(p), _reached(p)
    strength = np.linalg.norm(p.forces, axis=1)
    rounding = ROUNDING * strength * (np.linalg.norm(_contact_velocity(p), axis=1) + strength * p.dt / p.geometry[:, 4])
    work = summed(ended)
    gives = work > summed(np.maximum(-to_reach, 0.0) + rounding)
    if not gives.any():
        return 1.0
    p.forces[:] *= -1.0
    apply_forces(p)  # velocities without contact forces
    p.forces[:] *= -1.0
    free = summed(contact_power(p))
    along, square = free + summed(to_reach), work - free
    share = np.ones(len(work))
    share[gives] = np.clip(-along[gives] / square[gives], 0.0, 1.0)
    p.forces[:] *= share[of, None]
    apply_forces(p)
    return float(share[gives].min())


def contact_power(problem: ContactProblem) -> Array:
    """(c,) W, R . V of each contact with Eq. (contact-veloc), and the same of torques; dt times it is their work."""
    p, n = problem, problem.geometry[:, 0:3]
    power = ((p.forces[:, :1] * n + p.forces[:, 1:4]) * _contact_velocity(p)).sum(axis=1)
    if p.extra is not None:
        i, j = p.pairs.T
        spin = p.extra[:, 4:5] * p.motion[j, 3:6] - p.extra[:, 3:4] * p.motion[i, 3:6] + p.extra[:, 8:11]
        power += (p.forces[:, 4:7] * spin).sum(axis=1)
    return np.asarray(power)


def _contact_velocity(problem: ContactProblem) -> Array:
    """(c, 3) m/s, with the flow of a cell that deforms."""
    p, n = problem, problem.geometry[:, 0:3]
    one, other = p.motion[p.pairs[:, 0]], p.motion[p.pairs[:, 1]]
    v = other[:, 0:3] - one[:, 0:3] - np.cross(one[:, 3:6] + other[:, 3:6], n)
    if p.branch is not None:
        v += p.branch[:, :1] * (n @ p.flow[:, 0:3].T)
    return np.asarray(v)


def _reached(problem: ContactProblem) -> Array:
    """(c,) W, minus the power at velocities that contacts are to reach: gaps to close, overlaps to remove, rebound."""
    p = problem
    power = p.forces[:, 0] * p.geometry[:, 3] / p.dt
    return power if p.extra is None else power + (p.forces[:, 1:4] * p.extra[:, 0:3]).sum(axis=1)


def _clusters(problem: ContactProblem) -> NDArray[np.int32]:
    """(c,) what hangs together by bodies that forces move; a cell that deforms joins all."""
    if problem.flow.any():
        return np.zeros(problem.count, np.int32)
    return clusters_of_bodies(problem)[problem.pairs[:, 0]]
