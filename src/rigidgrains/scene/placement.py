"""Place the grains of a group in its region, never overlapping, numbered along a Morton curve."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from ..detect.morton import morton
from .cells import Array
from .dense import place_dense
from .forms import Forms
from .grains import Grains
from .lattice import SPARE, free_sites, place_lattice
from .room import Room
from .sequential import place_random


def place_grains(
    group: Grains, radius: Array, rng: np.random.Generator, room: Room, forms: Forms | None = None
) -> tuple[Array, NDArray[np.int64]]:
    """Positions (n, 3) and the index into `radius` of the grain at each.

    forms : what the grains look like, where some are not round; `radius` are then those of their bounding spheres
    """
    if forms is not None and not forms.round:
        position, order = place_formed(group, forms, rng, room)
        curve = along_curve(position, room.lower, room.upper)
        return np.ascontiguousarray(position[curve]), order[curve]
    narrow = float((room.upper - room.lower)[: room.dimension].min())
    if 2.0 * radius.max() > narrow:
        message = (
            f"the largest grain, of radius {radius.max():g} m, does not fit between its faces; take a larger region"
        )
        raise room.error("region", group.region, message)
    position, order = place(group, radius, rng, room)
    curve = along_curve(position, room.lower, room.upper)
    return np.ascontiguousarray(position[curve]), order[curve]


def place_formed(group: Grains, forms: Forms, rng: np.random.Generator, room: Room) -> tuple[Array, NDArray[np.int64]]:
    """On a lattice or at random by bounding spheres; densely, and if a lattice does not fit, by true shapes."""
    from .dense_shapes import place_shapes

    radius = forms.bound
    fits = 2.0 * radius.max() <= float((room.upper - room.lower)[: room.dimension].min())
    if group.placement == "dense" or (not fits and group.placement is None and not group.given("jitter")):
        return place_shapes(forms, rng, room)
    if not fits:
        message = f"a grain within a radius of {radius.max():g} m does not fit between its faces in all directions"
        raise room.error("region", group.region, f"{message}; take a larger region, or placement = 'dense'")
    if group.placement == "random":
        return place_random(radius, rng, room)
    placed = place_lattice(radius, rng, room, group.jitter)
    if placed is None and group.placement is None and not group.given("jitter"):
        return place_shapes(forms, rng, room)
    return no_lattice(radius, room) if placed is None else placed


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
    return no_lattice(radius, room)


def no_lattice(radius: Array, room: Room) -> NoReturn:
    """Tell that there are too few sites."""
    largest = float(radius.max())
    sites = len(free_sites(len(radius), largest, room, 2.0 * largest * (1.0 + SPARE))[0])
    message = f"only {sites} lattice sites are free for grains of radius {largest:g} m"
    raise room.error("count", len(radius), message, "a larger region", "fewer or smaller grains", "placement = 'dense'")


def along_curve(position: Array, lower: Array, upper: Array) -> NDArray[np.int64]:
    """The order of positions along a Morton curve through the region."""
    edge = float((upper - lower).max()) / 2.0**20
    cell = np.clip((position - lower) / edge, 0.0, 2.0**21 - 1.0).astype(np.uint64)
    return np.argsort(morton(cell), kind="stable")
