"""Vectors from walls to grains: what the kernels of all shapes are made of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...runtime.compiled import kernel
from ..columns import X, Y, Z

Array = NDArray[np.float64]
Index = NDArray[np.int32]


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


def parallel(spin: Array, axis: Array) -> bool:
    """True when a spin turns about a unit axis, or not at all."""
    return bool(np.linalg.norm(np.cross(spin, axis)) <= 1e-12 * np.linalg.norm(spin))


def sideways(axis: Array) -> Array:
    """Some unit vector perpendicular to a unit axis, in the plane z = 0 when the axis is z."""
    least = int(np.argmin(np.abs(axis)))
    side = -axis[least] * axis
    side[least] += 1.0
    return side / np.linalg.norm(side)


def axes_about(axis: Array) -> Array:
    """(3, 3) unit vectors in columns, right-handed, the last along a unit axis."""
    side = sideways(axis)
    return np.stack([side, np.cross(axis, side), axis], axis=1)
