"""Walls as the page reads them."""

from __future__ import annotations

import math
from typing import Any

from ...detect.shapes import Cylinder, Plane, Plate
from ...walls import Wall


def wall_words(walls: list[Wall]) -> list[dict[str, Any]]:
    """One dictionary per wall: shape, place and size; an infinite length is left out."""
    return [_words(wall) for wall in walls]


def _words(wall: Wall) -> dict[str, Any]:
    shape = wall.shape
    words: dict[str, Any] = {"name": wall.name, "shape": type(shape).__name__.lower(), "point": _numbers(shape.point)}
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
    return words


def _numbers(values: Any) -> list[float]:
    return [float(f"{value:.7g}") if math.isfinite(value) else 0.0 for value in values]
