"""Sizes of grains: one radius, a range, discrete sizes with shares, or a normal or lognormal spread."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from ..model import sizes
from .errors import Problem, SceneError, unknown_key
from .section import Section
from .values import NUMBER_LIST, Array, Positive, Positives, Shares, positive


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

    def plain(self) -> sizes.Discrete:
        """What radii are drawn from."""
        return sizes.Discrete(self.values, self.shares, self.by)


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

    def plain(self) -> sizes.Spread:
        """What radii are drawn from."""
        return sizes.Spread(self.mean, self.std, self.min, self.max, self.distribution)


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


def plain(size: Size) -> sizes.Size:
    """What radii are drawn from."""
    return size.plain() if isinstance(size, (Discrete, Spread)) else size


def draw_radii(size: Size, count: int, dimension: int, rng: np.random.Generator) -> Array:
    """Radii (count,) in m."""
    try:
        return sizes.draw_radii(plain(size), count, dimension, rng)
    except ValueError as problem:
        assert isinstance(size, Spread)
        raise SceneError([Problem("radius", size.std, str(problem))]) from None


def mean_power(size: Size, dimension: int) -> float:
    """Mean of radius**dimension, which gives the volume of many grains before any is drawn."""
    return sizes.mean_power(plain(size), dimension)
