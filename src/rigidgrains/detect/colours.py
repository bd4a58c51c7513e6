"""Colours: contacts of one colour share no body that can move, so they may be updated at the same time.

Listed pairs are painted when a list is made, and candidates inherit their colour: contact rows stand colour after
colour, as a sweep by colours visits them. A wall that no force can move lists each grain once, so that its contacts are
a colour of their own. Pistons, and grains with very many neighbours, would need a colour for each contact: theirs are
swept one after another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from ..compiled import kernel

Index = NDArray[np.int32]

HUB = 32  # a body with more contacts is a hub; two others block at most 2 (HUB - 1) colours
COLOURS = 63  # a bit for each; what is left over goes into the last list


@dataclass(frozen=True)
class Colouring:
    """Contacts sorted by colour, as stored within each.

    sequence : (c,) contacts
    start    : (colours + 1,) where each colour begins in the sequence
    alone    : (colours,) colours that one thread has to sweep alone, contact by contact
    """

    sequence: Index
    start: NDArray[np.int64]
    alone: NDArray[np.bool_]

    @property
    def count(self) -> int:
        return len(self.alone)

    @classmethod
    def of_rows(cls, rows: Index, sizes: NDArray[np.int64], alone: NDArray[np.bool_]) -> Colouring:
        """Rows 0, 1, 2, ... that stand colour after colour; empty ones are left out."""
        used = sizes > 0
        return cls(rows, np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes[used])]), alone[used])

    def of_some(self, rows: Index) -> Colouring:
        """The colours of some of the rows, given in rising order, where rows stand colour after colour."""
        sizes = np.diff(np.searchsorted(rows, self.start))
        used = sizes > 0
        return Colouring(rows, np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes[used])]), self.alone[used])

    def arranged(self, colours: NDArray[np.int64]) -> Index:
        """The contacts in turn when the colours follow each other like this."""
        return np.concatenate([self.sequence[self.start[k] : self.start[k + 1]] for k in colours])


@kernel
def paint_list(start, partner, colour, met, taken):  # type: ignore[no-untyped-def]
    """Each pair of a list takes the first colour that neither of its grains has.

    met, taken : (n,) pairs of each grain, and their colours as bits
    """
    n = start.size - 1
    met[:], taken[:] = 0, 0
    for i in range(n):
        met[i] += start[i + 1] - start[i]
        for k in range(start[i], start[i + 1]):
            met[partner[k]] += 1
    for i in range(n):
        for k in range(start[i], start[i + 1]):
            j = partner[k]
            if met[i] > HUB or met[j] > HUB:
                colour[k] = COLOURS
            else:
                free: Any = first_free(taken[i] | taken[j])  # type: ignore[call-arg]
                taken[i] |= np.int64(1) << free
                taken[j] |= np.int64(1) << free
                colour[k] = free


@kernel
def paint_contacts(among, pairs, movable, colour):  # type: ignore[no-untyped-def]
    """The same for some contacts, walls included; returns the size of each colour. The last one is swept alone."""
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
            free = first_free(blocked)  # type: ignore[call-arg]
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
def sort_by_colour(among, colour, place, sequence):  # type: ignore[no-untyped-def]
    """Contacts by colour, as they come within each; place is where the next of a colour goes."""
    for k in range(len(among)):
        sequence[place[colour[k]]] = among[k]
        place[colour[k]] += 1
