"""From a contact problem of the engine to FCLIB and back.

The frame of a contact has the rows n, t1 and t2 = n x t1; in 2D n and t1. r is an impulse (N s), R dt in the paper's
letters, u a velocity (m/s), and g/dt is part of q and w, so that u_n >= 0 means that the gap does not become negative.
Bodies enter by v and s = lever * spin; a guided piston by its velocity along the guide, fixed and driven walls by w. A
cell that deforms enters by its flow, in w, and by the changes of those components of L that follow a stress.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...contacts.problem import ContactProblem
from ...model.columns import ALL, BRANCH, INV_M, INV_M_ALL, INV_MASS, INV_SPIN, S_X, S_Y, V_Z, L, Z
from ...model.turning import lever_matrices
from ..kernels.factory import kernels_for
from .problem import GlobalProblem, Info, LocalProblem

Array = NDArray[np.float64]

WORDS = "rigidgrains: r in N s, u in m/s, frames (n, t1, t2), g/dt in the normal rows, dt = {} s"


def local_problem(problem: ContactProblem, *, dimension: int | None = None, solved: bool = False) -> LocalProblem:
    """W, q and mu of a step; see `global_problem`."""
    return global_problem(problem, dimension=dimension, solved=solved).local()


def global_problem(problem: ContactProblem, *, dimension: int | None = None, solved: bool = False) -> GlobalProblem:
    """M, H, f, w and mu of a step.

    dimension : 2 or 3; without it, 2 where everything lies and moves in the plane z = 0
    solved    : whether the velocities of the problem already contain its forces, as after a step
    """
    if problem.extra is not None:
        raise ValueError("FCLIB knows three unknowns per contact; rolling, twisting or tangential rebound have more")
    motion, flow = problem.motion.copy(), problem.flow.copy()
    if solved:
        _, pairs, geometry, extra, _, forces = problem.arrays
        kernels_for(problem).apply_forces(motion, pairs, geometry, extra, flow, -forces, problem.dt)
    dimension = dimension or (2 if _flat(problem) else 3)
    velocity = motion[:, :INV_MASS].ravel()
    everything = _contact_rows(problem, dimension)
    mobile, mass = _freedom(problem, dimension)
    free = mobile.T @ velocity
    w = everything.T @ (velocity - mobile @ free)
    w[::dimension] += problem.to_close / problem.dt
    H, f = mobile.T @ everything, mass * free
    if problem.branch is not None:
        carried, changes, inertia = _cell_columns(problem, flow, dimension)
        H, w = sparse.vstack([H, sparse.csc_array(changes)]), w + carried
        mass, f = np.append(mass, inertia), np.append(f, np.zeros(len(inertia)))
    return GlobalProblem(
        M=sparse.diags_array(mass, format="csc"),  # Eq. (generalized-M)
        H=sparse.csc_array(H),
        f=f,
        w=w,
        mu=problem.friction,
        dimension=dimension,
        info=Info(title="rigidgrains", description=WORDS.format(f"{problem.dt:.17g}")),
    )


def frames(normal: Array, dimension: int) -> Array:
    """(c, 3, 3) rows n, t1, t2; in 2D t1 lies in the plane."""
    if dimension == 2:
        t1 = np.column_stack([-normal[:, 1], normal[:, 0], np.zeros(len(normal))])
    else:
        t1 = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal), axis=1)])
        t1 /= np.linalg.norm(t1, axis=1)[:, None]
    return np.stack([normal, t1, np.cross(normal, t1)], axis=1)


def impulses(problem: ContactProblem, dimension: int) -> Array:
    """(c, d) N s, the forces of a problem as FCLIB's r."""
    frame = frames(problem.normal, dimension)
    tangential = np.einsum("cij,cj->ci", frame[:, 1:dimension], problem.tangential_force)
    return problem.dt * np.column_stack([problem.repulsion, tangential])


def forces(problem: ContactProblem, r: Array, dimension: int) -> Array:
    """(c, 4) R_n and R_t (3) in N, from FCLIB's r."""
    r = np.asarray(r).reshape(-1, dimension) / problem.dt
    frame = frames(problem.normal, dimension)
    return np.column_stack([r[:, 0], np.einsum("cij,ci->cj", frame[:, 1:dimension], r[:, 1:])])


def _contact_rows(problem: ContactProblem, dimension: int) -> sparse.csc_array:
    """(6 bodies, d c): its transpose takes v and s of all bodies to contact velocities V = v1 - v0 - (s0 + s1) x n,
    with levers V = v1 - v0 + A1 s1 - A0 s0.

    H of Eqs. (RgRcon) and (VconVg), with the bodies that cannot move.
    """
    frame = frames(problem.normal, dimension)
    turning = [np.stack([np.zeros_like(frame[:, 0]), -frame[:, 2], frame[:, 1]], axis=1)] * 2  # -(s x n) in the frame
    if problem.levers is not None:
        zero, one = np.einsum("cda,csab->scdb", frame, lever_matrices(problem.levers))
        turning = [-zero, one]
    c, d = np.arange(problem.count), np.arange(dimension)
    columns = np.broadcast_to((dimension * c[:, None] + d)[:, :, None], (problem.count, dimension, 3))
    rows, places, values = [], [], []
    for side, sign in ((0, -1.0), (1, 1.0)):
        first = 6 * problem.pairs[:, side].astype(np.int64)[:, None, None]
        for offset, share in ((0, sign * frame), (3, turning[side])):
            rows.append(np.broadcast_to(first + offset + np.arange(3), columns.shape).ravel())
            places.append(columns.ravel())
            values.append(share[:, :dimension].ravel())
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(places)))
    matrix = sparse.coo_array(entries, shape=(6 * len(problem.motion), dimension * problem.count)).tocsc()
    matrix.eliminate_zeros()
    return matrix


def _freedom(problem: ContactProblem, dimension: int) -> tuple[sparse.csc_array, Array]:
    """(6 bodies, n) the ways in which bodies can move, as orthonormal columns, and the mass (n,) of each (kg)."""
    inverse = np.repeat(problem.motion[:, [INV_MASS, INV_SPIN]], 3, axis=1)
    guided = np.flatnonzero(problem.motion[:, INV_SPIN] < 0.0)
    inverse[guided] = 0.0
    if problem.branch is not None:
        inverse[len(problem.position) :] = 0.0  # rows of the cell
    if dimension == 2:
        inverse[:, 2:5] = 0.0
    row = np.flatnonzero(inverse)
    column, value, mass = np.arange(len(row)), np.ones(len(row)), 1.0 / inverse.ravel()[row]
    parts = [(row, column, value)]
    for body in guided:
        touching = np.flatnonzero((problem.pairs == body).any(axis=1))
        if touching.size == 0:
            continue
        guide = problem.normal[touching[0]]  # only planes are pistons: all its normals are its guide
        parts.append((6 * body + np.arange(3), np.full(3, len(mass)), guide))
        mass = np.append(mass, 1.0 / problem.motion[body, INV_MASS])
    row, column, value = (np.concatenate(part) for part in zip(*parts))
    return sparse.csc_array((value, (row, column)), shape=(6 * len(problem.motion), len(mass))), mass


def _cell_columns(problem: ContactProblem, flow: Array, dimension: int) -> tuple[Array, Array, Array]:
    """What a cell that deforms adds: L b (d c,), and for its k free changes (k, d c) of V and their inertia (k,)."""
    assert problem.branch is not None
    frame, reach = frames(problem.normal, dimension)[:, :dimension], problem.branch[:, [BRANCH]] * problem.normal
    moves = np.einsum("cda,cb->abcd", frame, reach).reshape(3, 3, -1)  # what a change of L_ab does to V
    carried = np.einsum("ab,abr->r", flow[:, L], moves)
    a, b = np.nonzero(flow[:, INV_M])
    changes, inertia = moves[a, b], 1.0 / flow[:, INV_M][a, b]
    together = np.flatnonzero(flow[:, ALL])
    if len(together):  # all sides in proportion are one change
        changes = np.vstack([changes, moves[together, together].sum(axis=0)])
        inertia = np.append(inertia, 1.0 / flow[together[0], INV_M_ALL])
    return carried, changes, inertia


def _flat(problem: ContactProblem) -> bool:
    """Whether all normals lie in the plane z = 0 and nothing moves out of it."""
    across = problem.motion[: len(problem.position), [V_Z, S_X, S_Y]]
    return not (problem.normal[:, Z].any() or problem.tangential_force[:, Z].any() or across.any())
