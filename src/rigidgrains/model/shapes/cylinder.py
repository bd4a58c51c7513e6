"""Drums, tubes and rods."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ...runtime.compiled import allocating
from ..columns import X, Y, Z
from .distance import Array, Index, axes_about, offset, parallel, sideways, unit
from .facets import AROUND, Facets, rod, shell
from .outline import Circle, HalfSpace, Sheets, band, ring
from .shape import Shape


@dataclass
class Cylinder(Shape):
    """Cylinder felt from inside (a drum, an open tube) or from outside (a rod with flat ends); a circle in 2D.

    A finite tube is a thin shell that grains beside it feel too; an infinite one keeps its grains inside.
    point : on the axis, the middle of a finite one; half : half length, infinite allowed
    """

    point: Array
    axis: Array
    radius: float
    inside: bool
    half: float

    directions = ("axis",)

    @property
    def concave(self) -> bool:
        return self.inside

    @property
    def thickness(self) -> float:
        return math.inf if self.inside else self.radius

    def gaps(self, grains: Index, position: Array, radius: Array) -> tuple[Array, Array]:
        law = tube_gaps if self.inside else rod_gaps
        return law(grains, position, radius, self.point, self.axis, sideways(self.axis), self.radius, self.half)

    @property
    def convex(self) -> bool:
        return self._endless_tube

    def facets(self, dimension: int, bound: float) -> Facets:
        if self.inside:
            return shell(self.radius, self.radius, self.half)
        return rod(self.radius, self.half, bound, dimension)

    @property
    def frame(self) -> Array:
        return axes_about(self.axis)

    @property
    def off(self) -> float:
        return 0.0 if math.isinf(self.half) else self.radius * (1.0 - math.cos(0.5 * AROUND))

    def turns_in_itself(self, spin: Array) -> bool:
        return parallel(spin, self.axis)

    def curvature(self, radius: Array) -> Array:
        """At a rod it is the rod's radius, since overlaps from the turn of a normal have to be small against that as
        well; within a tube the radius of the circle on which the centre goes round, by which the normal turns."""
        return np.maximum(self.radius - radius, 0.0) if self.inside else np.full(len(radius), self.radius)

    def around(self, way: Array) -> Array:
        return np.asarray(np.linalg.norm(way - (way @ self.axis)[:, None] * self.axis, axis=1))

    def lines(self) -> Iterator[Circle]:
        yield Circle(self.point, self.radius, not self.inside)

    def sheets(self, corners: Array, planes: list[HalfSpace]) -> Sheets:
        """Facets of the side and two circles; an infinite one ends at planes across it, or with the box."""
        along = (corners - self.point) @ self.axis
        first, last = max(-self.half, along.min()), min(self.half, along.max())
        if self._endless_tube:
            for plane in planes:
                if self._across(plane):
                    end = float((plane.point - self.point) @ self.axis)
                    first, last = (max(first, end), last) if plane.normal @ self.axis > 0.0 else (first, min(last, end))
        circle = ring(self.point, self.axis, self.radius)
        lower, upper = circle + first * self.axis, circle + last * self.axis
        ends = [] if self.inside else [lower[:-1], upper[:-1]]
        return Sheets([*band(lower, upper), *ends], [lower, upper])

    def cuts(self, plane: HalfSpace) -> Iterator[HalfSpace]:
        """Planes across an endless tube are its ends."""
        if self._endless_tube and self._across(plane):
            for spoke in ring(self.point, self.axis, self.radius)[:-1] - self.point:
                yield HalfSpace(self.point + spoke, -spoke)

    def marks(self, middle: Array) -> Iterator[Array]:
        side = sideways(self.axis)
        other = np.cross(self.axis, side)
        half = self.half
        centre = self.point if np.isfinite(half) else self.point + ((middle - self.point) @ self.axis) * self.axis
        end = (half if np.isfinite(half) else 0.0) * self.axis
        for angle, along in product(np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False), (-1.0, 1.0)):
            yield centre + along * end + self.radius * (np.cos(angle) * side + np.sin(angle) * other)

    @property
    def _endless_tube(self) -> bool:
        return self.inside and not math.isfinite(self.half)

    def _across(self, plane: HalfSpace) -> bool:
        return bool(abs(plane.normal @ self.axis) > 1.0 - 1e-9)


@allocating
def tube_gaps(
    grains: Index, position: Array, radius: Array, point: Array, axis: Array, side: Array, tube: float, half: float
) -> Any:
    """Distance to the wall of a tube; beyond its ends, to the rim. An infinite tube keeps its grains inside."""
    gap, n = np.empty(grains.size), np.empty((grains.size, 3))
    for k in range(grains.size):
        i = grains[k]
        x, y, z = offset(position, i, point)
        h = x * axis[X] + y * axis[Y] + z * axis[Z]
        rho, ex, ey, ez = unit(x - h * axis[X], y - h * axis[Y], z - h * axis[Z], side)
        d = tube - rho
        if d < 0.0 and half < np.inf:  # a finite tube is a thin shell, felt from outside as well
            d, ex, ey, ez = -d, -ex, -ey, -ez
        if abs(h) > half:
            e = math.copysign(half, h) - h
            d, ex, ey, ez = unit(d * ex + e * axis[X], d * ey + e * axis[Y], d * ez + e * axis[Z], side)
        n[k, X], n[k, Y], n[k, Z] = ex, ey, ez
        gap[k] = d - radius[i]
    return gap, n


@allocating
def rod_gaps(
    grains: Index, position: Array, radius: Array, point: Array, axis: Array, side: Array, rod: float, half: float
) -> Any:
    """Distance from outside to a solid rod: its side, its rim or its flat end."""
    gap, n = np.empty(grains.size), np.empty((grains.size, 3))
    for k in range(grains.size):
        i = grains[k]
        x, y, z = offset(position, i, point)
        h = x * axis[X] + y * axis[Y] + z * axis[Z]
        rho, ex, ey, ez = unit(h * axis[X] - x, h * axis[Y] - y, h * axis[Z] - z, side)
        d = rho - rod
        if abs(h) > half:
            d = max(d, 0.0)
            e = math.copysign(half, h) - h
            d, ex, ey, ez = unit(d * ex + e * axis[X], d * ey + e * axis[Y], d * ez + e * axis[Z], side)
        n[k, X], n[k, Y], n[k, Z] = ex, ey, ez
        gap[k] = d - radius[i]
    return gap, n
