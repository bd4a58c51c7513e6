"""[[inflow]], [[outlet]]: where grains enter and leave during a run."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from .errors import ABSENT, Problem
from .formed import ShapeNames
from .section import Section, vector_length
from .sizes import Discrete, Radius, Spread
from .species import Scalars
from .values import Array, Count, Direction, Moment, Name, Numbers, Positive, Seed, Vector, Vectors


class Stream(Section):
    """What inflows and outlets have in common: a name, a region, times."""

    name: Name = Field(description="name; that of an inflow is also the group of its grains")
    region: Vectors | None = Field(default=None, description="box, [[x0, y0], [x1, y1]] (m)")
    since: Moment = Field(default=0.0, description="time from which it is open (s), or the stage")
    until: Moment | None = Field(
        default=None, description="time at which it is closed (s), or the stage; never if absent"
    )

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        yield from self.wrong_times()
        if self.region is None:
            return
        if self.region.shape != (2, dimension):
            yield self.wrong("region", f"must be two corners; each {vector_length(dimension)}")
        elif not (self.region[0] < self.region[1]).all():
            yield self.wrong("region", "has no size: the first corner must lie below the second along each axis")


class Inflow(Stream):
    """Grains that enter a region at a rate, as soon as there is room for them."""

    radius: Radius = Field(default=None, description="radius (m), as that of [[grains]]")
    shape: ShapeNames | None = Field(
        default=None,
        description="name of a [[shape]] or shares of several, as that of [[grains]]; each grain is turned at random",
    )
    density: Positive | None = Field(
        default=None, description="mass density (kg/m^3; kg/m^2 in 2D); that of the material if absent, or 2500"
    )
    material: Name | None = Field(default=None, description="name of the material")
    scalars: Scalars = Field(
        default=None, description="numbers of your own by name: one, or a formula in x, y, z, r, t as a grain enters"
    )
    rate: Positive | None = Field(default=None, description="grains per second (1/s)")
    mass_rate: Positive | None = Field(default=None, description="mass per second (kg/s), instead of rate")
    total: Count | None = Field(default=None, description="number of grains after which it is closed")
    velocity: Vector | None = Field(default=None, description="velocity of grains that enter (m/s)")
    spin: Numbers | None = Field(default=None, description="their spin (rad/s): a number in 2D, a vector in 3D")
    seed: Seed | None = Field(default=None, description="seed of its random numbers; wins over the run's seed")

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        wrong = list(super().mistakes(dimension))
        yield from wrong
        yield from self.wrong_lengths(dimension, "velocity")
        if self.spin is not None and self.spin.shape != (() if dimension == 2 else (3,)):
            yield self.wrong("spin", "must be a number in 2D and a vector of 3 in 3D (rad/s)")
        for name, value in (self.scalars or {}).items():
            if isinstance(value, np.ndarray):
                message = "a list is for grains that are there; give a number, or a formula in x, y, z, r, t"
                yield Problem(f"scalars.{name}", value, message)
        if self.region is None:
            yield Problem("region", ABSENT, "missing; give the box in which grains enter, as [[x0, y0], [x1, y1]]")
        if self.rate is not None and self.mass_rate is not None:
            yield self.wrong("mass_rate", "given together with rate; keep one of them")
        flows = self.rate is not None or self.mass_rate is not None
        if flows and self.radius is None:
            yield Problem("radius", ABSENT, "missing; give the radius of the grains that enter")
        if isinstance(self.radius, Section):
            yield from (problem.inside("radius") for problem in self.radius.mistakes(dimension))
        elif self.radius is not None and self.region is not None and not wrong:
            yield from self.crowding()

    def crowding(self) -> Iterator[Problem]:
        """A region too small for a single grain."""
        assert self.region is not None
        largest = self.radius[1] if isinstance(self.radius, tuple) else self.radius
        if isinstance(self.radius, (Discrete, Spread)):
            return
        width = float((self.region[1] - self.region[0]).min())
        if 2.0 * largest > width:
            yield self.wrong(
                "region", f"is {width:g} m wide, too small for a grain of radius {largest:g} m; enlarge it"
            )

    def spins(self) -> Array:
        """(3,) rad/s"""
        out = np.zeros(3)
        if self.spin is not None:
            out[3 - np.size(self.spin) :] = self.spin
        return out


class Outlet(Stream):
    """Grains whose centre comes into a box, or behind a plane, are taken out."""

    point: Vector | None = Field(default=None, description="a point of the plane behind which grains leave (m)")
    normal: Direction | None = Field(default=None, description="direction from that plane to the grains that stay")
    recycle: Name | None = Field(default=None, description="name of the inflow at which they come back; gone if absent")

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        yield from super().mistakes(dimension)
        yield from self.wrong_lengths(dimension, "point", "normal")
        plane = self.point is not None or self.normal is not None
        if self.region is None and not plane:
            yield Problem("region", ABSENT, "missing; give a box, or point and normal of a plane")
        elif self.region is not None and plane:
            yield self.wrong("region", "given together with point or normal; keep the box or the plane")
        elif plane:
            for key, other in (("point", self.normal), ("normal", self.point)):
                if getattr(self, key) is None and other is not None:
                    yield Problem(key, ABSENT, "missing; a plane has point and normal")
