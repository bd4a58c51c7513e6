"""Mistakes of stages: between them, and in the scene as it is in each of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .cell import conflicts, flow_conflicts, tensions
from .errors import ABSENT, Problem
from .references import unknown_names
from .shape_conflicts import shape_conflicts
from .stage import BY_NAME
from .stage_tables import MOTION, in_stages, readable_forces, staged_outside

if TYPE_CHECKING:
    from ..events.stages import Stages
    from .scene import Scene
    from .stage import Stage

TABLE = re.compile(r"(\w+)\[(\d+)\](.*)")


Names = Mapping[str, set[str]]


def stage_mistakes_of_part(scene: Scene, tables: Mapping[str, Sequence[Any]], lost: Names) -> Iterator[Problem]:
    """What is wrong with the stages of a scene of which some tables cannot be read, or only in part.

    scene : without its tables; tables : those of each kind, None where nothing can be read; lost : names of those that
            are not read, or not whole
    """
    numbers = {key: [k for k, table in enumerate(rows) if table is not None] for key, rows in tables.items()}
    for key, rows in tables.items():
        setattr(scene, key, [rows[k] for k in numbers[key]])
    for problem in stage_mistakes(scene, lost):
        if found := TABLE.fullmatch(problem.place):
            key, number, rest = found.groups()
            problem = replace(problem, place=f"{key}[{numbers[key][int(number)]}]{rest}")
        yield problem


def stage_mistakes(scene: Scene, lost: Names | None = None) -> Iterator[Problem]:
    """What is wrong with the stages of a scene whose own tables are read; lost : names of those that are not."""
    lost = lost or {}
    yield from staged_outside(scene, scene.tables())
    if not scene.stage:
        return
    for index, stage in enumerate(scene.stage[:-1]):
        endless = not stage.ends and not stage.rest and stage.when is None  # those need a limit, and are told so
        if endless and stage.name not in lost.get("stage", ()):
            message = "missing; give until, rest or when: only the last stage may go on to the end of the run"
            yield Problem(f"stage[{index}].until", ABSENT, message)
    known = {str(problem) for problem in _mistakes(scene, lost)}
    for index, (then, wrong) in enumerate(in_stages(scene, lost)):
        yield from wrong
        yield from _times(scene, index)
        for problem in _mistakes(then, lost):
            if str(problem) not in known or _says(scene.stage[index], then, problem):
                known.add(str(problem))
                yield _placed(problem, then, index)
    yield from _flows(scene)


def _mistakes(scene: Scene, lost: Names) -> Iterator[Problem]:
    """Mistakes of a scene that words of a stage can bring."""
    tables = {key: rows for key, rows in scene.tables().items() if key != "stage"}
    for key in ("plane", "cylinder", "cone", "piston", "motion", "material", "force"):
        for index, table in enumerate(tables[key]):
            yield from (problem.inside(f"{key}[{index}]") for problem in table.mistakes(scene.dimension))
    if scene.cell is not None:
        yield from (problem.inside("cell") for problem in scene.cell.mistakes(scene.dimension))
    yield from unknown_names(tables | {"stage": scene.stage}, lost)
    yield from conflicts(scene.cell, tables, scene.gravity, scene.dimension)
    yield from tensions(scene.cell, tables)
    yield from shape_conflicts(scene.cell, tables, scene.dimension)


def _says(stage: Stage, scene: Scene, problem: Problem) -> bool:
    """Whether the word that is wrong is one of this stage, rather than of the scene or a stage before."""
    key, number, rest = found.groups() if (found := TABLE.fullmatch(problem.place)) else ("cell", "0", problem.place)
    if key == "force":
        return stage.force is not None
    words = stage.cell if key == "cell" else {}
    if key in BY_NAME:
        words = getattr(stage, key).get(scene.tables()[key][int(number)].name, {})
    return any(word in words for word in rest.split("."))


def _placed(problem: Problem, scene: Scene, index: int) -> Problem:
    """The mistake at the place where the stage has the word."""
    place = f"stage[{index}]"
    if found := TABLE.fullmatch(problem.place):
        key, number, rest = found.groups()
        if key == "force":
            name = f"[{list(readable_forces(scene.stage[index].force, []))[int(number)]}]"
        else:
            name = f".{scene.tables()[key][int(number)].name}"
        return Problem(f"{place}.{key}{name}{rest}", problem.value, problem.message)
    return Problem(f"{place}.{problem.place}", problem.value, problem.message)


def _times(scene: Scene, index: int) -> Iterator[Problem]:
    """Motion of walls that appear at a time, which would begin with the stage; words of walls gone."""
    stage, past = scene.stage[index], {one.name for one in scene.stage[: index + 1]}
    for key in ("plane", "cylinder", "cone", "piston"):
        for table in getattr(scene, key):
            words = getattr(stage, key).get(table.name, {})
            if isinstance(table.since, float) and table.since > 0.0 and set(words) & {*MOTION}:
                message = f"'{table.name}' appears at a time; let it appear with a stage, since = '{stage.name}'"
                yield Problem(f"stage[{index}].{key}.{table.name}", words, message)
            if words and table.until in past:
                message = f"'{table.name}' has gone with the stage '{table.until}'; remove this, or let it go later"
                yield Problem(f"stage[{index}].{key}.{table.name}", words, message)


def _flows(scene: Scene) -> Iterator[Problem]:
    """A cell that deforms in some stage has neither walls nor gravity in any."""
    later = [then for then, _ in in_stages(scene)]
    if scene.cell is None or scene.cell.deforms or not any(then.cell and then.cell.deforms for then in later):
        return
    seen: set[str] = set()
    for then in (scene, *later):
        for problem in flow_conflicts(then.tables(), then.gravity):
            if str(problem) not in seen:
                seen.add(str(problem))
                yield problem


def rows(scene: Scene, stages: Stages | None) -> list[tuple[str, str]]:
    """Each stage with when it ends and what it changes, for `rigidgrains info`; stages : of the bodies of the scene."""
    built = () if stages is None else stages.stages
    return [
        (f"stage {one.name}", "; ".join([one.end_in_words, *_changes(table, scene)]))
        for table, one in zip(scene.stage, built)
    ]


def _changes(stage: Stage, scene: Scene) -> Iterator[str]:
    """What changes, in words."""
    for key in ("plane", "cylinder", "cone", "piston", "motion", "material"):
        for name, words in getattr(stage, key).items():
            yield f"{name}: " + ", ".join(f"{word} = {value}" for word, value in words.items())
    if stage.cell:
        yield "cell: " + ", ".join(f"{word} = {value}" for word, value in stage.cell.items())
    for key in ("gravity", "friction"):
        if (value := getattr(stage, key)) is not None:
            yield f"{key} = {list(value) if isinstance(value, tuple) else value}"
    if stage.force is not None:
        yield f"{len(stage.force)} force{'' if len(stage.force) == 1 else 's'}"
    for key in ("plane", "box", "cylinder", "cone", "piston", "inflow", "outlet"):
        for table in getattr(scene, key):
            yield from (f"{table.name} {told}" for word, told in (("since", "comes"), ("until", "goes"))
                        if getattr(table, word) == stage.name)  # fmt: skip
