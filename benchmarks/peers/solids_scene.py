"""Scenes of the race of solids, the same for all codes, and one measure of the overlaps that they leave.

Solids have the volume of a sphere of diameter 1 and the density 6/pi: d = m = g = 1; mu = 0.5, no restitution. Workers
of another Python read this file: numpy and scipy alone.
`tower` is ten cubes on each other, which should stand. In `cubes` and in `dice`, the five Platonic solids in equal
parts, solids turned at random start on a cubic lattice in a box that is open above, and come to rest on each other.
States are looked at ten times, in equal intervals: a code that lets solids sink into each other does so while they
collide, or while they lie.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial import ConvexHull, cKDTree

MU, RADIUS, LOOKS = 0.5, 0.5, 10
GOLDEN = 0.5 * (1.0 + math.sqrt(5.0))
SIGNS = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
PARALLEL = 1e-6  # sine of the angle of two edges that have no normal of their own


@dataclass(frozen=True)
class Solid:
    """A convex body about its centre: vertices (k, 3), directions of face normals (f, 3) and of edges (e, 3)."""

    vertices: np.ndarray
    normals: np.ndarray = field(init=False)
    edges: np.ndarray = field(init=False)
    inner: float = field(init=False)  # from the centre to the faces
    inertia: float = field(init=False)  # about any axis through the centre, of mass 1

    def __post_init__(self) -> None:
        hull = ConvexHull(self.vertices)
        grown = self.vertices * (RADIUS / (0.75 / math.pi * hull.volume) ** (1.0 / 3.0))
        distance = np.linalg.norm(grown[:, None] - grown[None], axis=2)
        ends = np.argwhere(np.triu(distance < 1.001 * distance[distance > 0.0].min(), 1))  # all edges are equally long
        corners = grown[hull.simplices]  # of triangles: tetrahedra with the centre
        volume = np.abs(np.linalg.det(corners))
        square = (corners.sum(axis=1) ** 2).sum(axis=1) + (corners**2).sum(axis=(1, 2))  # 20 times the mean of r^2
        object.__setattr__(self, "inertia", float(2.0 / 3.0 * (volume @ square) / (20.0 * volume.sum())))
        object.__setattr__(self, "vertices", grown)
        object.__setattr__(self, "inner", float((grown @ hull.equations[0, :3]).max()))
        object.__setattr__(self, "normals", distinct(hull.equations[:, :3]))
        object.__setattr__(self, "edges", distinct(grown[ends[:, 1]] - grown[ends[:, 0]]))


def distinct(directions: np.ndarray) -> np.ndarray:
    """Unit vectors, those that are parallel once."""
    kept: list[np.ndarray] = []
    for one in directions / np.linalg.norm(directions, axis=1)[:, None]:
        if all(abs(one @ other) < 1.0 - 1e-9 for other in kept):
            kept.append(one)
    return np.array(kept)


def _turns(*corner: float) -> np.ndarray:
    points = np.unique(SIGNS * corner, axis=0)
    return np.concatenate([np.roll(points, k, axis=1) for k in range(3)])


SOLIDS = {
    "tetrahedron": Solid(SIGNS[SIGNS.prod(axis=1) > 0.0]),
    "cube": Solid(SIGNS),
    "octahedron": Solid(_turns(1.0, 0.0, 0.0)),
    "dodecahedron": Solid(np.concatenate([SIGNS, _turns(0.0, 1.0 / GOLDEN, GOLDEN)])),
    "icosahedron": Solid(_turns(0.0, 1.0, GOLDEN)),
}


class Scene:
    """What all codes begin with: names (n,) of solids, position (n, 3), quaternion (n, 4) w x y z, width, time."""

    def __init__(self, name: str, grains: int, seed: int = 1) -> None:
        self.name = name
        side = 2.0 * SOLIDS["cube"].vertices.max()
        if name == "tower":
            self.names = ["cube"] * 10
            self.position = np.array([[0.0, 0.0, side * (k + 0.5)] for k in range(10)])
            self.quaternion = np.tile([1.0, 0.0, 0.0, 0.0], (10, 1))
            self.width, self.time = math.inf, 100.0
            return
        rng = np.random.default_rng(seed)
        self.names = ["cube"] * grains if name == "cubes" else [list(SOLIDS)[k % 5] for k in rng.permutation(grains)]
        across = max(2, round((grains / 2.0) ** (1.0 / 3.0)))
        pitch = 2.01 * max(np.linalg.norm(SOLIDS[solid].vertices[0]) for solid in set(self.names))
        number = np.arange(grains)
        site = np.stack([number % across, number // across % across, number // across**2], axis=1)
        self.position = pitch * (site + 0.5)
        turn = rng.normal(size=(grains, 4))
        self.quaternion = turn / np.linalg.norm(turn, axis=1)[:, None]
        self.width, self.time = pitch * across, 6.0 * math.sqrt(self.position[:, 2].max())

    def walls(self) -> list[tuple[list[float], list[float]]]:
        """Normals, into the grains, and points of planes."""
        floor = [([0.0, 0.0, 1.0], [0.0, 0.0, 0.0])]
        if math.isinf(self.width):
            return floor
        x, y = self.width, self.width
        return [
            *floor, ([1.0, 0.0, 0.0], [0.0, 0.0, 0.0]), ([-1.0, 0.0, 0.0], [x, 0.0, 0.0]),
            ([0.0, 1.0, 0.0], [0.0, 0.0, 0.0]), ([0.0, -1.0, 0.0], [0.0, y, 0.0]),
        ]  # fmt: skip

    def judge(self, states: list[tuple[np.ndarray, np.ndarray]]) -> dict:
        """Of states (position, quaternion): overlaps over the radius 0.5 of all pairs that overlap and, of the last
        state, how far anything has moved sideways (tower) and how high the centre is."""
        overlap = np.concatenate([self.overlaps(*state) for state in states])
        last = self.overlaps(*states[-1])
        position = states[-1][0]
        return {
            "mean_overlap": mean(overlap), "overlap_99": float(np.quantile(overlap, 0.99)) if len(overlap) else 0.0,
            "deepest": float(overlap.max(initial=0.0)), "at_the_end": mean(last),
            "drift": float(np.abs(position - self.position).max()) if self.name == "tower" else math.nan,
            "height": float(position[:, 2].mean()),
        }  # fmt: skip

    def overlaps(self, position: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
        """Depths over the radius, of pairs and at walls, where they are positive."""
        turn = matrices(quaternion)
        corners = [position[i] + SOLIDS[name].vertices @ turn[i].T for i, name in enumerate(self.names)]
        depths = [float(-((own - point) @ normal).min()) for own in corners for normal, point in self.walls()]
        reach = np.array([np.linalg.norm(SOLIDS[name].vertices[0]) for name in self.names])
        for i, j in cKDTree(position).query_pairs(2.0 * reach.max()):
            if np.linalg.norm(position[i] - position[j]) < reach[i] + reach[j]:
                depths.append(self.depth(corners[i], corners[j], self.names[i], self.names[j], turn[i], turn[j]))
        found = np.array(depths) / RADIUS
        return found[found > 0.0]

    def depth(self, a, b, of_a: str, of_b: str, turn_a, turn_b) -> float:
        """The least overlap along all separating axes: normals of faces, and of pairs of edges."""
        cross = np.cross((SOLIDS[of_a].edges @ turn_a.T)[:, None], (SOLIDS[of_b].edges @ turn_b.T)[None]).reshape(-1, 3)
        length = np.linalg.norm(cross, axis=1)
        some = length > PARALLEL
        axes = np.concatenate(
            [SOLIDS[of_a].normals @ turn_a.T, SOLIDS[of_b].normals @ turn_b.T, cross[some] / length[some, None]]
        )
        along_a, along_b = a @ axes.T, b @ axes.T
        both = np.minimum(along_a.max(axis=0) - along_b.min(axis=0), along_b.max(axis=0) - along_a.min(axis=0))
        return float(both.min())


def mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else 0.0


def matrices(quaternion: np.ndarray) -> np.ndarray:
    """(n, 3, 3) rotations of unit quaternions w x y z."""
    w, x, y, z = quaternion.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)
