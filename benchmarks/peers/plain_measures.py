"""Physical results from samples of the state: the same functions for all codes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.spatial import cKDTree

Result = tuple[float, float | None]  # mean and standard error, None where there is no way to tell
BLOCKS = 5
SLIDES = 0.99  # of mu R_n: LAMMPS' tangential forces of sliding contacts are there within the change of a step


@dataclass
class State:
    """A sample: position, velocity (n, 3), radius (n,); contacts between grains and how many of them slide.

    lid, push : height of the lid, and force of the grains on it along x and z, where there is one
    """

    time: float
    position: np.ndarray
    velocity: np.ndarray
    radius: np.ndarray
    contacts: int
    sliding: int
    lid: float = math.nan
    push: tuple[float, float] = (math.nan, math.nan)

    @property
    def mass(self) -> np.ndarray:
        return 4.0 / 3.0 * math.pi * self.radius**3


def pair_overlaps(state: State, period: float | None = None) -> np.ndarray:
    """Overlaps of the grains that overlap; period : of x and y."""
    position = state.position
    if len(position) < 2:
        return np.empty(0)
    size = None
    if period is not None:
        size = np.array([period, period, 1e6])
        position = np.column_stack([position[:, :2] % period, position[:, 2] + 100.0])
    pairs = cKDTree(position, boxsize=size).query_pairs(2.0 * state.radius.max(), output_type="ndarray")
    apart = position[pairs[:, 0]] - position[pairs[:, 1]]
    if period is not None:
        apart[:, :2] -= period * np.round(apart[:, :2] / period)
    overlap = state.radius[pairs].sum(axis=1) - np.linalg.norm(apart, axis=1)
    return overlap[overlap > 0.0]


def overlap_figures(overlap: np.ndarray) -> dict[str, float]:
    """Over the mean radius."""
    if not len(overlap):
        return {"mean_overlap": 0.0, "overlap_99": 0.0}
    return {"mean_overlap": float(overlap.mean()), "overlap_99": float(np.quantile(overlap, 0.99))}


def blocks(series: Sequence[float] | np.ndarray) -> Result:
    """Mean of a time series; its standard error is that of the means of a few blocks, long enough to be independent."""
    series = np.asarray(series, dtype=float)
    if len(series) < 2 * BLOCKS:
        return float(series.mean()), None
    means = [part.mean() for part in np.array_split(series, BLOCKS)]
    return float(series.mean()), float(np.std(means, ddof=1) / math.sqrt(BLOCKS))


def contact_results(states: Sequence[State]) -> dict[str, Result]:
    """Contacts per grain, and the share of them that slides."""
    touching = [2.0 * state.contacts / max(len(state.radius), 1) for state in states]
    sliding = [state.sliding / max(state.contacts, 1) for state in states]
    return {"z": blocks(touching), "sliding": blocks(sliding)}


def surface_angle(state: State, reach: float) -> float:
    """Angle of the free surface (rad): a line through the highest grains of strips within `reach` of the axis."""
    edges = np.linspace(-reach, reach, max(4, int(2.0 * reach / 1.5)) + 1)
    x, top = [], []
    for low, high in pairwise(edges):
        inside = (state.position[:, 0] >= low) & (state.position[:, 0] < high)
        if inside.any():
            x.append(0.5 * (low + high))
            top.append(np.quantile(state.position[inside, 2], 0.95))
    return math.atan(abs(np.polyfit(x, top, 1)[0])) if len(x) > 1 else 0.0


def velocity_profile(states: Sequence[State], angle: float, radius: float) -> dict[float, Result]:
    """Velocity down the slope, by the distance from the axis along the normal of the surface over the drum's radius."""
    edges = np.linspace(-1.0, 0.2, 7)
    along, normal = np.array([math.cos(angle), 0.0, -math.sin(angle)]), np.array([math.sin(angle), 0, math.cos(angle)])
    series: dict[float, list[float]] = {0.5 * (a + b): [] for a, b in pairwise(edges)}
    for state in states:
        if not len(state.position):
            continue
        s, n = state.position @ along / radius, state.position @ normal / radius
        for (low, high), values in zip(pairwise(edges), series.values()):
            inside = (np.abs(s) < 0.25) & (n >= low) & (n < high)
            if inside.any():
                values.append(float((state.velocity[inside] @ along).mean()))
    return {round(depth, 3): blocks(values) for depth, values in series.items() if len(values) > len(states) // 2}


def heap_angle(state: State, half: float) -> Result:
    """Angle of a heap on a square tray (degrees): slope of the highest grains from the middle towards each side.

    The standard error is over the four sides.
    """
    angles = []
    x, y, z = state.position.T
    for across, beside in ((x, y), (-x, y), (y, x), (-y, x)):
        edges = np.arange(0.2 * half, 0.95 * half, 1.0)
        place, top = [], []
        for low, high in pairwise(edges):
            inside = (across >= low) & (across < high) & (np.abs(beside) < 0.4 * half) & (z > 0.0)
            if inside.any():
                place.append(across[inside].mean())
                top.append(np.quantile(z[inside], 0.9))
        if len(place) > 1:
            angles.append(math.degrees(math.atan(-np.polyfit(place, top, 1)[0])))
    if not angles:
        return math.nan, None
    return float(np.mean(angles)), float(np.std(angles, ddof=1) / math.sqrt(len(angles))) if len(angles) > 1 else None
