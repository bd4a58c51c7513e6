"""Broad phase: a cell grid of several levels finds all pairs of grains closer than a reach.

Each grain sits in the level whose cells fit its size and searches its own level and the coarser ones, so that mixed
radii cost no more than equal ones. Cells are kept in a table as long as the number of grains, whatever the extent of
the scene: cells far apart may share a bucket, and their keys tell them apart.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.columns import X, Y, Z
from ..model.vectors import vector
from ..runtime.barrier import fetch_add
from ..runtime.compiled import allocating, kernel
from ..runtime.memory import Workspace
from ..runtime.threads import in_parts, part_of, spread
from .pairs import PairList

Array = NDArray[np.float64]
Index = NDArray[np.int32]

CROWD = 1.25  # times the median radius: as large as most
ALONE = 1.3  # times that: the largest is worth a level of its own


def near_pairs(
    position: Array,
    radius: Array,
    reach: float = 0.0,
    *,
    capacity: int = 0,
    rows: int | None = None,
    work: Workspace | None = None,
    of: str = "",
) -> PairList:
    """All pairs with gap < reach, each once, in the row of the lower number.

    radius : (n,) m, with whatever skin each grain is given; capacity : pairs to expect
    rows   : grains beyond so many are ghosts, and most pairs of two ghosts are left out
    work   : where memory is taken from; lists of something else (`of`) do not share any
    """
    work, n = Workspace() if work is None else work, len(radius)
    # Rows of what is found lie, for the time being, where last rows will be.
    row = work.take(f"last{of}", capacity, kind=np.int32) if capacity else np.empty(16 * n, np.int32)
    other = work.borrow("found", capacity, kind=np.int32) if capacity else np.empty(16 * n, np.int32)
    wide = radius + 0.5 * reach if reach else radius
    found = _find(position, wide, row, other, n if rows is None else rows, work)
    start = work.take(f"start of rows{of}", n + 1, kind=np.int32)
    start.fill(0)
    for _, row, _ in found:
        _count(row, start)
    np.cumsum(start, out=start, dtype=np.int32)
    pairs, place = PairList.new(start, work, of), work.borrow("key", n, kind=np.int64)
    place[:] = start[:-1]
    for tests, row, other in found:
        _sort(row, other, place, pairs.partner)
        pairs.tested += tests
    pairs.last.fill(-1)
    return pairs


def _find(
    position: Array, radius: Array, row: Index, partner: Index, rows: int, work: Workspace
) -> list[tuple[int, Index, Index]]:
    """Fill the grid and search it part by part: tests, rows and partners of each part."""
    n = len(radius)
    level, size, largest, population = _levels(radius, work)
    origin, end = corners(position)
    extent = np.floor((end - origin) / size[:, None]).astype(np.int64) + 1  # cells per level and axis
    extent[:, :Z] |= 1  # odd strides spread shared buckets evenly
    buckets = 2 ** np.ceil(np.log2(np.maximum(2 * population, 16))).astype(np.int64)
    table = np.concatenate(([0], np.cumsum(buckets)))
    first = work.borrow("first", int(table[-1]) + 1, kind=np.int32)
    member, sphere = work.borrow("member", n, kind=np.int32), work.borrow("sphere", n)
    key, centre = work.borrow("key", n, kind=np.int64), work.take("centre", n, 3)
    first.fill(0)
    _fill(position, radius, level, origin, size, extent, table, first, member, key, centre, sphere)
    cells = position, radius, level, origin, size, largest, extent, table, first, member, key, centre, sphere, rows

    used, part = np.zeros(1, np.int64), part_of(n, 16)
    found = spread(search_part, n, *cells, row, partner, used, weight=16)
    ends = [(k * part, min(n, (k + 1) * part)) for k in range(len(found))]
    return [_taken(*each, cells, row, partner) for each in zip(ends, found)]


def _taken(
    ends: tuple[int, int], found: tuple[int, int, int], cells: tuple[Any, ...], row: Index, partner: Index
) -> tuple[int, Index, Index]:
    """Tests, rows and partners of a part of the search, which is made again where there was no room for it."""
    place, count, tested = found
    if place >= 0:
        return tested, row[place : place + count], partner[place : place + count]
    row, partner = np.empty(count + 1, np.int32), np.empty(count + 1, np.int32)
    _search(*ends, *cells, row, partner)
    return tested, row[:count], partner[:count]


def _levels(radius: Array, work: Workspace) -> tuple[Index, Array, Array, NDArray[np.int64]]:
    """Level of each grain; cell size, largest radius and number of grains of each level, the coarsest first.

    Each level has grains of half the size of the one before. Those of the crowd share one, where sizes differ little;
    a few that are larger, or have a wide skin, have coarser ones of their own, and nobody else searches far for them.
    """
    n, top, smallest = len(radius), float(radius.max()), float(radius.min())
    level, crowd = work.borrow("level", n, kind=np.int32), top
    if top > ALONE * (CROWD * smallest):  # otherwise the median is not so small
        halves = work.borrow("key", n, kind=np.int64).view(np.float64)
        halves[:] = radius
        halves.partition(n // 2)
        crowd = min(top, CROWD * float(halves[n // 2]))
        if top <= ALONE * crowd:
            crowd = top
    if top == crowd and smallest > 0.5 * top:  # one level holds all
        level.fill(0)
        return level, np.array([2.0 * top]), np.array([top]), np.array([n])
    coarsest = math.floor(math.log2(crowd / top))
    levels = math.floor(math.log2(crowd / smallest)) - coarsest + 2

    def assign(begin: int, end: int) -> tuple[Array, NDArray[np.int64]]:
        largest, population = np.zeros(levels), np.zeros(levels, np.int64)
        _assign(begin, end, radius, crowd, coarsest, level, largest, population)
        return largest, population

    found = in_parts(assign, n, weight=2)
    largest = np.max([part for part, _ in found], axis=0)
    population = np.sum([part for _, part in found], axis=0)
    used = population > 0
    number = (np.cumsum(used) - 1).astype(np.int32)
    spread(_renumber, n, number, level)
    return level, 2.0 * largest[used], largest[used], population[used]


def corners(position: Array) -> tuple[Array, Array]:
    """The corners of the box that holds all positions; several times as quick as numpy along an axis."""
    ends = list(zip(*spread(_corners, len(position), position)))
    return np.array([min(end) for end in ends[:3]]), np.array([max(end) for end in ends[3:]])


@kernel
def _assign(begin, end, radius, crowd, coarsest, level, largest, population):
    """The level of some grains, the largest of each and how many there are; levels may be empty."""
    for i in range(begin, end):
        a = min(max(np.int64(np.floor(np.log2(crowd / radius[i]))) - coarsest, 0), largest.size - 1)
        level[i] = a
        largest[a] = max(largest[a], radius[i])
        population[a] += 1


@kernel
def _renumber(begin, end, number, level):
    """New numbers for the levels of some grains."""
    for i in range(begin, end):
        level[i] = number[level[i]]


@kernel
def _corners(begin, end, position):
    """The same of some."""
    x, y, z = vector(position, begin)
    most_x, most_y, most_z = x, y, z
    for i in range(begin + 1, end):
        x, y, z = min(x, position[i, X]), min(y, position[i, Y]), min(z, position[i, Z])
        most_x, most_y, most_z = max(most_x, position[i, X]), max(most_y, position[i, Y]), max(most_z, position[i, Z])
    return x, y, z, most_x, most_y, most_z


@kernel
def _cell(x, y, z, origin, size):
    """Integer coordinates of the cell that holds a point."""
    return (
        np.int64(np.floor((x - origin[X]) / size)),
        np.int64(np.floor((y - origin[Y]) / size)),
        np.int64(np.floor((z - origin[Z]) / size)),
    )


@kernel
def _home(i, position, level, origin, size, extent, table):
    """Bucket and cell of a grain."""
    a = level[i]
    x, y, z = vector(position, i)
    ix, iy, iz = _cell(x, y, z, origin, size[a])
    own = ix + extent[a, X] * (iy + extent[a, Y] * iz)
    return table[a] + (own & (table[a + 1] - table[a] - 1)), own


@kernel
def _fill(position, radius, level, origin, size, extent, table, first, member, key, centre, sphere):
    """Sort the grains by bucket: counting sort. first[b]:first[b+1] are the members of bucket b.

    key, centre and sphere hold the cell, centre and radius of each member, so that a search reads memory in line.
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
        centre[m, X], centre[m, Y], centre[m, Z] = vector(position, i)
        sphere[m] = radius[i]
    for b in range(first.size - 1):
        first[b] = first[b + 1]
    first[first.size - 1] = n


@allocating
def search_part(
    begin, end, position, radius, level, origin, size, largest, extent, table, first, member, key, centre, sphere, rows,
    row, partner, used,
):  # fmt: skip
    """List the pairs of some grains in the next free places, if so many are left: place, pairs and tests."""
    room = max(row.size, 16 * radius.size) * (end - begin) // radius.size + 65  # one place is scratch
    while True:
        own_row, own_partner = np.empty(room, np.int32), np.empty(room, np.int32)
        found, tested = _search(
            begin, end, position, radius, level, origin, size, largest, extent, table, first, member, key, centre,
            sphere, rows, own_row, own_partner,
        )  # fmt: skip
        if found < room:
            break
        room = found + 1
    place = fetch_add(used, 0, found)
    if place + found > row.size:
        return -1, found, tested
    for k in range(found):
        row[place + k], partner[place + k] = own_row[k], own_partner[k]
    return place, found, tested


@kernel
def _search(
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
    centre,
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
        (x, y, z), r = vector(position, i), radius[i]
        for a in range(own + 1):
            cut = r + largest[a]
            lx, ly, lz = _cell(x - cut, y - cut, z - cut, origin, size[a])
            hx, hy, hz = _cell(x + cut, y + cut, z + cut, origin, size[a])
            ox, oy, oz = _cell(x, y, z, origin, size[a])
            home = ox + extent[a, X] * (oy + extent[a, Y] * oz)
            if a == own:
                lz = oz
            mask = table[a + 1] - table[a] - 1
            lx, hx = max(lx, 0), min(hx, extent[a, X] - 1)
            ly, hy = max(ly, 0), min(hy, extent[a, Y] - 1)
            for iz in range(max(lz, 0), min(hz, extent[a, Z] - 1) + 1):
                for iy in range(oy if a == own and iz == oz else ly, hy + 1):
                    line = extent[a, X] * (iy + extent[a, Y] * iz)
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
                            dx, dy, dz = centre[m, X] - x, centre[m, Y] - y, centre[m, Z] - z
                            near = r + sphere[m]
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
def _count(row, start):
    """Pairs of each row, at its end."""
    for i in row:
        start[i + 1] += 1


@kernel
def _sort(row, other, place, partner):
    """Partners row by row, in each as they were found; place is where the next of a row goes."""
    for k in range(row.size):
        partner[place[row[k]]] = other[k]
        place[row[k]] += 1
