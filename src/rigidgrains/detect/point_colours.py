"""Graph colouring of contact points: pairs are painted, and the points of a pair have colours side by side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiled import kernel
from .colours import COLOURS, HUB, first_free

Index = NDArray[np.int32]


@kernel
def paint_points(bodies, pairs, images, colour, number):
    """The colour of the pair of each point, see colours.py, and the point's number within its pair.

    Points of a pair follow each other. Returns the largest number.
    """
    met, taken, most = np.zeros(bodies, np.int32), np.zeros(bodies, np.int64), 0
    for p in range(len(pairs)):
        again = (
            p > 0 and pairs[p, 0] == pairs[p - 1, 0] and pairs[p, 1] == pairs[p - 1, 1] and images[p] == images[p - 1]
        )
        number[p] = number[p - 1] + 1 if again else 0
        most = max(most, number[p])
        if not again:
            met[pairs[p, 0]] += 1
            met[pairs[p, 1]] += 1
    for p in range(len(pairs)):
        i, j = pairs[p, 0], pairs[p, 1]
        if number[p] > 0:
            colour[p] = colour[p - 1]
        elif met[i] > HUB or met[j] > HUB:
            colour[p] = COLOURS
        else:
            free = first_free(taken[i] | taken[j])
            if free < COLOURS:
                taken[i] |= np.int64(1) << free
                taken[j] |= np.int64(1) << free
            colour[p] = min(free, COLOURS)
    return most


def by_colour(bodies: int, pairs: Index, images: NDArray[np.int8]) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """The points in the order of their colours, the size of each colour, and of how many there is one for each pair's.

    Colour k of a pair and number m of a point within it make colour k * numbers + m.
    """
    colour, number = np.empty(len(pairs), np.int64), np.empty(len(pairs), np.int64)
    numbers = int(paint_points(bodies, pairs, images, colour, number)) + 1
    colour *= numbers
    colour += number
    return np.argsort(colour, kind="stable"), np.bincount(colour, minlength=(COLOURS + 1) * numbers), numbers


def number_within(owner: Index) -> NDArray[np.int64]:
    """(m,) 0, 1, 2, ... for equal numbers that follow each other."""
    rows = np.arange(len(owner))
    new = np.ones(len(owner), bool)
    new[1:] = owner[1:] != owner[:-1]
    return rows - np.maximum.accumulate(np.where(new, rows, 0))
