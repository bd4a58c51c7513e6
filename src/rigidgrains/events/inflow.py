"""An inflow: grains are due at a rate, and enter its region as soon as there is room. None is lost."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.bodies import Bodies
from ..model.columns import INV_MASS, INV_SPIN, S, V
from ..model.formula import NoValue
from ..model.place_function import Amount, PlaceFunction, scalar_words, scalars_from_words
from ..model.sizes import Discrete, Size, draw_radii, size_from_words, size_words
from ..shapes.core import FLAT
from ..shapes.poses import matrices
from .errors import StageError
from .population import Crowd
from .vacancy import Vacancy, bound_of

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
SHAPES = ("shapes", "shares", "kinds")
VECTORS = ("lower", "upper", "velocity", "spin")


@dataclass
class Inflow:
    """Where grains enter, how many, and what they are like.

    lower, upper : (3,) m, corners of the region in which a grain lies wholly
    radius    : one size or a distribution (m); density : kg/m^3; material : row in the friction table
    shapes    : numbers in the catalogue of those that enter, with their shares; none in a scene of round grains
    velocity  : (3,) m/s; spin : (3,) rad/s
    rate      : grains per second; mass_rate : kg per second; one of them, or none where grains only come back
    since, until : s; total : grains at most
    made      : grains that have entered for the first time; mass : of them (kg); again : grains that came back
    stock     : radii drawn ahead (m), the next one first; kinds : shapes drawn ahead
    waiting   : grains on their way back
    scalars   : of new grains by name, numbers or formulas of the place and the time at which they enter
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
    shapes: list[int] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    scalars: dict[str, Amount] = field(default_factory=dict)

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
            back = self.waiting[0]
            place = vacancy.find(float(bound_of(bodies, back.radius, back.shape)[0]), self.rng)
            if place is None:
                return entered
            entered.append(self._in_motion(self.waiting.pop(0), place, bodies))
            self.again += 1
        while self._due(time, bodies.dimension):
            radius, kind = np.array([self._next(bodies.dimension)]), np.array([self._next_kind(bodies.dimension)])
            place = vacancy.find(float(bound_of(bodies, radius, kind)[0]), self.rng)
            if place is None:
                break
            entered.append(self._coloured(self._in_motion(self._make(bodies), place, bodies), bodies, time))
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

    def _next_kind(self, dimension: int) -> int:
        """Shape of the next new grain."""
        if self.shapes and not self.kinds:
            pick = Discrete(np.arange(len(self.shapes), dtype=float), np.array(self.shares))
            self.kinds = np.array(self.shapes)[pick.draw(STOCK, dimension, self.rng).astype(int)].tolist()
        return self.kinds[0] if self.kinds else 0

    def _make(self, bodies: Bodies) -> Crowd:
        """The next new grain, at rest; one that is not round is turned at random."""
        radius, dimension = self.stock.pop(0), bodies.dimension
        mass = self.density * volume(radius, dimension)
        self.made, self.mass = self.made + 1, self.mass + mass
        grain = Crowd.of_one(radius, mass, self.material, dimension, self.name)
        if bodies.catalogue is not None:
            grain.shape[0] = self.kinds.pop(0) if self.kinds else 0
            grain.motion[0, INV_SPIN] = grain.motion[0, INV_MASS]
            if dimension == FLAT:
                grain.orientation[0] = self.rng.uniform(0.0, 2.0 * math.pi)
            else:
                turned = self.rng.normal(size=4)
                grain.orientation[0] = turned / np.linalg.norm(turned)
        return grain

    def _coloured(self, grain: Crowd, bodies: Bodies, time: float) -> Crowd:
        """A new grain with the scalars of those that enter here."""
        for name, value in self.scalars.items():
            if isinstance(value, PlaceFunction):
                try:
                    value = float(value.values(grain.position, grain.radius, time)[0])
                except NoValue as problem:
                    raise StageError(f"inflow '{self.name}', scalar '{name}': {problem}") from None
            grain.scalars[0, bodies.scalar_names.index(name)] = value
        return grain

    def _in_motion(self, grain: Crowd, place: Array, bodies: Bodies) -> Crowd:
        """A grain at a place, with the motion of those that enter; NaN of scalars that it has not had."""
        fresh = len(bodies.scalar_names) - grain.scalars.shape[1]
        grain.rows["scalars"] = np.pad(grain.scalars, ((0, 0), (0, fresh)), constant_values=np.nan)
        grain.position[0] = place
        grain.motion[0, V], grain.motion[0, S] = self.velocity, self.spin * grain.radius[0]
        if bodies.catalogue is not None:  # s = B^-1 w, see turning.py
            turn, lengths = matrices(grain.orientation)[0], grain.radius[0] * bodies.catalogue.gyration[grain.shape[0]]
            grain.motion[0, S] = turn @ (lengths * (turn.T @ self.spin))
            grain.orientation_before[0] = grain.orientation[0] if bodies.dimension != FLAT else (1.0, 0.0, 0.0, 0.0)
        return grain

    def figures(self, time: float) -> dict[str, float]:
        """For a report: grains and mass (kg) that entered, grains that came back, and what is due at this time."""
        due = self.missing(time) + len(self.waiting)
        return {"grains": self.made, "mass": self.mass, "again": self.again, "due": due}

    def pack(self) -> dict[str, Any]:
        """As plain words and numbers, exact."""
        words: dict[str, Any] = {name: getattr(self, name) for name in NUMBERS}
        words |= {name: getattr(self, name).tolist() for name in VECTORS}
        words |= {name: getattr(self, name) for name in SHAPES if self.shapes}
        words |= {"radius": size_words(self.radius), "random": self.rng.bit_generator.state}
        words |= {"scalars": scalar_words(self.scalars)}
        return words | {"waiting": [grain.words() for grain in self.waiting]}

    @classmethod
    def unpack(cls, words: dict[str, Any]) -> Inflow:
        rng = np.random.default_rng()
        rng.bit_generator.state = words["random"]
        own: dict[str, Any] = {name: words[name] for name in NUMBERS}
        own |= {name: np.array(words[name]) for name in VECTORS}
        own |= {name: words[name] for name in SHAPES if name in words}
        waiting = [Crowd.from_words(grain) for grain in words["waiting"]]
        scalars = scalars_from_words(words.get("scalars", {}))
        return cls(**own, radius=size_from_words(words["radius"]), rng=rng, waiting=waiting, scalars=scalars)


def volume(radius: float, dimension: int) -> float:
    """Area of a disk, volume of a sphere."""
    return math.pi * radius**2 if dimension == 2 else 4.0 / 3.0 * math.pi * radius**3
