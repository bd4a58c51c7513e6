"""The walls as tables with a row for each: what loops over contacts ask of them, found once a step."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .shapes import Plane
from .walls import Wall

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass
class WallTable:
    """What is asked of walls again and again within a step, in which they are what they were as it began.

    material : (walls,) rows of the friction table
    guided, turning, plane : (walls,) whether a wall is a piston, rotates, is a plane
    flat     : (walls,) whether it is a plane that does not turn
    juts     : (walls,) whether sides and faces of grains can meet it, see detect/facet_points.py
    point, normal : (walls, 3) m and 1, of planes; zeros of others
    thickness : m, the least `Shape.thickness` of each; one number where all of them are planes
    pistons, turners, others, jutting : numbers of the walls that are guided, that rotate, that are no planes, that jut
    bending  : numbers of those that a grain runs into that glides straight along
    """

    material: NDArray[np.int64]
    guided: Flags
    turning: Flags
    plane: Flags
    flat: Flags
    juts: Flags
    point: Array
    normal: Array
    thickness: Array | float
    pistons: list[int]
    turners: list[int]
    others: list[int]
    jutting: list[int]
    bending: list[int]

    @classmethod
    def of(cls, walls: list[Wall]) -> WallTable:
        """Of the walls as they are."""
        return cls._of(walls) if walls else NO_WALLS

    @classmethod
    def _of(cls, walls: list[Wall]) -> WallTable:
        pistons = [w for w, wall in enumerate(walls) if wall.mass < math.inf]
        turners = [w for w, wall in enumerate(walls) if wall.drive.rotates]
        others = [w for w, wall in enumerate(walls) if type(wall.shape) is not Plane]
        jutting = [w for w in others if not walls[w].shape.convex]
        bending = [w for w in others if walls[w].shape.concave]
        plane, point, normal = ~_flags(walls, others), np.zeros((len(walls), 3)), np.zeros((len(walls), 3))
        for w, wall in enumerate(walls):
            if type(wall.shape) is Plane:
                point[w], normal[w] = wall.shape.point, wall.shape.normal
        turning = _flags(walls, turners)
        flat = plane & ~turning if turners else plane
        return cls(
            np.array([wall.material for wall in walls], np.int64), _flags(walls, pistons), turning, plane, flat,
            _flags(walls, jutting), point, normal,
            np.array([wall.shape.thickness for wall in walls]) if others else math.inf,
            pistons, turners, others, jutting, sorted({*turners, *bending}) if turners else bending,
        )  # fmt: skip

    def first_rows(self, grains: int) -> NDArray[np.int64]:
        """(walls,) motion row of each wall."""
        return np.arange(grains, grains + len(self.material))


def _flags(walls: list[Wall], some: list[int]) -> Flags:
    """(walls,) True for some of them."""
    flags = np.zeros(len(walls), np.bool_)
    for w in some:
        flags[w] = True
    return flags


NO_WALLS = WallTable._of([])
