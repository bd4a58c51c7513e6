"""Read a scene from a TOML file; mistakes are told with their line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..solve.aliases import SETTINGS
from .change import change_all
from .errors import ABSENT, EMPTY, Origin, Problem, SceneError
from .scene import Scene
from .toml import write_toml

HEADER = re.compile(r"\s*(\[\[?)\s*([\w.\-\s]+?)\s*\]")
WITH_FILES = ("grains", "shape")  # tables that may name one
KEY = re.compile(r"\s*\"?([\w.\-\[\]]+)\"?\s*=")


def load_scene(
    path: str | Path, *, to_run: bool = False, ends: bool = False, changes: Mapping[str, Any] | None = None
) -> Scene:
    """The scene described by a TOML file; raises SceneError with all its mistakes.

    to_run : whether what a run needs besides must be there; ends : whether its end is given elsewhere
    changes : words that win over those of the file, by their names: {"friction": 0.3, "grains.sand.radius": 1e-3}
    """
    text = read_text(Path(path))
    words, places = changed_words(text, str(path), changes or {})
    find_files(words, Path(path).parent)
    lines = line_numbers(text)
    lines |= {f"solver.{new}": lines[f"solver.{old}"] for old, new in SETTINGS.items() if f"solver.{old}" in lines}
    origin = Origin(str(path), lines, tuple(places))
    lacking = list(missing(words, ends)) if to_run else []
    try:
        scene = Scene(**words)
        if lacking:
            raise SceneError([])
    except SceneError as error:
        raise origin.locate(SceneError([*error.problems, *lacking])) from None
    scene._origin = origin
    return scene


def changed_scene(path: str | Path, changes: Mapping[str, Any]) -> str:
    """Text of the scene with these words changed; that of the file, comments and all, if there are none."""
    text = read_text(Path(path))
    return write_toml(changed_words(text, str(path), changes)[0]) if changes else text


def changed_words(text: str, source: str, changes: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Words of a TOML text with some of them changed, and the places of those."""
    try:
        words = tomllib.loads(text)
        return words, change_all(words, changes)
    except tomllib.TOMLDecodeError as error:
        raise SceneError([Problem("", ABSENT, f"not valid TOML: {error}")], source=source) from None
    except SceneError as error:
        raise SceneError(error.problems, source=source) from None


def missing(words: dict[str, Any], ends: bool) -> Iterator[Problem]:
    """What a run needs and the file does not say."""
    run = words.get("run")
    given = run if isinstance(run, dict) else {}
    if not words.get("grains") and not words.get("inflow"):
        yield Problem("grains", ABSENT, EMPTY)
    stages = words.get("stage")
    last = stages[-1] if isinstance(stages, list) and stages else {}
    ends = ends or not isinstance(stages or [], list) or not isinstance(last, dict)  # which is told by itself
    ends = ends or bool({"until", "limit"} & last.keys())
    if not ends and "until" not in given and "steps" not in given:
        yield Problem(
            "run.until", ABSENT, "missing; give an end, until = ... (s) or steps = ..., or --until or --steps"
        )


def find_files(words: dict[str, Any], folder: Path) -> None:
    """Files of grains and shapes are meant relative to the scene file."""
    for table in tables_with_files(words):
        if isinstance(table["file"], str) and table["file"]:
            table["file"] = str(folder / table["file"])


def tables_with_files(words: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The tables of a scene that name a file to read, as words."""
    for key in WITH_FILES:
        tables = words.get(key)
        yield from (
            table
            for table in (tables if isinstance(tables, list) else [])
            if isinstance(table, dict) and "file" in table
        )


def read_text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        reason = "no such file; check the name and the folder"
    except IsADirectoryError:
        reason = "this is a folder; give the path of a scene file such as scene.toml"
    except UnicodeDecodeError:
        reason = "not a text file in UTF-8; a scene file is TOML text"
    except (OSError, ValueError) as error:
        reason = f"cannot be read: {getattr(error, 'strerror', None) or error}"
    raise SceneError([Problem("", ABSENT, reason)], source=str(path))


def line_numbers(text: str) -> dict[str, int]:
    """Line of each table and key, found by a simple scan."""
    lines: dict[str, int] = {}
    tables: dict[str, int] = {}
    prefix = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := HEADER.match(line):
            brackets, name = header.groups()
            if brackets == "[[":
                tables[name] = tables.get(name, -1) + 1
            top, dot, rest = name.partition(".")
            prefix = (f"{top}[{tables[top]}]" if top in tables else top) + dot + rest
            lines.setdefault(prefix, number)
            lines.setdefault(top, number)
        elif key := KEY.match(line):
            lines.setdefault(f"{prefix}.{key[1]}" if prefix else key[1], number)
    return lines
