"""Depth of two convex cores that overlap: the least over separating axes, normals of faces and of edge pairs.

Nothing is preferred for its kind: n is the axis of the least depth, to EVEN of the size, and the depth is that along n.
"""

from __future__ import annotations

import math

import numpy as np

from ..runtime.compiled import folded, inlined
from .clip import edge_code, frame, pack
from .gjk import P_A, P_B, N
from .placed import A, B, farthest
from .table import HEAD, LEFT, RIGHT, TAIL, X, Y, Z

PARALLEL = 1e-13  # sine below which an edge pair has no axis; a neighbouring face is as near, to this share of an edge
THIN = 1e-6  # of the normals of two faces, added up: below, they are the two sides of a thin sheet
EVEN = 1e-13  # share of the size within which depths are equal; then a face comes before edges, and A before B


@inlined
def depth(table, part_a, part_b, size, work):
    """Least depth of two cores that overlap or touch.

    size : m, of the pair
    work : `found` takes n from A to B and the deepest points

    Returns the room along n (m, minus the depth) and the feature of the deepest points.
    """
    found, v = work.found, work.vertices
    count_a = table.vertex_start[part_a + 1] - table.vertex_start[part_a]
    count_b = table.vertex_start[part_b + 1] - table.vertex_start[part_b]
    most_a, face_a = _faces(table, part_a, part_b, A, B, size, work)
    most_b, face_b = _faces(table, part_b, part_a, B, A, size, work)
    edge_a, edge_b = _edges(table, part_a, part_b, max(most_a, most_b) + EVEN * size, work)
    if max(edge_a, face_a, face_b) < 0:
        return _without_axis(count_a, count_b, work), of_point(count_a, count_b)
    of_a = most_a >= most_b - EVEN * size
    if edge_a < 0:
        for c in range(3):
            found[N, c] = work.normals[A, face_a, c] if of_a else -work.normals[B, face_b, c]
    x, y, z = found[N, X], found[N, Y], found[N, Z]
    i, high = farthest(v, A, count_a, x, y, z)
    j, low = farthest(v, B, count_b, -x, -y, -z)
    room = -low - high
    if edge_a >= 0:
        return room, _cross(table, part_a, part_b, edge_a, edge_b, work)
    for c in range(3):  # a vertex below a face
        found[P_A, c] = v[B, j, c] - room * found[N, c] if of_a else v[A, i, c]
        found[P_B, c] = v[B, j, c] if of_a else v[A, i, c] + room * found[N, c]
    if min(count_a, count_b) == 1:
        return room, of_point(count_a, count_b)
    return room, pack(0, j + 1) if of_a else pack(i + 1, 0)


@folded
def _without_axis(count_a, count_b, work):
    """n and a common place of points and segments in one line; returns the room along n, which is none."""
    found, v = work.found, work.vertices
    side, other = (A, B) if count_a > 1 else (B, A)
    share = 0.0
    found[N, X], found[N, Y], found[N, Z] = 1.0, 0.0, 0.0
    if max(count_a, count_b) > 1:
        a, b, c = v[side, 1, X] - v[side, 0, X], v[side, 1, Y] - v[side, 0, Y], v[side, 1, Z] - v[side, 0, Z]
        square, low, high = a * a + b * b + c * c, np.inf, -np.inf
        length = math.sqrt(square)
        found[N, X], found[N, Y], found[N, Z], _, _, _ = frame(a / length, b / length, c / length)
        for k in range(count_b if side == A else count_a):
            e, f, g = v[other, k, X] - v[side, 0, X], v[other, k, Y] - v[side, 0, Y], v[other, k, Z] - v[side, 0, Z]
            at = min(max((a * e + b * f + c * g) / square, 0.0), 1.0)
            low, high = min(low, at), max(high, at)
        share = 0.5 * (low + high)
    last = 1 if max(count_a, count_b) > 1 else 0
    for c in range(3):
        found[P_A, c] = found[P_B, c] = v[side, 0, c] + share * (v[side, last, c] - v[side, 0, c])
    return 0.0


@folded
def of_point(count_a, count_b):
    """The feature of a contact with a sphere, the same wherever it rolls."""
    return pack(1 if count_a == 1 else 0, 1 if count_b == 1 else 0)


@folded
def _faces(table, part, other, side, across, size, work):
    """The largest separation along the normals of a part's faces, and its face, the first of equals; -1: no faces."""
    best, face, first = -np.inf, -1, table.face_start[part]
    count = table.vertex_start[other + 1] - table.vertex_start[other]
    for f in range(table.face_start[part + 1] - first):
        x, y, z = work.normals[side, f, X], work.normals[side, f, Y], work.normals[side, f, Z]
        _, low = farthest(work.vertices, across, count, -x, -y, -z)
        v = table.loops[table.loop_start[first + f]] - table.vertex_start[part]
        p = work.vertices
        apart = -low - (p[side, v, X] * x + p[side, v, Y] * y + p[side, v, Z] * z)
        if apart > best + EVEN * size:
            best, face = apart, f
    return best, face


@folded
def _edges(table, part_a, part_b, best, work):
    """The edges whose common normal has the largest separation, if above `best`, else -1; n into `found`.

    Two edges make a face of the difference A - B only where their arcs on the sphere of normals cross, those of B
    mirrored; edges of segments have no arcs, and are tried both ways.
    """
    edge_a, edge_b = -1, -1
    n, v, edges, found, along = work.normals, work.vertices, table.edges, work.found, work.along
    first_a, first_b = table.vertex_start[part_a], table.vertex_start[part_b]
    count_a, count_b = table.vertex_start[part_a + 1] - first_a, table.vertex_start[part_b + 1] - first_b
    face_a, face_b = table.face_start[part_a], table.face_start[part_b]
    faces_b = table.face_start[part_b + 1] - face_b
    for e in range(table.edge_start[part_a], table.edge_start[part_a + 1]):
        p, q = edges[e, TAIL] - first_a, edges[e, HEAD] - first_a
        f, g = edges[e, LEFT] - face_a, edges[e, RIGHT] - face_a
        open_a = edges[e, LEFT] < 0
        a, b, c = v[A, q, X] - v[A, p, X], v[A, q, Y] - v[A, p, Y], v[A, q, Z] - v[A, p, Z]
        for k in range(faces_b):
            along[k] = n[B, k, X] * a + n[B, k, Y] * b + n[B, k, Z] * c
        for h in range(table.edge_start[part_b], table.edge_start[part_b + 1]):
            k, m = edges[h, LEFT] - face_b, edges[h, RIGHT] - face_b
            open_b = edges[h, LEFT] < 0
            # From the one face of an edge to the other the sign of the other edge's component must change
            if not open_b and along[k] * along[m] >= 0.0:
                continue
            r, s = edges[h, TAIL] - first_b, edges[h, HEAD] - first_b
            i, j, o = v[B, s, X] - v[B, r, X], v[B, s, Y] - v[B, r, Y], v[B, s, Z] - v[B, r, Z]
            if not open_a:
                up = n[A, f, X] * i + n[A, f, Y] * j + n[A, f, Z] * o
                down = n[A, g, X] * i + n[A, g, Y] * j + n[A, g, Z] * o
                if up * down >= 0.0:
                    continue
            x, y, z = b * o - c * j, c * i - a * o, a * j - b * i
            square = x * x + y * y + z * z
            if square <= PARALLEL * PARALLEL * (a * a + b * b + c * c) * (i * i + j * j + o * o):
                continue
            out_a = 0.0 if open_a else _outward(n, A, f, g, a, b, c, x, y, z)
            out_b = 0.0 if open_b else -_outward(n, B, k, m, i, j, o, x, y, z)
            apart = x * (v[B, r, X] - v[A, p, X]) + y * (v[B, r, Y] - v[A, p, Y]) + z * (v[B, r, Z] - v[A, p, Z])
            if out_a * out_b < 0.0:  # the arcs cross on opposite sides of the sphere
                continue
            outward = apart if open_a and open_b else out_b if open_a else out_a
            length = math.copysign(math.sqrt(square), outward)
            if apart / length <= best:
                continue
            x, y, z = x / length, y / length, z / length
            _, high = farthest(v, A, count_a, x, y, z)  # an axis that rounding has turned must not pretend to separate
            _, low = farthest(v, B, count_b, -x, -y, -z)
            if -low - high > best:
                best, edge_a, edge_b = -low - high, e, h
                found[N, X], found[N, Y], found[N, Z] = x, y, z
    return edge_a, edge_b


@folded
def _outward(n, side, f, g, a, b, c, x, y, z):
    """How far (x, y, z) points out of a part at its edge (a, b, c) between faces f and g; of a thin sheet sideways."""
    p, q, r = n[side, f, X] + n[side, g, X], n[side, f, Y] + n[side, g, Y], n[side, f, Z] + n[side, g, Z]
    if p * p + q * q + r * r < THIN * THIN:
        i, j, k = n[side, f, X], n[side, f, Y], n[side, f, Z]
        p, q, r = b * k - c * j, c * i - a * k, a * j - b * i
    return p * x + q * y + r * z


@folded
def _cross(table, part_a, part_b, edge_a, edge_b, work):
    """Nearest points of the lines of two edges, within both; returns their feature."""
    v, found = work.vertices, work.found
    first_a, first_b = table.vertex_start[part_a], table.vertex_start[part_b]
    p, q = table.edges[edge_a, TAIL] - first_a, table.edges[edge_a, HEAD] - first_a
    r, s = table.edges[edge_b, TAIL] - first_b, table.edges[edge_b, HEAD] - first_b
    a, b, c = v[A, q, X] - v[A, p, X], v[A, q, Y] - v[A, p, Y], v[A, q, Z] - v[A, p, Z]
    e, f, g = v[B, s, X] - v[B, r, X], v[B, s, Y] - v[B, r, Y], v[B, s, Z] - v[B, r, Z]
    i, j, k = v[B, r, X] - v[A, p, X], v[B, r, Y] - v[A, p, Y], v[B, r, Z] - v[A, p, Z]
    x, y, z = b * g - c * f, c * e - a * g, a * f - b * e
    square = x * x + y * y + z * z
    share_a = min(max((x * (j * g - k * f) + y * (k * e - i * g) + z * (i * f - j * e)) / square, 0.0), 1.0)
    share_b = min(max((x * (j * c - k * b) + y * (k * a - i * c) + z * (i * b - j * a)) / square, 0.0), 1.0)
    for c in range(3):
        found[P_A, c] = v[A, p, c] + share_a * (v[A, q, c] - v[A, p, c])
        found[P_B, c] = v[B, r, c] + share_b * (v[B, s, c] - v[B, r, c])
    return pack(edge_code(p, q), edge_code(r, s))
