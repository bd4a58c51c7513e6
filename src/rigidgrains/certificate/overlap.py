"""Overlaps at the positions of a frame: of all grains with each other and with all walls, listed as contacts or not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from . import surfaces
from .geometry import keys
from .state import Array, State, length
from .verdict import SWEEPS, Check, worst_of

DEEPEST = 1e-2  # of the smaller radius
UNSEEN = 1e-6  # of the smallest radius: an overlap for which no contact is needed


@dataclass
class Overlaps:
    """Pairs of bodies (k, 2) that overlap by depth (k,) m, and the smaller radius (k,) m of each pair."""

    pair: NDArray[np.int64]
    depth: Array
    radius: Array

    @classmethod
    def of(cls, state: State) -> Overlaps:
        """All of them: by trees over grains of similar size, and every grain against every wall."""
        pair = near_pairs(state.position, state.radius)
        i, j = pair.T
        depth = state.radius[i] + state.radius[j] - length(state.position[j] - state.position[i])
        found = [(pair, depth, np.minimum(state.radius[i], state.radius[j]))]
        for w, wall in enumerate(state.walls):
            gap, _, _ = surfaces.gaps(wall, state.position, state.radius)
            i = np.flatnonzero(gap < 0.0)
            found.append((np.stack([i, np.full(len(i), state.n + w)], axis=1), -gap[i], state.radius[i]))
        pair, depth, radius = (np.concatenate(parts) for parts in zip(*found))
        some = depth > 0.0
        return cls(pair[some], depth[some], radius[some])

    def check(self, state: State) -> Check:
        """How deep grains have sunk into each other in the course of the run."""

        def place(k: int) -> str:
            i, j = (int(b) for b in self.pair[k])
            return f"{state.body(i)} and {state.body(j)} overlap by {self.depth[k]:.6g} m"

        return worst_of("overlap", self.depth / self.radius, DEEPEST, "the smaller radius", place, SWEEPS)

    def missing(self, state: State) -> Check:
        """Pairs that overlap though they are not on the list of contacts."""
        bodies = state.n + len(state.walls)
        listed = np.sort(keys(state.frame.contacts.pair, bodies))
        mine = keys(self.pair, bodies)
        at = np.searchsorted(listed, mine)
        unlisted = np.ones(len(mine), dtype=bool)
        if listed.size:
            unlisted = listed[np.minimum(at, len(listed) - 1)] != mine
        some = np.flatnonzero(unlisted)
        noise = state.rounding * (state.coordinate[self.pair[some, 0]] + state.coordinate[self.pair[some, 1]])

        def place(k: int) -> str:
            i, j = (int(b) for b in self.pair[some[k]])
            return f"{state.body(i)} and {state.body(j)} overlap by {self.depth[some[k]]:.6g} m and are no contact"

        depth = np.maximum(self.depth[some] - noise, 0.0) / state.radius.min()
        return worst_of("missing contacts", depth, UNSEEN, "the smallest radius", place)


def near_pairs(position: Array, radius: Array) -> NDArray[np.int64]:
    """(k, 2) grains that may overlap: each size class, a factor of two wide, against itself and larger ones."""
    size = np.floor(np.log2(radius / radius.min())).astype(np.int64)
    classes = [np.flatnonzero(size == k) for k in np.unique(size)]
    trees = [cKDTree(position[some]) for some in classes]
    widest = [float(radius[some].max()) for some in classes]
    pairs = [np.empty((0, 2), np.int64)]
    for a, some in enumerate(classes):
        within = trees[a].query_pairs(2.0 * widest[a], output_type="ndarray")
        pairs.append(some[within])
        for b in range(a + 1, len(classes)):
            near = trees[a].sparse_distance_matrix(trees[b], widest[a] + widest[b], output_type="ndarray")
            pairs.append(np.stack([some[near["i"]], classes[b][near["j"]]], axis=1))
    return np.concatenate(pairs)
