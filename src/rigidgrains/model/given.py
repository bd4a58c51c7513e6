"""Forces that grains bring along from a file: where the first step begins, in place of none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]

NAMES = ("grain", "force", "image", "vectors", "feature", "lever")


@dataclass(frozen=True)
class GivenForces:
    """Of contacts of grains, by ids.

    grain   : (c, 2) ids of both grains; the second is -1 - w at wall w
    force   : (c, 4) N, R_n and R_t (3) on the second
    walls   : names of the walls
    image   : (c, 3) of the second grain, in a cell of these vectors (3, 3) m; zero without one
    feature, lever : (c,) and (c, 3) m, what tells points of other shapes apart, see contacts/shaped.py; (0,) for round
              grains
    """

    grain: NDArray[np.int64]
    force: Array
    walls: tuple[str, ...] = ()
    image: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 3), np.int64))
    vectors: Array = field(default_factory=lambda: np.eye(3))
    feature: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    lever: Array = field(default_factory=lambda: np.zeros((0, 3)))

    def renamed(self, name: Callable[[NDArray[np.int64]], NDArray[np.int64]]) -> GivenForces:
        """With other ids, negative for grains that are not there; their contacts are left out."""
        first, second = name(self.grain[:, 0]), self.grain[:, 1].copy()
        between = second >= 0
        second[between] = name(second[between])
        keep = (first >= 0) & (~between | (second >= 0))
        rows = {
            one: getattr(self, one)[keep] for one in ("force", "image", "feature", "lever") if len(getattr(self, one))
        }
        grain = np.stack([first, second], axis=1)[keep]
        return GivenForces(**{one: getattr(self, one) for one in NAMES} | rows | {"grain": grain, "walls": self.walls})

    def joined(self, other: GivenForces) -> GivenForces:
        """Both, in one cell."""
        theirs = other.grain.copy()
        walls = theirs[:, 1] < 0
        theirs[walls, 1] -= len(self.walls)
        rows = {one: np.concatenate([getattr(self, one), getattr(other, one)]) for one in NAMES[1:] if one != "vectors"}
        if min(len(self.feature), len(other.feature)) < 1:  # round grains have none
            rows |= {"feature": np.zeros(0, np.int64), "lever": np.zeros((0, 3))}
        grain, names = np.concatenate([self.grain, theirs]), self.walls + other.walls
        return GivenForces(grain=grain, walls=names, vectors=self.vectors, **rows)

    def arrays(self) -> Arrays:
        """For a checkpoint, by name."""
        return {f"given_{name}": getattr(self, name) for name in NAMES}

    @classmethod
    def restore(cls, arrays: Arrays, walls: list[str] | None) -> GivenForces | None:
        """Those that a checkpoint has; None if it has none."""
        if walls is None:
            return None
        return cls(**{name: arrays[f"given_{name}"] for name in NAMES}, walls=tuple(walls))
