"""The periodic cell in files of other programs: vectors, where they begin, and which have images."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..model.cell import B, C, Cell
from ..model.columns import X, Y, Z

if TYPE_CHECKING:
    from ..trajectory.frame import Frame

Array = NDArray[np.float64]
UPRIGHT = 1e-9  # of the vectors: what may stand above the diagonal


def cell_of(frame: Frame) -> Cell | None:
    """The periodic cell of a frame; None without one."""
    if frame.cell is None or frame.cell_origin is None or frame.cell_periodic is None:
        return None
    return Cell(frame.cell, frame.cell_origin, frame.cell_periodic)


def read_cell(vectors: Any, origin: Any, periodic: Iterable[bool], dimension: int) -> Cell | None:
    """The cell that a file tells of; None if nothing is periodic, or if a is not along x and b not in the xy plane."""
    vectors, origin = np.array(vectors, dtype=float).reshape(3, 3), np.array(origin, dtype=float)
    along = np.array(list(periodic), dtype=np.bool_)
    if dimension == 2:  # in the plane, as thick as one
        vectors[C], vectors[:C, Z], origin[Z], along[C] = [0.0, 0.0, 1.0], 0.0, 0.0, False
    above = np.triu(vectors, 1)
    if not along.any() or not np.isfinite([*vectors.flat, *origin]).all() or not (np.diag(vectors) > 0.0).all():
        return None
    return Cell(vectors - above, origin, along) if np.abs(above).max() <= UPRIGHT * np.abs(vectors).max() else None


def scene_words(cell: Cell, dimension: int, low: Array, high: Array) -> dict[str, Any]:
    """The table [cell] of a scene; along open directions it holds grains from `low` to `high` (m) too."""
    lower = np.where(cell.periodic, cell.origin, np.minimum(cell.origin, low))
    upper = cell.origin + np.diag(cell.vectors)
    upper = np.where(cell.periodic, upper, np.maximum(upper, high))
    words: dict[str, Any] = {"lower": lower[:dimension].tolist(), "upper": upper[:dimension].tolist()}
    if not cell.periodic[:dimension].all():
        words["periodic"] = "".join(axis for axis, has in zip("xyz", cell.periodic) if has)
    lean = {"xy": cell.vectors[B, X], "xz": cell.vectors[C, X], "yz": cell.vectors[C, Y]}
    if tilt := {name: float(length) for name, length in lean.items() if length}:
        words["tilt"] = tilt
    return words
