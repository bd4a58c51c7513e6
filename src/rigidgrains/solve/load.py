"""The load on a periodic cell: what contacts pass on through its faces, and the mass that it stands for."""

from __future__ import annotations

import numpy as np

from ..contacts.problem import ContactProblem
from ..model.columns import GAP, INV_M_ALL, INV_M_X, N_X, N_Y, N_Z, R_N, R_X, R_Y, R_Z
from ..runtime.compiled import kernel
from ..runtime.threads import spread, total


def face_load(problem: ContactProblem) -> float:
    """N, sum of the forces that contacts pass on through the faces of the cell: sum of R b/edge for each direction."""
    p, edges = problem, problem.edges
    assert edges is not None
    what = p.pairs, p.geometry, p.forces, p.radius, 1.0 / edges
    through = np.array(total(spread(_through_faces, p.count, *what)))
    return float(np.linalg.norm(through.reshape(3, 3), axis=0).sum())


def cell_mass(problem: ContactProblem) -> float:
    """kg, inertia of the free sides of a cell over their squares; of the isotropic one over all squares."""
    flow, edges = problem.flow, problem.edges
    assert edges is not None
    each = sum(1.0 / (flow[a, INV_M_X + a] * edges[a] ** 2) for a in range(3) if flow[a, INV_M_X + a] > 0.0)
    swelling = flow[:, INV_M_ALL] > 0.0
    return float(
        each + (1.0 / (flow[swelling, INV_M_ALL][0] * (edges[swelling] ** 2).sum()) if swelling.any() else 0.0)
    )


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
