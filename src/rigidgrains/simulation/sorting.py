"""Large systems are numbered anew along a space-filling curve when they have mixed.

Grains that may touch then stand close to each other in memory, and so do their contacts. Places change within groups
alone, which are slices. The identity of a grain is its `id`, and frames are written in the order of ids (`by_id`), so
that files do not show it.

Whether it is time follows from bodies, lists and the number of the step alone: a resumed run sorts in the same steps.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..contacts.contacts import Contacts
from ..detect.images import OPPOSITE
from ..detect.morton import morton
from ..detect.neighbours import Neighbours, WallList
from ..detect.pairs import PairList
from ..detect.point_columns import swapped
from ..model.arrays import PER_CONTACT, grain_arrays
from ..model.bodies import Bodies
from ..runtime.compiled import allocating, kernel

Index = NDArray[np.int64]
Number = NDArray[np.int32]

LEAST = 30_000  # grains: fewer stay in the cache in any order
EVERY = 64  # steps: how often to look
WORTH = 2.0  # times as far in memory, on a geometric average, as neighbours need to be


def sort_grains(bodies: Bodies, neighbours: Neighbours, contacts: Contacts, steps: int) -> None:
    """Number the grains of a large system anew if that pays; steps : taken so far."""
    if bodies.count < LEAST or steps % EVERY != 1:
        return
    pairs, rows = neighbours.pairs, along_curve(bodies)
    if distance(pairs, np.arange(bodies.count)) > WORTH * distance(pairs, rows):
        renumber(bodies, neighbours, contacts, rows)


def renumber(bodies: Bodies, neighbours: Neighbours, contacts: Contacts, rows: Index) -> None:
    """Give grains new places within their groups; rows : (n,) old row of each.

    Only as a step begins, when contacts are there just to carry their forces over.
    """
    number = numbers(rows)
    renumber_contacts(contacts, number, bodies.dimension)
    renumber_lists(neighbours, number, rows)
    renumber_bodies(bodies, number, rows)


def by_id(bodies: Bodies) -> Index | None:
    """(n,) rows of the grains in the order of ids within each group; None if that is how they stand."""
    ends = borders(bodies)
    if all((np.diff(bodies.id[first:last]) > 0).all() for first, last in pairwise(ends)):
        return None
    return np.concatenate([first + np.argsort(bodies.id[first:last]) for first, last in pairwise(ends)])


def along_curve(bodies: Bodies) -> Index:
    """(n,) rows of the grains along a Morton curve within each group.

    Its cells do not move: one corner is at the origin, and edges are a power of two near the mean radius, whatever
    grains do. Cells 2^21 apart share a place, which does no harm.
    """
    edge = 2.0 ** math.floor(math.log2(bodies.mean_radius))
    place = morton((np.floor(bodies.position / edge) % 2.0**21).astype(np.uint64))
    ends = borders(bodies)
    return np.concatenate([first + np.argsort(place[first:last], kind="stable") for first, last in pairwise(ends)])


def borders(bodies: Bodies) -> list[int]:
    """Where groups begin and end: grains do not change places across."""
    return sorted({0, bodies.count, *(end for part in bodies.groups.values() for end in (part.start, part.stop))})


def numbers(rows: Index) -> Number:
    """(n,) new row of each old one."""
    number = np.empty(len(rows), np.int32)
    number[rows] = np.arange(len(rows))
    return number


def distance(pairs: PairList, rows: Index) -> float:
    """Geometric mean of |i - j| over all listed pairs, with grains in the order of rows."""
    return float(2.0 ** _mean_log(pairs.start, pairs.partner, numbers(rows)))


def renumber_contacts(contacts: Contacts, number: Number, dimension: int) -> None:
    """Give bodies their new numbers; rows stay where they are, turned round where grains have swapped."""
    contacts.renumbered()
    between = contacts.wall_rows[0].start if contacts.wall_rows else contacts.count
    turned = np.zeros(contacts.count, np.bool_)
    _renumber_contacts(contacts.pairs, between, number, turned)
    for column in PER_CONTACT.values():
        if column.turned is not None:
            rows = getattr(contacts, column.place)[: contacts.count]
            rows[turned, column.turned] = -rows[turned, column.turned]
    if contacts.feature is not None and contacts.lever is not None:
        contacts.feature[turned] = swapped(contacts.feature[turned], dimension)
        contacts.lever[turned] = np.nan  # of the other body; the next step knows it again


def renumber_lists(lists: Neighbours, number: Number, rows: Index) -> None:
    """The same pairs, each in the row of the lower number still."""
    old, start = lists.pairs, np.zeros(len(rows) + 1, np.int32)
    new = PairList(start, np.empty_like(old.partner), np.empty_like(old.last), np.empty_like(old.image))
    _renumber_pairs(
        old.start, old.partner, old.last, old.image, number, OPPOSITE, new.start, new.partner, new.last, new.image
    )
    lists.pairs = new
    lists.skin, lists.reference = lists.skin[rows], lists.reference[rows]
    lists.frames = replace(lists.frames, block=lists.frames.block[rows])
    lists.walls = [_renumber_wall(wall, number) for wall in lists.walls]


def renumber_bodies(bodies: Bodies, number: Number, rows: Index) -> None:
    """Rows of grains to their new places; springs that pull some of a group follow them."""
    for column in grain_arrays():
        array = getattr(bodies, column.name)
        if column.walls:
            array[: bodies.count] = array[rows]
        elif len(array):
            setattr(bodies, column.name, array[rows])
    for spring in bodies.springs:
        if spring.index is not None:
            first = bodies.groups[spring.group].start
            spring.index = (number[first + np.array(spring.index)] - first).tolist()


def _renumber_wall(wall: WallList, number: Number) -> WallList:
    grains = number[wall.grains]
    order = np.argsort(grains)
    return WallList(grains[order], wall.last[order], wall.skin, wall.travel, wall.point)


@kernel
def _mean_log(start, partner, number):
    """Mean of log2 |i - j|."""
    total = 0.0
    for i in range(start.size - 1):
        for k in range(start[i], start[i + 1]):
            total += np.log2(abs(number[i] - number[partner[k]]))
    return total / max(partner.size, 1)


@kernel
def _renumber_contacts(pairs, between, number, turned):
    """Mark pairs that are turned round: what acts on body 1 there acts on the other."""
    for c in range(len(pairs)):
        i, j = pairs[c, 0], pairs[c, 1]
        pairs[c, 0] = number[i]
        if c >= between:
            continue
        pairs[c, 1] = number[j]
        if number[i] > number[j]:
            pairs[c, 0], pairs[c, 1] = number[j], number[i]
            turned[c] = True


@allocating
def _renumber_pairs(start, partner, last, image, number, opposite, new_start, new_partner, new_last, new_image):
    """Pairs row by row under new numbers; the image of the other grain is the opposite one."""
    n = start.size - 1
    for i in range(n):
        for k in range(start[i], start[i + 1]):
            new_start[min(number[i], number[partner[k]]) + 1] += 1
    for i in range(n):
        new_start[i + 1] += new_start[i]
    place = new_start[:-1].copy()
    for i in range(n):
        for k in range(start[i], start[i + 1]):
            one, other = number[i], number[partner[k]]
            row = min(one, other)
            to = place[row]
            place[row] += 1
            new_partner[to] = max(one, other)
            new_last[to] = last[k]
            new_image[to] = image[k] if one < other else opposite[image[k]]
