"""[[motion]]: grains that move as prescribed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, PlainValidator, WithJsonSchema

from .errors import Problem
from .section import Section
from .settings import read_index
from .values import Name, TimedVector, Turning


class Motion(Section):
    """Prescribed motion of some grains: an intruder, a tracer on a path. Nothing slows them down."""

    name: Name = Field(description="name of the motion")
    grains: Name = Field(description="name of the group of grains")
    index: Annotated[
        tuple[int, ...] | None,
        PlainValidator(lambda value: None if value is None else read_index(value)),
        WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]}),
    ] = Field(default=None, description="which grain or grains of the group; all if absent")
    velocity: TimedVector | None = Field(
        default=None, description="velocity (m/s); each component a number, a formula in t or a table"
    )
    displacement: TimedVector | None = Field(
        default=None, description="way from the start (m), in place of velocity; each component a formula or a table"
    )
    rotation: Turning | None = Field(
        default=None, description="spin (rad/s): a number, formula or table in 2D, a vector in 3D; 0 if absent"
    )

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        yield from self.wrong_lengths(dimension, "velocity", "displacement")
        if "/" in self.name:
            yield self.wrong("name", "must not have a '/', which files keep for folders; choose another")
        if (self.velocity is None) == (self.displacement is None):
            yield self.wrong("velocity", "give velocity or displacement, and only one of them")
        size = len(self.rotation) if isinstance(self.rotation, tuple) else 0
        if self.rotation is not None and size != (0 if dimension == 2 else 3):
            yield self.wrong("rotation", "must be a number in 2D and a vector of 3 in 3D (rad/s)")
