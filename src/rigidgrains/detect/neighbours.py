"""Neighbour lists: who may touch whom, kept while no body has moved beyond the skin."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..bodies import Bodies, top_speed
from ..compiled import kernel
from .grid import PairList, inherit, near_pairs

Array = NDArray[np.float64]
Index = NDArray[np.int32]

SKIN = 0.2  # of the smallest radius: the least skin
AHEAD = 4.0  # steps at the present speed that a new list should last
WIDEST = 1.0  # of the mean radius: the widest skin taken only to last longer


@dataclass
class WallList:
    """Grains near one wall, and the contact row each had in the previous step."""

    grains: Index
    last: Index


@dataclass
class Neighbours:
    """Pairs and wall lists with gap < skin at the time of building.

    builds : how many times the lists were built
    """

    skin: float = 0.0
    pairs: PairList = field(default_factory=lambda: PairList.empty(0))
    walls: list[WallList] = field(default_factory=list)
    reference: Array = field(default_factory=lambda: np.empty((0, 3)))
    wall_travel: float = 0.0
    builds: int = 0

    def refresh(self, bodies: Bodies, dt: float) -> None:
        """Build the lists anew if a pair outside of them could touch within this step."""
        n = bodies.count
        fastest = top_speed(bodies.motion[:n])
        wall_step = dt * _wall_speed(bodies)
        self.wall_travel += wall_step
        if self.builds:
            moved = _farthest(bodies.position, self.reference)
            if 2.0 * (moved + dt * fastest) < self.skin and moved + dt * fastest + self.wall_travel < self.skin:
                return
        least = max(SKIN * bodies.radius.min(), 2.2 * (dt * fastest + wall_step))
        self._build(bodies, max(least, min(2.0 * AHEAD * (dt * fastest + wall_step), WIDEST * bodies.radius.mean())))
        self.wall_travel = wall_step

    def _build(self, bodies: Bodies, skin: float) -> None:
        n = bodies.count
        old_pairs, old_walls = self.pairs, self.walls
        self.pairs = near_pairs(bodies.position, bodies.radius, skin, capacity=len(old_pairs.partner) * 5 // 4)
        everyone = np.arange(n, dtype=np.int32)
        self.walls = []
        for wall in bodies.walls:
            gap, _ = wall.shape.gaps(everyone, bodies.position, bodies.radius)
            near = np.flatnonzero(gap < skin).astype(np.int32)
            self.walls.append(WallList(near, np.full(len(near), -1, np.int32)))
        if self.builds:
            new, old = self.pairs, old_pairs
            inherit(new.start, new.partner, new.last, old.start, old.partner, old.last)
            for now, before in zip(self.walls, old_walls):
                _, here, there = np.intersect1d(now.grains, before.grains, assume_unique=True, return_indices=True)
                now.last[here] = before.last[there]
        self.skin = skin
        self.reference = bodies.position.copy()
        self.builds += 1


def _wall_speed(bodies: Bodies) -> float:
    """Largest speed at which the surface of any wall can move towards a grain."""
    speed = 0.0
    for row, wall in enumerate(bodies.walls, start=bodies.count):
        fast = float(np.linalg.norm(bodies.motion[row, :3]))
        drive = wall.drive
        if drive.rotates and not (drive.about is None and wall.shape.turns_in_itself(drive.spin)):
            about = wall.shape.point if drive.about is None else drive.about
            fast += float(np.linalg.norm(drive.spin)) * _farthest(bodies.position, about[None, :])
        speed = max(speed, fast)
    return speed


@kernel
def _farthest(position, reference):  # type: ignore[no-untyped-def]
    """Largest distance of positions from their reference points, or from a single one."""
    top = 0.0
    for i in range(position.shape[0]):
        k = min(i, reference.shape[0] - 1)
        x, y, z = position[i, 0] - reference[k, 0], position[i, 1] - reference[k, 1], position[i, 2] - reference[k, 2]
        top = max(top, x * x + y * y + z * z)
    return np.sqrt(top)
