"""Walls and the periodic cell as the page reads them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...model.shapes import SHAPES, Cylinder, Plane, Plate, Shape
from ...model.shapes.outline import Line, ring
from ...model.walls import Wall
from ...trajectory.frame import Frame

UP = np.array([0.0, 0.0, 1.0])


def wall_words(walls: list[Wall]) -> list[dict[str, Any]]:
    """One dictionary per wall: shape, place and size; an infinite length is left out.

    The page cuts planes and endless cylinders to what is in view. Of other shapes it gets what they are drawn of: lines
    and faces, as seen from their point.
    """
    return [_words(wall) for wall in walls]


def cell_words(frame: Frame) -> dict[str, Any] | None:
    """Vectors, origin, periodic directions and velocity gradient of the cell; None without one."""
    if frame.cell is None or frame.cell_origin is None or frame.cell_periodic is None:
        return None
    rate = [[0.0] * 3] * 3 if frame.cell_rate is None else [_numbers(row) for row in frame.cell_rate]
    return {
        "vectors": [_numbers(vector) for vector in frame.cell],
        "origin": _numbers(frame.cell_origin),
        "periodic": [bool(has) for has in frame.cell_periodic],
        "rate": rate,
        "flows": frame.cell_mobility is not None,
    }


def _words(wall: Wall) -> dict[str, Any]:
    shape = wall.shape
    words: dict[str, Any] = {"name": wall.name, "shape": SHAPES.word_of(shape), "point": _numbers(shape.point)}
    if wall.guided:
        words["guided"] = True
    if isinstance(shape, (Plane, Plate)):
        words["normal"] = _numbers(shape.normal)
    if isinstance(shape, Plate):
        words |= {"along": _numbers(shape.along), "half": _numbers(shape.half)}
    if isinstance(shape, Cylinder):
        words |= {"axis": _numbers(shape.axis), "radius": shape.radius, "inside": shape.inside}
        if math.isfinite(shape.half):
            words["half"] = [shape.half]
    if not isinstance(shape, (Plane, Plate, Cylinder)):
        words |= _drawing(shape)
    return words


def _drawing(shape: Shape) -> dict[str, Any]:
    """Lines and faces in 2D and 3D; the page takes those of its dimension."""
    flat = [part.points if isinstance(part, Line) else ring(part.centre, UP, part.radius) for part in shape.lines()]
    solid = shape.sheets(np.array(list(shape.marks(shape.point))), [])
    parts = {"flat": flat, "rims": solid.rims, "faces": solid.faces}
    return {key: [[_numbers(point - shape.point) for point in part] for part in some] for key, some in parts.items()}


def _numbers(values: Any) -> list[float]:
    return [float(f"{value:.7g}") if math.isfinite(value) else 0.0 for value in values]
