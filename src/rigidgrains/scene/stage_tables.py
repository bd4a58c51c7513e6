"""The scene as it is in each stage: its tables with the words that stages have changed so far."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..model.time_functions import is_staged
from .errors import ABSENT, Problem, SceneError, suggestion
from .section import Section
from .settings import Force
from .stage import BY_NAME, Stage

if TYPE_CHECKING:
    from .scene import Scene

MOTION = ("velocity", "displacement", "oscillation", "rotation", "angle", "about")
LOADED = ("mass", "load", "stress", "between", "area", "stiffness")
SURFACE = ("material", "friction")
CELL = ("rate", "stress", "pressure", "shape", "inertia")
AREA = {"between", "area"}


def in_stages(scene: Scene, lost: Mapping[str, set[str]] | None = None) -> list[tuple[Scene, list[Problem]]]:
    """For each stage the scene as it is then, as far as it can be read, and mistakes in what the stage changes.

    lost : names of tables that cannot be read
    """
    found, now = [], scene
    for index, stage in enumerate(scene.stage):
        now, problems = changed(now, scene, stage, lost or {})
        found.append((now, [problem.inside(f"stage[{index}]") for problem in problems]))
    return found


def changed(now: Scene, first: Scene, stage: Stage, lost: Mapping[str, set[str]]) -> tuple[Scene, list[Problem]]:
    """The scene with the words of a stage; first : as it began, for what comes back."""
    update: dict[str, Any] = {}
    problems: list[Problem] = []
    for key in BY_NAME:
        tables = list(getattr(now, key))
        names = [table.name for table in tables]
        for name, words in getattr(stage, key).items():
            place = f"{key}.{name}"
            if name in lost.get(key, ()):
                continue
            if name not in names:
                hint = suggestion(name, names) or f"; known are {', '.join(names) or 'none'}"
                problems.append(Problem(place, ABSENT, f"no [[{key}]] has this name{hint}"))
                continue
            k = names.index(name)
            original = next(table for table in getattr(first, key) if table.name == name)
            tables[k] = _table(key, tables[k], original, words, place, problems)
        update[key] = tables
    if stage.cell and now.cell is None:
        problems.append(Problem("cell", stage.cell, "the scene has no [cell]; add one, or remove this"))
    elif stage.cell:
        assert now.cell is not None
        update["cell"] = _table("cell", now.cell, first.cell or now.cell, stage.cell, "cell", problems)
    if stage.force is not None:
        update["force"] = list(readable_forces(stage.force, problems).values())
    for key in ("gravity", "friction"):
        if getattr(stage, key) is not None:
            update[key] = getattr(stage, key)
    return now.model_copy(update=update), problems


def readable_forces(tables: list[Any] | None, problems: list[Problem]) -> dict[int, Force]:
    """Those of the forces of a stage that can be read, by their numbers."""
    read = {}
    for k, words in enumerate(tables or ()):
        try:
            read[k] = Force(**words)
        except SceneError as error:
            problems += [problem.inside(f"force[{k}]") for problem in error.problems]
    return read


def _table(key: str, now: Section, first: Section, words: dict[str, Any], place: str, problems: list[Problem]) -> Any:
    """A table with new words; as it was where they cannot be read."""
    allowed = allowed_words(key, now)
    for word in [word for word in words if word not in allowed]:
        hint = suggestion(word, allowed) or f"; a stage changes {', '.join(allowed)}"
        problems.append(Problem(f"{place}.{word}", words[word], f"cannot be changed by a stage{hint}"))
    words = {word: value for word, value in words.items() if word in allowed}
    if key == "piston" and {*words} & {*LOADED} and (told := {*words} & {*MOTION}):
        message = "is prescribed, and so a piston has no mass, load or stress then; keep the one or the other"
        problems.append(Problem(f"{place}.{min(told)}", words[min(told)], message))
        return now
    try:
        return type(now)(**_kept(key, now, first, words), **words)
    except SceneError as error:
        problems += [problem.inside(place) for problem in error.problems]
        return now


def allowed_words(key: str, table: Section) -> list[str]:
    """Words of a table that a stage may change."""
    fields = type(table).model_fields
    if key == "material":
        return [word for word in fields if word not in ("name", "density")]
    if key == "cell":
        return list(CELL)
    return [word for word in fields if word in (*MOTION, *LOADED, *SURFACE)]


def _kept(key: str, now: Section, first: Section, words: dict[str, Any]) -> dict[str, Any]:
    """Words that stay beside the new ones: a motion, a load or the rates of a cell are replaced as a whole."""
    old = {word: getattr(now, word) for word in now.model_fields_set if word not in words}
    begin = {word: getattr(first, word) for word in first.model_fields_set}
    given = set(words)
    if key == "cell":
        if given & {"rate", "stress", "pressure"}:
            old = {word: value for word, value in old.items() if word not in CELL}
            if given & {"stress", "pressure"}:
                old |= {w: begin[w] for w in ("inertia",) if w in begin and w not in given}
            if "pressure" in given and "shape" in begin and "shape" not in given:
                old["shape"] = begin["shape"]
        return old
    if key == "piston" and given & {"load", "stress", "mass", "stiffness"}:
        old = {word: value for word, value in old.items() if word not in MOTION}
        back = {"mass"} if "mass" not in old else set()
        if "stress" in given:
            old.pop("load", None)
            back |= AREA if not (AREA & {*old, *given}) else set()
        if "load" in given:
            old = {word: value for word, value in old.items() if word not in AREA | {"stress"}}
        return old | {word: begin[word] for word in back & begin.keys() - given}
    if given & {*MOTION}:
        old = {word: value for word, value in old.items() if word not in (*MOTION, *LOADED)}
    return old


def staged_outside(scene: Scene, tables: dict[str, list[Any]]) -> Iterator[Problem]:
    """Functions of the time of a stage outside of stages."""
    message = "stage_time is that of a [[stage]]; write t, or move it into one"
    for key, rows in tables.items():
        if key == "stage":
            continue
        for index, table in enumerate(rows):
            yield from (problem.inside(f"{key}[{index}]") for problem in _staged(table, message))
    if scene.cell is not None:
        yield from (problem.inside("cell") for problem in _staged(scene.cell, message))
    if any(is_staged(part) for part in scene.gravity or ()):
        yield Problem("gravity", scene.gravity, message)


def _staged(table: Any, message: str) -> Iterator[Problem]:
    for word in type(table).model_fields if isinstance(table, Section) else ():
        value = getattr(table, word)
        if isinstance(value, Section):
            yield from (problem.inside(word) for problem in _staged(value, message))
        elif any(is_staged(part) for part in (value if isinstance(value, tuple) else (value,))):
            yield Problem(word, value, message)
