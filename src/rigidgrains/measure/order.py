"""Orientation order: do grains of other shapes than disks and spheres point the same way?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .shown import Shown
from .state import Array, Frame, double, of
from .turning import axes, long_axes

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation

LONGER = 1e-6  # a shape whose second moments differ by less than this share has no long axis


@dataclass(frozen=True)
class OrientationOrder(Shown):
    """order : 0 for axes that point anywhere, 1 for axes that are all alike

    director : (d,) unit vector along which axes point on average; its sense has no meaning
    tensor   : (d, d) mean of (d a a - 1)/(d - 1) over axes a; its largest eigenvalue is `order` where fold is 2
    grains   : how many count
    """

    order: float
    director: Array
    tensor: Array
    grains: int


def orientation_order(source: Frame | Simulation, *, fold: int = 2) -> OrientationOrder:
    """Order of the long axes of grains, each counted once; shapes without one, disks for instance, do not count.

    fold : 2 for nematic order. In 2D also the number of times that a shape looks the same in a turn, 4 for squares: the
           order is then |<exp(i fold theta)>| over the angles theta of all grains that are not disks, as drawn, and the
           director one of the `fold` directions along which they are turned
    """
    frame = of(source)
    d = frame.dimension
    if fold < 1 or (fold != 2 and d == 3):
        raise ValueError(f"fold = {fold} has no meaning in {d}D; give 2, or in 2D the symmetry of the shape")
    if frame.catalogue is None or frame.shape is None:
        return OrientationOrder(0.0, np.eye(d)[0], np.zeros((d, d)), 0)
    shape, round_ = np.asarray(frame.shape, np.int64), frame.catalogue.round
    if fold != 2:
        angle = double(frame.orientation)[~round_[shape]]
        mean = np.exp(1j * fold * angle).mean() if len(angle) else 0j
        towards = np.angle(mean) / fold
        a = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return OrientationOrder(
            float(abs(mean)), np.array([np.cos(towards), np.sin(towards)]), _tensor(a, d), len(angle)
        )
    along, ratio = long_axes(frame.catalogue)
    some = np.flatnonzero(ratio[shape] > 1.0 + LONGER)
    if not some.size:
        return OrientationOrder(0.0, np.eye(d)[0], np.zeros((d, d)), 0)
    a = np.einsum("nab,nb->na", axes(frame)[some], along[shape[some]])[:, :d]
    tensor = _tensor(a, d)
    values, vectors = np.linalg.eigh(tensor)
    return OrientationOrder(float(values[-1]), np.ascontiguousarray(vectors[:, -1]), tensor, len(some))


def _tensor(a: Array, d: int) -> Array:
    """(d, d) mean of (d a a - 1)/(d - 1)."""
    return np.asarray((d * (a.T @ a) / max(len(a), 1) - np.eye(d)) / (d - 1))
