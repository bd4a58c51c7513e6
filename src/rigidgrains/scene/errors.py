"""Mistakes in a scene: each has a place, a value and a remedy; all mistakes of a scene are raised together."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from pydantic import BaseModel, ValidationError

ABSENT = object()
FEW = 3  # tables with a key that are named; what more of them have is told by its neighbours
EMPTY = "empty scene: there are no grains; add [[grains]] or [[inflow]]"


@dataclass(frozen=True)
class Problem:
    """One mistake: `place` such as grains[0].radius, the offending value, and a message that ends in the remedy."""

    place: str
    value: Any
    message: str
    line: int | None = None

    def __str__(self) -> str:
        where = self.place + (f" (line {self.line})" if self.line else "")
        given = "" if self.value is ABSENT else f"; given: {brief(self.value)}"
        return (f"{where}: " if where else "") + self.message + given

    def inside(self, outer: str) -> Problem:
        """The same mistake, its place seen from one level further out."""
        joint = "" if not outer or not self.place or self.place.startswith("[") else "."
        return replace(self, place=outer + joint + self.place)


class SceneError(ValueError):
    """A scene that cannot be built. `problems` lists every mistake; `source` names the file, if any."""

    def __init__(self, problems: Iterable[Problem], source: str = "") -> None:
        self.problems = list(problems)
        self.source = source
        super().__init__(self.problems)

    def __str__(self) -> str:
        origin = f"{self.source}: " if self.source else ""
        if len(self.problems) == 1:
            return f"{origin}{self.problems[0]}"
        lines = [f"  {problem}" for problem in self.problems]
        return "\n".join([f"{origin}{len(lines)} mistakes in the scene", *lines])


@dataclass(frozen=True)
class Origin:
    """The file a scene was read from, the line of each table and key in it, and places that were changed since."""

    source: str
    lines: dict[str, int]
    changed: tuple[str, ...] = ()

    def locate(self, error: SceneError) -> SceneError:
        """The same mistakes with the file and their lines, in the order of the lines."""
        problems = [self._located(problem) for problem in error.problems]
        return SceneError(sorted(problems, key=lambda problem: problem.line or 0), source=self.source)

    def _located(self, problem: Problem) -> Problem:
        """With its line; what is not as in the file has none."""
        for place in self.changed:
            if problem.place == place or problem.place.startswith((f"{place}.", f"{place}[")):
                return replace(problem, place=f"{problem.place} (as changed)")
        return replace(problem, line=self.line(problem.place))

    def line(self, place: str) -> int | None:
        """Line of a place, or of the nearest table around it."""
        while place and place not in self.lines:
            place = place[: max(place.rfind("."), place.rfind("["), 0)]
        return self.lines.get(place)


def plain_problems(
    error: ValidationError, model: type[BaseModel], elsewhere: Callable[[str], Sequence[str]]
) -> list[Problem]:
    """Pydantic's errors of one table in plain sentences; elsewhere : tells which other tables have a key."""
    problems: list[Problem] = []
    for item in error.errors(include_url=False):
        place = join(item["loc"])
        cause = item.get("ctx", {}).get("error")
        if isinstance(cause, SceneError):
            problems += [problem.inside(place) for problem in cause.problems]
        elif item["type"] == "extra_forbidden":
            key = str(item["loc"][-1])
            problems.append(Problem(place, item["input"], unknown_key(key, model.model_fields, elsewhere(key))))
        elif item["type"] == "missing":
            about = model.model_fields[str(item["loc"][0])].description
            problems.append(Problem(place, ABSENT, f"missing; give {about}"))
        else:
            problems.append(Problem(place, item["input"], sentence(item, cause)))
    return problems


def sentence(item: Any, cause: Exception | None) -> str:
    """The message of one pydantic error."""
    kind = item["type"]
    if cause is not None:
        return str(cause)
    if kind == "literal_error":
        return f"must be {item['ctx']['expected']}" + suggestion(
            item["input"], item["ctx"]["expected"].split("'")[1::2]
        )
    if kind.startswith("string"):
        return "must be a text that is not empty, in quotes"
    if kind.startswith("bool"):
        return "must be true or false"
    if kind.startswith(("list", "tuple")):
        return "must be a list"
    return item["msg"].replace("Input should", "must")


def unknown_key(key: str, known: Iterable[str], elsewhere: Sequence[str] = ()) -> str:
    """Sentence about a key that does not exist, naming the tables that have it, or the nearest one."""
    if 0 < len(elsewhere) <= FEW:
        return f"unknown key '{key}'; it is a key of {', '.join(elsewhere)}"
    known = list(known)
    return f"unknown key '{key}'" + (suggestion(key, known) or f"; known are {', '.join(known)}")


def suggestion(word: Any, known: Iterable[str]) -> str:
    """'; did you mean ...?' when some known word is near, else nothing."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6) if isinstance(word, str) else []
    return f"; did you mean '{near[0]}'?" if near else ""


def join(location: Iterable[int | str]) -> str:
    """grains[0].radius from its parts."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location).lstrip(".")


def brief(value: Any) -> str:
    """A value in at most about 60 characters, as it would be written in a scene file."""
    if isinstance(value, np.ndarray):
        value = value[:8].tolist() if value.ndim else value.item()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        value = list(value)
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
