"""Depth of two convex cores that overlap: the least over separating axes, normals of faces and of edge pairs."""

from __future__ import annotations

import numpy as np

from ..runtime.compiled import law
from .placed import A, B, farthest
from .table import HEAD, LEFT, RIGHT, TAIL, X, Y, Z

FACE_A, FACE_B, EDGES, NONE = range(4)
PARALLEL = 1e-8  # sine below which an edge pair has no axis; a neighbouring face is as near, to this share of an edge
DOUBTFUL = 1e-2  # sine below which the separation along the axis is asked of all vertices, not of the two edges
PREFER = 0.02  # share of its depth by which a face may be deeper than an edge pair and still be chosen
EVEN = 1e-9  # share of the size within which depths are equal; then A's face comes first


@law
def depth(table, part_a, part_b, size, work):
    """Least depth of two cores that overlap, and the axis to be taken for contact points.

    Faces are preferred: an edge pair has one point, a face carries. Any axis gives a depth that is exact along it.

    Returns the least separation (m, minus the depth), the feature that has it, face or edge of A, of B; the same of
    the chosen face, NONE where an edge pair was chosen.
    """
    most_a, face_a = _faces(table, part_a, part_b, A, B, work)
    most_b, face_b = _faces(table, part_b, part_a, B, A, work)
    most_e, edge_a, edge_b = _edges(table, part_a, part_b, max(most_a, most_b), work)
    most_f, chosen, face = most_a, FACE_A, face_a
    if most_b > most_a + EVEN * size:
        most_f, chosen, face = most_b, FACE_B, face_b
    if max(face_a, face_b) < 0:
        chosen = NONE
    if edge_a < 0:
        return most_f, chosen, face, face, most_f, chosen, face
    if chosen != NONE and most_e - most_f <= PREFER * abs(most_f) + EVEN * size:
        return most_e, EDGES, edge_a, edge_b, most_f, chosen, face
    return most_e, EDGES, edge_a, edge_b, most_e, NONE, -1


@law
def _faces(table, part, other, side, across, work):
    """The largest separation along the normals of a part's faces, and its face; -1: no faces."""
    best, face, first = -np.inf, -1, table.face_start[part]
    count = table.vertex_start[other + 1] - table.vertex_start[other]
    for f in range(table.face_start[part + 1] - first):
        x, y, z = work.normals[side, f, X], work.normals[side, f, Y], work.normals[side, f, Z]
        _, low = farthest(work.vertices, across, count, -x, -y, -z)
        v = table.loops[table.loop_start[first + f]] - table.vertex_start[part]
        p = work.vertices
        apart = -low - (p[side, v, X] * x + p[side, v, Y] * y + p[side, v, Z] * z)
        if apart > best:
            best, face = apart, f
    return best, face


@law
def _edges(table, part_a, part_b, best, work):
    """The largest separation along normals of edge pairs, if above `best`, and its edges, else -1; n into `found`.

    Two edges make a face of the difference A - B only where their arcs on the sphere of normals cross, those of B
    mirrored; edges of segments have no arcs, and are tried both ways.
    """
    edge_a, edge_b = -1, -1
    n, v, edges, found = work.normals, work.vertices, table.edges, work.found
    first_a, first_b = table.vertex_start[part_a], table.vertex_start[part_b]
    count_a, count_b = table.vertex_start[part_a + 1] - first_a, table.vertex_start[part_b + 1] - first_b
    face_a, face_b = table.face_start[part_a], table.face_start[part_b]
    for e in range(table.edge_start[part_a], table.edge_start[part_a + 1]):
        p, q = edges[e, TAIL] - first_a, edges[e, HEAD] - first_a
        f, g = edges[e, LEFT] - face_a, edges[e, RIGHT] - face_a
        open_a = edges[e, LEFT] < 0
        a, b, c = v[A, q, X] - v[A, p, X], v[A, q, Y] - v[A, p, Y], v[A, q, Z] - v[A, p, Z]
        for h in range(table.edge_start[part_b], table.edge_start[part_b + 1]):
            r, s = edges[h, TAIL] - first_b, edges[h, HEAD] - first_b
            k, m = edges[h, LEFT] - face_b, edges[h, RIGHT] - face_b
            open_b = edges[h, LEFT] < 0
            # Along an edge, from its one face to the other, the sign of the other edge's component must change
            if not open_b:
                left = n[B, k, X] * a + n[B, k, Y] * b + n[B, k, Z] * c
                right = n[B, m, X] * a + n[B, m, Y] * b + n[B, m, Z] * c
                if left * right >= 0.0:
                    continue
            i, j, o = v[B, s, X] - v[B, r, X], v[B, s, Y] - v[B, r, Y], v[B, s, Z] - v[B, r, Z]
            if not open_a:
                up = n[A, f, X] * i + n[A, f, Y] * j + n[A, f, Z] * o
                down = n[A, g, X] * i + n[A, g, Y] * j + n[A, g, Z] * o
                if up * down >= 0.0:
                    continue
            x, y, z = b * o - c * j, c * i - a * o, a * j - b * i
            length = np.sqrt(x * x + y * y + z * z)
            sine = length / np.sqrt((a * a + b * b + c * c) * (i * i + j * j + o * o))
            if sine < PARALLEL:
                continue
            x, y, z = x / length, y / length, z / length
            sign = 1.0
            if not open_a:
                sign = (
                    1.0
                    if x * (n[A, f, X] + n[A, g, X]) + y * (n[A, f, Y] + n[A, g, Y]) + z * (n[A, f, Z] + n[A, g, Z])
                    > 0.0
                    else -1.0
                )
            elif not open_b:
                sign = (
                    -1.0
                    if x * (n[B, k, X] + n[B, m, X]) + y * (n[B, k, Y] + n[B, m, Y]) + z * (n[B, k, Z] + n[B, m, Z])
                    > 0.0
                    else 1.0
                )
            x, y, z = sign * x, sign * y, sign * z
            if not open_a and not open_b:  # the arcs may cross on opposite sides of the sphere; else there is no k, m
                across = x * (n[B, k, X] + n[B, m, X]) + y * (n[B, k, Y] + n[B, m, Y]) + z * (n[B, k, Z] + n[B, m, Z])
                if across > 0.0:
                    continue
            apart = x * (v[B, r, X] - v[A, p, X]) + y * (v[B, r, Y] - v[A, p, Y]) + z * (v[B, r, Z] - v[A, p, Z])
            if open_a and open_b and apart < 0.0:
                x, y, z, apart = -x, -y, -z, -apart
            if apart <= best:
                continue
            if sine < DOUBTFUL:  # an axis that rounding has turned must not pretend to separate
                _, high = farthest(v, A, count_a, x, y, z)
                _, low = farthest(v, B, count_b, -x, -y, -z)
                apart = -low - high
            if apart > best:
                best, edge_a, edge_b = apart, e, h
                found[0, X], found[0, Y], found[0, Z] = x, y, z
    return best, edge_a, edge_b
