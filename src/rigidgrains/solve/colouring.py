"""Colours: contacts of one colour share no body that can move, so they may be updated at the same time.

A body that moves and has many contacts, such as a piston, would need a colour for each of them. Its contacts form an
overflow list that is swept one after another. Walls that cannot be moved by a force block no colour.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from ..compiled import kernel
from ..contacts import ContactProblem
from .kernels import update

Index = NDArray[np.int32]

COLOURS = 63  # most colours, one bit each; a contact that finds none free goes to the overflow list
HUB = 32  # a body with more contacts is a hub
WORTH = 4096  # contacts of one colour below which threads cost more than they save

threaded = njit(cache=True, parallel=True, error_model="numpy")


@dataclass(frozen=True)
class Colouring:
    """Contacts sorted by colour, as stored within each.

    sequence : (c,) contacts
    start    : (colours + 1,) where each colour begins in the sequence
    serial   : (colours,) True for the overflow list, the last colour if there is one
    """

    sequence: Index
    start: NDArray[np.int64]
    serial: NDArray[np.bool_]

    @property
    def count(self) -> int:
        return len(self.serial)

    def arranged(self, colours: NDArray[np.int64]) -> Index:
        """The contacts in turn when the colours follow each other like this."""
        return np.concatenate([self.sequence[self.start[k] : self.start[k + 1]] for k in colours])


def find_colouring(problem: ContactProblem, among: Index) -> Colouring:
    """Greedy colours for some contacts: each takes the first that neither of its bodies has."""
    mobile = (problem.motion[:, 6:] != 0.0).any(axis=1)
    colour = np.empty(len(among), np.int64)
    _paint(among, problem.pairs, mobile, colour)
    used, colour = np.unique(colour, return_inverse=True)
    start = np.concatenate([[0], np.cumsum(np.bincount(colour, minlength=len(used)))])
    sequence = among[np.argsort(colour, kind="stable")]
    return Colouring(sequence, start, used == COLOURS)


@kernel
def _paint(among, pairs, mobile, colour):  # type: ignore[no-untyped-def]
    """Choose the colours; COLOURS stands for the overflow list."""
    contacts = np.zeros(len(mobile), np.int64)
    taken = np.zeros(len(mobile), np.int64)  # a bit for each colour
    for c in among:
        contacts[pairs[c, 0]] += 1
        contacts[pairs[c, 1]] += 1
    for k in range(len(among)):
        i, j = pairs[among[k], 0], pairs[among[k], 1]
        colour[k] = COLOURS
        if (mobile[i] and contacts[i] > HUB) or (mobile[j] and contacts[j] > HUB):
            continue
        blocked = (taken[i] if mobile[i] else 0) | (taken[j] if mobile[j] else 0)
        for free in range(COLOURS):
            if not blocked >> free & 1:
                colour[k] = free
                taken[i] |= np.int64(1) << free
                taken[j] |= np.int64(1) << free
                break


@threaded
def threaded_sweep(colours, sequence, start, serial, motion, pairs, geometry, forces, dt):  # type: ignore[no-untyped-def]
    """Colour after colour; the contacts of a large one shared among threads. The bits do not depend on how many."""
    rate = 1.0 / dt
    for k in colours:
        first, last = start[k], start[k + 1]
        if serial[k] or last - first < WORTH:
            for at in range(first, last):
                update(sequence[at], motion, pairs, geometry, forces, dt, rate)
        else:
            for at in prange(first, last):
                update(sequence[at], motion, pairs, geometry, forces, dt, rate)
