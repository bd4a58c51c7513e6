"""Contact points of two rounded convex parts in 3D: one normal, all corners of the contact polygon.

Cores that are apart have the normal of their distance (GJK), those that overlap that of the least depth (separating
axes). The gap of a point is signed, along n, between the rounded surfaces; the point is half-way. Where n leans
against a face, at most LEAN, gaps of corners other than the nearest are too large by at most that part of the rounding.
"""

from __future__ import annotations

import numpy as np

from ..runtime.compiled import kernel, law
from .clip import TWIN, clip, edge_code, frame, merge_corners, outline, pack
from .gjk import APART, FAR, P_A, P_B, N, distance
from .placed import LIFT, A, B, H, S, T, farthest, flattest, place_normals, place_vertices
from .sat import EDGES, FACE_A, NONE, depth
from .table import HEAD, TAIL, X, Y, Z

# Columns of points: place (m), n from body 0 to body 1, gap (m)
P_X, P_Y, P_Z, N_X, N_Y, N_Z, GAP = range(7)
LEAN = 1e-3  # 1 - cosine of the angle within which n belongs to a face
SLOPE = 0.05  # of an edge that may lie along another
ALONG = 0.9  # cosine of two edges that may lie along each other
SNAP = 1e-13  # n becomes that of a face where that changes the gap by no more than this share of the size
SEEN = 1e-9  # share of the size within which the nearest point counts as one of the corners


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
            i, j, parts[p, 0], parts[p, 1], x, y, z, table, orientation, scale, margin, work, total, points, features
        )
        for k in range(first, min(total, len(points))):
            points[k, P_X] += position[i, X]
            points[k, P_Y] += position[i, Y]
            points[k, P_Z] += position[i, Z]
    start[len(pairs)] = total
    return total


@law
def find_pair(i, j, part_a, part_b, x, y, z, table, orientation, scale, margin, work, row, points, features):
    """The same for one pair; places from the centre of body 0, where body 1 is at x, y, z."""
    count_a = table.vertex_start[part_a + 1] - table.vertex_start[part_a]
    count_b = table.vertex_start[part_b + 1] - table.vertex_start[part_b]
    size = scale[i] * table.bound[part_a] + scale[j] * table.bound[part_b]
    r_a, r_b = scale[i] * table.radius[part_a], scale[j] * table.radius[part_b]
    place_vertices(table, part_a, A, 0.0, 0.0, 0.0, orientation, i, scale[i], work)
    place_vertices(table, part_b, B, x, y, z, orientation, j, scale[j], work)
    d, ending, picked = distance(count_a, count_b, x, y, z, r_a + r_b + margin, size, work)
    if ending == FAR:
        return 0
    if ending == APART and min(count_a, count_b) == 1:  # a sphere
        return _one(d, _of_point(count_a, count_b), r_a, r_b, margin, work, row, points, features)
    place_normals(table, part_a, A, work)
    place_normals(table, part_b, B, work)
    if ending == APART:
        return _apart_points(table, part_a, part_b, d, picked, size, r_a, r_b, margin, work, row, points, features)
    return _deep_points(table, part_a, part_b, size, r_a, r_b, margin, work, row, points, features)


@law
def _apart_points(table, part_a, part_b, d, picked, size, r_a, r_b, margin, work, row, points, features):
    """Points of cores that are apart."""
    found, normals = work.found, work.normals
    count_a = table.vertex_start[part_a + 1] - table.vertex_start[part_a]
    count_b = table.vertex_start[part_b + 1] - table.vertex_start[part_b]
    nearest = _of_picks(picked, work)
    x, y, z = found[N, X], found[N, Y], found[N, Z]
    v, _ = farthest(work.vertices, A, count_a, x, y, z)
    w, _ = farthest(work.vertices, B, count_b, -x, -y, -z)
    edge_a, slope_a, face_a, flat_a = flattest(table, part_a, A, v, x, y, z, work)
    edge_b, slope_b, face_b, flat_b = flattest(table, part_b, B, w, -x, -y, -z, work)
    ref, face, sign = (A, face_a, 1.0) if flat_a >= flat_b else (B, face_b, -1.0)
    if max(flat_a, flat_b) < 1.0 - LEAN:
        if max(slope_a, slope_b) > SLOPE:
            return _one(d, nearest, r_a, r_b, margin, work, row, points, features)
        count = _along_edges(table, part_a, part_b, edge_a, edge_b, r_a, r_b, margin, work, row, points, features)
        return _with_nearest(count, d, nearest, size, r_a, r_b, margin, work, row, points, features)
    a, b, c = sign * normals[ref, face, X], sign * normals[ref, face, Y], sign * normals[ref, face, Z]
    if 0.5 * d * ((a - x) ** 2 + (b - y) ** 2 + (c - z) ** 2) <= SNAP * size:
        x, y, z = a, b, c  # exact where the direction of a short distance is not
        found[N, X], found[N, Y], found[N, Z] = x, y, z
        if ref == A:
            w, _ = farthest(work.vertices, B, count_b, -x, -y, -z)
            edge_b, _, face_b, _ = flattest(table, part_b, B, w, -x, -y, -z, work)
        else:
            v, _ = farthest(work.vertices, A, count_a, x, y, z)
            edge_a, _, face_a, _ = flattest(table, part_a, A, v, x, y, z, work)
    count = _on_face(
        table, part_a, part_b, ref, face_a, edge_a, face_b, edge_b, r_a, r_b, margin, work, row, points, features
    )
    return _with_nearest(count, d, nearest, size, r_a, r_b, margin, work, row, points, features)


@law
def _deep_points(table, part_a, part_b, size, r_a, r_b, margin, work, row, points, features):
    """Points of cores that overlap, or that touch."""
    found, normals = work.found, work.normals
    count_a = table.vertex_start[part_a + 1] - table.vertex_start[part_a]
    count_b = table.vertex_start[part_b + 1] - table.vertex_start[part_b]
    found[N, X], found[N, Y], found[N, Z] = 1.0, 0.0, 0.0  # where there is no axis: centres of spheres coincide
    least, feature, edge_a, edge_b, _, chosen, face = depth(table, part_a, part_b, size, work)
    deepest, e, f, g = least, found[N, X], found[N, Y], found[N, Z]
    if chosen != NONE:
        ref, sign = (A, 1.0) if chosen == FACE_A else (B, -1.0)
        x, y, z = sign * normals[ref, face, X], sign * normals[ref, face, Y], sign * normals[ref, face, Z]
        found[N, X], found[N, Y], found[N, Z] = x, y, z
        v, high = farthest(work.vertices, A, count_a, x, y, z)
        w, low = farthest(work.vertices, B, count_b, -x, -y, -z)
        deepest = -low - high
        line_a, _, face_a, _ = flattest(table, part_a, A, v, x, y, z, work)
        line_b, _, face_b, _ = flattest(table, part_b, B, w, -x, -y, -z, work)
        face_a, face_b = (face, face_b) if ref == A else (face_a, face)
        count = 0
        if min(count_a, count_b) > 1:
            count = _on_face(
                table,
                part_a,
                part_b,
                ref,
                face_a,
                line_a,
                face_b,
                line_b,
                r_a,
                r_b,
                margin,
                work,
                row,
                points,
                features,
            )
        if count > 0:
            return count
        if feature != EDGES:  # a vertex, or a point core
            inc, at = (B, w) if ref == A else (A, v)
            lift = deepest * (1.0 if ref == A else -1.0)
            for c in range(3):
                along = found[N, c]
                mine = work.vertices[inc, at, c]
                found[P_A, c], found[P_B, c] = (mine - lift * along, mine) if ref == A else (mine, mine - lift * along)
            code = pack(0, at + 1) if ref == A else pack(at + 1, 0)
            if min(count_a, count_b) == 1:
                code = _of_point(count_a, count_b)
            return _one(deepest, code, r_a, r_b, margin, work, row, points, features)
        found[N, X], found[N, Y], found[N, Z] = e, f, g
    if feature == EDGES:
        code = _cross_edges(table, part_a, part_b, edge_a, edge_b, work)
        return _one(least, code, r_a, r_b, margin, work, row, points, features)
    for c in range(3):  # points and segments that meet without an axis
        found[P_A, c] = found[P_B, c] = work.vertices[A if count_a == 1 else B, 0, c]
    if count_a + count_b > 2:  # a point on a segment: across the segment
        side = B if count_a == 1 else A
        a, b, c = (
            work.vertices[side, 1, X] - work.vertices[side, 0, X],
            work.vertices[side, 1, Y] - work.vertices[side, 0, Y],
            work.vertices[side, 1, Z] - work.vertices[side, 0, Z],
        )
        length = np.sqrt(a * a + b * b + c * c)
        x, y, z, _, _, _ = frame(a / length, b / length, c / length)
        found[N, X], found[N, Y], found[N, Z] = x, y, z
    return _one(0.0, _of_point(count_a, count_b), r_a, r_b, margin, work, row, points, features)


@law
def _on_face(table, part_a, part_b, ref, face_a, edge_a, face_b, edge_b, r_a, r_b, margin, work, row, points, features):
    """Corners of the contact polygon of a face and what lies on it; returns how many there are within the margin."""
    x, y, z = work.found[N, X], work.found[N, Y], work.found[N, Z]
    count_a = outline(table, part_a, A, face_a, edge_a, x, y, z, work)
    count_b = outline(table, part_b, B, face_b, edge_b, x, y, z, work)
    face, count_ref, count = (face_a, count_a, count_b) if ref == A else (face_b, count_b, count_a)
    count = clip(ref, face, count_ref, count, x, y, z, work)
    if count == 0:
        return 0
    count = merge_corners(count, ref, count_a, count_b, work)
    a, b, c, e, f, g = frame(x, y, z)
    kept = 0
    for k in range(count):
        s, t, h, lift = (
            work.polygon[0, k, S],
            work.polygon[0, k, T],
            work.polygon[0, k, H],
            work.polygon[0, k, LIFT],
        )
        gap = lift - r_a - r_b
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
    return kept


@law
def _along_edges(table, part_a, part_b, edge_a, edge_b, r_a, r_b, margin, work, row, points, features):
    """The two ends of what edges side by side have in common, between their cylinders; how many are in reach."""
    lines, found = work.outline, work.found
    x, y, z = found[N, X], found[N, Y], found[N, Z]
    outline(table, part_a, A, -1, edge_a, x, y, z, work)
    outline(table, part_b, B, -1, edge_b, x, y, z, work)
    s, t = lines[A, 1, S] - lines[A, 0, S], lines[A, 1, T] - lines[A, 0, T]
    p, q = lines[B, 1, S] - lines[B, 0, S], lines[B, 1, T] - lines[B, 0, T]
    along, whole, r = p * s + q * t, s * s + t * t, r_a + r_b
    if abs(along) < ALONG * np.sqrt(whole * (p * p + q * q)):
        return 0
    begin = ((lines[B, 0, S] - lines[A, 0, S]) * s + (lines[B, 0, T] - lines[A, 0, T]) * t) / whole
    turn = along / whole  # B's edge covers shares begin to begin + turn of A's
    low, high = max(0.0, min(begin, begin + turn)), min(1.0, max(begin, begin + turn))
    if high - low <= TWIN:
        return 0
    near, kept = TWIN * (high - low), 0
    a, b, c, e, f, g = frame(x, y, z)
    for last in range(2):
        share = high if last == 1 else low
        other = (share - begin) / turn
        s_a, t_a = lines[A, 0, S] + share * s, lines[A, 0, T] + share * t
        aside_s, aside_t = lines[B, 0, S] + other * p - s_a, lines[B, 0, T] + other * q - t_a
        h_a = lines[A, 0, H] + share * (lines[A, 1, H] - lines[A, 0, H])
        h_b = lines[B, 0, H] + other * (lines[B, 1, H] - lines[B, 0, H])
        square = r * r - aside_s * aside_s - aside_t * aside_t
        if square <= 0.0:
            continue
        reach = np.sqrt(square)  # where lines are aside of each other, cylinders are farther apart along n
        gap = h_b - h_a - reach
        if gap > margin:
            continue
        part = r_a / r
        middle = h_a + part * reach + 0.5 * gap
        s_a, t_a = s_a + part * aside_s, t_a + part * aside_t
        code_a = _end(work.corner[A, 0], work.corner[A, 1], share, near)
        code_b = _end(work.corner[B, 0], work.corner[B, 1], other, near / abs(turn))
        x_, y_, z_ = s_a * a + t_a * e + middle * x, s_a * b + t_a * f + middle * y, s_a * c + t_a * g + middle * z
        _write(x_, y_, z_, gap, pack(code_a, code_b), work, row + kept, points, features)
        kept += 1
    return kept


@law
def _end(v, w, share, near):
    """The code of an edge at a share of its length: a vertex at its ends."""
    if share <= near:
        return v + 1
    return w + 1 if share >= 1.0 - near else edge_code(v, w)


@law
def _with_nearest(count, d, nearest, size, r_a, r_b, margin, work, row, points, features):
    """Add the nearest point of two cores where none of the points so far is as near."""
    gap = d - r_a - r_b
    for k in range(row, min(row + count, len(points))):
        if points[k, GAP] <= gap + SEEN * size:
            return count
    return count + _one(d, nearest, r_a, r_b, margin, work, row + count, points, features)


@law
def _one(d, feature, r_a, r_b, margin, work, row, points, features):
    """The point between the two that GJK or the edge pair has found; 1, or 0 where it is beyond the margin."""
    found, gap = work.found, d - r_a - r_b
    if gap > margin:
        return 0
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
    return 1


@law
def _write(x, y, z, gap, feature, work, row, points, features):
    if row < len(points):
        points[row, P_X], points[row, P_Y], points[row, P_Z] = x, y, z
        for c in range(3):
            points[row, N_X + c] = work.found[N, c]
        points[row, GAP] = gap
        features[row] = feature


@law
def _of_point(count_a, count_b):
    """The feature of a contact with a sphere, the same wherever it rolls."""
    return pack(1 if count_a == 1 else 0, 1 if count_b == 1 else 0)


@law
def _of_picks(picked, work):
    """The feature of the nearest points, by the vertices they are made of: those of a face do not count."""
    return pack(_of_side(A, picked, work), _of_side(B, picked, work))


@law
def _of_side(side, picked, work):
    first, second, more = work.picks[0, side], -1, False
    for k in range(1, picked):
        v = work.picks[k, side]
        if v != first and second < 0:
            second = v
        more = more or (v != first and v != second)
    if more:
        return 0
    return first + 1 if second < 0 else edge_code(first, second)


@law
def _cross_edges(table, part_a, part_b, edge_a, edge_b, work):
    """Nearest points of the lines of two edges, within both; returns their feature."""
    v, found = work.vertices, work.found
    first_a, first_b = table.vertex_start[part_a], table.vertex_start[part_b]
    p, q = table.edges[edge_a, TAIL] - first_a, table.edges[edge_a, HEAD] - first_a
    r, s = table.edges[edge_b, TAIL] - first_b, table.edges[edge_b, HEAD] - first_b
    aa, bb, ab, oa, ob = 0.0, 0.0, 0.0, 0.0, 0.0
    for c in range(3):
        a, b, o = v[A, q, c] - v[A, p, c], v[B, s, c] - v[B, r, c], v[B, r, c] - v[A, p, c]
        aa, bb, ab, oa, ob = aa + a * a, bb + b * b, ab + a * b, oa + o * a, ob + o * b
    down = aa * bb - ab * ab
    share_a = min(max((oa * bb - ob * ab) / down, 0.0), 1.0)
    share_b = min(max((oa * ab - ob * aa) / down, 0.0), 1.0)
    for c in range(3):
        found[P_A, c] = v[A, p, c] + share_a * (v[A, q, c] - v[A, p, c])
        found[P_B, c] = v[B, r, c] + share_b * (v[B, s, c] - v[B, r, c])
    return pack(edge_code(p, q), edge_code(r, s))
