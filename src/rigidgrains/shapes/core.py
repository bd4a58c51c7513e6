"""A part is a convex core with a rounding radius, a shape one part or several that move as one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Loop = tuple[int, ...]
Edge = tuple[int, int, int, int]

FLAT, SOLID = 2, 3  # dimensions


@dataclass(frozen=True, eq=False)
class Part:
    """All points within `rounding` of a convex core: a point, a segment, a polygon or a polyhedron.

    vertices : (k, 3) m; in 2D counterclockwise, z = 0
    rounding : m, 0 is sharp
    faces    : loops of vertex numbers, counterclockwise seen from outside; in 2D the sides, two vertices each
    normals  : (faces, 3) outward
    edges    : vertex, vertex, face, face; the first face runs from the first vertex to the second. -1 where a
               segment in 3D has no face. In 2D none
    """

    vertices: Array
    rounding: float
    faces: tuple[Loop, ...]
    normals: Array
    edges: tuple[Edge, ...]

    def moved(self, origin: Array, axes: Array, scale: float) -> Part:
        """The part as seen from a frame: origin (3,) m, axes (3, 3) unit vectors in rows, lengths times scale."""
        return replace(
            self,
            vertices=np.ascontiguousarray(scale * ((self.vertices - origin) @ axes.T)),
            rounding=scale * self.rounding,
            normals=np.ascontiguousarray(self.normals @ axes.T),
        )


@dataclass(frozen=True, eq=False)
class Shape:
    """A rigid union of parts; its frame has the centre of mass as origin and principal axes.

    In 2D the axes of the drawing are kept, since z is principal anyway.

    dimension : 2 or 3
    parts     : in the frame of the shape
    volume    : m^3, in 2D the area in m^2
    inertia   : (3,) m^5 (2D: m^4), principal moments at unit density; in 2D the third is the one about z
    origin    : (3,) m, centre of mass in the drawing
    axes      : (3, 3) principal axes in the drawing, in rows
    scale     : length in the frame of the shape over length in the drawing
    """

    dimension: int
    parts: tuple[Part, ...]
    volume: float
    inertia: Array
    origin: Array
    axes: Array
    scale: float
