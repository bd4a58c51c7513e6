"""Contact laws in a file: their names as text, their coefficients as tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import laws as room
from ..laws.base import Law
from .errors import TrajectoryError

Tables = dict[str, NDArray[np.float64]]


def describe(laws: list[Law]) -> list[str]:
    """Names of the laws."""
    return [type(law).__name__ for law in laws]


def tables(laws: list[Law]) -> Tables:
    """Their coefficients (k, k), by "law_NAME_COEFFICIENT"."""
    return {_place(type(law).__name__, name): table for law in laws for name, table in law.tables().items()}


def rebuild(names: list[str], arrays: Tables) -> list[Law]:
    """The laws that `describe` and `tables` told of."""
    return [_rebuild(name, arrays) for name in names]


def _rebuild(name: str, arrays: Tables) -> Law:
    kind: Any = getattr(room, name, None)
    own = _place(name, "")
    words = {place.removeprefix(own): table for place, table in arrays.items() if place.startswith(own)}
    if kind is None or not kind.storable:
        raise TrajectoryError(f"this run used {name}, a law of its own; pass the laws to resume() again: laws=[...]")
    law: Law = kind(**words)
    return law


def _place(law: str, name: str) -> str:
    return f"law_{law}_{name}"
