"""Tables whose rows of eight numbers are cache lines: what moves to and from registers as a whole lies in one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LINE = 64  # bytes


def new_table(rows: int, columns: int) -> Array:
    """A table that begins at a cache line, not yet filled."""
    size = 8 * rows * columns
    raw = np.empty(size + LINE, np.uint8)
    first = -raw.ctypes.data % LINE
    return raw[first : first + size].view(np.float64).reshape(rows, columns)


def on_lines(table: Array) -> Array:
    """The table itself, or a copy if it does not begin at a cache line."""
    if table.ctypes.data % LINE == 0:
        return table
    moved = new_table(*table.shape)
    moved[:] = table
    return moved
