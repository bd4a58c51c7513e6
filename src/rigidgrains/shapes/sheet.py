"""Parts without a volume of their own, for walls: points, segments and thin flat sheets."""

from __future__ import annotations

import numpy as np

from .core import FLAT, SOLID, Array, Edge, Loop, Part
from .hull import outward


def thin_part(vertices: Array, dimension: int, rounding: float = 0.0) -> Part:
    """A point, a segment, or in 3D a convex polygon (k, 3) with a face to either side; a rounding may be 0."""
    count = len(vertices)
    faces: tuple[Loop, ...] = ()
    edges: tuple[Edge, ...] = ()
    if count == 2:
        faces = ((0, 1), (1, 0)) if dimension == FLAT else ()
        edges = ((0, 1, -1, -1),) if dimension == SOLID else ()
    elif count > 2:
        faces = (tuple(range(count)), (0, *range(count - 1, 0, -1)))
        edges = tuple((v, v + 1, 0, 1) if v + 1 < count else (0, v, 1, 0) for v in range(count))
    normals = np.array([outward(vertices, loop) for loop in faces]).reshape(-1, 3)
    return Part(np.ascontiguousarray(vertices, float), float(rounding), faces, normals, edges)
