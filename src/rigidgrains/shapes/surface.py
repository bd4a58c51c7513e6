"""Surfaces of 3D shapes as triangles: flat faces, and strips and patches where edges and corners are rounded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .core import Array, Part, Shape

FINE = 24  # straight pieces to a full turn
AXES = np.eye(3)


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles around a shape, counterclockwise seen from outside; parts that overlap keep each its own surface.

    points : (k, 3) m, on the surface; normals : (k, 3) outward; triangles : (t, 3) numbers of points
    """

    points: Array
    normals: Array
    triangles: NDArray[np.int32]

    @property
    def volume(self) -> float:
        """m^3, by the divergence theorem; parts that overlap count twice."""
        a, b, c = (self.points[self.triangles[:, k]] for k in range(3))
        return float((a * np.cross(b, c)).sum()) / 6.0

    def welded(self) -> Surface:
        """The same with points that coincide made one, without regard to normals."""
        size = float(np.abs(self.points).max())
        key = np.rint(self.points / (1e-9 * size)).astype(np.int64)
        _, first, number = np.unique(key, axis=0, return_index=True, return_inverse=True)
        triangles = number.reshape(-1)[self.triangles].astype(np.int32)
        some = (triangles != np.roll(triangles, 1, axis=1)).all(axis=1)
        return Surface(self.points[first], self.normals[first], triangles[some])


def surface(shape: Shape, *, fine: int = FINE) -> Surface:
    """The surface of a 3D shape at radius 1."""
    return joined([part_surface(part, fine=fine) for part in shape.parts])


def part_surface(part: Part, *, fine: int = FINE) -> Surface:
    """The surface of one part; `fine` : straight pieces to a full turn."""
    if part.rounding == 0.0:
        return joined([_face(part, k) for k in range(len(part.faces))])
    corners = _corners(part)
    widest = max((_angle(a, b) for _, _, a, b in _strips(part)), default=0.5 * math.pi)
    rows = max(1, math.ceil(widest / (2.0 * math.pi) * fine - 1e-9))
    pieces = [_face(part, k) for k in range(len(part.faces))]
    pieces += [_strip(part, tail, head, a, b, rows) for tail, head, a, b in _strips(part)]
    for vertex, middle, around in corners:
        for a, b in zip(around, [*around[1:], around[0]]):
            pieces.append(_patch(part.vertices[vertex], part.rounding, middle, a, b, rows))
    return joined(pieces)


def joined(pieces: Sequence[Surface]) -> Surface:
    """Several surfaces as one."""
    first = np.cumsum([0, *(len(piece.points) for piece in pieces[:-1])])
    return Surface(
        np.concatenate([piece.points for piece in pieces]),
        np.concatenate([piece.normals for piece in pieces]),
        np.concatenate([piece.triangles + start for piece, start in zip(pieces, first)]).astype(np.int32),
    )


def _angle(a: Array, b: Array) -> float:
    return math.atan2(float(np.linalg.norm(np.cross(a, b))), float(a @ b))


def _face(part: Part, number: int) -> Surface:
    """A flat face as a fan, moved outwards."""
    loop, normal = part.faces[number], part.normals[number]
    points = part.vertices[list(loop)] + part.rounding * normal
    fan = np.array([[0, k, k + 1] for k in range(1, len(loop) - 1)], np.int32)
    return Surface(points, np.tile(normal, (len(loop), 1)), fan)


def _frame(axis: Array) -> list[Array]:
    """Four directions around an axis, a quarter of a turn apart, counterclockwise seen from its tip."""
    side = np.cross(axis, AXES[int(np.argmin(np.abs(axis)))])
    side /= np.linalg.norm(side)
    other = np.cross(axis, side)
    return [side, other, -side, -other]


def _strips(part: Part) -> list[tuple[int, int, Array, Array]]:
    """Rounded edges: tail, head, and the normals from which and to which the strip turns; seen from outside the first
    lies on the left of the way from tail to head."""
    if len(part.vertices) == 2:
        axis = part.vertices[1] - part.vertices[0]
        around = _frame(axis / np.linalg.norm(axis))
        return [(0, 1, before, after) for before, after in zip(around, [*around[1:], around[0]])]
    return [(tail, head, part.normals[left], part.normals[right]) for tail, head, left, right in part.edges]


def _corners(part: Part) -> list[tuple[int, Array, list[Array]]]:
    """Rounded corners: vertex, direction of the middle, and normals around it, counterclockwise seen from outside."""
    if len(part.vertices) == 1:
        return [(0, pole, _frame(pole)) for pole in (AXES[2], -AXES[2])]
    if len(part.vertices) == 2:
        axis = part.vertices[1] - part.vertices[0]
        axis = axis / np.linalg.norm(axis)
        around = _frame(axis)
        return [(1, axis, around), (0, -axis, around[::-1])]
    before = {(v, f): loop[k - 1] for f, loop in enumerate(part.faces) for k, v in enumerate(loop)}
    after = {(loop[k - 1], v): f for f, loop in enumerate(part.faces) for k, v in enumerate(loop)}
    corners = []
    for vertex in range(len(part.vertices)):
        face = next(f for f, loop in enumerate(part.faces) if vertex in loop)
        ring: list[int] = []
        while face not in ring:
            ring.append(face)
            face = after[vertex, before[vertex, face]]
        around = [part.normals[face] for face in ring]
        middle = np.sum(around, axis=0)
        corners.append((vertex, middle / np.linalg.norm(middle), around))
    return corners


def _turned(a: Array, b: Array, share: Array) -> Array:
    """(..., 3) unit vectors on the great circle from a to b."""
    angle, t = _angle(a, b), np.asarray(share, float)[..., None]
    if angle < 1e-12:
        return np.broadcast_to(a, (*t.shape[:-1], 3)).copy()
    return np.asarray((np.sin((1.0 - t) * angle) * a + np.sin(t * angle) * b) / math.sin(angle))


def _strip(part: Part, tail: int, head: int, left: Array, right: Array, rows: int) -> Surface:
    """The part of a cylinder between two faces."""
    normal = _turned(left, right, np.arange(rows + 1) / rows)
    points = [part.vertices[vertex] + part.rounding * normal for vertex in (tail, head)]
    k = np.arange(rows)
    low, high = k, k + rows + 1
    triangles = np.concatenate([np.stack([low, low + 1, high], 1), np.stack([low + 1, high + 1, high], 1)])
    return Surface(np.concatenate(points), np.concatenate([normal, normal]), triangles.astype(np.int32))


def _patch(centre: Array, radius: float, middle: Array, a: Array, b: Array, rows: int) -> Surface:
    """The part of a sphere between three directions; its outer side has the points of the strip from a to b."""
    normal, start = [middle[None]], [0]
    for k in range(1, rows + 1):
        left, right = _turned(middle, a, np.array(k / rows)), _turned(middle, b, np.array(k / rows))
        normal.append(_turned(left, right, np.arange(k + 1) / k))
        start.append(start[-1] + k)
    triangles = []
    for k in range(rows):
        upper, lower = start[k], start[k + 1]
        triangles += [(upper + j, lower + j, lower + j + 1) for j in range(k + 1)]
        triangles += [(upper + j, lower + j + 1, upper + j + 1) for j in range(k)]
    normals = np.concatenate(normal)
    return Surface(centre + radius * normals, normals, np.array(triangles, np.int32))
