"""[[material]], [[pair]], [[force]], [[spring]], [run], [solver], [output]: the smaller tables of a scene."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema, create_model, model_validator

from ..model.arrays import choosable, unknown_fields
from ..model.coefficients import COEFFICIENTS
from ..model.time_functions import TimeFunction, read_time_function
from ..solve.aliases import SETTINGS, current, rename
from .errors import ABSENT, Problem
from .section import Section
from .values import (
    MOST,
    Coefficient,
    Count,
    Direction,
    Fraction,
    GapPolicy,
    Name,
    NotNegative,
    Number,
    Numbers,
    Positive,
    Seed,
    SignedFraction,
    Timed,
    TimeStep,
    TravelFraction,
    Vector,
    Whole,
    whole,
)

if TYPE_CHECKING:
    from ..simulation.timestep import AutoStep
    from ..solve.accuracy import Accuracy

RANGES: dict[str, Any] = {
    "any": Coefficient, "not negative": NotNegative, "positive": Positive, "fraction": Fraction,
    "signed fraction": SignedFraction,
}  # fmt: skip
FIELDS: dict[str, Any] = {
    one.key: (RANGES[one.range] | None, Field(default=None, description=one.about)) for one in COEFFICIENTS
}
Keys: Any = create_model("Keys", __base__=Section, **FIELDS)


class Coefficients(Keys):  # type: ignore[misc]
    """What two bodies that touch have in common, see model/coefficients.py; what is absent is as in plain friction."""

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        sliding, static, reach = (getattr(self, key) for key in ("friction", "static_friction", "range"))
        if sliding is not None and static is not None and static < sliding:
            yield self.wrong("static_friction", f"must not be less than friction = {sliding:g}; swap them")
        for key, law in ((one.key, one.needs) for one in COEFFICIENTS if one.needs):
            if self.given(key) and getattr(self, law) is None:
                yield self.wrong(key, f"belongs to {law}; give {law} too, or remove {key}")
        if self.given("twisting") and dimension == 2:
            yield self.wrong("twisting", "has no meaning in 2D, where disks can only roll; remove it or write rolling")
        if self.given("decay") and not reach:
            yield Problem("range", ABSENT, "missing; give the gap at which the bridge breaks")

    @property
    def attracts(self) -> bool:
        """True if bodies hold together."""
        return any(getattr(self, one.key) for one in COEFFICIENTS if one.attracts)


class Material(Coefficients):
    """A material, with the coefficients of contacts between two bodies of it."""

    name: Name = Field(description="name of the material")
    density: Positive | None = Field(
        default=None, description="density of its grains (kg/m^3; kg/m^2 in 2D), where they give none of their own"
    )


class Pair(Coefficients):
    """The coefficients of contacts between two materials."""

    materials: tuple[Name, ...] = Field(description="the names of two materials; 'default' for bodies without one")

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        yield from super().mistakes(dimension)
        if len(self.materials) != 2:
            yield self.wrong("materials", "must be two names, such as ['glass', 'steel']")
        if not any(self.given(key) for key in Coefficients.model_fields):
            yield Problem("friction", ABSENT, "missing; give friction or another coefficient of this pair")


def read_index(value: Any) -> tuple[int, ...]:
    """One index or a list of them."""
    several = isinstance(value, (list, tuple, np.ndarray))
    return tuple(whole(0, MOST)(index) for index in (value if several else [value]))


class Force(Section):
    """A constant force, a constant torque or both on each grain of a group."""

    grains: Name = Field(description="name of the group of grains")
    force: Vector | None = Field(default=None, description="the force on each grain (N)")
    torque: Numbers | None = Field(
        default=None, description="the torque on each grain (N m): a number in 2D, a vector in 3D"
    )
    index: Annotated[
        tuple[int, ...] | None,
        PlainValidator(lambda value: None if value is None else read_index(value)),
        WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]}),
    ] = Field(default=None, description="which grain or grains of the group; all if absent")

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        yield from self.wrong_lengths(dimension, "force")
        if self.torque is not None and self.torque.shape != (() if dimension == 2 else (3,)):
            yield self.wrong("torque", "must be a number in 2D and a vector of 3 in 3D (N m)")
        if self.force is None and self.torque is None:
            yield self.wrong("force", "missing; give force, torque or both")


class Spring(Section):
    """A linear spring between the centre of mass of some grains and an end that moves; relaxed at the start."""

    name: Name = Field(description="name of the spring")
    grains: Name = Field(description="name of the group of grains")
    index: Annotated[
        tuple[int, ...] | None,
        PlainValidator(lambda value: None if value is None else read_index(value)),
        WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]}),
    ] = Field(default=None, description="which grain or grains of the group; all if absent")
    stiffness: Positive = Field(description="force over stretch (N/m)")
    direction: Direction = Field(description="direction along which it acts, and its free end moves")
    velocity: Number | None = Field(default=None, description="constant velocity of the free end (m/s)")
    displacement: Timed | None = Field(
        default=None, description="displacement of the free end (m): a number, formula or table; in place of velocity"
    )

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        yield from self.wrong_lengths(dimension, "direction")
        if "/" in self.name:
            yield self.wrong("name", "must not have a '/', which files keep for folders; choose another")
        if (self.velocity is None) == (self.displacement is None):
            message = "give velocity or displacement of the free end, and only one of them"
            yield self.wrong("velocity", message)

    def function(self) -> TimeFunction:
        """Displacement of the free end."""
        return read_time_function(f"{self.velocity!r} * t" if self.displacement is None else self.displacement)


class Run(Section):
    """How long to run, and with which time step."""

    dt: TimeStep | None = Field(
        default=None,
        description="the time step (s), or 'auto', as if it were absent: as long as motion allows, and no longer than "
        "a fall through a four-hundredth of a diameter takes",
    )
    until: Positive | None = Field(default=None, description="time at which to stop (s)")
    steps: Count | None = Field(default=None, description="number of steps after which to stop")
    seed: Seed = Field(default=0, description="seed of all random numbers")
    stop_speed: Positive | None = Field(
        default=None, description="stop when no grain or piston was faster for ten steps (m/s)"
    )
    travel: TravelFraction = Field(
        default=0.1,
        description="auto: how far a pair may come closer in a step beyond touching, over the least radius; 1 with "
        "accuracy = 'fast'",
    )
    dt_max: Positive | None = Field(default=None, description="auto: the longest step (s)")
    dt_min: Positive | None = Field(default=None, description="auto: the shortest step (s)")
    sort: bool = Field(default=False, description="number grains anew along a curve when a large system has mixed")

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        for key in ("travel", "dt_max", "dt_min"):
            if self.given(key) and self.dt not in ("auto", None):
                yield self.wrong(key, "belongs to dt = 'auto'; remove it or change dt")
        if self.dt_min is not None and self.dt_max is not None and self.dt_min > self.dt_max:
            yield self.wrong("dt_min", f"must not be more than dt_max = {self.dt_max:g}; swap them")

    def time_step(self, level: Accuracy) -> float | AutoStep:
        """What a simulation takes as dt; where nobody chooses one, by the level of accuracy."""
        if self.dt not in ("auto", None):
            return float(self.dt)
        from ..simulation.timestep import AutoStep

        step = AutoStep.of(level)
        travel = self.travel if self.given("travel") else step.travel
        return AutoStep(travel, self.dt_max or math.inf, self.dt_min or 0.0, drop=step.drop)


ORDERS = Literal["random", "random_sequential", "ordered", "random_blocks", "symmetric", "coloured", "parallel"]
CRITERIA = Literal["local", "global", "fixed", "rigid", "residual", "momentum", "flow", "overlap"]
PLAIN = ("local", "global", "fixed", "rigid")  # criteria of plain sweeps, where no method is given
EPSILON = {"residual": 1e-4, "momentum": 1e-2, "flow": 0.1, "overlap": 1e-5}


@dataclass(frozen=True)
class Of:
    """Marks a key that belongs to one method."""

    method: str


class Solver(Section):
    """How the contact forces are found, and when they are good enough."""

    # A key reaches the solver, its order or its criterion by its name: fields of those classes are called the same.

    method: Annotated[
        Literal["sweeps", "accelerated", "second-order"],
        BeforeValidator(lambda name: current(name) if isinstance(name, str) else name),
    ] = Field(
        default="accelerated",
        description="extrapolated sweeps, plain ones, or interior point and Newton steps; plain ones "
        "are the default where an order is given, or a criterion of plain sweeps: local, global, fixed, rigid",
    )
    order: ORDERS = Field(
        default="coloured", description="order of the contacts in a sweep; random is the default of other methods"
    )
    axis: Literal["+x", "-x", "+y", "-y", "+z", "-z"] | None = Field(
        default=None, description="ordered: the direction in which contacts are visited"
    )
    block: Count = Field(default=4096, description="random_blocks: contacts per block")
    criterion: CRITERIA = Field(
        default="momentum",
        description="when sweeps may end; by default the accuracy says it, and local is the default of other methods",
    )
    epsilon: Positive = Field(
        default=1e-2,
        description="what the criterion allows: change of the forces (1e-3), residual (1e-4), momentum error (1e-2), "
        "its share in the power of friction (0.1), or overlap over the mean radius (1e-5)",
    )
    residual: Positive = Field(default=1e-3, description="momentum: residual that is allowed besides")
    contact: Positive = Field(
        default=2.5e-3, description="momentum: what a single contact may miss its force by, over |R| + <|R|>"
    )
    delta: NotNegative | None = Field(default=None, description="local: change of a force that never matters (N)")
    sweeps: Count | None = Field(default=None, description="fixed: number of sweeps in each time step")
    rigidity: Positive = Field(default=2.0, description="rigid: diffusion length over the extent of each cluster")
    max_sweeps: Count = Field(
        default=5000,
        description="most sweeps in one time step; accelerated: by default the accuracy says it; second-order: "
        "iterations, 1000 by default",
    )
    warm: Annotated[Whole, Of("second-order")] = Field(
        default=0, description="second-order: sweeps that come first in each step"
    )
    gap: GapPolicy = Field(
        default="g_pos",
        description="gap in the law: open gaps only, overlaps too, or a part of them (0 to 1); accelerated: by default "
        "the accuracy says it",
    )
    slack: Fraction = Field(default=0.0, description="overlap that is left alone where gap removes it (mean radii)")

    sleep: bool = Field(default=False, description="leave clusters at rest out of the sweeps until they are disturbed")
    accuracy: Annotated[Literal["fast", "balanced", "exact"], Of("accelerated")] = Field(
        default="balanced",
        description="accelerated: ask little of steps while grains move and much where they are still; criterion, "
        "max_sweeps, gap and slack that are given besides win, each by itself",
    )
    associated: bool = Field(
        default=False,
        description="accelerated: begin with the associated law, which finds forces that carry a packing at rest, where"
        " none are carried over",
    )
    fallback: Whole | None = Field(
        default=None,
        description="accelerated: contacts up to which the second-order method takes over steps that sweeps do not"
        " solve; 0 for none, default 2000",
    )

    @model_validator(mode="before")
    @classmethod
    def _by_present_names(cls, words: Any) -> Any:
        return rename(words, SETTINGS) if isinstance(words, dict) else words

    def model_post_init(self, _: Any) -> None:
        """Defaults that depend on other keys; they do not count as given."""
        if self.given("delta"):
            self._default(criterion="local")
        if self.given("order") or self.criterion in PLAIN:
            self._default(method="sweeps")
        if self.method == "second-order":
            self._default(order="symmetric", max_sweeps=1000)
        elif self.method != "accelerated":
            self._default(order="random", criterion="local")
        self._default(epsilon=EPSILON.get(self.criterion, 1e-3))

    def _default(self, **values: Any) -> None:
        self.__dict__.update({key: value for key, value in values.items() if key not in self.model_fields_set})

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
            yield self.wrong("epsilon", f"belongs to the other criteria, not to '{self.criterion}'; remove it")
        for key in ("residual", "contact"):
            if self.given(key) and self.criterion != "momentum":
                yield self.wrong(key, f"belongs to criterion = 'momentum', not to '{self.criterion}'; write epsilon")
        for key, method in self._methods_of_keys():
            if self.given(key) and self.method != method:
                yield self.wrong(key, f"belongs to method = '{method}', not to '{self.method}'; remove it")
        if self.method == "accelerated" and self.order != "coloured":
            yield self.wrong("order", "is not known to method = 'accelerated'; take 'coloured'")
        if self.method == "second-order":
            yield from self._without_sweeps()
        if self.method != "sweeps" and self.criterion == "rigid":
            yield self.wrong("criterion", f"counts plain sweeps, not those of '{self.method}'; take 'momentum'")
        if self.sleep and self.criterion in ("global", "rigid"):
            yield self.wrong("sleep", f"does not go with criterion = '{self.criterion}'; take 'local' or 'residual'")
        if self.associated and (self.method != "accelerated" or self.order != "coloured"):
            yield self.wrong("associated", "belongs to method = 'accelerated' with order = 'coloured'; remove it")
        if self.fallback and self.method != "accelerated":
            yield self.wrong("fallback", f"belongs to method = 'accelerated', not to '{self.method}'; remove it")
        if self.method == "accelerated" and self.fallback and self.accuracy != "exact":
            yield self.wrong(
                "fallback",
                f"takes over steps that sweeps do not solve, and accuracy = '{self.accuracy}' carries them over; take "
                "accuracy = 'exact'",
            )
        for key, asked in (
            ("associated", self.associated),
            ("fallback", self.method == "accelerated" and self.fallback),
        ):
            if asked and (self.sleep or self.criterion not in EPSILON):
                yield self.wrong(key, f"needs a criterion that looks at the state: {', '.join(EPSILON)}; and no sleep")
        if self.given("max_sweeps") and self.criterion == "fixed":
            yield self.wrong("max_sweeps", "bounds the other criteria, not 'fixed'; remove it or write sweeps")
        if self.slack > 0.0 and self.gap in ("g_pos", 0.0):
            yield self.wrong("slack", "belongs to gap = 'g' or a number such as 0.3; with 'g_pos' nothing is removed")
        if self.sweeps is None and self.criterion == "fixed":
            yield Problem("sweeps", ABSENT, "missing; give the number of sweeps for criterion = 'fixed'")

    @classmethod
    def _methods_of_keys(cls) -> Iterator[tuple[str, str]]:
        """Keys that one method alone knows, with its name."""
        for key, field in cls.model_fields.items():
            yield from ((key, mark.method) for mark in field.metadata if isinstance(mark, Of))

    def _without_sweeps(self) -> Iterator[Problem]:
        """What has no meaning where no sweeps are made."""
        if self.given("order") and not self.warm:
            yield self.wrong("order", "is that of sweeps, and method = 'second-order' makes none; remove it")
        if self.criterion not in EPSILON and self.criterion != "rigid":
            yield self.wrong("criterion", f"watches sweeps; with method = 'second-order' take {', '.join(EPSILON)}")
        if self.sleep:
            yield self.wrong(
                "sleep", "leaves contacts out of sweeps, and method = 'second-order' makes none; remove it"
            )


COLOURS = (
    "load", "rotation", "speed", "peculiar", "radius", "contacts", "id", "status", "group", "material", "density",
)  # fmt: skip


class Output(Section):
    """What a run records and draws."""

    every: Count = Field(default=10, description="steps between rows of the history")
    frame_every: Count | None = Field(
        default=None, description="steps between frames of the trajectory; a hundredth of the run if absent"
    )
    contacts: bool = Field(
        default=True, strict=True, description="write contacts too; certificates need them, and all fields"
    )
    fields: tuple[Name, ...] | None = Field(
        default=None,
        description="arrays of grains in frames beside those that hardly change, all if absent; without contacts then: "
        + ", ".join(choosable()),
    )
    precision: Literal["double", "single"] = Field(default="double", description="of the frames; restarts are exact")
    compress: bool = Field(default=False, strict=True, description="compress the frames")
    checkpoint_every: Count | None = Field(
        default=None, description="steps between states to resume from; a minute of computing if absent"
    )
    picture: bool = Field(default=True, strict=True, description="draw the last state")
    plot: bool = Field(default=True, strict=True, description="plot the recorded quantities")
    colour: Name = Field(
        default="load", description=f"what the colour of a grain shows: {', '.join(COLOURS)}, or the name of a scalar"
    )

    @property
    def with_contacts(self) -> bool:
        """Whether contacts are written: unless arrays of grains are chosen."""
        return self.contacts and self.fields is None

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        for name, hint in unknown_fields(self.fields or ()):
            yield Problem("fields", name, f"frames have no array of this name; {hint}")
        if self.fields is not None and self.contacts and self.given("contacts"):
            told = "goes with contacts = false: contacts without all arrays of their grains cannot be certified"
            yield self.wrong("fields", told)
