"""Vectors in rows of tables, for kernels: three numbers each, that stay in registers.

They read the first three columns, so that rows of `motion` give velocities.
"""

from __future__ import annotations

from ..runtime.compiled import inlined
from .columns import X, Y, Z


@inlined
def vector(table, i):
    """That of row i."""
    return table[i, X], table[i, Y], table[i, Z]


@inlined
def difference(table, i, other, j):
    """That of row i less that of row j of another table, or of the same."""
    return table[i, X] - other[j, X], table[i, Y] - other[j, Y], table[i, Z] - other[j, Z]


@inlined
def to_image(position, i, j, shifts, at):
    """From the centre of grain i to that of an image of grain j, which its code tells, see `cell.py`."""
    return (
        position[j, X] - position[i, X] + shifts[at, X],
        position[j, Y] - position[i, Y] + shifts[at, Y],
        position[j, Z] - position[i, Z] + shifts[at, Z],
    )
