"""Contact laws in a file: their names as text, their coefficients as tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..laws import LAWS
from ..model.law import Law
from ..runtime.registry import OWN, UnknownName
from .errors import TrajectoryError

Tables = dict[str, NDArray[np.float64]]


def describe(laws: list[Law]) -> list[str]:
    """Names of the laws, see laws/__init__.py; own.CLASS of those that have none."""
    return [LAWS.word_of(law) for law in laws]


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
    kind: Any = None
    if name.partition("/")[0] in LAWS:
        try:
            kind = LAWS.find(name)
        except UnknownName as said:
            raise TrajectoryError(f"this run used {said}, or pass the laws to resume(): laws=[...]") from None
    own = _place(name, "")
    words: Any = {place.removeprefix(own): table for place, table in arrays.items() if place.startswith(own)}
    if kind is None or not kind.storable:
        told = f"this run used {name.removeprefix(OWN)}, a law of its own"
        raise TrajectoryError(f"{told}; pass the laws to resume() again: laws=[...]")
    return kind(**words)  # type: ignore[no-any-return]


def _place(law: str, name: str) -> str:
    """Name of the data set of a coefficient; the version of a law is no part of it."""
    return f"law_{law.partition('/')[0]}_{name}"
