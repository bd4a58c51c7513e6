"""A grid of cells that lists, for each cell, the grains whose bounding box touches it; for any mixture of sizes."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model.columns import X, Y, Z
from ..runtime.compiled import allocating, kernel

Array = NDArray[np.float64]


class Cells(NamedTuple):
    """Linked lists of grains per cell.

    lower : (3,) corner; size : edge of a cell; shape : (3,) cells along each axis
    head  : first entry of each cell; follow, who : next entry and grain of each entry; used : (1,) entries in use
    """

    lower: Array
    size: float
    shape: NDArray[np.int64]
    head: NDArray[np.int32]
    follow: NDArray[np.int32]
    who: NDArray[np.int32]
    used: NDArray[np.int64]


def make_cells(lower: Array, upper: Array, radius: Array) -> Cells:
    """Empty grid over a box, with room for grains of these radii; cells are about as large as a mean grain."""
    extent = np.asarray(upper, dtype=float) - lower
    flat = 2 if extent[2] == 0.0 else 3
    largest = float(radius.max())
    size = 2.0 * largest * float(np.mean((radius / largest) ** flat)) ** (1.0 / flat)
    while np.prod(np.floor(extent / size) + 1.0) > 2.0 * len(radius) + 1000.0:
        size *= 1.25
    shape = (np.floor(extent / size) + 1.0).astype(np.int64)
    covered = np.prod(np.minimum(np.floor(2.0 * radius[:, None] / size) + 2.0, shape), axis=1)
    entries = int(covered.sum())
    head = np.full(int(np.prod(shape)), -1, dtype=np.int32)
    used = np.zeros(1, dtype=np.int64)
    return Cells(
        np.asarray(lower, dtype=float),
        size,
        shape,
        head,
        np.empty(entries, np.int32),
        np.empty(entries, np.int32),
        used,
    )


@kernel
def cell_range(x: float, r: float, lower: float, size: float, cells: int) -> Any:
    """First and last cell along one axis touched by [x - r, x + r]; what lies outside belongs to the outer cells."""
    first = min(max(math.floor((x - r - lower) / size), 0.0), cells - 1.0)
    last = min(max(math.floor((x + r - lower) / size), 0.0), cells - 1.0)
    return int(first), int(last)


@kernel
def insert(cells: Cells, i: int, position: Array, r: float) -> None:
    """List grain i in each cell that its bounding box of half edge r touches."""
    x0, x1 = cell_range(position[i, X], r, cells.lower[X], cells.size, cells.shape[X])
    y0, y1 = cell_range(position[i, Y], r, cells.lower[Y], cells.size, cells.shape[Y])
    z0, z1 = cell_range(position[i, Z], r, cells.lower[Z], cells.size, cells.shape[Z])
    for z in range(z0, z1 + 1):
        for y in range(y0, y1 + 1):
            for x in range(x0, x1 + 1):
                cell = (z * cells.shape[Y] + y) * cells.shape[X] + x
                entry = cells.used[0]
                cells.who[entry] = i
                cells.follow[entry] = cells.head[cell]
                cells.head[cell] = entry
                cells.used[0] = entry + 1


@kernel
def insert_all(cells: Cells, position: Array, radius: Array) -> None:
    for i in range(len(position)):
        insert(cells, i, position, radius[i])


@kernel
def is_free(cells: Cells, x: float, y: float, z: float, r: float, position: Array, radius: Array) -> bool:
    """True when a grain of radius r at (x, y, z) overlaps no listed grain."""
    x0, x1 = cell_range(x, r, cells.lower[X], cells.size, cells.shape[X])
    y0, y1 = cell_range(y, r, cells.lower[Y], cells.size, cells.shape[Y])
    z0, z1 = cell_range(z, r, cells.lower[Z], cells.size, cells.shape[Z])
    for cz in range(z0, z1 + 1):
        for cy in range(y0, y1 + 1):
            for cx in range(x0, x1 + 1):
                entry = cells.head[(cz * cells.shape[Y] + cy) * cells.shape[X] + cx]
                while entry >= 0:
                    j = cells.who[entry]
                    dx, dy, dz = position[j, X] - x, position[j, Y] - y, position[j, Z] - z
                    if dx * dx + dy * dy + dz * dz < (r + radius[j]) ** 2:
                        return False
                    entry = cells.follow[entry]
    return True


@allocating
def are_free(cells: Cells, points: Array, r: Array, position: Array, radius: Array) -> Any:
    """For each point, True when a grain of its radius r there overlaps no listed grain."""
    free = np.empty(len(points), dtype=np.bool_)
    for k in range(len(points)):
        free[k] = is_free(cells, points[k, X], points[k, Y], points[k, Z], r[k], position, radius)
    return free
