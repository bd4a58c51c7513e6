"""Walls of a 3D scene as convex polygons, and the lines of their rims."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.shapes import Plane, Shape, sideways
from ..model.shapes.outline import HalfSpace
from ..model.walls import Wall
from .extent import Box

Array = NDArray[Any]


def wall_sheets(walls: list[Wall], box: Box) -> tuple[list[Array], list[tuple[Array, bool]]]:
    """Polygons (k, 3) and rims (k, 3) with True for those of a piston.

    Planes are cut to the box, to each other and by shapes that they end, as they do an endless tube.
    """
    sheets: list[Array] = []
    rims: list[tuple[Array, bool]] = []
    shapes = [wall.shape for wall in walls]
    planes = [HalfSpace(shape.point, shape.normal) for shape in shapes if isinstance(shape, Plane)]
    for wall in walls:
        if isinstance(wall.shape, Plane):
            sheet = _plane(HalfSpace(wall.shape.point, wall.shape.normal), planes, shapes, box)
            if len(sheet):
                sheets.append(sheet)
                rims.append((np.vstack([sheet, sheet[:1]]), wall.guided))
            continue
        drawn = wall.shape.sheets(box.corners(), planes)
        sheets += drawn.faces
        rims += [(rim, False) for rim in drawn.rims]
    return sheets, rims


def cut(polygon: Array, point: Array, normal: Array) -> Array:
    """The part of a convex polygon (k, 3) on the side of a plane to which the normal points."""
    kept: list[Array] = []
    height = (polygon - point) @ normal
    for k in range(len(polygon)):
        here, there = height[k - 1], height[k]
        if (here >= 0.0) != (there >= 0.0):
            kept.append(polygon[k - 1] + here / (here - there) * (polygon[k] - polygon[k - 1]))
        if there >= 0.0:
            kept.append(polygon[k])
    return np.array(kept).reshape(-1, 3)


def _plane(plane: HalfSpace, planes: list[HalfSpace], shapes: list[Shape], box: Box) -> Array:
    side = sideways(plane.normal)
    other = np.cross(plane.normal, side)
    middle = 0.5 * (box.low + box.high)
    foot = middle - ((middle - plane.point) @ plane.normal) * plane.normal
    reach = 2.0 * box.diagonal
    sheet = foot + reach * np.array([side + other, other - side, -side - other, side - other])
    for axis in np.eye(3):
        sheet = cut(cut(sheet, box.low, axis), box.high, -axis)
    for another in planes:
        if len(sheet) and abs(another.normal @ plane.normal) < 1.0 - 1e-9:
            part = cut(sheet, another.point, another.normal)
            sheet = part if len(part) > 2 else sheet
    for shape in shapes:
        for point, normal in shape.cuts(plane):
            sheet = cut(sheet, point, normal)
    return sheet
