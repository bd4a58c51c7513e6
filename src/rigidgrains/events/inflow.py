"""An inflow: grains are due at a rate, and enter its region as soon as there is room. None is lost."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.bodies import Bodies
from ..model.columns import S, V
from ..model.sizes import Size, draw_radii, size_from_words, size_words
from .errors import StageError
from .population import Crowd
from .vacancy import Vacancy

Array = NDArray[np.float64]

STOCK = 100  # radii drawn at a time: shares of sizes hold within so many grains
NOW = 1e-9  # of a grain: due enough
NUMBERS = (
    "name",
    "density",
    "material",
    "rate",
    "mass_rate",
    "since",
    "until",
    "total",
    "made",
    "mass",
    "again",
    "stock",
)
VECTORS = ("lower", "upper", "velocity", "spin")


@dataclass
class Inflow:
    """Where grains enter, how many, and what they are like.

    lower, upper : (3,) m, corners of the region in which a grain lies wholly
    radius    : one size or a distribution (m); density : kg/m^3; material : row in the friction table
    velocity  : (3,) m/s; spin : (3,) rad/s
    rate      : grains per second; mass_rate : kg per second; one of them, or none where grains only come back
    since, until : s; total : grains at most
    made      : grains that have entered for the first time; mass : of them (kg); again : grains that came back
    stock     : radii drawn ahead (m), the next one first; waiting : grains on their way back
    """

    name: str
    lower: Array
    upper: Array
    radius: Size | None
    density: float
    material: int
    velocity: Array
    spin: Array
    rate: float | None
    mass_rate: float | None
    since: float
    until: float
    total: int | None
    rng: np.random.Generator
    made: int = 0
    mass: float = 0.0
    again: int = 0
    stock: list[float] = field(default_factory=list)
    waiting: list[Crowd] = field(default_factory=list)

    def missing(self, time: float) -> float:
        """What is due and has not entered: grains, or mass (kg) with a mass rate."""
        span = max(0.0, min(time, self.until) - self.since)
        most = math.inf if self.total is None else self.total
        if self.rate is not None:
            return max(0.0, min(math.floor(self.rate * span + NOW), most) - self.made)
        if self.mass_rate is None or self.made >= most:
            return 0.0
        return max(0.0, self.mass_rate * span - self.mass)

    def enter(self, bodies: Bodies, stays: NDArray[np.bool_], others: list[Crowd], time: float) -> list[Crowd]:
        """Grains that enter now, those on their way back first; a new one has no id yet (-1).

        stays : (n,) grains that are not leaving; others : grains that have entered in this step
        """
        if not self.waiting and not self._due(time, bodies.dimension):
            return []
        vacancy = Vacancy(bodies, stays, others, self.lower, self.upper)
        entered: list[Crowd] = []
        while self.waiting:
            place = vacancy.find(float(self.waiting[0].radius[0]), self.rng)
            if place is None:
                return entered
            entered.append(self._in_motion(self.waiting.pop(0), place))
            self.again += 1
        while self._due(time, bodies.dimension):
            place = vacancy.find(self._next(bodies.dimension), self.rng)
            if place is None:
                break
            entered.append(self._in_motion(self._make(bodies.dimension), place))
        return entered

    def _due(self, time: float, dimension: int) -> bool:
        """True when another new grain is due."""
        missing = self.missing(time)
        if self.mass_rate is None or missing == 0.0:
            return missing >= 1.0
        return self.density * volume(self._next(dimension), dimension) <= missing * (1.0 + NOW)

    def _next(self, dimension: int) -> float:
        """Radius of the next new grain (m)."""
        if not self.stock:
            assert self.radius is not None
            try:
                self.stock = draw_radii(self.radius, STOCK, dimension, self.rng).tolist()
            except ValueError as problem:
                raise StageError(f"inflow '{self.name}' has no grain to let in: {problem}") from None
        return self.stock[0]

    def _make(self, dimension: int) -> Crowd:
        """The next new grain, at rest."""
        radius = self.stock.pop(0)
        mass = self.density * volume(radius, dimension)
        self.made, self.mass = self.made + 1, self.mass + mass
        return Crowd.of_one(radius, mass, self.material, dimension, self.name)

    def _in_motion(self, grain: Crowd, place: Array) -> Crowd:
        """A grain at a place, with the motion of those that enter."""
        grain.position[0] = place
        grain.motion[0, V], grain.motion[0, S] = self.velocity, self.spin * grain.radius[0]
        return grain

    def figures(self, time: float) -> dict[str, float]:
        """For a report: grains and mass (kg) that entered, grains that came back, and what is due at this time."""
        due = self.missing(time) + len(self.waiting)
        return {"grains": self.made, "mass": self.mass, "again": self.again, "due": due}

    def pack(self) -> dict[str, Any]:
        """As plain words and numbers, exact."""
        words: dict[str, Any] = {name: getattr(self, name) for name in NUMBERS}
        words |= {name: getattr(self, name).tolist() for name in VECTORS}
        words |= {"radius": size_words(self.radius), "random": self.rng.bit_generator.state}
        return words | {"waiting": [grain.words() for grain in self.waiting]}

    @classmethod
    def unpack(cls, words: dict[str, Any]) -> Inflow:
        rng = np.random.default_rng()
        rng.bit_generator.state = words["random"]
        own: dict[str, Any] = {name: words[name] for name in NUMBERS}
        own |= {name: np.array(words[name]) for name in VECTORS}
        waiting = [Crowd.from_words(grain) for grain in words["waiting"]]
        return cls(**own, radius=size_from_words(words["radius"]), rng=rng, waiting=waiting)


def volume(radius: float, dimension: int) -> float:
    """Area of a disk, volume of a sphere."""
    return math.pi * radius**2 if dimension == 2 else 4.0 / 3.0 * math.pi * radius**3
