"""Fabric: where contacts point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..model.columns import X, Y
from .links import links
from .shown import Shown
from .state import Array, Frame, axis_number, dyads, of

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation


@dataclass(frozen=True)
class Histogram(Shown):
    """edges : (k + 1,); density : (k,), its integral over all bins is 1"""

    edges: Array
    density: Array

    @property
    def centres(self) -> Array:
        """(k,)"""
        return 0.5 * (self.edges[1:] + self.edges[:-1])


def fabric(source: Frame | Simulation, *, walls: bool = False) -> Array:
    """(d, d) mean of n n over force-carrying contacts; its trace is 1. Zero if there are none.

    Surfaces that touch at several points are one contact.

    walls : count contacts at walls too, whose normals are those of the walls
    """
    frame = of(source)
    return mean_dyad(links(frame, walls=walls).joined().normal, frame.dimension)


def mean_dyad(normal: Array, dimension: int) -> Array:
    """(d, d) mean of n n over unit vectors (c, 3)."""
    return dyads(normal, normal, dimension) / max(len(normal), 1)


def orientation_histogram(
    source: Frame | Simulation, bins: int = 36, *, axis: int | str = "y", walls: bool = False
) -> Histogram:
    """How often contacts point where.

    2D: over the angle of the normal to the x axis, 0 to pi (rad); both senses are one direction.
    3D: over |cosine| of the angle between normal and `axis`, 0 to 1; it is flat if all directions are alike.
    """
    frame = of(source)
    normal = links(frame, walls=walls).joined().normal
    if frame.dimension == 2:
        value, top = np.mod(np.arctan2(normal[:, Y], normal[:, X]), np.pi), np.pi
        value = np.where(value >= np.pi, 0.0, value)  # rounding of a negative zero
    else:
        value, top = np.minimum(np.abs(normal[:, axis_number(frame, axis)]), 1.0), 1.0
    count, edges = np.histogram(value, bins=bins, range=(0.0, top))
    return Histogram(edges, count / (max(len(normal), 1) * np.diff(edges)))
