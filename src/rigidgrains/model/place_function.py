"""A number that depends on where a grain is: a formula in x, y, z (m), r, its radius (m), and t, the time (s)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .formula import NoValue, Value, compile_formula

Array = NDArray[np.float64]

VARIABLES = ("x", "y", "z", "r", "t")


@dataclass(frozen=True)
class PlaceFunction:
    """text : the formula; ValueError if it is none."""

    text: str

    def __post_init__(self) -> None:
        _ = self._formula

    @cached_property
    def _formula(self) -> Value:
        return compile_formula(self.text, VARIABLES)

    def values(self, position: Array, radius: Array, time: float = 0.0) -> Array:
        """(n,) of grains at these positions (n, 3) with these radii (n,); NoValue where the formula has none."""
        rows = np.column_stack([position, radius, np.full(len(radius), time)]).tolist()
        out = np.empty(len(rows))
        for k, row in enumerate(rows):
            try:
                out[k] = self._formula(row)
            except ArithmeticError as reason:
                place = ", ".join(f"{name} = {value:g}" for name, value in zip(VARIABLES, row))
                raise NoValue(f"formula '{self.text}' has no value at {place}: {reason}") from None
        return out


Amount = float | PlaceFunction


def scalar_words(scalars: dict[str, Amount]) -> dict[str, Any]:
    """As plain words and numbers, for files."""
    return {name: value.text if isinstance(value, PlaceFunction) else value for name, value in scalars.items()}


def scalars_from_words(words: dict[str, Any]) -> dict[str, Amount]:
    """The scalars of which the words are."""
    return {name: PlaceFunction(value) if isinstance(value, str) else float(value) for name, value in words.items()}
