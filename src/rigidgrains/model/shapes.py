"""Narrow phase of walls: gap and normal from a grain to a plane, a plate or a cylinder.

Each shape has one scalar law: the signed distance from a centre to the surface and the unit vector n that points from
the centre to the surface (bodies 0 = grain, 1 = wall). The gap is that distance less the radius.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiled import kernel
from ..runtime.registry import Registry
from .columns import X, Y, Z

Array = NDArray[np.float64]
Index = NDArray[np.int32]


@dataclass
class Plane:
    """Half-space: grains live on the side to which the unit normal points."""

    point: Array
    normal: Array
    concave = False

    def words(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_words(cls, words: dict[str, Any], point: Array, normal: Array, along: Array) -> Plane:
        return cls(point, normal)

    def turn(self, rotation: Array) -> None:
        self.normal = rotation @ self.normal

    def gaps(self, grains: Index, position: Array, radius: Array) -> tuple[Array, Array]:
        return plane_gaps(grains, position, radius, self.point, self.normal)

    def turns_in_itself(self, spin: Array) -> bool:
        return _parallel(spin, self.normal)


@dataclass
class Plate:
    """Finite thin plane, felt from both sides: a segment in 2D, a rectangle in 3D.

    point : its middle; along : unit vector of the first side; half : half lengths (along, across)
    """

    point: Array
    normal: Array
    along: Array
    half: tuple[float, float]
    concave = False

    def words(self) -> dict[str, Any]:
        return {"half": [float(half) for half in self.half]}

    @classmethod
    def from_words(cls, words: dict[str, Any], point: Array, normal: Array, along: Array) -> Plate:
        first, second = words["half"]
        return cls(point, normal, along, (float(first), float(second)))

    def turn(self, rotation: Array) -> None:
        self.normal = rotation @ self.normal
        self.along = rotation @ self.along

    def gaps(self, grains: Index, position: Array, radius: Array) -> tuple[Array, Array]:
        return plate_gaps(grains, position, radius, self.point, self.normal, self.along, self.half[0], self.half[1])

    def turns_in_itself(self, spin: Array) -> bool:
        return False


@dataclass
class Cylinder:
    """Cylinder felt from inside (a drum, an open tube) or from outside (a rod with flat ends); a circle in 2D.

    A finite tube is a thin shell that grains beside it feel too; an infinite one keeps its grains inside.
    point : on the axis, the middle of a finite one; half : half length, infinite allowed
    """

    point: Array
    axis: Array
    radius: float
    inside: bool
    half: float

    @property
    def concave(self) -> bool:
        return self.inside

    def words(self) -> dict[str, Any]:
        return {"radius": float(self.radius), "inside": bool(self.inside), "half": float(self.half)}

    @classmethod
    def from_words(cls, words: dict[str, Any], point: Array, axis: Array, along: Array) -> Cylinder:
        return cls(point, axis, float(words["radius"]), bool(words["inside"]), float(words["half"]))

    def turn(self, rotation: Array) -> None:
        self.axis = rotation @ self.axis

    def gaps(self, grains: Index, position: Array, radius: Array) -> tuple[Array, Array]:
        law = tube_gaps if self.inside else rod_gaps
        return law(grains, position, radius, self.point, self.axis, sideways(self.axis), self.radius, self.half)

    def turns_in_itself(self, spin: Array) -> bool:
        return _parallel(spin, self.axis)

    def curvature(self, radius: Array) -> Array:
        """(m,) m, the way round the axis within which the contact of a grain of each radius changes altogether.

        At a rod it is the rod's radius, since overlaps from the turn of a normal have to be small against that as well;
        within a tube the radius of the circle on which the centre goes round, by which the normal turns.
        """
        return np.maximum(self.radius - radius, 0.0) if self.inside else np.full(len(radius), self.radius)


# By the names that files and pages use; `from_words` makes a shape again, with its normal or axis and, of a plate, its
# first side.
SHAPES: Registry[Any] = Registry("wall shape", {"plane": Plane, "plate": Plate, "cylinder": Cylinder})


@kernel
def plane_gaps(grains: Index, position: Array, radius: Array, point: Array, normal: Array) -> Any:
    """Signed distance to a half-space."""
    gap, n = np.empty(grains.size), np.empty((grains.size, 3))
    for k in range(grains.size):
        i = grains[k]
        x, y, z = offset(position, i, point)
        gap[k] = x * normal[X] + y * normal[Y] + z * normal[Z] - radius[i]
        n[k, X], n[k, Y], n[k, Z] = -normal[X], -normal[Y], -normal[Z]
    return gap, n


@kernel
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


@kernel
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


@kernel
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


@kernel
def offset(position: Array, i: int, point: Array) -> Any:
    """Vector from a wall's point to the centre of grain i."""
    return position[i, X] - point[X], position[i, Y] - point[Y], position[i, Z] - point[Z]


@kernel
def unit(x: float, y: float, z: float, otherwise: Array) -> Any:
    """Length and direction of a vector; the direction is `otherwise` when it has no length."""
    length = math.sqrt(x * x + y * y + z * z)
    if length == 0.0:
        return length, otherwise[X], otherwise[Y], otherwise[Z]
    return length, x / length, y / length, z / length


def _parallel(spin: Array, axis: Array) -> bool:
    return bool(np.linalg.norm(np.cross(spin, axis)) <= 1e-12 * np.linalg.norm(spin))


def sideways(axis: Array) -> Array:
    """Some unit vector perpendicular to a unit axis, in the plane z = 0 when the axis is z."""
    least = int(np.argmin(np.abs(axis)))
    side = -axis[least] * axis
    side[least] += 1.0
    return side / np.linalg.norm(side)
