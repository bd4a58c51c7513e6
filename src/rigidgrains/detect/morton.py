"""A Morton curve through cells: those close to each other in space are close along it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Code = NDArray[np.uint64]


def morton(cell: NDArray[np.uint64]) -> Code:
    """Place of each cell along the curve: the lowest 21 bits of its numbers (n, 3) in turn."""
    x, y, z = (spread(cell[:, axis]) for axis in range(3))
    return x | y << np.uint64(1) | z << np.uint64(2)


def spread(x: Code) -> Code:
    """Two zero bits between each two of the lowest 21 bits."""
    x = x & np.uint64(0x1FFFFF)
    for shift, mask in (
        (32, 0x1F00000000FFFF),
        (16, 0x1F0000FF0000FF),
        (8, 0x100F00F00F00F00F),
        (4, 0x10C30C30C30C30C3),
        (2, 0x1249249249249249),
    ):
        x = (x | x << np.uint64(shift)) & np.uint64(mask)
    return x
