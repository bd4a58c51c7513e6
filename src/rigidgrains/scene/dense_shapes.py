"""Dense placement of grains of any shape: evenly spread, they push each other apart along contact normals."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..detect.images import find_pairs
from .cells import Array
from .forms import Forms, Index, inscribed
from .lattice import free_sites
from .narrow import Narrow
from .room import Room

SLACK = 5e-3  # of the smallest radius: gaps that grains aim at
SHARE = 0.6  # of what each grain is pushed; less than all, since all are pushed at once
FIT = 1e-9  # of the radius: overlap with walls that is rounding
DEEP = 0.1  # of the smallest radius: grains of several parts so deep in each other go apart along their centres
MOST_SWEEPS = 2_000
MOST_PAIRS = 20_000_000


def place_shapes(forms: Forms, rng: np.random.Generator, room: Room) -> tuple[Array, NDArray[np.int64]]:
    """Positions (n, 3) and the index into `forms` of the grain at each; orientations stay as they are."""
    n, flat = len(forms), slice(0, room.dimension)
    across = (forms.extents[0] + forms.extents[1])[:, flat]
    wide = (across > (room.upper - room.lower)[flat]) & ~room.periodic[flat]
    if wide.any():
        message = f"a grain {across[wide].max():g} m wide does not fit between its faces, as it is turned"
        raise room.error("region", room.upper[flat], f"{message}; take a larger region, or smaller grains")
    smallest = float(forms.radius.min())
    core = max(0.1 * smallest, 0.5 * float((forms.radius * inscribed(forms.catalogue)[forms.shape]).min()))
    sites, half_cell = free_sites(n, min(core, 0.5 * smallest), room, 0.1 * smallest)
    remedies = "a larger region", "fewer or smaller grains"
    if len(sites) < n:
        raise room.error("count", n, f"walls and other grains leave only {len(sites)} free sites", *remedies)
    sites = sites[np.arange(n) * len(sites) // n]
    order = rng.permutation(n)
    mine = forms[order]
    everyone = mine if room.forms is None else mine.joined(room.forms)
    position = np.vstack([sites + 0.5 * half_cell * rng.uniform(-1.0, 1.0, sites.shape), room.position])
    position[:, room.dimension :] = 0.0
    narrow, goal, looked_at = Narrow(everyone), SLACK * smallest, 0
    for _ in range(MOST_SWEEPS):
        stay_inside(position[:n], mine, room, goal)
        if room.cell is not None:
            room.cell.wrap(position)
        i, j, shift = neighbours(position, everyone, room, n, goal)
        gap, normal = narrow.gaps(position, i, j, shift, goal)
        looked_at += len(i)
        if gap.min(initial=np.inf) >= 0.0 and is_inside(position[:n], mine, room):
            return position[:n], order
        if looked_at > MOST_PAIRS:
            break
        line = position[j] + shift - position[i]
        locked = (gap < -DEEP * smallest) & (np.maximum(narrow.count[i], narrow.count[j]) > 1)
        normal[locked] = line[locked] / np.linalg.norm(line[locked], axis=1, keepdims=True)
        push_apart(position, i, j, np.maximum(goal - gap, 0.0)[:, None] * normal, n)
    message = f"no placement without overlap found at packing fraction {room.packing_fraction(forms.radius):.3f}"
    raise room.error("count", n, message, *remedies)


def neighbours(position: Array, forms: Forms, room: Room, n: int, reach: float) -> tuple[Index, Index, Array]:
    """Pairs of which one can move, by bounding spheres, and where the image of the second is."""
    pairs = find_pairs(position, forms.bound + 0.5 * reach, room.cell)
    i, j = np.repeat(np.arange(len(forms)), np.diff(pairs.start)), pairs.partner.astype(np.int64)
    shift = np.zeros((len(i), 3)) if room.cell is None else room.cell.shifts[pairs.image]
    free = np.minimum(i, j) < n
    return i[free], j[free], shift[free]


def push_apart(position: Array, i: Index, j: Index, push: Array, n: int) -> None:
    """Move grains below n by half of each push, or by all of it against one that stays."""
    whole = np.where((i < n) & (j < n), 0.5, 1.0)[:, None] * push * SHARE
    np.add.at(position, i[i < n], -whole[i < n])
    np.add.at(position, j[j < n], whole[j < n])


def stay_inside(position: Array, forms: Forms, room: Room, goal: float) -> None:
    """Move grains off the walls and back into the region."""
    for wall in room.walls:
        gap, normal = forms.wall_gaps(wall, position, goal)
        position += np.minimum(gap - 0.5 * goal, 0.0)[:, None] * normal
    low, high = (extent + 0.1 * goal for extent in forms.extents)
    for k in np.flatnonzero(~room.periodic[: room.dimension]):
        first, last = room.lower[k] + low[:, k], room.upper[k] - high[:, k]
        middle = 0.5 * (first + last)  # of those that just fit
        position[:, k] = np.clip(position[:, k], np.minimum(first, middle), np.maximum(last, middle))


def is_inside(position: Array, forms: Forms, room: Room) -> bool:
    """True when no grain overlaps a wall; the region has been seen to. A grain may just fit between two walls."""
    return all((forms.wall_gaps(wall, position)[0] >= -FIT * forms.radius).all() for wall in room.walls)
