"""[[material]], [[pair]], [[force]], [run], [solver], [output]: the smaller tables of a scene."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, PlainValidator, WithJsonSchema

from .errors import ABSENT, Problem
from .section import Section
from .values import MOST, Count, Name, NotNegative, Positive, Seed, Vector, whole


class Material(Section):
    """A material, with the friction between two bodies of it."""

    name: Name = Field(description="name of the material")
    friction: NotNegative | None = Field(default=None, description="friction coefficient between two bodies of it")


class Pair(Section):
    """The friction between two materials."""

    materials: tuple[Name, ...] = Field(description="the names of two materials; 'default' for bodies without one")
    friction: NotNegative = Field(description="friction coefficient between them")

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        if len(self.materials) != 2:
            yield self.wrong("materials", "must be two names, such as ['glass', 'steel']")


def read_index(value: Any) -> tuple[int, ...]:
    """One index or a list of them."""
    several = isinstance(value, (list, tuple, np.ndarray))
    return tuple(whole(0, MOST)(index) for index in (value if several else [value]))


class Force(Section):
    """A constant force on each grain of a group."""

    grains: Name = Field(description="name of the group of grains")
    force: Vector = Field(description="the force on each grain (N)")
    index: Annotated[
        tuple[int, ...] | None,
        PlainValidator(lambda value: None if value is None else read_index(value)),
        WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]}),
    ] = Field(default=None, description="which grain or grains of the group; all if absent")

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        yield from self.wrong_lengths(dimension, "force")


class Run(Section):
    """How long to run, and with which time step."""

    dt: Positive | None = Field(default=None, description="the time step (s)")
    until: Positive | None = Field(default=None, description="time at which to stop (s)")
    steps: Count | None = Field(default=None, description="number of steps after which to stop")
    seed: Seed = Field(default=0, description="seed of all random numbers")
    stop_speed: Positive | None = Field(
        default=None, description="stop when no grain or piston was faster for ten steps (m/s)"
    )


ORDERS = Literal["random", "random_sequential", "ordered", "random_blocks", "symmetric", "parallel"]


class Solver(Section):
    """How the contact forces are found, and when they are good enough."""

    order: ORDERS = Field(default="random", description="order of the contacts in a sweep")
    axis: Literal["+x", "-x", "+y", "-y", "+z", "-z"] | None = Field(
        default=None, description="ordered: the direction in which contacts are visited"
    )
    block: Count = Field(default=4096, description="random_blocks: contacts per block")
    criterion: Literal["local", "global", "fixed", "rigid"] = Field(default="local", description="when sweeps may end")
    epsilon: Positive = Field(default=1e-3, description="relative change of the forces allowed by the criterion")
    delta: NotNegative | None = Field(default=None, description="local: change of a force that never matters (N)")
    sweeps: Count | None = Field(default=None, description="fixed: number of sweeps in each time step")
    rigidity: Positive = Field(default=2.0, description="rigid: diffusion length over the extent of each cluster")
    max_sweeps: Count = Field(default=5000, description="most sweeps in one time step")
    gap: Literal["g_pos", "g"] = Field(default="g_pos", description="gap in the law: open gaps only, or overlaps too")

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        if self.axis is not None and self.order != "ordered":
            yield self.wrong("axis", f"belongs to order = 'ordered', not to '{self.order}'; remove it or change order")
        if self.axis is not None and dimension == 2 and self.axis[1] == "z":
            yield self.wrong("axis", "must be along x or y in 2D")
        if self.given("block") and self.order != "random_blocks":
            yield self.wrong("block", f"belongs to order = 'random_blocks', not to '{self.order}'; remove it")
        if self.delta is not None and self.criterion != "local":
            yield self.wrong("delta", f"belongs to criterion = 'local', not to '{self.criterion}'; remove it")
        if self.sweeps is not None and self.criterion != "fixed":
            yield self.wrong("sweeps", "belongs to criterion = 'fixed'; write max_sweeps to bound the sweeps")
        if self.given("rigidity") and self.criterion != "rigid":
            yield self.wrong("rigidity", f"belongs to criterion = 'rigid', not to '{self.criterion}'; remove it")
        if self.given("epsilon") and self.criterion in ("fixed", "rigid"):
            yield self.wrong("epsilon", f"belongs to 'local' or 'global', not to '{self.criterion}'; remove it")
        if self.given("max_sweeps") and self.criterion == "fixed":
            yield self.wrong("max_sweeps", "bounds the other criteria, not 'fixed'; remove it or write sweeps")
        if self.sweeps is None and self.criterion == "fixed":
            yield Problem("sweeps", ABSENT, "missing; give the number of sweeps for criterion = 'fixed'")


class Output(Section):
    """What a run records and draws."""

    every: Count = Field(default=10, description="steps between records")
    picture: bool = Field(default=True, strict=True, description="draw the last state")
    plot: bool = Field(default=True, strict=True, description="plot the recorded quantities")
    colour: Literal["load", "rotation", "speed", "radius"] = Field(
        default="load", description="what the colour of a grain shows"
    )
