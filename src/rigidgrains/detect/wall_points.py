"""Narrow phase of grains of any shape at walls: the rounded vertices of a convex part are what a wall can touch.

That is exact where grains live in a convex region, at planes and inside of endless drums, and of clumps everywhere. A
wall that juts out meets sides and faces as well, see facet_points.py. The points of all walls stand one after another
in the same arrays, so that a step with many walls makes as many calls as one with a single wall.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..model.bodies import Bodies
from ..model.columns import V
from ..model.turning import quaternions, turned_vectors
from .neighbours import Neighbours
from .point_columns import AT, AT_GAP, AT_LEVER, AT_N, AT_RADIUS, AT_SINK, AT_V
from .search import Reach
from .wall_point_loops import (
    choose_points,
    count_vertices,
    find_towards,
    number_points,
    place_vertices,
    sort_points,
)

Array = NDArray[np.float64]
Index = NDArray[np.int32]


@dataclass
class Balls:
    """Rounded vertices of some grains.

    first : (grains,) where those of each begin; owner : (m,) grain; number : (m,) among the vertices of its grain
    place : (m, 3) m; lever : (m, 3) m, from the centre of the grain; radius : (m,) m, the rounding
    """

    first: NDArray[np.int64]
    owner: Index
    number: NDArray[np.int64]
    place: Array
    lever: Array
    radius: Array


@dataclass
class WallPoints:
    """Where grains may touch walls, wall after wall.

    start : (walls + 1,) where the points of each wall begin
    owner : (m,) grain; feature : (m,) vertex of it
    rows  : (m, 12) see point_columns.py: lever from the centre of the grain to the vertex, rounding around that, gap,
            normal towards the wall, velocity of the surface, and sink <= 0, how much a point would sink into the wall
            by gliding straight along it
    """

    start: NDArray[np.int64]
    owner: Index
    feature: NDArray[np.int64]
    rows: Array

    @classmethod
    def room(cls, walls: int, count: int) -> WallPoints:
        """Not yet filled."""
        start, owner, feature = np.zeros(walls + 1, np.int64), np.empty(count, np.int32), np.empty(count, np.int64)
        return cls(start, owner, feature, np.empty((count, AT)))

    @property
    def gap(self) -> Array:
        """(m,) m."""
        return self.rows[:, AT_GAP]

    @property
    def normal(self) -> Array:
        """(m, 3)."""
        return self.rows[:, AT_N]

    def of(self, w: int) -> WallPoints:
        """Those of one wall, views."""
        some = slice(int(self.start[w]), int(self.start[w + 1]))
        return WallPoints(np.array([0, some.stop - some.start]), self.owner[some], self.feature[some], self.rows[some])

    def towards(self, bodies: Bodies, spin: Array) -> Array:
        """(m,) m/s, speed of each point towards the surface."""
        speed = np.empty(len(self.owner))
        find_towards(self.owner, self.rows, bodies.motion, spin, speed)
        return speed

    def joined(self, others: Sequence[WallPoints | None]) -> WallPoints:
        """These, with others of one wall each behind those of the same wall."""
        if all(other is None for other in others):
            return self
        every = [part for w, other in enumerate(others) for part in (self.of(w), other) if part is not None]
        start = self.start.copy()
        start[1:] += np.cumsum([0 if other is None else len(other.owner) for other in others])
        return WallPoints(
            start,
            np.concatenate([part.owner for part in every]),
            np.concatenate([part.feature for part in every]),
            np.concatenate([part.rows for part in every]),
        )


def balls_of(bodies: Bodies, grains: Index) -> Balls:
    """The rounded vertices of some grains, grain after grain; a grain may be asked for more than once."""
    place = np.zeros((1, 3))
    some = _vertices(bodies, np.array([0, len(grains)]), grains, np.zeros(1, np.bool_), place, place)
    lever, radius = some.rows[:, AT_LEVER].copy(), some.rows[:, AT_RADIUS].copy()
    return Balls(
        np.flatnonzero(some.feature == 0), some.owner, some.feature, bodies.position[some.owner] + lever, lever, radius
    )


def near_walls(bodies: Bodies, neighbours: Neighbours, spin: Array, dt: float) -> WallPoints:
    """All vertices, of the grains listed near each wall, that can touch it."""
    walls = bodies.wall_table
    near = _vertices(bodies, *neighbours.near_walls, walls.juts, walls.point, walls.normal)
    for w in sorted({*walls.others, *walls.bending}):
        if near.start[w] < near.start[w + 1]:
            _meet_surface(bodies, w, near.of(w), spin, dt)
    return near


def choose(near: WallPoints, reach: Reach) -> WallPoints:
    """Those within reach."""
    found = WallPoints.room(len(near.start) - 1, len(near.owner))
    count = choose_points(
        near.start, near.owner, near.feature, near.rows, reach.speed, reach.turn, reach.margin, reach.ahead,
        found.start, found.owner, found.feature, found.rows,
    )  # fmt: skip
    return WallPoints(found.start, found.owner[:count], found.feature[:count], found.rows[:count])


def by_number(points: WallPoints) -> tuple[WallPoints, NDArray[np.int64]]:
    """The first points of all grains at a wall, then their second ones, ...; and (walls, most) how many there are.

    The points of a grain at a wall follow each other before.
    """
    walls, count = len(points.start) - 1, len(points.owner)
    number, sorted_points = np.empty(count, np.int64), WallPoints.room(walls, count)
    most = int(number_points(points.start, points.owner, number)) if count else 1
    sizes = np.zeros((walls, most), np.int64)
    sort_points(
        points.start, number, points.owner, points.feature, points.rows, sizes, np.empty(most, np.int64),
        sorted_points.owner, sorted_points.feature, sorted_points.rows,
    )  # fmt: skip
    sorted_points.start = points.start
    return sorted_points, sizes


def vertex_gaps_ahead(
    bodies: Bodies, w: int, grains: Index, vertex: NDArray[np.int64], orientation: Array, dt: float
) -> Array:
    """(m,) m, gaps of vertices of some grains at a wall where the present velocities take both within the step.

    vertex : (m,) among those of each grain; orientation : of all grains by then
    """
    assert bodies.catalogue is not None
    table, scale = bodies.catalogue.table, bodies.radius[grains]
    number = table.vertex_start[table.part_start[bodies.shape[grains]]] + vertex
    part = np.searchsorted(table.vertex_start, number, side="right") - 1
    lever = scale[:, None] * turned_vectors(orientation[grains], table.vertices[number])
    place = bodies.position[grains] + dt * bodies.velocity[grains] + lever
    wall = bodies.walls[w].ahead(bodies.motion[bodies.count + w, V], dt)
    gap, _ = wall.shape.gaps(np.arange(len(grains), dtype=np.int32), place, scale * table.radius[part])
    return np.asarray(gap)


def _vertices(
    bodies: Bodies, begin: NDArray[np.int64], grains: Index, juts: NDArray[np.bool_], point: Array, normal: Array
) -> WallPoints:
    """Vertices of the grains listed near each wall; gaps and normals where it is a plane, velocities where it moves.

    juts : (walls,) those at which grains with sides have none, see facet_points.py; point, normal : (walls, 3) of
    planes, zeros for other walls
    """
    assert bodies.catalogue is not None
    table, walls = bodies.catalogue.table, len(juts)
    start = np.zeros(walls + 1, np.int64)
    which = begin, grains, juts, bodies.catalogue.sided, bodies.shape, table.part_start, table.vertex_start
    count = int(count_vertices(*which, start))
    near = WallPoints.room(0, count)
    near.start = start
    place_vertices(
        *which, table.vertices, table.radius, bodies.radius, bodies.position, quaternions(bodies),
        bodies.motion[bodies.count :], point, normal, near.owner, near.feature, near.rows,
    )  # fmt: skip
    return near


def _meet_surface(bodies: Bodies, w: int, near: WallPoints, spin: Array, dt: float) -> None:
    """Gaps and normals at a wall that is no plane; velocities, and sinks, at one that bends or turns."""
    wall, rows = bodies.walls[w], near.rows
    each, lever = np.arange(len(near.owner), dtype=np.int32), rows[:, AT_LEVER]
    place, radius = bodies.position[near.owner] + lever, rows[:, AT_RADIUS].copy()
    gap, normal = wall.shape.gaps(each, place, radius)
    rows[:, AT_GAP], rows[:, AT_N] = gap, normal
    if wall.drive.rotates:
        own = bodies.motion[bodies.count + w, V].copy()
        rows[:, AT_V] = wall.surface_velocity(own, place + (radius + gap)[:, None] * normal)
    if wall.bends:
        glide = bodies.velocity[near.owner] + np.cross(spin[near.owner], lever)
        glide -= near.towards(bodies, spin)[:, None] * normal
        ahead = wall.ahead(bodies.motion[bodies.count + w, V], dt)
        there, _ = ahead.shape.gaps(each, place + dt * glide, radius)
        rows[:, AT_SINK] = np.minimum(there - gap, 0.0)
