"""Where the vertices of grains are, many at a time: rotation matrices, extents and reach of placed shapes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .catalogue import Catalogue
from .core import Array, Part


def matrices(orientation: NDArray[Any]) -> Array:
    """(n, 3, 3) rotations; orientation : (n,) rad in 2D, (n, 4) quaternions (w, x, y, z) in 3D, not all of length 1."""
    if orientation.ndim == 1:
        c, s, turn = np.cos(orientation), np.sin(orientation), np.zeros((len(orientation), 3, 3))
        turn[:, 0, 0], turn[:, 0, 1], turn[:, 1, 0], turn[:, 1, 1], turn[:, 2, 2] = c, -s, s, c, 1.0
        return turn
    unit = np.asarray(orientation, float)
    w, x, y, z = (unit / np.linalg.norm(unit, axis=1, keepdims=True)).T
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def quaternions_of(turn: Array) -> Array:
    """(n, 4) unit quaternions (w, x, y, z) of rotations (n, 3, 3), from the largest of their components."""
    trace = np.einsum("naa->n", turn)
    square = np.stack([trace, *(2.0 * turn[:, a, a] - trace for a in range(3))], axis=1)  # 4 q^2 - 1
    odd = [turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0], turn[:, 1, 0] - turn[:, 0, 1]]
    products = np.zeros((len(turn), 4, 4))  # 4 q_a q_b
    for a in range(4):
        products[:, a, a] = square[:, a] + 1.0
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        products[:, 0, a + 1] = products[:, a + 1, 0] = odd[a]
        products[:, b + 1, c + 1] = products[:, c + 1, b + 1] = turn[:, b, c] + turn[:, c, b]
    row = products[np.arange(len(turn)), square.argmax(axis=1)]
    return np.asarray(row / np.linalg.norm(row, axis=1, keepdims=True))


def bounds(catalogue: Catalogue | None, shape: NDArray[Any] | None, radius: NDArray[Any]) -> Array:
    """(n,) m, radius of the sphere around the centre of each grain that holds it."""
    reach = np.asarray(radius, float)
    return reach if catalogue is None or shape is None else reach * catalogue.bound[shape]


def extents(
    catalogue: Catalogue | None, shape: NDArray[Any] | None, radius: NDArray[Any], orientation: NDArray[Any]
) -> tuple[Array, Array]:
    """(n, 3) m, how far each grain reaches from its centre below and above, along x, y and z."""
    r = np.asarray(radius, float)
    above = np.repeat(r[:, None], 3, axis=1)
    below = -above
    if catalogue is None or shape is None:
        return below, above
    for rows, parts in by_shape(catalogue, shape):
        turn = matrices(orientation[rows])
        low, high = np.full((len(rows), 3), np.inf), np.full((len(rows), 3), -np.inf)
        for part in parts:
            place = np.einsum("iab,kb->ika", turn, part.vertices)
            np.minimum(low, place.min(axis=1) - part.rounding, out=low)
            np.maximum(high, place.max(axis=1) + part.rounding, out=high)
        below[rows], above[rows] = r[rows, None] * low, r[rows, None] * high
    return below, above


def by_shape(catalogue: Catalogue, shape: NDArray[Any]) -> Iterator[tuple[NDArray[np.intp], tuple[Part, ...]]]:
    """Rows of the grains of each shape that some have, and its parts."""
    for number, one in enumerate(catalogue.shapes):
        rows = np.flatnonzero(shape == number)
        if len(rows):
            yield rows, one.parts
