"""Walls of a 2D scene as lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..detect.shapes import Cylinder, Plane, Plate
from ..walls import Wall

Array = NDArray[np.float64]


def wall_lines(walls: list[Wall], low: Array, high: Array) -> Iterator[tuple[Array, dict[str, Any]]]:
    """Points (m, 2) and line style of each wall; low, high are the corners of the view. Planes end where they meet."""
    planes = [wall.shape for wall in walls if isinstance(wall.shape, Plane)]
    for wall in walls:
        shape = wall.shape
        style = {"color": "#1b1b1b", "lw": 3.0} if wall.guided else {"color": "#444444", "lw": 1.4}
        if isinstance(shape, Plane):
            reach = 2.0 * float(np.linalg.norm(high - low) + np.linalg.norm(shape.point[:2] - low))
            along = np.array([-shape.normal[1], shape.normal[0]])
            yield shape.point[:2] + np.outer(_meet(shape, along, planes, reach), along), style
        elif isinstance(shape, Plate):
            yield shape.point[:2] + np.outer([-shape.half[0], shape.half[0]], shape.along[:2]), style
        elif isinstance(shape, Cylinder):
            angle = np.linspace(0.0, 2.0 * np.pi, 361)
            yield shape.point[:2] + shape.radius * np.column_stack([np.cos(angle), np.sin(angle)]), style


def _meet(plane: Plane, along: Array, planes: list[Plane], reach: float) -> tuple[float, float]:
    """Ends of a plane's line, cut by the planes in front of which it lies; the whole line if nothing would be left."""
    low, high = -reach, reach
    for other in planes:
        slope = float(along @ other.normal[:2])
        if abs(slope) < 1e-9:
            continue
        cut = float((other.point - plane.point)[:2] @ other.normal[:2]) / slope
        low, high = (max(low, cut), high) if slope > 0.0 else (low, min(high, cut))
    return (low, high) if low < high else (-reach, reach)
