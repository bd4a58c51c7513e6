"""Surfaces of all grains of a frame, as other programs want them: triangles of solids, polygons of flat grains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..shapes.build import capsule
from ..shapes.core import FLAT, Shape
from ..shapes.outline import polygons
from ..shapes.poses import matrices
from ..shapes.surface import FINE, surface

if TYPE_CHECKING:
    from ..trajectory.frame import Frame

Array = NDArray[Any]

CHUNK = 2_000_000  # triangles that are in memory at once
FINENESS = ((1_000, FINE), (20_000, 12))  # up to so many grains, straight pieces to a full turn
COARSE = 8


class Placed(NamedTuple):
    """Grains of one shape where they are.

    rows   : (n,) of the frame
    points : (n, k, 3) m
    cells  : (c, 3) triangles, or in 2D one row for each polygon, by numbers of the k points
    """

    rows: NDArray[np.intp]
    points: Array
    cells: list[NDArray[np.int32]] | NDArray[np.int32]


def placed_surfaces(frame: Frame, *, fine: int | None = None) -> Iterator[Placed]:
    """Grains of each shape in turn, not too many at once; fine : straight pieces to a full turn."""
    if fine is None:
        fine = next((pieces for most, pieces in FINENESS if len(frame) <= most), COARSE)
    shapes, number = shapes_of(frame)
    turn = matrices(frame.orientation)
    for k, shape in enumerate(shapes):
        rows = np.flatnonzero(number == k)
        if not len(rows):
            continue
        points, cells = _model(shape, fine)
        for some in np.array_split(rows, max(1, -(-len(rows) * len(cells) // CHUNK))):
            place = frame.radius[some, None, None] * np.einsum("iab,kb->ika", turn[some], points)
            yield Placed(some, frame.position[some, None] + place, cells)


def shapes_of(frame: Frame) -> tuple[tuple[Shape, ...], Array]:
    """Shapes, and (n,) number of each grain's; where all are round, one disk or sphere."""
    if frame.catalogue is not None and frame.shape is not None:
        return frame.catalogue.shapes, frame.shape
    return (capsule(1.0, dimension=frame.dimension),), np.zeros(len(frame), np.int32)


def _model(shape: Shape, fine: int) -> tuple[Array, Any]:
    """Points (k, 3) at radius 1, and triangles, or polygons in 2D, one for each part: convex, as readers want them."""
    if shape.dimension != FLAT:
        whole = surface(shape, fine=fine).welded()
        return whole.points, whole.triangles
    points: list[Array] = []
    cells: list[NDArray[np.int32]] = []
    for part in shape.parts:
        (corners,) = polygons(replace(shape, parts=(part,)), fine=2 * fine)
        first = sum(map(len, points))
        points.append(np.column_stack([corners, np.zeros(len(corners))]))
        cells.append(np.arange(first, first + len(corners), dtype=np.int32))
    return np.concatenate(points), cells
