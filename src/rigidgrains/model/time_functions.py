"""Functions of time: a constant, a formula, a table, or a function of the user's own."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .formula import IN_STAGE, TIME, NoValue, compile_formula, evaluate

Array = NDArray[np.float64]

STAGE_TIME = IN_STAGE[-1]
# Gauss-Legendre points and weights on [0, 1]
POINTS = (0.5, 0.7692346550528415, 0.23076534494715845, 0.953089922969332, 0.04691007703066802)
WEIGHTS = (0.28444444444444444, 0.23931433524968324, 0.23931433524968324, 0.11846344252809454, 0.11846344252809454)


class TimeFunction(Protocol):
    """A number that depends on time."""

    def value(self, t: float) -> float:
        """At a time (s)."""

    def mean(self, t: float, dt: float) -> float:
        """Mean over [t, t + dt]."""

    def words(self) -> Any:
        """As it is written in a scene, and in files."""


TimeFunctions = tuple[TimeFunction, TimeFunction, TimeFunction]


@dataclass(frozen=True)
class Constant:
    """The same at all times."""

    number: float

    def value(self, t: float) -> float:
        return self.number

    def mean(self, t: float, dt: float) -> float:
        return self.number

    def words(self) -> Any:
        return self.number


@dataclass(frozen=True)
class Formula:
    """A formula in t (s); its mean over a step is that of five Gauss points.

    begun : s, when the stage began whose time the formula asks for
    """

    text: str
    begun: float = 0.0
    _read: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_read", compile_formula(self.text, IN_STAGE if self.staged else TIME))

    def value(self, t: float) -> float:
        return evaluate(self._read, self.text, t, self.begun if self.staged else None)

    def mean(self, t: float, dt: float) -> float:
        return gauss_mean(self, t, dt)

    @property
    def staged(self) -> bool:
        """Whether it depends on the time of the stage."""
        return STAGE_TIME in self.text

    def words(self) -> Any:
        return {"formula": self.text, "begun": self.begun} if self.begun else self.text

    def __repr__(self) -> str:
        return repr(self.text)


@dataclass(frozen=True)
class Table:
    """Values at times, with straight lines between them, or smooth without overshoot; constant beyond both ends.

    times, values : (k,) s and whatever the quantity is measured in
    staged : whether times are those of a stage; begun : s, when that began
    """

    times: tuple[float, ...]
    values: tuple[float, ...]
    smooth: bool = False
    staged: bool = False
    begun: float = 0.0

    @cached_property
    def _curve(self) -> Any:
        from scipy.interpolate import PchipInterpolator, PPoly

        if self.smooth and len(self.times) > 1:
            return PchipInterpolator(self.times, self.values)
        steps = np.diff(self.times)
        slopes = np.diff(self.values) / steps
        return PPoly(np.array([slopes, self.values[:-1]]), np.array(self.times))

    @cached_property
    def _sum(self) -> Any:
        return self._curve.antiderivative()

    def value(self, t: float) -> float:
        t -= self.begun
        if t <= self.times[0] or t >= self.times[-1]:
            return self.values[0] if t <= self.times[0] else self.values[-1]
        return float(self._curve(t))

    def mean(self, t: float, dt: float) -> float:
        t -= self.begun
        first, last = self.times[0], self.times[-1]
        area = self.values[0] * max(0.0, min(t + dt, first) - t) + self.values[-1] * max(0.0, t + dt - max(t, last))
        start, end = max(t, first), min(t + dt, last)
        if start < end:
            area += float(self._sum(end) - self._sum(start))
        return area / dt

    def words(self) -> Any:
        words: dict[str, Any] = {"table": [list(row) for row in zip(self.times, self.values)]}
        words |= {"smooth": True} if self.smooth else {}
        words |= {"of": STAGE_TIME} if self.staged else {}
        return words | ({"begun": self.begun} if self.begun else {})


@dataclass(frozen=True)
class Function:
    """A function of the user's own; it cannot be kept in a file."""

    function: Callable[[float], float]

    def value(self, t: float) -> float:
        try:
            value = self.function(t)
        except Exception as error:
            raise NoValue(f"function '{self.name}' has no value at t = {t:g} s: {error!r}") from error
        if not isinstance(value, (int, float, np.integer, np.floating)) or not math.isfinite(value):
            raise NoValue(f"function '{self.name}' has no value at t = {t:g} s: it gave {value!r}")
        return float(value)

    @property
    def name(self) -> str:
        return getattr(self.function, "__name__", "function")

    def mean(self, t: float, dt: float) -> float:
        return gauss_mean(self, t, dt)

    def words(self) -> Any:
        return {"function": self.name}


@dataclass(frozen=True)
class Multiple:
    """A function times a number: a component of a motion along a direction."""

    factor: float
    function: TimeFunction

    def value(self, t: float) -> float:
        return self.factor * self.function.value(t)

    def mean(self, t: float, dt: float) -> float:
        return self.factor * self.function.mean(t, dt)

    def words(self) -> Any:
        return {"times": self.factor, "course": self.function.words()}


def gauss_mean(function: TimeFunction, t: float, dt: float) -> float:
    """Mean over [t, t + dt] by five points: exact to rounding for anything smooth on the scale of a step."""
    return sum(weight * function.value(t + point * dt) for point, weight in zip(POINTS, WEIGHTS))


def read_time_function(value: Any) -> TimeFunction:
    """From a number, a formula, a table or a function; ValueError says what is wrong."""
    if isinstance(value, (Constant, Formula, Table, Function, Multiple)):
        return value
    if isinstance(value, str):
        formula = Formula(value)
        formula.value(0.0)
        return formula
    if isinstance(value, dict):
        return _read_table(value)
    if callable(value):
        function = Function(value)
        function.value(0.0)
        return function
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        raise ValueError(
            "must be a number, a formula in t such as '0.01*sin(2*pi*5*t)', or { table = [[0.0, 0.0], [1.0, 0.1]] }"
        )
    number = float(value)
    if not abs(number) <= 1e100:
        raise ValueError("must be a finite number")
    return Constant(number)


def _read_table(words: dict[str, Any]) -> Table:
    if unknown := sorted(set(words) - {"table", "smooth", "of"}):
        raise ValueError(f"has the unknown key '{unknown[0]}'; write {{ table = [[t, value], ...], smooth = true }}")
    if words.get("of", "t") not in ("t", STAGE_TIME):
        raise ValueError(f"of must be 't' or '{STAGE_TIME}', the time that the table is of")
    if not isinstance(smooth := words.get("smooth", False), bool):
        raise ValueError("smooth must be true or false")
    try:
        rows = np.array(words.get("table"), dtype=float)
    except (ValueError, TypeError):
        rows = np.empty(0)
    if rows.ndim != 2 or rows.shape[1] != 2 or len(rows) < 2 or not (np.abs(rows) <= 1e100).all():
        raise ValueError("needs a table of two rows or more, each [time, value], such as [[0.0, 0.0], [1.0, 0.1]]")
    times, values = rows.T
    late = np.flatnonzero(np.diff(times) <= 0.0)
    if late.size:
        a, b = times[late[0]], times[late[0] + 1]
        raise ValueError(f"the times of a table must increase: {b:g} s comes after {a:g} s; sort the rows")
    return Table(tuple(times.tolist()), tuple(values.tolist()), smooth, words.get("of") == STAGE_TIME)


def is_staged(function: Any) -> bool:
    """Whether a function of time depends on the time of a stage."""
    return is_staged(function.function) if isinstance(function, Multiple) else bool(getattr(function, "staged", False))


def begin(function: TimeFunction, time: float) -> TimeFunction:
    """The function in a stage that begins at this time (s)."""
    if isinstance(function, Multiple):
        return Multiple(function.factor, begin(function.function, time))
    if isinstance(function, (Formula, Table)) and function.staged:
        return replace(function, begun=time)
    return function


def begin_all(functions: TimeFunctions | None, time: float) -> TimeFunctions | None:
    """Three functions, None if there are none."""
    return (
        None if functions is None else (begin(functions[0], time), begin(functions[1], time), begin(functions[2], time))
    )


@dataclass(frozen=True)
class Lost:
    """A function of the user's own, in a file: only its name is known."""

    name: str

    def value(self, t: float) -> float:
        raise ValueError(f"function '{self.name}' was not kept in the file; pass it again")

    def mean(self, t: float, dt: float) -> float:
        return self.value(t)

    def words(self) -> Any:
        return {"function": self.name}


def rebuild_time_function(words: Any) -> TimeFunction:
    """The function that `words` tells of; one of the user's own is lost."""
    if isinstance(words, dict) and "function" in words:
        return Lost(words["function"])
    if isinstance(words, dict) and "times" in words:
        return Multiple(words["times"], rebuild_time_function(words["course"]))
    if isinstance(words, dict) and "formula" in words:
        return Formula(words["formula"], float(words["begun"]))
    if isinstance(words, dict) and "begun" in words:
        begun = float(words["begun"])
        return replace(_read_table({name: word for name, word in words.items() if name != "begun"}), begun=begun)
    return read_time_function(words)


def rebuild_time_functions(words: list[Any] | None) -> TimeFunctions | None:
    """Three functions, None if there are none."""
    if words is None:
        return None
    x, y, z = (rebuild_time_function(part) for part in words)
    return x, y, z


def means(functions: TimeFunctions, t: float, dt: float) -> Array:
    """(3,) means over a step."""
    return np.array([function.mean(t, dt) for function in functions])


def values(functions: TimeFunctions, t: float) -> Array:
    """(3,) at a time."""
    return np.array([function.value(t) for function in functions])


def in_space(functions: Any) -> TimeFunctions:
    """Three functions from two or three numbers or functions."""
    full = [*(read_time_function(function) for function in functions), *[Constant(0.0)] * (3 - len(functions))]
    return full[0], full[1], full[2]


def along(direction: Array, function: Any) -> TimeFunctions:
    """Motion along a direction (3,)."""
    read = read_time_function(function)
    parts = [Multiple(float(x), read) if x else Constant(0.0) for x in direction]
    return parts[0], parts[1], parts[2]


def words_of(functions: TimeFunctions) -> list[Any]:
    return [function.words() for function in functions]
