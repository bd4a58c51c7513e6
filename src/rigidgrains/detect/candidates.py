"""Narrow phase: which neighbours are candidates for contact in this step.

A pair is a candidate if its gap is below m0 + dt max(A_0, A_1), where A_i is the largest speed of body i relative to
any of its neighbours. The margin follows the local motion: a fixed one lets pairs close unseen within a step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..bodies import Bodies
from ..compiled import kernel
from .neighbours import Neighbours, WallList

Array = NDArray[np.float64]
Index = NDArray[np.int32]

MARGIN = 1e-3  # m0 over the smallest radius


@dataclass
class PairCandidates:
    """row : contact row of each listed pair, -1 for none; last : its row in the previous step; count : rows"""

    row: Index
    last: Index
    count: int


@dataclass
class WallCandidates:
    """Grains about to touch one wall: gap (m,), normal (m, 3), surface velocity (m, 3), previous contact row (m,)."""

    grains: Index
    gap: Array
    normal: Array
    velocity: Array
    last: Index


def choose(bodies: Bodies, neighbours: Neighbours, dt: float) -> tuple[PairCandidates, list[WallCandidates]]:
    """Candidates of this step; each neighbour remembers its row for the next one."""
    pairs = neighbours.pairs
    near = [_near_wall(bodies, w, listed, dt) for w, listed in enumerate(neighbours.walls)]
    speed = np.zeros(bodies.count)
    relative_speed(pairs.start, pairs.partner, bodies.motion, speed)
    for wall in near:
        approach = np.abs(((bodies.velocity[wall.grains] - wall.velocity) * wall.normal).sum(axis=1))
        speed[wall.grains] = np.maximum(speed[wall.grains], approach)  # a wall lists each grain once
    margin = MARGIN * bodies.radius.min()
    row = np.empty_like(pairs.last)
    count = choose_pairs(pairs.start, pairs.partner, bodies.position, bodies.radius, speed, margin, dt, row)
    chosen = PairCandidates(row, pairs.last, count)
    pairs.last = row
    walls = []
    for wall, listed in zip(near, neighbours.walls):
        keep = np.flatnonzero(wall.gap < margin + dt * speed[wall.grains])
        listed.last[:] = -1
        listed.last[keep] = np.arange(count, count + len(keep), dtype=np.int32)
        count += len(keep)
        walls.append(
            WallCandidates(wall.grains[keep], wall.gap[keep], wall.normal[keep], wall.velocity[keep], wall.last[keep])
        )
    return chosen, walls


def _near_wall(bodies: Bodies, w: int, listed: WallList, dt: float) -> WallCandidates:
    """Gap, normal and surface velocity for all grains listed near a wall."""
    wall = bodies.walls[w]
    grains = listed.grains
    gap, normal = wall.shape.gaps(grains, bodies.position, bodies.radius)
    points = bodies.position[grains] + (bodies.radius[grains] + gap)[:, None] * normal
    velocity = wall.surface_velocity(bodies.motion[bodies.count + w, 0:3], points)
    return WallCandidates(grains, gap, normal, velocity, listed.last.copy())


@kernel
def relative_speed(start, partner, motion, speed):  # type: ignore[no-untyped-def]
    """A_i: the largest speed of grain i relative to any listed neighbour."""
    for i in range(start.size - 1):
        top = speed[i] * speed[i]
        for k in range(start[i], start[i + 1]):
            j = partner[k]
            x = motion[j, 0] - motion[i, 0]
            y = motion[j, 1] - motion[i, 1]
            z = motion[j, 2] - motion[i, 2]
            u = x * x + y * y + z * z
            top = max(top, u)
            speed[j] = max(speed[j], np.sqrt(u))
        speed[i] = np.sqrt(top)


@kernel
def choose_pairs(start, partner, position, radius, speed, margin, dt, row):  # type: ignore[no-untyped-def]
    """Number the candidates among the listed pairs in list order; returns how many there are."""
    count = 0
    for i in range(start.size - 1):
        for k in range(start[i], start[i + 1]):
            j = partner[k]
            x = position[j, 0] - position[i, 0]
            y = position[j, 1] - position[i, 1]
            z = position[j, 2] - position[i, 2]
            near = radius[i] + radius[j] + margin + dt * max(speed[i], speed[j])
            if x * x + y * y + z * z < near * near:
                row[k] = count
                count += 1
            else:
                row[k] = -1
    return count
