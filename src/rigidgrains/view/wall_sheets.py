"""Walls of a 3D scene as convex polygons, and the lines of their rims."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.shapes import Cylinder, Plane, Plate, sideways
from ..model.walls import Wall
from .extent import Box

Array = NDArray[Any]
FACETS = 72  # of a cylinder


def wall_sheets(walls: list[Wall], box: Box) -> tuple[list[Array], list[tuple[Array, bool]]]:
    """Polygons (k, 3) and rims (k, 3) with True for those of a piston.

    Planes are cut to the box and to each other; those across an endless tube are its ends.
    """
    sheets, rims = [], []
    planes = [wall.shape for wall in walls if isinstance(wall.shape, Plane)]
    tubes = [shape for shape in (wall.shape for wall in walls) if isinstance(shape, Cylinder) and shape.inside]
    tubes = [tube for tube in tubes if not np.isfinite(tube.half)]
    for wall in walls:
        shape: Any = wall.shape
        if isinstance(shape, Cylinder):
            facets, circles = _cylinder(shape, planes, box)
            sheets += facets
            rims += [(circle, False) for circle in circles]
            continue
        sheet = _plate(shape) if isinstance(shape, Plate) else _plane(shape, planes, tubes, box)
        if len(sheet):
            sheets.append(sheet)
            rims.append((np.vstack([sheet, sheet[:1]]), wall.guided))
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


def _plane(plane: Plane, planes: list[Plane], tubes: list[Cylinder], box: Box) -> Array:
    side = sideways(plane.normal)
    other = np.cross(plane.normal, side)
    middle = 0.5 * (box.low + box.high)
    foot = middle - ((middle - plane.point) @ plane.normal) * plane.normal
    reach = 2.0 * box.diagonal
    sheet = foot + reach * np.array([side + other, other - side, -side - other, side - other])
    for axis in np.eye(3):
        sheet = cut(cut(sheet, box.low, axis), box.high, -axis)
    for another in planes:
        if another is not plane and len(sheet) and abs(another.normal @ plane.normal) < 1.0 - 1e-9:
            part = cut(sheet, another.point, another.normal)
            sheet = part if len(part) > 2 else sheet
    for tube in tubes:
        if _across(plane, tube):
            for spoke in _ring(tube)[:-1] - tube.point:
                sheet = cut(sheet, tube.point + spoke, -spoke)
    return sheet


def _plate(plate: Plate) -> Array:
    along, across = plate.half[0] * plate.along, plate.half[1] * np.cross(plate.normal, plate.along)
    return plate.point + np.array([along + across, across - along, -along - across, along - across])


def _cylinder(cylinder: Cylinder, planes: list[Plane], box: Box) -> tuple[list[Array], list[Array]]:
    """Facets of the side and the two circles at the ends; an infinite one ends at planes across it, or with the box."""
    along = (box.corners() - cylinder.point) @ cylinder.axis
    first, last = max(-cylinder.half, along.min()), min(cylinder.half, along.max())
    if cylinder.inside and not np.isfinite(cylinder.half):
        for plane in planes:
            if _across(plane, cylinder):
                end = float((plane.point - cylinder.point) @ cylinder.axis)
                first, last = (max(first, end), last) if plane.normal @ cylinder.axis > 0.0 else (first, min(last, end))
    ring = _ring(cylinder)
    lower, upper = ring + first * cylinder.axis, ring + last * cylinder.axis
    facets = [np.array([lower[k], lower[k + 1], upper[k + 1], upper[k]]) for k in range(FACETS)]
    if not cylinder.inside:
        facets += [lower[:-1], upper[:-1]]
    return facets, [lower, upper]


def _ring(cylinder: Cylinder) -> Array:
    """(FACETS + 1, 3) points on the circle around the point of a cylinder; the last is the first."""
    side = sideways(cylinder.axis)
    angle = np.linspace(0.0, 2.0 * np.pi, FACETS + 1)[:, None]
    return cylinder.point + cylinder.radius * (np.cos(angle) * side + np.sin(angle) * np.cross(cylinder.axis, side))


def _across(plane: Plane, tube: Cylinder) -> bool:
    return bool(abs(plane.normal @ tube.axis) > 1.0 - 1e-9)
