"""Packing fraction: within the walls, in a box, and along an axis."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from .cut import parts_in_slab, parts_inside, volumes_inside
from .images import Images
from .kinds import Only, select
from .region import Box, enclosure, hull_volume
from .state import Array, Frame, axis_number, double, grain_volume, of

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation


def packing_fraction(
    source: Frame | Simulation, *, box: Box | None = None, volume: float | None = None, only: Only = None
) -> float:
    """Share of the volume that grains fill.

    box    : only here; grains that stand out count with the part that is inside, exactly. Overlaps count twice.
    volume : m^3 (m^2 in 2D) that holds all grains, if neither walls nor a periodic cell tell it
    only   : of these grains, see `select`; the parts of all kinds add up to the whole
    """
    frame = of(source)
    some = select(frame, only)
    if box is not None:
        return float(volumes_inside(frame, box)[some].sum()) / box.volume
    return float(grain_volume(frame)[some].sum()) / (hull_volume(frame) if volume is None else volume)


def packing_profile(
    source: Frame | Simulation, axis: int | str, bins: int | Array = 20, *, box: Box | None = None, only: Only = None
) -> tuple[Array, Array]:
    """Edges (k + 1,) in m and packing fraction (k,) of slabs square to an axis, exact by spherical caps.

    bins : how many, or their edges (m); box : what is cut into slabs, `enclosure` if absent; only : of these grains
    """
    frame = of(source)
    some = select(frame, only)
    axis = axis_number(frame, axis)
    room = enclosure(frame) if box is None else box
    edges = bin_edges(bins, room, axis)
    parts = [room.part(axis, low, high) for low, high in pairwise(edges)]
    slices = [slice_volumes(frame, part, axis, whole=box is None) for part in parts]
    filled = [inside[some[found.owner]].sum() for found, inside in slices]
    return edges, np.array(filled) / [part.volume for part in parts]


def slice_volumes(frame: Frame, part: Box, axis: int, *, whole: bool) -> tuple[Images, Array]:
    """Grains or images and their part (m,) m^3 in a slice of a box; `whole` says that no wall cuts a grain sideways."""
    if whole:
        return parts_in_slab(frame, axis, float(part.lower[axis]), float(part.upper[axis]))
    return parts_inside(frame, *part.corners(frame.dimension))


def bin_edges(bins: int | Array, box: Box, axis: int) -> Array:
    """(k + 1,) m, rising."""
    if isinstance(bins, (int, np.integer)):
        if bins < 1:
            raise ValueError(f"bins = {bins} is no number of bins; give 1 or more, or their edges")
        return np.linspace(float(box.lower[axis]), float(box.upper[axis]), int(bins) + 1)
    edges = double(bins)
    if edges.ndim != 1 or len(edges) < 2 or not np.all(np.diff(edges) > 0.0):
        raise ValueError(f"bins = {bins} must be a number, or two or more edges (m) in rising order")
    return edges
