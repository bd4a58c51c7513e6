"""Graph colouring of contact points: pairs are painted, and the points of a pair have colours side by side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiled import allocating, kernel
from .colours import COLOURS, HUB, first_free
from .point_columns import FOUND
from .search import Tables, room_for


@allocating
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


def by_colour(bodies: int, points: Tables) -> tuple[Tables, NDArray[np.int64], int]:
    """The points in the order of their colours, the size of each colour, and of how many there is one for each pair's.

    Colour k of a pair and number m of a point within it make colour k * numbers + m.
    """
    pairs, images, *_ = points
    count = len(pairs)
    colour, number = np.empty(count, np.int64), np.empty(count, np.int64)
    numbers = int(paint_points(bodies, pairs, images, colour, number)) + 1
    sizes, place = np.zeros((COLOURS + 1) * numbers, np.int64), np.empty((COLOURS + 1) * numbers, np.int64)
    ordered = room_for(count)
    sort_points(colour, number, numbers, sizes, place, *points, *ordered)
    return ordered, sizes, numbers


@kernel
def sort_points(
    colour, number, numbers, sizes, place, pairs, images, found, features, to_pairs, to_images, to_found, to_features
):  # fmt: skip
    """Copy the points colour after colour, in list order within each; sizes : takes how many have each colour."""
    for p in range(len(pairs)):
        sizes[colour[p] * numbers + number[p]] += 1
    at = 0
    for k in range(len(sizes)):
        place[k] = at
        at += sizes[k]
    for p in range(len(pairs)):
        own = colour[p] * numbers + number[p]
        c = place[own]
        place[own] += 1
        to_images[c], to_features[c] = images[p], features[p]
        for a in range(2):
            to_pairs[c, a] = pairs[p, a]
        for a in range(FOUND):
            to_found[c, a] = found[p, a]
