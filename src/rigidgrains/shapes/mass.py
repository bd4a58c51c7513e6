"""Exact volume, centre and inertia of a rounded convex part.

A point of the part is p + u, p the nearest point of the core: p lies inside of the core, on a face, on an edge or is a
vertex, and u fills the part of a ball, of radius `rounding`, whose directions are normals there. So the part is a sum
of products: core, prisms on faces, sectors of cylinders along edges, sectors of a ball at vertices; in 2D core, strips
along sides, sectors of a disk at vertices. The moments of a product follow from those of its factors.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .core import FLAT, Array, Part

EYE = np.eye(3)
IN_PLANE = np.diag([1.0, 1.0, 0.0])
UPWARD = np.array([0.0, 0.0, 1.0])


class Moments(NamedTuple):
    """Integrals over a body, or over a lower-dimensional set, of 1, x and x x^T.

    volume : m^3 (2D: m^2); first : (3,) that times m; second : (3, 3) that times m^2
    """

    volume: float
    first: Array
    second: Array

    def plus(self, other: Moments, weight: float = 1.0) -> Moments:
        return Moments(
            self.volume + weight * other.volume,
            self.first + weight * other.first,
            self.second + weight * other.second,
        )

    def shifted(self, by: Array) -> Moments:
        """Of the body moved by a vector (3,)."""
        mixed = np.outer(self.first, by)
        return Moments(
            self.volume,
            self.first + self.volume * by,
            self.second + mixed + mixed.T + self.volume * np.outer(by, by),
        )

    def times(self, other: Moments) -> Moments:
        """Of all sums p + u, p of this set and u of another in directions at right angles to it."""
        mixed = np.outer(self.first, other.first)
        return Moments(
            self.volume * other.volume,
            other.volume * self.first + self.volume * other.first,
            other.volume * self.second + mixed + mixed.T + self.volume * other.second,
        )

    def inertia(self, dimension: int) -> tuple[Array, Array]:
        """Centre (3,) m and tensor of inertia (3, 3) about it at unit density; of a flat body only that about z."""
        centre = self.first / self.volume
        second = self.second - self.volume * np.outer(centre, centre)
        if dimension == FLAT:
            return centre, np.diag([0.0, 0.0, np.trace(second)])
        return centre, np.trace(second) * EYE - second


NOTHING = Moments(0.0, np.zeros(3), np.zeros((3, 3)))
WHOLE = Moments(1.0, np.zeros(3), np.zeros((3, 3)))  # nothing is added to a point of the core


def part_moments(part: Part, dimension: int) -> Moments:
    """Moments of a rounded part about the origin of its vertices."""
    origin = part.vertices.mean(axis=0)  # near by, so that little cancels
    points = part.vertices - origin
    pieces = _flat_pieces(part, points) if dimension == FLAT else _solid_pieces(part, points)
    total = NOTHING
    for piece in pieces:
        total = total.plus(piece)
    return total.shifted(origin)


def simplex(corners: Array, content: float) -> Moments:
    """A segment, triangle or tetrahedron with corners (k, 3) and its length, area or volume."""
    k, total = len(corners), corners.sum(axis=0)
    second = content / (k * (k + 1)) * (corners.T @ corners + np.outer(total, total))
    return Moments(content, content / k * total, second)


def _flat_pieces(part: Part, points: Array) -> Iterator[Moments]:
    r = part.rounding
    if len(points) == 1:
        yield simplex(points, 1.0).times(Moments(math.pi * r**2, np.zeros(3), 0.25 * math.pi * r**4 * IN_PLANE))
        return
    for k in range(1, len(points) - 1):
        corners = points[[0, k, k + 1]]
        yield simplex(corners, 0.5 * float(np.cross(corners[1] - corners[0], corners[2] - corners[0])[2]))
    if r > 0.0:
        yield from _prisms(part, points)
        for k in range(len(points)):
            yield simplex(points[[k]], 1.0).times(disk_sector(part.normals[k - 1], part.normals[k], UPWARD, r))


def _solid_pieces(part: Part, points: Array) -> Iterator[Moments]:
    r = part.rounding
    for loop in part.faces:
        for k in range(1, len(loop) - 1):
            corners = points[[loop[0], loop[k], loop[k + 1]]]
            yield simplex(np.vstack([corners, np.zeros(3)]), float(np.linalg.det(corners)) / 6.0)
    if r > 0.0:
        yield from _prisms(part, points)
        for v, w, left, right in part.edges:
            along = points[w] - points[v]
            length = float(np.linalg.norm(along))
            axis = along / length
            if left < 0:
                around = Moments(math.pi * r**2, np.zeros(3), 0.25 * math.pi * r**4 * (EYE - np.outer(axis, axis)))
            else:
                around = disk_sector(part.normals[left], part.normals[right], axis, r)
            yield simplex(points[[v, w]], length).times(around)
        for v in range(len(points)):
            yield simplex(points[[v]], 1.0).times(ball_sector(part, points, v))


def _prisms(part: Part, points: Array) -> Iterator[Moments]:
    """On faces, in 2D on sides: a point of the face and a length along its normal."""
    r = part.rounding
    for loop, normal in zip(part.faces, part.normals):
        along = Moments(r, 0.5 * r**2 * normal, r**3 / 3.0 * np.outer(normal, normal))
        if len(loop) == 2:
            ends = points[list(loop)]
            yield simplex(ends, float(np.linalg.norm(ends[1] - ends[0]))).times(along)
        for k in range(1, len(loop) - 1):
            corners = points[[loop[0], loop[k], loop[k + 1]]]
            area = 0.5 * float(np.cross(corners[1] - corners[0], corners[2] - corners[0]) @ normal)
            yield simplex(corners, area).times(along)


def angle_between(first: Array, last: Array, axis: Array) -> float:
    """From one unit vector to another about an axis at right angles to both: above 0, pi for opposite ones."""
    angle = math.atan2(float(np.cross(first, last) @ axis), float(first @ last))
    return angle if angle > -0.5 * math.pi else angle + 2.0 * math.pi


def disk_sector(first: Array, last: Array, axis: Array, r: float) -> Moments:
    """Directions from one unit vector to another about an axis, out to a radius r (m)."""
    angle = angle_between(first, last, axis)
    half = 0.5 * angle
    middle = math.cos(half) * first + math.sin(half) * np.cross(axis, first)
    across = np.cross(axis, middle)
    both, apart = np.outer(middle, middle), np.outer(across, across)
    return Moments(
        half * r**2,
        2.0 / 3.0 * r**3 * math.sin(half) * middle,
        r**4 / 8.0 * (angle * (both + apart) + math.sin(angle) * (both - apart)),
    )


def ball_sector(part: Part, points: Array, v: int) -> Moments:
    """The normals at a vertex, out to the rounding: a spherical polygon with an arc at right angles to each edge.

    Its area is 2 pi less the angles of the faces (Descartes). With the gradient along the sphere, and d the outward
    normals of the arcs, which are the directions of the edges,
    int u = -1/2 sum d (angle)  and  3 int u u^T = (area) 1 - sum d (int of u along the arc)^T.
    """
    area, first, second = 2.0 * math.pi, np.zeros(3), np.zeros((3, 3))
    if not part.edges:  # a point: the whole sphere
        area = 4.0 * math.pi
    for loop in part.faces:
        if v in loop:
            k = loop.index(v)
            before, after = points[loop[k - 1]] - points[v], points[loop[(k + 1) % len(loop)]] - points[v]
            area -= math.atan2(float(np.linalg.norm(np.cross(after, before))), float(after @ before))
    for tail, head, left, right in part.edges:
        if v in (tail, head):
            along = points[head + tail - v] - points[v]
            d = along / np.linalg.norm(along)
            if left < 0:  # a segment: half a sphere, its arc a whole circle
                first -= math.pi * d
                continue
            a, b = part.normals[left], part.normals[right]
            angle = angle_between(a, b, d if v == tail else -d)
            first -= 0.5 * angle * d
            second -= math.tan(0.5 * angle) * np.outer(d, a + b)
    second = (area * EYE + 0.5 * (second + second.T)) / 3.0
    r = part.rounding
    return Moments(area * r**3 / 3.0, 0.25 * r**4 * first, 0.2 * r**5 * second)
