"""Narrow phase of flat grains of any shape: the contact points of listed pairs, in list order."""

from __future__ import annotations

import math

import numpy as np

from ..model.columns import X, Y
from ..runtime.compiled import allocating, inside, kernel
from ..shapes.flat_manifold import GAP as FLAT_GAP
from ..shapes.flat_manifold import N_X, N_Y, NORMAL_X, NORMAL_Y, P_X, P_Y, POINT_X, POINT_Y, flat_manifold, place_part
from .point_columns import (
    FOUND_GAP,
    FOUND_N_X,
    FOUND_N_Y,
    FOUND_N_Z,
    FOUND_X,
    FOUND_Y,
    FOUND_Z,
    WITH_0,
    WITH_1,
    feature_of,
)


@kernel
def place_sides(first, last, table, shape, scale, angle, start, sides):
    """Vertices and sides of some grains, turned and scaled, from row start[i] on; places from the centre of each.

    After those of each part comes a row with the centre of the circle around it.
    """
    for i in range(first, last):
        cosine, sine, row = math.cos(angle[i]), math.sin(angle[i]), start[i]
        for part in range(table.part_start[shape[i]], table.part_start[shape[i] + 1]):
            place_part(table, part, cosine, sine, scale[i], sides, row)
            row += table.vertex_start[part + 1] - table.vertex_start[part]
            x, y = scale[i] * table.centre[part, X], scale[i] * table.centre[part, Y]
            sides[row, P_X], sides[row, P_Y] = cosine * x - sine * y, sine * x + cosine * y
            row += 1


@inside
def _write(count, i, j, at, a, b, p, with_0, with_1, points, ids, pairs, images, found, features):
    """Keep a point, if there is room for it."""
    if count < len(pairs):
        pairs[count, 0], pairs[count, 1], images[count] = i, j, at
        found[count, FOUND_X], found[count, FOUND_Y], found[count, FOUND_Z] = (
            points[p, POINT_X],
            points[p, POINT_Y],
            0.0,
        )
        found[count, FOUND_N_X], found[count, FOUND_N_Y] = points[p, NORMAL_X], points[p, NORMAL_Y]
        found[count, FOUND_N_Z], found[count, FOUND_GAP] = 0.0, points[p, FLAT_GAP]
        found[count, WITH_0], found[count, WITH_1] = with_0, with_1
        features[count] = feature_of(a, b, ids[p])


@inside
def _is_normal(sides, a, count, n_x, n_y):
    """1 where n is the normal of a side of a part, else 0."""
    for k in range(a, a + count):
        if sides[k, N_X] == n_x and sides[k, N_Y] == n_y:
            return 1.0
    return 0.0


@allocating
def find_flat_points(
    begin, end, start, partner, image, shifts, position, scale, shape, speed, turn, margin, ahead, faces, table, sides,
    first_side, pairs, images, found, features,
):  # fmt: skip
    """Contact points of the listed pairs of some grains, those within reach; how many there are.

    speed, turn : (n,) m/s, relative to neighbours, and of the farthest point by turning
    faces       : of no use here, sides of flat grains are always looked at
    sides       : as `place_sides` leaves them, those of grain i from first_side[i] on
    pairs, images, found, features : take the points, as far as there is room
    """
    points, ids, count = np.empty((2, 5)), np.empty(2, np.int64), np.int64(0)  # of one type, for all that is called
    for i in range(begin, end):
        for k in range(start[i], start[i + 1]):
            j, at = partner[k], image[k]
            near = margin + ahead * (max(speed[i], speed[j]) + (turn[i] + turn[j]))
            dx, dy = position[j, X] - position[i, X] + shifts[at, X], position[j, Y] - position[i, Y] + shifts[at, Y]
            a = first_side[i]
            for part_a in range(table.part_start[shape[i]], table.part_start[shape[i] + 1]):
                count_a = table.vertex_start[part_a + 1] - table.vertex_start[part_a]
                b = first_side[j]
                for part_b in range(table.part_start[shape[j]], table.part_start[shape[j] + 1]):
                    count_b = table.vertex_start[part_b + 1] - table.vertex_start[part_b]
                    x = dx + (sides[b + count_b, P_X] - sides[a + count_a, P_X])
                    y = dy + (sides[b + count_b, P_Y] - sides[a + count_a, P_Y])
                    reach = (scale[i] * table.bound[part_a] + scale[j] * table.bound[part_b]) + near
                    made = 0
                    if x * x + y * y < reach * reach:
                        made, _ = flat_manifold(
                            sides, a, count_a, scale[i] * table.radius[part_a], b, count_b,
                            scale[j] * table.radius[part_b], dx, dy, near, points, ids, 0,
                        )  # fmt: skip
                    with_0, with_1 = 0.0, 0.0
                    if made > 0:
                        n_x, n_y = points[0, NORMAL_X], points[0, NORMAL_Y]
                        with_0 = _is_normal(sides, a, count_a, n_x, n_y)
                        with_1 = _is_normal(sides, b, count_b, -n_x, -n_y)
                    for p in range(made):
                        own, other = part_a - table.part_start[shape[i]], part_b - table.part_start[shape[j]]
                        _write(
                            count, i, j, at, own, other, p, with_0, with_1, points, ids, pairs, images, found, features
                        )
                        count += 1
                    b += count_b + 1
                a += count_a + 1
    return count
