"""Pairs across the faces of a periodic cell: images of grains near a face join the search as ghosts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..model.bodies import Bodies
from ..model.cell import IMAGES, Cell, encode
from ..runtime.compiled import kernel
from ..runtime.memory import Workspace
from .grid import near_pairs
from .pairs import PairList

Array = NDArray[np.float64]

OPPOSITE = encode(-IMAGES.astype(np.int32))
GHOSTS = " with ghosts"  # names of the list that the one of grains is made of


def find_pairs(
    position: Array,
    radius: Array,
    cell: Cell | None,
    *,
    capacity: int = 0,
    work: Workspace | None = None,
) -> PairList:
    """All pairs of spheres that overlap, each once for every image; in a cell in the row of the lower number."""
    if cell is None:
        return near_pairs(position, radius, capacity=capacity, work=work)
    owner, code = cell.ghosts(position, radius)
    there = np.concatenate([position, position[owner] + cell.shifts[code]])
    found = near_pairs(
        there, np.concatenate([radius, radius[owner]]), capacity=capacity, rows=len(radius), work=work, of=GHOSTS
    )
    work = Workspace() if work is None else work
    start = work.take("start of rows", len(radius) + 1, kind=np.int32)
    start.fill(0)
    _count(found.start, found.partner, owner, start)
    pairs, place = PairList.new(start, work), work.borrow("key", len(radius), kind=np.int64)
    place[:] = start[:-1]
    _fold(found.start, found.partner, owner, code, OPPOSITE, place, pairs.partner, pairs.image)
    pairs.last.fill(-1)
    return pairs


def wrap(bodies: Bodies, pairs: PairList) -> None:
    """Bring all grains back into the cell and straighten it; listed pairs keep their images."""
    cell = bodies.cell
    assert cell is not None
    turned = cell.straighten()
    if turned is not None:
        bodies.image = bodies.image @ turned
        pairs.image = encode(IMAGES[pairs.image].astype(np.int32) @ turned)
    away = cell.wrap(bodies.position)
    if away.any():
        bodies.image += away
        i = np.repeat(np.arange(len(pairs.start) - 1), np.diff(pairs.start))
        pairs.image = encode(IMAGES[pairs.image].astype(np.int32) + away[pairs.partner] - away[i])


@kernel
def _count(start, partner, owner, rows):
    """Pairs in the row of the lower number of both; rows[i + 1] ends row i."""
    n = rows.size - 1
    for a in range(start.size - 1):
        i = a if a < n else owner[a - n]
        for k in range(start[a], start[a + 1]):
            b = partner[k]
            j = b if b < n else owner[b - n]
            if (a < n or b < n) and i != j:
                rows[min(i, j) + 1] += 1
    for i in range(n):
        rows[i + 1] += rows[i]


@kernel
def _fold(start, partner, owner, code, opposite, place, folded, image):
    """Pairs of grains with their image from pairs with ghosts; two ghosts are the image of a pair, and left out.

    place is where the next pair of a row goes.
    """
    n = place.size
    for a in range(start.size - 1):
        i = a if a < n else owner[a - n]
        for k in range(start[a], start[a + 1]):
            b = partner[k]
            j = b if b < n else owner[b - n]
            if (a < n or b < n) and i != j:
                which = np.int8(0) if a < n and b < n else code[b - n] if a < n else opposite[code[a - n]]
                low, high = i, j
                if i > j:
                    low, high, which = j, i, opposite[which]
                folded[place[low]], image[place[low]] = high, which
                place[low] += 1
