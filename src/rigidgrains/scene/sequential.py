"""Random sequential placement: each grain, largest first, tries random points until one is free."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.columns import X, Y, Z
from ..runtime.compiled import kernel
from .cells import Array, Cells, insert, insert_all, is_free, make_cells
from .room import Room

TRIES = 100_000
BATCH = 65_536


def place_random(radius: Array, rng: np.random.Generator, room: Room) -> tuple[Array, NDArray[np.int64]]:
    """Positions (n, 3) and the index into `radius` of the grain at each."""
    order = np.argsort(-radius, kind="stable")
    placed = len(room.radius)
    position = np.vstack([room.position, np.zeros((len(radius), 3))])
    sizes = np.concatenate([room.radius, radius[order]])
    cells = make_cells(room.lower, room.upper, sizes)
    insert_all(cells, room.position, room.radius)
    failures = 0
    flat = slice(0, room.dimension)
    while placed < len(sizes):
        points = np.zeros((min(BATCH, 4 * len(sizes)), 3))
        points[:, flat] = rng.uniform(room.lower[flat], room.upper[flat], points[:, flat].shape)
        ends = ~room.periodic[flat]
        faces = np.minimum(points - room.lower, room.upper - points)[:, flat][:, ends].min(axis=1, initial=np.inf)
        clear = np.minimum(faces, room.clearance(points))
        placed, failures = fill(cells, room.shifts, points, clear, position, sizes, placed, failures, TRIES)
        if failures >= TRIES:
            done = placed - len(room.radius)
            reached = room.packing_fraction(radius[order[:done]])
            message = (
                f"only {done} of {len(radius)} grains found a place at random (packing fraction {reached:.3f} reached)"
            )
            remedies = "a larger region", "fewer or smaller grains", "placement = 'lattice'", "placement = 'dense'"
            raise room.error("count", len(radius), message, *remedies)
    return position[len(room.radius) :], order


@kernel
def fill(
    cells: Cells,
    shifts: Array,
    points: Array,
    clear: Array,
    position: Array,
    radius: Array,
    placed: int,
    failures: int,
    tries: int,
) -> Any:
    """Put the next grains at those points that are free; returns grains placed and the last one's failures so far."""
    for k in range(len(points)):
        if placed == len(radius) or failures >= tries:
            break
        r = radius[placed]
        free = clear[k] >= r
        for image in range(len(shifts)):
            x, y, z = points[k, X] + shifts[image, X], points[k, Y] + shifts[image, Y], points[k, Z] + shifts[image, Z]
            free = free and is_free(cells, x, y, z, r, position, radius)
        if free:
            position[placed, X], position[placed, Y], position[placed, Z] = points[k, X], points[k, Y], points[k, Z]
            insert(cells, placed, position, r)
            placed += 1
            failures = 0
        else:
            failures += 1
    return placed, failures
