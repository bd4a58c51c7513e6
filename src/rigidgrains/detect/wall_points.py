"""Narrow phase of grains of any shape at walls: the rounded vertices of a convex part are what a wall can touch.

That is exact where grains live in a convex region, at planes and inside of endless drums, and of clumps everywhere. A
wall that juts out meets sides and faces as well, see facet_points.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..model.bodies import Bodies
from ..model.columns import V, X, Y, Z
from ..model.turning import quaternions, rotation
from ..runtime.compiled import kernel

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
    """Where grains may touch one wall.

    owner : (m,) grain; feature : (m,) vertex of it
    lever : (m, 3) m, from the centre of the grain to the vertex; radius : (m,) m, around that
    gap : (m,) m; normal : (m, 3) towards the wall; velocity : (m, 3) m/s, of the surface
    sink : (m,) m, <= 0, how much a point would sink into the wall by gliding straight along it
    """

    owner: Index
    feature: NDArray[np.int64]
    lever: Array
    radius: Array
    gap: Array
    normal: Array
    velocity: Array
    sink: Array

    def towards(self, bodies: Bodies, spin: Array) -> Array:
        """(m,) m/s, speed of each point towards the surface."""
        own = bodies.velocity[self.owner] + np.cross(spin[self.owner], self.lever + self.radius[:, None] * self.normal)
        return np.asarray(((own - self.velocity) * self.normal).sum(axis=1))

    def joined(self, others: WallPoints | None) -> WallPoints:
        """These, and then the others."""
        if others is None:
            return self
        return WallPoints(**{name: np.concatenate([rows, getattr(others, name)]) for name, rows in vars(self).items()})

    def some(self, keep: NDArray[np.bool_]) -> WallPoints:
        """Those that are kept."""
        return WallPoints(**{name: rows[keep] for name, rows in vars(self).items()})


def balls_of(bodies: Bodies, grains: Index) -> Balls:
    """The rounded vertices of some grains, grain after grain."""
    assert bodies.catalogue is not None
    table = bodies.catalogue.table
    first = table.vertex_start[table.part_start]  # vertices of each shape
    shape = bodies.shape[grains]
    start = np.concatenate([[0], np.cumsum(np.diff(first)[shape])])
    lever, radius, number = np.empty((start[-1], 3)), np.empty(start[-1]), np.empty(start[-1], np.int64)
    _place_balls(table, shape, bodies.radius[grains], quaternions(bodies)[grains], start, lever, radius, number)
    owner = np.repeat(grains, np.diff(start)).astype(np.int32)
    return Balls(owner, number, bodies.position[owner] + lever, lever, radius)


def near_wall(bodies: Bodies, w: int, grains: Index, spin: Array, dt: float) -> WallPoints:
    """All vertices, of the grains listed near a wall, that can touch it."""
    wall = bodies.walls[w]
    if not wall.shape.convex:
        assert bodies.catalogue is not None
        grains = grains[~bodies.catalogue.sided[bodies.shape[grains]]]
    balls = balls_of(bodies, grains)
    each = np.arange(len(balls.owner), dtype=np.int32)
    gap, normal = wall.shape.gaps(each, balls.place, balls.radius)
    own = bodies.motion[bodies.count + w, V].copy()
    velocity = wall.surface_velocity(own, balls.place + (balls.radius + gap)[:, None] * normal)
    near = WallPoints(balls.owner, balls.number, balls.lever, balls.radius, gap, normal, velocity, np.zeros(len(each)))
    if wall.bends and len(each):
        moves = bodies.velocity[near.owner] + np.cross(spin[near.owner], near.lever)
        glide = moves - near.towards(bodies, spin)[:, None] * normal
        ahead = wall.ahead(bodies.motion[bodies.count + w, V], dt)
        there, _ = ahead.shape.gaps(each, balls.place + dt * glide, balls.radius)
        near.sink = np.minimum(there - gap, 0.0)
    return near


@kernel
def _place_balls(table, shape, scale, orientation, start, lever, radius, number):
    """Turned and scaled vertices of some grains, and the rounding of their parts."""
    for i in range(len(shape)):
        turn, row = rotation(orientation, i), start[i]
        for part in range(table.part_start[shape[i]], table.part_start[shape[i] + 1]):
            for v in range(table.vertex_start[part], table.vertex_start[part + 1]):
                x, y, z = table.vertices[v, X], table.vertices[v, Y], table.vertices[v, Z]
                for a in range(3):
                    lever[row, a] = scale[i] * (turn[a][X] * x + turn[a][Y] * y + turn[a][Z] * z)
                radius[row], number[row] = scale[i] * table.radius[part], row - start[i]
                row += 1
