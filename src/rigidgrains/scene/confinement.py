"""[[plane]], [[box]], [[cylinder]], [[cone]], [[piston]]: the walls as the user describes them.

A new shape is a subclass of `DrivenSurface` with its keys and its `shape`, an entry in WALLS and a list in `Scene`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field, field_validator

from .errors import ABSENT, Problem
from .section import Section
from .values import (
    Coefficient,
    Direction,
    Moment,
    Name,
    Number,
    PlateSize,
    Positive,
    Positives,
    Timed,
    TimedVector,
    Turning,
    Vector,
    in_space,
    moves,
)

if TYPE_CHECKING:
    from ..model.shapes import Shape

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
    since: Moment | None = Field(
        default=None, description="time at which the wall appears (s), or the stage; 0 if absent"
    )
    until: Moment | None = Field(
        default=None, description="time at which the wall is removed (s), or the stage; never if absent"
    )

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        yield from self.wrong_times()

    def surfaces(self) -> Iterator[Surface]:
        """The walls that the table stands for."""
        yield self

    def conflicts(self, along: np.ndarray, named: str) -> Iterator[Problem]:
        """What does not fit a cell that is periodic along these axes, (dimension,) True or False; named : the axes."""
        yield Problem("name", self.name, f"this wall has no images along {named}; remove it or the cell")


class DrivenSurface(Surface):
    """A wall with prescribed motion: velocity, displacement, oscillation and rotation add up."""

    point: Vector = Field(description="a point of the wall; its middle when it is finite (m)")
    velocity: TimedVector | None = Field(
        default=None, description="velocity (m/s); each component a number, a formula in t or a table"
    )
    displacement: TimedVector | None = Field(
        default=None, description="displacement from the start (m); each component a formula in t or a table"
    )
    oscillation: Oscillation | None = Field(default=None, description="{ amplitude, frequency, phase }")
    rotation: Turning | None = Field(
        default=None, description="angular velocity (rad/s): a number, formula or table in 2D, a vector of them in 3D"
    )
    angle: Turning | None = Field(
        default=None, description="angle from the start (rad), instead of rotation: a formula or table, a vector in 3D"
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
        yield from super().mistakes(dimension)
        yield from self.wrong_lengths(dimension, "point", "velocity", "displacement", "about")
        if self.oscillation is not None:
            wrong = self.oscillation.wrong_lengths(dimension, "amplitude")
            yield from (problem.inside("oscillation") for problem in wrong)
        for key, unit in (("rotation", "rad/s"), ("angle", "rad")):
            value = getattr(self, key)
            if value is not None and (len(value) if isinstance(value, tuple) else 0) != (0 if dimension == 2 else 3):
                yield self.wrong(key, f"must be a number in 2D and a vector of 3 in 3D ({unit})")
        if self.rotation is not None and self.angle is not None:
            yield self.wrong("angle", "given together with rotation; keep one of them")
        if self.about is not None and self.rotation is None and self.angle is None:
            yield self.wrong("about", "is the centre of a rotation; give rotation or angle too, or remove it")

    def shape(self) -> Shape:
        """The surface itself."""
        raise NotImplementedError


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

    def conflicts(self, along: np.ndarray, named: str) -> Iterator[Problem]:
        through = list(cuts_through(self.normal, along, named))
        yield from through
        if not through and self.size is not None:
            yield self.wrong("size", "a plate has no images; take a plane or no cell")

    def shape(self) -> Shape:
        """A half-space, or a plate when a size is given."""
        from ..model import shapes

        point, normal = in_space(self.point), in_space(self.normal)
        if self.size is None:
            return shapes.Plane(point, normal)
        if self.along is None:
            return shapes.Plate(point, normal, np.array([normal[1], -normal[0], 0.0]), (0.5 * self.size, 0.0))
        first = in_space(self.along)
        first = first - float(np.sum(first * normal)) * normal  # its part within the plate
        return shapes.Plate(point, normal, first / np.linalg.norm(first), (0.5 * self.size[0], 0.5 * self.size[1]))


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

    def conflicts(self, along: np.ndarray, named: str) -> Iterator[Problem]:
        across = along & (np.abs(np.cross(np.eye(3)[: len(along)], self.direction)).max(axis=1) > 1e-12)
        if across.any() or self.length is not None:
            message = f"a cylinder has no images along {named}; let it be endless and the cell periodic along its axis"
            yield Problem("length" if self.length else "axis", self.length or self.axis, message)

    @property
    def direction(self) -> np.ndarray:
        """(3,), of the axis: a circle in 2D is a cylinder along z."""
        return np.array([0.0, 0.0, 1.0]) if self.axis is None else in_space(self.axis)

    def shape(self) -> Shape:
        from ..model import shapes

        half = math.inf if self.length is None else 0.5 * self.length
        return shapes.Cylinder(in_space(self.point), self.direction, self.radius, self.side == "inside", half)


class Cone(DrivenSurface):
    """A funnel in 3D: a thin conical shell between two circles, felt from both sides."""

    axis: Direction = Field(default=(0.0, 0.0, 1.0), description="direction of the axis; z if absent")
    radii: Positives = Field(description="radii of the circles at the two ends, in the direction of the axis (m)")
    length: Positive = Field(description="from one circle to the other, centred on point (m)")

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        yield from super().mistakes(dimension)
        if dimension == 2:
            yield self.wrong("name", "a cone has no meaning in 2D; write two planes with size")
            return
        yield from self.wrong_lengths(dimension, "axis")
        if len(self.radii) != 2:
            yield self.wrong("radii", "must be two numbers, the radius at each end, such as [0.01, 0.05]")

    def shape(self) -> Shape:
        from ..model import shapes

        first, last = self.radii.tolist()
        return shapes.Cone(in_space(self.point), in_space(self.axis), (first, last), 0.5 * self.length)


class Piston(Surface):
    """A plane guided along its normal: with `mass` it is pushed by its load and the grains, else it is driven."""

    point: Vector = Field(description="a point of the piston's face (m)")
    normal: Direction = Field(description="direction from the piston into the grains")
    mass: Positive | None = Field(default=None, description="mass of a free piston (kg; per metre of depth in 2D)")
    load: Timed | None = Field(
        default=None, description="force that presses a free piston into the grains (N): a number, formula or table"
    )
    stress: Timed | None = Field(
        default=None, description="stress with which it presses (Pa; N/m in 2D), times its present area; for load"
    )
    between: tuple[Name, ...] | None = Field(
        default=None, description="walls between which it runs, that set its area: two names in 2D, two pairs in 3D"
    )
    area: Positive | None = Field(default=None, description="fixed area for stress (m^2; m in 2D), for between")
    stiffness: Positive | None = Field(
        default=None, description="of a spring that takes from the load as the piston goes along its normal (N/m)"
    )
    velocity: Timed | None = Field(
        default=None, description="velocity along the normal (m/s): at the start with mass, prescribed without"
    )
    displacement: Timed | None = Field(
        default=None, description="displacement of a driven piston along its normal (m): a formula in t or a table"
    )

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        yield from super().mistakes(dimension)
        yield from self.wrong_lengths(dimension, "point", "normal")
        if self.mass is None and self.velocity is None and self.displacement is None:
            yield Problem(
                "mass",
                ABSENT,
                "missing; give mass (and load) for a free piston, velocity or displacement for a driven one",
            )
        yield from self.stress_mistakes(dimension)
        if self.mass is not None and self.displacement is not None:
            yield self.wrong("displacement", "belongs to a driven piston; remove it or mass")
        if self.mass is not None and self.velocity is not None:
            if moves(self.velocity):
                yield self.wrong("velocity", "is that at the start for a piston with mass; give a number, or no mass")
            if self.since:
                yield self.wrong("velocity", "a piston that appears later starts at rest; remove velocity or since")
        if self.mass is None and self.load is not None:
            yield self.wrong("load", "needs a mass; give mass too, or velocity alone")
        if self.mass is None and self.stiffness is not None:
            yield self.wrong("stiffness", "needs a mass; give mass too, or remove it")

    def conflicts(self, along: np.ndarray, named: str) -> Iterator[Problem]:
        yield from cuts_through(self.normal, along, named)

    def stress_mistakes(self, dimension: int) -> Iterator[Problem]:
        """A stress needs a mass and one area; a load is no stress."""
        if self.stress is None:
            for key in ("between", "area"):
                if self.given(key):
                    yield self.wrong(key, f"belongs to a stress; give stress too, or remove {key}")
            return
        if self.mass is None:
            yield self.wrong("stress", "needs a mass; give mass too, or velocity alone")
        if self.load is not None:
            yield self.wrong("load", "given together with stress; keep one of them")
        if (self.between is None) == (self.area is None):
            message = "has no finite area: give between, the walls on its sides, or area (and only one of them)"
            yield self.wrong("stress", message)
        elif self.between is not None and len(self.between) != 2 * (dimension - 1):
            yield self.wrong("between", "must be two names in 2D, and two pairs of names in 3D")


class Box(Section):
    """Shorthand for the fixed planes around a box."""

    name: Name | None = Field(default=None, description="prefix of the names: 'box' makes box.left, box.right, ...")
    lower: Vector = Field(description="lowest corner (m)")
    upper: Vector = Field(description="highest corner (m)")
    open: tuple[str, ...] = Field(default=(), description="sides left out: left, right, front, back, bottom, top")
    material: Name | None = Field(default=None, description="name of the material")
    friction: Coefficient | None = Field(default=None, description="friction coefficient of all its walls")
    since: Moment | None = Field(
        default=None, description="time at which its walls appear (s), or the stage; 0 if absent"
    )
    until: Moment | None = Field(
        default=None, description="time at which they are removed (s), or the stage; never if absent"
    )

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        wrong = list(self.wrong_lengths(dimension, "lower", "upper"))
        yield from wrong
        if not wrong and not all(low < high for low, high in zip(self.lower, self.upper)):
            yield self.wrong("lower", f"must lie below upper = {list(self.upper)} along each axis; swap them")
        yield from self.wrong_times()
        for i, side in enumerate(self.open):
            if side not in SIDES[dimension]:
                yield Problem(f"open[{i}]", side, f"must be one of {', '.join(SIDES[dimension])} in {dimension}D")

    def conflicts(self, along: np.ndarray, named: str) -> Iterator[Problem]:
        shut = {
            plane.name.removeprefix(f"{self.name}.") for plane in self.surfaces() if np.array(plane.normal)[along].any()
        }
        if shut:
            message = f"sides {', '.join(sorted(shut))} cut through the cell, which is periodic along {named}"
            yield self.wrong("open", f"{message}; leave them open")

    def surfaces(self) -> Iterator[Plane]:
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
                    since=self.since,
                    until=self.until,
                )

    def side_name(self, side: str) -> str:
        return side if self.name is None else f"{self.name}.{side}"


# By the keys of a scene, in the order in which walls are made.
WALLS: dict[str, type[Surface | Box]] = {
    "plane": Plane,
    "box": Box,
    "cylinder": Cylinder,
    "cone": Cone,
    "piston": Piston,
}


def cuts_through(normal: tuple[float, ...], along: np.ndarray, named: str) -> Iterator[Problem]:
    """A plane across a periodic direction."""
    if len(normal) == len(along) and np.abs(np.array(normal)[along]).max(initial=0.0) > 1e-12:
        message = f"this wall cuts through the cell, which is periodic along {named}; remove one of them"
        yield Problem("normal", list(normal), message)
