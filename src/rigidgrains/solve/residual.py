"""How far forces are from a solution, contact by contact.

The forces and velocities of a problem must belong together, as a solver leaves them. At a solution all measures are
zero. They are local and fall early; the momentum error of power.py answers for the packing as a whole.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contacts.problem import ContactProblem
from ..laws.contact import asked_force, collide, contact_velocity
from ..runtime.compiled import inlined, kernel
from ..runtime.simd import WIDTH, choose, column_of, lanes_of, lanes_with, max_of, read_rows, rows_from, sum_of
from ..runtime.threads import in_parts, total
from . import extended, flowing
from .kernels import total_force

Array = NDArray[np.float64]

ROUNDING = 64.0 * float(np.finfo(float).eps)  # of m v/dt: forces and misses that are no larger are none


def natural_map(problem: ContactProblem) -> Array:
    """(c,) N, |R - R'| of each contact: R' is what the shock law makes of the present R and V, Eq. (sphere-shock)."""
    if not problem.plain:
        return np.asarray(np.linalg.norm(_full_miss(problem), axis=1))
    miss = np.empty(problem.count)
    plain = problem.motion, problem.pairs, problem.geometry, problem.forces, problem.dt, miss
    in_parts(lambda first, last: _natural_map(first, last, *plain), problem.count)
    return miss


def residual(problem: ContactProblem) -> float:
    """The natural map over the forces, sqrt(sum |R - R'|^2)/sqrt(sum |R|^2), without unit.

    Without any force yet, the forces R' asked for take the place of R: 1 where a force is needed, 0 where none is. What
    rounding of the velocities asks for, of grains that fly side by side for instance, is none.
    Sums are scaled by their largest term, so that they neither overflow nor underflow; inf if a force is not finite.
    """
    p = problem
    if p.plain:
        miss, force = _norms(p)
    else:
        miss, force = _norm(_full_miss(p)), _norm(p.forces)
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
    least = rounding(p)
    if not p.plain:
        miss, force = natural_map(p), np.linalg.norm(p.forces, axis=1)
        some = ~(miss <= least)
        worst = float((miss[some] / (force[some] + force.mean())).max(initial=0.0))
    else:
        mean = total_force(p.forces) / p.count
        part = 1.0 / mean if 1e-290 < mean < math.inf else 1.0  # in units of <|R|> squares do not overflow
        plain = p.motion, p.pairs, p.geometry, p.forces, p.dt, part, part * mean, part * least
        worst = max(in_parts(lambda first, last: _worst(first, last, *plain), p.count))
    return worst if math.isfinite(worst) else math.inf


def missing_overlap(problem: ContactProblem) -> float:
    """m, mean of |R_n - R_n'| dt^2/m_n: by how much contacts overlap, or part, because their forces are not yet right.

    inf if a force is not finite.
    """
    p = problem
    if p.count == 0:
        return 0.0
    if p.plain:
        miss = float(_normal_miss(p.motion, p.pairs, p.geometry, p.forces, p.dt)) / p.count
    else:
        miss = float((np.abs(_full_miss(p)[:, 0]) / p.geometry[:, 4]).mean()) * p.dt**2
    return miss if math.isfinite(miss) else math.inf


def room_of(problem: ContactProblem) -> Any:
    """The siblings of this room for problems that are not plain."""
    return flowing if problem.extra is None else extended


def _full_miss(problem: ContactProblem) -> Array:
    """(c, 4) or (c, 7) N, what forces, and torques, lack."""
    p, out = problem, np.empty_like(problem.forces)
    room_of(p).miss(*p.arrays, p.dt, out)
    return out


def _norm(numbers: Array) -> float:
    """Root of the sum of squares, scaled by the largest."""
    most = float(np.abs(numbers).max(initial=0.0))
    return most * float(np.sqrt(((numbers / most) ** 2).sum())) if 0.0 < most < math.inf else most


def rounding(problem: ContactProblem) -> float:
    """N, what rounding of the fastest velocity makes of the heaviest contact."""
    return ROUNDING * float(_impulse(problem.motion, problem.geometry)) / problem.dt


def strongest(problem: ContactProblem) -> float:
    """The largest component of any force (N); infinite if one is not finite."""
    forces = problem.forces
    return float(max(in_parts(lambda first, last: _largest(first, last, forces), len(forces))))


def _norms(problem: ContactProblem) -> tuple[float, float]:
    """sqrt(sum |R - R'|^2) and sqrt(sum |R|^2) (N)."""
    p, most = problem, strongest(problem)
    scale = most if 1e-290 < most < math.inf else 1.0
    plain = p.motion, p.pairs, p.geometry, p.forces, p.dt, 1.0 / scale
    miss, force = total(in_parts(lambda first, last: _squares(first, last, *plain), p.count))
    return scale * math.sqrt(miss), scale * math.sqrt(force)


@kernel
def _largest(first, last, forces):
    """The largest component of some forces."""
    r = forces[first:last].reshape(-1)
    lanes = len(r) - len(r) % WIDTH
    nothing: Any = lanes_with(0.0)  # type: ignore[call-arg]
    most, wrong = nothing, nothing  # what is not finite makes a zero wrong
    for k in range(0, lanes, WIDTH):
        up = lanes_of(r, k)
        down = 0.0 - up
        size = choose(up > down, up, down)
        most, wrong = choose(size > most, size, most), wrong + 0.0 * up
    largest = max_of(most) if sum_of(wrong) == 0.0 else math.inf
    for k in range(lanes, len(r)):
        largest = max(largest, abs(r[k])) if abs(r[k]) < math.inf else math.inf
    return largest


@kernel
def _impulse(motion, geometry):
    """The largest component of any velocity or spin times the largest m_n; 0 where a velocity is not finite."""
    fastest, heaviest = 0.0, 0.0
    for i in range(len(motion)):
        for k in range(6):
            fastest = max(fastest, abs(motion[i, k]))
    for c in range(len(geometry)):
        heaviest = max(heaviest, geometry[c, 4])
    return fastest * heaviest if fastest < math.inf else 0.0


@kernel
def _normal_miss(motion, pairs, geometry, forces, dt):
    """Sum of |R_n - R_n'| dt^2/m_n."""
    total = 0.0
    for c in range(len(pairs)):
        i, j = pairs[c, 0], pairs[c, 1]
        n_x, n_y, n_z = geometry[c, 0], geometry[c, 1], geometry[c, 2]
        v_x, v_y, v_z = motion[j, 0] - motion[i, 0], motion[j, 1] - motion[i, 1], motion[j, 2] - motion[i, 2]
        closes = dt * (v_x * n_x + v_y * n_y + v_z * n_z) + geometry[c, 3]
        total += abs(min(closes, forces[c, 0] * dt * dt / geometry[c, 4]))
    return total


@kernel
def _miss(c, motion, pairs, geometry, forces, rate):
    """R - R' of one contact: n, x, y, z."""
    n_x, n_y, n_z = geometry[c, 0], geometry[c, 1], geometry[c, 2]
    gap, m_n, m_t, mu = geometry[c, 3], geometry[c, 4], geometry[c, 5], geometry[c, 6]
    v_n, v_x, v_y, v_z = contact_velocity(pairs[c, 0], pairs[c, 1], motion, n_x, n_y, n_z)
    r_n, r_x, r_y, r_z = forces[c, 0], forces[c, 1], forces[c, 2], forces[c, 3]
    a_n, a_x, a_y, a_z = asked_force(r_n, r_x, r_y, r_z, v_n, v_x, v_y, v_z, gap, m_n, m_t, mu, rate, False)
    return r_n - a_n, r_x - a_x, r_y - a_y, r_z - a_z


@kernel
def _natural_map(first, last, motion, pairs, geometry, forces, dt, miss):
    """Fill miss with |R - R'| of some contacts."""
    rate = 1.0 / dt
    for c in range(first, last):
        d_n, d_x, d_y, d_z = _miss(c, motion, pairs, geometry, forces, rate)
        miss[c] = math.hypot(math.hypot(d_n, d_x), math.hypot(d_y, d_z))


@kernel
def _worst(first, last, motion, pairs, geometry, forces, dt, part, mean, least):
    """The largest |R - R'|/(|R| + mean) of some contacts, of misses beyond the `least`; inf where one is no number.

    Forces are taken times `part`.
    """
    rate, worst = 1.0 / dt, 0.0
    for c in range(first, last):
        miss = math.sqrt(_square(part, _miss(c, motion, pairs, geometry, forces, rate)))
        if miss > least:
            force = math.sqrt(_square(part, (forces[c, 0], forces[c, 1], forces[c, 2], forces[c, 3])))
            worst = max(worst, miss / (force + mean))
        elif not miss >= 0.0:
            return math.inf
    return worst


@kernel
def _squares(first, last, motion, pairs, geometry, forces, dt, part):
    """sum |R - R'|^2 and sum |R|^2 over some contacts, forces times `part`; lane by lane, then those that are left."""
    rate = 1.0 / dt
    nothing: Any = lanes_with(0.0)  # type: ignore[call-arg]
    misses, squares = nothing, nothing
    while first + WIDTH <= last:
        c = rows_from(first)
        i, j, old = column_of(pairs, c, 0), column_of(pairs, c, 1), read_rows(forces, c, 4)
        _, _, new = collide(
            read_rows(motion, i, 8), read_rows(motion, j, 8), read_rows(geometry, c, 8), old, dt, rate, False
        )
        miss = old[0] - new[0], old[1] - new[1], old[2] - new[2], old[3] - new[3]
        misses, squares = misses + _square(part, miss), squares + _square(part, old)
        first += WIDTH
    total, square = sum_of(misses), sum_of(squares)
    for c in range(first, last):
        total += _square(part, _miss(c, motion, pairs, geometry, forces, rate))
        square += _square(part, (forces[c, 0], forces[c, 1], forces[c, 2], forces[c, 3]))
    return total, square


@inlined
def _square(part, force):
    """|part R|^2."""
    n, x, y, z = part * force[0], part * force[1], part * force[2], part * force[3]
    return (n * n + x * x) + (y * y + z * z)
