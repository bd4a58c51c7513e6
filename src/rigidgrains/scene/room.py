"""The room a group of grains is placed in: its region, the walls, the grains that are already there."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..model.cell import IMAGES, Cell
from ..model.walls import Wall
from .cells import Array, Cells, are_free, insert_all, make_cells
from .errors import Problem, SceneError

if TYPE_CHECKING:
    from .forms import Forms


@dataclass
class Room:
    """The region between two corners (3,), the walls, the grains of earlier groups, (m, 3) and (m,), and the cell.

    others : earlier groups by name, rows of their grains
    forms  : what earlier grains look like; `radius` are then those of their bounding spheres. None if all are round
    together : names of the groups that are placed in one pass; none for a single one
    """

    place: str
    dimension: int
    lower: Array
    upper: Array
    walls: list[Wall]
    position: Array
    radius: Array
    cell: Cell | None = None
    others: dict[str, slice] = field(default_factory=dict)
    forms: Forms | None = None
    together: list[str] = field(default_factory=list)

    @cached_property
    def periodic(self) -> NDArray[np.bool_]:
        """(3,) True along directions in which the region ends where it begins."""
        if self.cell is None:
            return np.zeros(3, np.bool_)
        edges = np.diag(self.cell.vectors)
        return np.asarray(self.cell.periodic & (self.upper - self.lower >= (1.0 - 1e-9) * edges))

    @cached_property
    def shifts(self) -> Array:
        """(m, 3) m, where the images of a grain are, its own place first."""
        if self.cell is None:
            return np.zeros((1, 3))
        near = (np.abs(IMAGES) <= 1).all(axis=1) & ~IMAGES[:, ~self.cell.periodic].any(axis=1)
        return self.cell.shifts[near]

    def free(self, points: Array, radius: Array) -> NDArray[np.bool_]:
        """True where a grain of this radius at this point overlaps neither a wall nor an earlier grain."""
        free = self.clearance(points) >= radius
        if len(self.radius):
            for shift in self.shifts:
                free &= are_free(self.cells, points + shift, radius, self.position, self.radius)
        return free

    def clearance(self, points: Array) -> Array:
        """Distance (n,) from each point to the nearest wall, negative behind it."""
        nearest, none = np.full(len(points), np.inf), np.zeros(len(points))
        for wall in self.walls:
            np.minimum(nearest, wall_gaps(wall, points, none)[0], out=nearest)
        return nearest

    @cached_property
    def cells(self) -> Cells:
        """The earlier grains in cells."""
        cells = make_cells(self.lower, self.upper, self.radius)
        insert_all(cells, self.position, self.radius)
        return cells

    def packing_fraction(self, radius: Array) -> float:
        """Volume of grains of these radii over the volume of the region."""
        grains = np.pi * radius**2 if self.dimension == 2 else 4.0 / 3.0 * np.pi * radius**3
        return float(grains.sum() / np.prod((self.upper - self.lower)[: self.dimension]))

    def error(self, key: str, value: Any, message: str, *remedies: str) -> SceneError:
        """What is wrong with a group; where it finds no place also who else is in its region, and what may help."""
        if remedies:
            told = [
                message,
                *(f"group '{name}' fills {share:.0%} of the region" for name, share in self.taken().items()),
            ]
            if self.together:
                told.append(f"groups {' and '.join(map(repr, self.together))} are placed together")
            if self.taken():
                remedies = (*remedies, "a region of its own for each group")
            message = f"{', '.join(told)}; take {', '.join(remedies[:-1])}, or {remedies[-1]}"
        return SceneError([Problem(f"{self.place}.{key}", value, message)])

    def taken(self) -> dict[str, float]:
        """Share of the region's volume that each earlier group has, by its grains with their centre in it."""
        flat = slice(0, self.dimension)
        position, lower, upper = self.position[:, flat], self.lower[flat], self.upper[flat]
        inside = np.asarray(((position >= lower) & (position <= upper)).all(axis=1))
        size = self.radius if self.forms is None else self.forms.radius
        shares = {name: self.packing_fraction(size[rows][inside[rows]]) for name, rows in self.others.items()}
        return {name: share for name, share in shares.items() if share > 0.0}


def wall_gaps(wall: Wall, points: Array, radius: Array) -> tuple[Array, Array]:
    """Gap (n,) and normal (n, 3) from all grains to a wall."""
    return wall.shape.gaps(np.arange(len(points), dtype=np.int32), points, radius)
