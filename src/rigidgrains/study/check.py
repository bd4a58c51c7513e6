"""All that can be told of a study before anything runs: names, every combination of the grid, measures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, Any

from ..scene import Scene
from ..scene.change import read_name
from ..scene.errors import ABSENT, Problem, SceneError
from ..scene.load import missing
from .grid import SEED, Run, all_points, run_words
from .measures import mistakes_of
from .read import COLUMNS

if TYPE_CHECKING:
    from .study import Study

MOST = 1_000_000  # runs
SHOWN = 12  # mistakes of single points


def check(study: Study) -> None:
    """Raise SceneError with all mistakes of a study."""
    problems = [*crossed_names(study)]
    number = study.replicas * max(1, len(study.points)) * prod(map(len, study.vary.values()))
    if number > MOST:
        problems.append(Problem("vary", ABSENT, f"asks for {number:,} runs; {MOST:,} is the most"))
    if not problems:
        problems += combinations(study)
    for name, one in study.measure.items():
        problems += [
            problem.inside(f"measure.{name}")
            for problem in mistakes_of(name, one, study.scene_words, study.beside, kept=study.folder is not None)
        ]
    if problems:
        raise SceneError(problems)


def crossed_names(study: Study) -> Iterator[Problem]:
    """Names that are given twice, or cannot be read, or that replicas need for themselves."""
    places = {"vary": study.vary, "points[0]": study.points[0] if study.points else {}, "set": study.set}
    seen: dict[tuple[Any, ...], str] = {}
    for place, names in places.items():
        for name in names:
            try:
                parts = tuple(read_name(name))
            except SceneError as error:
                yield from (Problem(f"{place}.{name}", ABSENT, problem.message) for problem in error.problems)
                continue
            if parts in seen:
                yield Problem(f"{place}.{name}", ABSENT, f"is given by {seen[parts]} too; keep one of them")
            seen[parts] = f"{place}.{name}"
            if name == SEED and study.replicas > 1:
                yield Problem(
                    f"{place}.{name}",
                    ABSENT,
                    "goes with replicas = 1; remove one of them: replicas have seeds of their own",
                )
            if place != "set" and (name in study.measure or name in COLUMNS):
                yield Problem(
                    f"{place}.{name}", ABSENT, "is the name of a measure too, and of a column; rename the measure"
                )


def combinations(study: Study) -> list[Problem]:
    """Mistakes of the scene at every point; one that several points share is told once, with the first of them."""
    found: dict[tuple[str, str], tuple[Problem, dict[str, Any], int]] = {}
    points = list(all_points(study))
    for row, point in points:
        for problem in scene_mistakes(study, Run(0, point, row, 0, 0)):
            key = str(problem.place), str(problem)
            first = found.get(key, (problem, point, 0))
            found[key] = (*first[:2], first[2] + 1)
    told = [of_point(study, *one, len(points)) for one in found.values()]
    if len(told) > SHOWN:
        told = [*told[:SHOWN], Problem("vary", ABSENT, f"and {len(told) - SHOWN} further mistakes at other points")]
    return told


def scene_mistakes(study: Study, run: Run) -> list[Problem]:
    """Mistakes of the scene of one run, and names of the study that lead nowhere in it."""
    problems: list[Problem] = []
    words = run_words(study, run, problems)
    problems += missing(words, ends=False)
    try:
        return problems + Scene(**words).problems()
    except SceneError as error:
        return problems + error.problems


def of_point(study: Study, problem: Problem, point: dict[str, Any], times: int, total: int) -> Problem:
    """A mistake of the scene, told as one of the study."""
    tables = {"vary": study.vary, "points": study.points[0] if study.points else {}, "set": study.set}
    named = next((f"{table}.{name}" for table, names in tables.items() for name in names if name == problem.place), "")
    if named and times == total:  # a name that leads nowhere, or one that is wrong with every value
        return Problem(named, problem.value, problem.message)
    place = next((f"{key}.{name}" for key, names in tables.items() for name in names if leads(name, problem.place)), "")
    if times == total and not place:
        origin = study.scene_origin
        line = None if origin is None else origin.line(problem.place)
        where = "" if origin is None else f"{origin.source}{f' (line {line})' if line else ''}: "
        return Problem("scene", problem.value, f"{where}{problem.place}: {problem.message}")
    told = ", ".join(f"{name} = {value!r}" for name, value in point.items())
    more = f" and at {times - 1} other point{'s' if times > 2 else ''}" if times > 1 else ""
    where = f"at {told}{more}: " if told and times < total else ""
    return Problem(place or "vary", problem.value, f"{where}{problem.place}: {problem.message}")


def leads(name: str, place: str) -> bool:
    """Whether a name of the study means this place of the scene, or one within it."""
    one, other = re.split(r"[.\[]", name), re.split(r"[.\[]", place)
    return one[0] == other[0] and (len(one) == 1 or one[-1] in other[1:])
