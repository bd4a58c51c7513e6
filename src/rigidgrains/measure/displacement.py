"""Mean squared displacement over the frames of a trajectory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm

from .images import unwrapped, velocity_gradient
from .kinds import Only, select
from .shown import Shown
from .state import Array, Frame, double


@dataclass(frozen=True)
class Displacement(Shown):
    """time : (k,) s between two frames, 0 first; squared : (k,) m^2, mean of |x(t + time) - x(t)|^2;
    axes : (k, 3) m^2, its parts along x, y, z"""

    time: Array
    squared: Array
    axes: Array


def mean_squared_displacement(
    frames: Iterable[Frame], *, lags: int | None = None, drift: bool = True, affine: bool = True, origins: str = "all",
    only: Only = None,
) -> Displacement:  # fmt: skip
    """Of all grains that are in every frame, by the time between two frames of a Trajectory or of a list.

    In a periodic cell grains are where they really are, after all faces they have crossed.
    lags    : how many times to go, in frames; up to the whole length if absent
    drift   : False takes out the motion of the mean of all grains
    affine  : False takes out the flow of a cell that deforms: x(t + time) - F x(t), F being its deformation meanwhile
    origins : "all" frames are beginnings, which needs frames at equal intervals; "first" takes the first alone
    only    : of these grains, see `select`, as the first frame has them; the drift is that of all
    """
    meant: NDArray[Any] | None = None
    taken: list[tuple[float, NDArray[Any], Array]] = []
    strain, before = [np.eye(3)], None
    for frame in frames:
        if meant is None:
            meant = frame.id[select(frame, only)]
        corner = 0.0 if frame.cell_origin is None else double(frame.cell_origin)
        taken.append((frame.time, frame.id, unwrapped(frame) - corner))
        if before is not None:
            strain.append(np.eye(3) if affine else deformation(before, frame) @ strain[-1])
        before = frame
    if origins not in ("all", "first"):
        raise ValueError(f"origins = {origins!r} is not known; it is 'all' or 'first'")
    stayed = reduce(np.intersect1d, [ids for _, ids, _ in taken]) if taken else np.zeros(0)
    if not len(stayed):
        raise ValueError(f"{len(taken)} frames have no grain in common; choose frames between which some have stayed")
    some = np.isin(stayed, np.zeros(0) if meant is None else meant)
    if not some.any():
        raise ValueError(f"none of the grains that are meant by only = {only!r} is in all frames; choose others")
    time, x = np.array([time for time, _, _ in taken]), np.array([_rows(ids, stayed, at) for _, ids, at in taken])
    every = np.diff(time)
    if origins == "all" and len(every) and np.ptp(every) > 1e-6 * every.mean():
        raise ValueError("frames are not at equal intervals; choose some that are, or origins = 'first'")
    last = len(x) if lags is None else min(lags + 1, len(x))
    axes = np.zeros((last, 3))
    for lag in range(1, last):
        for k in range(1 if origins == "first" else len(x) - lag):
            way = x[k + lag] - x[k] @ (strain[k + lag] @ np.linalg.inv(strain[k])).T
            if not drift:
                way = way - way.mean(axis=0)
            axes[lag] += (way[some] * way[some]).mean(axis=0) / (1 if origins == "first" else len(x) - lag)
    return Displacement(time[:last] - time[0], axes.sum(axis=1), axes)


def deformation(before: Frame, after: Frame) -> Array:
    """(3, 3) F with which the cell has taken what was at x from its origin to F x; one without a cell.

    A cell that leans too far is given shorter vectors for the same images. Which, the mean of both rates tells: the
    strain between two frames must not differ from it by half a cell.
    """
    if before.cell is None or after.cell is None:
        return np.eye(3)
    old, new = double(before.cell), double(after.cell)
    rate = 0.5 * (velocity_gradient(before) + velocity_gradient(after))
    foretold = old @ expm(rate * (after.time - before.time)).T
    images = np.rint(foretold @ np.linalg.inv(new))
    return np.asarray(np.linalg.solve(old, images @ new).T)


def _rows(ids: NDArray[Any], stayed: NDArray[Any], position: Array) -> Array:
    """(m, 3) m, positions of those who stayed, in their order."""
    order = np.argsort(ids, kind="stable")
    return np.asarray(position[order[np.searchsorted(ids[order], stayed)]])
