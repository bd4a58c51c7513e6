"""Walls that jut out, as sides and faces of grains meet them: plates, and the facets of rods, tubes and funnels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.shapes import Cone, Cylinder, Plate, Shape
from ..model.shapes.distance import sideways
from ..model.walls import Wall
from ..shapes.core import Part
from .cores import Cores

Array = NDArray[np.float64]
Index = NDArray[np.int64]

SIDES = 60  # of a tube, a funnel or a rod with ends


def parts_of(shape: Shape, dimension: int, extent: float) -> tuple[Part, int]:
    """What a facet of a wall is like, and how many there are; extent : m, of the largest grain."""
    facets = shape.facets(dimension, 2.0 ** np.ceil(np.log2(extent)))
    return facets.part, facets.count


def cores_at(wall: Wall, part: Part, number: int, centre: Array, dimension: int) -> Cores:
    """One facet of a wall, once for each of m grains, from their centres (m, 3) m."""
    corners = _corners(wall, part, number, centre, dimension) - centre[:, None]
    normals = np.zeros((len(centre), len(part.faces), 3))
    for f, loop in enumerate(part.faces):
        if len(loop) == 2:  # in 2D, to the right of its way
            along = corners[:, loop[1]] - corners[:, loop[0]]
            normals[:, f, 0], normals[:, f, 1] = along[:, 1], -along[:, 0]
        else:
            a, b, c = (corners[:, v] for v in loop[:3])
            normals[:, f] = np.cross(b - a, c - b)
        normals[:, f] /= np.sqrt((normals[:, f] ** 2).sum(axis=1))[:, None]
    return Cores(part, corners, normals, np.full(len(centre), part.rounding))


def turning(wall: Wall) -> Array:
    """(3,) rad/s, of the facets; a round wall that turns about its own axis does not move them."""
    axis = getattr(wall.shape, "axis", None)
    if axis is not None and wall.drive.about is None:
        across = np.cross(axis, wall.drive.spin)
        if np.abs(across).max() <= 1e-12 * max(float(np.abs(wall.drive.spin).max()), 1e-300):
            return np.zeros(3)
    return np.asarray(wall.drive.spin, float)


def _corners(wall: Wall, part: Part, number: int, centre: Array, dimension: int) -> Array:
    """(m, k, 3) m, the vertices of a facet."""
    shape: Any = wall.shape
    if isinstance(shape, Plate):
        along = shape.half[0] * shape.along
        ends = [-along, along]
        if dimension == 3:
            across = shape.half[1] * np.cross(shape.normal, shape.along)
            ends = [-along - across, along - across, along + across, across - along]
        return np.tile(shape.point + np.array(ends), (len(centre), 1, 1))
    if isinstance(shape, Cylinder) and not shape.inside:
        if dimension == 2:
            return np.tile(shape.point, (len(centre), 1, 1))
        if np.isinf(shape.half):  # it follows each grain along the axis
            foot = shape.point + ((centre - shape.point) @ shape.axis)[:, None] * shape.axis
            return np.asarray(foot[:, None] + part.vertices[:, 2:] * shape.axis)
        axes = np.stack([sideways(shape.axis), np.cross(shape.axis, sideways(shape.axis)), shape.axis])
        return np.tile(shape.point + part.vertices @ axes, (len(centre), 1, 1))
    assert isinstance(shape, (Cylinder, Cone))
    radii = shape.radii if isinstance(shape, Cone) else (shape.radius, shape.radius)
    side = sideways(shape.axis)
    other, corners = np.cross(shape.axis, side), []
    for radius, end, steps in ((radii[0], -shape.half, (-0.5, 0.5)), (radii[1], shape.half, (0.5, -0.5))):
        for step in steps if radius > 0.0 else steps[:1]:
            angle = 2.0 * np.pi * (number + step) / SIDES
            corners.append(end * shape.axis + radius * (np.cos(angle) * side + np.sin(angle) * other))
    return np.tile(shape.point + np.array(corners), (len(centre), 1, 1))
