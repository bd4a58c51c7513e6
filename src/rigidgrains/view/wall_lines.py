"""Walls of a 2D scene as lines, bars and circles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Polygon
from numpy.typing import NDArray

from ..model.columns import X, Y
from ..model.shapes import Plane
from ..model.shapes.outline import Line
from ..model.walls import Wall
from .extent import Box

Array = NDArray[Any]
WALL, PISTON = "#4a4a4a", "#3c4a5c"


def wall_artists(walls: list[Wall], box: Box) -> Iterator[Artist]:
    """What to draw for each wall. Planes end at the box and where they meet others; a piston is a bar."""
    planes = [(wall.shape.point, wall.shape.normal) for wall in walls if isinstance(wall.shape, Plane)]
    planes += [(corner, sign * axis) for corner, sign in ((box.low, 1.0), (box.high, -1.0)) for axis in np.eye(3)[:2]]
    for wall in walls:
        shape = wall.shape
        if isinstance(shape, Plane):
            along = np.array([-shape.normal[1], shape.normal[0]])
            line = shape.point[:2] + np.outer(_ends(shape, along, planes, 4.0 * box.diagonal), along)
            if wall.guided:
                back = -0.016 * box.diagonal * shape.normal[:2]
                yield Polygon(np.vstack([line, line[::-1] + back]), color=PISTON, lw=0, zorder=4, gid=wall.name)
            else:
                yield _line(line, 1.5, wall.name)
            continue
        for part in shape.lines():
            if isinstance(part, Line):
                yield _line(part.points, 2.4, wall.name)
            else:
                fill = "#b5b5b5" if part.solid else "none"
                yield Circle(tuple(part.centre[:2]), part.radius, ec=WALL, fc=fill, lw=1.8, zorder=4, gid=wall.name)


def _line(line: Array, width: float, name: str) -> Line2D:
    return Line2D(line[:, X], line[:, Y], color=WALL, lw=width, solid_capstyle="round", zorder=4, gid=name)


def _ends(plane: Plane, along: Array, planes: list[tuple[Array, Array]], reach: float) -> tuple[float, float]:
    """Ends of a plane's line, cut by the planes in front of which it lies; the whole line if nothing would be left."""
    low, high = -reach, reach
    for point, normal in planes:
        slope = float(along @ normal[:2])
        if abs(slope) < 1e-9:
            continue
        end = float((point - plane.point)[:2] @ normal[:2]) / slope
        low, high = (max(low, end), high) if slope > 0.0 else (low, min(high, end))
    return (low, high) if low < high else (-reach, reach)
