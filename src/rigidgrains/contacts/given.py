"""Forces from a file as those that the first step carries over: each goes to the pair, or the wall, it was of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..detect.neighbours import Neighbours
from ..model.bodies import Bodies
from ..model.cell import FURTHEST, IMAGES, encode
from ..model.given import GivenForces
from .contacts import Contacts

Index = NDArray[np.int64]

WHOLE = 1e-6  # of a vector of the cell: an image that fits the cell


def take_given(bodies: Bodies, neighbours: Neighbours, contacts: Contacts) -> None:
    """Give the lists that were just made the forces that the grains came with; bodies have them no more then."""
    given, bodies.given = bodies.given, None
    if given is None or not len(given.grain):
        return
    first, second, image, force, some = _rows(given, bodies)
    if bodies.catalogue is not None:
        some &= (first < second) & (len(given.feature) == len(first))
        bodies_of = np.stack([first, second], axis=1)[some].astype(np.int32)
        points = len(given.feature)
        contacts.begin_with(force[some], bodies_of, given.feature[some[:points]], given.lever[some[:points]])
        return
    contacts.begin_with(force)
    rows, n = np.flatnonzero(some), bodies.count
    pairs = neighbours.pairs
    owner = np.repeat(np.arange(n), np.diff(pairs.start))
    listed = _keys(owner, pairs.partner, pairs.image, n)
    order = np.argsort(listed, kind="stable")
    between = rows[second[rows] < n]
    wanted = _keys(first[between], second[between], encode(image[between].astype(np.int32)), n)
    place = np.minimum(np.searchsorted(listed, wanted, sorter=order), len(listed) - 1) if len(listed) else wanted[:0]
    found = listed[order[place]] == wanted if len(listed) else np.zeros(0, bool)
    pairs.last[order[place[found]]] = between[found] if len(listed) else []
    row = np.full(n, -1, np.int32)
    for w, near in enumerate(neighbours.walls):
        touching = rows[second[rows] == n + w]
        row[first[touching]] = touching
        near.last[:] = row[near.grains]
        row[first[touching]] = -1


def _rows(given: GivenForces, bodies: Bodies) -> tuple[Index, Index, Index, NDArray[np.float64], NDArray[np.bool_]]:
    """Bodies 0 and 1 of each contact, the lower grain first, image, force, and whether all of it is there."""
    n, force = bodies.count, given.force.copy()
    first, second = _grains(given.grain[:, 0], bodies), _grains(given.grain[:, 1], bodies)
    names = [wall.name for wall in bodies.walls]
    number = np.array([n + names.index(name) if name in names else -1 for name in given.walls] + [-1], np.int64)
    at_wall = given.grain[:, 1] < 0
    second[at_wall] = number[np.minimum(-1 - given.grain[at_wall, 1], len(given.walls))]
    some = (first >= 0) & (second >= 0)
    image = np.zeros((len(first), 3), np.int64)
    between = np.flatnonzero(some & ~at_wall)
    if bodies.cell is not None and len(between):
        i, j = first[between], second[between]
        # where the image is, seen from where both grains are now, and in the vectors of now
        away = given.image[between] @ given.vectors @ np.linalg.inv(bodies.cell.vectors)
        away = away + bodies.image[j] - bodies.image[i]
        image[between] = np.rint(away).astype(np.int64)
        fits = (np.abs(away - image[between]) < WHOLE).all(axis=1) & (np.abs(image[between]) <= FURTHEST).all(axis=1)
        some[between[~fits]] = False
        image[between[~fits]] = 0
    elif len(given.image):
        some &= ~given.image.any(axis=1)
    turned = some & ~at_wall & (first > second)
    first[turned], second[turned] = second[turned], first[turned]
    image[turned] *= -1
    if bodies.catalogue is not None:
        some &= ~turned  # points are named by their bodies in order
    force[turned, 1:] *= -1.0
    return first, second, image, force, some


def _grains(ids: Index, bodies: Bodies) -> Index:
    """(c,) rows of grains by id, -1 of those that are not there."""
    order = np.argsort(bodies.id, kind="stable")
    place = np.minimum(np.searchsorted(bodies.id, ids, sorter=order), bodies.count - 1)
    return np.where(bodies.id[order[place]] == ids, order[place], -1)


def _keys(first: NDArray[np.integer], second: NDArray[np.integer], image: NDArray[np.integer], n: int) -> Index:
    return (first.astype(np.int64) * n + second) * len(IMAGES) + image.astype(np.int64)
