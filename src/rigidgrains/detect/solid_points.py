"""Narrow phase of solid grains of any shape: the contact points of listed pairs, in list order."""

from __future__ import annotations

import math

import numpy as np

from ..model.columns import X, Y, Z
from ..model.turning import rotation
from ..runtime.compiled import kernel
from ..shapes.clip import FEATURE, VERTEX
from ..shapes.solid_manifold import LEAN, find_pair
from .point_columns import WITH_0, WITH_1, feature_of


@kernel
def place_centres(first, last, table, shape, scale, orientation, start, centres):
    """Centres of the spheres around the parts of some grains, from row start[i] on; places from the centre of each."""
    for i in range(first, last):
        turn, row = rotation(orientation, i), start[i]
        for part in range(table.part_start[shape[i]], table.part_start[shape[i] + 1]):
            x, y, z = table.centre[part, X], table.centre[part, Y], table.centre[part, Z]
            for a in range(3):
                centres[row, a] = scale[i] * (turn[a][X] * x + turn[a][Y] * y + turn[a][Z] * z)
            row += 1


@kernel
def find_solid_points(
    begin, end, start, partner, image, shifts, position, scale, shape, speed, turn, margin, ahead, faces, table,
    orientation, centres, first_centre, work, pairs, images, found, features,
):  # fmt: skip
    """Contact points of the listed pairs of some grains, those within reach; how many there are.

    speed, turn : (n,) m/s, relative to neighbours, and of the farthest point by turning
    faces       : see `Reach`: a part that comes by `near` turns by that over its size, and a face with it
    centres     : as `place_centres` leaves them, those of grain i from first_centre[i] on
    work        : see shapes/placed.py
    pairs, images, found, features : take the points, as far as there is room
    """
    count = 0
    for i in range(begin, end):
        for k in range(start[i], start[i + 1]):
            j, at = np.int64(partner[k]), image[k]  # of the type of i, for all that is called
            near = margin + ahead * (max(speed[i], speed[j]) + (turn[i] + turn[j]))
            dx = position[j, X] - position[i, X] + shifts[at, X]
            dy = position[j, Y] - position[i, Y] + shifts[at, Y]
            dz = position[j, Z] - position[i, Z] + shifts[at, Z]
            first_a, first_b = table.part_start[shape[i]], table.part_start[shape[j]]
            for part_a in range(first_a, table.part_start[shape[i] + 1]):
                a = first_centre[i] + (part_a - first_a)
                for part_b in range(first_b, table.part_start[shape[j] + 1]):
                    b = first_centre[j] + (part_b - first_b)
                    x = dx + (centres[b, X] - centres[a, X])
                    y = dy + (centres[b, Y] - centres[a, Y])
                    z = dz + (centres[b, Z] - centres[a, Z])
                    reach = (scale[i] * table.bound[part_a] + scale[j] * table.bound[part_b]) + near
                    if x * x + y * y + z * z >= reach * reach:
                        continue
                    tangent = faces * near / min(scale[i] * table.bound[part_a], scale[j] * table.bound[part_b])
                    lean = max(LEAN, 1.0 - 1.0 / math.sqrt(1.0 + tangent * tangent))
                    made = find_pair(
                        i, j, part_a, part_b, dx, dy, dz, table, orientation, scale, near, lean, work, count, found,
                        features,
                    )  # fmt: skip
                    for p in range(count, min(count + made, len(pairs))):
                        pairs[p, 0], pairs[p, 1], images[p] = i, j, at
                        # n turns with a face or an edge, not with a vertex
                        found[p, WITH_0] = 0.0 if 0 < features[p] // FEATURE < VERTEX else 1.0
                        found[p, WITH_1] = 0.0 if 0 < features[p] % FEATURE < VERTEX else 1.0
                        features[p] = feature_of(part_a - first_a, part_b - first_b, features[p])
                    count += made
    return count
