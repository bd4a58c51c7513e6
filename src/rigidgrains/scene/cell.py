"""[cell]: the periodic cell as the user describes it, and what does not go together with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from .confinement import Box
from .errors import Problem
from .references import Tables, present
from .section import Section
from .values import Array, Vector, in_space

if TYPE_CHECKING:
    from ..cell import Cell as MovingCell

AXES = "xyz"


class Cell(Section):
    """A box whose opposite faces are one: grains that leave through one enter through the other."""

    lower: Vector = Field(description="lowest corner (m)")
    upper: Vector = Field(description="highest corner (m)")
    periodic: str | None = Field(
        default=None, strict=True, description="directions with images, such as 'xy'; all if absent"
    )

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        wrong = list(self.wrong_lengths(dimension, "lower", "upper"))
        yield from wrong
        if not wrong and not all(low < high for low, high in zip(self.lower, self.upper)):
            yield self.wrong("lower", f"must lie below upper = {list(self.upper)} along each axis; swap them")
        known = AXES[:dimension]
        if self.periodic is not None and (
            not self.periodic or set(self.periodic) - set(known) or len(set(self.periodic)) < len(self.periodic)
        ):
            yield self.wrong("periodic", f"must name some of the directions {', '.join(known)}, such as '{known[:2]}'")

    def along(self, dimension: int) -> np.ndarray:
        """(3,) True for directions with images."""
        named = AXES[:dimension] if self.periodic is None else self.periodic
        return np.array([axis in named for axis in AXES])

    def corners(self) -> Array:
        """(2, dimension) m, the region that the cell spans."""
        return np.array([self.lower, self.upper])

    def make(self, dimension: int) -> MovingCell:
        """The cell of the simulation."""
        from ..cell import Cell as MovingCell

        lower, upper = in_space(self.lower), in_space(self.upper)
        edges = np.where(np.arange(3) < dimension, upper - lower, 1.0)
        return MovingCell(np.diag(edges), lower, self.along(dimension))


def conflicts(cell: Any, tables: Tables, dimension: int) -> Iterator[Problem]:
    """Walls and regions that do not fit a cell that is readable and free of mistakes."""
    if cell is None or any(cell.mistakes(dimension)):
        return
    along = cell.along(dimension)[:dimension]
    named = "".join(axis for axis, has in zip(AXES, along) if has)
    for key, index, table in present(tables, "plane", "piston"):
        if len(table.normal) == dimension and np.abs(np.array(table.normal)[along]).max(initial=0.0) > 1e-12:
            message = f"this wall cuts through the cell, which is periodic along {named}; remove one of them"
            yield Problem(f"{key}[{index}].normal", list(table.normal), message)
        elif key == "plane" and table.size is not None:
            yield Problem(f"{key}[{index}].size", table.size, "a plate has no images; take a plane or no cell")
    for _, index, table in present(tables, "cylinder"):
        axis = np.array([0.0, 0.0, 1.0]) if table.axis is None else in_space(table.axis)
        across = along & (np.abs(np.cross(np.eye(3)[:dimension], axis)).max(axis=1) > 1e-12)
        if across.any() or table.length is not None:
            message = f"a cylinder has no images along {named}; let it be endless and the cell periodic along its axis"
            yield Problem(
                f"cylinder[{index}].{'length' if table.length else 'axis'}", table.length or table.axis, message
            )
    for _, index, table in present(tables, "box"):
        yield from box_conflicts(index, table, along, named)
    for _, index, table in present(tables, "grains"):
        if table.region is not None and table.region.shape == (2, dimension):
            lower, upper = cell.corners()
            if (
                ((table.region[0] < lower - 1e-12 * (upper - lower))[along]).any()
                or ((table.region[1] > upper + 1e-12 * (upper - lower))[along]).any()
            ):
                yield Problem(f"grains[{index}].region", table.region, "reaches out of the cell; keep it within")


def box_conflicts(index: int, box: Box, along: np.ndarray, named: str) -> Iterator[Problem]:
    """Sides of a box across a periodic direction."""
    shut = {plane.name.removeprefix(f"{box.name}.") for plane in box.planes() if np.array(plane.normal)[along].any()}
    if shut:
        message = (
            f"sides {', '.join(sorted(shut))} cut through the cell, which is periodic along {named}; leave them open"
        )
        yield Problem(f"box[{index}].open", list(box.open), message)
