"""The chain of the paper: equal disks in a row, in units d = m = dt = 1; the stage of most experiments."""

from __future__ import annotations

import math

import numpy as np

from ..model.bodies import Bodies
from ..model.shapes import Plane
from ..model.walls import Wall


def chain(disks: int, *, push: float = 0.0, wall: bool = False, gap: float = 0.0, squeeze: float = 0.0) -> Bodies:
    """A row of touching disks of diameter and mass 1 along x.

    push    : force on the last disk towards the first
    squeeze : opposite forces on both ends
    wall    : an immobile wall before the first disk, at distance `gap`
    """
    position = np.zeros((disks, 3))
    position[:, 0] = gap + 0.5 + np.arange(disks)
    force = np.zeros((disks, 3))
    force[-1, 0] = -push - squeeze
    force[0, 0] += squeeze
    walls = [Wall("wall", Plane(np.zeros(3), np.array([1.0, 0.0, 0.0])))] if wall else []
    return Bodies.assemble(
        dimension=2, position=position, radius=np.full(disks, 0.5), density=4.0 / math.pi, force=force, walls=walls
    )
