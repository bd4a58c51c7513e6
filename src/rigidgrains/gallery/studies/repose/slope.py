"""Functions that the study measures with: each gets the last frame of a run."""

from typing import Any

import numpy as np

BINS = 14  # over the table


def angle(frame: Any) -> float:
    """Mean slope (degrees) of both sides of a heap on y = 0: straight lines through the highest grain of each bin."""
    x, top = _surface(frame)
    peak = x[np.argmax(top)]
    slopes = []
    for side in (-1.0, 1.0):
        away = side * (x - peak)
        flank = (away >= 0.0) & (top > 0.25 * top.max())
        if flank.sum() >= 2:
            slopes.append(-np.polyfit(away[flank], top[flank], 1)[0])
    return float(np.degrees(np.arctan(np.mean(slopes)))) if slopes else 0.0


def left_on_table(frame: Any) -> int:
    """Grains that did not roll over the edge."""
    return int((frame.position[:, 1] > 0.0).sum())


def _surface(frame: Any) -> tuple[Any, Any]:
    """Middle of each bin that holds grains, and the height of its highest point (m)."""
    x, y, r = frame.position[:, 0], frame.position[:, 1], frame.radius
    on = (y > 0.0) & (np.abs(frame.velocity[:, 1]) < 0.2)
    x, y, r = x[on], y[on], r[on]
    edges = np.linspace(x.min() - r.max(), x.max() + r.max(), BINS + 1)
    bin_of = np.clip(np.searchsorted(edges, x) - 1, 0, BINS - 1)
    filled = np.unique(bin_of)
    return 0.5 * (edges[:-1] + edges[1:])[filled], np.array([(y + r)[bin_of == k].max() for k in filled])
