"""Gaps of pairs of grains by the narrow phase, for grains that stand still or are only moved, not turned."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiled import kernel
from ..shapes import flat_manifold as flat
from ..shapes import solid_manifold as solid
from ..shapes.core import FLAT
from ..shapes.placed import make_workspace, most_points
from .cells import Array
from .forms import Forms

Index = NDArray[np.int64]

BATCH = 100_000  # pairs of parts that are looked at together


class Narrow:
    """Contact points of some grains, in 2D placed once for all."""

    def __init__(self, forms: Forms) -> None:
        self.forms, self.table = forms, forms.catalogue.table
        self.first, self.count = self.table.part_start[forms.shape], np.diff(self.table.part_start)[forms.shape]
        if forms.dimension == FLAT:
            self.own = np.concatenate([[0], np.cumsum(self.count)])  # each grain has parts of its own
            part, grain = self._parts(np.arange(len(forms)))
            sizes = np.diff(self.table.vertex_start)[part]
            self.start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
            self.rounding = forms.radius[grain] * self.table.radius[part]
            self.sides = np.zeros((int(self.start[-1]), 4))
            turned = forms.orientation[grain]
            place_parts(self.table, part, np.cos(turned), np.sin(turned), forms.radius[grain], self.start, self.sides)
        else:
            self.work, self.most = make_workspace(self.table), most_points(self.table)

    def gaps(self, position: Array, i: Index, j: Index, shift: Array, margin: float) -> tuple[Array, Array]:
        """Least gap (m,) of pairs of grains, infinite beyond the margin (m), and the way (m, 3) that leads j off i.

        The way is the mean normal of all contact points by what they lack to the margin: with several parts the deepest
        alone would lead to and fro.
        shift : (m, 3) m, to be added to the position of j, its periodic image
        """
        gap, normal = np.full(len(i), np.inf), np.zeros((len(i), 3))
        several = (self.count[i] * self.count[j]).astype(np.int64)
        ends = np.cumsum(several)
        begin = 0
        while begin < len(i):
            base = ends[begin - 1] if begin else 0
            end = max(begin + 1, int(np.searchsorted(ends, base + BATCH, side="right")))
            rows = np.repeat(np.arange(begin, end), several[begin:end])
            within = np.arange(len(rows)) - np.repeat(ends[begin:end] - several[begin:end] - base, several[begin:end])
            a, b = within // self.count[j[rows]], within % self.count[j[rows]]
            look = self._flat if self.forms.dimension == FLAT else self._solid
            owner, found, way = look(position, i[rows], j[rows], a, b, shift[rows], margin)
            np.minimum.at(gap, rows[owner], found)
            np.add.at(normal, rows[owner], (margin - found)[:, None] * way)
            begin = end
        length = np.linalg.norm(normal, axis=1, keepdims=True)
        return gap, np.divide(normal, length, out=normal, where=length > 0.0)

    def _parts(self, grains: Index) -> tuple[Index, Index]:
        """Part and grain of each part of some grains."""
        grain = np.repeat(grains, self.count[grains])
        ends = np.cumsum(self.count[grains])
        within = np.arange(len(grain)) - np.repeat(ends - self.count[grains], self.count[grains])
        return self.first[grain] + within, grain

    def _flat(
        self, position: Array, i: Index, j: Index, a: Index, b: Index, shift: Array, margin: float
    ) -> tuple[Index, Array, Array]:
        pairs = np.stack([self.own[i] + a, self.own[j] + b], axis=1)
        offset = np.ascontiguousarray((position[j] + shift - position[i])[:, :2])
        points, ids = np.zeros((2 * len(pairs), 5)), np.zeros(2 * len(pairs), np.int64)
        counts = np.zeros(len(pairs), np.int64)
        flat.flat_manifolds(self.sides, self.start, self.rounding, pairs, offset, margin, points, ids, counts)
        owner = np.repeat(np.arange(len(pairs)), 2)[there := (np.arange(2) < counts[:, None]).ravel()]
        points = points[there]
        return owner, points[:, flat.GAP], np.pad(points[:, flat.NORMAL_X : flat.NORMAL_Y + 1], ((0, 0), (0, 1)))

    def _solid(
        self, position: Array, i: Index, j: Index, a: Index, b: Index, shift: Array, margin: float
    ) -> tuple[Index, Array, Array]:
        forms, room = self.forms, self.most * len(i)
        pairs, parts = np.stack([i, j], axis=1), np.stack([self.first[i] + a, self.first[j] + b], axis=1)
        start, points, features = np.zeros(len(i) + 1, np.int64), np.zeros((room, 7)), np.zeros(room, np.int64)
        count = solid.find_points(
            pairs, parts, np.ascontiguousarray(shift), self.table, position, forms.orientation, forms.radius, margin,
            self.work, start, points, features,
        )  # fmt: skip
        owner = np.repeat(np.arange(len(i)), np.diff(start))
        return owner, points[:count, solid.GAP], points[:count, solid.N_X : solid.N_Z + 1]


@kernel
def place_parts(table, part, cosine, sine, scale, start, sides):
    """The sides of all parts of all grains."""
    for k in range(len(part)):
        flat.place_part(table, part[k], cosine[k], sine[k], scale[k], sides, start[k])
