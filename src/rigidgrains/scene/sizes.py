"""Sizes of grains: one radius, a range, discrete sizes with shares, or a normal or lognormal spread."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from .errors import Problem, SceneError, unknown_key
from .section import Section
from .values import NUMBER_LIST, Array, Positive, Positives, Shares, positive

DRAWS = 1000


class Discrete(Section):
    """A few sizes, each with a share of the number or of the mass of the grains."""

    values: Positives = Field(description="the radii (m)")
    shares: Shares = Field(description="one relative amount per radius")
    by: Literal["number", "mass"] = Field(default="number", description="what the shares count: grains or their mass")

    def model_post_init(self, context: Any) -> None:
        """Said at once: nothing can be asked of sizes without shares."""
        have, want = len(self.shares), len(self.values)
        if have != want:
            message = f"needs one share for each value, and there are {want} values and {have} shares"
            raise SceneError([self.wrong("shares", f"{message}; {'add' if have < want else 'remove'} some")])

    def number_shares(self, dimension: int) -> Array:
        """Shares of the number of grains, sum one."""
        amount = self.shares / self.values**dimension if self.by == "mass" else self.shares
        return np.asarray(amount / amount.sum())

    def draw(self, count: int, dimension: int, rng: np.random.Generator) -> Array:
        """Each size as often as its share says, to within one grain; largest remainders are rounded up."""
        ideal = count * self.number_shares(dimension)
        often = np.floor(ideal).astype(int)
        often[np.argsort(often - ideal, kind="stable")[: count - often.sum()]] += 1
        return np.asarray(rng.permutation(np.repeat(self.values, often)))

    def mean_power(self, dimension: int) -> float:
        return float(self.number_shares(dimension) @ self.values**dimension)


class Spread(Section):
    """Radii spread about a mean, cut off below `min` and above `max`."""

    mean: Positive = Field(description="mean radius before the cut (m)")
    std: Positive = Field(description="standard deviation of the radius before the cut (m)")
    min: Positive | None = Field(default=None, description="smallest radius (m)")
    max: Positive | None = Field(default=None, description="largest radius (m)")
    distribution: Literal["lognormal", "normal"] = Field(default="lognormal", description="form of the spread")

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        if self.min is not None and self.max is not None and self.min >= self.max:
            yield self.wrong("min", f"must be smaller than max = {self.max}")
        elif (self.min or 0.0) > self.mean or (self.max or math.inf) < self.mean:
            yield self.wrong("mean", "must lie between min and max")
        if self.distribution == "normal" and self.min is None:
            yield self.wrong("min", "missing; a normal spread reaches below zero, so give the smallest radius")

    def draw(self, count: int, dimension: int, rng: np.random.Generator) -> Array:
        """Radii of the spread; those beyond the cuts are drawn again."""
        low, high = self.min or 0.0, self.max or math.inf
        radius = self.draw_uncut(count, rng)
        for _ in range(DRAWS):
            beyond = np.flatnonzero((radius <= 0.0) | (radius < low) | (radius > high))
            if beyond.size == 0:
                return radius
            radius[beyond] = self.draw_uncut(beyond.size, rng)
        raise SceneError([Problem("radius", self.std, "almost no radius lies between min and max; widen the cuts")])

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


def read_size(value: Any) -> Size | None:
    """A radius as written: a number, [min, max], or a table with `values` or `mean`."""
    if value is None or isinstance(value, (Discrete, Spread)):
        return value
    if isinstance(value, dict):
        if "values" in value or "shares" in value:
            return Discrete(**value)
        if "mean" in value or "std" in value:
            return Spread(**value)
        known = [*Discrete.model_fields, *Spread.model_fields]
        strange = [Problem(key, value[key], unknown_key(key, known)) for key in value if key not in known]
        raise SceneError(strange or [Problem("", value, "needs values and shares, or mean and std")])
    if isinstance(value, (list, tuple, np.ndarray)):
        if len(value) != 2:
            raise ValueError("must be [min, max]; write radii = [...] to give one radius per grain")
        low, high = positive(value[0]), positive(value[1])
        if low > high:
            raise ValueError("must be [min, max] with min not larger than max; swap them")
        return low, high
    return positive(value)


Radius = Annotated[
    Any,
    PlainValidator(read_size),
    PlainSerializer(lambda size: size.model_dump() if isinstance(size, Section) else size),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "exclusiveMinimum": 0},
                {**NUMBER_LIST, "minItems": 2, "maxItems": 2},
                Discrete.model_json_schema(),
                Spread.model_json_schema(),
            ]
        }
    ),
]


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
