"""A periodic cell in a picture: grains brought into it, images that reach in through its faces, and its outline."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..model.cell import Cell
from ..shapes.poses import bounds
from ..trajectory.frame import Frame

if TYPE_CHECKING:
    from .extent import Box

Array = NDArray[Any]

PALE = 0.62  # of white in the colour of an image


@dataclass(frozen=True)
class Shown:
    """What is drawn: all grains in their order, brought into the cell, then the images.

    owner : (m,) rows of the grains; position : (m, 3) m; pale : (m,) True for images
    """

    owner: Array
    position: Array
    pale: Array

    def tint(self, colour: Array) -> Array:
        """(m, 3) colours of all, from those of the grains; images are paler."""
        share = np.where(self.pale, PALE, 0.0)[:, None]
        return colour[self.owner] * (1.0 - share) + share


def cell_of(frame: Frame) -> Cell | None:
    """The periodic cell of a frame; None without one."""
    if frame.cell is None or frame.cell_origin is None or frame.cell_periodic is None:
        return None
    return Cell(frame.cell, frame.cell_origin, frame.cell_periodic)


def home(frame: Frame) -> Array:
    """(n, 3) m, centres brought into the cell; as they are without one."""
    position, cell = np.array(frame.position, float), cell_of(frame)
    if cell is not None:
        cell.wrap(position)
    return position


def shown(frame: Frame) -> Shown:
    """Grains, and in 2D those images that reach into the cell; images of spheres would hide what is behind them."""
    position, cell = home(frame), cell_of(frame)
    n = len(position)
    owner, place = [np.arange(n)], [position]
    if cell is not None and frame.dimension == 2:
        reach = bounds(frame.catalogue, frame.shape, frame.radius)
        at, near = cell.fractions(position), reach[:, None] / cell.widths
        for k in product(*((-1, 0, 1) if has else (0,) for has in cell.periodic)):
            if any(k):
                there = at + np.array(k)
                some = np.flatnonzero(((there > -near) & (there < 1.0 + near) | ~cell.periodic).all(axis=1))
                owner.append(some)
                place.append(position[some] + np.array(k) @ cell.vectors)
    rows = np.concatenate(owner)
    return Shown(rows, np.concatenate(place), np.arange(len(rows)) >= n)


def outline(frame: Frame, box: Box) -> Array:
    """(m, 2, 3) m, edges of the faces that have images; along open directions they end with the box."""
    cell, d = cell_of(frame), frame.dimension
    if cell is None:
        return np.zeros((0, 2, 3))
    vectors, origin = cell.vectors.copy(), cell.origin.copy()
    for axis in range(3):
        if not cell.periodic[axis]:
            vectors[axis] = (box.high - box.low)[axis] * np.eye(3)[axis]
            origin[axis] = box.low[axis]
    edges = []
    for along in range(d):
        others = [axis for axis in range(d) if axis != along]
        if cell.periodic[others].any():
            for ends in product((0.0, 1.0), repeat=d - 1):
                start = origin + np.array(ends) @ vectors[others]
                edges.append([start, start + vectors[along]])
    return np.array(edges)


def corners(frame: Frame) -> Array:
    """(k, 3) m, corners of the cell along its periodic directions, elsewhere where the grains are; none without one."""
    cell = cell_of(frame)
    if cell is None:
        return np.zeros((0, 3))
    middle = home(frame).mean(axis=0) if len(frame) else cell.origin
    ends = np.array(list(product(*((0.0, 1.0) if has else (0.0,) for has in cell.periodic))))
    return np.where(cell.periodic, cell.origin, middle) + ends @ cell.vectors
