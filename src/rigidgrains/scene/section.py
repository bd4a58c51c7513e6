"""What all tables of a scene have in common: strict keys, plain errors, mistakes that depend on the dimension."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError

from .errors import ABSENT, Problem, SceneError, plain_problems

EXAMPLE = {2: "[0.0, -1.0]", 3: "[0.0, 0.0, -1.0]"}


class Section(BaseModel):
    """One table of a scene. A wrong field raises SceneError; `mistakes` tells what is wrong between fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    def __init__(self, /, **words: Any) -> None:
        try:
            super().__init__(**words)
        except ValidationError as error:
            raise SceneError(plain_problems(error, type(self), tables_with)) from None

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        """Mistakes between the fields, or between a field and the dimension of the scene."""
        yield from ()

    def given(self, key: str) -> bool:
        """True when the user wrote this key."""
        return key in self.model_fields_set and getattr(self, key) is not None

    def wrong_lengths(self, dimension: int, *keys: str) -> Iterator[Problem]:
        """Vectors whose number of components is not the dimension."""
        for key in keys:
            value = getattr(self, key)
            if value is not None and len(value) != dimension:
                yield self.wrong(key, vector_length(dimension))

    def wrong_times(self) -> Iterator[Problem]:
        """Of what is there from `since` to `until`; names of stages are looked at by the scene."""
        since, until = (getattr(self, word, None) for word in ("since", "until"))
        if isinstance(until, float) and until <= 0.0:
            yield self.wrong("until", "must be greater than zero")
        elif isinstance(since, float) and isinstance(until, float) and since >= until:
            yield self.wrong("until", f"must come after since = {since:g}; swap them or remove one")

    def wrong(self, key: str, message: str) -> Problem:
        """A mistake in one field, with its value."""
        value = getattr(self, key)
        return Problem(key, ABSENT if value is None else value, message)


def tables_with(key: str) -> list[str]:
    """Tables of a scene that have a key, as they are written."""
    from .scene import Scene

    found = []
    for name, field in Scene.model_fields.items():
        several = get_origin(field.annotation) is list
        kinds = [kind for kind in get_args(field.annotation) or [field.annotation] if isinstance(kind, type)]
        if any(issubclass(kind, Section) and key in kind.model_fields for kind in kinds):
            found.append(f"[[{name}]]" if several else f"[{name}]")
    return found


def vector_length(dimension: int) -> str:
    """Sentence about a vector with the wrong number of components."""
    return f"must have {dimension} components, such as {EXAMPLE[dimension]}, because dimension = {dimension}"
