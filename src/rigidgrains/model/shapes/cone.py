"""Funnels: a thin shell between two circles of one axis."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...runtime.compiled import allocating
from ..columns import X, Y, Z
from .distance import Array, Index, axes_about, offset, parallel, sideways, unit
from .facets import AROUND, Facets, shell
from .outline import FACETS, HalfSpace, Sheets, band, ring
from .shape import Shape


@dataclass
class Cone(Shape):
    """Truncated cone, open at both ends, felt from both sides and at its rims; in 3D.

    point : on the axis, midway between the circles; half : half the way from one to the other
    radii : of the circles at -half and +half along the axis; one of them may be zero, a tip
    """

    point: Array
    axis: Array
    radii: tuple[float, float]
    half: float

    directions = ("axis",)

    def __post_init__(self) -> None:
        if len(self.radii) != 2:
            raise ValueError(f"a cone has two radii, one of each end; given: {self.radii}")

    @property
    def concave(self) -> bool:
        return True

    def gaps(self, grains: Index, position: Array, radius: Array) -> tuple[Array, Array]:
        return cone_gaps(grains, position, radius, self.point, self.axis, sideways(self.axis), *self.radii, self.half)

    def facets(self, dimension: int, bound: float) -> Facets:
        return shell(float(self.radii[0]), float(self.radii[1]), self.half)

    @property
    def frame(self) -> Array:
        return axes_about(self.axis)

    @property
    def off(self) -> float:
        return max(self.radii) * (1.0 - math.cos(0.5 * AROUND))

    def turns_in_itself(self, spin: Array) -> bool:
        return parallel(spin, self.axis)

    def curvature(self, radius: Array) -> Array:
        """Where it is narrowest, the radius of the circle on which a centre goes round."""
        return np.maximum(min(self.radii) - radius, 0.0)

    def around(self, way: Array) -> Array:
        return np.asarray(np.linalg.norm(way - (way @ self.axis)[:, None] * self.axis, axis=1))

    def sheets(self, corners: Array, planes: list[HalfSpace]) -> Sheets:
        lower, upper = self._rings()
        return Sheets(band(lower, upper), [lower, upper])

    def marks(self, middle: Array) -> Iterator[Array]:
        for rim in self._rings(16):
            yield from rim[:-1]

    def _rings(self, facets: int = FACETS) -> list[Array]:
        ends = zip((-self.half, self.half), self.radii)
        return [ring(self.point + end * self.axis, self.axis, radius, facets) for end, radius in ends]


@allocating
def cone_gaps(
    grains: Index, position: Array, radius: Array, point: Array, axis: Array, side: Array, first: float, last: float,
    half: float,
) -> Any:  # fmt: skip
    """Distance to the line from one circle to the other, in the half-plane of the axis and the centre."""
    gap, n = np.empty(grains.size), np.empty((grains.size, 3))
    wider, square = last - first, (last - first) ** 2 + 4.0 * half**2
    out = np.empty(3)
    for k in range(grains.size):
        i = grains[k]
        x, y, z = offset(position, i, point)
        h = x * axis[X] + y * axis[Y] + z * axis[Z]
        rho, ex, ey, ez = unit(x - h * axis[X], y - h * axis[Y], z - h * axis[Z], side)
        part = min(max(((rho - first) * wider + (h + half) * 2.0 * half) / square, 0.0), 1.0)
        d, e = first + part * wider - rho, 2.0 * half * part - half - h
        if d == 0.0 and e == 0.0:  # a centre on the surface
            _, out[X], out[Y], out[Z] = unit(
                2.0 * half * ex - wider * axis[X], 2.0 * half * ey - wider * axis[Y], 2.0 * half * ez - wider * axis[Z],
                side,
            )  # fmt: skip
        d, n[k, X], n[k, Y], n[k, Z] = unit(d * ex + e * axis[X], d * ey + e * axis[Y], d * ez + e * axis[Z], out)
        gap[k] = d - radius[i]
    return gap, n
