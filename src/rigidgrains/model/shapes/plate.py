"""A finite thin plane."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ...runtime.compiled import allocating
from ..columns import X, Y, Z
from .distance import Array, Index, offset, unit
from .facets import Facets, rectangle
from .outline import HalfSpace, Line, Sheets
from .shape import Shape


@dataclass
class Plate(Shape):
    """Finite thin plane, felt from both sides: a segment in 2D, a rectangle in 3D.

    point : its middle; along : unit vector of the first side; half : half lengths (along, across)
    """

    point: Array
    normal: Array
    along: Array
    half: tuple[float, float]

    directions = ("normal", "along")

    def __post_init__(self) -> None:
        if len(self.half) != 2:
            raise ValueError(f"a plate has two half lengths, along and across; given: {self.half}")

    def gaps(self, grains: Index, position: Array, radius: Array) -> tuple[Array, Array]:
        return plate_gaps(grains, position, radius, self.point, self.normal, self.along, self.half[0], self.half[1])

    def facets(self, dimension: int, bound: float) -> Facets:
        return rectangle(float(self.half[0]), float(self.half[1]), dimension)

    @property
    def frame(self) -> Array:
        return np.stack([self.along, np.cross(self.normal, self.along), self.normal], axis=1)

    def lines(self) -> Iterator[Line]:
        yield Line(self.point + np.outer([-self.half[0], self.half[0]], self.along))

    def sheets(self, corners: Array, planes: list[HalfSpace]) -> Sheets:
        along, across = self.half[0] * self.along, self.half[1] * np.cross(self.normal, self.along)
        sheet = self.point + np.array([along + across, across - along, -along - across, along - across])
        return Sheets([sheet], [np.vstack([sheet, sheet[:1]])])

    def marks(self, middle: Array) -> Iterator[Array]:
        across = np.cross(self.normal, self.along)
        for a, b in product((-1.0, 1.0), repeat=2):
            yield self.point + a * self.half[0] * self.along + b * self.half[1] * across


@allocating
def plate_gaps(
    grains: Index, position: Array, radius: Array, point: Array, normal: Array, along: Array, half: float, across: float
) -> Any:
    """Distance to the closest point of a rectangle; a centre on the plate is pushed out along its normal."""
    gap, n = np.empty(grains.size), np.empty((grains.size, 3))
    bx = normal[Y] * along[Z] - normal[Z] * along[Y]
    by = normal[Z] * along[X] - normal[X] * along[Z]
    bz = normal[X] * along[Y] - normal[Y] * along[X]
    for k in range(grains.size):
        i = grains[k]
        x, y, z = offset(position, i, point)
        a = x * along[X] + y * along[Y] + z * along[Z]
        b = x * bx + y * by + z * bz
        a = min(max(a, -half), half)
        b = min(max(b, -across), across)
        length, n[k, X], n[k, Y], n[k, Z] = unit(
            a * along[X] + b * bx - x, a * along[Y] + b * by - y, a * along[Z] + b * bz - z, -normal
        )
        gap[k] = length - radius[i]
    return gap, n
