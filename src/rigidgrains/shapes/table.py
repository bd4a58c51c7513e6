"""All shapes of a simulation as flat arrays, for kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .core import Array, Part, Shape

Index = NDArray[np.int64]

X, Y, Z = range(3)  # components of a vector
# Columns of `edges`: two vertices, the face that runs from the first to the second, and the one that runs back
TAIL, HEAD, LEFT, RIGHT = range(4)
SETTLE = 2000  # steps towards the centre of the smallest bounding sphere


class ShapeTable(NamedTuple):
    """Parts, faces and vertices of shapes, numbered through; lengths at unit scale, in the frame of the shape.

    Entities of item i stand at start[i]:start[i + 1]. All numbers of vertices and faces count from the table's start.

    part_start   : (shapes + 1,) parts of each shape
    radius       : (parts,) m, rounding
    centre       : (parts, 3) m, centre of the bounding sphere
    bound        : (parts,) m, radius of the bounding sphere, rounding included
    vertex_start : (parts + 1,)
    vertices     : (vertices, 3) m; in 2D z = 0, counterclockwise
    face_start   : (parts + 1,)
    loop_start   : (faces + 1,)
    loops        : (corners,) vertices around each face, counterclockwise seen from outside; in 2D a face is a side,
                   side k from vertex k to vertex k + 1
    face_normals : (faces, 3) outward
    edge_start   : (parts + 1,)
    edges        : (edges, 4) two vertices, two faces (-1: none); none in 2D
    """

    part_start: Index
    radius: Array
    centre: Array
    bound: Array
    vertex_start: Index
    vertices: Array
    face_start: Index
    loop_start: Index
    loops: Index
    face_normals: Array
    edge_start: Index
    edges: Index


def make_table(shapes: Sequence[Shape]) -> ShapeTable:
    """The table of some shapes, in their order."""
    parts = [part for shape in shapes for part in shape.parts]
    vertex_start, face_start = (
        _starts(len(part.vertices) for part in parts),
        _starts(len(part.faces) for part in parts),
    )
    loops, edges = [], []
    for part, first_vertex, first_face in zip(parts, vertex_start, face_start):
        loops += [[first_vertex + v for v in loop] for loop in part.faces]
        edges += [
            [first_vertex + v, first_vertex + w, *(first_face + f if f >= 0 else -1 for f in both)]
            for v, w, *both in part.edges
        ]
    spheres = [bounding_sphere(part) for part in parts]
    return ShapeTable(
        part_start=_starts(len(shape.parts) for shape in shapes),
        radius=np.array([part.rounding for part in parts]),
        centre=np.array([centre for centre, _ in spheres]).reshape(-1, 3),
        bound=np.array([bound for _, bound in spheres]),
        vertex_start=vertex_start,
        vertices=np.concatenate([np.zeros((0, 3)), *(part.vertices for part in parts)]),
        face_start=face_start,
        loop_start=_starts(len(loop) for loop in loops),
        loops=np.array([v for loop in loops for v in loop], np.int64),
        face_normals=np.concatenate([np.zeros((0, 3)), *(part.normals for part in parts)]),
        edge_start=_starts(len(part.edges) for part in parts),
        edges=np.array(edges, np.int64).reshape(-1, 4),
    )


def bounding_sphere(part: Part) -> tuple[Array, float]:
    """Centre (3,) m and radius (m) of a sphere around a part, rounding included; the smallest to about 1e-3."""
    points = part.vertices
    best = min((0.5 * (points.min(axis=0) + points.max(axis=0)), points.mean(axis=0)), key=lambda c: _reach(points, c))
    centre, reach = best.copy(), _reach(points, best)
    for k in range(SETTLE if len(points) > 2 else 0):  # towards the farthest point, by less and less
        far = points[np.argmax(((points - centre) ** 2).sum(axis=1))]
        centre += (far - centre) / (k + 2)
        if _reach(points, centre) < (1.0 - 1e-12) * reach:
            best, reach = centre.copy(), _reach(points, centre)
    return best, reach + part.rounding


def _reach(points: Array, centre: Array) -> float:
    return float(np.sqrt(((points - centre) ** 2).sum(axis=1).max()))


def _starts(counts: Iterable[int]) -> Index:
    return np.concatenate([[0], np.cumsum(list(counts))]).astype(np.int64)
