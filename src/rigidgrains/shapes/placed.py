"""Two parts placed in space, and the memory that finding their contact points takes; made once, used for every pair."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiled import folded
from .table import HEAD, LEFT, RIGHT, TAIL, ShapeTable, X, Y, Z

Array = NDArray[np.float64]
Index = NDArray[np.int64]

W, I, J, K = range(4)  # noqa: E741 (components of a quaternion, as everybody calls them)
S, T, H, LIFT = range(4)  # corner of a clipped polygon: across n, across n, along n, from A to B along n (m)
A, B = np.int64(0), np.int64(1)  # the parts of bodies 0 and 1; plain numbers would have kernels compiled for each


class Workspace(NamedTuple):
    """Where two parts stand, A = 0 and B = 1, and room for what is computed of them.

    Lengths in m, from the centre of body 0.

    turn     : (2, 3, 3) rotation matrices
    vertices : (2, most vertices of a part, 3)
    normals  : (2, most faces of a part, 3) outward
    along    : (most faces of a part,) components of B's normals along an edge of A
    simplex  : (4, 3) points of A minus points of B
    picks    : (4, 2) vertices that they are made of
    weight   : (4,) shares of these in the nearest point
    trial    : (4,) the same for a face that is tried
    found    : (3, 3) n, and the two points that are nearest or deepest
    outline  : (2, room, 3) corners of the two faces across and along n
    corner   : (2, room) their vertices
    polygon  : (2, room, 4) the clipped face: S, T, H, LIFT
    label    : (2, room) feature of each corner
    side     : (2, room) what a side lies on: a side of the clipped face >= 0, of the clipping one < 0
    """

    turn: Array
    vertices: Array
    normals: Array
    along: Array
    simplex: Array
    picks: Index
    weight: Array
    trial: Array
    found: Array
    outline: Array
    corner: Index
    polygon: Array
    label: Index
    side: Index


def make_workspace(table: ShapeTable) -> Workspace:
    """Room for any two parts of a table; each thread needs its own."""

    def most(start: Any) -> int:
        return int(np.diff(start).max(initial=1))

    room = most_points(table) + 2
    return Workspace(
        turn=np.zeros((2, 3, 3)),
        vertices=np.zeros((2, most(table.vertex_start), 3)),
        normals=np.zeros((2, most(table.face_start), 3)),
        along=np.zeros(most(table.face_start)),
        simplex=np.zeros((4, 3)),
        picks=np.zeros((4, 2), np.int64),
        weight=np.zeros(4),
        trial=np.zeros(4),
        found=np.zeros((3, 3)),
        outline=np.zeros((2, room, 3)),
        corner=np.zeros((2, room), np.int64),
        polygon=np.zeros((2, room, 4)),
        label=np.zeros((2, room), np.int64),
        side=np.zeros((2, room), np.int64),
    )


def most_points(table: ShapeTable) -> int:
    """A bound on the contact points of two parts: polygons of j and k corners cut each other in at most j + k.

    One more is the nearest point, where no corner of the polygon is as near.
    """
    return 2 * max(2, int(np.diff(table.loop_start).max(initial=2))) + 1


@folded
def place_vertices(table, part, side, x, y, z, orientation, body, scale, work):
    """Turn (quaternion), scale and shift the vertices of a part."""
    q_w, q_x, q_y, q_z = (
        orientation[body, W],
        orientation[body, I],
        orientation[body, J],
        orientation[body, K],
    )
    turn, to = work.turn, work.vertices
    turn[side, X, X], turn[side, Y, Y] = 1.0 - 2.0 * (q_y * q_y + q_z * q_z), 1.0 - 2.0 * (q_x * q_x + q_z * q_z)
    turn[side, Z, Z] = 1.0 - 2.0 * (q_x * q_x + q_y * q_y)
    turn[side, X, Y], turn[side, Y, X] = 2.0 * (q_x * q_y - q_w * q_z), 2.0 * (q_x * q_y + q_w * q_z)
    turn[side, X, Z], turn[side, Z, X] = 2.0 * (q_x * q_z + q_w * q_y), 2.0 * (q_x * q_z - q_w * q_y)
    turn[side, Y, Z], turn[side, Z, Y] = 2.0 * (q_y * q_z - q_w * q_x), 2.0 * (q_y * q_z + q_w * q_x)
    first = table.vertex_start[part]
    for k in range(table.vertex_start[part + 1] - first):
        a, b, c = (
            scale * table.vertices[first + k, X],
            scale * table.vertices[first + k, Y],
            scale * table.vertices[first + k, Z],
        )
        to[side, k, X] = x + (turn[side, X, X] * a + turn[side, X, Y] * b + turn[side, X, Z] * c)
        to[side, k, Y] = y + (turn[side, Y, X] * a + turn[side, Y, Y] * b + turn[side, Y, Z] * c)
        to[side, k, Z] = z + (turn[side, Z, X] * a + turn[side, Z, Y] * b + turn[side, Z, Z] * c)


@folded
def place_normals(table, part, side, work):
    """Turn the normals of a part whose vertices are placed."""
    turn, first = work.turn, table.face_start[part]
    for k in range(table.face_start[part + 1] - first):
        a, b, c = (
            table.face_normals[first + k, X],
            table.face_normals[first + k, Y],
            table.face_normals[first + k, Z],
        )
        work.normals[side, k, X] = turn[side, X, X] * a + turn[side, X, Y] * b + turn[side, X, Z] * c
        work.normals[side, k, Y] = turn[side, Y, X] * a + turn[side, Y, Y] * b + turn[side, Y, Z] * c
        work.normals[side, k, Z] = turn[side, Z, X] * a + turn[side, Z, Y] * b + turn[side, Z, Z] * c


@folded
def farthest(vertices, side, count, x, y, z):
    """The first vertex of those farthest along a direction, and how far that is."""
    best, at = vertices[side, 0, X] * x + vertices[side, 0, Y] * y + vertices[side, 0, Z] * z, 0
    for k in range(1, count):
        far = vertices[side, k, X] * x + vertices[side, k, Y] * y + vertices[side, k, Z] * z
        if far > best:
            best, at = far, k
    return at, best


@folded
def flattest(table, part, side, x, y, z, work):
    """What lies flattest at the outermost vertex along a direction: edge, its slope, face, its cosine; -1: none.

    The edge comes first, the face is the better one beside it: the best face at the vertex may miss an edge that lies
    flat between two steep faces.
    """
    first, first_face = table.vertex_start[part], table.face_start[part]
    vertex, _ = farthest(work.vertices, side, table.vertex_start[part + 1] - first, x, y, z)
    v, p, q, r = (
        vertex + first,
        work.vertices[side, vertex, X],
        work.vertices[side, vertex, Y],
        work.vertices[side, vertex, Z],
    )
    best, square, slope = -1, 1.0, 4.0  # slope: squared, times `square`
    for e in range(table.edge_start[part], table.edge_start[part + 1]):
        tail, head = table.edges[e, TAIL], table.edges[e, HEAD]
        if (tail == v) | (head == v):
            other = tail + head - v - first
            a, b, c = (
                work.vertices[side, other, X] - p,
                work.vertices[side, other, Y] - q,
                work.vertices[side, other, Z] - r,
            )
            down, long = (a * x + b * y + c * z) ** 2, a * a + b * b + c * c
            if down * square < slope * long:
                best, square, slope = e, long, down
    face, cosine = -1, -2.0
    if best >= 0:
        for column in range(LEFT, RIGHT + 1):
            f = table.edges[best, column] - first_face
            if f >= 0:
                c = work.normals[side, f, X] * x + work.normals[side, f, Y] * y + work.normals[side, f, Z] * z
                if c > cosine:
                    face, cosine = f, c
    return best, math.sqrt(slope / square), face, cosine
