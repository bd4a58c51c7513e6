"""The momentum error: power of forces that should have none, for the packing as a whole.

It falls only when far ends of a packing know of each other, and is what is left of elasticity.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..contacts.problem import ContactProblem
from ..model.columns import GAP, INV_M_ALL, INV_M_X, INV_MASS, N_X, N_Y, N_Z, R_N, R_X, R_Y, R_Z, X, Y, Z
from ..runtime.compiled import kernel
from ..runtime.threads import in_parts, total
from .kernels.factory import kernels_for
from .residual import rounding, strongest

Array = NDArray[np.float64]


FLOW = 4.0  # times the terms of S: what sliding contacts dissipate where a packing flows; at rest 0.5 to 0.6 of them


class Powers(NamedTuple):
    """Terms of S, each sum over those of one sign, over F^2 dt/M; without unit.

    lost, gained : of -S and of S
    slid         : sum of mu R_n |V_t|, what sliding contacts dissipate, and those that roll or twist; not a part of S
                   where the law is obeyed
    """

    lost: float
    gained: float
    slid: float


def virtual_power(problem: ContactProblem) -> float:
    """S (W) = sum of R_n (V_n + gap/dt) + mu R_n |V_t| + R_t . V_t: the power of forces that should have none.

    In a box at rest S over the load of a piston is the speed at which it sinks by mistake. An infinite mu has no
    sliding and leaves out the middle term.
    """
    lost, gained = power_sums(problem, 1.0)[:2]
    return float(gained - lost)


def momentum_error(problem: ContactProblem) -> float:
    """S over F^2 dt/M, the power of the load on a packing that carries nothing; without unit.

    F : half the sum over all bodies, walls too, of the contact force on each (N): what enters and leaves the packing;
        at least the root mean square of |R|, since a packing under stress may hang between no walls, and the load on
        the faces of a periodic cell
    M : mass of all movable bodies with candidates (kg), with the inertia of a cell that forces move
    The terms of S have both signs and may cancel by chance. Here the larger of the sums with one sign counts, so the
    error is at least |S|. It is the same for every observer. 0 where forces are none but rounding, inf if one is not
    finite.
    """
    found = powers(problem)
    return max(found.lost, found.gained)


def powers(problem: ContactProblem) -> Powers:
    """What `momentum_error` is made of."""
    p = problem
    most = strongest(p)
    if most <= rounding(p):
        return Powers(0.0, 0.0, 0.0)
    if not math.isfinite(most):
        return Powers(math.inf, math.inf, math.inf)
    # In units of the strongest force nothing can overflow.
    *terms, load, mass = power_sums(p, 1.0 / most)
    found = [term / most * mass / (load * load * p.dt) for term in terms]
    return Powers(*(term if math.isfinite(term) else math.inf for term in found))


def flows(problem: ContactProblem) -> bool:
    """Whether contacts slide for good: they dissipate far more than what is still wrong with the forces.

    In a packing at rest what slides is a part of that, and falls with it.
    """
    found = powers(problem)
    return found.slid > FLOW * (found.lost + found.gained)


def power_sums(problem: ContactProblem, part: float) -> tuple[float, float, float, float, float]:
    """The terms of `Powers` (W), F and M as `momentum_error` has them, of forces times `part`."""
    p = problem
    net, touched = p.work.take("net", len(p.motion), 3), p.work.take("touched", len(p.motion), kind=np.bool_)
    net[:], touched[:] = 0.0, False
    _collect(p.pairs, p.geometry, p.forces, part, net, touched)
    what, loop = (*p.arrays, p.dt, part), kernels_for(p).powers
    lost, gained, slid, square = total(in_parts(lambda first, last: loop(first, last, *what), p.count))
    pushed, mass = _pushed(p.motion, net, touched)
    load = max(0.5 * pushed, math.sqrt(square / p.count)) if p.count else 0.0
    if p.edges is not None:
        load, mass = max(load, part * _face_load(p)), mass + _cell_mass(p)
    return lost, gained, slid, load, mass


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
    each = sum(1.0 / (flow[a, INV_M_X + a] * edges[a] ** 2) for a in range(3) if flow[a, INV_M_X + a] > 0.0)
    swelling = flow[:, INV_M_ALL] > 0.0
    return float(
        each + (1.0 / (flow[swelling, INV_M_ALL][0] * (edges[swelling] ** 2).sum()) if swelling.any() else 0.0)
    )


@kernel
def _collect(pairs, geometry, forces, part, net, touched):
    """Add the contact forces, times `part`, on each body to `net` and mark the bodies that are touched."""
    for c in range(len(pairs)):
        i, j = pairs[c, 0], pairs[c, 1]
        r_n = part * forces[c, R_N]
        r_x = part * forces[c, R_X] + r_n * geometry[c, N_X]
        r_y = part * forces[c, R_Y] + r_n * geometry[c, N_Y]
        r_z = part * forces[c, R_Z] + r_n * geometry[c, N_Z]
        net[i, X] -= r_x
        net[i, Y] -= r_y
        net[i, Z] -= r_z
        net[j, X] += r_x
        net[j, Y] += r_y
        net[j, Z] += r_z
        touched[i] = touched[j] = True


@kernel
def _pushed(motion, net, touched):
    """Sum of the forces on all bodies, and the mass of the movable ones that are touched."""
    pushed, mass = 0.0, 0.0
    for i in range(len(net)):
        pushed += math.sqrt(net[i, X] ** 2 + net[i, Y] ** 2 + net[i, Z] ** 2)
        if touched[i] and motion[i, INV_MASS] > 0.0:
            mass += 1.0 / motion[i, INV_MASS]
    return pushed, mass


@kernel
def _through_faces(first, last, pairs, geometry, forces, radius, per_edge):
    """Nine sums of R_a b_b/edge_b over some contacts of two grains."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for c in range(first, last):
        i, j = pairs[c, 0], pairs[c, 1]
        if j >= radius.size:
            continue
        n_x, n_y, n_z, branch = (
            geometry[c, N_X],
            geometry[c, N_Y],
            geometry[c, N_Z],
            radius[i] + radius[j] + geometry[c, GAP],
        )
        r_n = forces[c, R_N]
        r_x, r_y, r_z = forces[c, R_X] + r_n * n_x, forces[c, R_Y] + r_n * n_y, forces[c, R_Z] + r_n * n_z
        x, y, z = branch * n_x * per_edge[0], branch * n_y * per_edge[1], branch * n_z * per_edge[2]
        xx, xy, xz = xx + r_x * x, xy + r_x * y, xz + r_x * z
        yx, yy, yz = yx + r_y * x, yy + r_y * y, yz + r_y * z
        zx, zy, zz = zx + r_z * x, zy + r_z * y, zz + r_z * z
    return xx, xy, xz, yx, yy, yz, zx, zy, zz
