"""The tables of a study: a range of values, its end, what is measured."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import ConfigDict, Field, PlainValidator

from ..scene.errors import ABSENT, Problem
from ..scene.section import Section
from ..scene.values import Count, Number, Positive, number

TAKES: dict[str, Callable[[Any], Any]] = {
    "last": lambda values: values[-1], "first": lambda values: values[0], "mean": np.mean, "median": np.median,
    "std": np.std, "min": np.min, "max": np.max,
}  # fmt: skip


def time(value: Any) -> float | str:
    """A number of seconds, or a share of the run such as "50%"."""
    if isinstance(value, str):
        found = re.fullmatch(r"\s*(\d+(\.\d*)?)\s*%\s*", value)
        if not found or float(found[1]) > 100.0:
            raise ValueError("must be a number of seconds, or a share of the run such as '50%'")
        return value
    return number(value)


def seconds(value: float | str, end: float) -> float:
    """A time within a run that ends then (s)."""
    return float(value.strip().rstrip("%")) / 100.0 * end if isinstance(value, str) else value


Time = Annotated[Any, PlainValidator(time)]


class Range(Section):
    """Values between two bounds, both included: evenly spaced, or by equal ratios."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    first: Number = Field(alias="from", description="the first value")
    last: Number = Field(alias="to", description="the last value")
    steps: Count = Field(description="number of values, both bounds included")
    scale: Literal["linear", "log"] = Field(default="linear", description="log: neighbours have equal ratios")

    def mistakes(self, dimension: int = 0) -> Iterator[Problem]:
        if self.steps == 1 and self.first != self.last:
            yield Problem("steps", 1, "one value is no range; give 2 or more, or write a list")
        if self.scale == "log" and not (self.first * self.last > 0.0):
            yield Problem("from", self.first, f"has no logarithm together with to = {self.last:g}; both need one sign")

    def values(self) -> list[float] | list[int]:
        """Rounded to 12 digits, so that 0.3 is 0.3; whole numbers if all are."""
        space = np.geomspace if self.scale == "log" else np.linspace
        values = [float(f"{value:.12g}") for value in space(self.first, self.last, self.steps)]
        return [int(value) for value in values] if all(map(float.is_integer, values)) else values


class End(Section):
    """When each run ends; wins over the scene's [run]."""

    until: Positive | None = Field(default=None, description="time at which to stop (s)")
    steps: Count | None = Field(default=None, description="number of steps after which to stop")
    stop_speed: Positive | None = Field(
        default=None, description="stop when no grain or piston was faster for ten steps (m/s)"
    )

    def change(self, words: dict[str, Any]) -> None:
        """Write it into the words of a scene."""
        run = words.setdefault("run", {})
        if self.until is not None or self.steps is not None:
            run.pop("until", None)
            run.pop("steps", None)
        run.update(self.model_dump(exclude_none=True))


class Measured(Section):
    """One column of the table: a number that is made of each run."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    of: Any = Field(description="a function of rigidgrains.measure, column:NAME of the history, or module:function")
    take: Literal["last", "first", "mean", "median", "std", "min", "max"] | None = Field(
        default=None, description="what to make of the values over time; last, or mean where from or to is given"
    )
    since: Time | None = Field(
        default=None, alias="from", description="time from which on values count (s), or '50%' of the run"
    )
    to: Time | None = Field(default=None, description="time up to which values count (s), or '90%' of the run")
    gets: Literal["frame", "trajectory"] = Field(
        default="frame", description="what the function is given: one frame after another, or the whole trajectory"
    )
    options: dict[str, Any] = Field(
        default_factory=dict, alias="with", description="further keyword arguments of the function"
    )

    def mistakes(self, dimension: int = 0) -> Iterator[Problem]:
        early, late = self.since, self.to
        if (
            early is not None
            and late is not None
            and type(early) is type(late)
            and seconds(early, 1.0) > seconds(late, 1.0)
        ):
            yield Problem("from", early, f"must not be later than to = {late}; swap them")
        over = [
            name for name, value in (("take", self.take), ("from", self.since), ("to", self.to)) if value is not None
        ]
        if self.gets == "trajectory" and over:
            yield Problem(
                over[0], ABSENT, "belongs to gets = 'frame'; a function of the trajectory looks at times itself"
            )
        if self.of_column and (self.options or self.gets == "trajectory"):
            name = "with" if self.options else "gets"
            yield Problem(name, ABSENT, "belongs to a function, not to a column of the history; remove it")

    @property
    def of_column(self) -> bool:
        return isinstance(self.of, str) and self.of.startswith("column:")

    @property
    def taken(self) -> str:
        """What is made of several values."""
        return self.take or ("last" if self.since is None and self.to is None else "mean")

    def inside(self, times: Any) -> Any:
        """(k,) True for times that count."""
        end = float(np.max(times, initial=0.0))
        since = -math.inf if self.since is None else seconds(self.since, end)
        to = math.inf if self.to is None else seconds(self.to, end)
        return (times >= since - 1e-9 * end) & (times <= to + 1e-9 * end)

    def words(self) -> dict[str, Any]:
        """As written, with the function by its name."""
        told = self.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True)
        told["of"] = self.of if isinstance(self.of, str) else f"{self.of.__module__}:{self.of.__qualname__}"
        return told
