"""Sweeps of the general shock law, plain or accelerated, until a residual is small enough."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .general import BlockRows, natural_map

Array = NDArray[np.float64]

GROWTH = 4.0  # over the best residual, from which the best point is restored
LOOK = 5  # symmetric sweeps between two looks at the residual


@dataclass
class Progress:
    """The best impulses (c, 3) so far, sweeps made, and (sweeps, residual) at each look."""

    r: Array
    residual: float
    sweeps: int = 0
    history: list[tuple[int, float]] = field(default_factory=list)
    reason: str = ""


def residuals(rows: BlockRows, r: Array) -> tuple[float, float]:
    """FCLIB's residual, and the same with r in units of velocity.

    FCLIB's is the natural map |r - P(r - u')| over |q|, where an impulse is compared with a velocity as if masses were
    about 1 kg. The second takes r times the mean of W_nn in its place and means the same in all units.
    """
    u = rows.velocity(r)
    scale = float(np.linalg.norm(rows.q)) or 1.0
    unit = float(rows.own[:, 0].mean()) if rows.count else 1.0
    return natural_map(r, u, rows.mu, 1.0) / scale, natural_map(r, u, rows.mu, unit) / scale


def plain_sweeps(rows: BlockRows, start: Array, tolerance: float, most: int) -> Progress:
    """Forward and backward in turn."""
    return _sweep(rows, start, tolerance, most, extrapolated=False)


def accelerated_sweeps(rows: BlockRows, start: Array, tolerance: float, most: int) -> Progress:
    """Nesterov's extrapolation after each sweep forward and backward, with restarts.

    A restart, that is one plain step, when a sweep opposes the trend, or, once information had time to
    cross the packing, when its change has grown to twice the least since the last restart.
    """
    return _sweep(rows, start, tolerance, most, extrapolated=True)


def _sweep(rows: BlockRows, start: Array, tolerance: float, most: int, *, extrapolated: bool) -> Progress:
    forward = np.arange(rows.count, dtype=np.int32)
    backward = forward[::-1].copy()
    weight = (rows.own[:, 0] + rows.own[:, 3] + rows.own[:, 5])[:, None]
    patience = 5.0 * math.sqrt(rows.count)
    best = Progress(start.copy(), max(residuals(rows, start)))
    best.history.append((0, best.residual))
    y, last, theta, least = start.copy(), start.copy(), 1.0, math.inf
    while best.residual > tolerance:
        if best.sweeps >= most:
            best.reason = f"not within {most} sweeps"
            break
        before = y.copy()
        rows.sweep(y, forward)
        rows.sweep(y, backward)
        best.sweeps += 2
        if best.sweeps % (2 * LOOK) == 0 or best.sweeps >= most:
            found = max(residuals(rows, y))
            best.history.append((best.sweeps, found))
            if found < best.residual:
                best.r, best.residual = y.copy(), found
            elif not found < GROWTH * best.residual and extrapolated:
                y, last, theta, least = best.r.copy(), best.r.copy(), 1.0, math.inf
                continue
        if not extrapolated:
            continue
        change, trend = y - before, y - last
        size = float((weight * change * change).sum())
        least = min(least, size)
        last = y.copy()
        if (weight * change * trend).sum() < 0.0 or (best.sweeps > patience and size > 2.0 * least):
            theta, least = 1.0, math.inf
            continue
        following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * theta * theta))
        y += (theta - 1.0) / following * trend
        theta = following
    return best
