"""How many pairs of rounded polygons and solids the narrow phase handles in a second, on one thread.

    python benchmarks/manifolds.py

Polygons are neighbours in a loose packing, so that some pairs touch and others are apart by up to a third of the size.
Pairs of solids are apart by less than the margin, or overlap by as much. The first line tells how long kernels for
solids take to compile: run it with an empty NUMBA_CACHE_DIR.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from rigidgrains.runtime.compiled import compile_seconds, kernel
from rigidgrains.shapes import gjk, solids
from rigidgrains.shapes.core import Shape
from rigidgrains.shapes.flat_manifold import flat_manifolds
from rigidgrains.shapes.hull import make_part
from rigidgrains.shapes.placed import A, B, make_workspace, most_points, place_vertices
from rigidgrains.shapes.solid_manifold import GAP, find_points
from rigidgrains.shapes.table import make_table

COUNT, SPACING, REACH = 2000, 1.75, 2.3  # grains, their distance on a square lattice, and up to which pairs are listed
MARGIN = 0.05
SOLID_PAIRS = 20_000
FAR = 2.5  # centres of two solids of size one that are surely apart


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
    given = sides, start, radius, pairs, offset, MARGIN, points, ids, counts
    return calls_in_a_second(flat_manifolds, given, seconds) * len(pairs), float(counts.mean())


def calls_in_a_second(function: Any, given: tuple[Any, ...], seconds: float = 1.0) -> float:
    """Calls in a second of CPU time."""
    function(*given)
    rounds, begin = 0, time.process_time()
    while time.process_time() - begin < seconds:
        function(*given)
        rounds += 1
    return rounds / (time.process_time() - begin)


def solid_pairs(name: str, rounding: float, gaps: tuple[float, float], *, parallel: bool = False) -> tuple[Any, ...]:
    """Arguments of `find_points` for pairs of one solid of size one, with gaps (m) between two bounds.

    parallel : to 1e-6, and cubes face on face, in place of any orientation
    """
    part = make_part(solids.platonic(name), dimension=3, rounding=rounding)
    table = make_table([Shape(3, (part,), 1.0, np.ones(3), np.zeros(3), np.eye(3), 1.0)])
    rng, count = np.random.default_rng(1), SOLID_PAIRS
    turn_a, turn_b = Rotation.random(count, rng=rng), Rotation.random(count, rng=rng)
    way = rng.normal(size=(count, 3))
    if parallel:
        way = turn_a.apply(np.c_[rng.uniform(-0.3, 0.3, (count, 2)), np.ones(count)])
        turn_b = Rotation.from_rotvec(1e-6 * rng.normal(size=(count, 3))) * turn_a
    position, orientation = np.zeros((2 * count, 3)), np.zeros((2 * count, 4))
    position[1::2] = FAR * way / np.linalg.norm(way, axis=1)[:, None]
    orientation[::2], orientation[1::2] = (np.roll(turn.as_quat(), 1, axis=1) for turn in (turn_a, turn_b))
    room, start = count * most_points(table), np.zeros(count + 1, np.int64)
    points, features = np.zeros((room, 7)), np.zeros(room, np.int64)
    pairs, none = np.arange(2 * count).reshape(count, 2), np.zeros((count, 3))
    bodies = table, position, orientation, np.ones(2 * count)
    work = make_workspace(table)
    find_points(pairs, np.zeros((count, 2), int), none, *bodies, FAR, work, start, points, features)
    gap = np.minimum.reduceat(points[: start[-1], GAP], start[:-1])
    position[1::2] += (rng.uniform(*gaps, count) - gap)[:, None] * points[start[:-1], 3:6]
    return pairs, np.zeros((count, 2), int), none, *bodies, MARGIN, work, start, points, features


@kernel
def distances(pairs, parts, shift, table, position, orientation, scale, margin, work, start, points, features):
    """The part of `find_points` that finds distances: vertices in place, and GJK."""
    total = 0.0
    for p in range(len(pairs)):
        i, j, a, b = pairs[p, 0], pairs[p, 1], parts[p, 0], parts[p, 1]
        x, y, z = position[j, 0] - position[i, 0], position[j, 1] - position[i, 1], position[j, 2] - position[i, 2]
        place_vertices(table, a, A, 0.0, 0.0, 0.0, orientation, i, scale[i], work)
        place_vertices(table, b, B, x, y, z, orientation, j, scale[j], work)
        count_a = table.vertex_start[a + 1] - table.vertex_start[a]
        count_b = table.vertex_start[b + 1] - table.vertex_start[b]
        far, size = table.radius[a] + table.radius[b] + margin, table.bound[a] + table.bound[b]
        d, _, _ = gjk.distance(count_a, count_b, x, y, z, far, size, work)
        total += d
    return total


def main() -> None:
    before = compile_seconds()
    solid_pairs("cube", 0.05, (0.0, MARGIN))
    print(f"compiling for solids: {compile_seconds() - before:.1f} s")
    for name in solids.SOLIDS:
        for what, rounding, gaps, parallel in (
            ("near", 0.05, (0.0, MARGIN), False),
            ("parallel", 0.05, (0.0, MARGIN), True),
            ("sharp, overlapping", 0.0, (-MARGIN, 0.0), False),
        ):
            given = solid_pairs(name, rounding, gaps, parallel=parallel)
            rates = [1e-6 * SOLID_PAIRS * calls_in_a_second(function, given) for function in (find_points, distances)]
            points = given[-3][-1] / SOLID_PAIRS
            print(f"{name}, {what}: {rates[0]:.2f} M pairs/s, {points:.2f} points a pair; GJK alone {rates[1]:.2f} M/s")
    for corners in (3, 4, 5, 8):
        for rounding in (0.0, 0.05):
            pairs, points = rate(corners, rounding)
            print(f"{corners}-gons, rounding {rounding}: {1e-6 * pairs:.2f} M pairs/s, {points:.2f} points a pair")


if __name__ == "__main__":
    main()
