"""Grains near walls: gaps, normals, surface velocities, and which of them are candidates for contact.

The lists of all walls stand one after another in the same arrays, so that a step with many walls makes as many calls as
one with a single wall.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..model.bodies import Bodies
from ..model.columns import V_X, V_Y, V_Z, V, X, Y, Z
from ..model.shapes.distance import offset
from ..model.vectors import difference
from ..runtime.compiled import kernel, part
from .neighbours import Neighbours, WallList

Array = NDArray[np.float64]
Index = NDArray[np.int32]

NONE = np.empty(0)


@dataclass
class NearWalls:
    """Grains listed near walls, wall after wall.

    start    : (walls + 1,) where the grains of each wall begin
    grains   : (m,)
    gap      : (m,) m; normal : (m, 3), towards the wall
    last     : (m,) contact row in the present step, or in the previous one before there are rows; -1 for none
    velocity : (m, 3) m/s, of the surface
    sink     : (m,) m, <= 0, how much a grain would sink into the wall within the step by gliding straight along it
    """

    start: NDArray[np.int64]
    grains: Index
    gap: Array
    normal: Array
    last: Index
    velocity: Array = field(default_factory=lambda: NONE)
    sink: Array = field(default_factory=lambda: NONE)

    @property
    def count(self) -> int:
        return len(self.grains)

    def of(self, w: int) -> slice:
        """The grains near one wall."""
        return slice(int(self.start[w]), int(self.start[w + 1]))


@dataclass
class WallCandidates:
    """Which of the grains near walls are candidates for contact, wall after wall.

    start  : (walls + 1,) where those of each wall begin
    listed : (m,) numbers among all that are near; last : (m,) contact row in the previous step, -1 for none
    """

    near: NearWalls
    start: NDArray[np.int64]
    listed: Index
    last: Index

    @property
    def count(self) -> int:
        return len(self.listed)

    def velocity(self, w: int) -> Array:
        """(k, 3) m/s, of the surface of one wall at each of its candidates."""
        return self.near.velocity[self.listed[self.start[w] : self.start[w + 1]]]


def wall_gaps(bodies: Bodies, neighbours: Neighbours) -> NearWalls:
    """Gaps and normals of all grains listed near walls: those of the step, reckoned when they are first asked for."""
    if neighbours.near is None:
        neighbours.near = _find_gaps(bodies, neighbours, bodies.bound)
    return neighbours.near


def _find_gaps(bodies: Bodies, neighbours: Neighbours, radius: Array) -> NearWalls:
    """The same anew; radius : (n,) m, by which the grains reach out."""
    (start, grains), lists, walls = neighbours.near_walls, neighbours.walls, bodies.wall_table
    gap, normal = np.empty(len(grains)), np.empty((len(grains), 3))
    last = np.concatenate([listed.last for listed in lists]) if lists else np.empty(0, np.int32)
    near = NearWalls(start, grains, gap, normal, last)
    for w in walls.others:
        if len(lists[w].grains):
            some = near.of(w)
            gap[some], normal[some] = bodies.walls[w].shape.gaps(lists[w].grains, bodies.position, radius)
    _plane_gaps(start, walls.plane, walls.point, walls.normal, grains, bodies.position, radius, gap, normal)
    return near


def with_motion(near: NearWalls, bodies: Bodies, dt: float) -> NearWalls:
    """The same with the velocities of the surfaces in this step, and what they do to grains that glide along."""
    near = NearWalls(
        near.start, near.grains, near.gap, near.normal, near.last, np.empty((near.count, 3)), np.zeros(near.count)
    )
    _surface_velocities(near.start, bodies.motion[bodies.count :], near.velocity)
    for w in bodies.wall_table.bending:
        if near.start[w] == near.start[w + 1]:
            continue
        some, wall = near.of(w), bodies.walls[w]
        if wall.drive.rotates:
            grains = near.grains[some]
            points = bodies.position[grains] + (bodies.radius[grains] + near.gap[some])[:, None] * near.normal[some]
            near.velocity[some] = wall.surface_velocity(bodies.motion[bodies.count + w, V].copy(), points)
        near.sink[some] = _sink(bodies, w, near, dt)
    return near


def near_walls(bodies: Bodies, neighbours: Neighbours, dt: float) -> NearWalls:
    """All grains listed near walls."""
    return with_motion(wall_gaps(bodies, neighbours), bodies, dt)


def choose(
    near: NearWalls, lists: list[WallList], speed: Array, margin: float, ahead: float, first: int
) -> WallCandidates:
    """Those that are candidates, with the rows they had; they get new ones from `first` on, and lists remember these.

    speed : (n,) m/s, A of each grain; ahead : s, time for which it is to be reckoned with
    """
    start, listed, before = np.zeros_like(near.start), np.empty(near.count, np.int32), np.empty(near.count, np.int32)
    what = near.start, near.grains, near.gap, near.sink, near.last, speed, margin, ahead, first, start, listed, before
    count = _choose(*what)
    ends = near.start.tolist()
    for w, each in enumerate(lists):
        each.last[:] = near.last[ends[w] : ends[w + 1]]
    return WallCandidates(near, start, listed[:count], before[:count])


def _sink(bodies: Bodies, w: int, near: NearWalls, dt: float) -> Array:
    """How much a grain that glides along a concave or turning wall would sink into it within the step (m), <= 0.

    Normals are fixed within a step. On a drum the chord of each step ends beyond the circle, and with g_pos that would
    never be taken back: the gap to be closed is smaller by as much.
    """
    some = near.of(w)
    grains, normal = near.grains[some], near.normal[some]
    ahead = bodies.walls[w].ahead(bodies.motion[bodies.count + w, V], dt)
    approach = np.empty(len(grains))
    _approach(grains, normal, near.velocity[some], bodies.motion, approach)
    glide = bodies.motion[grains, V] - approach[:, None] * normal
    there = bodies.position[grains] + dt * glide
    gap, _ = ahead.shape.gaps(np.arange(len(grains), dtype=np.int32), there, bodies.radius[grains])
    return np.minimum(gap - near.gap[some], 0.0)


@kernel
def _plane_gaps(start, planes, points, normals, grains, position, radius, gap, normal):
    """Signed distances to half-spaces, of the walls that are planes."""
    for w in range(planes.size):
        if not planes[w]:
            continue
        point, n = points[w], normals[w]
        for k in range(start[w], start[w + 1]):
            i = grains[k]
            x, y, z = offset(position, i, point)
            gap[k] = x * n[X] + y * n[Y] + z * n[Z] - radius[i]
            normal[k, X], normal[k, Y], normal[k, Z] = -n[X], -n[Y], -n[Z]


@kernel
def _surface_velocities(start, motion, velocity):
    """Of walls that do not turn: that of their rows of motion."""
    for w in range(start.size - 1):
        for k in range(start[w], start[w + 1]):
            velocity[k, X], velocity[k, Y], velocity[k, Z] = motion[w, V_X], motion[w, V_Y], motion[w, V_Z]


@kernel
def _towards(k, i, normal, velocity, motion):
    """Speed of the k-th listed grain, which is i, towards a surface."""
    x, y, z = difference(motion, i, velocity, k)
    return x * normal[k, X] + y * normal[k, Y] + z * normal[k, Z]


@kernel
def _approach(grains, normal, velocity, motion, speed):
    """Speed of each listed grain towards a surface."""
    for k in range(grains.size):
        speed[k] = _towards(k, grains[k], normal, velocity, motion)


@part
def raise_approach(grains, normal, velocity, motion, speed):
    """Raise A_i of each listed grain to its speed towards or away from a surface."""
    for k in range(grains.size):
        i = grains[k]
        speed[i] = max(speed[i], abs(_towards(k, i, normal, velocity, motion)))


@kernel
def _choose(start, grains, gap, sink, row, speed, margin, ahead, first, to_start, listed, before):
    """Number the candidates wall by wall; returns how many there are."""
    count = 0
    for w in range(start.size - 1):
        for k in range(start[w], start[w + 1]):
            had, row[k] = row[k], -1
            if gap[k] + sink[k] < margin + ahead * speed[grains[k]]:
                row[k] = first + count
                before[count], listed[count] = had, k
                count += 1
        to_start[w + 1] = count
    return count


@kernel
def meets_unseen(grains, gap, sink, normal, velocity, row, motion, dt, least):
    """True when some grain near a wall without a contact row overlaps with it after this step."""
    for k in range(grains.size):
        if row[k] < 0:
            v_n = -_towards(k, grains[k], normal, velocity, motion)
            if gap[k] + sink[k] + dt * v_n < -least:  # Eq. (gap-change)
                return True
    return False
