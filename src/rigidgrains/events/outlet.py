"""An outlet: grains whose centre comes into it are taken out, and counted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.bodies import Bodies
from ..runtime.compiled import allocating

Array = NDArray[np.float64]

NUMBERS = ("name", "since", "until", "recycle", "count", "mass", "first", "last")
VECTORS = ("lower", "upper", "point", "normal")


@dataclass
class Outlet:
    """A box, or all that is behind a plane.

    lower, upper  : (3,) m, corners of the box; infinite for a half-space
    point, normal : (3,), of the plane; the normal points to the grains that stay; no length for a box
    recycle       : name of the inflow at which grains come back; None if they are gone
    count, mass   : grains that have left, and their mass (kg); first, last : times (s) at which the first and last left
    """

    name: str
    lower: Array
    upper: Array
    point: Array
    normal: Array
    recycle: str | None = None
    since: float = 0.0
    until: float = math.inf
    count: int = 0
    mass: float = 0.0
    first: float = math.nan
    last: float = math.nan

    def holds(self, bodies: Bodies) -> NDArray[np.bool_]:
        """(n,) grains whose centre is in it."""
        return np.asarray(_is_out(bodies.position, self.lower, self.upper, self.point, self.normal, bodies.dimension))

    def take(self, bodies: Bodies, stays: NDArray[np.bool_], time: float) -> NDArray[np.bool_]:
        """(n,) grains that leave now, of those that no other outlet has taken; they are counted."""
        if not self.since <= time < self.until:
            return np.zeros(bodies.count, bool)
        leaving = self.holds(bodies) & stays
        number = int(leaving.sum())
        if number:
            self.first = time if math.isnan(self.first) else self.first
            self.last = time
            self.count += number
            self.mass += float(bodies.mass[leaving].sum())
        return leaving

    @property
    def rate(self) -> float:
        """Grains per second from the first to the last that left; not a number before."""
        span = self.last - self.first
        return (self.count - 1) / span if span > 0.0 else math.nan

    def figures(self) -> dict[str, float]:
        """For a report: grains and mass (kg) that left, grains per second; 0 where there is no rate yet."""
        return {"grains": self.count, "mass": self.mass, "rate": 0.0 if math.isnan(self.rate) else self.rate}

    def pack(self) -> dict[str, Any]:
        """As plain words and numbers, exact."""
        words: dict[str, Any] = {name: getattr(self, name) for name in NUMBERS}
        return words | {name: getattr(self, name).tolist() for name in VECTORS}

    @classmethod
    def unpack(cls, words: dict[str, Any]) -> Outlet:
        own: dict[str, Any] = {name: np.array(words[name]) if name in VECTORS else words[name] for name in words}
        return cls(**own)


@allocating
def _is_out(position, lower, upper, point, normal, axes):
    """True where a point is in the box and not in front of the plane."""
    out = np.ones(len(position), np.bool_)
    for i in range(len(position)):
        height = 0.0
        for k in range(axes):
            if not lower[k] <= position[i, k] <= upper[k]:
                out[i] = False
            height += (position[i, k] - point[k]) * normal[k]
        if height > 0.0:
            out[i] = False
    return out
