"""What every shape of a wall has, and what follows from its fields: its words in files, how it turns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np

from .distance import Array, Index
from .facets import Facets
from .outline import Circle, HalfSpace, Line, Sheets


@dataclass
class Shape:
    """The surface of a wall, a dataclass: a point that moves with it, directions that turn with it, and sizes.

    directions : names of the fields that are unit vectors, two at most: a file has them as wall_normal and wall_along.
                 All other fields but the point are sizes, kept as words: numbers, truth values, tuples of numbers
    """

    point: Array

    directions: ClassVar[tuple[str, ...]] = ()

    @property
    def concave(self) -> bool:
        """True when a tangent runs into the surface, as inside a drum."""
        return False

    @property
    def thickness(self) -> float:
        """m, the radius by which it bends away from grains, as that of a rod; infinite if it does not."""
        return math.inf

    def gaps(self, grains: Index, position: Array, radius: Array) -> tuple[Array, Array]:
        """Gap (m,) and unit normal (m, 3) from each listed grain to the surface."""
        raise NotImplementedError

    @property
    def convex(self) -> bool:
        """True where grains have a convex space before it, so that only their vertices can touch it."""
        return False

    def facets(self, dimension: int, bound: float) -> Facets:
        """What sides and faces of grains meet; bound : m, radius of the sphere around the largest grain."""
        raise NotImplementedError

    @property
    def frame(self) -> Array:
        """(3, 3) axes of the facets' frame in columns; its origin is the point."""
        raise NotImplementedError

    @property
    def off(self) -> float:
        """m, by which its facets are nearer to grains than it is."""
        return 0.0

    def turns_in_itself(self, spin: Array) -> bool:
        """True when a rotation about `point` maps the surface onto itself, as for a drum."""
        return False

    def curvature(self, radius: Array) -> Array | None:
        """(m,) m, the way round it within which contacts of grains of these radii change altogether; None if flat."""
        return None

    def around(self, way: Array) -> Array:
        """(m,) m, the part of displacements (m, 3) that goes round it."""
        return np.asarray(np.linalg.norm(way, axis=1))

    # pictures and the page

    def lines(self) -> Iterator[Line | Circle]:
        """What it is in 2D."""
        yield from ()

    def sheets(self, corners: Array, planes: list[HalfSpace]) -> Sheets:
        """What it is in 3D: convex polygons and rims. Endless shapes end with a box of corners (8, 3), or at planes."""
        return Sheets()

    def cuts(self, plane: HalfSpace) -> Iterator[HalfSpace]:
        """Half-spaces that leave of the sheet of a plane what is within this shape."""
        yield from ()

    def marks(self, middle: Array) -> Iterator[Array]:
        """Points (3,) that ought to be in a picture of grains around a middle."""
        yield self.point

    # files

    def words(self) -> dict[str, Any]:
        """What a file keeps of it besides its place: its sizes."""
        return {name: _plain(getattr(self, name)) for name in self._sizes()}

    @classmethod
    def from_words(cls, words: dict[str, Any], point: Array, first: Array, second: Array) -> Self:
        """The shape again, from its words, its point and its directions."""
        placed = dict(zip(("point", *cls.directions), (point, first, second)))
        return cls(**placed, **{name: _read(words[name]) for name in cls._sizes()})

    def turn(self, rotation: Array) -> None:
        """Turn the directions by a rotation matrix (3, 3)."""
        for name in self.directions:
            setattr(self, name, rotation @ getattr(self, name))

    @classmethod
    def _sizes(cls) -> list[str]:
        return [field.name for field in fields(cls) if field.name not in ("point", *cls.directions)]


def _plain(value: Any) -> Any:
    if isinstance(value, (tuple, list, np.ndarray)):
        return [float(part) for part in value]
    return bool(value) if isinstance(value, (bool, np.bool_)) else float(value)


def _read(word: Any) -> Any:
    if isinstance(word, list):
        return tuple(float(part) for part in word)
    return word if isinstance(word, bool) else float(word)
