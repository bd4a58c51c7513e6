"""What every measurement starts from: a frame in double precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..trajectory.frame import Frame

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Mask = NDArray[np.bool_]


class TooFew(ValueError):
    """There are too few grains, or kinds of them, for what is measured. Over a run `Measure` records nan then."""


def some(frame: Frame) -> Frame:
    """A frame that has grains."""
    if not len(frame):
        raise TooFew("there are no grains, so there is nothing to measure; wait until some have come in")
    return frame


def of(source: Frame | Simulation) -> Frame:
    """The present state of a simulation as a frame; a frame is given back as it is."""
    return source if isinstance(source, Frame) else Frame.of(source)


def grain_volume(frame: Frame) -> Array:
    """(n,) m^3, in 2D m^2; the radius is that of the round grain of equal volume."""
    radius = double(frame.radius)
    return np.pi * radius**2 if frame.dimension == 2 else 4.0 / 3.0 * np.pi * radius**3


def axis_number(frame: Frame, axis: int | str) -> int:
    """0, 1 or 2 from a number or from "x", "y", "z"."""
    names = "xyz"[: frame.dimension]
    number = names.find(axis) if isinstance(axis, str) and len(axis) == 1 else axis
    if not isinstance(number, (int, np.integer)) or not 0 <= number < frame.dimension:
        raise ValueError(f"axis = {axis!r} is no axis in {frame.dimension}D; give one of {', '.join(names)}")
    return int(number)


def double(array: Any) -> Array:
    """In double precision; files may hold single."""
    return np.asarray(array, dtype=float)


def dot(a: Array, b: Array) -> Array:
    """(m,) products of vectors (m, 3)."""
    return np.asarray(np.einsum("ij,ij->i", a, b))


def dyads(a: Array, b: Array, dimension: int) -> Array:
    """(d, d) sum of a_k b_k over vectors (m, 3)."""
    return np.ascontiguousarray((a.T @ b)[:dimension, :dimension])
