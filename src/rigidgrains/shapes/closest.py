"""Nearest points of the edges of two cores, all tried, for the few pairs where rounding keeps GJK from its end.

Such cores are nearly parallel and nearly touch. Where a vertex is nearest to a face, or edges cross, separating axes
know their distance; where a vertex is nearest to an edge or to a vertex, the search of all edges does.
"""

from __future__ import annotations

import math

import numpy as np

from ..runtime.compiled import folded
from .clip import edge_code, pack
from .gjk import P_A, P_B, N
from .placed import A, B
from .table import HEAD, TAIL, X, Y, Z

INSIDE = 1e-12  # share of an edge from its end; nearer than this is the vertex


@folded
def closest_edges(table, part_a, part_b, least, work):
    """The least distance of edges of two cores with edges, and the feature of its points.

    least : m; `found` takes n and the points only where the distance is larger
    """
    edges, first_a, first_b = table.edges, table.vertex_start[part_a], table.vertex_start[part_b]
    best, edge_a, edge_b, at_a, at_b = np.inf, 0, 0, 0.0, 0.0
    for e in range(table.edge_start[part_a], table.edge_start[part_a + 1]):
        for h in range(table.edge_start[part_b], table.edge_start[part_b + 1]):
            square, share_a, share_b = _segments(
                work.vertices,
                edges[e, TAIL] - first_a,
                edges[e, HEAD] - first_a,
                edges[h, TAIL] - first_b,
                edges[h, HEAD] - first_b,
            )
            if square < best:
                best, edge_a, edge_b, at_a, at_b = square, e, h, share_a, share_b
    best = math.sqrt(best)
    v, w = edges[edge_a, TAIL] - first_a, edges[edge_a, HEAD] - first_a
    p, q = edges[edge_b, TAIL] - first_b, edges[edge_b, HEAD] - first_b
    if best > least:
        found, vertices, square = work.found, work.vertices, 0.0
        for c in range(3):
            found[P_A, c] = vertices[A, v, c] + at_a * (vertices[A, w, c] - vertices[A, v, c])
            found[P_B, c] = vertices[B, p, c] + at_b * (vertices[B, q, c] - vertices[B, p, c])
            found[N, c] = found[P_B, c] - found[P_A, c]
            square += found[N, c] * found[N, c]
        for c in range(3):  # points are rounded, so a short distance is not quite theirs
            found[N, c] /= math.sqrt(square)
    return best, pack(_code(v, w, at_a), _code(p, q, at_b))


@folded
def _code(v, w, share):
    if share <= INSIDE:
        return v + 1
    return w + 1 if share >= 1.0 - INSIDE else edge_code(v, w)


@folded
def _segments(vertices, i, j, k, m):
    """Distance of two segments, squared, and the shares of their lengths where it is (Ericson 2005, 5.1.9)."""
    p, q, r = vertices[A, i, X], vertices[A, i, Y], vertices[A, i, Z]
    a, b, c = vertices[A, j, X] - p, vertices[A, j, Y] - q, vertices[A, j, Z] - r
    x, y, z = p - vertices[B, k, X], q - vertices[B, k, Y], r - vertices[B, k, Z]
    e = vertices[B, m, X] - vertices[B, k, X]
    f = vertices[B, m, Y] - vertices[B, k, Y]
    g = vertices[B, m, Z] - vertices[B, k, Z]
    aa, bb, ab = a * a + b * b + c * c, e * e + f * f + g * g, a * e + b * f + c * g
    ra, rb = a * x + b * y + c * z, e * x + f * y + g * z
    down = aa * bb - ab * ab
    share_a = min(max((ab * rb - ra * bb) / down, 0.0), 1.0) if down > 0.0 else 0.0
    share_b = (ab * share_a + rb) / bb
    if share_b < 0.0 or share_b > 1.0:
        share_b = min(max(share_b, 0.0), 1.0)
        share_a = min(max((ab * share_b - ra) / aa, 0.0), 1.0)
    x, y, z = x + share_a * a - share_b * e, y + share_a * b - share_b * f, z + share_a * c - share_b * g
    return x * x + y * y + z * z, share_a, share_b
