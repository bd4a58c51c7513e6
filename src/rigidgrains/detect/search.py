"""The search for contact points among listed pairs of placed shapes, on all threads."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..model.bodies import Bodies
from ..runtime.compiled import kernel
from ..runtime.threads import in_parts, spread
from ..shapes.catalogue import Catalogue
from ..shapes.core import FLAT
from ..shapes.placed import Workspace, make_workspace
from ..shapes.table import ShapeTable
from .flat_points import find_flat_points, place_sides
from .point_columns import FOUND
from .solid_points import find_solid_points, place_centres

Array = NDArray[np.float64]
Index = NDArray[np.int32]
_idle: WeakKeyDictionary[Catalogue, list[Workspace]] = WeakKeyDictionary()  # of scenes that are still there
Tables = tuple[Index, NDArray[np.int8], Array, NDArray[np.int64]]  # pairs, images, found, features

PART = 256  # grains in a part of the search
FLAT_POINTS, SOLID_POINTS = 2, 4  # points of a pair to expect


@dataclass
class Placed:
    """Shapes in space.

    table : of their parts; shape : (n,) number of each in the table; scale : (n,) m; position : (n, 3) m
    orientation : (n,) rad in 2D, (n, 4) in 3D; shifts : (codes, 3) m, of periodic images
    idle : workspaces for these parts, kept for the next search
    """

    dimension: int
    table: ShapeTable
    shape: Index
    scale: Array
    position: Array
    orientation: Array
    shifts: Array
    idle: list[Workspace] = field(default_factory=list)

    @classmethod
    def of(cls, bodies: Bodies) -> Placed:
        """The grains of a scene as they are."""
        assert bodies.catalogue is not None
        return cls(
            bodies.dimension, bodies.catalogue.table, bodies.shape, bodies.radius, bodies.position, bodies.orientation,
            bodies.shifts, _idle.setdefault(bodies.catalogue, []),
        )  # fmt: skip

    def borrow(self) -> Workspace:
        """Room for two parts, one that nobody uses; it is to be put back among these."""
        try:
            return self.idle.pop()
        except IndexError:
            return make_workspace(self.table)

    def moved(self, position: Array, orientation: Array) -> Placed:
        """The same at other places."""
        return replace(self, position=position, orientation=orientation)


@dataclass
class Reach:
    """How far the search looks: margin + ahead (max A + turning of both).

    speed : (n,) m/s, A, of each grain relative to its neighbours; turn : (n,) m/s, of its farthest point by turning
    margin : m; ahead : s
    faces : 1 where faces are looked at that may lie flat after the step, 0 for those alone that do now (solids)
    """

    speed: Array
    turn: Array
    margin: float
    ahead: float
    faces: float = 1.0

    @classmethod
    def none(cls, n: int) -> Reach:
        """Overlaps alone."""
        return cls(np.zeros(n), np.zeros(n), 0.0, 0.0)

    def of(self, grains: Index) -> Array:
        """(m,) m, of grains near something that does not turn."""
        return self.margin + self.ahead * (self.speed[grains] + self.turn[grains])


def search(placed: Placed, start: Index, partner: Index, image: NDArray[np.int8], reach: Reach) -> Tables:
    """Points of listed pairs within reach, in list order; those of body i stand at start[i]:start[i + 1]."""
    table, shape, scale, flat = placed.table, placed.shape, placed.scale, placed.dimension == FLAT
    first = np.empty(len(shape) + 1, np.int64)
    rows = number_rows(flat, table.part_start, table.vertex_start, shape, first)
    ready = np.empty((rows, 4 if flat else 3))
    place = place_sides if flat else place_centres
    spread(place, len(shape), table, shape, scale, placed.orientation, first, ready, weight=16)
    what: tuple[Any, ...] = (
        start, partner, image, placed.shifts, placed.position, scale, shape, reach.speed, reach.turn, reach.margin,
        reach.ahead, reach.faces, table,
    )  # fmt: skip

    def find(begin: int, end: int) -> Tables:
        work = None if flat else placed.borrow()
        own: tuple[Any, ...] = (ready, first) if flat else (placed.orientation, ready, first, work)
        room = (FLAT_POINTS if flat else SOLID_POINTS) * int(start[end] - start[begin]) + 8
        while True:
            tables = room_for(room)
            count = (find_flat_points if flat else find_solid_points)(begin, end, *what, *own, *tables)
            if count <= room:
                break
            room = count
        if work is not None:
            placed.idle.append(work)
        return tables[0][:count], tables[1][:count], tables[2][:count], tables[3][:count]

    n = len(start) - 1
    found = in_parts(find, n, part=PART) if n > PART else [find(0, n)]
    if len(found) == 1:
        return found[0]
    pairs, images, places, features = zip(*found)
    return np.concatenate(pairs), np.concatenate(images), np.concatenate(places), np.concatenate(features)


def room_for(points: int) -> Tables:
    """Tables of so many points, not yet filled."""
    pairs, images = np.empty((points, 2), np.int32), np.empty(points, np.int8)
    return pairs, images, np.empty((points, FOUND)), np.empty(points, np.int64)


@kernel
def number_rows(flat, part_start, vertex_start, shape, first):
    """Where the rows of each grain begin, and how many there are: one for each part, in 2D and for each vertex."""
    row = 0
    for i in range(len(shape)):
        first[i] = row
        begin, end = part_start[shape[i]], part_start[shape[i] + 1]
        row += end - begin + (vertex_start[end] - vertex_start[begin] if flat else 0)
    first[len(shape)] = row
    return row


def matched(now: tuple[NDArray[np.int64], ...], values: Array, asked: tuple[NDArray[np.int64], ...]) -> Array:
    """(p,) the value of each row that is asked for, by its keys; 0 where there is none.

    now, asked : columns of keys; no row of `now` is like another
    """
    count = len(values)
    both = [np.concatenate(columns) for columns in zip(now, asked)]
    order = np.lexsort(both)
    change = np.zeros(len(order), np.bool_)
    for column in both:
        ranked = column[order]
        change[1:] |= ranked[1:] != ranked[:-1]
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(change)
    found = np.zeros(int(group.max(initial=-1)) + 1)
    found[group[:count]] = values
    return np.asarray(found[group[count:]])
