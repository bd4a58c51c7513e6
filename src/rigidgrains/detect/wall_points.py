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
from ..model.columns import V_X, V, X, Y, Z
from ..model.shapes import Plane
from ..model.turning import quaternions, rotation
from ..runtime.compiled import kernel, law
from .neighbours import WallList
from .point_columns import (
    AT,
    AT_GAP,
    AT_LEVER,
    AT_N,
    AT_N_X,
    AT_N_Y,
    AT_N_Z,
    AT_RADIUS,
    AT_SINK,
    AT_V,
    AT_V_X,
    AT_X,
    AT_Y,
    AT_Z,
)
from .search import Reach

Array = NDArray[np.float64]
Index = NDArray[np.int32]


@dataclass
class Balls:
    """Rounded vertices of some grains.

    owner : (m,) grain; number : (m,) among the vertices of its grain
    place : (m, 3) m; lever : (m, 3) m, from the centre of the grain; radius : (m,) m, the rounding
    """

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
        _towards_all(self.owner, self.rows, bodies.motion, spin, speed)
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
    """The rounded vertices of some grains, grain after grain."""
    some = _vertices(bodies, np.array([0, len(grains)]), grains, [None], np.zeros(1, np.bool_))
    lever, radius = some.rows[:, AT_LEVER].copy(), some.rows[:, AT_RADIUS].copy()
    return Balls(some.owner, some.feature, bodies.position[some.owner] + lever, lever, radius)


def near_walls(bodies: Bodies, lists: Sequence[WallList], spin: Array, dt: float) -> WallPoints:
    """All vertices, of the grains listed near each wall, that can touch it."""
    walls = bodies.walls
    begin = np.zeros(len(walls) + 1, np.int64)
    for w, listed in enumerate(lists):
        begin[w + 1] = begin[w] + len(listed.grains)
    grains = np.concatenate([np.empty(0, np.int32), *(listed.grains for listed in lists)])
    juts = np.array([not wall.shape.convex for wall in walls], np.bool_)
    planes = [wall.shape if type(wall.shape) is Plane else None for wall in walls]
    near = _vertices(bodies, begin, grains, planes, juts)
    for w, wall in enumerate(walls):
        if (planes[w] is None or wall.bends) and near.start[w] < near.start[w + 1]:
            _meet_surface(bodies, w, near.of(w), spin, dt)
    return near


def choose(near: WallPoints, reach: Reach) -> WallPoints:
    """Those within reach."""
    found = WallPoints.room(len(near.start) - 1, len(near.owner))
    count = _choose(
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
    most = int(_number_points(points.start, points.owner, number)) if count else 1
    sizes = np.zeros((walls, most), np.int64)
    _sort_points(
        points.start, number, points.owner, points.feature, points.rows, sizes, sorted_points.owner,
        sorted_points.feature, sorted_points.rows,
    )  # fmt: skip
    sorted_points.start = points.start
    return sorted_points, sizes


def _vertices(
    bodies: Bodies, begin: NDArray[np.int64], grains: Index, planes: Sequence[Plane | None], juts: NDArray[np.bool_]
) -> WallPoints:
    """Vertices of the grains listed near each wall; gaps and normals where it is a plane, velocities where it moves.

    juts : (walls,) those at which grains with sides have none, see facet_points.py
    """
    assert bodies.catalogue is not None
    table, walls = bodies.catalogue.table, len(planes)
    start = np.zeros(walls + 1, np.int64)
    which = begin, grains, juts, bodies.catalogue.sided, bodies.shape, table.part_start, table.vertex_start
    count = int(_count_vertices(*which, start))
    near, flat = WallPoints.room(0, count), np.zeros((walls, 6))
    near.start = start
    for w, plane in enumerate(planes):
        if plane is not None:
            flat[w, :3], flat[w, 3:] = plane.point, plane.normal
    _place_vertices(
        *which, table.vertices, table.radius, bodies.radius, bodies.position, quaternions(bodies),
        bodies.motion[bodies.count :], flat, near.owner, near.feature, near.rows,
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


@kernel
def _count_vertices(begin, grains, juts, sided, shape, part_start, vertex_start, start):
    """How many vertices there are near all walls; start : (walls + 1,) takes where those of each begin."""
    for w in range(juts.size):
        count = 0
        for g in range(begin[w], begin[w + 1]):
            of = shape[grains[g]]
            if not (juts[w] and sided[of]):
                count += vertex_start[part_start[of + 1]] - vertex_start[part_start[of]]
        start[w + 1] = start[w] + count
    return start[juts.size]


@kernel
def _place_vertices(
    begin, grains, juts, sided, shape, part_start, vertex_start, vertices, rounding, scale, position, orientation,
    walls, planes, owner, feature, rows,
):  # fmt: skip
    """Turned and scaled vertices of the grains near each wall, the rounding of their parts, gaps at planes.

    walls : rows of motion; planes : (walls, 6) point and normal, zeros for other walls
    """
    row = 0
    for w in range(juts.size):
        n_x, n_y, n_z = planes[w, 3 + X], planes[w, 3 + Y], planes[w, 3 + Z]
        for g in range(begin[w], begin[w + 1]):
            i = grains[g]
            if juts[w] and sided[shape[i]]:
                continue
            turn, first = rotation(orientation, i), row
            for part in range(part_start[shape[i]], part_start[shape[i] + 1]):
                for v in range(vertex_start[part], vertex_start[part + 1]):
                    x, y, z = vertices[v, X], vertices[v, Y], vertices[v, Z]
                    for a in range(3):
                        rows[row, AT_X + a] = scale[i] * (turn[a][X] * x + turn[a][Y] * y + turn[a][Z] * z)
                        rows[row, AT_N_X + a] = -planes[w, 3 + a]
                        rows[row, AT_V_X + a] = walls[w, V_X + a] if len(walls) else 0.0
                    x = position[i, X] + rows[row, AT_X] - planes[w, X]
                    y = position[i, Y] + rows[row, AT_Y] - planes[w, Y]
                    z = position[i, Z] + rows[row, AT_Z] - planes[w, Z]
                    rows[row, AT_RADIUS] = scale[i] * rounding[part]
                    rows[row, AT_GAP] = x * n_x + y * n_y + z * n_z - rows[row, AT_RADIUS]
                    rows[row, AT_SINK] = 0.0
                    owner[row], feature[row] = i, row - first
                    row += 1


@law
def _towards(k, owner, rows, motion, spin):
    """Speed (m/s) of the k-th point towards the surface."""
    i, radius = owner[k], rows[k, AT_RADIUS]
    n_x, n_y, n_z = rows[k, AT_N_X], rows[k, AT_N_Y], rows[k, AT_N_Z]
    x, y, z = rows[k, AT_X] + radius * n_x, rows[k, AT_Y] + radius * n_y, rows[k, AT_Z] + radius * n_z
    w_x, w_y, w_z = spin[i, X], spin[i, Y], spin[i, Z]
    v_x = motion[i, V_X + X] + (w_y * z - w_z * y) - rows[k, AT_V_X + X]
    v_y = motion[i, V_X + Y] + (w_z * x - w_x * z) - rows[k, AT_V_X + Y]
    v_z = motion[i, V_X + Z] + (w_x * y - w_y * x) - rows[k, AT_V_X + Z]
    return v_x * n_x + v_y * n_y + v_z * n_z


@kernel
def _towards_all(owner, rows, motion, spin, speed):
    """Of all points."""
    for k in range(len(owner)):
        speed[k] = _towards(k, owner, rows, motion, spin)


@kernel
def raise_towards(owner, rows, motion, spin, speed):
    """A_i from the largest square of a relative speed: at least that of its points towards or away from a wall."""
    for i in range(len(speed)):
        speed[i] = np.sqrt(speed[i])
    for k in range(len(owner)):
        speed[owner[k]] = max(speed[owner[k]], abs(_towards(k, owner, rows, motion, spin)))


@kernel
def meets_wall(start, owner, rows, guided, walls, motion, spin, speed, turn, margin, ahead, dt, least):
    """Whether vertices that were out of reach of a wall overlap with it after the step, Eq. (gap-change).

    Points of guided walls take the velocities that these have now.
    """
    meets = False
    for w in range(guided.size):
        for k in range(start[w], start[w + 1]):
            if guided[w]:
                for a in range(3):
                    rows[k, AT_V_X + a] = walls[w, V_X + a]
            i, gap = owner[k], rows[k, AT_GAP] + rows[k, AT_SINK]
            if gap >= margin + ahead * (speed[i] + turn[i]):
                meets = meets or gap - dt * _towards(k, owner, rows, motion, spin) < -least
    return meets


@law
def _copy_point(k, to, owner, feature, rows, to_owner, to_feature, to_rows):
    to_owner[to], to_feature[to] = owner[k], feature[k]
    for a in range(AT):
        to_rows[to, a] = rows[k, a]


@kernel
def _choose(
    start, owner, feature, rows, speed, turn, margin, ahead, to_start, to_owner, to_feature, to_rows
):  # fmt: skip
    """Copy the points within reach, wall by wall; returns how many there are."""
    count = 0
    for w in range(start.size - 1):
        for k in range(start[w], start[w + 1]):
            i = owner[k]
            if rows[k, AT_GAP] + rows[k, AT_SINK] < margin + ahead * (speed[i] + turn[i]):
                _copy_point(k, count, owner, feature, rows, to_owner, to_feature, to_rows)
                count += 1
        to_start[w + 1] = count
    return count


@kernel
def _number_points(start, owner, number):
    """Number the points of each grain at each wall; returns the most that one has."""
    most = 0
    for w in range(start.size - 1):
        for k in range(start[w], start[w + 1]):
            number[k] = number[k - 1] + 1 if k > start[w] and owner[k] == owner[k - 1] else 0
            most = max(most, number[k] + 1)
    return most


@kernel
def _sort_points(start, number, owner, feature, rows, sizes, to_owner, to_feature, to_rows):
    """Copy the points of each wall in the order of their numbers; sizes : (walls, most) takes how many have each."""
    place = np.empty(sizes.shape[1], np.int64)
    for w in range(start.size - 1):
        for k in range(start[w], start[w + 1]):
            sizes[w, number[k]] += 1
        at = start[w]
        for m in range(sizes.shape[1]):
            place[m] = at
            at += sizes[w, m]
        for k in range(start[w], start[w + 1]):
            _copy_point(k, place[number[k]], owner, feature, rows, to_owner, to_feature, to_rows)
            place[number[k]] += 1
