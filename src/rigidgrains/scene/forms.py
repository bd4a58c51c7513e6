"""Grains of any shape, turned and as large as they are, wherever they stand: what checks and placement look at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..detect.facet_points import face
from ..detect.point_columns import FOUND_GAP, FOUND_N
from ..detect.search import Placed
from ..model.columns import X, Y, Z
from ..model.walls import Wall
from ..shapes.catalogue import Catalogue
from ..shapes.core import FLAT, Shape
from .cells import Array
from .room import wall_gaps

Index = NDArray[np.int64]


@dataclass
class Forms:
    """Shape (n,), radius (n,) m of the round grain of equal volume, and orientation (n,) rad or (n, 4) of grains."""

    catalogue: Catalogue
    shape: NDArray[np.int32]
    radius: Array
    orientation: Array

    def __len__(self) -> int:
        return len(self.radius)

    def __getitem__(self, rows: NDArray[np.int64]) -> Forms:
        return Forms(self.catalogue, self.shape[rows], self.radius[rows], self.orientation[rows])

    def joined(self, other: Forms) -> Forms:
        """These grains and then the others."""
        pairs = ((getattr(self, name), getattr(other, name)) for name in ("shape", "radius", "orientation"))
        return Forms(self.catalogue, *(np.concatenate(pair) for pair in pairs))

    @property
    def dimension(self) -> int:
        return self.catalogue.dimension

    @cached_property
    def bound(self) -> Array:
        """(n,) m, radius of the sphere about the centre that holds each grain."""
        return self.radius * self.catalogue.bound[self.shape]

    @cached_property
    def round(self) -> bool:
        """True when all of them are disks or spheres."""
        return bool(self.catalogue.round[self.shape].all())

    @cached_property
    def corners(self) -> tuple[Index, Array, Array]:
        """All vertices: grain (k,) in rising order, place (k, 3) m from its centre, rounding (k,) m."""
        owner, place, rounding = [], [], []
        turn = self.rotations()
        for number in np.unique(self.shape):
            parts, rows = self.catalogue.shapes[number].parts, np.flatnonzero(self.shape == number)
            vertices = np.concatenate([part.vertices for part in parts])
            radii = np.repeat([part.rounding for part in parts], [len(part.vertices) for part in parts])
            size = self.radius[rows]
            owner.append(np.repeat(rows, len(vertices)))
            turned = np.einsum("iab,kb->ika", turn[rows], vertices)
            place.append((size[:, None, None] * turned).reshape(-1, 3))
            rounding.append(np.outer(size, radii).ravel())
        order = np.argsort(np.concatenate(owner), kind="stable")
        return np.concatenate(owner)[order], np.concatenate(place)[order], np.concatenate(rounding)[order]

    @cached_property
    def extents(self) -> tuple[Array, Array]:
        """(n, 3) and (n, 3) m, how far each grain reaches from its centre against and along each axis."""
        owner, place, rounding = self.corners
        first = np.searchsorted(owner, np.arange(len(self)))
        low = np.maximum.reduceat(rounding[:, None] - place, first, axis=0)
        return low, np.maximum.reduceat(rounding[:, None] + place, first, axis=0)

    def rotations(self) -> Array:
        """(n, 3, 3) from the frame of the shape into space."""
        turn = np.zeros((len(self), 3, 3))
        if self.dimension == FLAT:
            cosine, sine = np.cos(self.orientation), np.sin(self.orientation)
            turn[:, X, X], turn[:, X, Y], turn[:, Y, X], turn[:, Y, Y], turn[:, Z, Z] = cosine, -sine, sine, cosine, 1.0
            return turn
        w, v = self.orientation[:, 0], self.orientation[:, 1:]
        cross = np.zeros((len(self), 3, 3))
        cross[:, X, Y], cross[:, Y, X] = -v[:, Z], v[:, Z]
        cross[:, X, Z], cross[:, Z, X] = v[:, Y], -v[:, Y]
        cross[:, Y, Z], cross[:, Z, Y] = -v[:, X], v[:, X]
        return np.eye(3) + 2.0 * w[:, None, None] * cross + 2.0 * cross @ cross

    def wall_gaps(self, wall: Wall, position: Array, reach: float = 0.0) -> tuple[Array, Array]:
        """Gap (n,) and normal (n, 3) to a wall; infinite beyond the reach (m) where sides and faces meet one that juts
        out."""
        owner, place, rounding = self.corners
        gap, normal = wall_gaps(wall, position[owner] + place, rounding)
        first = np.searchsorted(owner, np.arange(len(self)))
        least = np.minimum.reduceat(gap, first)
        out = normal[first + _first_of(gap == least[owner], first)]
        sided = np.flatnonzero(self.catalogue.sided[self.shape])
        if wall.shape.convex or not len(sided):
            return least, out
        some = self[sided]
        what = some.catalogue.table, some.shape, some.radius, position[sided], some.orientation, np.zeros((1, 3))
        facing = face(
            wall.shape, self.catalogue, Placed(self.dimension, *what), np.full(len(some), reach), self.bound.max()
        )
        least[sided], out[sided] = np.inf, 0.0
        order = np.argsort(-facing.found[:, FOUND_GAP], kind="stable")  # the least one last
        rows = sided[facing.grain[order]]
        least[rows], out[rows] = facing.found[order, FOUND_GAP], facing.found[order, FOUND_N]
        return least, out


def inscribed(catalogue: Catalogue) -> Array:
    """(shapes,) radius of the largest sphere about the centre within one part of each shape, at radius 1."""
    return np.array([max(0.0, *(_depth(shape, k) for k in range(len(shape.parts)))) for shape in catalogue.shapes])


def _depth(shape: Shape, k: int) -> float:
    """How far the centre is from the surface of a part, if it is within."""
    part = shape.parts[k]
    if len(part.vertices) > 2:
        return (
            float(min(part.vertices[loop[0]] @ normal for loop, normal in zip(part.faces, part.normals)))
            + part.rounding
        )
    start, along = part.vertices[0], part.vertices[-1] - part.vertices[0]
    share = np.clip(-(start @ along) / max(float(along @ along), 1e-300), 0.0, 1.0)
    return part.rounding - float(np.linalg.norm(start + share * along))


def _first_of(hit: NDArray[np.bool_], first: Index) -> Index:
    """Within each run that begins at `first`, how far the first hit is."""
    at = np.where(hit, np.arange(len(hit)), len(hit))
    return np.asarray(np.minimum.reduceat(at, first) - first)
