"""Contact points of two rounded convex cores in 2D: one normal, up to two points.

The normal is that of the side along which the cores are farthest apart (or overlap least), or the line between the two
closest vertices where those are closer to each other than to any side. Then the sides that face each other are clipped
to their common extent, whose ends are the contact points. Nothing depends on earlier steps.
"""

from __future__ import annotations

import math

from ..runtime.compiled import inside, kernel
from .table import X, Y

# Columns of `sides`, one row per vertex: its place relative to the body's centre (m), and the outward normal of the
# side from it to the next vertex
P_X, P_Y, N_X, N_Y = range(4)
# Columns of `points`: contact point relative to the centre of body 0 (m), normal from 0 to 1, gap (m)
POINT_X, POINT_Y, NORMAL_X, NORMAL_Y, GAP = range(5)

SPAN = 1 << 20  # an id is (vertex of 0) * SPAN + (vertex of 1), vertices counted within their parts
TIE = 1e-13  # of the distance of centres: differences below this are rounding
TWINS = 1e-9  # of a side's length: ends of the common extent closer than this are one point
STEEP = 0.1  # cosine: a side steeper than this faces nobody, only its vertex does


@kernel
def place_part(table, part, cosine, sine, scale, sides, first):
    """Write the vertices of a 2D part of a `ShapeTable`, turned and scaled, into rows of `sides` from `first` on."""
    start, stop, face = table.vertex_start[part], table.vertex_start[part + 1], table.face_start[part]
    for k in range(stop - start):
        x, y = scale * table.vertices[start + k, X], scale * table.vertices[start + k, Y]
        sides[first + k, P_X], sides[first + k, P_Y] = cosine * x - sine * y, sine * x + cosine * y
        sides[first + k, N_X], sides[first + k, N_Y] = 0.0, 0.0
        if stop - start > 1:
            x, y = table.face_normals[face + k, X], table.face_normals[face + k, Y]
            sides[first + k, N_X], sides[first + k, N_Y] = cosine * x - sine * y, sine * x + cosine * y


@kernel
def flat_manifold(sides, a, count_a, radius_a, b, count_b, radius_b, dx, dy, margin, points, ids, at):
    """Contact points of two parts with a gap below a margin: how many there are, and the least gap (m).

    Without points the gap returned is a lower bound. Gaps are those between balls of the rounding radii around the two
    places of the cores that face each other along the normal; the point lies half-way. The least one is exact: the
    distance of separated cores, or the least overlap (SAT) of others, less both radii.

    sides                : (rows, 4) as `place_part` writes them
    a, count_a, radius_a : first row, vertices and rounding (m) of the part of body 0; b, ... those of body 1
    dx, dy               : m, from the centre of body 0 to that of body 1
    points, ids, at      : (rows, 5), (rows,), where results go from row `at` on
    """
    radius = radius_a + radius_b
    far_a, side_a, near_b = -math.inf, 0, 0
    far_b, side_b, near_a = -math.inf, 0, 0
    if count_a > 1:
        far_a, side_a, near_b = _separation(sides, a, count_a, b, count_b, dx, dy)
        if far_a - radius > margin:
            return 0, far_a - radius
    if count_b > 1:
        far_b, side_b, near_a = _separation(sides, b, count_b, a, count_a, -dx, -dy)
        if far_b - radius > margin:
            return 0, far_b - radius
    # 1. the side of greatest separation, and the closest vertices where no side faces the other core
    corner, apart = count_a == 1 and count_b == 1, max(far_a, far_b)
    rounding = TIE * (abs(dx) + abs(dy))
    by_b = far_b > far_a + rounding
    vertex_a, vertex_b = near_a, near_b
    if not corner:
        if by_b:
            beyond, end = _beyond(sides, b, count_b, side_b, a + near_a, -dx, -dy)
            vertex_b = end
            vertex_a = _nearest(sides, a, count_a, sides[b + end, P_X] + dx, sides[b + end, P_Y] + dy)
        else:
            beyond, end = _beyond(sides, a, count_a, side_a, b + near_b, dx, dy)
            vertex_a = end
            vertex_b = _nearest(sides, b, count_b, sides[a + end, P_X] - dx, sides[a + end, P_Y] - dy)
        if beyond:
            # Seen as one polygon, the Minkowski difference, the side farthest from the origin along its normal ends at
            # the closest vertex: no other pair need be tried. Where this one fails, a side ties and is as close.
            corner = _optimal(sides, a, count_a, vertex_a, b, count_b, vertex_b, dx, dy)
    # 2. the normal, and the sides that face each other along it
    n_x, n_y = 1.0, 0.0
    if corner:
        e_x = sides[b + vertex_b, P_X] + dx - sides[a + vertex_a, P_X]
        e_y = sides[b + vertex_b, P_Y] + dy - sides[a + vertex_a, P_Y]
        distance = math.sqrt(e_x * e_x + e_y * e_y)
        if distance > rounding:
            apart = distance
            if apart - radius > margin:
                return 0, apart - radius
            n_x, n_y = e_x / distance, e_y / distance
            side_a, side_b = _beside(sides, a, count_a, vertex_a, b, count_b, vertex_b, n_x, n_y)
        elif count_a == 1 and count_b == 1:
            apart, side_a, side_b = 0.0, -1, -1
        else:
            corner = False
    if not corner:
        if by_b:
            n_x, n_y = -sides[b + side_b, N_X], -sides[b + side_b, N_Y]
            side_a, vertex_a, vertex_b = _facing(sides, a, count_a, n_x, n_y), near_a, side_b
        else:
            n_x, n_y = sides[a + side_a, N_X], sides[a + side_a, N_Y]
            side_b, vertex_a, vertex_b = _facing(sides, b, count_b, -n_x, -n_y), side_a, near_b
    # 3. both sides along the tangent (n turned left): body 0 from low to high, body 1 from high to low
    o_x, o_y = sides[a + vertex_a, P_X], sides[a + vertex_a, P_Y]
    low_a, high_a, up_a, slope_a, after_a = _extent(sides, a, count_a, side_a, vertex_a, -o_x, -o_y, n_x, n_y)
    start_b, stop_b, up_b, slope_b, after_b = _extent(
        sides, b, count_b, side_b, vertex_b, dx - o_x, dy - o_y, -n_x, -n_y
    )
    low_b, high_b, up_b, begin_a, begin_b = -stop_b, -start_b, -up_b, vertex_a, vertex_b
    if side_a >= 0:
        begin_a = side_a
    if side_b >= 0:
        begin_b = side_b
    low, high = max(low_a, low_b), min(high_a, high_b)
    size = max(high_a - low_a, high_b - low_b)
    count = 0
    if high - low > TWINS * size:
        for end in range(2):
            t, id_a, id_b = (low, begin_a, after_b) if end == 0 else (high, after_a, begin_b)
            bottom, top = up_a + slope_a * (t - low_a), up_b + slope_b * (t - high_b)
            gap = top - bottom - radius
            if gap <= margin:
                _write(points, at + count, o_x, o_y, n_x, n_y, t, bottom + radius_a + 0.5 * gap, gap)
                ids[at + count] = id_a * SPAN + id_b
                count += 1
    if count == 0:
        id_a, id_b, t = begin_a, begin_b, low
        if side_a >= 0 and side_b >= 0:  # the ends that meet, at the place with the lesser gap
            id_a, id_b = (begin_a, begin_b) if low_a + high_a > low_b + high_b else (after_a, after_b)
            t = low if slope_b >= slope_a else high
        gap = apart - radius
        _write(points, at, o_x, o_y, n_x, n_y, t, up_a + slope_a * (t - low_a) + radius_a + 0.5 * gap, gap)
        ids[at] = id_a * SPAN + id_b
        count = 1
    return count, apart - radius


@kernel
def flat_manifolds(sides, start, radius, pairs, offset, margin, points, ids, counts):
    """Contact points of pairs of parts: two rows of points for each pair, the first counts[p] of them filled.

    start  : (parts + 1,) rows of `sides` of each part; radius : (parts,) m, rounding; pairs : (pairs, 2) parts
    offset : (pairs, 2) m, from the first centre to the second; points : (2 pairs, 5); ids : (2 pairs,)
    """
    for p in range(len(pairs)):
        i, j = pairs[p, 0], pairs[p, 1]
        a, b = start[i], start[j]
        dx, dy = offset[p, X], offset[p, Y]
        counts[p], _ = flat_manifold(
            sides, a, start[i + 1] - a, radius[i], b, start[j + 1] - b, radius[j], dx, dy, margin, points, ids, 2 * p
        )


@inside
def _write(points, row, o_x, o_y, n_x, n_y, t, up, gap):
    points[row, POINT_X], points[row, POINT_Y] = o_x + up * n_x - t * n_y, o_y + up * n_y + t * n_x
    points[row, NORMAL_X], points[row, NORMAL_Y], points[row, GAP] = n_x, n_y, gap


@inside
def _separation(sides, a, count_a, b, count_b, dx, dy):
    """Greatest distance of a core from a side of another, the side, and the vertex next to it; ties: the first."""
    best, side, near = -math.inf, 0, 0
    for i in range(a, a + count_a):
        n_x, n_y = sides[i, N_X], sides[i, N_Y]
        least, at = math.inf, 0
        for j in range(b, b + count_b):
            along = n_x * sides[j, P_X] + n_y * sides[j, P_Y]
            if along < least:
                least, at = along, j
        least += n_x * (dx - sides[i, P_X]) + n_y * (dy - sides[i, P_Y])
        if least > best:
            best, side, near = least, i - a, at - b
    return best, side, near


@inside
def _beyond(sides, a, count_a, side, other, dx, dy):
    """Whether a vertex lies beyond the ends of a side, and the end next to it."""
    i, after = a + side, side + 1 if side + 1 < count_a else 0
    x, y = sides[a + after, P_X] - sides[i, P_X], sides[a + after, P_Y] - sides[i, P_Y]
    square = x * x + y * y
    along = x * (sides[other, P_X] + dx - sides[i, P_X]) + y * (sides[other, P_Y] + dy - sides[i, P_Y])
    return along < 0.0 or along > square, side if along < 0.5 * square else after


@inside
def _nearest(sides, b, count_b, x, y):
    """The vertex of a core nearest to a point."""
    best, near = math.inf, 0
    for j in range(count_b):
        square = (sides[b + j, P_X] - x) ** 2 + (sides[b + j, P_Y] - y) ** 2
        if square < best:
            best, near = square, j
    return near


@inside
def _optimal(sides, a, count_a, vertex_a, b, count_b, vertex_b, dx, dy):
    """Whether no step along a side brings two vertices closer: then they are the closest points of the cores."""
    e_x = sides[b + vertex_b, P_X] + dx - sides[a + vertex_a, P_X]
    e_y = sides[b + vertex_b, P_Y] + dy - sides[a + vertex_a, P_Y]
    return _is_top(sides, a, count_a, vertex_a, e_x, e_y) and _is_top(sides, b, count_b, vertex_b, -e_x, -e_y)


@inside
def _is_top(sides, a, count_a, vertex, e_x, e_y):
    """Whether a vertex of a core lies farthest along a direction."""
    x, y = sides[a + vertex, P_X], sides[a + vertex, P_Y]
    after, before = vertex + 1 if vertex + 1 < count_a else 0, vertex - 1 if vertex > 0 else count_a - 1
    return (
        e_x * (sides[a + after, P_X] - x) + e_y * (sides[a + after, P_Y] - y) <= 0.0
        and e_x * (sides[a + before, P_X] - x) + e_y * (sides[a + before, P_Y] - y) <= 0.0
    )


@inside
def _beside(sides, a, count_a, vertex_a, b, count_b, vertex_b, n_x, n_y):
    """Of the two pairs of sides that leave two vertices on the same hand, the more parallel one.

    -1, -1 where they tie or none is near parallel: such a corner touches at one point.
    """
    if count_a == 1 or count_b == 1:
        return -1, -1
    before_a, before_b = vertex_a - 1 if vertex_a > 0 else count_a - 1, vertex_b - 1 if vertex_b > 0 else count_b - 1
    left_a, left_b = _along(sides, a + vertex_a, n_x, n_y), -_along(sides, b + before_b, n_x, n_y)
    right_a, right_b = _along(sides, a + before_a, n_x, n_y), -_along(sides, b + vertex_b, n_x, n_y)
    if left_a + left_b > right_a + right_b + TWINS and min(left_a, left_b) > STEEP:
        return vertex_a, before_b
    if right_a + right_b > left_a + left_b + TWINS and min(right_a, right_b) > STEEP:
        return before_a, vertex_b
    return -1, -1


@inside
def _along(sides, i, n_x, n_y):
    return sides[i, N_X] * n_x + sides[i, N_Y] * n_y


@inside
def _facing(sides, a, count_a, n_x, n_y):
    """The side whose normal is nearest to a direction; -1 where none is near."""
    best, side = STEEP, -1
    if count_a > 1:
        for i in range(count_a):
            along = _along(sides, a + i, n_x, n_y)
            if along > best:
                best, side = along, i
    return side


@inside
def _extent(sides, a, count_a, side, vertex, dx, dy, n_x, n_y):
    """A side, or a vertex where side = -1, along the tangent: begin, end, height at the begin, slope, last vertex."""
    first = side if side >= 0 else vertex
    x, y = sides[a + first, P_X] + dx, sides[a + first, P_Y] + dy
    begin, up = y * n_x - x * n_y, x * n_x + y * n_y
    if side < 0:
        return begin, begin, up, 0.0, first
    after = side + 1 if side + 1 < count_a else 0
    x, y = sides[a + after, P_X] + dx, sides[a + after, P_Y] + dy
    end = y * n_x - x * n_y
    return begin, end, up, (x * n_x + y * n_y - up) / (end - begin), after
