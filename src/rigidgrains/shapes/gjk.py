"""Distance of two convex cores that are apart (Gilbert, Johnson, Keerthi 1988), to rounding.

The search ends only when an upper and a lower bound of the distance meet. Where rounding makes it go round in circles
it begins anew from another direction; where cores are nearly parallel and so near that the direction of the distance is
lost, and with it the lower bound, no beginning helps. It never begins from an earlier answer: results do not depend on
history.
"""

from __future__ import annotations

import math

import numpy as np

from ..runtime.compiled import folded, inlined
from .placed import A, B, farthest
from .table import X, Y, Z

APART, FAR, OVERLAP, STALLED = range(4)
MEET = 2e-15  # bounds that are closer, over the size of the pair, have met
TOUCH = 1e-13  # nearer than this, over the size of the pair, is touching: the direction is lost
MOST = 60  # steps of one search
STARTS = 4  # directions to begin from
ONE = np.int64(1)  # a plain number would have what it is given to compiled twice
N, P_A, P_B = range(3)  # rows of `found`


@inlined
def distance(count_a, count_b, x, y, z, far, size, work):
    """Distance of the cores of A and B, and how the search ended: APART, FAR, OVERLAP or STALLED.

    x, y, z : direction to begin from
    far     : m; beyond it a lower bound of the distance is enough
    size    : m, of the pair
    work    : `simplex`, `picks` and `weight` take what the nearest point of A - B is made of

    Returns distance (m), ending, number of vertices in `picks`.
    """
    d, ending, points = 0.0, STALLED, ONE
    for k in range(STARTS):
        d, ending, points = _search(count_a, count_b, x, y, z, far, size, work)
        if ending != STALLED:
            break
        x, y, z = 0.3 * k - y, 0.7 * z - 0.2, x + 0.1 * k  # any other direction
    return d, ending, points


@folded
def _search(count_a, count_b, x, y, z, far, size, work):
    """One search, from one direction."""
    simplex, picks, weight, vertices = work.simplex, work.picks, work.weight, work.vertices
    picks[0, A], _ = farthest(vertices, A, count_a, x, y, z)
    picks[0, B], _ = farthest(vertices, B, count_b, -x, -y, -z)
    for c in range(3):
        simplex[0, c] = vertices[A, picks[0, A], c] - vertices[B, picks[0, B], c]
    weight[0] = 1.0
    points, last, d = ONE, np.inf, 0.0
    for _ in range(MOST):
        x, y, z = _nearest(simplex, weight, points)
        square = x * x + y * y + z * z
        d = math.sqrt(square)
        if d < TOUCH * size:
            return 0.0, OVERLAP, points
        i, _ = farthest(vertices, A, count_a, -x, -y, -z)
        j, _ = farthest(vertices, B, count_b, x, y, z)
        a = vertices[A, i, X] - vertices[B, j, X]
        b = vertices[A, i, Y] - vertices[B, j, Y]
        c = vertices[A, i, Z] - vertices[B, j, Z]
        least = (x * a + y * b + z * c) / d  # no point of the difference is nearer
        if least > far:
            return least, FAR, points
        if d - least <= MEET * size:
            return d, APART if _reached(simplex, weight, points, d + TOUCH * size) else STALLED, points
        known = False
        for k in range(points):
            known = known or (picks[k, A] == i and picks[k, B] == j)
        if known or d >= last:
            return d, STALLED, points
        last = d
        picks[points, A], picks[points, B] = i, j
        simplex[points, X], simplex[points, Y], simplex[points, Z] = a, b, c
        points += 1
        if points == 2:
            _on_segment(simplex, weight)
        elif points == 3:
            _on_triangle(simplex, ONE - 1, ONE, ONE + 1, weight)
        elif _on_tetrahedron(simplex, weight, work.trial):
            return 0.0, OVERLAP, points
        points = _drop(simplex, picks, weight, points)
    return d, STALLED, points


@folded
def tell(points, work):
    """n and the nearest points of both cores, into `found`."""
    x, y, z = _nearest(work.simplex, work.weight, points)
    found, vertices, d = work.found, work.vertices, math.sqrt(x * x + y * y + z * z)
    found[N, X], found[N, Y], found[N, Z] = -x / d, -y / d, -z / d
    for c in range(3):
        p, q = 0.0, 0.0
        for k in range(points):
            p += work.weight[k] * vertices[A, work.picks[k, A], c]
            q += work.weight[k] * vertices[B, work.picks[k, B], c]
        found[P_A, c], found[P_B, c] = p, q


@folded
def _nearest(simplex, weight, points):
    """The point of a simplex nearest to the origin.

    Taken as a sum of corners its direction would be lost when it is short; so it is made perpendicular to the simplex.
    """
    p, q, r = simplex[0, X], simplex[0, Y], simplex[0, Z]
    if points == 1:
        return p, q, r
    a, b, c = simplex[1, X] - p, simplex[1, Y] - q, simplex[1, Z] - r
    if points == 2:
        x, y, z = p + weight[1] * a, q + weight[1] * b, r + weight[1] * c
        along = (x * a + y * b + z * c) / (a * a + b * b + c * c)
        return x - along * a, y - along * b, z - along * c
    e, f, g = simplex[2, X] - p, simplex[2, Y] - q, simplex[2, Z] - r
    x, y, z = b * g - c * f, c * e - a * g, a * f - b * e
    up = (x * p + y * q + z * r) / (x * x + y * y + z * z)
    return up * x, up * y, up * z


@folded
def _reached(simplex, weight, points, most):
    """Whether the shares give a point within `most` (m) of the origin: those of three corners in a line may not."""
    square = 0.0
    for c in range(3):
        at = 0.0
        for k in range(points):
            at += weight[k] * simplex[k, c]
        square += at * at
    return square <= most * most


@folded
def _drop(simplex, picks, weight, points):
    """Keep the corners that have a share in the nearest point; returns how many."""
    kept = 0
    for k in range(points):
        if weight[k] > 0.0:
            weight[kept] = weight[k]
            picks[kept, A], picks[kept, B] = picks[k, A], picks[k, B]
            simplex[kept, X], simplex[kept, Y], simplex[kept, Z] = simplex[k, X], simplex[k, Y], simplex[k, Z]
            kept += 1
    return kept


@folded
def _on_segment(simplex, weight):
    """Shares of two corners in the point nearest to the origin."""
    p, q, r = simplex[0, X], simplex[0, Y], simplex[0, Z]
    a, b, c = simplex[1, X] - p, simplex[1, Y] - q, simplex[1, Z] - r
    along, square = -(p * a + q * b + r * c), a * a + b * b + c * c
    weight[1] = 0.0 if along <= 0.0 else 1.0 if along >= square else along / square
    weight[0] = 1.0 - weight[1]


@folded
def _on_triangle(simplex, i, j, k, weight):
    """Shares of three corners in the point nearest to the origin, by regions of a triangle (Ericson 2005, 5.1.5)."""
    p, q, r = simplex[i, X], simplex[i, Y], simplex[i, Z]
    a, b, c = simplex[j, X] - p, simplex[j, Y] - q, simplex[j, Z] - r
    e, f, g = simplex[k, X] - p, simplex[k, Y] - q, simplex[k, Z] - r
    weight[i] = weight[j] = weight[k] = 0.0
    d1, d2 = -(a * p + b * q + c * r), -(e * p + f * q + g * r)
    if d1 <= 0.0 and d2 <= 0.0:
        weight[i] = 1.0
        return
    p, q, r = simplex[j, X], simplex[j, Y], simplex[j, Z]
    d3, d4 = -(a * p + b * q + c * r), -(e * p + f * q + g * r)
    if d3 >= 0.0 and d4 <= d3:
        weight[j] = 1.0
        return
    v_k = d1 * d4 - d3 * d2
    if v_k <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        weight[j] = d1 / (d1 - d3)
        weight[i] = 1.0 - weight[j]
        return
    p, q, r = simplex[k, X], simplex[k, Y], simplex[k, Z]
    d5, d6 = -(a * p + b * q + c * r), -(e * p + f * q + g * r)
    if d6 >= 0.0 and d5 <= d6:
        weight[k] = 1.0
        return
    v_j = d5 * d2 - d1 * d6
    if v_j <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        weight[k] = d2 / (d2 - d6)
        weight[i] = 1.0 - weight[k]
        return
    v_i = d3 * d6 - d5 * d4
    if v_i <= 0.0 and d4 >= d3 and d5 >= d6:
        weight[k] = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        weight[j] = 1.0 - weight[k]
        return
    share = 1.0 / (v_i + v_j + v_k)
    weight[j], weight[k] = v_j * share, v_k * share
    weight[i] = 1.0 - weight[j] - weight[k]


@folded
def _on_tetrahedron(simplex, weight, trial):
    """Shares of four corners in the point nearest to the origin; returns whether the origin is inside."""
    best, inside = np.inf, True
    for left in range(4):
        i, j, k = (1 if left == 0 else 0), (2 if left < 2 else 1), (3 if left < 3 else 2)
        p, q, r = simplex[i, X], simplex[i, Y], simplex[i, Z]
        a, b, c = simplex[j, X] - p, simplex[j, Y] - q, simplex[j, Z] - r
        e, f, g = simplex[k, X] - p, simplex[k, Y] - q, simplex[k, Z] - r
        x, y, z = b * g - c * f, c * e - a * g, a * f - b * e
        origin = -(x * p + y * q + z * r)
        corner = x * (simplex[left, X] - p) + y * (simplex[left, Y] - q) + z * (simplex[left, Z] - r)
        if origin * corner > 0.0:
            continue
        inside = False
        trial[left] = 0.0
        _on_triangle(simplex, i, j, k, trial)
        square = 0.0
        for column in range(3):
            at = trial[i] * simplex[i, column] + trial[j] * simplex[j, column] + trial[k] * simplex[k, column]
            square += at * at
        if square < best:
            best = square
            for n in range(4):
                weight[n] = trial[n]
    return inside
