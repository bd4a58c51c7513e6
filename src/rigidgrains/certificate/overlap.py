"""Overlaps at the positions of a frame: of all grains with each other and with all walls, listed as contacts or not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from . import images, surfaces
from .state import Array, State, length
from .verdict import SWEEPS, Check, worst_of

DEEPEST = 1e-2  # of the smaller radius
UNSEEN = 1e-6  # of the smallest radius: an overlap for which no contact is needed


@dataclass
class Overlaps:
    """Pairs of bodies (k, 2) that overlap by depth (k,) m, and the smaller radius (k,) m of each pair.

    image : (k, 3) of the second body, in a periodic cell
    name  : (k,) what meets: parts of grains of other shapes, or the vertex at a wall; 0 of round grains
    """

    pair: NDArray[np.int64]
    image: NDArray[np.int64]
    depth: Array
    radius: Array
    name: NDArray[np.int64]

    @classmethod
    def of(cls, state: State) -> Overlaps:
        """All of them: by trees over grains of similar size, and every grain against every wall."""
        owner, image, place = images.ghosts(state)
        a, b = np.sort(near_pairs(place, state.radius[owner]), axis=1).T
        a, b = a[a < state.n], b[a < state.n]  # images overlap images as their grains do
        i, j = owner[a], owner[b]
        depth = state.radius[i] + state.radius[j] - length(place[b] - place[a])
        pair = np.stack([i, j], axis=1)
        found = [(pair, image[b] - image[a], depth, np.minimum(state.radius[i], state.radius[j]))]
        for w, wall in enumerate(state.walls):
            gap, _, _ = surfaces.gaps(wall, state.position, state.radius)
            i = np.flatnonzero(gap < 0.0)
            pair = np.stack([i, np.full(len(i), state.n + w)], axis=1)
            found.append((pair, np.zeros((len(i), 3), np.int64), -gap[i], state.radius[i]))
        pair, image, depth, radius = (np.concatenate(parts) for parts in zip(*found))
        some = depth > 0.0
        return cls(pair[some], image[some], depth[some], radius[some], np.zeros(int(some.sum()), np.int64))

    def check(self, state: State) -> Check:
        """How deep grains have sunk into each other in the course of the run."""

        def place(k: int) -> str:
            return f"{self.who(state, k)} overlap by {self.depth[k]:.6g} m"

        return worst_of("overlap", self.depth / self.radius, DEEPEST, "the smaller radius", place, SWEEPS)

    def missing(self, state: State) -> Check:
        """Pairs that overlap though they are not on the list of contacts."""
        bodies = state.n + len(state.walls)
        image = state.frame.contacts.image
        listed = np.sort(images.keys(state.frame.contacts.pair, image, bodies))
        mine = images.keys(self.pair, None if image is None else self.image, bodies)
        at = np.searchsorted(listed, mine)
        unlisted = np.ones(len(mine), dtype=bool)
        if listed.size:
            unlisted = listed[np.minimum(at, len(listed) - 1)] != mine
        some = np.flatnonzero(unlisted)
        noise = state.rounding * (state.coordinate[self.pair[some, 0]] + state.coordinate[self.pair[some, 1]])

        def place(k: int) -> str:
            return f"{self.who(state, some[k])} overlap by {self.depth[some[k]]:.6g} m and are no contact"

        depth = np.maximum(self.depth[some] - noise, 0.0) / state.radius.min(initial=np.inf)
        return worst_of("missing contacts", depth, UNSEEN, "the smallest radius", place)

    def who(self, state: State, k: int) -> str:
        """Both bodies by name."""
        i, j = (int(b) for b in self.pair[k])
        through = f" through image {self.image[k].tolist()}" if self.image[k].any() else ""
        return f"{state.body(i)} and {state.body(j)}{through}"


def near_pairs(position: Array, radius: Array) -> NDArray[np.int64]:
    """(k, 2) grains that may overlap: each size class, a factor of two wide, against itself and larger ones."""
    size = np.floor(np.log2(radius / radius.min(initial=np.inf))).astype(np.int64)
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
