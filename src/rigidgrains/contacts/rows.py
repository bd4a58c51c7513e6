"""The loops that fill contact rows: normal, gap, masses, friction, and the force carried over from the step before."""

from __future__ import annotations

import math

from ..model.columns import GAP, INV_MASS, INV_SPIN, M_N, M_T, MU, N_X, N_Y, N_Z, R_N, R_X, R_Y, R_Z, TO_CLOSE, X, Y, Z
from ..runtime.compiled import inlined, kernel

NOTHING = 1e-60  # kg, the mass of a contact of two grains that move as they are told: nothing is done to either


@kernel
def fill_pairs(
    begin, end, start, partner, image, shifts, row, position, radius, motion, material, friction, part, slack, pairs,
    images, geometry, forces,
):  # fmt: skip
    """Contact rows of the pairs of some grains."""
    for i in range(begin, end):
        for k in range(start[i], start[i + 1]):
            c = row[k]
            if c < 0:
                continue
            j, at = partner[k], image[k]
            images[c] = at
            x = position[j, X] - position[i, X] + shifts[at, X]
            y = position[j, Y] - position[i, Y] + shifts[at, Y]
            z = position[j, Z] - position[i, Z] + shifts[at, Z]
            distance = math.sqrt(x * x + y * y + z * z)
            scale = 1.0 / distance
            n_x, n_y, n_z = scale * x, scale * y, scale * z
            g = distance - radius[i] - radius[j]
            mu = friction[material[i], material[j]]
            fill_row(c, i, j, n_x, n_y, n_z, g, part, slack, mu, motion, pairs, geometry, forces)


@kernel
def fill_walls(
    start, listed, grains, body, turning, wall_material, gap, sink, normal, motion, material, friction, part, slack,
    pairs, geometry, forces,
):  # fmt: skip
    """Contact rows of walls: every contact with the same body, or each with an element of its own from there on.

    listed : (m,) of each contact, where grains, gap, sink and normal have it
    """
    for w in range(body.size):
        for c in range(start[w], start[w + 1]):
            k = listed[c]
            i = grains[k]
            n_x, n_y, n_z = normal[k, X], normal[k, Y], normal[k, Z]
            j = body[w] + c - start[w] if turning[w] else body[w]
            mu = friction[wall_material[w], material[i]]
            fill_row(c, i, j, n_x, n_y, n_z, gap[k], part, slack, mu, motion, pairs, geometry, forces)
            geometry[c, TO_CLOSE] += sink[k]


@inlined
def fill_row(c, i, j, n_x, n_y, n_z, g, part, slack, mu, motion, pairs, geometry, forces):
    """One contact: its bodies, its geometry, and the force that has waited there, turned to the new normal."""
    r_n, x, y, z = geometry[c, N_X], geometry[c, N_Y], geometry[c, N_Z], geometry[c, TO_CLOSE]
    pairs[c, 0], pairs[c, 1] = i, j
    inverse = motion[i, INV_MASS] + motion[j, INV_MASS]
    geometry[c, N_X], geometry[c, N_Y], geometry[c, N_Z] = n_x, n_y, n_z
    geometry[c, TO_CLOSE] = g if g > 0.0 else part * min(g + slack, 0.0)  # Eq. (gpos) where part = 0
    geometry[c, M_N] = 1.0 / inverse if inverse > 0.0 else NOTHING  # Eq. (m-n)
    turning = inverse + (motion[i, INV_SPIN] + motion[j, INV_SPIN])
    geometry[c, M_T] = 1.0 / turning if turning > 0.0 else NOTHING  # Eq. (m-t)
    geometry[c, MU] = mu
    geometry[c, GAP] = g
    # The tangential force is turned into the new tangent plane and keeps its length.
    before = x * x + y * y + z * z
    if before == 0.0:
        forces[c, R_N], forces[c, R_X], forces[c, R_Y], forces[c, R_Z] = r_n, 0.0, 0.0, 0.0
        return
    along = x * n_x + y * n_y + z * n_z
    x, y, z = x - along * n_x, y - along * n_y, z - along * n_z
    after = x * x + y * y + z * z
    stretch = math.sqrt(before / after) if after > 0.0 else 0.0
    forces[c, R_N], forces[c, R_X], forces[c, R_Y], forces[c, R_Z] = r_n, stretch * x, stretch * y, stretch * z


@kernel
def bring_over(begin, end, origin, forces, to):
    """Forces of some contacts, from the rows `origin` they had before to those they have now; 0 for new ones."""
    for c in range(begin, end):
        last = origin[c, 0]
        for k in range(forces.shape[1]):
            to[c, k] = forces[last, k] if last >= 0 else 0.0


@kernel
def deepest(first, last, geometry):
    """The largest overlap of some contacts (m)."""
    most = 0.0
    for c in range(first, last):
        most = max(most, -geometry[c, GAP])
    return most
