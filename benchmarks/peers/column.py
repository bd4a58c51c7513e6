"""The settling column: one task for all codes, and one measure of what they leave.

Units d = g = rho = 1. N spheres with radii uniform in [0.4, 0.6] and mu = 0.5 start on a cubic lattice, each displaced
by up to 0.02, in a box 0.8 N^(1/3) wide that is open above, and settle until T = 4 sqrt(H0/g), H0 being the height of
the lattice.
"""

import math

import numpy as np
from scipy.spatial import cKDTree

MU, LEAST, MOST = 0.5, 0.4, 0.6


class Column:
    """The state at the beginning: position (n, 3), radius (n,), width of the box, height H0 and time T."""

    def __init__(self, grains: int, seed: int = 1) -> None:
        rng = np.random.default_rng(seed)
        self.width = 0.8 * grains ** (1.0 / 3.0)
        side = int(self.width / 1.25 + 1e-9)
        pitch = self.width / side
        number = np.arange(grains)
        site = np.stack([number % side, number // side % side, number // side**2], axis=1)
        self.position = pitch * (site + 0.5) + rng.uniform(-0.02, 0.02, site.shape)
        self.radius = rng.uniform(LEAST, MOST, grains)
        self.height = -(-grains // side**2) * pitch
        self.time = 4.0 * math.sqrt(self.height)

    @property
    def mass(self):
        return 4.0 / 3.0 * math.pi * self.radius**3

    def overlaps(self, position) -> np.ndarray:
        """Of all pairs and walls that overlap, over the mean radius 0.5."""
        pairs = cKDTree(position).query_pairs(2.0 * MOST, output_type="ndarray")
        gaps = [np.linalg.norm(position[pairs[:, 0]] - position[pairs[:, 1]], axis=1) - self.radius[pairs].sum(axis=1)]
        gaps += [position[:, axis] - self.radius for axis in range(3)]
        gaps += [self.width - position[:, axis] - self.radius for axis in range(2)]
        gap = np.concatenate(gaps)
        return -gap[gap < 0.0] / 0.5

    def judge(self, position, velocity=None, acceleration=None) -> dict:
        """What a code has left: overlaps over the mean radius 0.5, contacts, height; with velocities and accelerations
        also the kinetic energy over m g d and the force imbalance over m g, both means over the grains."""
        overlap = self.overlaps(position)
        left = {
            "contacts": len(overlap),
            "mean_overlap": float(overlap.mean()) if len(overlap) else 0.0,
            "overlap_99": float(np.quantile(overlap, 0.99)) if len(overlap) else 0.0,
            "height": float(np.quantile(position[:, 2], 0.99)),
        }
        if velocity is not None:
            left["energy"] = float((0.5 * self.mass * (velocity**2).sum(axis=1)).sum() / self.mass.sum())
        if acceleration is not None:
            left["imbalance"] = float(np.linalg.norm(acceleration, axis=1).mean())
        return left
