"""Broad phase: a cell grid of several levels finds all pairs of grains closer than a reach.

Each grain sits in the level whose cells fit its size and searches its own level and the coarser ones, so that mixed
radii cost no more than equal ones. Cells are kept in a table as long as the number of grains, whatever the extent of
the scene: cells far apart may share a bucket, and their keys tell them apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..compiled import kernel
from ..threads import in_parts
from .colours import paint_list

Array = NDArray[np.float64]
Index = NDArray[np.int32]

CROWD = 1.25  # times the median radius: as large as most
ALONE = 1.3  # times that: the largest is worth a level of its own


@dataclass
class PairList:
    """Pairs in rows: grain i meets partner[start[i]:start[i + 1]].

    last  : for each pair the row of its contact in the previous step, -1 for none
    image : code of the image of the partner that is meant, see cell.py; 0 for the partner itself
    tested : pairs whose distance was looked at in the search
    colour : of each pair, see `painted`; coloured : whether they differ
    """

    start: NDArray[np.int64]
    partner: Index
    last: Index
    image: NDArray[np.int8]
    tested: int = 0
    colour: NDArray[np.int8] | None = None
    coloured: bool = False
    spare: Index | None = None  # rows that nobody needs any more, to be written over

    def painted(self, coloured: bool) -> NDArray[np.int8]:
        """Colours such that pairs of one colour share no grain, see colours.py; all 0 if that is not wanted."""
        if self.colour is None or self.coloured != coloured:
            self.colour, self.coloured = np.zeros(len(self.partner), np.int8), coloured
            if coloured:
                paint_list(self.start, self.partner, self.colour)
        return self.colour

    @classmethod
    def empty(cls, grains: int) -> PairList:
        none = np.empty(0, np.int32)
        return cls(np.zeros(grains + 1, np.int64), none, none.copy(), np.empty(0, np.int8))


def near_pairs(
    position: Array, radius: Array, reach: float = 0.0, *, capacity: int = 0, rows: int | None = None
) -> PairList:
    """All pairs with gap < reach, each once, in the row of the lower number.

    radius : (n,) m, with whatever skin each grain is given; capacity : pairs to expect
    rows   : grains beyond so many are ghosts, and most pairs of two ghosts are left out
    """
    found = _find(position, radius + 0.5 * reach, capacity, len(radius) if rows is None else rows)
    start = np.zeros(len(radius) + 1, np.int64)
    for _, row, _ in found:
        _count(row, start)
    np.cumsum(start, out=start)
    partner, place = np.empty(start[-1], np.int32), start[:-1].copy()
    for _, row, other in found:
        _sort(row, other, place, partner)
    tested = sum(tests for tests, _, _ in found)
    return PairList(start, partner, np.full(start[-1], -1, np.int32), np.zeros(start[-1], np.int8), tested)


def _find(position: Array, radius: Array, capacity: int, rows: int) -> list[tuple[int, Index, Index]]:
    """Fill the grid and search it part by part: tests, rows and partners of each part."""
    n = len(radius)
    level, size, largest = _levels(radius)
    origin, end = _corners(position)
    span = end - origin
    extent = np.floor(span / size[:, None]).astype(np.int64) + 1  # cells per level and axis
    extent[:, :2] |= 1  # odd strides spread shared buckets evenly
    population = np.bincount(level, minlength=len(size))
    buckets = 2 ** np.ceil(np.log2(np.maximum(2 * population, 16))).astype(np.int64)
    table = np.concatenate(([0], np.cumsum(buckets)))
    first = np.zeros(table[-1] + 1, np.int32)
    member, key, sphere = np.empty(n, np.int32), np.empty(n, np.int64), np.empty((n, 4))
    _fill(position, radius, level, origin, size, extent, table, first, member, key, sphere)
    cells = position, radius, level, origin, size, largest, extent, table, first, member, key, sphere, rows

    def search(begin: int, end: int) -> tuple[int, Index, Index]:
        room = (max(capacity, 16 * n) * (end - begin)) // n + 65  # one place is scratch
        while True:
            row, partner = np.empty(room, np.int32), np.empty(room, np.int32)
            found, tested = _search(begin, end, *cells, row, partner)
            if found < room:
                return tested, row[:found], partner[:found]
            room = found + 1

    return in_parts(search, n, weight=16)


def _levels(radius: Array) -> tuple[Index, Array, Array]:
    """Level of each grain, cell size and largest radius of each level, the coarsest first.

    Each level has grains of half the size of the one before. Those of the crowd share one, where sizes differ little;
    a few that are larger, or have a wide skin, have coarser ones of their own, and nobody else searches far for them.
    """
    top, smallest = float(radius.max()), float(radius.min())
    crowd = min(top, CROWD * float(np.partition(radius, len(radius) // 2)[len(radius) // 2]))
    if top <= ALONE * crowd:
        crowd = top
    if top == crowd and smallest > 0.5 * top:  # one level holds all
        return np.zeros(len(radius), np.int32), np.array([2.0 * top]), np.array([top])
    coarsest = math.floor(math.log2(crowd / top))
    level = np.empty(len(radius), np.int32)
    largest = np.zeros(math.floor(math.log2(crowd / smallest)) - coarsest + 2)
    _assign(radius, crowd, coarsest, level, largest)
    used = largest > 0.0
    return (np.cumsum(used) - 1).astype(np.int32)[level], 2.0 * largest[used], largest[used]


@kernel
def _assign(radius, crowd, coarsest, level, largest):  # type: ignore[no-untyped-def]
    """The level of each grain, and the largest of each; levels may be empty."""
    for i in range(radius.size):
        a = min(max(np.int64(np.floor(np.log2(crowd / radius[i]))) - coarsest, 0), largest.size - 1)
        level[i] = a
        largest[a] = max(largest[a], radius[i])


@kernel
def _corners(position):  # type: ignore[no-untyped-def]
    """The corners of the box that holds all positions; in one pass, several times as quick as numpy along an axis."""
    lower, upper = position[0].copy(), position[0].copy()
    for i in range(1, position.shape[0]):
        for a in range(3):
            lower[a], upper[a] = min(lower[a], position[i, a]), max(upper[a], position[i, a])
    return lower, upper


@kernel
def _cell(x, y, z, origin, size):  # type: ignore[no-untyped-def]
    """Integer coordinates of the cell that holds a point."""
    return (
        np.int64(np.floor((x - origin[0]) / size)),
        np.int64(np.floor((y - origin[1]) / size)),
        np.int64(np.floor((z - origin[2]) / size)),
    )


@kernel
def _home(i, position, level, origin, size, extent, table):  # type: ignore[no-untyped-def]
    """Bucket and cell of a grain."""
    a = level[i]
    ix, iy, iz = _cell(position[i, 0], position[i, 1], position[i, 2], origin, size[a])
    own = ix + extent[a, 0] * (iy + extent[a, 1] * iz)
    return table[a] + (own & (table[a + 1] - table[a] - 1)), own


@kernel
def _fill(  # type: ignore[no-untyped-def]
    position, radius, level, origin, size, extent, table, first, member, key, sphere
):
    """Sort the grains by bucket: counting sort. first[b]:first[b+1] are the members of bucket b.

    key and sphere hold the cell, centre and radius of each member, so that a search reads memory in line.
    """
    n = level.size
    for i in range(n):
        home, _ = _home(i, position, level, origin, size, extent, table)
        first[home + 1] += 1
    for b in range(first.size - 1):
        first[b + 1] += first[b]
    for i in range(n - 1, -1, -1):
        home, own = _home(i, position, level, origin, size, extent, table)
        first[home + 1] -= 1
        m = first[home + 1]
        member[m], key[m] = i, own
        sphere[m, 0], sphere[m, 1], sphere[m, 2] = position[i, 0], position[i, 1], position[i, 2]
        sphere[m, 3] = radius[i]
    for b in range(first.size - 1):
        first[b] = first[b + 1]
    first[first.size - 1] = n


@kernel
def _search(  # type: ignore[no-untyped-def]
    begin,
    end,
    position,
    radius,
    level,
    origin,
    size,
    largest,
    extent,
    table,
    first,
    member,
    key,
    sphere,
    rows,
    row,
    partner,
):
    """List the pairs of some grains; returns how many there are, also beyond the space given, and tests.

    In its own level a grain looks at cells from its own onwards: the others have looked, or will, at it.
    """
    found, tested, space = 0, 0, partner.size - 1
    for i in range(begin, end):
        own = level[i]
        x, y, z, r = position[i, 0], position[i, 1], position[i, 2], radius[i]
        for a in range(own + 1):
            cut = r + largest[a]
            lx, ly, lz = _cell(x - cut, y - cut, z - cut, origin, size[a])
            hx, hy, hz = _cell(x + cut, y + cut, z + cut, origin, size[a])
            ox, oy, oz = _cell(x, y, z, origin, size[a])
            home = ox + extent[a, 0] * (oy + extent[a, 1] * oz)
            if a == own:
                lz = oz
            mask = table[a + 1] - table[a] - 1
            lx, hx = max(lx, 0), min(hx, extent[a, 0] - 1)
            ly, hy = max(ly, 0), min(hy, extent[a, 1] - 1)
            for iz in range(max(lz, 0), min(hz, extent[a, 2] - 1) + 1):
                for iy in range(oy if a == own and iz == oz else ly, hy + 1):
                    line = extent[a, 0] * (iy + extent[a, 1] * iz)
                    at_home = a == own and iz == oz and iy == oy
                    lowest, highest = line + (ox if at_home else lx), line + hx
                    # Cells of a row are neighbours in the table, except where the table wraps around.
                    cell = lowest
                    while cell <= highest:
                        b = table[a] + (cell & mask)
                        run = min(highest - cell, table[a + 1] - 1 - b)
                        tested += first[b + run + 1] - first[b]
                        for m in range(first[b], first[b + run + 1]):
                            j = member[m]
                            dx, dy, dz = sphere[m, 0] - x, sphere[m, 1] - y, sphere[m, 2] - z
                            near = r + sphere[m, 3]
                            close = dx * dx + dy * dy + dz * dz < near * near
                            here = (cell <= key[m]) & (key[m] <= cell + run)
                            once = ((not at_home) | (key[m] != home) | (j > i)) & ((i < rows) | (j < rows))
                            # Written always, kept if counted: no branch to guess.
                            to = min(found, space)
                            row[to], partner[to] = min(i, j), max(i, j)
                            found += int(close & here & once)
                        cell += run + 1
    return found, tested


@kernel
def _count(row, start):  # type: ignore[no-untyped-def]
    """Pairs of each row, at its end."""
    for i in row:
        start[i + 1] += 1


@kernel
def _sort(row, other, place, partner):  # type: ignore[no-untyped-def]
    """Partners row by row, in each as they were found; place is where the next of a row goes."""
    for k in range(row.size):
        partner[place[row[k]]] = other[k]
        place[row[k]] += 1


def inherit(new: PairList, old: PairList) -> None:
    """Hand each pair of a new list the contact row it had in the old one: pairs keep their identity."""
    lists = new.start, new.partner, new.image, new.last, old.start, old.partner, old.image, old.last
    in_parts(lambda begin, end: _inherit(begin, end, *lists), len(new.start) - 1)


@kernel
def _inherit(  # type: ignore[no-untyped-def]
    begin, end, start, partner, image, last, old_start, old_partner, old_image, old_last
):
    """The pairs of some grains."""
    for i in range(begin, end):
        for k in range(start[i], start[i + 1]):
            for m in range(old_start[i], old_start[i + 1]):
                if old_partner[m] == partner[k] and old_image[m] == image[k]:
                    last[k] = old_last[m]
                    break
