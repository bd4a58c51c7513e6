"""[[stage]]: what a run does one after the other, when each part ends, and what changes as it begins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field, PlainValidator, WithJsonSchema, field_validator

from .errors import ABSENT, Problem
from .section import Section
from .values import Coefficient, Name, Number, Positive, TimedVector, positive

BY_NAME = (
    "plane",
    "cylinder",
    "cone",
    "piston",
    "motion",
    "material",
)  # tables of which a stage changes words, by their names


def read_rest(value: Any) -> float | bool:
    """True for the usual bound, or one of one's own."""
    if isinstance(value, bool):
        return value
    try:
        return positive(value)
    except ValueError:
        raise ValueError("must be true, or the inertial number that is rest, greater than zero") from None


def read_words(value: Any) -> dict[str, dict[str, Any]]:
    """Words of tables by their names."""
    if not isinstance(value, dict) or not all(isinstance(one, dict) for one in value.values()):
        raise ValueError("must have the name of a table and its new words, such as { lid = { velocity = 0.1 } }")
    return {str(name): dict(words) for name, words in value.items()}


def read_table(value: Any) -> dict[str, Any]:
    """Words of a table."""
    if not isinstance(value, dict):
        raise ValueError("must be a table with its new words, such as { rate = { xy = 0.1 } }")
    return dict(value)


def read_tables(value: Any) -> list[dict[str, Any]]:
    """A list of tables."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(one, dict) for one in value):
        raise ValueError("must be a list of tables; write [[stage.force]] with double brackets")
    return [dict(one) for one in value]


Words = Annotated[dict[str, Any], PlainValidator(read_words), WithJsonSchema({"type": "object"})]
Table = Annotated[dict[str, Any], PlainValidator(read_table), WithJsonSchema({"type": "object"})]
TableList = Annotated[Any, PlainValidator(read_tables), WithJsonSchema({"type": "array"})]
Rest = Annotated[
    Any,
    PlainValidator(read_rest),
    WithJsonSchema({"anyOf": [{"type": "boolean"}, {"type": "number", "exclusiveMinimum": 0}]}),
]


class When(Section):
    """A column of the history that crosses a bound."""

    column: Name = Field(description="name of a column of the history, such as 'pressure' or 'lid.displacement'")
    rising: Number | None = Field(default=None, description="the bound that it is to cross from below")
    falling: Number | None = Field(default=None, description="the bound that it is to cross from above")
    during: Positive | None = Field(default=None, description="how long it has to stay beyond (s); one step if absent")

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        if (self.rising is None) == (self.falling is None):
            yield Problem("rising", ABSENT, "give rising or falling, the bound that is crossed, and only one of them")


class Stage(Section):
    """A part of a run: when it ends, and what changes as it begins."""

    name: Name = Field(description="name of the stage")
    until: Positive | None = Field(default=None, description="time of the stage after which it ends (s)")
    rest: Rest = Field(
        default=False, description="true: it ends when grains are at rest; a number: the inertial number that is rest"
    )
    when: When | None = Field(default=None, description="it ends when { column, rising or falling } has been crossed")
    limit: Positive | None = Field(default=None, description="time of the stage at which it ends anyway (s)")
    gravity: TimedVector | None = Field(default=None, description="gravity from then on (m/s^2)")
    friction: Coefficient | None = Field(default=None, description="friction wherever no other is given, from then on")
    plane: Words = Field(default_factory=dict, description="new words of planes by name: their motion, friction")
    cylinder: Words = Field(default_factory=dict, description="new words of cylinders by name")
    cone: Words = Field(default_factory=dict, description="new words of cones by name")
    piston: Words = Field(default_factory=dict, description="new words of pistons by name: load, stress, velocity")
    motion: Words = Field(default_factory=dict, description="new velocity or displacement of grains by name")
    material: Words = Field(default_factory=dict, description="new coefficients of materials by name")
    cell: Table = Field(default_factory=dict, description="new rate, stress or pressure of the cell")
    force: TableList = Field(default=None, description="the constant forces on groups from then on; [] for none")

    @field_validator("when", mode="before")
    @classmethod
    def read_when(cls, value: Any) -> Any:
        if value is None or isinstance(value, When):
            return value
        if not isinstance(value, dict):
            raise ValueError("must be a table such as { column = 'pressure', rising = 1000.0 }")
        return When(**value)

    @property
    def ends(self) -> bool:
        """Whether it ends at some time."""
        return self.until is not None or self.limit is not None

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        yield from self.wrong_lengths(dimension, "gravity")
        if self.when is not None:
            yield from (problem.inside("when") for problem in self.when.mistakes(dimension))
        ends = [key for key in ("until", "rest", "when") if getattr(self, key) not in (None, False)]
        if len(ends) > 1:
            yield self.wrong(ends[1], f"given together with {ends[0]}; a stage ends by one of them, limit is beside it")
        elif ends and ends[0] != "until" and self.limit is None:
            yield Problem(
                "limit", ABSENT, f"missing; give the time (s) after which it ends although {ends[0]} does not"
            )
        elif self.limit is not None and (not ends or ends[0] == "until"):
            yield self.wrong("limit", "belongs to rest or when; write until for a time, and only one of them")
