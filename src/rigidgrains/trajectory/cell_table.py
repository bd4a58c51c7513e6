"""The cell in a file: arrays by name, for frames and checkpoints."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bodies import Bodies
from ..cell import Cell

Arrays = dict[str, NDArray[Any]]


def tables(bodies: Bodies) -> Arrays:
    """Arrays (k, 3) of the cell; none without a cell."""
    cell = bodies.cell
    if cell is None:
        return {}
    return {
        "cell_vectors": cell.vectors.copy(),
        "cell_origin": cell.origin[None].copy(),
        "cell_periodic": cell.periodic[None].astype(np.uint8),
    }


def rebuild(arrays: Arrays) -> Cell | None:
    """The cell of these arrays; None if they hold none."""
    if "cell_vectors" not in arrays:
        return None
    return Cell(arrays["cell_vectors"], arrays["cell_origin"][0], arrays["cell_periodic"][0] > 0)
