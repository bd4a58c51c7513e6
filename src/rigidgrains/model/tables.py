"""Tables of coefficients over materials: of friction, and of laws."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_table(name: str, values: Any) -> NDArray[np.float64]:
    """(k, k) coefficients over materials, (1, 1) from a number; ValueError says what is wrong."""
    try:
        table = np.array(values, dtype=float, ndmin=2)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} = {values!r} is no table of numbers; give one number, or k rows of k numbers"
        ) from None
    check_shape(name, table)
    return table


def check_shape(name: str, table: Any) -> None:
    """Raise ValueError for what is no table (k, k)."""
    shape = np.shape(table)
    if len(shape) != 2 or shape[0] != shape[1] or not shape[0]:
        told = "no table" if not shape else f"a table of {' x '.join(map(str, shape))}"
        raise ValueError(f"{name} is {told}; give as many rows as columns, one for each material")
