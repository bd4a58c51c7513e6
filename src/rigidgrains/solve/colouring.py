"""Colours: contacts of one colour share no body that can move, so they may be updated at the same time.

A body that moves and has many contacts, such as a piston, would need a colour for each of them. Its contacts form an
overflow list that is swept one after another. Walls that no force can move block no colour.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..barrier import meet, share
from ..compiled import kernel
from ..contacts import ContactProblem
from .kernels import update

Index = NDArray[np.int32]

HUB = 32  # a body with more contacts is a hub; two others block at most 2 (HUB - 1) colours
COLOURS = 63  # a bit for each; what is left over is the overflow list
WORTH = 8192  # contacts below which threads cost more than they save: 0.3 ms of work


@dataclass(frozen=True)
class Colouring:
    """Contacts sorted by colour, as stored within each.

    sequence : (c,) contacts
    start    : (colours + 1,) where each colour begins in the sequence
    overflow : the colour that must be swept one after another, -1 if there is none
    """

    sequence: Index
    start: NDArray[np.int64]
    overflow: int

    @property
    def count(self) -> int:
        return len(self.start) - 1

    def arranged(self, colours: NDArray[np.int64]) -> Index:
        """The contacts in turn when the colours follow each other like this."""
        return np.concatenate([self.sequence[self.start[k] : self.start[k + 1]] for k in colours])


def find_colouring(problem: ContactProblem, among: Index) -> Colouring:
    """Greedy colours for some contacts: each takes the first that neither of its bodies has."""
    movable = (problem.motion[:, 6:] != 0.0).any(axis=1)
    colour, sequence = np.empty(len(among), np.int64), np.empty(len(among), np.int32)
    size = _paint(among, problem.pairs, movable, colour)
    start = np.concatenate([[0], np.cumsum(size)])
    _sort(among, colour, start[:-1].copy(), sequence)
    used = np.flatnonzero(size)
    overflow = len(used) - 1 if size[COLOURS] else -1
    return Colouring(sequence, np.append(start[used], len(among)), overflow)


@kernel
def coloured_sweep(  # type: ignore[no-untyped-def]
    thread, threads, meeting, colours, sequence, start, overflow, motion, pairs, geometry, forces, dt
):
    """What one thread has to do: its share of colour after colour. The bits do not depend on how many threads share."""
    rate = 1.0 / dt
    for k in colours:
        first, last = shared_colour(k, start, overflow, thread, threads)
        for at in range(first, last):
            update(sequence[at], motion, pairs, geometry, forces, dt, rate)
        meet(meeting, threads)


@kernel
def shared_colour(k, start, overflow, thread, threads):  # type: ignore[no-untyped-def]
    """The share of a thread in colour k; the overflow list is for one thread alone."""
    if k != overflow:
        return share(start[k], start[k + 1], thread, threads)
    return start[k], start[k + 1] if thread == 0 else start[k]


@kernel
def _paint(among, pairs, movable, colour):  # type: ignore[no-untyped-def]
    """Choose the colours; returns the size of each. The last one is the overflow list."""
    contacts = np.zeros(len(movable), np.int64)
    taken = np.zeros(len(movable), np.int64)
    size = np.zeros(COLOURS + 1, np.int64)
    for c in among:
        contacts[pairs[c, 0]] += 1
        contacts[pairs[c, 1]] += 1
    for k in range(len(among)):
        i, j = pairs[among[k], 0], pairs[among[k], 1]
        free = 0
        if (movable[i] and contacts[i] > HUB) or (movable[j] and contacts[j] > HUB):
            free = COLOURS
        else:
            blocked = (taken[i] if movable[i] else 0) | (taken[j] if movable[j] else 0)
            while blocked >> free & 1:
                free += 1
            taken[i] |= np.int64(1) << free
            taken[j] |= np.int64(1) << free
        colour[k] = free
        size[free] += 1
    return size


@kernel
def _sort(among, colour, place, sequence):  # type: ignore[no-untyped-def]
    """Contacts by colour, as they come within each; place is where the next of a colour goes."""
    for k in range(len(among)):
        sequence[place[colour[k]]] = among[k]
        place[colour[k]] += 1
