"""[[plane]], [[box]], [[cylinder]], [[piston]]: the walls as the user describes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from pydantic import Field, field_validator

from .errors import ABSENT, Problem
from .section import Section
from .values import Coefficient, Direction, Name, Number, Numbers, PlateSize, Positive, Vector

SIDES = {2: ("left", "right", "bottom", "top"), 3: ("left", "right", "front", "back", "bottom", "top")}


class Oscillation(Section):
    """Harmonic motion: displacement amplitude * (sin(2 pi frequency t + phase) - sin(phase))."""

    amplitude: Vector = Field(description="amplitude vector (m)")
    frequency: Positive = Field(description="frequency (Hz)")
    phase: Number = Field(default=0.0, description="phase at time zero (rad)")


class Surface(Section):
    """What every wall has: a name, a material, perhaps a friction coefficient of its own."""

    name: Name = Field(description="name of the wall")
    material: Name | None = Field(default=None, description="name of the material")
    friction: Coefficient | None = Field(
        default=None,
        description="friction coefficient against everything that no [[pair]] names; wins over the material",
    )


class DrivenSurface(Surface):
    """A wall with prescribed motion: velocity, oscillation and rotation add up."""

    point: Vector = Field(description="a point of the wall; its middle when it is finite (m)")
    velocity: Vector | None = Field(default=None, description="constant velocity (m/s)")
    oscillation: Oscillation | None = Field(default=None, description="{ amplitude, frequency, phase }")
    rotation: Numbers | None = Field(
        default=None, description="angular velocity (rad/s): a number in 2D, a vector in 3D"
    )
    about: Vector | None = Field(default=None, description="centre of the rotation (m); the wall's own point if absent")

    @field_validator("oscillation", mode="before")
    @classmethod
    def read_oscillation(cls, value: Any) -> Any:
        if value is None or isinstance(value, Oscillation):
            return value
        if not isinstance(value, dict):
            raise ValueError("must be a table such as { amplitude = [0.0, 0.001], frequency = 50.0 }")
        return Oscillation(**value)

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        yield from self.wrong_lengths(dimension, "point", "velocity", "about")
        if self.oscillation is not None:
            wrong = self.oscillation.wrong_lengths(dimension, "amplitude")
            yield from (problem.inside("oscillation") for problem in wrong)
        if self.rotation is not None and self.rotation.shape != (() if dimension == 2 else (3,)):
            yield self.wrong("rotation", "must be a number in 2D and a vector of 3 in 3D (rad/s)")
        if self.about is not None and self.rotation is None:
            yield self.wrong("about", "is the centre of a rotation; give rotation too, or remove it")


class Plane(DrivenSurface):
    """An infinite plane, or with `size` a finite thin plate."""

    normal: Direction = Field(description="direction from the wall into the grains")
    size: PlateSize | None = Field(default=None, description="makes a finite plate: its length in 2D, [a, b] in 3D (m)")
    along: Direction | None = Field(default=None, description="direction of the first side of a finite plate in 3D")

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        yield from super().mistakes(dimension)
        yield from self.wrong_lengths(dimension, "normal")
        if self.along is not None and (dimension == 2 or self.size is None):
            yield self.wrong("along", "is the first side of a finite plate in 3D; remove it or give size = [a, b]")
        elif self.along is not None:
            yield from self.wrong_lengths(dimension, "along")
            if len(self.along) == len(self.normal) == 3 and np.linalg.norm(np.cross(self.along, self.normal)) < 1e-9:
                yield self.wrong("along", "is parallel to the normal; give a direction within the plate")
        if self.size is None:
            return
        if np.shape(self.size) != (() if dimension == 2 else (2,)):
            yield self.wrong("size", "must be one length in 2D and [a, b] in 3D")
        if dimension == 3 and self.along is None:
            yield Problem("along", ABSENT, "missing; give the direction of the first side of the plate")


class Cylinder(DrivenSurface):
    """A cylinder felt from inside (drum, tube) or from outside (rod); a circle in 2D."""

    axis: Direction | None = Field(default=None, description="direction of the axis in 3D; z if absent")
    radius: Positive = Field(description="the radius of the cylinder (m)")
    side: Literal["inside", "outside"] = Field(default="inside", description="the side on which the grains are")
    length: Positive | None = Field(default=None, description="length in 3D, centred on point (m); infinite if absent")

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        yield from super().mistakes(dimension)
        if dimension == 3:
            yield from self.wrong_lengths(dimension, "axis")
        for key in ("axis", "length"):
            if dimension == 2 and getattr(self, key) is not None:
                yield self.wrong(key, f"has no meaning in 2D, where a cylinder is a circle; remove {key}")


class Piston(Surface):
    """A plane guided along its normal: with `mass` it is pushed by its load and the grains, else it is driven."""

    point: Vector = Field(description="a point of the piston's face (m)")
    normal: Direction = Field(description="direction from the piston into the grains")
    mass: Positive | None = Field(default=None, description="mass of a free piston (kg; per metre of depth in 2D)")
    load: Number | None = Field(default=None, description="force that presses a free piston into the grains (N)")
    velocity: Number | None = Field(
        default=None, description="velocity along the normal (m/s): at the start with mass, prescribed without"
    )

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        yield from self.wrong_lengths(dimension, "point", "normal")
        if self.mass is None and self.velocity is None:
            yield Problem(
                "mass", ABSENT, "missing; give mass (and load) for a free piston or velocity for a driven one"
            )
        if self.mass is None and self.load is not None:
            yield self.wrong("load", "needs a mass; give mass too, or velocity alone")


class Box(Section):
    """Shorthand for the fixed planes around a box."""

    name: Name | None = Field(default=None, description="prefix of the names: 'box' makes box.left, box.right, ...")
    lower: Vector = Field(description="lowest corner (m)")
    upper: Vector = Field(description="highest corner (m)")
    open: tuple[str, ...] = Field(default=(), description="sides left out: left, right, front, back, bottom, top")
    material: Name | None = Field(default=None, description="name of the material")
    friction: Coefficient | None = Field(default=None, description="friction coefficient of all its walls")

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        wrong = list(self.wrong_lengths(dimension, "lower", "upper"))
        yield from wrong
        if not wrong and not all(low < high for low, high in zip(self.lower, self.upper)):
            yield self.wrong("lower", f"must lie below upper = {list(self.upper)} along each axis; swap them")
        for i, side in enumerate(self.open):
            if side not in SIDES[dimension]:
                yield Problem(f"open[{i}]", side, f"must be one of {', '.join(SIDES[dimension])} in {dimension}D")

    def planes(self) -> Iterator[Plane]:
        """The planes of the sides that are not open."""
        dimension = len(self.lower)
        for k, side in enumerate(SIDES[dimension]):
            axis, high = divmod(k, 2)
            if side not in self.open:
                normal = [0.0] * dimension
                normal[axis] = -1.0 if high else 1.0
                yield Plane(
                    name=self.side_name(side),
                    point=self.upper if high else self.lower,
                    normal=normal,
                    material=self.material,
                    friction=self.friction,
                )

    def side_name(self, side: str) -> str:
        return side if self.name is None else f"{self.name}.{side}"
