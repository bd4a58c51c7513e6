"""Sizes of grains, and radii drawn from them: one radius, a range, discrete sizes with shares, or a spread."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

DRAWS = 1000


@dataclass(frozen=True)
class Discrete:
    """A few sizes, each with a share of the grains.

    values : (k,) m, the radii; shares : (k,) one relative amount per radius; by : what they count, "number" or "mass"
    """

    values: Array
    shares: Array
    by: str = "number"

    def number_shares(self, dimension: int) -> Array:
        """Shares of the number of grains, sum one."""
        amount = self.shares / self.values**dimension if self.by == "mass" else self.shares
        return np.asarray(amount / amount.sum())

    def draw(self, count: int, dimension: int, rng: np.random.Generator) -> Array:
        """Each size as often as its share says, to within one grain; largest remainders are rounded up."""
        return np.asarray(rng.permutation(np.repeat(self.values, whole_shares(self.number_shares(dimension), count))))

    def mean_power(self, dimension: int) -> float:
        return float(self.number_shares(dimension) @ self.values**dimension)


@dataclass(frozen=True)
class Spread:
    """Radii spread about a mean, cut off below `min` and above `max` (m).

    mean, std : m, before the cut; distribution : "lognormal" or "normal"
    """

    mean: float
    std: float
    min: float | None = None
    max: float | None = None
    distribution: str = "lognormal"

    def draw(self, count: int, dimension: int, rng: np.random.Generator) -> Array:
        """Radii of the spread; those beyond the cuts are drawn again."""
        low, high = self.min or 0.0, self.max or math.inf
        radius = self.draw_uncut(count, rng)
        for _ in range(DRAWS):
            beyond = np.flatnonzero((radius <= 0.0) | (radius < low) | (radius > high))
            if beyond.size == 0:
                return radius
            radius[beyond] = self.draw_uncut(beyond.size, rng)
        raise ValueError("almost no radius lies between min and max; widen the cuts")

    def draw_uncut(self, count: int, rng: np.random.Generator) -> Array:
        if self.distribution == "normal":
            return rng.normal(self.mean, self.std, count)
        variance = math.log1p((self.std / self.mean) ** 2)
        return rng.lognormal(math.log(self.mean) - 0.5 * variance, math.sqrt(variance), count)

    def mean_power(self, dimension: int) -> float:
        """Moment of the uncut spread, kept between the cuts."""
        ratio = (self.std / self.mean) ** 2
        if self.distribution == "normal":
            moment = 1.0 + ratio * (1 if dimension == 2 else 3)
        else:
            moment = (1.0 + ratio) ** (1 if dimension == 2 else 3)
        least, most = (self.min or 0.0) / self.mean, (self.max or math.inf) / self.mean
        return float(self.mean**dimension * min(max(moment, least**dimension), most**dimension))


Size = float | tuple[float, float] | Discrete | Spread


def whole_shares(shares: Array, count: int) -> NDArray[np.int64]:
    """(k,) whole numbers of sum `count` in these proportions; largest remainders are rounded up."""
    ideal = count * np.asarray(shares, dtype=float) / np.sum(shares)
    often = np.floor(ideal).astype(np.int64)
    often[np.argsort(often - ideal, kind="stable")[: count - often.sum()]] += 1
    return often


def draw_radii(size: Size, count: int, dimension: int, rng: np.random.Generator) -> Array:
    """Radii (count,) in m."""
    if isinstance(size, (Discrete, Spread)):
        return size.draw(count, dimension, rng)
    if isinstance(size, tuple):
        return rng.uniform(size[0], size[1], count)
    return np.full(count, size)


def mean_power(size: Size, dimension: int) -> float:
    """Mean of radius**dimension, which gives the volume of many grains before any is drawn."""
    if isinstance(size, (Discrete, Spread)):
        return size.mean_power(dimension)
    low, high = size if isinstance(size, tuple) else (size, size)
    return sum(low**k * high ** (dimension - k) for k in range(dimension + 1)) / (dimension + 1)


def size_words(size: Size | None) -> Any:
    """A size as plain words and numbers, for files."""
    if isinstance(size, Discrete):
        return {"values": size.values.tolist(), "shares": size.shares.tolist(), "by": size.by}
    if isinstance(size, Spread):
        return {key: value for key, value in asdict(size).items() if value is not None}
    return size


def size_from_words(words: Any) -> Size | None:
    """The size of which the words are; ValueError for what is none."""
    try:
        if words is None:
            return None
        if isinstance(words, dict) and "values" in words:
            values, shares = np.array(words["values"], float), np.array(words["shares"], float)
            if values.ndim != 1 or values.shape != shares.shape or not (shares >= 0.0).all() or not shares.sum() > 0.0:
                raise ValueError
            return Discrete(_positive(values), shares, words.get("by", "number"))
        if isinstance(words, dict):
            _positive([words["mean"], words["std"], words.get("min", 1.0), words.get("max", 1.0)])
            return Spread(**words)
        radii = _positive(words).tolist()
        if isinstance(radii, list):
            low, high = radii
            return low, high
        return float(radii)
    except (TypeError, KeyError, ValueError):
        raise ValueError(f"{words!r} is no size of grains; the file was changed") from None


def _positive(numbers: Any) -> Array:
    array = np.array(numbers, float)
    if not ((array > 0.0) & (array < math.inf)).all():
        raise ValueError
    return array
