"""Convex cores by plain enumeration: separation along a direction, distance and depth of two, distance of points.

Two convex bodies are apart by no less than their separation along any direction, and by no more than the distance of
any two of their points. Where both agree there is nothing left to search for. Distances are the least over all pairs
of vertices, edges and faces, depths the least over all normals of faces and of pairs of edges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from ..shapes.core import Part

Array = NDArray[np.float64]
Index = NDArray[np.int64]

ROOM = 2_000_000  # numbers in a table of features against features
PARALLEL = 1e-8  # sine of the angle of two edges that have no normal of their own


@dataclass(frozen=True)
class Cores:
    """One part of m grains of the same shape, in space.

    vertices : (m, k, 3) m; normals : (m, f, 3) of faces, outward; radius : (m,) m, rounding
    """

    part: Part
    vertices: Array
    normals: Array
    radius: Array

    @cached_property
    def ends(self) -> tuple[Array, Array]:
        """(m, e, 3) m, where edges begin, and their directions with their lengths."""
        edges = edges_of(self.part)
        begin = self.vertices[:, edges[:, 0]]
        return begin, self.vertices[:, edges[:, 1]] - begin

    @property
    def solid(self) -> bool:
        """True for polyhedra, False for flat cores, segments and points."""
        return any(len(loop) > 2 for loop in self.part.faces)

    def shifted(self, by: Array) -> Cores:
        return replace(self, vertices=self.vertices + by[:, None])

    def some(self, rows: Index | slice) -> Cores:
        return replace(self, vertices=self.vertices[rows], normals=self.normals[rows], radius=self.radius[rows])

    def __len__(self) -> int:
        return len(self.radius)


@lru_cache(maxsize=1024)
def edges_of(part: Part) -> Index:
    """(e, 2) vertices at both ends of each edge, as the loops around faces tell; a point has none."""
    if len(part.vertices) == 2:
        return np.array([[0, 1]])
    both = {tuple(sorted((v, loop[(k + 1) % len(loop)]))) for loop in part.faces for k, v in enumerate(loop)}
    return np.array(sorted(both), np.int64).reshape(-1, 2)


def separation(a: Cores, b: Cores, direction: Array) -> Array:
    """(m, d) m, how far b is beyond a along directions (m, d, 3), roundings not counted."""
    far = np.einsum("mkc,mdc->mdk", a.vertices, direction).max(axis=2)
    return np.asarray(np.einsum("mkc,mdc->mdk", b.vertices, direction).min(axis=2) - far)


def signed_distance(a: Cores, b: Cores) -> Array:
    """(m,) m, distance of cores that are apart, minus the depth of those that overlap."""

    def found(x: Cores, y: Cores) -> Array:
        out = deepest(x, y)
        apart = np.flatnonzero(~(out < 0.0))  # where there is no axis at all, too
        if apart.size:
            out[apart] = _distance(x.some(apart), y.some(apart))
        return out

    return _in_turn(found, a, b)


def deepest(a: Cores, b: Cores) -> Array:
    """(m,) m, the largest separation along normals of faces and of pairs of edges; infinite where there are none."""
    best = np.full(len(a), -np.inf)
    for direction in (a.normals, -b.normals):
        if direction.shape[1]:
            best = np.maximum(best, separation(a, b, direction).max(axis=1))
    if a.solid or b.solid or not (a.part.faces or b.part.faces):
        across = np.cross(a.ends[1][:, :, None], b.ends[1][:, None]).reshape(len(a), -1, 3)
        if across.shape[1]:
            size = _length(across)
            lengths = (_length(a.ends[1])[:, :, None] * _length(b.ends[1])[:, None]).reshape(len(a), -1)
            fine = size > PARALLEL * lengths
            axis = across / np.where(fine, size, 1.0)[..., None]
            both = np.maximum(separation(a, b, axis), separation(a, b, -axis))
            best = np.maximum(best, np.where(fine, both, -np.inf).max(axis=1))
    return np.where(np.isfinite(best), best, np.inf)


def to_vertices(core: Cores, points: Array) -> Array:
    """(m,) m, from points (m, 3) to the nearest vertex."""
    return np.asarray(_length(core.vertices - points[:, None]).min(axis=1))


def to_edges(core: Cores, points: Array) -> Array:
    """(m,) m, from points (m, 3) to the nearest edge, or to the vertex of a core that is a point."""
    if len(core.part.vertices) == 1:
        return to_vertices(core, points)
    return np.asarray(_point_edges(points[:, None], core).min(axis=(1, 2)))


def to_surface(core: Cores, points: Array) -> Array:
    """(m,) m, from points (m, 3) to the surface of the core, from either side."""
    best = to_edges(core, points)
    if core.solid:
        best = np.minimum(best, _point_faces(points[:, None], core).min(axis=1))
    return best


def to_feature(core: Cores, points: Array, vertex: Index, other: Index) -> Array:
    """(m,) m, from points (m, 3) to the segment between two vertices (m,); one vertex where they are the same."""
    rows = np.arange(len(core))
    begin, end = core.vertices[rows, vertex], core.vertices[rows, other]
    return _to_segments(points, begin, end - begin)


def _distance(a: Cores, b: Cores) -> Array:
    """(m,) m, of cores that are apart: the least over vertices, edges and faces of the one and the other."""
    best = _length(a.vertices[:, :, None] - b.vertices[:, None]).min(axis=(1, 2))
    for one, other in ((a, b), (b, a)):
        if len(other.part.vertices) > 1:
            best = np.minimum(best, _point_edges(one.vertices, other).min(axis=(1, 2)))
        if other.solid:
            best = np.minimum(best, _point_faces(one.vertices, other).min(axis=1))
    if a.solid or b.solid or (len(a.part.vertices) == len(b.part.vertices) == 2):
        best = np.minimum(best, _edge_edges(a, b).min(axis=(1, 2), initial=np.inf))
    return np.asarray(best)


def _point_edges(points: Array, core: Cores) -> Array:
    """(m, p, e) m, from points (m, p, 3) to edges."""
    begin, way = core.ends
    return _to_segments(points[:, :, None], begin[:, None], way[:, None])


def _point_faces(points: Array, core: Cores) -> Array:
    """(m, p) m, from points (m, p, 3) to the nearest face that they lie above or below; infinite if there is none."""
    best = np.full(points.shape[:2], np.inf)
    for f, loop in enumerate(core.part.faces):
        normal = core.normals[:, f]
        height = np.abs(np.einsum("mpc,mc->mp", points - core.vertices[:, [loop[0]]], normal))
        within = np.ones(points.shape[:2], np.bool_)
        for v, w in zip(loop, (*loop[1:], loop[0])):
            inward = np.cross(normal, core.vertices[:, w] - core.vertices[:, v])
            within &= np.einsum("mpc,mc->mp", points - core.vertices[:, [v]], inward) >= 0.0
        best = np.where(within, np.minimum(best, height), best)
    return best


def _edge_edges(a: Cores, b: Cores) -> Array:
    """(m, e, g) m, of lines of edges that cross within both, seen along their common normal; infinite elsewhere."""
    (p, u), (q, v) = a.ends, b.ends
    away = q[:, None] - p[:, :, None]
    across = np.cross(u[:, :, None], v[:, None])
    square = (across * across).sum(axis=-1)
    fine = square > PARALLEL**2 * (u * u).sum(axis=-1)[:, :, None] * (v * v).sum(axis=-1)[:, None]
    square = np.where(fine, square, 1.0)
    s = (np.cross(away, v[:, None]) * across).sum(axis=-1) / square
    t = (np.cross(away, u[:, :, None]) * across).sum(axis=-1) / square
    inside = fine & (s >= 0.0) & (s <= 1.0) & (t >= 0.0) & (t <= 1.0)
    return np.where(inside, np.abs((away * across).sum(axis=-1)) / np.sqrt(square), np.inf)


def _to_segments(points: Array, begin: Array, way: Array) -> Array:
    """(...) m, from points to segments, all (..., 3)."""
    away, square = points - begin, (way * way).sum(axis=-1)
    share = np.clip((away * way).sum(axis=-1) / np.where(square > 0.0, square, 1.0), 0.0, 1.0)
    return _length(away - share[..., None] * way)


def _in_turn(law: Callable[[Cores, Cores], Array], a: Cores, b: Cores) -> Array:
    """A law (m,) of pairs, some at a time: tables of features would not fit otherwise."""
    wide = max(1, len(edges_of(a.part)) * len(edges_of(b.part)), len(a.part.faces) * len(b.part.vertices))
    step = max(1, ROOM // wide)
    rows = [slice(k, k + step) for k in range(0, len(a), step)]
    return np.concatenate([np.zeros(0), *(law(a.some(part), b.some(part)) for part in rows)])


def _length(vectors: Array) -> Array:
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=-1)))
