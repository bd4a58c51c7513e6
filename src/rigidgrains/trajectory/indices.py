"""Numbers of grains, walls and contacts in a checkpoint: none may point beyond what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .errors import TrajectoryError

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation


def check_indices(simulation: Simulation) -> None:
    """Raise TrajectoryError if lists or contacts name a body, an image or a row that is not there.

    Checksums find what a bad disk has changed; this finds what a program has changed, before a kernel reads by it.
    """
    bodies, lists, contacts = simulation.bodies, simulation.neighbours, simulation.contacts
    n, walls, rows = bodies.count, len(bodies.walls), contacts.count
    _need("groups", [end for part in bodies.groups.values() for end in (part.start, part.stop)], 0, n)
    _need("contacts (body 0)", contacts.pairs[:, 0], 0, n - 1)
    _need("contacts (body 1)", contacts.pairs[:, 1], 0, len(bodies.motion) - 1)
    _need("images of contacts", contacts.image, 0, len(bodies.shifts) - 1)
    _need("rows of walls", [end for part in contacts.wall_rows for end in (part.start, part.stop)], 0, rows)
    if not lists.builds:
        return
    pairs = lists.pairs
    if len(lists.walls) != walls or len(lists.skin) != n or len(pairs.start) != n + 1:
        told = f"neighbour lists are those of {len(lists.skin)} grains and {len(lists.walls)} walls, not of {n} and"
        raise TrajectoryError(f"{told} {walls}; the file was changed, restore it")
    _need("neighbour lists", pairs.start, 0, len(pairs.partner))
    _need("neighbours", pairs.partner, 0, n - 1)
    _need("rows of neighbours", pairs.last, -1, rows - 1)
    _need("images of neighbours", pairs.image, 0, len(bodies.shifts) - 1)
    for near in lists.walls:
        _need("grains near walls", near.grains, 0, n - 1)
        _need("their rows", near.last, -1, rows - 1)


def _need(name: str, numbers: NDArray[Any] | list[int], least: int, most: int) -> None:
    numbers = np.asarray(numbers)
    if numbers.size and (numbers.min() < least or numbers.max() > most):
        bad = int(numbers.min() if numbers.min() < least else numbers.max())
        told = f"{name} in the checkpoint: {bad} is not among {least} to {most}"
        raise TrajectoryError(f"{told}; the file was changed, restore it")
