"""Pair correlation g(r): how many centres are at a distance, over how many there would be without order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..detect.grid import near_pairs
from ..runtime.compiled import allocating
from .cut import disk_in_box, sphere_in_box
from .images import bounds, cell_of, home, images
from .region import Box, enclosure
from .shown import Shown
from .state import Array, Frame, Index, TooFew, double, of

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation


@dataclass(frozen=True)
class PairCorrelation(Shown):
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
    In a periodic cell images are centres too, as far as the reach goes, each pair of a grain with its own images apart.
    box : by default `enclosure`, moved in by the smallest radius on all sides: where centres can be. Along periodic
          directions it then has no end.
    """
    frame = of(source)
    d = frame.dimension
    if not (np.isfinite(reach) and reach > 0.0):
        raise ValueError(f"reach = {reach} is no distance; give a positive number of metres")
    if box is None:
        room, r = enclosure(frame), float(double(frame.radius).min())
        box = Box(double(room.lower) + r * (1.0 - 1e-9), double(room.upper) - r * (1.0 - 1e-9))
        endless = np.isfinite(bounds(frame)[0])  # along periodic directions
        low, high = box.corners(d)
        low[endless], high[endless] = -np.inf, np.inf
        volume = float(np.prod(np.where(endless[:d], room.size, box.size)))
        centre, ghost = _with_ghosts(frame, low, high, reach)
    else:
        (low, high), volume = box.corners(d), box.volume
        found = images(double(frame.position), cell_of(frame), low, high)
        centre, ghost = _within(double(frame.position)[found.owner] + found.shift, low, high), np.zeros(0, np.int64)
    n = len(centre) - len(ghost)
    if n < 2:
        raise TooFew(f"the box from {list(box.lower)} to {list(box.upper)} holds {n} centres; take a larger one")
    edges = np.linspace(0.0, reach, bins + 1)
    i, j = _pairs(centre, ghost, reach)
    away = centre[j] - centre[i]
    pairs, _ = np.histogram(np.sqrt((away * away).sum(axis=1)), bins=edges)
    inside = (_shells_2d if d == 2 else _shells_3d)(centre[:n], edges, low, high)
    return PairCorrelation(edges, 2.0 * pairs * volume / ((n - 1) * inside), pairs)


def _within(position: Array, low: Array, high: Array) -> Array:
    """(m, 3) m, those in a box."""
    return np.ascontiguousarray(position[np.all((position >= low) & (position <= high), axis=1)])


def _with_ghosts(frame: Frame, low: Array, high: Array, reach: float) -> tuple[Array, Index]:
    """Centres (n + m, 3) m in a box, the last m of them images within reach of the cell, and the rows (m,) of these."""
    centre = _within(home(frame), low, high)
    first, last = bounds(frame)
    found = images(centre, cell_of(frame), first, last, reach)
    away = found.shift.any(axis=1)
    ghost = found.owner[away]
    return np.concatenate([centre, centre[ghost] + found.shift[away]]), ghost


def _pairs(centre: Array, ghost: Index, reach: float) -> tuple[Index, Index]:
    """Pairs of centres that may be within reach. One across a face is met from both ends and taken from one."""
    n = len(centre) - len(ghost)
    near = near_pairs(centre, np.full(len(centre), 0.5 * reach))
    i, j = np.repeat(np.arange(len(centre)), np.diff(near.start)), near.partner.astype(np.int64)
    i, j = np.minimum(i, j), np.maximum(i, j)
    owner = np.append(np.arange(n), ghost)
    once = (i < n) & (owner[i] < owner[j])
    return i[once], j[once]


@allocating
def _shells_3d(position, edges, lower, upper):
    """Volume of each shell inside the box, added over all centres."""
    inside = np.zeros(edges.size - 1)
    for i in range(len(position)):
        last = 0.0
        for k in range(inside.size):
            volume = sphere_in_box(position[i], edges[k + 1], lower, upper)
            inside[k] += volume - last
            last = volume
    return inside


@allocating
def _shells_2d(position, edges, lower, upper):
    """Area of each ring inside the rectangle, added over all centres."""
    inside = np.zeros(edges.size - 1)
    for i in range(len(position)):
        last = 0.0
        for k in range(inside.size):
            volume = disk_in_box(position[i], edges[k + 1], lower, upper)
            inside[k] += volume - last
            last = volume
    return inside
