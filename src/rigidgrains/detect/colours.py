"""Graph colouring: contacts of one colour share no body that can move, so they may be updated at the same time.

Listed pairs are painted when a list is made, see paint.py, and candidates inherit their colour: contact rows stand
colour after colour, as a sweep by colours visits them. A wall that no force can move lists each grain once, so that its
contacts are a colour of their own. Pistons, and grains with very many neighbours, would need a colour for each contact:
theirs are swept one after another.

Many grains do not fit into the cache, and each colour would fetch them all anew. So they are cut into tiles, grains
that follow each other in memory, and pairs within a tile have colours of their own. Those of different tiles share no
grain: tile after tile goes through all its colours while its grains are at hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numpy.random import Generator
from numpy.typing import NDArray

from ..runtime.barrier import intrinsic
from ..runtime.compiled import allocating, kernel

Index = NDArray[np.int32]

HUB = 32  # a body with more contacts is a hub; two others block at most 2 (HUB - 1) colours
COLOURS = 63  # a bit for each; what is left over goes into the last list
ALL = 2**63 - 1  # their bits
INNER = 31  # the first of them, for pairs within a tile if there are tiles
MANY = 150_000  # grains times tables of their forces and velocities; if there are more, the cache is full: tiles
NO_TILES = np.zeros((0, 0), np.int64)


@dataclass
class Colouring:
    """Contacts sorted by colour, as stored within each.

    sequence : (c,) contacts
    start    : (colours + 1,) where each colour begins in the sequence
    alone    : (colours,) colours that one thread has to sweep alone, contact by contact
    inner    : (colours,) colours of contacts within tiles
    tiles    : (tiles + 1, colours) where each tile begins in a colour, for inner ones
    tile     : grains in a tile
    """

    sequence: Index
    start: NDArray[np.int64]
    alone: NDArray[np.bool_]
    inner: NDArray[np.bool_]
    tiles: NDArray[np.int64]
    tile: int = 0

    @property
    def count(self) -> int:
        return len(self.alone)

    @classmethod
    def of(
        cls,
        sequence: Index,
        sizes: NDArray[np.int64],
        alone: NDArray[np.bool_],
        tiles: NDArray[np.int64] = NO_TILES,
        tile: int = 0,
    ) -> Colouring:
        """Without colours that have no contact; sizes, alone : of all colours.

        tiles : of the first colours, those of pairs, if there are tiles
        """
        most = len(alone)
        (used, begins), (apart, within) = np.empty((2, most + 1), np.int64), np.empty((2, most), np.bool_)
        count = with_contacts(sizes, alone, INNER if len(tiles) else 0, used, begins, apart, within)
        used, begins, alone, inner = used[:count], begins[: count + 1], apart[:count], within[:count]
        if not len(tiles):
            return cls(sequence, begins, alone, inner, np.zeros((0, count), np.int64), tile)
        table = np.zeros((len(tiles), most), np.int64)
        table[:, : tiles.shape[1]] = tiles
        return cls(sequence, begins, alone, inner, np.ascontiguousarray(table[:, used]), tile)

    def of_some(self, rows: Index) -> Colouring:
        """The colours of some of the rows, given in rising order, where rows stand colour after colour."""
        start, tiles = np.searchsorted(rows, self.start), np.searchsorted(rows, self.tiles)
        used = np.diff(start) > 0
        of_tiles = np.ascontiguousarray(tiles[:, used])
        return Colouring(
            rows, np.append(start[:-1][used], start[-1]), self.alone[used], self.inner[used], of_tiles, self.tile
        )

    def shuffled(self, rng: Generator, sweeps: int = 1) -> NDArray[np.int64]:
        """The colours of one sweep after another, each time in random order, those within tiles first."""
        if sweeps == 1:  # the same draw, at a quarter of the time
            colours = rng.permutation(self.count)[None, :]
        else:
            colours = rng.permuted(np.broadcast_to(np.arange(self.count), (sweeps, self.count)), axis=1)
        if len(self.tiles):
            colours = np.take_along_axis(colours, np.argsort(~self.inner[colours], axis=1, kind="stable"), axis=1)
        return colours.ravel()

    def arranged(self, colours: NDArray[np.int64]) -> Index:
        """The contacts in turn when the colours follow each other like this."""
        return np.concatenate([self.sequence[self.start[k] : self.start[k + 1]] for k in colours])


@kernel
def with_contacts(sizes, alone, inner, used, begins, apart, within):
    """The colours that have contacts; where these begin, and end; whether each is swept alone, or within tiles.

    Returns how many there are.
    """
    at, row = 0, 0
    for k in range(alone.size):
        if sizes[k] > 0:
            used[at], begins[at], apart[at], within[at] = k, row, alone[k], k < inner and not alone[k]
            at, row = at + 1, row + sizes[k]
    begins[at] = row
    return at


@allocating
def paint_contacts(among, pairs, movable, colour):
    """Each contact takes the first colour that neither of its bodies that move has; returns the size of each colour.

    The last colour is swept alone.
    """
    contacts = np.zeros(len(movable), np.int64)
    taken = np.zeros(len(movable), np.int64)
    size = np.zeros(COLOURS + 1, np.int64)
    for c in among:
        contacts[pairs[c, 0]] += 1
        contacts[pairs[c, 1]] += 1
    for k in range(len(among)):
        i, j = pairs[among[k], 0], pairs[among[k], 1]
        if (movable[i] and contacts[i] > HUB) or (movable[j] and contacts[j] > HUB):
            free = COLOURS
        else:
            blocked = (taken[i] if movable[i] else 0) | (taken[j] if movable[j] else 0)
            free = first_free(blocked)
            taken[i] |= np.int64(1) << free
            taken[j] |= np.int64(1) << free
        colour[k] = free
        size[free] += 1
    return size


@intrinsic
def first_free(typing: Any, blocked: Any) -> Any:
    """The lowest bit that is not set, by one instruction: a loop over bits made painting 1.8 times as slow."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(builder.not_(args[0]), ir.IntType(1)(1))

    return types.int64(types.int64), generate


@kernel
def sort_by_colour(among, colour, place, sequence):
    """Contacts by colour, as they come within each; place is where the next of a colour goes."""
    for k in range(len(among)):
        sequence[place[colour[k]]] = among[k]
        place[colour[k]] += 1
