"""Materials are rows of tables: of friction, and of the coefficients of laws. No body may ask for a row beyond one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .law import check_laws
from .tables import check_shape

if TYPE_CHECKING:
    from .bodies import Bodies


def check_tables(bodies: Bodies) -> None:
    """Raise ValueError if a table is not (k, k), or has no row for the material of a grain, a wall or an inflow.

    Kernels read tables without asking, and anybody may write into `bodies.material` or replace a table between two
    steps. So this is asked in every step; it takes no memory and less than a hundredth of the time of a sweep.
    """
    check_laws(bodies.laws)
    n, material = bodies.count, bodies.material
    if getattr(material, "shape", None) != (n,) or material.dtype.kind not in "iu":
        given = f"an array {np.shape(material)} of {getattr(material, 'dtype', type(material).__name__)}"
        raise ValueError(f"bodies.material is {given}; give a whole number for each of the {n} grains")
    numbers = [wall.material for wall in bodies.all_walls]
    if bodies.events is not None:
        numbers += [inflow.material for inflow in bodies.events.inflows]
    unsigned = material.view(f"u{material.itemsize}")  # what is negative is more than any table has
    most = int(np.maximum.reduce(unsigned, initial=0))
    for number in numbers:
        if type(number) is not int or number < 0:
            return _find_fault(bodies)
        most = max(most, number)
    if not _has_row(bodies.friction, most, bodies) or not all(
        _has_row(table, most, bodies) for law in bodies.laws for table in law.tables().values()
    ):
        _find_fault(bodies)


def _has_row(table: Any, most: int, bodies: Bodies) -> bool:
    """Whether a table has this row; a number that stands for all materials has."""
    shape: tuple[int, ...] = getattr(table, "shape", ())
    if len(shape) != 2 or shape[0] != shape[1]:
        return False
    return most < shape[0] or (shape[0] == 1 and table is not bodies.friction)


def _find_fault(bodies: Bodies) -> None:
    """Raise for the first table that has no row for somebody."""
    material, others = bodies.material, list(_others(bodies))
    for who, number in others:
        if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
            raise ValueError(f"{who} has the material {number!r}; give the number of a row of the friction table")
    least = min([int(material.min(initial=0)), *(number for _, number in others)])
    most = max([int(material.max(initial=0)), *(number for _, number in others)])
    for name, table in _tables(bodies):
        check_shape(name, table)
        alone = table.size == 1 and table is not bodies.friction
        if least < 0 or (most >= len(table) and not alone):
            _raise(bodies, others, least if least < 0 else most, name, len(table))


def check_material(bodies: Bodies, number: int, who: str) -> None:
    """The same for one material that is not among the bodies yet."""
    for name, table in _tables(bodies):
        if number < 0 or (number >= len(table) and (table.size > 1 or table is bodies.friction)):
            raise ValueError(_told(who, number, name, len(table)))


def _others(bodies: Bodies) -> Iterator[tuple[str, Any]]:
    """Walls, also those that are not there now, and inflows, each with its material."""
    for wall in bodies.all_walls:
        yield f"wall '{wall.name}'", wall.material
    for inflow in [] if bodies.events is None else bodies.events.inflows:
        yield f"inflow '{inflow.name}'", inflow.material


def _tables(bodies: Bodies) -> Iterator[tuple[str, Any]]:
    """Every table over materials, with its name."""
    yield "the friction table", bodies.friction
    for law in bodies.laws:
        for name, table in law.tables().items():
            yield f"the table '{name}' of {type(law).__name__}", table


def _raise(bodies: Bodies, others: list[tuple[str, Any]], number: int, name: str, rows: int) -> None:
    """Name the first body that has this material."""
    grains = np.flatnonzero(bodies.material == number)
    who = f"grain {bodies.id[grains[0]]}" if grains.size else next(who for who, own in others if own == number)
    raise ValueError(_told(who, number, name, rows))


def _told(who: str, number: int, name: str, rows: int) -> str:
    there = f"rows 0 to {rows - 1}" if rows > 1 else "row 0"
    more = f", or make the table {number + 1} x {number + 1}" if number >= rows else ""
    return f"{who} has material {number}, and {name} has {there} only; give it a material from there{more}"
