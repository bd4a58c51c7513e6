"""Grains of any shape for the ray-caster: flat faces, cylinders along rounded edges, spheres at rounded corners.

Together they are the whole surface that can be seen of a rounded convex part. What they hide is inside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.columns import Z
from ..shapes.catalogue import Catalogue
from ..shapes.core import Part
from ..shapes.poses import by_shape, matrices
from .camera import Camera

Array = NDArray[Any]

TOWARDS = 1e-9  # of a unit normal: faces seen more from the side than this are not seen


@dataclass
class Pieces:
    """In the camera's coordinates. Colours are RGB within 0 to 1, by the grain.

    centre (n, 3), radius (n,), colour (n, 3) of spheres
    start, end (m, 3), thickness (m,), tint (m, 3) of cylinders; thickness is their radius
    corners (k, 3), first (f + 1,), normal (f, 3), paint (f, 3) of faces; face f has corners first[f] to first[f + 1]
    """

    centre: Array
    radius: Array
    colour: Array
    start: Array
    end: Array
    thickness: Array
    tint: Array
    corners: Array
    first: Array
    normal: Array
    paint: Array


def shape_pieces(
    catalogue: Catalogue,
    shape: Array,
    position: Array,
    radius: Array,
    orientation: Array,
    colour: Array,
    camera: Camera,
) -> Pieces:
    """What can be seen of grains; position (n, 3) m, radius (n,) m, orientation (n, 4), colour (n, 3)."""
    spheres, tubes, faces = [_none(3, 0, 3)], [_none(3, 3, 0, 3)], [(np.zeros((0, 1, 3)), *_none(3, 3))]
    centre = camera.project(position)
    for rows, parts in by_shape(catalogue, shape):
        turn = camera.rows @ matrices(orientation[rows])
        for part in parts:
            grains = _Placed(part, turn, centre[rows], np.asarray(radius, float)[rows], colour[rows])
            if part.rounding > 0.0:
                spheres.append(grains.spheres())
                tubes.append(grains.tubes())
            faces += grains.faces()
    centre, reach, colour = (np.concatenate(some) for some in zip(*spheres))
    start, end, thickness, tint = (np.concatenate(some) for some in zip(*tubes))
    loops, normals, paints = zip(*faces)
    counts = np.concatenate([np.full(len(corners), corners.shape[1]) for corners in loops])
    return Pieces(
        centre=centre,
        radius=reach,
        colour=colour,
        start=start,
        end=end,
        thickness=thickness,
        tint=tint,
        corners=np.concatenate([corners.reshape(-1, 3) for corners in loops]),
        first=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        normal=np.concatenate(normals),
        paint=np.concatenate(paints),
    )


class _Placed:
    """One part of all grains of a shape, in the camera's coordinates."""

    def __init__(self, part: Part, turn: Array, centre: Array, radius: Array, colour: Array) -> None:
        self._part, self._radius, self._colour = part, radius, colour
        self._vertices = centre[:, None] + radius[:, None, None] * np.einsum("iab,kb->ika", turn, part.vertices)
        self._normals = np.einsum("iab,fb->ifa", turn, part.normals)
        self._up = self._normals[:, :, Z] > TOWARDS

    def spheres(self) -> tuple[Array, ...]:
        part, seen = self._part, np.ones(self._vertices.shape[:2], bool)
        if len(part.faces):
            at = np.array([[v in loop for loop in part.faces] for v in range(len(part.vertices))])
            seen = (self._up[:, None] & at).any(axis=2)
        grain, vertex = np.nonzero(seen)
        return self._vertices[grain, vertex], part.rounding * self._radius[grain], self._colour[grain]

    def tubes(self) -> tuple[Array, ...]:
        part = self._part
        if not part.edges:
            return _none(3, 3, 0, 3)
        tail, head, left, right = np.array(part.edges).T
        seen = np.ones((len(self._radius), len(tail)), bool)
        if len(part.faces):
            seen = self._up[:, left] | self._up[:, right]
        grain, edge = np.nonzero(seen)
        thickness = part.rounding * self._radius[grain]
        return self._vertices[grain, tail[edge]], self._vertices[grain, head[edge]], thickness, self._colour[grain]

    def faces(self) -> list[tuple[Array, Array, Array]]:
        """Corners (m, k, 3), normals (m, 3) and colours (m, 3) of each face, where it is turned to the eye."""
        some = []
        for number, loop in enumerate(self._part.faces):
            grain = np.flatnonzero(self._up[:, number])
            normal = self._normals[grain, number]
            away = (self._part.rounding * self._radius[grain])[:, None, None] * normal[:, None]
            some.append((self._vertices[grain][:, list(loop)] + away, normal, self._colour[grain]))
        return some


def _none(*widths: int) -> tuple[Array, ...]:
    return tuple(np.zeros((0, width) if width else 0) for width in widths)
