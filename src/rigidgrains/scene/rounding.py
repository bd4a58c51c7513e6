"""Roundings are shares of the grain's radius, which depends on them: both are found together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ..shapes.build import UNIT
from ..shapes.core import Part
from ..shapes.union import moments_of

CLOSE = {"parts": 1e-13, "union": 1e-7}  # of the radius; the volume of a union is known by quadrature
MOST = 100


def rounded(parts: Sequence[Part], dimension: int, mass: str) -> list[Part]:
    """Parts with their roundings in the lengths of the drawing.

    parts : their `rounding` is a share of the radius of the round grain of equal volume
    """
    if all(part.rounding == 0.0 for part in parts):
        return list(parts)
    if all(len(part.vertices) == 1 for part in parts):
        raise ValueError("points alone have no size that a rounding could be a share of; give centres and radii")
    rule = mass if len(parts) > 1 else "parts"
    radius = _solve(parts, dimension, "parts", _radius(parts, 1.0, dimension, "parts"))
    if rule == "union":
        radius = _solve(parts, dimension, rule, radius)
    return _at(parts, radius)


def _solve(parts: Sequence[Part], dimension: int, rule: str, radius: float) -> float:
    """m, the radius r that a shape has if its roundings are shares of r.

    The radius grows with r less than r does, so that repeating finds it; Steffensen's extrapolation of logarithms makes
    it quick.
    """
    x = math.log(radius)
    for _ in range(MOST):
        y = math.log(_radius(parts, math.exp(x), dimension, rule))
        if abs(y - x) <= CLOSE[rule]:
            return math.exp(y)
        z = math.log(_radius(parts, math.exp(y), dimension, rule))
        bend = (z - y) - (y - x)
        x = z if bend == 0.0 or abs(z - y) <= CLOSE[rule] else x - (y - x) ** 2 / bend
    return math.exp(x)


def _radius(parts: Sequence[Part], unit: float, dimension: int, rule: str) -> float:
    volume = moments_of(_at(parts, unit), dimension, rule).volume
    return float((volume / UNIT[dimension]) ** (1.0 / dimension))


def _at(parts: Sequence[Part], radius: float) -> list[Part]:
    return [replace(part, rounding=part.rounding * radius) for part in parts]
