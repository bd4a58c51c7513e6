"""[cell]: the periodic cell as the user describes it, and what does not go together with it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field, ValidationInfo, field_validator

from ..model.time_functions import TimeFunction, read_time_function
from .confinement import WALLS
from .errors import ABSENT, Problem
from .references import Tables, present
from .section import Section
from .values import Array, Number, Positive, Timed, Vector, in_space, moves

if TYPE_CHECKING:
    from ..model.cell import Cell as MovingCell

AXES = "xyz"
STEEPEST = 1000  # sides that a side may lean over: beyond, too little is left of the numbers
COMPONENTS = ("xx", "yy", "zz", "xy", "xz", "yz")


class Matrix(Section):
    """Components of a matrix, as words."""

    def present(self) -> dict[str, Any]:
        """Those that were given: numbers, or functions of time."""
        return {name: value for name in COMPONENTS if (value := getattr(self, name)) is not None}


class Components(Matrix):
    """Some components ab: of a rate, what v_a gains along b; of a stress, the force along a through b."""

    xx: Timed | None = Field(default=None, description="component xx")
    yy: Timed | None = Field(default=None, description="component yy")
    zz: Timed | None = Field(default=None, description="component zz")
    xy: Timed | None = Field(default=None, description="component xy")
    xz: Timed | None = Field(default=None, description="component xz")
    yz: Timed | None = Field(default=None, description="component yz")


class Tilt(Matrix):
    """How far the upper faces of a cell are displaced."""

    xx: Number | None = Field(default=None, description="component xx")
    yy: Number | None = Field(default=None, description="component yy")
    zz: Number | None = Field(default=None, description="component zz")
    xy: Number | None = Field(default=None, description="component xy")
    xz: Number | None = Field(default=None, description="component xz")
    yz: Number | None = Field(default=None, description="component yz")


class Cell(Section):
    """A box whose opposite faces are one: grains that leave through one enter through the other."""

    lower: Vector = Field(description="lowest corner (m)")
    upper: Vector = Field(description="highest corner (m)")
    periodic: str | None = Field(
        default=None, strict=True, description="directions with images, such as 'xy'; all if absent"
    )
    tilt: Tilt | None = Field(default=None, description="{ xy, xz, yz }: how far b leans along x, c along x and y (m)")
    rate: Components | None = Field(
        default=None,
        description="{ xx, yy, zz, xy, xz, yz }: prescribed velocity gradient (1/s), numbers or functions; 0 if absent",
    )
    stress: Components | None = Field(
        default=None,
        description="the same of a stress, pressure positive (Pa, in 2D N/m), in place of a rate",
    )
    pressure: Timed | None = Field(default=None, description="pressure on all sides (Pa, in 2D N/m)")
    shape: Literal["kept", "free"] = Field(
        default="kept", description="pressure: whether all sides change in the same proportion, or each on its own"
    )
    inertia: Positive = Field(default=1.0, description="of the cell under stress, over that of the grains")

    @field_validator("rate", "stress", "tilt", mode="before")
    @classmethod
    def read_components(cls, value: Any, about: ValidationInfo) -> Any:
        kind = Tilt if about.field_name == "tilt" else Components
        if value is None or isinstance(value, kind):
            return value
        if not isinstance(value, dict):
            raise ValueError("must be a table of components, such as { xy = 0.1 }")
        return kind(**value)

    @property
    def deforms(self) -> bool:
        """True when the cell changes, or may."""
        prescribed = {} if self.rate is None else self.rate.present()
        return any(prescribed.values()) or self.stress is not None or self.pressure is not None

    def mistakes(self, dimension: int) -> Iterator[Problem]:
        wrong = list(self.wrong_lengths(dimension, "lower", "upper"))
        yield from wrong
        if not wrong and not all(low < high for low, high in zip(self.lower, self.upper)):
            yield self.wrong("lower", f"must lie below upper = {list(self.upper)} along each axis; swap them")
        known = AXES[:dimension]
        if self.periodic is not None and (
            not self.periodic or set(self.periodic) - set(known) or len(set(self.periodic)) < len(self.periodic)
        ):
            yield self.wrong("periodic", f"must name some of the directions {', '.join(known)}, such as '{known[:2]}'")

        else:
            yield from self.control_mistakes(dimension)
        if not wrong:
            yield from self.tilt_mistakes()

    def tilt_mistakes(self) -> Iterator[Problem]:
        """Sides that lean further than numbers can tell; the same images have a shorter vector."""
        for name, value in ({} if self.tilt is None else self.tilt.present()).items():
            axis = AXES.index(name[0])
            side = self.upper[axis] - self.lower[axis] if axis < len(self.upper) else 0.0
            if side > 0.0 and abs(value) > STEEPEST * side:
                message = (
                    f"leans over more than {STEEPEST} sides of {side:g} m along {name[0]}; take whole sides away,"
                    f" which leaves all images where they are: {math.remainder(value, side):.6g}"
                )
                yield Problem(f"tilt.{name}", value, message)

    def control_mistakes(self, dimension: int) -> Iterator[Problem]:
        """Components that do not exist, or that are given twice."""
        named = "".join(axis for axis, has in zip(AXES, self.along(dimension)) if has)
        given = {key: getattr(self, key).present() for key in ("tilt", "rate", "stress") if getattr(self, key)}
        for key, components in given.items():
            for name, value in components.items():
                if not set(name) <= set(named):
                    yield Problem(f"{key}.{name}", value, f"the cell is periodic along {named} alone; remove {name}")
                elif key == "tilt" and name[0] == name[1]:
                    yield Problem(f"{key}.{name}", value, "a side leans along another; write xy, xz or yz")
                elif key == "rate" and name in given.get("stress", {}):
                    message = "has a stress too; a component follows one of them, remove the other"
                    yield Problem(f"{key}.{name}", value, message)
                elif key != "tilt" and name[0] == name[1] and self.pressure is not None:
                    yield Problem(f"{key}.{name}", value, "pressure acts on this component; remove one of them")
        for key in ("shape", "inertia"):
            if self.given(key) and self.pressure is None and (key == "shape" or self.stress is None):
                yield self.wrong(key, f"belongs to {'pressure' if key == 'shape' else 'stress or pressure'}; remove it")

    def along(self, dimension: int) -> np.ndarray:
        """(3,) True for directions with images."""
        named = AXES[:dimension] if self.periodic is None else self.periodic
        return np.array([axis in named for axis in AXES])

    def corners(self) -> Array:
        """(2, dimension) m, the region that the cell spans."""
        return np.array([self.lower, self.upper])

    def make(self, dimension: int) -> MovingCell:
        """The cell of the simulation."""
        from ..model.cell import Cell as MovingCell

        lower, upper = in_space(self.lower), in_space(self.upper)
        periodic = self.along(dimension)
        vectors = np.diag(np.where(np.arange(3) < dimension, upper - lower, 1.0)) + table(self.tilt).T
        free = np.isin(COMPONENTS, list(self.stress.present() if self.stress else {}))
        stress = table(self.stress)
        if self.pressure is not None:
            free[:3] |= periodic
            stress += at_start(self.pressure) * np.diag(periodic)
        return MovingCell(
            vectors, lower, periodic, table(self.rate), arranged(free), stress,
            self.pressure is not None and self.shape == "kept", self.inertia, self.functions(),
        )  # fmt: skip

    def functions(self) -> dict[str, TimeFunction]:
        """What is prescribed in the course of time."""
        given = {"pressure": self.pressure}
        for key in ("rate", "stress"):
            given |= {f"{key}.{name}": value for name, value in (getattr(self, key) or Components()).present().items()}
        return {name: value for name, value in given.items() if value is not None and moves(value)}


def arranged(numbers: Any) -> Any:
    """(3, 3) matrix of the components in their order; 0 below the diagonal."""
    xx, yy, zz, xy, xz, yz = numbers
    return np.array([[xx, xy, xz], [0, yy, yz], [0, 0, zz]], dtype=np.asarray(numbers).dtype)


def table(components: Matrix | None) -> Array:
    """(3, 3) matrix of components at the start; 0 where none is given."""
    given = {} if components is None else components.present()
    return np.asarray(arranged([at_start(given.get(name, 0.0)) for name in COMPONENTS]))


def at_start(value: Any) -> float:
    """A number, or what a function of time begins with."""
    return read_time_function(value).value(0.0)


def conflicts(cell: Any, tables: Tables, gravity: Any, dimension: int) -> Iterator[Problem]:
    """Walls, regions and gravity that do not fit a cell that is readable and free of mistakes."""
    if cell is None or any(cell.mistakes(dimension)):
        return
    if cell.deforms:
        yield from flow_conflicts(tables, gravity)
        tables = {key: rows for key, rows in tables.items() if key not in WALLS}
    along = cell.along(dimension)[:dimension]
    named = "".join(axis for axis, has in zip(AXES, along) if has)
    for key, index, table in present(tables, *WALLS):
        yield from (problem.inside(f"{key}[{index}]") for problem in table.conflicts(along, named))
    for _, index, table in present(tables, "grains"):
        if table.region is not None and table.region.shape == (2, dimension):
            lower, upper = cell.corners()
            if (
                ((table.region[0] < lower - 1e-12 * (upper - lower))[along]).any()
                or ((table.region[1] > upper + 1e-12 * (upper - lower))[along]).any()
            ):
                yield Problem(f"grains[{index}].region", table.region, "reaches out of the cell; keep it within")


def flow_conflicts(tables: Tables, gravity: Any) -> Iterator[Problem]:
    """What a cell that deforms cannot have."""
    for key, index, _ in present(tables, *WALLS):
        message = "a cell that deforms, by rate, stress or pressure, has no walls; remove one of them"
        yield Problem(f"{key}[{index}]", ABSENT, message)
    for _, index, spring in present(tables, "spring"):
        yield Problem(f"spring[{index}]", spring.name, "a cell that deforms has no springs; remove one of them")
    for _, index, motion in present(tables, "motion"):
        message = "a cell that deforms carries its grains along, and none moves as prescribed; remove one of them"
        yield Problem(f"motion[{index}]", motion.name, message)
    if isinstance(gravity, (list, tuple)) and any(gravity):
        yield Problem("gravity", gravity, "a cell that deforms has no gravity; remove one of them")


def tensions(cell: Any, tables: Tables) -> Iterator[Problem]:
    """A cell that is pulled at, and grains that do not hold together."""
    if cell is None or any(table.attracts for _, _, table in present(tables, "material", "pair")):
        return
    given = {} if cell.stress is None else {f"stress.{name}": value for name, value in cell.stress.present().items()}
    given |= {} if cell.pressure is None else {"pressure": cell.pressure}
    for key, value in given.items():
        if not moves(value) and value < 0.0 and key in ("pressure", "stress.xx", "stress.yy", "stress.zz"):
            message = "pulls at grains without cohesion, which would fly apart; pressure is positive"
            yield Problem(f"cell.{key}", value, message)
