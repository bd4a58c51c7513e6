"""Shape and orientation of the grains of a group: how they are written, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from .errors import Problem
from .values import NUMBER_LIST, Array, numbers, positive

if TYPE_CHECKING:
    from ..formats.state import State
    from .grains import Grains

TURNS = ("orientation", "angles", "quaternions")


def read_shapes(value: Any) -> dict[str, float]:
    """Shares of the number of grains by the name of their shape; of one shape alone by its name."""
    if isinstance(value, str) and value:
        return {value: 1.0}
    if not isinstance(value, dict) or not value or not all(isinstance(name, str) and name for name in value):
        raise ValueError("must be the name of a shape, or a table of shares such as { pentagon = 0.7, disk = 0.3 }")
    return {name: positive(share) for name, share in value.items()}


def read_quaternions(value: Any) -> Array:
    """Unit quaternions (4,) or (n, 4) from numbers of any length but zero."""
    given = numbers(value)
    if given.ndim not in (1, 2) or given.shape[-1] != 4:
        raise ValueError("must be four numbers, [w, x, y, z], or a list of such")
    length = np.linalg.norm(given, axis=-1, keepdims=True)
    if not (length > 0.0).all():
        entry = f"; entry {int(np.argmin(length))} is zero" if given.ndim == 2 else ""
        raise ValueError(f"must not be zero{entry}; [1, 0, 0, 0] turns nothing")
    turned = given / length
    turned.setflags(write=False)
    return turned


ShapeNames = Annotated[
    Any,
    PlainValidator(read_shapes),
    PlainSerializer(lambda shares: next(iter(shares)) if len(shares) == 1 else shares),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {"type": "object", "additionalProperties": {"type": "number", "exclusiveMinimum": 0}},
            ]
        }
    ),
]
Quaternions = Annotated[
    Array,
    PlainValidator(read_quaternions),
    PlainSerializer(lambda array: array.tolist()),
    WithJsonSchema({"anyOf": [NUMBER_LIST, {"type": "array", "items": NUMBER_LIST}]}),
]


def form_mistakes(grains: Grains, dimension: int) -> Iterator[Problem]:
    """Shapes and orientations that do not go together with the rest of a group, or with the dimension."""
    given = [key for key in TURNS if grains.given(key)]
    kept = shapes_in_file(grains)
    if kept is not None:
        names = ", ".join(kept.catalogue.names) if kept.catalogue else ""
        for key in ("shape", "size", *given):
            if grains.given(key):
                yield grains.wrong(key, f"the file has shapes and orientations of its own ({names}); remove {key}")
        if kept.catalogue is not None and kept.catalogue.dimension != dimension:
            message = f"has shapes in {kept.catalogue.dimension}D; set dimension = {kept.catalogue.dimension}"
            yield grains.wrong("file", message)
        return
    for key in given[1:]:
        yield grains.wrong(key, f"given together with {given[0]}; keep one of them")
    if grains.shape is None:
        for key in ("size", *given[:1]):
            if grains.given(key):
                yield grains.wrong(key, f"belongs to shape; give a shape, or remove {key}")
        return
    if grains.size == "as drawn" and grains.file is not None:
        yield grains.wrong("size", "the file says how large grains are; remove size or file")
    if grains.angles is not None and dimension == 3:
        yield grains.wrong("angles", "has no meaning in 3D; write quaternions, one [w, x, y, z] for each grain")
    elif grains.angles is not None:
        yield from grains.per_grain_mistakes("angles", (), "must be a number (rad), or one for each grain")
    if grains.quaternions is not None and dimension == 2:
        yield grains.wrong("quaternions", "has no meaning in 2D; write angles (rad), one for each grain")
    elif grains.quaternions is not None:
        yield from grains.per_grain_mistakes("quaternions", (4,), "must be [w, x, y, z], or one for each grain")


def shapes_in_file(grains: Grains) -> State | None:
    """The state of a file that knows other shapes than round ones; None if there is none, or it cannot be read."""
    if grains.file is not None:
        with suppress(ValueError):
            return grains.state if grains.state.catalogue is not None else None
    return None


def is_random(grains: Grains) -> bool:
    """True where shapes or orientations are drawn."""
    if grains.shape is None:
        return False
    turned = grains.angles is not None or grains.quaternions is not None
    return len(grains.shape) > 1 or grains.orientation is not None or (grains.count is not None and not turned)
