"""[[grains]]: a group of grains, placed by the program, at given positions, or read from a file."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field, PlainValidator, WithJsonSchema

from ..model.columns import Z
from .errors import ABSENT, Problem, suggestion
from .formed import Quaternions, ShapeNames, form_mistakes, is_random
from .section import Section, vector_length
from .sizes import Discrete, Radius, Spread, mean_power
from .species import Densities, Density, MaterialNames, Scalars, species_mistakes
from .values import (
    MOST,
    Array,
    Count,
    FileName,
    Fraction,
    Name,
    Numbers,
    Positives,
    Seed,
    Vectors,
    in_space,
    whole,
)

if TYPE_CHECKING:
    from ..formats.state import State

MOST_GRAINS = 10**8
ENDLESS = 2**62  # number of grains in a file that cannot be read: nothing else is blamed on it


def read_frame(value: Any) -> int | str:
    """The number of a frame, or "last"."""
    if isinstance(value, str):
        if value != "last":
            raise ValueError("must be a whole number or 'last'")
        return value
    return whole(-MOST, MOST)(value)


FrameNumber = Annotated[
    int | Literal["last"],
    PlainValidator(read_frame),
    WithJsonSchema({"anyOf": [{"type": "integer"}, {"const": "last"}]}),
]


class GroupError(ValueError):
    """A group that a file does not have."""


class Grains(Section):
    """A group of grains: `count` grains in a `region`, one grain at each of the `positions`, or those of a `file`."""

    name: Name | None = Field(default=None, description="name of the group, for forces and measurements")
    count: Count | None = Field(default=None, description="number of grains to place in the region")
    region: Vectors | None = Field(default=None, description="box to fill, [[x0, y0], [x1, y1]] (m)")
    placement: Literal["lattice", "random", "dense"] | None = Field(
        default=None,
        description="how to fill the region: jittered lattice, random sequential, or dense (overlaps pushed apart);"
        " without it a lattice where that fits, else dense",
    )
    jitter: Fraction = Field(default=0.5, description="lattice: share of the free play used to displace the grains")
    positions: Vectors | None = Field(default=None, description="centres of the grains (m), instead of count")
    file: FileName | None = Field(
        default=None,
        description="file with positions and radii: a LAMMPS dump, extended XYZ, CSV, GSD or trajectory; relative to"
        " the scene file",
    )
    frame: FrameNumber | None = Field(default=None, description="file: number of the frame; the last if absent")
    overlap: Fraction = Field(default=0.05, description="file: overlap allowed, as a share of the smaller radius")
    group: Name | None = Field(default=None, description="file: the grains of this group alone; all if absent")
    forces: bool = Field(
        default=True, strict=True, description="file: begin with its forces, where it has some, as after a restart"
    )
    radius: Radius = Field(
        default=None,
        description="radius (m): a number, [min, max], { values, shares, by } or { mean, std, min, max, distribution }",
    )
    radii: Positives | None = Field(default=None, description="one radius per grain (m), instead of radius")
    shape: ShapeNames | None = Field(
        default=None,
        description="name of a [[shape]], 'disk' or 'sphere'; or shares of the number of grains,"
        " { pentagon = 0.7, disk = 0.3 }; round if absent",
    )
    size: Literal["equal volume", "as drawn"] = Field(
        default="equal volume",
        description="whether radius is that of the disk or sphere of equal volume, or lengths of the drawing are m",
    )
    orientation: Literal["random"] | None = Field(
        default=None, description="turned at random: the default with count; others are as drawn, or have angles"
    )
    angles: Numbers | None = Field(
        default=None, description="2D: angle by which grains are turned (rad), one for all or one per grain"
    )
    quaternions: Quaternions | None = Field(
        default=None, description="3D: rotation of grains, [w, x, y, z], one for all or one per grain"
    )
    density: Density = Field(
        default=None,
        description="mass density (kg/m^3; per area, kg/m^2, in 2D): a number, one per grain, or"
        " { values, shares, by }; that of the material if absent, or 2500",
    )
    seed: Seed | None = Field(default=None, description="seed of this group's random numbers; wins over the run's seed")
    material: MaterialNames = Field(
        default=None,
        description="name of the material, or shares of the number of grains, { glass = 0.7, steel = 0.3 }",
    )
    scalars: Scalars = Field(
        default=None,
        description="numbers of your own by name: one, a formula in x, y, z, r, t, or a list with one per grain",
    )
    velocity: Numbers | None = Field(default=None, description="start velocity (m/s), one vector or one per grain")
    spin: Numbers | None = Field(
        default=None, description="start spin (rad/s): a number in 2D, a vector in 3D, or one per grain"
    )

    @property
    def number(self) -> int:
        """How many grains the group has."""
        if self.file is not None:
            with suppress(ValueError):  # `mistakes` tells what is wrong with it
                return len(self.state.radius)
            return ENDLESS
        return self.count if self.count is not None else 0 if self.positions is None else len(self.positions)

    @cached_property
    def state(self) -> State:
        """What the file holds; raises ValueError if it cannot be read."""
        from ..formats.state import read_state

        assert self.file is not None
        radius = self.radius if isinstance(self.radius, float) else None
        state = read_state(self.file, "last" if self.frame is None else self.frame, radius=radius)
        if self.group is None:
            return state
        try:
            return state.of_group(self.group)
        except KeyError:
            there = f"it has {', '.join(state.groups)}" if state.groups else "it has no groups"
            raise GroupError(f"no group of the file; {there}{suggestion(self.group, state.groups)}") from None

    @property
    def all_scalars(self) -> dict[str, Any]:
        """Those that are given, and those of the file under other names."""
        return (self.state.scalars if self.file is not None else {}) | (self.scalars or {})

    @property
    def materials(self) -> list[str | None]:
        """Names of the materials that there are in the group: those given, or those that grains have in the file."""
        if self.material is None and self.file is not None:
            with suppress(ValueError):  # `mistakes` tells what is wrong with it
                return self.state.material_names
        return [None] if self.material is None else list(self.material)

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        if self.file is not None:
            yield from self.file_mistakes(dimension)
        else:
            yield from self.placing_mistakes(dimension)
            yield from self.size_mistakes(dimension)
        yield from form_mistakes(self, dimension)
        yield from species_mistakes(self)
        if self.velocity is not None:
            yield from self.per_grain_mistakes("velocity", (dimension,), vector_length(dimension))
        if self.spin is not None:
            shape = () if dimension == 2 else (3,)
            yield from self.per_grain_mistakes("spin", shape, "must be a number in 2D and a vector of 3 in 3D")

    def file_mistakes(self, dimension: int) -> Iterator[Problem]:
        from ..formats.errors import FormatError, FrameError

        for key in ("count", "region", "placement", "jitter", "positions", "radii"):
            if self.given(key):
                yield self.wrong(key, f"has no meaning with file; remove {key} or file")
        if self.radius is not None and not isinstance(self.radius, float):
            yield self.wrong("radius", "must be one number with a file, of grains that have no radius in it")
            return
        if self.given("seed") and not is_random(self):
            yield self.wrong("seed", "has no meaning with file; remove seed or file")
        try:
            state = self.state
        except GroupError as problem:
            yield self.wrong("group", str(problem))
            return
        except FormatError as problem:
            yield self.wrong("frame" if isinstance(problem, FrameError) else "file", problem.reason)
            return
        if dimension == 2 and not state.flat:
            z = state.position[:, Z]
            how = f"its z run from {z.min():g} to {z.max():g} m" if np.ptp(z) else "its grains move along z"
            yield self.wrong("file", f"is not flat, {how}; set dimension = 3")

    def size_mistakes(self, dimension: int) -> Iterator[Problem]:
        if self.size == "as drawn" and self.shape is not None:
            for key in ("radius", "radii"):
                if self.given(key):
                    yield self.wrong(key, f"has no meaning with size = 'as drawn'; remove {key} or size")
        elif self.radius is None and self.radii is None:
            yield Problem("radius", ABSENT, "missing; give radius, or radii with one value per grain")
        elif self.radius is not None and self.radii is not None:
            yield self.wrong("radii", "given together with radius; keep one of them")
        if isinstance(self.radius, Section):
            yield from (problem.inside("radius") for problem in self.radius.mistakes(dimension))
        if self.radii is not None and self.number and len(self.radii) != self.number:
            yield Problem("radii", len(self.radii), f"needs one radius for each of the {self.number} grains")

    def placing_mistakes(self, dimension: int) -> Iterator[Problem]:
        if self.positions is None and self.count is None:
            yield Problem("count", ABSENT, "missing; give count with region, positions, or a file")
        for key in ("frame", "overlap", "group", "forces"):
            if self.given(key):
                yield self.wrong(key, f"belongs to file; remove {key} or give a file")
        if self.positions is not None:
            for key in ("count", "region", "placement", "jitter"):
                if self.given(key):
                    yield self.wrong(key, f"has no meaning with positions; remove {key} or positions")
            drawn = isinstance(self.radius, (tuple, Discrete, Spread))
            if self.given("seed") and not drawn and not is_random(self):
                yield self.wrong("seed", "has no meaning where nothing is random; remove seed or positions")
            if self.positions.shape[1] != dimension:
                yield self.wrong("positions", f"must be a list of vectors; each {vector_length(dimension)}")
        elif self.count is not None and self.region is None:
            yield Problem("region", ABSENT, "missing; give the box to fill, as [[x0, y0], [x1, y1]]")
        if self.region is not None and self.positions is None:
            if self.region.shape != (2, dimension):
                yield self.wrong("region", f"must be two corners; each {vector_length(dimension)}")
            elif not (self.region[0] < self.region[1]).all():
                yield self.wrong("region", "the first corner must lie below the second along each axis; swap them")
            else:
                yield from self.crowding(dimension)
        if self.given("jitter") and self.placement in ("random", "dense"):
            yield self.wrong("jitter", f"belongs to a lattice; remove it or placement = '{self.placement}'")

    def crowding(self, dimension: int) -> Iterator[Problem]:
        """More grains than the region can hold, found before any of them is made."""
        assert self.region is not None
        if self.count is None or (self.radius is None and self.radii is None):
            return
        power = mean_power(self.radius, dimension) if self.radii is None else float(np.mean(self.radii**dimension))
        grain = power * (math.pi if dimension == 2 else 4.0 / 3.0 * math.pi)
        room = float(np.prod(self.region[1] - self.region[0])) / grain
        if self.count > room:
            message = (
                f"the region has the volume of only {math.floor(room)} such grains, and gaps between them need room"
            )
            yield self.wrong("count", f"{message}; take a larger region, fewer or smaller grains")
        elif self.count > MOST_GRAINS:
            yield self.wrong("count", f"more than {MOST_GRAINS} grains exceed what a computer can hold; take fewer")

    def per_grain_mistakes(self, key: str, shape: tuple[int, ...], message: str) -> Iterator[Problem]:
        value = getattr(self, key)
        if value.shape[1:] == shape and value.ndim == len(shape) + 1:
            if self.number not in (0, ENDLESS, len(value)):
                yield Problem(key, len(value), f"needs one value for each of the {self.number} grains, or one for all")
        elif value.shape != shape:
            yield self.wrong(key, message)

    def velocities(self, dimension: int) -> Array:
        """Start velocities (number, 3); those of the file if none are given."""
        velocity = np.zeros(2) if self.velocity is None else self.velocity
        if self.velocity is None and self.file is not None and self.state.velocity is not None:
            velocity = self.state.velocity[:, :dimension]
        return np.broadcast_to(in_space(velocity), (self.number, 3))

    def spins(self, dimension: int) -> Array:
        """Start spins (number, 3), along z in 2D; those of the file if none are given."""
        out = np.zeros((self.number, 3))
        free = slice(2, 3) if dimension == 2 else slice(0, 3)
        if self.spin is not None and dimension == 2:
            out[:, Z] = self.spin
        elif self.spin is not None:
            out[:] = self.spin
        elif self.file is not None and self.state.spin is not None:
            out[:, free] = self.state.spin[:, free]
        return out

    def densities(self, dimension: int, otherwise: Array, rng: np.random.Generator) -> Array:
        """Mass densities (number,); by the masses in the file if none is given, else `otherwise`, of materials."""
        if isinstance(self.density, Densities):
            return self.density.draw(self.number, rng)
        if self.density is not None:
            return np.array(np.broadcast_to(self.density, (self.number,)), dtype=float)
        if self.file is None or self.state.mass is None:
            return otherwise
        radius = self.state.radius
        volume = np.pi * radius**2 if dimension == 2 else 4.0 / 3.0 * np.pi * radius**3
        return np.asarray(self.state.mass / volume)
