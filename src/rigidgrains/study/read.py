"""A study is read: its file or folder, its scene, and the values of its tables."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..scene import Scene
from ..scene.errors import ABSENT, Origin, Problem, SceneError
from ..scene.load import find_files, line_numbers, read_text
from ..scene.scene import LISTS, SINGLES
from ..scene.toml import plain
from .words import Measured, Range

STUDY, RUNS = "study.toml", "runs"
RANGE = {"from", "to", "steps", "scale"}
COLUMNS = ("run", "replica", "seed", "state", "error", "folder", "point", "steps", "time", "runs")  # of every table


def study_file(path: Path) -> tuple[dict[str, Any], Origin, Path | None, Path]:
    """Words of a study file or of a study's folder, their origin, that folder, and where modules are."""
    file = path / STUDY if path.is_dir() else path
    if path.is_dir() and not file.is_file():
        message = f"this folder holds no {STUDY}; give that of a study, or a study file"
        raise SceneError([Problem("", ABSENT, message)], str(path))
    words, origin = words_of(file)
    return words, origin, file.parent if file.name == STUDY and is_study(file.parent) else None, file.parent


def is_study(folder: Path) -> bool:
    """Whether a folder holds the runs of a study, rather than the files from which one is to be made."""
    return (folder / STUDY).is_file() and (folder / RUNS).is_dir()


def scene_words(scene: Any, beside: Path) -> tuple[dict[str, Any], Origin | None]:
    """Words of the scene, from a file, a table or a Scene, and the file they were read from."""
    origin, words = None, scene
    if isinstance(scene, Scene):
        words = words_of_scene(scene)
    elif isinstance(scene, Mapping):
        words = copy.deepcopy(dict(scene))
    elif isinstance(scene, (str, Path)) and str(scene):
        words, origin = words_of(beside / scene)
        beside = (beside / scene).parent
    else:
        raise SceneError([Problem("scene", scene, "must be the name of a scene file, or a table with its words")])
    find_files(words, beside)
    return words, origin


def words_of_scene(scene: Scene) -> dict[str, Any]:
    """What was said of a scene in Python, as in a file; functions of time that are Python code cannot be."""
    options: dict[str, Any] = {"exclude_unset": True, "exclude_none": True, "warnings": False}
    try:
        words = scene.model_dump(exclude={*LISTS, *SINGLES}, **options)
        words |= {key: [row.model_dump(**options) for row in rows] for key, rows in scene.tables().items() if rows}
        single = {key: getattr(scene, key) for key in SINGLES if key in scene.model_fields_set}
        words |= {key: table.model_dump(**options) for key, table in single.items() if table is not None}
        return dict(plain(words))
    except (TypeError, ValueError) as problem:
        message = f"cannot be written in TOML: {problem}; write functions of time as formulas or tables"
        raise SceneError([Problem("scene", ABSENT, message)]) from None


def words_of(file: Path) -> tuple[dict[str, Any], Origin]:
    """What a TOML file says, and in which lines."""
    text = read_text(file)
    try:
        return tomllib.loads(text), Origin(str(file), line_numbers(text))
    except tomllib.TOMLDecodeError as error:
        raise SceneError([Problem("", ABSENT, f"not valid TOML: {error}")], str(file)) from None


def varied(given: Any) -> dict[str, list[Any]]:
    """[vary]: a list of values for each name; ranges are spelled out, tables within tables are dotted names."""
    if not isinstance(given, Mapping):
        raise ValueError("must be a table of names, each with a list of values or a range")
    values: dict[str, list[Any]] = {}
    problems: list[Problem] = []
    for name, value in flat(given):
        try:
            values[name] = listed(value)
        except SceneError as error:
            problems += [problem.inside(name) for problem in error.problems]
    if problems:
        raise SceneError(problems)
    return values


def listed(value: Any) -> list[Any]:
    """A list of values, from a list or a range."""
    if isinstance(value, Mapping):
        found = Range(**value)
        if problems := list(found.mistakes()):
            raise SceneError(problems)
        return list(found.values())
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, (list, tuple)) or not len(value):
        message = "must be a list of values, or a range such as { from = 0.1, to = 0.5, steps = 5 }"
        raise SceneError([Problem("", value, message)])
    values = [part.item() if isinstance(part, np.generic) else part for part in value]
    twice = [one for k, one in enumerate(values) if one in values[:k]]
    if twice:
        raise SceneError(
            [Problem("", twice[0], "is in the list twice; remove one, and write replicas = ... for more runs")]
        )
    return values


def flat(given: Mapping[Any, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted names and values of a table; tables that are no range hold further names."""
    for key, value in given.items():
        name = f"{prefix}.{key}" if prefix else str(key)
        if isinstance(value, Mapping) and value and not (RANGE & value.keys()):
            yield from flat(value, name)
        else:
            yield name, value


def fixed(given: Any) -> dict[str, Any]:
    """[set]: one value for each name."""
    if not isinstance(given, Mapping):
        raise ValueError("must be a table of names and values")
    return dict(flat(given))


def points(given: Any) -> list[dict[str, Any]]:
    """[[points]]: rows with the same names."""
    if not isinstance(given, (list, tuple)) or not all(isinstance(row, Mapping) and row for row in given):
        raise ValueError("must be a list of tables; write [[points]] with double brackets, with names and values")
    rows = [dict(flat(row)) for row in given]
    for k, row in enumerate(rows):
        if row.keys() != rows[0].keys():
            raise SceneError(
                [Problem(f"[{k}]", list(row), f"must have the same names as the first: {', '.join(rows[0])}")]
            )
        if row in rows[:k]:
            raise SceneError(
                [Problem(f"[{k}]", row, "is in the table twice; remove one, and write replicas = ... for more")]
            )
    return [{name: row[name] for name in rows[0]} for row in rows]


def measured(given: Any) -> dict[str, Measured]:
    """[measure]: what to measure by the name of its column."""
    if not isinstance(given, Mapping):
        raise ValueError("must be a table of names, each with what is measured")
    found: dict[str, Measured] = {}
    problems: list[Problem] = []
    for name, value in given.items():
        try:
            words = dict(value) if isinstance(value, Mapping) else {"of": value}
            found[str(name)] = value if isinstance(value, Measured) else Measured(**words)
        except SceneError as error:
            problems += [problem.inside(str(name)) for problem in error.problems]
        if not str(name).isidentifier() or name in COLUMNS:
            problems.append(Problem(str(name), ABSENT, "is no name for a column; choose a plain word, such as angle"))
    if problems:
        raise SceneError(problems)
    return found
