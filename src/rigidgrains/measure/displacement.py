"""Mean squared displacement over the frames of a trajectory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .images import unwrapped
from .state import Array, Frame


@dataclass(frozen=True)
class Displacement:
    """time : (k,) s between two frames, 0 first; squared : (k,) m^2, mean of |x(t + time) - x(t)|^2;
    axes : (k, 3) m^2, its parts along x, y, z"""

    time: Array
    squared: Array
    axes: Array


def mean_squared_displacement(
    frames: Iterable[Frame], *, lags: int | None = None, drift: bool = True, origins: str = "all"
) -> Displacement:
    """Of all grains that are in every frame, by the time between two frames of a Trajectory or of a list.

    In a periodic cell grains are where they really are, after all faces they have crossed.
    lags    : how many times to go, in frames; up to the whole length if absent
    drift   : False takes out the motion of the mean of all grains
    origins : "all" frames are beginnings, which needs frames at equal intervals; "first" takes the first alone
    """
    taken = [(frame.time, frame.id, unwrapped(frame)) for frame in frames]
    if origins not in ("all", "first"):
        raise ValueError(f"origins = {origins!r} is not known; it is 'all' or 'first'")
    stayed = reduce(np.intersect1d, [ids for _, ids, _ in taken]) if taken else np.zeros(0)
    if not len(stayed):
        raise ValueError(f"{len(taken)} frames have no grain in common; choose frames between which some have stayed")
    time, x = np.array([time for time, _, _ in taken]), np.array([_rows(ids, stayed, at) for _, ids, at in taken])
    if not drift:
        x = x - x.mean(axis=1, keepdims=True)
    every = np.diff(time)
    if origins == "all" and len(every) and np.ptp(every) > 1e-6 * every.mean():
        raise ValueError("frames are not at equal intervals; choose some that are, or origins = 'first'")
    last = len(x) if lags is None else min(lags + 1, len(x))
    axes = np.zeros((last, 3))
    for lag in range(1, last):
        way = x[lag] - x[0] if origins == "first" else x[lag:] - x[:-lag]
        axes[lag] = (way * way).reshape(-1, 3).mean(axis=0)
    return Displacement(time[:last] - time[0], axes.sum(axis=1), axes)


def _rows(ids: NDArray[Any], stayed: NDArray[Any], position: Array) -> Array:
    """(m, 3) m, positions of those who stayed, in their order."""
    order = np.argsort(ids, kind="stable")
    return np.asarray(position[order[np.searchsorted(ids[order], stayed)]])
