"""How far the scene reaches: the box around grains and walls of one or many frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.shapes import Plane
from ..model.walls import Wall
from ..trajectory.frame import Frame
from .images import corners, shown

Array = NDArray[Any]

FAR = 20.0  # spreads of the packing: a grain beyond has escaped, and is not followed


@dataclass(frozen=True)
class Box:
    """Corners (3,) in m."""

    low: Array
    high: Array

    @property
    def diagonal(self) -> float:
        return float(np.linalg.norm(self.high - self.low))

    def grown(self, by: float) -> Box:
        return Box(self.low - by, self.high + by)

    def corners(self) -> Array:
        """(8, 3)"""
        return np.array(list(product(*zip(self.low, self.high))))


def box_around(frames: Iterable[Frame]) -> Box:
    """The box that holds the grains of all frames, and the walls that are not far from them."""
    boxes = [_box_of(frame) for frame in frames if len(frame)] or [Box(np.zeros(3), np.ones(3))]
    return Box(np.min([box.low for box in boxes], axis=0), np.max([box.high for box in boxes], axis=0))


def _box_of(frame: Frame) -> Box:
    seen = shown(frame)
    position = seen.position
    below, above = (reach[seen.owner] for reach in frame.reaches)
    if frame.dimension == 2:
        below, above = below * np.array([1.0, 1.0, 0.0]), above * np.array([1.0, 1.0, 0.0])
    if len(position) > 10:
        first, last = np.quantile(position, [0.05, 0.95], axis=0)
        reach = FAR * max(float(np.max(last - first)), float(above.max()))
        inside = ((position > first - reach) & (position < last + reach)).all(axis=1)
        position, below, above = position[inside], below[inside], above[inside]
    if not len(position):
        return Box(np.zeros(3), np.ones(3))
    box = Box((position + below).min(axis=0), (position + above).max(axis=0))
    low, high, reach = box.low.copy(), box.high.copy(), 2.0 * box.diagonal
    for point in corners(frame):
        low, high = np.minimum(low, point), np.maximum(high, point)
    for wall in frame.walls:
        for point in _marks(wall, box):
            point = np.clip(point, box.low - reach, box.high + reach)
            low, high = np.minimum(low, point), np.maximum(high, point)
    if frame.dimension == 2:
        low[2] = high[2] = 0.0
    return Box(low, high)


def _marks(wall: Wall, box: Box) -> Iterator[Array]:
    """Points of a wall that ought to be seen."""
    shape = wall.shape
    middle = 0.5 * (box.low + box.high)
    if isinstance(shape, Plane):
        away = float((middle - shape.point) @ shape.normal)
        foot = middle - away * shape.normal
        if abs(away) < 1.5 * box.diagonal and np.abs(shape.normal).max() > 0.999:
            yield foot
    else:
        yield from shape.marks(middle)
