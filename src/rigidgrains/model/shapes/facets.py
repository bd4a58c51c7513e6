"""Walls that jut out, as grains with sides and faces feel them: flat convex parts, side by side.

Rounded vertices meet every wall by its own law, exactly. Sides and faces meet plates, rods, tubes and funnels as parts
of other grains; round walls have the facets of a prism then, whose edges lie on the wall.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...shapes.core import FLAT, SOLID, Part
from ...shapes.hull import make_part
from ...shapes.sheet import thin_part
from .distance import Array

SIDES = 60  # of a round wall; so many that n leans against two of them at no time, see solid_manifold.LEAN
AROUND = 2.0 * math.pi / SIDES


@dataclass(frozen=True, eq=False)
class Facets:
    """Equal convex parts of a wall, turned about its axis one after the other.

    part  : in the frame of the wall, the first of them
    count : of them
    seams : (s, 2, 3) for each edge that is shared with a neighbour, the ways out of the first part and into the other
    slides : True where the part follows each grain along the third axis, since the wall has no end
    """

    part: Part
    count: int = 1
    seams: Array | None = None
    slides: bool = False

    def turns(self) -> Array:
        """(count, 3, 3) from the frame of each into that of the wall."""
        angle = np.arange(self.count) * (2.0 * math.pi / self.count)
        turn = np.zeros((self.count, 3, 3))
        turn[:, 0, 0], turn[:, 0, 1], turn[:, 1, 0], turn[:, 1, 1] = (
            np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle),
        )  # fmt: skip
        turn[:, 2, 2] = 1.0
        return turn


@lru_cache(maxsize=64)
def rectangle(along: float, across: float, dimension: int) -> Facets:
    """A plate: a segment in 2D, a thin sheet in 3D."""
    if dimension == FLAT:
        return Facets(thin_part(np.array([[-along, 0.0, 0.0], [along, 0.0, 0.0]]), FLAT))
    corners = [[-along, -across, 0.0], [along, -across, 0.0], [along, across, 0.0], [-along, across, 0.0]]
    return Facets(thin_part(np.array(corners), SOLID))


@lru_cache(maxsize=64)
def rod(radius: float, half: float, bound: float, dimension: int) -> Facets:
    """A disk in 2D, a cylinder without end or a prism in 3D; bound : m, of the largest grain."""
    if dimension == FLAT:
        return Facets(thin_part(np.zeros((1, 3)), FLAT, radius))
    if math.isinf(half):
        return Facets(thin_part(np.outer([-4.0 * bound, 4.0 * bound], [0.0, 0.0, 1.0]), SOLID, radius), slides=True)
    angle = (np.arange(SIDES) + 0.5) * AROUND
    ring = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(SIDES, half)], axis=1)
    return Facets(make_part(np.concatenate([ring, ring * [1.0, 1.0, -1.0]]), dimension=SOLID))


@lru_cache(maxsize=64)
def shell(first: float, last: float, half: float) -> Facets:
    """A tube or a funnel: thin sheets between two circles."""
    c, s = math.cos(0.5 * AROUND), math.sin(0.5 * AROUND)
    corners = [
        [first * c, -first * s, -half],
        [first * c, first * s, -half],
        [last * c, last * s, half],
        [last * c, -last * s, half],
    ]
    if first == 0.0:
        del corners[1]
    elif last == 0.0:
        del corners[3]
    part = thin_part(np.array(corners), SOLID)
    normal, edge = part.normals[0], np.array([(last - first) * c, (last - first) * s, 2.0 * half])
    out = np.cross(edge, normal)
    out *= np.sign(out[1]) / np.linalg.norm(out)  # towards the neighbour, which is at +y
    aside = out * [1.0, -1.0, 1.0]  # the same of the other edge
    turn = Facets(part, SIDES).turns()
    into, back = -(turn[1] @ aside), -(turn[-1] @ out)
    return Facets(part, SIDES, np.array([[out, into], [aside, back]]))
