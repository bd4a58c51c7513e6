"""Grains on a lattice that fills the region from the bottom up, displaced at random within their free play."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .cells import Array
from .room import Room

SPARE = 1e-9
EMPTINESS = 100  # most sites tried for each grain


def place_lattice(
    radius: Array, rng: np.random.Generator, room: Room, jitter: float
) -> tuple[Array, NDArray[np.int64]] | None:
    """Positions (n, 3) and the index into `radius` of the grain at each; None when there are too few sites."""
    largest = float(radius.max())
    sites, half_cell = free_sites(len(radius), largest, room, 2.0 * largest * (1.0 + SPARE))
    if len(sites) < len(radius):
        return None
    sites = sites[: len(radius)]
    order = rng.permutation(len(radius))
    r = radius[order][:, None]
    play = np.maximum(half_cell - r, 0.0) * (jitter * (1.0 - SPARE))
    position = sites + play * rng.uniform(-1.0, 1.0, sites.shape)
    flat = slice(0, room.dimension)
    inset = np.where(room.periodic, 0.0, r)
    position[:, flat] = np.clip(position[:, flat], (room.lower + inset)[:, flat], (room.upper - inset)[:, flat])
    position[:, room.dimension :] = 0.0
    blocked = ~room.free(position, r[:, 0])
    position[blocked] = sites[blocked]
    return position, order


def free_sites(count: int, r: float, room: Room, least: float) -> tuple[Array, Array]:
    """Free sites for grains of radius r, at least `count` if there are, lowest first, and half a lattice cell (3,).

    The pitch is the largest that leaves enough free sites, and not below `least`.
    """
    inset = r * (1.0 + SPARE)
    span, around = room.upper - room.lower, room.periodic[: room.dimension]
    span = np.where(around, span[: room.dimension], np.maximum(span[: room.dimension] - 2.0 * inset, 0.0))
    wanted = count
    while True:
        pitch = largest_pitch(wanted, span, around, least)
        along = sites_along(span, around, pitch)
        if np.prod(along) > EMPTINESS * max(count, 1000):
            raise room.error(
                "region", room.upper[: room.dimension], "is almost empty; shrink it to where the grains are"
            )
        sites, half_cell = make_sites(along.astype(int), span, room, inset)
        sites = sites[room.free(sites, np.full(len(sites), r))]
        if len(sites) >= count or pitch <= least:
            return sites, half_cell
        wanted = math.ceil(float(np.prod(along)) * min(1.02 * count / max(len(sites), 1), 4.0)) + 1


def largest_pitch(count: int, span: Array, around: NDArray[np.bool_], least: float) -> float:
    """Largest pitch, not below `least`, with `count` sites in a box of this span; by bisection."""
    low, high = least, max(least, 2.0 * float(span.max()) + least)
    for _ in range(100):
        middle = 0.5 * (low + high)
        if np.prod(sites_along(span, around, middle)) >= count:
            low = middle
        else:
            high = middle
    return low


def sites_along(span: Array, around: NDArray[np.bool_], pitch: float) -> Array:
    """Sites along each axis, as floats because they may be very many; where the region is periodic the last meets the
    first."""
    return np.maximum(np.floor(span / pitch * (1.0 + 1e-12)) + np.where(around, 0.0, 1.0), 1.0)


def make_sites(along: NDArray[np.int64], span: Array, room: Room, inset: float) -> tuple[Array, Array]:
    """All sites (m, 3), lowest along the last axis first, and half a lattice cell (3,)."""
    lines, half_cell = [], np.zeros(3)
    for k, number in enumerate(along):
        if room.periodic[k]:
            lines.append(room.lower[k] + span[k] * (np.arange(number) + 0.5) / number)
            half_cell[k] = 0.5 * span[k] / number
            continue
        start = room.lower[k] + inset
        lines.append(np.linspace(start, start + span[k], number) if number > 1 else np.array([start + 0.5 * span[k]]))
        half_cell[k] = 0.5 * span[k] / (number - 1) if number > 1 else 0.5 * span[k] + inset
    mesh = np.meshgrid(*reversed(lines), indexing="ij")
    sites = np.zeros((mesh[0].size, 3))
    for k, coordinate in enumerate(reversed(mesh)):
        sites[:, k] = coordinate.ravel()
    return sites, half_cell
