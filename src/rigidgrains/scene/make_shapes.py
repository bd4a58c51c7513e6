"""The shapes that a scene uses, as one catalogue, and how grains get theirs: which, how large, how turned."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..model.sizes import Discrete
from ..shapes.build import clump
from ..shapes.catalogue import Catalogue
from ..shapes.core import FLAT
from ..shapes.core import Shape as MadeShape
from .formed import is_random, shapes_in_file
from .grains import Grains
from .references import group_name
from .scene import Scene
from .shape import ROUND
from .streams import Inflow
from .values import Array

Index = NDArray[np.int32]


@dataclass
class Shapes:
    """The catalogue of a scene.

    number : of each shape in the catalogue by its name in the scene
    kept   : for each group that comes from a file with shapes, the numbers of these in the catalogue
    """

    catalogue: Catalogue
    number: dict[str, int]
    kept: dict[int, Index] = field(default_factory=dict)

    @property
    def dimension(self) -> int:
        return self.catalogue.dimension

    @property
    def drawn_radius(self) -> Array:
        """(shapes,) m, radius of the round grain of equal volume where lengths of the drawing are m."""
        return np.array([1.0 / shape.scale for shape in self.catalogue.shapes])

    def numbers_of(self, index: int, table: Grains, rng: np.random.Generator) -> Index:
        """(n,) shape of each grain of a group; shares are met to within one grain."""
        if index in self.kept:
            assert table.state.shape is not None
            return self.kept[index][table.state.shape]
        shares = table.shape or {ROUND[self.dimension]: 1.0}
        rows = np.array([self.number[canonical(name, self.dimension)] for name in shares], dtype=np.int32)
        if len(rows) == 1:
            return np.full(table.number, rows[0])
        pick = Discrete(np.arange(len(rows), dtype=float), np.array(list(shares.values())))
        return rows[pick.draw(table.number, self.dimension, rng).astype(int)]

    def shares_of(self, table: Inflow) -> dict[int, float]:
        """Shares of the number of grains that enter by the number of their shape."""
        shares = table.shape or {ROUND[self.dimension]: 1.0}
        if table.radius is None:  # grains only come back there
            return {}
        return {self.number[canonical(name, self.dimension)]: share for name, share in shares.items()}

    def orientations_of(self, index: int, table: Grains, shape: Index, rng: np.random.Generator) -> Array:
        """(n,) rad, or (n, 4) quaternions from the principal axes: a grain that is not turned stands as drawn."""
        n = table.number
        if index in self.kept:
            assert table.state.orientation is not None
            return table.state.orientation
        given = table.angles is not None or table.quaternions is not None
        random = is_random(table) and not given and (table.orientation is not None or table.count is not None)
        if self.dimension == FLAT:
            if random:
                return rng.uniform(0.0, 2.0 * math.pi, n)
            return np.array(np.broadcast_to(0.0 if table.angles is None else table.angles, (n,)), dtype=float)
        if random:
            turned = rng.normal(size=(n, 4))
            return np.asarray(turned / np.linalg.norm(turned, axis=1, keepdims=True))
        turned = np.broadcast_to([1.0, 0.0, 0.0, 0.0] if table.quaternions is None else table.quaternions, (n, 4))
        return product(turned, self.axes[shape])

    @property
    def axes(self) -> Array:
        """(shapes, 4) unit quaternions, rotation from the principal axes of each shape to its drawing."""
        from scipy.spatial.transform import Rotation

        turns = [Rotation.from_matrix(shape.axes.T).as_quat() for shape in self.catalogue.shapes]
        return np.roll(np.array(turns), 1, axis=1)


def make_shapes(scene: Scene) -> Shapes | None:
    """All shapes in use, round grains first, then in the order of the scene; None where none is spoken of."""
    spoken = any(table.shape is not None or shapes_in_file(table) is not None for table in scene.grains)
    if not spoken and all(table.shape is None for table in scene.inflow):
        return None
    used: dict[str, MadeShape] = {}
    tables = {table.name: table for table in scene.shape}
    dimension = scene.dimension
    shares = [table.shape for table in scene.grains if not shapes_in_file(table)]
    shares += [table.shape for table in scene.inflow if table.radius is not None]
    for names in shares:
        for name in names or {ROUND[dimension]: 1.0}:
            name = canonical(name, dimension)
            used[name] = tables[name].make(dimension) if name in tables else round_shape(dimension)
    order = [name for name in (ROUND[dimension], *tables) if name in used]
    used = {name: used[name] for name in order}
    number = {name: k for k, name in enumerate(used)}
    kept: dict[int, Index] = {}
    for index, table in enumerate(scene.grains):
        if state := shapes_in_file(table):
            assert state.catalogue is not None
            kept[index] = join(used, state.catalogue, group_name(index, table.name))
    return Shapes(Catalogue.of(used), number, kept)


def join(used: dict[str, MadeShape], catalogue: Catalogue, group: str) -> Index:
    """Numbers of the shapes of a file among those in use, to which they are added; the same shape is there once."""
    numbers = []
    for name, shape in zip(catalogue.names, catalogue.shapes):
        told = name
        if name in used and not same(used[name], shape):
            told = f"{name} of {group}"
        used.setdefault(told, shape)
        numbers.append(list(used).index(told))
    return np.array(numbers, dtype=np.int32)


def same(one: MadeShape, other: MadeShape) -> bool:
    """True for shapes of equal parts."""
    return len(one.parts) == len(other.parts) and all(
        np.array_equal(a.vertices, b.vertices) and a.rounding == b.rounding for a, b in zip(one.parts, other.parts)
    )


def canonical(name: str, dimension: int) -> str:
    """One name for round grains, by whichever of both they are called."""
    return ROUND[dimension] if name in ROUND.values() else name


def round_shape(dimension: int) -> MadeShape:
    """The disk or sphere of radius 1."""
    return clump(np.zeros((1, dimension)), 1.0)


def product(p: Array, q: Array) -> Array:
    """(n, 4) quaternions of rotations q followed by p."""
    w, v, a, b = p[:, :1], p[:, 1:], q[:, :1], q[:, 1:]
    return np.hstack([w * a - (v * b).sum(axis=1, keepdims=True), w * b + a * v + np.cross(v, b)])
