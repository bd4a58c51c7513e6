"""Words of a scene or a study as TOML text; what is read from it again is the same to the bit."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np

BARE = re.compile(r"[A-Za-z0-9_\-]+")
WIDTH = 120


def write_toml(words: dict[str, Any]) -> str:
    """The text: keys first, then tables, each in the order of the words; None is left out."""
    words = {key: plain(value) for key, value in words.items() if value is not None}
    lines = [f"{_key(key)} = {_value(value)}" for key, value in words.items() if not _is_table(value)]
    for key, value in words.items():
        for table in (value if isinstance(value, list) else [value]) if _is_table(value) else []:
            lines += ["", f"[[{_key(key)}]]" if isinstance(value, list) else f"[{_key(key)}]"]
            lines += [f"{_key(word)} = {_value(inner)}" for word, inner in table.items()]
    return "\n".join(lines).lstrip("\n") + "\n"


def plain(value: Any) -> Any:
    """Arrays, tuples and numbers of numpy as lists and numbers; tables without keys that are None."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items() if part is not None}
    if isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"{value!r} cannot be written in TOML; give numbers, texts, lists and tables")


def _is_table(value: Any) -> bool:
    several = isinstance(value, list) and bool(value) and all(isinstance(part, dict) for part in value)
    return several or isinstance(value, dict)


def _key(key: str) -> str:
    return key if BARE.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else {math.inf: "inf", -math.inf: "-inf"}.get(value, "nan")
    if isinstance(value, dict):
        inner = ", ".join(f"{_key(key)} = {_value(part)}" for key, part in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        parts = [_value(part) for part in value]
        if sum(map(len, parts)) + 2 * len(parts) <= WIDTH or len(parts) < 2:
            return f"[{', '.join(parts)}]"
        return "[\n" + "".join(f"  {part},\n" for part in parts) + "]"
    return str(value)
