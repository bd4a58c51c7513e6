"""Painting of listed pairs: pairs of one colour share no grain, see colours.py.

Pairs within a tile take the first colour that is free, in the order of the list; tiles share no grain, so that each
may be painted by another thread. Pairs across tiles follow by a hash of the names of their grains. That is an order
which needs no list: where all pairs that come first at both their grains take their colours at the same time, round
after round, the colours are the same, so that several processes, or a GPU, can find them too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..model.cell import IMAGES, encode
from ..runtime.compiled import inlined, kernel
from ..runtime.memory import Workspace
from ..runtime.threads import spread
from .colours import ALL, COLOURS, HUB, INNER, first_free

Index = NDArray[np.int32]

OPPOSITE = encode(-IMAGES.astype(np.int32))
ACROSS = -1  # the colour of a pair across tiles before it has one
INNERS = (1 << INNER) - 1  # bits of the colours within tiles

# Of splitmix64 (Steele, Lea & Flood, OOPSLA 2014)
GOLDEN, FIRST, SECOND = (np.uint64(x) for x in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
SHIFT, TWENTY_SEVEN, THIRTY, THIRTY_ONE = (np.uint64(x) for x in (1, 27, 30, 31))


def paint(
    start: Index,
    partner: Index,
    image: NDArray[np.int8],
    name: NDArray[np.int64],
    tile: int,
    work: Workspace,
    colour: NDArray[np.int8],
) -> None:
    """Give each listed pair its colour; those of hubs, and those left over, take the last one.

    name : (n,) of each grain, whatever its place in memory; tile : grains in a tile, n if there are no tiles
    """
    n = len(start) - 1
    met, taken = work.borrow("member", n, kind=np.int32), work.borrow("key", n, kind=np.int64)
    count_met(start, partner, met)
    across = np.array(spread(paint_within, n, start, partner, colour, met, taken, tile, weight=4, part=tile))
    if not (count := int(across.sum())):
        return
    row, owner, key = np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count, np.int64)
    first = np.cumsum(across) - across
    spread(
        list_across, n, tile, first, start, partner, image, OPPOSITE, name, colour, row, owner, key, weight=4, part=tile
    )
    paint_across(np.argsort(key), row, owner, partner, taken, colour)


@kernel
def count_met(start, partner, met):
    """Pairs of each grain."""
    n = start.size - 1
    for i in range(n):
        met[i] = start[i + 1] - start[i]
    for k in range(start[n]):
        met[partner[k]] += 1


@kernel
def paint_within(begin, end, start, partner, colour, met, taken, tile):
    """Paint the pairs within a tile, each in the first colour that neither of its grains has; count the others.

    met, taken : (n,) pairs of each grain, and their colours as bits
    """
    inner = np.int64(INNERS) if tile < start.size - 1 else np.int64(-1)
    count = 0
    for i in range(begin, end):
        taken[i] = 0
    for i in range(begin, end):
        for k in range(start[i], start[i + 1]):
            j = partner[k]
            if met[i] > HUB or met[j] > HUB:
                colour[k] = COLOURS
            elif begin <= j < end:
                free = first_free((taken[i] | taken[j] | ~inner) & ALL)
                if free < COLOURS:  # else none is left
                    taken[i] |= np.int64(1) << free
                    taken[j] |= np.int64(1) << free
                colour[k] = free
            else:
                colour[k] = ACROSS
                count += 1
    return count


@kernel
def list_across(begin, end, tile, first, start, partner, image, opposite, name, colour, row, owner, key):
    """List the pairs that lead out of a tile, with their hashes."""
    at = first[begin // tile]
    for i in range(begin, end):
        for k in range(start[i], start[i + 1]):
            if colour[k] == ACROSS:
                a, b = name[i], name[partner[k]]
                row[at], owner[at] = k, i
                key[at] = hash_of(a, b, image[k]) if a <= b else hash_of(b, a, opposite[image[k]])
                at += 1


@kernel
def paint_across(order, row, owner, partner, taken, colour):
    """Paint the pairs across tiles in this order, in the colours that are for them."""
    for p in order:
        i, j = owner[p], partner[row[p]]
        free = first_free((taken[i] | taken[j] | INNERS) & ALL)
        if free < COLOURS:
            taken[i] |= np.int64(1) << free
            taken[j] |= np.int64(1) << free
        colour[row[p]] = free


@inlined
def hash_of(a, b, image):
    """Of a pair, not negative; that of another image of the partner is another one."""
    x = mixed(np.uint64(a) * GOLDEN + np.uint64(image))
    return np.int64(mixed((x ^ np.uint64(b)) * GOLDEN) >> SHIFT)


@inlined
def mixed(x):
    """splitmix64: each bit of the number changes half of those of the result."""
    x = (x ^ (x >> THIRTY)) * FIRST
    x = (x ^ (x >> TWENTY_SEVEN)) * SECOND
    return x ^ (x >> THIRTY_ONE)
