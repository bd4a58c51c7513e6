"""How many pairs of rounded polygons the narrow phase handles in a second, on one thread.

    python benchmarks/manifolds.py

Neighbours in a loose packing, so that some pairs touch and others are apart by up to a third of the size.
"""

from __future__ import annotations

import time

import numpy as np

from rigidgrains.shapes.flat_manifold import flat_manifolds

COUNT, SPACING, REACH = 2000, 1.75, 2.3  # grains, their distance on a square lattice, and up to which pairs are listed
MARGIN = 0.05


def polygons(corners: int, count: int = COUNT) -> tuple[np.ndarray, ...]:
    """Rows of `sides`, first rows, pairs and offsets of regular polygons of size one, turned at random."""
    rng = np.random.default_rng(1)
    angle = 2.0 * np.pi * np.arange(corners) / corners + rng.uniform(0.0, 7.0, (count, 1))
    normal = angle + np.pi / corners
    sides = np.stack([np.cos(angle), np.sin(angle), np.cos(normal), np.sin(normal)], axis=-1).reshape(-1, 4)
    row = int(np.sqrt(count))
    place = SPACING * np.stack(np.divmod(np.arange(count), row), axis=1) + rng.normal(0.0, 0.05, (count, 2))
    apart = np.linalg.norm(place[:, None] - place, axis=-1)
    pairs = np.argwhere(np.triu(apart < REACH, 1))
    return sides, corners * np.arange(count + 1), pairs, place[pairs[:, 1]] - place[pairs[:, 0]]


def rate(corners: int, rounding: float, seconds: float = 1.0) -> tuple[float, float]:
    """Pairs in a second of CPU time, and contact points for each pair."""
    sides, start, pairs, offset = polygons(corners)
    points, ids, counts = np.zeros((2 * len(pairs), 5)), np.zeros(2 * len(pairs), np.int64), np.zeros(len(pairs), int)
    radius = np.full(len(start) - 1, rounding)
    flat_manifolds(sides, start, radius, pairs, offset, MARGIN, points, ids, counts)
    rounds, begin = 0, time.process_time()
    while time.process_time() - begin < seconds:
        flat_manifolds(sides, start, radius, pairs, offset, MARGIN, points, ids, counts)
        rounds += 1
    return rounds * len(pairs) / (time.process_time() - begin), float(counts.mean())


def main() -> None:
    for corners in (3, 4, 5, 8):
        for rounding in (0.0, 0.05):
            pairs, points = rate(corners, rounding)
            print(f"{corners}-gons, rounding {rounding}: {1e-6 * pairs:.2f} M pairs/s, {points:.2f} points a pair")


if __name__ == "__main__":
    main()
