"""Every word of a scene from the schema: type, default, range, unit, meaning."""

from __future__ import annotations

import json
import re
from typing import Any

from rigidgrains.scene import Scene

HEAD = """# Scene words

Made from the schema that also checks scenes (`rigidgrains schema`). [The scene](/scene.md) explains them with
examples; here they are all in one place. Keys without a default are needed, or one of several alternatives is; a scene
that lacks one is told so. Units are SI, or any other consistent set.
"""
UNIT = re.compile(
    r"\((Hz|rad/s|rad|m/s\^2|m/s|kg/m\^3|kg/m\^2|kg/s|kg m\^2|kg|N/m\^2|N/m|N m|N s/m|N|Pa|1/s|s|m)\b[^)]*\)"
)


def pages() -> dict[str, str]:
    schema = Scene.model_json_schema()
    tables = schema["$defs"]
    parts = [HEAD, "## Top of the file\n", _table(schema)]
    for key, words in schema["properties"].items():
        name, many = _reference(words)
        if name is not None:
            title = f"[[{key}]]" if many else f"[{key}]"
            told = tables[name].get("description", "")
            parts += [f"(words-{key})=\n## `{title}`\n", _escaped(told) + "\n", _table(tables[name])]
    inner = {name for name in tables if name not in {_reference(words)[0] for words in schema["properties"].values()}}
    for name in sorted(inner):
        parts += [
            f"## `{{ {name.lower()} }}`\n",
            _escaped(tables[name].get("description", "")) + "\n",
            _table(tables[name]),
        ]
    return {"scene-words.md": "\n".join(parts)}


def _reference(words: dict[str, Any]) -> tuple[str | None, bool]:
    """The table that a key of the top is, and whether it may come several times."""
    for one in [words, *words.get("anyOf", [])]:
        if "$ref" in one:
            return one["$ref"].rpartition("/")[2], False
        if "$ref" in one.get("items", {}):
            return one["items"]["$ref"].rpartition("/")[2], True
    return None, False


def _table(table: dict[str, Any]) -> str:
    rows = ["| key | type | default | unit | meaning |", "|---|---|---|---|---|"]
    needed = table.get("required", [])
    for key, words in table.get("properties", {}).items():
        meaning = words.get("description", "")
        if not meaning and _reference(words)[0]:
            meaning = f"[table](#words-{key})"
        unit = UNIT.search(meaning)
        default = words.get("default")
        shown = "**needed**" if key in needed else "" if default in (None, [], {}) else f"`{json.dumps(default)}`"
        cells = [
            f"`{key}`",
            _kind(words),
            shown,
            unit[1] if unit else "",
            meaning if meaning.startswith("[table]") else _escaped(meaning),
        ]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows) + "\n"


def _kind(words: dict[str, Any]) -> str:
    """Type and range in words."""
    if "anyOf" in words:
        kinds = [_kind(one) for one in words["anyOf"] if one.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if "enum" in words:
        return ", ".join(f"`{value}`" for value in words["enum"])
    if "const" in words:
        return f"`{words['const']}`"
    if "$ref" in words:
        return "table"
    kind = words.get("type", "any")
    if kind == "array":
        inner = _kind(words.get("items", {})) if words.get("items") else "value"
        low, high = words.get("minItems"), words.get("maxItems")
        return f"{low if low is not None and low == high else 'list of'} {_plural(inner)}"
    return {"integer": "whole number", "object": "table", "boolean": "true or false"}.get(kind, kind) + _range(words)


def _plural(kind: str) -> str:
    first = kind.partition(" ")[0]
    if first in ("list", "value") or kind[:1] in "0123456789`":
        return kind
    return re.sub(r"\b(number|string|table)\b", r"\1s", kind, count=1)


def _range(words: dict[str, Any]) -> str:
    low, high = words.get("minimum"), words.get("maximum")
    over, below = words.get("exclusiveMinimum"), words.get("exclusiveMaximum")
    parts = [f"≥ {low:g}"] if low is not None else [f"> {over:g}"] if over is not None else []
    parts += [f"≤ {high:g}"] if high is not None else [f"< {below:g}"] if below is not None else []
    return f", {', '.join(parts)}" if parts else ""


def _escaped(text: str) -> str:
    """Plain text as Markdown: brackets and stars stand for themselves; words in backticks stay code."""
    pieces = text.split("`")
    pieces[::2] = [re.sub(r"([\[\]{}*_<>|])", r"\\\1", piece) for piece in pieces[::2]]
    return "`".join(pieces).replace("\n", " ")
