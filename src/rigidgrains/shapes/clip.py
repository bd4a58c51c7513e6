"""Corners of the contact polygon: two faces seen along n, cut against each other, each corner with its feature.

A feature is an integer made of a code for A and one for B: 0 for the inside of a face, a vertex, or an edge by its two
vertices. It does not depend on which face cuts which, and swaps its halves when the parts are swapped.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..runtime.compiled import folded
from .placed import LIFT, A, B, H, S, T
from .table import HEAD, TAIL, X, Y, Z

VERTEX = 1 << 12  # a part has fewer vertices
FEATURE = VERTEX * VERTEX
FLAT = 1e-4  # a corner that adds less to the polygon, over its extent squared, is dropped
TWIN = 1e-3  # corners that are closer, over the extent of the polygon, are one
GRAZE = 1e-12  # a corner this far outside of a side, over the size of the pair, lies on it; rounding is far below
LEVEL = 1e-13  # gaps that are closer, over the size of the pair, are equal


@folded
def pack(code_a, code_b):
    """The feature of a contact point; where a vertex takes part, the other side's edge does not count."""
    if 0 < code_a < VERTEX and code_b >= VERTEX:
        code_b = 0
    if 0 < code_b < VERTEX and code_a >= VERTEX:
        code_a = 0
    return code_a * FEATURE + code_b


@folded
def edge_code(v, w):
    return (min(v, w) + 1) * VERTEX + max(v, w) + 1


@folded
def frame(x, y, z):
    """Two unit vectors across a unit vector, right-handed (Duff et al. 2017)."""
    sign = math.copysign(1.0, z)
    a = -1.0 / (sign + z)
    b = x * y * a
    return 1.0 + sign * x * x * a, sign * b, -sign * x, b, sign + y * y * a, -y


@folded
def outline(table, part, side, face, edge, x, y, z, work):
    """Corners of a face, or of an edge where face < 0, across and along n; returns how many."""
    a, b, c, e, f, g = frame(x, y, z)
    first, count = table.vertex_start[part], 2
    begin = 0
    if face >= 0:
        begin = table.loop_start[table.face_start[part] + face]
        count = table.loop_start[table.face_start[part] + face + 1] - begin
    for k in range(count):
        v = (table.loops[begin + k] if face >= 0 else table.edges[edge, TAIL if k == 0 else HEAD]) - first
        p, q, r = work.vertices[side, v, X], work.vertices[side, v, Y], work.vertices[side, v, Z]
        work.corner[side, k] = v
        work.outline[side, k, S] = p * a + q * b + r * c
        work.outline[side, k, T] = p * e + q * f + r * g
        work.outline[side, k, H] = p * x + q * y + r * z
    return count


@folded
def clip(ref, face, count_ref, count, size, x, y, z, work):
    """The other part's outline cut by that of the face of `ref`, into polygon[0]; returns the number of corners."""
    a, b, c, e, f, g = frame(x, y, z)
    inc, polygon, label, side, lines = 1 - ref, work.polygon, work.label, work.side, work.outline
    p, q, r = work.normals[ref, face, X], work.normals[ref, face, Y], work.normals[ref, face, Z]
    up = p * x + q * y + r * z
    lean_s, lean_t = -(p * a + q * b + r * c) / up, -(p * e + q * f + r * g) / up
    sign = 1.0 if ref == A else -1.0  # B is seen from within: its face runs clockwise
    for k in range(count):
        s, t, h = lines[inc, k, S], lines[inc, k, T], lines[inc, k, H]
        below = lines[ref, 0, H] + lean_s * (s - lines[ref, 0, S]) + lean_t * (t - lines[ref, 0, T])
        polygon[0, k, S], polygon[0, k, T], polygon[0, k, H], polygon[0, k, LIFT] = s, t, h, sign * (h - below)
        vertex = work.corner[inc, k] + 1
        label[0, k] = vertex if inc == B else vertex * FEATURE
        side[0, k] = k
    now, count_inc = A, count  # polygon 0 or 1
    for cut in range(count_ref):
        count = _cut(ref, cut, count_ref, count_inc, sign, size, now, count, work)
        now = 1 - now
        if count == 0:
            break
    if now == 1:
        for k in range(count):
            _copy(work, B, k, k)
    return count


@folded
def _cut(ref, cut, count_ref, count_inc, sign, size, now, count, work):
    """Cut polygon[now] by one side of the clipping face, into the other polygon (Sutherland, Hodgman 1974)."""
    polygon, label, side, lines = work.polygon, work.label, work.side, work.outline
    to, room = 1 - now, work.side.shape[1]
    after = cut + 1 if cut + 1 < count_ref else 0
    s, t = lines[ref, cut, S], lines[ref, cut, T]
    a, b = sign * (lines[ref, after, S] - s), sign * (lines[ref, after, T] - t)
    kept, graze = 0, GRAZE * size * math.sqrt(a * a + b * b)
    out = b * (polygon[now, 0, S] - s) - a * (polygon[now, 0, T] - t)  # outside where positive
    for k in range(count):
        m = k + 1 if k + 1 < count else 0
        out_m = b * (polygon[now, m, S] - s) - a * (polygon[now, m, T] - t)
        if out <= graze and kept < room:
            for c in range(4):
                polygon[to, kept, c] = polygon[now, k, c]
            label[to, kept] = label[now, k]
            side[to, kept] = -1 - cut if out >= 0.0 and out_m > graze else side[now, k]
            kept += 1
        if ((out < 0.0 and out_m > graze) or (out > graze and out_m < 0.0)) and kept < room:
            share = out / (out - out_m)
            for c in range(4):
                polygon[to, kept, c] = polygon[now, k, c] + share * (polygon[now, m, c] - polygon[now, k, c])
            label[to, kept] = _crossing(ref, cut, after, count_ref, count_inc, side[now, k], work)
            side[to, kept] = -1 - cut if out < 0.0 else side[now, k]
            kept += 1
        out = out_m
    return kept


@folded
def _crossing(ref, cut, after, count_ref, count_inc, along, work):
    """The feature where a side of the polygon crosses side `cut` of the clipping face."""
    inc, corner = 1 - ref, work.corner
    if along < 0:  # it lies on an earlier side of the same face: their common vertex
        before = -1 - along
        vertex = corner[ref, cut if (before + 1) % count_ref == cut else after] + 1
        return vertex * FEATURE if ref == A else vertex
    own = edge_code(corner[ref, cut], corner[ref, after])
    m = along + 1 if along + 1 < count_inc else 0
    other = edge_code(corner[inc, along], corner[inc, m])
    return own * FEATURE + other if ref == A else other * FEATURE + own


@folded
def _copy(work, source, k, m):
    for c in range(4):
        work.polygon[0, m, c] = work.polygon[source, k, c]
    work.label[0, m] = work.label[source, k]


@folded
def _apart(polygon, k, m):
    """Distance of two corners, squared."""
    a, b, c = (
        polygon[0, k, S] - polygon[0, m, S],
        polygon[0, k, T] - polygon[0, m, T],
        polygon[0, k, H] - polygon[0, m, H],
    )
    return a * a + b * b + c * c


@folded
def merge_corners(count, ref, count_a, count_b, size, work):
    """Drop twins and flat corners, and name corners that are at vertices of A, B or both; returns how many are left.

    Edges that are parallel to rounding cross anywhere: such corners would jump along them from step to step. The
    least gap stays: a corner goes only where one that is as near, to LEVEL of the size of the pair, is left.
    """
    polygon, label = work.polygon, work.label
    square = 0.0
    nearest: Any = A  # corner 0, as a number that compiles no second time
    for k in range(count):
        for m in range(k):
            square = max(square, _apart(polygon, m, k))
        nearest = k if polygon[0, k, LIFT] < polygon[0, nearest, LIFT] else nearest
    graze = GRAZE * size  # what lies across a corner leaves nothing but twins, which measure nothing
    near, level = max(TWIN * TWIN * square, graze * graze), polygon[0, nearest, LIFT] + LEVEL * size
    count = _drop_flat(_drop_twins(count, near, nearest, level, work), FLAT * square, level, work)
    for k in range(count):
        code_a, code_b = label[0, k] // FEATURE, label[0, k] % FEATURE
        high_a = polygon[0, k, H] - (polygon[0, k, LIFT] if ref == A else 0.0)
        high_b = polygon[0, k, H] + (polygon[0, k, LIFT] if ref == B else 0.0)
        code_a = _vertex_at(A, count_a, code_a, polygon[0, k, S], polygon[0, k, T], high_a, 0.25 * near, work)
        code_b = _vertex_at(B, count_b, code_b, polygon[0, k, S], polygon[0, k, T], high_b, 0.25 * near, work)
        label[0, k] = pack(code_a, code_b)
    return count


@folded
def _drop_twins(count, near, nearest, level, work):
    """Of corners within sqrt(near) of each other keep the one whose feature comes first, whatever their order.

    The nearest corner of all takes the place of its twin, where no other is as near. Returns how many are left.
    """
    polygon, rank, keeper = work.polygon, work.side[0], work.side[1]
    for k in range(count):
        code_a, code_b = work.label[0, k] // FEATURE, work.label[0, k] % FEATURE
        rank[k] = min(code_a, code_b) * FEATURE + max(code_a, code_b)  # the same when parts are swapped
        keeper[k] = -1
    for _ in range(count):
        first: Any = np.int64(-1)
        for k in range(count):
            if keeper[k] < 0 and (first < 0 or rank[k] < rank[first]):
                first = k
        if first < 0:
            break
        for k in range(count):
            if keeper[k] < 0 and _apart(polygon, first, k) <= near:
                keeper[k] = first
    seen = False
    for k in range(count):
        seen = seen or (keeper[k] == k and polygon[0, k, LIFT] <= level)
    if not seen:
        for c in range(4):
            polygon[0, keeper[nearest], c] = polygon[0, nearest, c]
    kept = 0
    for k in range(count):
        if keeper[k] == k:
            _copy(work, A, k, kept)
            kept += 1
    return kept


@folded
def _vertex_at(side, count, code, s, t, h, near, work):
    lines = work.outline
    for k in range(count):
        a, b, c = lines[side, k, S] - s, lines[side, k, T] - t, lines[side, k, H] - h
        if a * a + b * b + c * c <= near:
            return work.corner[side, k] + 1
    return code


@folded
def _drop_flat(count, least, level, work):
    """Drop the flattest corner again and again, as long as it adds next to nothing and is not alone the nearest."""
    polygon = work.polygon
    while count > 2:
        area, flat, low = np.inf, 0, 0
        for k in range(count):
            low += 1 if polygon[0, k, LIFT] <= level else 0
        for k in range(count):
            if low == 1 and polygon[0, k, LIFT] <= level:
                continue
            i, j = (k - 1 if k > 0 else count - 1), (k + 1 if k + 1 < count else 0)
            a, b, c = (
                polygon[0, k, S] - polygon[0, i, S],
                polygon[0, k, T] - polygon[0, i, T],
                polygon[0, k, H] - polygon[0, i, H],
            )
            e, f, g = (
                polygon[0, j, S] - polygon[0, k, S],
                polygon[0, j, T] - polygon[0, k, T],
                polygon[0, j, H] - polygon[0, k, H],
            )
            x, y, z = b * g - c * f, c * e - a * g, a * f - b * e
            adds = x * x + y * y + z * z
            if adds < area:
                area, flat = adds, k
        if area > 4.0 * least * least:
            break
        for k in range(flat, count - 1):
            _copy(work, A, k + 1, k)
        count -= 1
    return count
