"""The loops that fill contact rows: normal, gap, masses, friction, and the force carried over from the step before."""

from __future__ import annotations

import math

from ..runtime.compiled import inlined, kernel


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
            x = position[j, 0] - position[i, 0] + shifts[at, 0]
            y = position[j, 1] - position[i, 1] + shifts[at, 1]
            z = position[j, 2] - position[i, 2] + shifts[at, 2]
            distance = math.sqrt(x * x + y * y + z * z)
            scale = 1.0 / distance
            n_x, n_y, n_z = scale * x, scale * y, scale * z
            g = distance - radius[i] - radius[j]
            mu = friction[material[i], material[j]]
            fill_row(c, i, j, n_x, n_y, n_z, g, part, slack, mu, motion, pairs, geometry, forces)


@kernel
def fill_wall(
    grains, body, stride, gap, sink, normal, motion, material, friction, part, slack, pairs, geometry, forces,
):  # fmt: skip
    """Contact rows of one wall: every contact with the same body, or each with its own surface element."""
    for c in range(grains.size):
        i = grains[c]
        n_x, n_y, n_z = normal[c, 0], normal[c, 1], normal[c, 2]
        j = body + stride * c
        mu = friction[material[i]]
        fill_row(c, i, j, n_x, n_y, n_z, gap[c], part, slack, mu, motion, pairs, geometry, forces)
        geometry[c, 3] += sink[c]


@inlined
def fill_row(c, i, j, n_x, n_y, n_z, g, part, slack, mu, motion, pairs, geometry, forces):
    """One contact: its bodies, its geometry, and the force that has waited there, turned to the new normal."""
    r_n, x, y, z = geometry[c, 0], geometry[c, 1], geometry[c, 2], geometry[c, 3]
    pairs[c, 0], pairs[c, 1] = i, j
    inverse = motion[i, 6] + motion[j, 6]
    geometry[c, 0], geometry[c, 1], geometry[c, 2] = n_x, n_y, n_z
    geometry[c, 3] = g if g > 0.0 else part * min(g + slack, 0.0)
    geometry[c, 4] = 1.0 / inverse  # Eq. (m-n)
    geometry[c, 5] = 1.0 / (inverse + (motion[i, 7] + motion[j, 7]))  # Eq. (m-t)
    geometry[c, 6] = mu
    geometry[c, 7] = g
    # The tangential force is turned into the new tangent plane and keeps its length.
    before = x * x + y * y + z * z
    if before == 0.0:
        forces[c, 0], forces[c, 1], forces[c, 2], forces[c, 3] = r_n, 0.0, 0.0, 0.0
        return
    along = x * n_x + y * n_y + z * n_z
    x, y, z = x - along * n_x, y - along * n_y, z - along * n_z
    after = x * x + y * y + z * z
    stretch = math.sqrt(before / after) if after > 0.0 else 0.0
    forces[c, 0], forces[c, 1], forces[c, 2], forces[c, 3] = r_n, stretch * x, stretch * y, stretch * z


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
        most = max(most, -geometry[c, 7])
    return most
