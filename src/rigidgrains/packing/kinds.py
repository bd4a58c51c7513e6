"""How arrays behave when space is mirrored or scaled: it follows from their units, as model/arrays.py declares them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.arrays import contacts_in_frames, grains_in_frames

Array = NDArray[Any]

# Powers of length, time and mass.
POWERS: dict[str, tuple[float, float, float]] = {
    "m": (1, 0, 0), "s": (0, 1, 0), "kg": (0, 0, 1), "m/s": (1, -1, 0), "rad/s": (0, -1, 0), "1/s": (0, -1, 0),
    "N": (1, -2, 1), "N m": (2, -2, 1), "m/s^2": (1, -2, 0), "1/(kg m^2)": (-2, 0, -1),
}  # fmt: skip
MOBILITIES = slice(0, 4)  # columns of cell_mobility that are 1/M; the last says where sides move as one
AXIAL = ("rad/s", "N m")  # vectors that a mirror turns round where they lie in its plane
OF_TABLES = {
    "gravity": "m/s^2", "cell_vectors": "m", "cell_origin": "m", "cell_rate": "1/s", "cell_rate_before": "1/s",
}  # fmt: skip


@dataclass(frozen=True)
class Factors:
    """By what lengths, times and masses are multiplied."""

    length: float
    time: float
    mass: float

    def of(self, unit: str) -> float:
        """By what a quantity of this unit is multiplied; 1 for numbers."""
        powers = POWERS.get(unit, (0, 0, 0))
        return math.prod(factor**power for factor, power in zip((self.length, self.time, self.mass), powers))


def unit_of(name: str, *, contacts: bool = False) -> str:
    """Unit of an array of grains or of contacts; that of a table; "" for a number."""
    if name in ("position", "point"):
        return "m"
    column = (contacts_in_frames() if contacts else grains_in_frames()).get(name)
    return OF_TABLES.get(name, "") if column is None else column.unit


def is_vector(name: str, array: Array, *, contacts: bool = False) -> bool:
    """True of rows (x, y, z) in space: those with a unit, and normals."""
    rows = array.ndim == 2 and array.shape[1] == 3 and array.dtype.kind == "f"
    return rows and (bool(unit_of(name, contacts=contacts)) or name == "normal")


def mirrored(vectors: Array, axis: int, *, axial: bool = False) -> Array:
    """(n, 3) vectors in a mirror across an axis; axial ones, as spins, keep that component alone."""
    out = np.array(vectors)
    for k in range(3):
        if (k == axis) != axial:
            out[:, k] = -out[:, k]
    return out
