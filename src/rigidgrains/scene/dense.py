"""Dense placement: grains spread evenly over the region push each other apart until none overlap."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..detect.images import find_pairs
from ..model.cell import Cell
from ..model.columns import X, Y, Z
from ..model.vectors import difference
from ..runtime.compiled import allocating, kernel
from .cells import Array, Cells, cell_range, insert, make_cells
from .lattice import free_sites
from .room import Room, wall_gaps

SLACK = 5e-3  # grains aim at gaps of this share of their radius, so that they end without overlap
REACH = 1.1  # neighbours are sought within this many radii
MOST_SWEEPS = 5_000
MOST_MOVES = 50_000_000


def place_dense(radius: Array, rng: np.random.Generator, room: Room) -> tuple[Array, NDArray[np.int64]]:
    """Positions (n, 3) and the index into `radius` of the grain at each."""
    n = len(radius)
    smallest = float(radius.min())
    sites, half_cell = free_sites(n, smallest, room, 0.1 * smallest)
    fraction = room.packing_fraction(radius)
    remedies = ["a larger region", "fewer or smaller grains"]
    if room.taken():
        remedies.append("placement = 'random' for all groups in it if they fill less than half")
    if len(sites) < n:
        raise room.error("count", n, f"walls and other grains leave only {len(sites)} free sites", *remedies)
    sites = sites[np.arange(n) * len(sites) // n]  # evenly spread: differences in density would even out slowly
    order = rng.permutation(n)
    sizes = np.concatenate([radius[order], room.radius])
    position = np.vstack([sites + 0.5 * half_cell * rng.uniform(-1.0, 1.0, sites.shape), room.position])
    goal = sizes * (1.0 + SLACK)
    cells = make_cells(room.lower, room.upper, goal * REACH)
    for sweep in range(max(200, min(MOST_SWEEPS, MOST_MOVES // n))):
        stay_inside(position[:n], goal[:n], room)
        if room.cell is None:
            push_apart(cells, position, goal, n)
        else:
            push_images(position, goal, n, room.cell)
        if sweep % 10 == 9:
            stay_inside(position[:n], sizes[:n] * (1.0 + 0.1 * SLACK), room)
            if settled(position, sizes, n, room):
                return position[:n], order
    message = f"no placement without overlap found at packing fraction {fraction:.3f}"
    raise room.error("count", n, message, *remedies)


def stay_inside(position: Array, radius: Array, room: Room) -> None:
    """Move grains back into the region and off the walls."""
    for wall in room.walls:
        gap, normal = wall_gaps(wall, position, radius)
        position += np.minimum(gap, 0.0)[:, None] * normal
    for k in np.flatnonzero(~room.periodic[: room.dimension]):
        np.clip(position[:, k], room.lower[k] + radius, room.upper[k] - radius, out=position[:, k])


def settled(position: Array, radius: Array, n: int, room: Room) -> bool:
    """True when no grain overlaps another or a wall."""
    if (room.clearance(position[:n]) < radius[:n]).any():
        return False
    return len(find_pairs(position, radius, room.cell).partner) == 0


@kernel
def clear_cells(cells: Cells) -> None:
    cells.head[:] = -1
    cells.used[0] = 0


@kernel
def push_apart(cells: Cells, position: Array, radius: Array, n: int) -> None:
    """One sweep over all overlapping pairs; each grain moves half of the overlap, all of it against a grain >= n."""
    clear_cells(cells)
    for i in range(len(position)):
        insert(cells, i, position, REACH * radius[i])
    for i in range(n):
        reach = REACH * radius[i]
        x0, x1 = cell_range(position[i, X], reach, cells.lower[X], cells.size, cells.shape[X])
        y0, y1 = cell_range(position[i, Y], reach, cells.lower[Y], cells.size, cells.shape[Y])
        z0, z1 = cell_range(position[i, Z], reach, cells.lower[Z], cells.size, cells.shape[Z])
        for cz in range(z0, z1 + 1):
            for cy in range(y0, y1 + 1):
                for cx in range(x0, x1 + 1):
                    entry = cells.head[(cz * cells.shape[Y] + cy) * cells.shape[X] + cx]
                    while entry >= 0:
                        j = cells.who[entry]
                        entry = cells.follow[entry]
                        if j != i:
                            separate(position, radius, i, j, n)


def push_images(position: Array, radius: Array, n: int, cell: Cell) -> None:
    """The same sweep in a periodic cell."""
    cell.wrap(position)
    near = find_pairs(position, radius, cell)
    push_pairs(near.start, near.partner, cell.shifts[near.image], position, radius, n)


@allocating
def push_pairs(start, partner, shift, position, radius, n):
    """Push listed pairs apart; the image of each partner is displaced by its shift."""
    for i in range(n):  # rows are those of the lower number
        for k in range(start[i], start[i + 1]):
            position[partner[k]] += shift[k]
            separate(position, radius, i, partner[k], n)
            position[partner[k]] -= shift[k]


@kernel
def separate(position: Array, radius: Array, i: int, j: int, n: int) -> None:
    dx, dy, dz = difference(position, j, position, i)
    square = dx * dx + dy * dy + dz * dz
    apart = radius[i] + radius[j]
    if square >= apart * apart or square == 0.0:
        return
    distance = math.sqrt(square)
    push = (apart / distance - 1.0) * (0.5 if j < n else 1.0)
    position[i, X] -= push * dx
    position[i, Y] -= push * dy
    position[i, Z] -= push * dz
    if j < n:
        position[j, X] += push * dx
        position[j, Y] += push * dy
        position[j, Z] += push * dz
