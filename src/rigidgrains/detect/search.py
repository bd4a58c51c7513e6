"""The search for contact points among listed pairs of placed shapes, on all threads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.bodies import Bodies
from ..runtime.threads import in_parts
from ..shapes.core import FLAT
from ..shapes.placed import make_workspace
from ..shapes.table import ShapeTable
from .flat_points import find_flat_points, place_sides
from .point_columns import FOUND
from .solid_points import find_solid_points, place_centres

Array = NDArray[np.float64]
Index = NDArray[np.int32]
Tables = tuple[Index, NDArray[np.int8], Array, NDArray[np.int64]]  # pairs, images, found, features

PART = 256  # grains in a part of the search
POINTS = 2  # points of a pair to expect


@dataclass(frozen=True)
class Placed:
    """Shapes in space.

    table : of their parts; shape : (n,) number of each in the table; scale : (n,) m; position : (n, 3) m
    orientation : (n,) rad in 2D, (n, 4) in 3D; shifts : (codes, 3) m, of periodic images
    """

    dimension: int
    table: ShapeTable
    shape: Index
    scale: Array
    position: Array
    orientation: Array
    shifts: Array

    @classmethod
    def of(cls, bodies: Bodies) -> Placed:
        """The grains of a scene as they are."""
        assert bodies.catalogue is not None
        return cls(
            bodies.dimension, bodies.catalogue.table, bodies.shape, bodies.radius, bodies.position, bodies.orientation,
            bodies.shifts,
        )  # fmt: skip

    def moved(self, position: Array, orientation: Array) -> Placed:
        """The same at other places."""
        return replace(self, position=position, orientation=orientation)


@dataclass
class Reach:
    """How far the search looks: margin + ahead (max A + turning of both).

    speed : (n,) m/s, A, of each grain relative to its neighbours; turn : (n,) m/s, of its farthest point by turning
    margin : m; ahead : s
    """

    speed: Array
    turn: Array
    margin: float
    ahead: float

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
    parts = np.diff(table.part_start)
    rows = np.diff(table.vertex_start[table.part_start]) + parts if flat else parts
    first = np.concatenate([[0], np.cumsum(rows[shape])])
    ready = np.empty((first[-1], 4 if flat else 3))
    place = place_sides if flat else place_centres
    in_parts(lambda b, e: place(b, e, table, shape, scale, placed.orientation, first, ready), len(shape), weight=16)
    what: tuple[Any, ...] = (
        start, partner, image, placed.shifts, placed.position, scale, shape, reach.speed, reach.turn, reach.margin,
        reach.ahead, table,
    )  # fmt: skip

    def find(begin: int, end: int) -> Tables:
        own: tuple[Any, ...] = (ready, first) if flat else (placed.orientation, ready, first, make_workspace(table))
        room = POINTS * int(start[end] - start[begin]) + 8
        while True:
            tables = (
                np.empty((room, 2), np.int32),
                np.empty(room, np.int8),
                np.empty((room, FOUND)),
                np.empty(room, np.int64),
            )
            count = (find_flat_points if flat else find_solid_points)(begin, end, *what, *own, *tables)
            if count <= room:
                return tables[0][:count], tables[1][:count], tables[2][:count], tables[3][:count]
            room = count

    n = len(start) - 1
    found = in_parts(find, n, part=PART) if n > PART else [find(0, n)]
    if len(found) == 1:
        return found[0]
    pairs, images, places, features = zip(*found)
    return np.concatenate(pairs), np.concatenate(images), np.concatenate(places), np.concatenate(features)


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
