"""Place the grains of a group in its region, never overlapping, numbered along a Morton curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .cells import Array
from .dense import place_dense
from .grains import Grains
from .lattice import SPARE, free_sites, place_lattice
from .room import Room
from .sequential import place_random


def place_grains(group: Grains, radius: Array, rng: np.random.Generator, room: Room) -> tuple[Array, NDArray[np.int64]]:
    """Positions (n, 3) and the index into `radius` of the grain at each."""
    narrow = float((room.upper - room.lower)[: room.dimension].min())
    if 2.0 * radius.max() > narrow:
        message = (
            f"the largest grain, of radius {radius.max():g} m, does not fit between its faces; take a larger region"
        )
        raise room.error("region", group.region, message)
    position, order = place(group, radius, rng, room)
    curve = np.argsort(morton(position, room.lower, room.upper), kind="stable")
    return np.ascontiguousarray(position[curve]), order[curve]


def place(group: Grains, radius: Array, rng: np.random.Generator, room: Room) -> tuple[Array, NDArray[np.int64]]:
    if group.placement == "random":
        return place_random(radius, rng, room)
    if group.placement == "dense":
        return place_dense(radius, rng, room)
    placed = place_lattice(radius, rng, room, group.jitter)
    if placed is not None:
        return placed
    if group.placement is None and not group.given("jitter"):
        return place_dense(radius, rng, room)
    largest = float(radius.max())
    sites = len(free_sites(len(radius), largest, room, 2.0 * largest * (1.0 + SPARE))[0])
    message = (
        f"only {sites} lattice sites are free for grains of radius {largest:g} m;"
        " take a larger region, fewer or smaller grains, or placement = 'dense'"
    )
    raise room.error("count", len(radius), message)


def morton(position: Array, lower: Array, upper: Array) -> NDArray[np.uint64]:
    """Code of each position along a Morton curve: the bits of its cell numbers in turn."""
    edge = float((upper - lower).max()) / 2.0**20
    cell = np.clip((position - lower) / edge, 0.0, 2.0**21 - 1.0).astype(np.uint64)
    return spread(cell[:, 0]) | spread(cell[:, 1]) << np.uint64(1) | spread(cell[:, 2]) << np.uint64(2)


def spread(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Two zero bits between each two of the lowest 21 bits."""
    for shift, mask in (
        (32, 0x1F00000000FFFF),
        (16, 0x1F0000FF0000FF),
        (8, 0x100F00F00F00F00F),
        (4, 0x10C30C30C30C30C3),
        (2, 0x1249249249249249),
    ):
        x = (x | x << np.uint64(shift)) & np.uint64(mask)
    return x
