"""The shapes of a simulation, numbered: what grains refer to, in kernels and in files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .build import UNIT
from .core import FLAT, Array, Part, Shape
from .table import ShapeTable, make_table

UP = 2  # the axis about which flat grains turn


@dataclass(frozen=True, eq=False)
class Catalogue:
    """Shapes by number and name, each with the volume of the round grain of radius 1 (in 2D the area).

    A grain has the number of its shape and a radius, that of the round grain of equal volume: its lengths are those of
    the shape times the radius.
    """

    names: tuple[str, ...]
    shapes: tuple[Shape, ...]

    @classmethod
    def of(cls, shapes: Mapping[str, Shape]) -> Catalogue:
        """Shapes by name, made with size = "equal volume"."""
        return cls(tuple(shapes), tuple(shapes.values()))

    def __post_init__(self) -> None:
        for name, shape in zip(self.names, self.shapes):
            if shape.dimension != self.dimension:
                raise ValueError(
                    f"shape '{name}' is {shape.dimension}D and '{self.names[0]}' {self.dimension}D; give one dimension"
                )
            if not math.isclose(shape.volume, UNIT[shape.dimension], rel_tol=1e-9):
                raise ValueError(
                    f"shape '{name}' has the volume {shape.volume:g}; make it with size = 'equal volume', and give"
                    " grains the radius of the round grain of equal volume"
                )

    @property
    def dimension(self) -> int:
        return self.shapes[0].dimension

    @cached_property
    def table(self) -> ShapeTable:
        """Parts, faces and vertices as flat arrays, for kernels."""
        return make_table(self.shapes)

    @cached_property
    def bound(self) -> Array:
        """(shapes,) radius of the sphere around the centre of mass that holds the shape, at radius 1."""
        return np.array(
            [
                max(float(np.linalg.norm(part.vertices, axis=1).max()) + part.rounding for part in shape.parts)
                for shape in self.shapes
            ]
        )

    @cached_property
    def gyration(self) -> Array:
        """(shapes, 3) radii of gyration about the principal axes, sqrt(I/m), at radius 1; in 2D all that about z."""
        moments = np.array([shape.inertia / shape.volume for shape in self.shapes])
        if self.dimension == FLAT:
            moments[:] = moments[:, [UP]]
        return np.sqrt(moments)

    @cached_property
    def round(self) -> NDArray[np.bool_]:
        """(shapes,) True for a disk or sphere: one part with a point as its core."""
        return np.array([len(shape.parts) == 1 and len(shape.parts[0].vertices) == 1 for shape in self.shapes])

    @cached_property
    def sided(self) -> NDArray[np.bool_]:
        """(shapes,) True where the core of some part is more than a point."""
        return np.array([any(len(part.vertices) > 1 for part in shape.parts) for shape in self.shapes])

    def words(self) -> list[dict[str, Any]]:
        """Everything in plain lists and numbers, exact to the bit."""
        return [{"name": name} | _words(shape) for name, shape in zip(self.names, self.shapes)]

    @classmethod
    def from_words(cls, words: list[dict[str, Any]]) -> Catalogue:
        """The catalogue that `words` told of."""
        return cls(tuple(str(one["name"]) for one in words), tuple(_shape(one) for one in words))


def _words(shape: Shape) -> dict[str, Any]:
    parts = [
        {
            "vertices": part.vertices.tolist(),
            "rounding": part.rounding,
            "faces": [list(loop) for loop in part.faces],
            "normals": part.normals.tolist(),
            "edges": [list(edge) for edge in part.edges],
        }
        for part in shape.parts
    ]
    return {
        "dimension": shape.dimension,
        "parts": parts,
        "volume": shape.volume,
        "inertia": shape.inertia.tolist(),
        "origin": shape.origin.tolist(),
        "axes": shape.axes.tolist(),
        "scale": shape.scale,
    }


def _shape(words: dict[str, Any]) -> Shape:
    parts = [
        Part(
            np.array(one["vertices"], float).reshape(-1, 3),
            float(one["rounding"]),
            tuple(tuple(int(v) for v in loop) for loop in one["faces"]),
            np.array(one["normals"], float).reshape(-1, 3),
            tuple((int(v), int(w), int(f), int(g)) for v, w, f, g in one["edges"]),
        )
        for one in words["parts"]
    ]
    return Shape(
        int(words["dimension"]),
        tuple(parts),
        float(words["volume"]),
        np.array(words["inertia"], float).reshape(3),
        np.array(words["origin"], float).reshape(3),
        np.array(words["axes"], float).reshape(3, 3),
        float(words["scale"]),
    )
