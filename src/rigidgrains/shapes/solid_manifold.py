"""Contact points of two rounded convex parts in 3D: one normal, all corners of the contact polygon.

Cores that are apart have the normal of their distance (GJK), those that overlap that of the least depth (separating
axes), never another one. The gap of a point is signed, along n, between the rounded surfaces; the point is half-way.
The least gap of a pair is its distance, or minus its depth, to 1e-12 of the size. Where n leans against a face, by at
most LEAN or as much as grains may turn within a step, gaps of corners other than the nearest are too large by at most
that part of the rounding.
"""

from __future__ import annotations

import math

import numpy as np

from ..runtime.compiled import folded, inlined, kernel
from .clip import TWIN, clip, edge_code, frame, merge_corners, outline, pack
from .closest import closest_edges
from .gjk import APART, FAR, P_A, P_B, STALLED, N, distance, tell
from .placed import LIFT, A, B, H, S, T, flattest, place_normals, place_vertices
from .sat import depth, of_point
from .table import X, Y, Z

# Columns of points: place (m), n from body 0 to body 1, gap (m)
P_X, P_Y, P_Z, N_X, N_Y, N_Z, GAP = range(7)
LEAN = 1e-3  # 1 - cosine of the angle within which n belongs to a face, of grains that are still
SLOPE = 0.05  # of an edge that may lie along another
ALONG = 0.9  # cosine of two edges that may lie along each other
SEEN = 3e-13  # share of the size within which the nearest point counts as one of the corners


@kernel
def find_points(pairs, parts, shift, table, position, orientation, scale, margin, work, start, points, features):
    """Contact points of pairs of parts, those with a gap up to `margin` (m).

    pairs       : (m, 2) bodies 0 and 1
    parts       : (m, 2) their parts
    shift       : (m, 3) m, to be added to the position of body 1 (its periodic image)
    position    : (n, 3) m
    orientation : (n, 4) unit quaternions (w, x, y, z)
    scale       : (n,) length over length in the table
    start       : (m + 1,) takes the rows of each pair
    points      : (room, 7) takes place, n and gap
    features    : (room,) takes what tells the points of a pair apart

    Returns how many points there are; where that is more than there is room for, the last ones are not written.
    """
    total = 0
    for p in range(len(pairs)):
        start[p] = total
        i, j = pairs[p, 0], pairs[p, 1]
        x = position[j, X] - position[i, X] + shift[p, X]
        y = position[j, Y] - position[i, Y] + shift[p, Y]
        z = position[j, Z] - position[i, Z] + shift[p, Z]
        first = total
        total += find_pair(
            i,
            j,
            parts[p, 0],
            parts[p, 1],
            x,
            y,
            z,
            table,
            orientation,
            scale,
            margin,
            LEAN,
            work,
            total,
            points,
            features,
        )
        for k in range(first, min(total, len(points))):
            points[k, P_X] += position[i, X]
            points[k, P_Y] += position[i, Y]
            points[k, P_Z] += position[i, Z]
    start[len(pairs)] = total
    return total


@inlined
def find_pair(
    i, j, part_a, part_b, x, y, z, table, orientation, scale, margin, lean, work, row, points, features
):  # fmt: skip
    """The same for one pair; places from the centre of body 0, where body 1 is at x, y, z.

    lean : 1 - cosine of the angle within which n belongs to a face
    """
    row = np.int64(row)  # where a plain number is given, all that follows would be compiled twice
    count_a = table.vertex_start[part_a + 1] - table.vertex_start[part_a]
    count_b = table.vertex_start[part_b + 1] - table.vertex_start[part_b]
    size = scale[i] * _reach(table, part_a) + scale[j] * _reach(table, part_b)
    r_a, r_b = scale[i] * table.radius[part_a], scale[j] * table.radius[part_b]
    place_vertices(table, part_a, A, 0.0, 0.0, 0.0, orientation, i, scale[i], work)
    place_vertices(table, part_b, B, x, y, z, orientation, j, scale[j], work)
    d, ending, picked = distance(count_a, count_b, x, y, z, r_a + r_b + margin, size, work)
    if ending == FAR:
        return 0
    sphere = min(count_a, count_b) == 1
    apart = ending == APART or (sphere and ending == STALLED)
    if not sphere or not apart:
        place_normals(table, part_a, A, work)
        place_normals(table, part_b, B, work)
    if not apart:
        d, nearest = depth(table, part_a, part_b, size, work)
    else:
        tell(picked, work)
        nearest = of_point(count_a, count_b) if sphere else pack(_of_side(A, picked, work), _of_side(B, picked, work))
    kept, least = 0, np.inf
    for again in range(2):
        if not sphere:
            kept, least = _corners(table, part_a, part_b, d, size, r_a, r_b, margin, lean, work, row, points, features)
        if again == 1 or ending != STALLED or sphere or d <= 0.0 or least <= d + SEEN * size:
            break
        # No bounds have met, and no corner proves the axis: a vertex may be nearest to an edge or to a vertex
        far, code = closest_edges(table, part_a, part_b, d + SEEN * size, work)
        if far <= d + SEEN * size:
            break
        d, nearest = far, code
    if least > d + SEEN * size and d - r_a - r_b <= margin:
        _nearest(d, nearest, r_a, r_b, work, row + kept, points, features)
        kept += 1
    return kept


@folded
def _reach(table, part):
    """How far the vertices of a part are from the origin of its shape, at most (m): rounding grows with it."""
    return table.bound[part] + abs(table.centre[part, X]) + abs(table.centre[part, Y]) + abs(table.centre[part, Z])


@inlined
def _corners(table, part_a, part_b, d, size, r_a, r_b, margin, lean, work, row, points, features):
    """Points of what lies flat across n, faces or edges; returns how many, and the least room between the cores (m).

    d : m, room between the cores along n
    """
    found = work.found
    x, y, z = found[N, X], found[N, Y], found[N, Z]
    edge_a, slope_a, face_a, flat_a = flattest(table, part_a, A, x, y, z, work)
    edge_b, slope_b, face_b, flat_b = flattest(table, part_b, B, -x, -y, -z, work)
    on_face = max(flat_a, flat_b) >= 1.0 - lean
    if not on_face and max(slope_a, slope_b) > SLOPE:
        return 0, np.inf
    count_a = outline(table, part_a, A, face_a if on_face else -1, edge_a, x, y, z, work)
    count_b = outline(table, part_b, B, face_b if on_face else -1, edge_b, x, y, z, work)
    if not on_face:
        return _along_edges(d, r_a, r_b, margin, work, row, points, features)
    ref, face = (A, face_a) if flat_a >= flat_b else (B, face_b)
    return _on_face(ref, face, count_a, count_b, d, size, r_a, r_b, margin, work, row, points, features)


@folded
def _on_face(ref, face, count_a, count_b, d, size, r_a, r_b, margin, work, row, points, features):
    """Corners of the contact polygon of a face and what lies on it; returns what `_corners` does."""
    x, y, z = work.found[N, X], work.found[N, Y], work.found[N, Z]
    count_ref, count = (count_a, count_b) if ref == A else (count_b, count_a)
    count = clip(ref, face, count_ref, count, size, x, y, z, work)
    if count == 0:
        return 0, np.inf
    count = merge_corners(count, ref, count_a, count_b, size, work)
    a, b, c, e, f, g = frame(x, y, z)
    kept, least = 0, np.inf
    for k in range(count):
        s, t, h = work.polygon[0, k, S], work.polygon[0, k, T], work.polygon[0, k, H]
        lift = max(work.polygon[0, k, LIFT], d)  # nothing is nearer along n; faces are flat only to rounding
        gap, least = lift - r_a - r_b, min(least, lift)
        if gap > margin:
            continue
        middle = (h + r_a + 0.5 * gap) if ref == B else (h - r_b - 0.5 * gap)
        _write(
            s * a + t * e + middle * x,
            s * b + t * f + middle * y,
            s * c + t * g + middle * z,
            gap,
            work.label[0, k],
            work,
            row + kept,
            points,
            features,
        )
        kept += 1
    return kept, least


@folded
def _along_edges(d, r_a, r_b, margin, work, row, points, features):
    """The two ends of what edges side by side have in common, between their cylinders; returns what `_corners` does."""
    lines, found = work.outline, work.found
    x, y, z = found[N, X], found[N, Y], found[N, Z]
    s, t = lines[A, 1, S] - lines[A, 0, S], lines[A, 1, T] - lines[A, 0, T]
    p, q = lines[B, 1, S] - lines[B, 0, S], lines[B, 1, T] - lines[B, 0, T]
    long_a, long_b, r = math.sqrt(s * s + t * t), math.sqrt(p * p + q * q), r_a + r_b
    cosine = (s * p + t * q) / (long_a * long_b)
    if abs(cosine) < ALONG:
        return 0, np.inf
    half = 0.5 + 0.5 * abs(cosine)  # squared cosine of the angle to the direction between both, u
    turn, long = math.copysign(1.0 / long_b, cosine), 2.0 * math.sqrt(half)
    u_s, u_t = (s / long_a + p * turn) / long, (t / long_a + q * turn) / long
    first_a, first_b = u_s * lines[A, 0, S] + u_t * lines[A, 0, T], u_s * lines[B, 0, S] + u_t * lines[B, 0, T]
    along_a, along_b = u_s * s + u_t * t, u_s * p + u_t * q
    low = max(first_a + min(along_a, 0.0), first_b + min(along_b, 0.0))
    high = min(first_a + max(along_a, 0.0), first_b + max(along_b, 0.0))
    if high - low <= TWIN * min(long_a, long_b):
        return 0, np.inf
    kept, least = 0, np.inf
    a, b, c, e, f, g = frame(x, y, z)
    for last in range(2):
        at = high if last == 1 else low
        share_a, share_b = (at - first_a) / along_a, (at - first_b) / along_b
        s_a, t_a = lines[A, 0, S] + share_a * s, lines[A, 0, T] + share_a * t
        aside_s, aside_t = lines[B, 0, S] + share_b * p - s_a, lines[B, 0, T] + share_b * q - t_a
        h_a = lines[A, 0, H] + share_a * (lines[A, 1, H] - lines[A, 0, H])
        h_b = lines[B, 0, H] + share_b * (lines[B, 1, H] - lines[B, 0, H])
        square = r * r - half * (aside_s * aside_s + aside_t * aside_t)
        if square <= 0.0:
            continue
        reach = math.sqrt(square)  # where lines are aside of each other, cylinders are farther apart along n
        gap = max(h_b - h_a - reach, d - r)
        least = min(least, gap + r)
        if gap > margin:
            continue
        part = r_a / r
        middle = h_a + part * reach + 0.5 * gap
        s_a, t_a = s_a + part * aside_s, t_a + part * aside_t
        near = TWIN * (high - low)
        code_a = _end(work.corner[A, 0], work.corner[A, 1], share_a, near / long_a)
        code_b = _end(work.corner[B, 0], work.corner[B, 1], share_b, near / long_b)
        x_, y_, z_ = s_a * a + t_a * e + middle * x, s_a * b + t_a * f + middle * y, s_a * c + t_a * g + middle * z
        _write(x_, y_, z_, gap, pack(code_a, code_b), work, row + kept, points, features)
        kept += 1
    return kept, least


@folded
def _end(v, w, share, near):
    """The code of an edge at a share of its length: a vertex at its ends."""
    if share <= near:
        return v + 1
    return w + 1 if share >= 1.0 - near else edge_code(v, w)


@folded
def _nearest(d, feature, r_a, r_b, work, row, points, features):
    """The point between the nearest, or deepest, points of the cores."""
    found, gap = work.found, d - r_a - r_b
    x, y, z = found[N, X], found[N, Y], found[N, Z]
    up = 0.5 * (r_a - r_b)
    _write(
        0.5 * (found[P_A, X] + found[P_B, X]) + up * x,
        0.5 * (found[P_A, Y] + found[P_B, Y]) + up * y,
        0.5 * (found[P_A, Z] + found[P_B, Z]) + up * z,
        gap,
        feature,
        work,
        row,
        points,
        features,
    )


@folded
def _write(x, y, z, gap, feature, work, row, points, features):
    if row < len(points):
        points[row, P_X], points[row, P_Y], points[row, P_Z] = x, y, z
        for c in range(3):
            points[row, N_X + c] = work.found[N, c]
        points[row, GAP] = gap
        features[row] = feature


@folded
def _of_side(side, picked, work):
    """The code of the nearest point of a core, by the vertices it is made of: those of a face do not count."""
    first, second, more = work.picks[0, side], np.int64(-1), False
    for k in range(1, picked):
        v = work.picks[k, side]
        if v != first and second < 0:
            second = v
        more = more or (v != first and v != second)
    if more:
        return 0
    return first + 1 if second < 0 else edge_code(first, second)
