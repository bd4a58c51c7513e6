"""Walls, with formulas of their own: gap and normal, placement at the beginning of the step, surface velocity."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.shapes import Cone, Cylinder, Plane, Plate
from ..model.walls import Wall

Array = NDArray[np.float64]


def gaps(wall: Wall, position: Array, radius: Array) -> tuple[Array, Array, Array]:
    """Gap (m,) and normal (m, 3) from each grain to a wall, and the length (m,) whose direction the normal is."""
    shape: Any = wall.shape
    if isinstance(shape, Plane):
        gap = (position - shape.point) @ shape.normal - radius
        return gap, np.tile(-shape.normal, (len(radius), 1)), radius
    if isinstance(shape, Plate):
        away = shape.point + _nearest_on_plate(shape, position - shape.point) - position
        length = _length(away)
        return length - radius, _direction(away, length, -shape.normal), length
    if isinstance(shape, Cylinder):
        return _cylinder(shape, position - shape.point, radius)
    if isinstance(shape, Cone):
        return _cone(shape, position - shape.point, radius)
    everyone = np.arange(len(radius), dtype=np.int32)  # a shape that is unknown here: by its own word
    gap, normal = shape.gaps(everyone, position, radius)
    return gap, normal, radius


def moved_back(wall: Wall, velocity: Array, dt: float) -> Wall:
    """The wall where it was one step ago."""
    wall = copy.copy(wall)
    shape: Any = copy.copy(wall.shape)
    drive = copy.copy(wall.drive)
    if np.any(drive.spin):
        back = rotation(-dt * drive.spin)
        if drive.about is not None:
            shape.point = drive.about + back @ (shape.point - drive.about)
            drive.about = drive.about - dt * velocity
        for direction in ("normal", "along", "axis"):
            if hasattr(shape, direction):
                setattr(shape, direction, back @ getattr(shape, direction))
    shape.point = shape.point - dt * velocity
    wall.shape, wall.drive = shape, drive
    return wall


def surface_velocity(wall: Wall, velocity: Array, points: Array) -> Array:
    """(m, 3) m/s, of the wall's material at points of its surface."""
    centre = wall.shape.point if wall.drive.about is None else wall.drive.about
    return velocity + np.cross(wall.drive.spin, points - centre)


def directions(wall: Wall) -> list[Array]:
    """The unit vectors that tell how a wall is turned."""
    return [getattr(wall.shape, name) for name in ("normal", "along", "axis") if hasattr(wall.shape, name)]


def extent(wall: Wall) -> float:
    """m, the largest number that a gap to this wall is made of."""
    shape: Any = wall.shape
    half = [size for size in np.ravel(getattr(shape, "half", 0.0)) if math.isfinite(size)]
    radius = float(np.max(getattr(shape, "radii", getattr(shape, "radius", 0.0))))
    return float(np.abs(shape.point).max()) + radius + max(half, default=0.0)


def rotation(angle: Array) -> Array:
    """(3, 3), turns by a rotation vector (rad): the exponential of its cross product, by quaternion."""
    theta = float(np.sqrt(angle @ angle))
    if theta == 0.0:
        return np.eye(3)
    w, (x, y, z) = math.cos(0.5 * theta), math.sin(0.5 * theta) / theta * angle
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _nearest_on_plate(shape: Plate, offset: Array) -> Array:
    """The point of a rectangle closest to each offset from its middle."""
    across = np.cross(shape.normal, shape.along)
    a = np.clip(offset @ shape.along, -shape.half[0], shape.half[0])
    b = np.clip(offset @ across, -shape.half[1], shape.half[1])
    return a[:, None] * shape.along + b[:, None] * across


def _cylinder(shape: Cylinder, offset: Array, radius: Array) -> tuple[Array, Array, Array]:
    """In the half-plane through the axis: the way d to the side, and the way back to an end if it is passed."""
    height = offset @ shape.axis
    radial = offset - height[:, None] * shape.axis
    rho = _length(radial)
    out = _direction(radial, rho, _any_normal_to(shape.axis))
    beyond = np.clip(height, -shape.half, shape.half) - height
    beside = beyond == 0.0
    d = shape.radius - rho  # along +out, to the side
    if not shape.inside:
        d = np.where(beside, d, np.minimum(d, 0.0))  # the flat end of a rod
    away = d[:, None] * out + beyond[:, None] * shape.axis
    length = _length(away)
    n = _direction(away, length, out)
    gap = length
    if not shape.inside:  # solid: within it the way out is backwards, and the gap negative
        n[beside], gap = -out[beside], np.where(beside, -d, length)
    elif math.isinf(shape.half):  # what is outside of an endless tube is lost behind its wall
        n, gap = out, d
    return gap - radius, n, np.where(beside, rho, np.minimum(rho, length))


def _cone(shape: Cone, offset: Array, radius: Array) -> tuple[Array, Array, Array]:
    """In the half-plane through the axis: along the slanted line from its middle, to its ends at most."""
    height = offset @ shape.axis
    radial = offset - height[:, None] * shape.axis
    rho = _length(radial)
    out = _direction(radial, rho, _any_normal_to(shape.axis))
    lean = math.atan2(0.5 * (shape.radii[1] - shape.radii[0]), shape.half)  # from the axis
    middle, slant = 0.5 * sum(shape.radii), shape.half / math.cos(lean)
    s = np.clip((rho - middle) * math.sin(lean) + height * math.cos(lean), -slant, slant)
    away = (middle + s * math.sin(lean) - rho)[:, None] * out + (s * math.cos(lean) - height)[:, None] * shape.axis
    length = _length(away)
    n = _direction(away, length, math.cos(lean) * out - math.sin(lean) * shape.axis)
    return length - radius, n, np.minimum(rho, length)


def _length(vectors: Array) -> Array:
    return np.sqrt(np.einsum("ij,ij->i", vectors, vectors))


def _direction(vectors: Array, length: Array, otherwise: Array) -> Array:
    some = length > 0.0
    return np.where(some[:, None], vectors / np.where(some, length, 1.0)[:, None], otherwise)


def _any_normal_to(axis: Array) -> Array:
    side = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    return np.asarray(side / np.sqrt(side @ side))
