"""How finely the numbers of a page are kept: steps of positions, levels of velocities and forces."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Whole = NDArray[np.int32]


@dataclass(frozen=True)
class Detail:
    """One degree of detail.

    steps  : of position in the smallest radius
    levels : of a velocity or spin; strengths : of a force or load; turns : of a full turn
    share  : of the mean force, from which contacts are kept
    ways   : False keeps of a spin in 3D only how large it is
    """

    name: str
    steps: int
    levels: int
    strengths: int
    turns: int
    share: float = 0.0
    ways: bool = True

    @property
    def sides(self) -> int:
        """Levels of a component of a quaternion: corners of a grain are off by 1 % of its size at most."""
        return max(127, self.turns // 3)

    def seen(self) -> Detail:
        """The same for grains whose orientation is seen."""
        return replace(self, turns=max(self.turns, 1024))


# From fine to coarse: a page takes the first that keeps it small enough.
DETAILS = (
    Detail("fine", 500, 4095, 2047, 4096),
    Detail("medium", 250, 1023, 511, 1024),
    Detail("coarse", 120, 255, 127, 256),
    Detail("sparing", 120, 63, 63, 64, share=1.0),
    Detail("rough", 60, 23, 15, 16, share=2.0),
    Detail("bare", 40, 15, 15, 16, share=2.0, ways=False),
)


@dataclass(frozen=True)
class Scales:
    """Positions are origin + step * whole number (m)."""

    origin: Array
    step: float
    detail: Detail

    @classmethod
    def of(cls, low: Array, high: Array, radius: float, detail: Detail) -> Scales:
        """low, high : corners of the box of all centres (m); radius : the smallest (m)."""
        step = max(float(max(high - low)) / 2**24, radius / detail.steps)
        return cls(np.asarray(low, dtype=float), step, detail)

    def cells(self, position: Array) -> Whole:
        return np.rint((position - self.origin) / self.step).astype(np.int32)

    def describe(self) -> dict[str, Any]:
        detail = self.detail
        return {
            "origin": [float(x) for x in self.origin],
            "step": self.step,
            "levels": detail.levels,
            "strengths": detail.strengths,
            "turns": detail.turns,
            "sides": detail.sides,
            "detail": detail.name,
            "share": detail.share,
            "ways": detail.ways,
        }


def exponent(value: Array) -> int:
    """The least k with |value| <= 4^k."""
    top = float(np.abs(value).max()) if value.size else 0.0
    return math.ceil(math.log(top, 4.0) - 1e-12) if top > 1e-300 else 0


def compress(value: Array, k: int, levels: int) -> Whole:
    """Whole numbers whose squares follow the value: small ones are kept as well as large ones, relative to 4^k."""
    share = np.abs(value) / 4.0**k
    return (np.sign(value) * np.rint(levels * np.sqrt(share))).astype(np.int32)


def expand(whole: Whole, k: int, levels: int) -> Array:
    """The values that `compress` was given, as the page reads them, to the bit."""
    root = np.abs(whole) / levels
    return np.sign(whole) * (root * root * 4.0**k)


def shift(whole: Whole, by: int) -> Whole:
    """What numbers made with k would be with k - by: levels double with each."""
    if abs(by) > 15:
        return np.zeros_like(whole)
    return whole << by if by >= 0 else whole >> -by
