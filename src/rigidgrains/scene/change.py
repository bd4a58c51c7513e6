"""Change single words of a scene by their dotted names: friction, run.seed, grains[0].radius, grains.sand.radius."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from .errors import ABSENT, Problem, SceneError, join, suggestion
from .scene import LISTS, SINGLES

PART = re.compile(r'\[(\d+)\]|(?:^|\.)(?:"([^"]+)"|([\w\-]+))')
FORM = "write it like friction, run.seed, grains[0].radius or grains.NAME.radius"


def change(words: dict[str, Any], name: str, value: Any) -> str:
    """Set one word of a scene that was read from TOML; gives its place as in messages, `grains[0].radius`.

    Entries of lists are named by their number or, where they have one, by their name.
    """
    parts = read_name(name)
    parts = _numbered(words, name, parts)
    here: Any = words
    for depth, part in enumerate(parts[:-1]):
        if isinstance(here, dict) and part not in here and (depth > 0 or part in SINGLES):
            here[part] = {}
        here = _step(here, part, name, parts[:depth])
    _step(here, parts[-1], name, parts[:-1], last=True)
    here[parts[-1]] = value
    return join(parts)


def change_all(words: dict[str, Any], changes: Mapping[str, Any]) -> list[str]:
    """Set several words; all names that lead nowhere are told together. Gives the places."""
    places, problems = [], []
    for name, value in changes.items():
        try:
            places.append(change(words, name, value))
        except SceneError as error:
            problems += error.problems
    if problems:
        raise SceneError(problems)
    return places


def read_name(name: str) -> list[int | str]:
    """The parts of a dotted name."""
    parts: list[int | str] = []
    at = 0
    while at < len(name) and (found := PART.match(name, at)) and found.end() > at:
        number, quoted, bare = found.groups()
        parts.append(int(number) if number is not None else quoted or bare)
        at = found.end()
    if at < len(name) or not parts or isinstance(parts[0], int):
        raise SceneError([Problem(name, ABSENT, f"is no name of a key; {FORM}")])
    return parts


def read_assignment(text: str) -> tuple[str, Any]:
    """Name and value of `friction=0.3`; the value is written as in TOML, a plain word needs no quotes."""
    name, sign, given = text.partition("=")
    name, given = name.strip(), given.strip()
    if not sign or not name or not given:
        raise ValueError(f"--set {text} changes nothing; write it like --set friction=0.3 or --set run.seed=4")
    try:
        read = tomllib.loads(f"value = {given}")
        if read.keys() != {"value"}:
            raise ValueError(f"--set {text!r} is more than one value; give each a --set of its own")
        return name, read["value"]
    except tomllib.TOMLDecodeError as error:
        if given[0] in "[{\"'" or "\n" in given:
            raise ValueError(f"--set {text}: the value is not valid TOML: {error}") from None
        return name, given


def _numbered(words: dict[str, Any], name: str, parts: list[int | str]) -> list[int | str]:
    """The parts with the number of a table in place of its name."""
    key = parts[0]
    if key not in LISTS or len(parts) == 1:
        return parts
    tables = words.get(str(key), [])
    tables = tables if isinstance(tables, list) else []
    known = [table.get("name") for table in tables if isinstance(table, dict)]
    if isinstance(parts[1], str):
        if parts[1] not in known:
            named = [one for one in known if one]
            hint = suggestion(parts[1], named) or f"; known are {', '.join(named) or 'none with a name'}"
            message = f"no [[{key}]] of the scene is called '{parts[1]}'{hint}; {key}[0] is the first"
            raise SceneError([Problem(name, ABSENT, message)])
        parts = [key, known.index(parts[1]), *parts[2:]]
    if len(parts) == 2:
        raise SceneError(
            [Problem(name, ABSENT, f"names a whole table; name one of its keys, such as {name}.{_key(key)}")]
        )
    return parts


def _key(table: Any) -> str:
    """A key that tables of this kind have, for an example."""
    return next(word for word in LISTS[table].model_fields if word != "name")


def _step(here: Any, part: int | str, name: str, before: list[int | str], *, last: bool = False) -> Any:
    """What a part of the name leads to; a new key of a table may be the last part."""
    place = join(before) or "the scene"
    if isinstance(part, int):
        if not isinstance(here, list):
            raise SceneError([Problem(name, ABSENT, f"leads nowhere: {place} is no list; {FORM}")])
        if part >= len(here):
            number = f"has {len(here)} entries, numbered from 0" if here else "is empty"
            raise SceneError([Problem(name, ABSENT, f"leads nowhere: {place} {number}")])
        return here[part]
    if not isinstance(here, dict):
        raise SceneError([Problem(name, ABSENT, f"leads nowhere: {place} has no keys; {FORM}")])
    if last:
        return None
    if part not in here:
        hint = suggestion(part, [*here, *SINGLES, *LISTS])
        raise SceneError(
            [Problem(name, ABSENT, f"leads nowhere: there is no '{part}' in {place}{hint or '; ' + FORM}")]
        )
    return here[part]
