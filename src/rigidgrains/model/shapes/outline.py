"""What walls are drawn of: half-spaces, lines and circles in 2D, convex polygons and rims in 3D."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .distance import Array, sideways

FACETS = 72  # of a circle


class HalfSpace(NamedTuple):
    """A point (3,) of its plane (m), and the unit normal (3,) into it."""

    point: Array
    normal: Array


class Line(NamedTuple):
    """points : (k, 3) m, one after the other"""

    points: Array


class Circle(NamedTuple):
    """centre : (3,) m; solid : True when the wall is within"""

    centre: Array
    radius: float
    solid: bool


@dataclass
class Sheets:
    """faces : convex polygons (k, 3) m; rims : lines (k, 3) m"""

    faces: list[Array] = field(default_factory=list)
    rims: list[Array] = field(default_factory=list)


def ring(centre: Array, axis: Array, radius: float, facets: int = FACETS) -> Array:
    """(facets + 1, 3) points on a circle around an axis; the last is the first."""
    side = sideways(axis)
    angle = np.linspace(0.0, 2.0 * np.pi, facets + 1)[:, None]
    return np.asarray(centre + radius * (np.cos(angle) * side + np.sin(angle) * np.cross(axis, side)))


def band(lower: Array, upper: Array) -> list[Array]:
    """Facets between two rings."""
    return [np.array([lower[k], lower[k + 1], upper[k + 1], upper[k]]) for k in range(len(lower) - 1)]
