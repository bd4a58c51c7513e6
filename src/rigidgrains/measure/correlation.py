"""Pair correlation g(r): how many centres are at a distance, over how many there would be without order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..compiled import kernel
from ..detect.grid import near_pairs
from .cut import disk_in_box, sphere_in_box
from .region import Box, enclosure
from .state import Array, Frame, double, of

if TYPE_CHECKING:
    from ..simulation import Simulation


@dataclass(frozen=True)
class PairCorrelation:
    """edges : (k + 1,) m; g : (k,); pairs : (k,) pairs of centres in each bin, each counted once"""

    edges: Array
    g: Array
    pairs: Array

    @property
    def centres(self) -> Array:
        """(k,) m"""
        return 0.5 * (self.edges[1:] + self.edges[:-1])


def pair_correlation(
    source: Frame | Simulation, *, reach: float, bins: int = 100, box: Box | None = None
) -> PairCorrelation:
    """g(r) up to a distance `reach` (m), of centres that lie in a box.

    A shell around a centre counts with the part of it that is in the box, exactly, so that walls leave no trace: points
    scattered at random over the box have g = 1 on average at every distance.
    box : by default `enclosure`, moved in by the smallest radius on all sides: where centres can be
    """
    frame = of(source)
    d = frame.dimension
    if not (np.isfinite(reach) and reach > 0.0):
        raise ValueError(f"reach = {reach} is no distance; give a positive number of metres")
    if box is None:
        room, r = enclosure(frame), float(double(frame.radius).min())
        box = Box(double(room.lower) + r * (1.0 - 1e-9), double(room.upper) - r * (1.0 - 1e-9))
    low, high = box.corners(d)
    position = double(frame.position)
    position = np.ascontiguousarray(position[np.all((position >= low) & (position <= high), axis=1)])
    n = len(position)
    if n < 2:
        raise ValueError(f"the box from {list(box.lower)} to {list(box.upper)} holds {n} centres; take a larger one")
    edges = np.linspace(0.0, reach, bins + 1)
    near = near_pairs(position, np.full(n, 0.5 * reach))
    i = np.repeat(np.arange(n), np.diff(near.start))
    away = position[near.partner] - position[i]
    pairs, _ = np.histogram(np.sqrt((away * away).sum(axis=1)), bins=edges)
    inside = (_shells_2d if d == 2 else _shells_3d)(position, edges, low, high)
    return PairCorrelation(edges, 2.0 * pairs * box.volume / ((n - 1) * inside), pairs)


@kernel
def _shells_3d(position, edges, lower, upper):  # type: ignore[no-untyped-def]
    """Volume of each shell inside the box, added over all centres."""
    inside = np.zeros(edges.size - 1)
    for i in range(len(position)):
        last = 0.0
        for k in range(inside.size):
            volume = sphere_in_box(position[i], edges[k + 1], lower, upper)
            inside[k] += volume - last
            last = volume
    return inside


@kernel
def _shells_2d(position, edges, lower, upper):  # type: ignore[no-untyped-def]
    """Area of each ring inside the rectangle, added over all centres."""
    inside = np.zeros(edges.size - 1)
    for i in range(len(position)):
        last = 0.0
        for k in range(inside.size):
            volume = disk_in_box(position[i], edges[k + 1], lower, upper)
            inside[k] += volume - last
            last = volume
    return inside
