"""Contact laws in a file: their names as text, their coefficients as tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import laws as room
from ..model.law import Law
from .errors import TrajectoryError

Tables = dict[str, NDArray[np.float64]]


OWN = "own."  # before the name of a law that is not of this package, which may have the name of one that is


def describe(laws: list[Law]) -> list[str]:
    """Names of the laws."""
    return [_name(law) for law in laws]


def tables(laws: list[Law]) -> Tables:
    """Their coefficients (k, k), by "law_NAME_COEFFICIENT", and a mark "law_own" if some are not of this package."""
    names = describe(laws)
    found = {_place(name, word): table for name, law in zip(names, laws) for word, table in law.tables().items()}
    return found | ({"law_own": np.ones((1, 1))} if any(name.startswith(OWN) for name in names) else {})


def rebuild(names: list[str], arrays: Tables) -> list[Law]:
    """The laws that `describe` and `tables` told of."""
    if twice := {name for name in names if names.count(name) > 1}:
        told = f"this run used {min(twice)} more than once, and a file keeps the coefficients of one"
        raise TrajectoryError(f"{told}; pass the laws to resume() again: laws=[...]")
    return [_rebuild(name, arrays) for name in names]


def _rebuild(name: str, arrays: Tables) -> Law:
    kind = _ours(name)
    own = _place(name, "")
    words: Any = {place.removeprefix(own): table for place, table in arrays.items() if place.startswith(own)}
    if kind is None or not kind.storable:
        told = f"this run used {name.removeprefix(OWN)}, a law of its own"
        raise TrajectoryError(f"{told}; pass the laws to resume() again: laws=[...]")
    return kind(**words)


def _name(law: Law) -> str:
    name = type(law).__name__
    return name if type(law) is _ours(name) else OWN + name


def _ours(name: str) -> type[Law] | None:
    """The law of this package that is called so."""
    kind = getattr(room, name, None)
    return kind if isinstance(kind, type) and issubclass(kind, Law) and kind is not Law else None


def _place(law: str, name: str) -> str:
    return f"law_{law}_{name}"
