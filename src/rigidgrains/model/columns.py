"""The columns of the contact tables by their names: what a law, a criterion or an observer reads, and may write."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Column:
    """Some columns of a table with one row per contact: read as a view, written in place."""

    def __init__(self, table: str, at: int | slice, doc: str) -> None:
        self._table, self._at, self.__doc__ = table, at, doc

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, rows: Any, owner: type | None = None) -> Array:
        if rows is None:
            return self  # type: ignore[return-value]
        return np.asarray(self._of(rows)[:, self._at])

    def __set__(self, rows: Any, values: Any) -> None:
        self._of(rows)[:, self._at] = values

    def _of(self, rows: Any) -> Array:
        table: Array | None = getattr(rows, self._table)
        if table is None:
            raise AttributeError(f"no {self._name}: no law of these contacts says extended = True; say so in yours")
        return table


class ContactColumns:
    """Named columns of `geometry` and `forces`.

    Signs: n points from body 0 to body 1, forces act on body 1; V_n < 0 approaches, g < 0 overlaps.
    """

    normal = Column("geometry", slice(0, 3), "(c, 3) n, unit vectors from body 0 to body 1.")
    to_close = Column("geometry", 3, "(c,) m, the gap that the shock law closes: it demands V_n >= -to_close/dt.")
    normal_mass = Column("geometry", 4, "(c,) kg, m_n.")
    tangential_mass = Column("geometry", 5, "(c,) kg, m_t.")
    friction = Column("geometry", 6, "(c,) mu, 0 to inf.")
    gap = Column("geometry", 7, "(c,) m, g at the beginning of the step, negative for an overlap.")
    repulsion = Column("forces", 0, "(c,) N, what presses the surfaces together: R_n, and the attraction if any.")
    tangential_force = Column("forces", slice(1, 4), "(c, 3) N, R_t on body 1.")
