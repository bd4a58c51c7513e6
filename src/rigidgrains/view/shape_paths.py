"""Grains of any shape in a 2D picture: one path per shape, turned and scaled for each grain."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.collections import Collection
from matplotlib.path import Path
from matplotlib.transforms import Affine2D, IdentityTransform
from numpy.typing import NDArray

from ..shapes.catalogue import Catalogue
from ..shapes.core import Shape
from ..shapes.outline import Piece, outline, polygons
from ..shapes.poses import matrices

Array = NDArray[Any]

EIGHTH = 0.25 * math.pi  # rad, of an arc in one cubic curve: it is off the circle by 4e-6 of the radius at most


class ShapeCollection(Collection):
    """Filled outlines of grains.

    shape : (m,) number in the catalogue; radius : (m,) m; turn : (m,) rad; offsets : (m, 2) m, centres, as a keyword
    """

    def __init__(self, catalogue: Catalogue, shape: Array, radius: Array, turn: Array, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        paths = [shape_path(one) for one in catalogue.shapes]
        self._paths: list[Path] = [paths[number] for number in shape]
        self._turned = np.asarray(radius, float)[:, None, None] * matrices(np.asarray(turn, float))
        self.set_transform(IdentityTransform())

    def draw(self, renderer: Any) -> None:
        """Draw with the scale of the axes as they are now."""
        scale = Affine2D(self.axes.transData.get_matrix()) if self.axes is not None else Affine2D()
        matrix = scale.get_matrix().copy()
        matrix[:2, 2] = 0.0
        self._transforms = matrix @ self._grains()
        super().draw(renderer)

    def _grains(self) -> Array:
        turned = self._turned.copy()
        turned[:, 2] = turned[:, :, 2] = 0.0
        turned[:, 2, 2] = 1.0
        return turned


def shape_path(shape: Shape) -> Path:
    """The outline of a 2D shape at radius 1, with holes."""
    vertices: list[Array] = []
    codes: list[int] = []
    for loop in outline(shape):
        vertices.append(loop[0].start[None])
        codes.append(int(Path.MOVETO))
        for piece in loop:
            points, code = _curve(piece)
            vertices.append(points)
            codes += [code] * len(points)
        vertices.append(loop[0].start[None])
        codes.append(int(Path.CLOSEPOLY))
    return Path(np.concatenate(vertices), codes)


def mark_reach(catalogue: Catalogue) -> Array:
    """(shapes,) how far a mark from the centre along x stays within each shape, at radius 1."""
    return np.array([_first_exit(shape) for shape in catalogue.shapes])


def _curve(piece: Piece) -> tuple[Array, int]:
    """Points after the first, and what they are: the end of a line, or two handles and the end of each curve."""
    if piece.radius == 0.0:
        return piece.end[None], int(Path.LINETO)
    count = max(1, math.ceil(piece.sweep / EIGHTH - 1e-9))
    angle = piece.begin + piece.sweep * np.arange(count + 1) / count
    handle = 4.0 / 3.0 * math.tan(0.25 * piece.sweep / count)
    out = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    along = handle * np.stack([-out[:, 1], out[:, 0]], axis=1)
    three = np.stack([out[:-1] + along[:-1], out[1:] - along[1:], out[1:]], axis=1)
    return piece.centre + piece.radius * three.reshape(-1, 2), int(Path.CURVE4)


def _first_exit(shape: Shape) -> float:
    """Where the outline first crosses the positive x axis; 0 where that cannot be said."""
    crossings = []
    for loop in polygons(shape):
        after = np.roll(loop, -1, axis=0)
        some = (loop[:, 1] <= 0.0) != (after[:, 1] <= 0.0)
        (x, y), (u, v) = loop[some].T, after[some].T
        crossings += (x - y * (u - x) / (v - y)).tolist()
    return min((x for x in crossings if x > 0.0), default=0.0)
