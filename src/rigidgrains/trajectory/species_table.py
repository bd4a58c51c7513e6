"""What groups, materials and scalars of grains are called, in a file: one text; grains have numbers."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from ..model.bodies import Bodies
from .errors import Mismatch


@dataclass(frozen=True)
class Names:
    """groups : by the number that `group` of a frame has; materials : by row of the friction table, empty if nobody
    named them; scalars : arrays of the user in frames, by these names"""

    groups: list[str] = field(default_factory=list)
    materials: list[str] = field(default_factory=list)
    scalars: list[str] = field(default_factory=list)


def describe(bodies: Bodies) -> str:
    """As JSON."""
    return json.dumps(asdict(Names(list(bodies.groups), bodies.material_names, bodies.scalar_names)))


def rebuild(text: str) -> Names:
    """The names that `describe` told of; none in files of earlier versions."""
    if not text:
        return Names()
    words = json.loads(text)
    return Names(*(names(words, key) for key in ("groups", "materials", "scalars")))


def names(words: Any, key: str) -> list[str]:
    """A list of texts, which a file has under this key; empty if it has none."""
    told = words.get(key, []) if isinstance(words, dict) else None
    if not isinstance(told, list) or not all(isinstance(name, str) for name in told):
        raise Mismatch(f"its names of {key} cannot be read")
    return told
