"""An endless plane. Pictures cut it to what is in view, and where it meets others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...runtime.compiled import allocating
from ..columns import X, Y, Z
from .distance import Array, Index, offset, parallel
from .shape import Shape


@dataclass
class Plane(Shape):
    """Half-space: grains live on the side to which the unit normal points."""

    point: Array
    normal: Array

    directions = ("normal",)

    def gaps(self, grains: Index, position: Array, radius: Array) -> tuple[Array, Array]:
        return plane_gaps(grains, position, radius, self.point, self.normal)

    @property
    def convex(self) -> bool:
        return True

    def turns_in_itself(self, spin: Array) -> bool:
        return parallel(spin, self.normal)


@allocating
def plane_gaps(grains: Index, position: Array, radius: Array, point: Array, normal: Array) -> Any:
    """Signed distance to a half-space."""
    gap, n = np.empty(grains.size), np.empty((grains.size, 3))
    for k in range(grains.size):
        i = grains[k]
        x, y, z = offset(position, i, point)
        gap[k] = x * normal[X] + y * normal[Y] + z * normal[Z] - radius[i]
        n[k, X], n[k, Y], n[k, Z] = -normal[X], -normal[Y], -normal[Z]
    return gap, n
