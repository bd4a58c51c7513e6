"""How far forces are from a solution: contact by contact, and for the momentum of the whole packing.

The forces and velocities of a problem must belong together, as a solver leaves them. At a solution both measures are
zero. The residual is local and falls early; the momentum error falls only when far ends of a packing know of each
other, and is what is left of elasticity.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiled import inlined, kernel
from ..contacts import ContactProblem
from ..lanes import WIDTH, choose, column_of, lanes_of, lanes_with, max_of, read_rows, rows_from, sum_of
from ..threads import in_parts, total
from . import extended, flowing
from .kernels import asked_force, collide, contact_velocity

Array = NDArray[np.float64]


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

    Without any force yet, the forces R' asked for take the place of R: 1 where a force is needed, 0 where none is.
    Sums are scaled by their largest term, so that they neither overflow nor underflow; inf if a force is not finite.
    """
    p = problem
    if p.plain:
        miss, force = _norms(p)
    else:
        miss, force = _norm(_full_miss(p)), _norm(p.forces)
    if not (math.isfinite(miss) and math.isfinite(force)):
        return math.inf
    if force > 0.0:
        return float(miss / force)
    return 0.0 if miss == 0.0 else 1.0


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


def virtual_power(problem: ContactProblem) -> float:
    """S (W) = sum of R_n (V_n + gap/dt) + mu R_n |V_t| + R_t . V_t: the power of forces that should have none.

    In a box at rest S over the load of a piston is the speed at which it sinks by mistake. An infinite mu has no
    sliding and leaves out the middle term.
    """
    lost, gained, _, _ = _all_powers(problem, 1.0)
    return float(gained - lost)


def momentum_error(problem: ContactProblem) -> float:
    """S over F^2 dt/M, the power of the load on a packing that carries nothing; without unit.

    F : half the sum over all bodies, walls too, of the contact force on each (N): what enters and leaves the packing;
        at least the root mean square of |R|, since a packing under stress may hang between no walls, and the load on
        the faces of a periodic cell
    M : mass of all movable bodies with candidates (kg), with the inertia of a cell that forces move
    The terms of S have both signs and may cancel by chance. Here the larger of the sums with one sign counts, so the
    error is at least |S|. It is the same for every observer. 0 without forces, inf if one is not finite.
    """
    p = problem
    strongest = _strongest(p)
    if strongest == 0.0:
        return 0.0
    if not math.isfinite(strongest):
        return math.inf
    # In units of the strongest force nothing can overflow.
    lost, gained, load, mass = _all_powers(p, 1.0 / strongest)
    error = max(lost, gained) / strongest * mass / (load * load * p.dt)
    return error if math.isfinite(error) else math.inf


def _all_powers(problem: ContactProblem, part: float) -> tuple[float, float, float, float]:
    """The terms of -S and S, F and M as `momentum_error` has them, of forces times `part`."""
    p = problem
    net, touched = p.work.take("net", len(p.motion), 3), p.work.take("touched", len(p.motion), kind=np.bool_)
    net[:], touched[:] = 0.0, False
    _collect(p.pairs, p.geometry, p.forces, part, net, touched)
    plain = p.motion, p.pairs, p.geometry, p.forces, p.dt, part
    lost, gained, square = total(in_parts(lambda first, last: _powers(first, last, *plain), p.count))
    pushed, mass = _pushed(p.motion, net, touched)
    load = max(0.5 * pushed, math.sqrt(square / p.count)) if p.count else 0.0
    if p.edges is not None:
        load, mass = max(load, part * _face_load(p)), mass + _cell_mass(p)
    if not p.plain:
        lost, gained = _room(p).virtual_power(*p.arrays[:-1], part * p.forces, p.dt)
    return lost, gained, load, mass


def _face_load(problem: ContactProblem) -> float:
    """N, sum of the forces that contacts pass on through the faces of the cell: sum of R b/edge for each direction."""
    p, edges = problem, problem.edges
    assert edges is not None
    what = p.pairs, p.geometry, p.forces, p.radius, 1.0 / edges
    through = np.array(total(in_parts(lambda first, last: _through_faces(first, last, *what), p.count)))
    return float(np.linalg.norm(through.reshape(3, 3), axis=0).sum())


def _cell_mass(problem: ContactProblem) -> float:
    """kg, inertia of the free sides of a cell over their squares; of the isotropic one over all squares."""
    flow, edges = problem.flow, problem.edges
    assert edges is not None
    each = sum(1.0 / (flow[a, 3 + a] * edges[a] ** 2) for a in range(3) if flow[a, 3 + a] > 0.0)
    swelling = flow[:, 6] > 0.0
    return float(each + (1.0 / (flow[swelling, 6][0] * (edges[swelling] ** 2).sum()) if swelling.any() else 0.0))


def _room(problem: ContactProblem) -> Any:
    """The siblings of this room for problems that are not plain."""
    return flowing if problem.extra is None else extended


def _full_miss(problem: ContactProblem) -> Array:
    """(c, 4) or (c, 7) N, what forces, and torques, lack."""
    p, out = problem, np.empty_like(problem.forces)
    _room(p).miss(*p.arrays, p.dt, out)
    return out


def _norm(numbers: Array) -> float:
    """Root of the sum of squares, scaled by the largest."""
    most = float(np.abs(numbers).max(initial=0.0))
    return most * float(np.sqrt(((numbers / most) ** 2).sum())) if 0.0 < most < math.inf else most


def _strongest(problem: ContactProblem) -> float:
    """The largest component of any force (N); infinite if one is not finite."""
    forces = problem.forces
    return float(max(in_parts(lambda first, last: _largest(first, last, forces), len(forces))))


def _norms(problem: ContactProblem) -> tuple[float, float]:
    """sqrt(sum |R - R'|^2) and sqrt(sum |R|^2) (N)."""
    p, most = problem, _strongest(problem)
    scale = most if 1e-290 < most < math.inf else 1.0
    plain = p.motion, p.pairs, p.geometry, p.forces, p.dt, 1.0 / scale
    miss, force = total(in_parts(lambda first, last: _squares(first, last, *plain), p.count))
    return scale * math.sqrt(miss), scale * math.sqrt(force)


@kernel
def _largest(first, last, forces):  # type: ignore[no-untyped-def]
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
def _normal_miss(motion, pairs, geometry, forces, dt):  # type: ignore[no-untyped-def]
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
def _miss(c, motion, pairs, geometry, forces, rate):  # type: ignore[no-untyped-def]
    """R - R' of one contact: n, x, y, z."""
    n_x, n_y, n_z = geometry[c, 0], geometry[c, 1], geometry[c, 2]
    gap, m_n, m_t, mu = geometry[c, 3], geometry[c, 4], geometry[c, 5], geometry[c, 6]
    v_n, v_x, v_y, v_z = contact_velocity(pairs[c, 0], pairs[c, 1], motion, n_x, n_y, n_z)
    r_n, r_x, r_y, r_z = forces[c, 0], forces[c, 1], forces[c, 2], forces[c, 3]
    a_n, a_x, a_y, a_z = asked_force(r_n, r_x, r_y, r_z, v_n, v_x, v_y, v_z, gap, m_n, m_t, mu, rate)
    return r_n - a_n, r_x - a_x, r_y - a_y, r_z - a_z


@kernel
def _natural_map(first, last, motion, pairs, geometry, forces, dt, miss):  # type: ignore[no-untyped-def]
    """Fill miss with |R - R'| of some contacts."""
    rate = 1.0 / dt
    for c in range(first, last):
        d_n, d_x, d_y, d_z = _miss(c, motion, pairs, geometry, forces, rate)
        miss[c] = math.hypot(math.hypot(d_n, d_x), math.hypot(d_y, d_z))


@kernel
def _squares(first, last, motion, pairs, geometry, forces, dt, part):  # type: ignore[no-untyped-def]
    """sum |R - R'|^2 and sum |R|^2 over some contacts, forces times `part`; lane by lane, then those that are left."""
    rate = 1.0 / dt
    nothing: Any = lanes_with(0.0)  # type: ignore[call-arg]
    misses, squares = nothing, nothing
    while first + WIDTH <= last:
        c = rows_from(first)
        i, j, old = column_of(pairs, c, 0), column_of(pairs, c, 1), read_rows(forces, c, 4)
        _, _, new = collide(read_rows(motion, i, 8), read_rows(motion, j, 8), read_rows(geometry, c, 8), old, dt, rate)
        miss = old[0] - new[0], old[1] - new[1], old[2] - new[2], old[3] - new[3]
        misses, squares = misses + _square(part, miss), squares + _square(part, old)
        first += WIDTH
    total, square = sum_of(misses), sum_of(squares)
    for c in range(first, last):
        total += _square(part, _miss(c, motion, pairs, geometry, forces, rate))
        square += _square(part, (forces[c, 0], forces[c, 1], forces[c, 2], forces[c, 3]))
    return total, square


@inlined
def _square(part, force):  # type: ignore[no-untyped-def]
    """|part R|^2."""
    n, x, y, z = part * force[0], part * force[1], part * force[2], part * force[3]
    return (n * n + x * x) + (y * y + z * z)


@kernel
def _powers(first, last, motion, pairs, geometry, forces, dt, part):  # type: ignore[no-untyped-def]
    """The terms of -S and S, each sum over those that are positive, and the sum of R^2; forces times `part`."""
    rate = 1.0 / dt
    lost, gained, square = 0.0, 0.0, 0.0
    for c in range(first, last):
        i, j = pairs[c, 0], pairs[c, 1]
        n_x, n_y, n_z = geometry[c, 0], geometry[c, 1], geometry[c, 2]
        v_n, v_x, v_y, v_z = contact_velocity(i, j, motion, n_x, n_y, n_z)
        r_n, r_x, r_y, r_z = part * forces[c, 0], part * forces[c, 1], part * forces[c, 2], part * forces[c, 3]
        mu = geometry[c, 6]
        limit = mu * r_n if mu < math.inf else 0.0
        normal = r_n * (v_n + geometry[c, 3] * rate)
        sliding = limit * math.sqrt(v_x * v_x + v_y * v_y + v_z * v_z) + (r_x * v_x + r_y * v_y + r_z * v_z)
        lost -= min(normal, 0.0) + min(sliding, 0.0)
        gained += max(normal, 0.0) + max(sliding, 0.0)
        square += (r_n * r_n + r_x * r_x) + (r_y * r_y + r_z * r_z)
    return lost, gained, square


@kernel
def _collect(pairs, geometry, forces, part, net, touched):  # type: ignore[no-untyped-def]
    """Add the contact forces, times `part`, on each body to `net` and mark the bodies that are touched."""
    for c in range(len(pairs)):
        i, j = pairs[c, 0], pairs[c, 1]
        r_n = part * forces[c, 0]
        r_x = part * forces[c, 1] + r_n * geometry[c, 0]
        r_y = part * forces[c, 2] + r_n * geometry[c, 1]
        r_z = part * forces[c, 3] + r_n * geometry[c, 2]
        net[i, 0] -= r_x
        net[i, 1] -= r_y
        net[i, 2] -= r_z
        net[j, 0] += r_x
        net[j, 1] += r_y
        net[j, 2] += r_z
        touched[i] = touched[j] = True


@kernel
def _pushed(motion, net, touched):  # type: ignore[no-untyped-def]
    """Sum of the forces on all bodies, and the mass of the movable ones that are touched."""
    pushed, mass = 0.0, 0.0
    for i in range(len(net)):
        pushed += math.sqrt(net[i, 0] ** 2 + net[i, 1] ** 2 + net[i, 2] ** 2)
        if touched[i] and motion[i, 6] > 0.0:
            mass += 1.0 / motion[i, 6]
    return pushed, mass


@kernel
def _through_faces(first, last, pairs, geometry, forces, radius, per_edge):  # type: ignore[no-untyped-def]
    """Nine sums of R_a b_b/edge_b over some contacts of two grains."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for c in range(first, last):
        i, j = pairs[c, 0], pairs[c, 1]
        if j >= radius.size:
            continue
        n_x, n_y, n_z, branch = geometry[c, 0], geometry[c, 1], geometry[c, 2], radius[i] + radius[j] + geometry[c, 7]
        r_n = forces[c, 0]
        r_x, r_y, r_z = forces[c, 1] + r_n * n_x, forces[c, 2] + r_n * n_y, forces[c, 3] + r_n * n_z
        x, y, z = branch * n_x * per_edge[0], branch * n_y * per_edge[1], branch * n_z * per_edge[2]
        xx, xy, xz = xx + r_x * x, xy + r_x * y, xz + r_x * z
        yx, yy, yz = yx + r_y * x, yy + r_y * y, yz + r_y * z
        zx, zy, zz = zx + r_z * x, zy + r_z * y, zz + r_z * z
    return xx, xy, xz, yx, yy, yz, zx, zy, zz
