"""One frame: arrays of grains and contacts that are read when they are asked for."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from ..model.arrays import goes_with_contacts
from ..runtime.arguments import check_state
from ..shapes.poses import extents
from . import record, shape_table, species_table, wall_table
from .errors import NotInFile
from .series import Cloud

if TYPE_CHECKING:
    from ..model.walls import Wall
    from ..shapes.catalogue import Catalogue
    from ..simulation.simulation import Simulation

Array = NDArray[Any]
Read = Callable[[str], Array]  # by path: "Points", "PointData/...", "FieldData/..."
Guard = Callable[[], AbstractContextManager[Any]]  # tells as damage of the file what goes wrong within

STATUS = ("open", "sticking", "sliding")


class Contacts:
    """Candidates of the step, with their forces; len() says how many.

    pair   : (c, 2) rows of the grains; a number n + w means wall w
    point  : (c, 3) m; normal : (c, 3) from body 0 to body 1; gap : (c,) m at the beginning of the step
    force  : (c, 3) N on body 1; status : (c,) 0 open, 1 sticking, 2 sliding
    feature : (c,) what tells the points of a pair of grains of other shapes apart; None where all grains are round
    """

    def __init__(self, read: Read, count: int) -> None:
        self._read, self._count = read, count

    def law(self, name: str) -> Array | None:
        """(c, ...) a column of laws beyond plain friction; None without such laws."""
        try:
            return self._read(f"PointData/{name}")
        except KeyError:
            return None

    def __len__(self) -> int:
        return self._count

    @cached_property
    def pair(self) -> Array:
        return self._read("PointData/pair")

    @cached_property
    def point(self) -> Array:
        return self._read("Points")

    @cached_property
    def normal(self) -> Array:
        return self._read("PointData/normal")

    @cached_property
    def gap(self) -> Array:
        return self._read("PointData/gap")

    @cached_property
    def force(self) -> Array:
        return self._read("PointData/force")

    @cached_property
    def status(self) -> Array:
        return self._read("PointData/status")

    @cached_property
    def image(self) -> Array | None:
        """(c, 3) image of body 1 that is touched: it is met at position + image @ cell; None without a cell"""
        return self.law("image")

    @cached_property
    def feature(self) -> Array | None:
        return self.law("feature")

    @cached_property
    def normal_force(self) -> Array:
        """(c,) N, R_n."""
        return (self.force * self.normal).sum(axis=1)


class Frame:
    """The state after a step: grains, walls, contacts and figures. Arrays are read once, when asked for.

    index : number of the frame in its file; dimension : 2 or 3
    figures : numbers of the step by name, see COLUMNS of the history
    """

    def __init__(
        self,
        index: int,
        dimension: int,
        read: Read,
        figures: dict[str, float],
        contacts: Contacts,
        walls: str,
        guard: Guard = nullcontext,
        shapes: Callable[[], str] = str,
        species: Callable[[], str] = str,
    ) -> None:
        self.index, self.dimension, self.figures, self.contacts = index, dimension, figures, contacts
        self._read, self._walls, self._guard, self._shapes, self._species = read, walls, guard, shapes, species

    @classmethod
    def of(cls, simulation: Simulation) -> Frame:
        """The present state of a simulation, as if it had been written and read again."""
        check_state(simulation)
        clouds = record.clouds(simulation)
        walls = wall_table.describe(simulation.bodies.walls)
        shapes, names = shape_table.describe(simulation.bodies.catalogue), species_table.describe(simulation.bodies)
        return cls.in_memory(clouds, simulation.bodies.dimension, walls, shapes, names)

    @classmethod
    def in_memory(cls, clouds: dict[str, Cloud], dimension: int, walls: str, shapes: str, names: str) -> Frame:
        """A frame of arrays that no file holds; walls, shapes and names as their tables describe them."""
        grains, contacts = clouds["VTKHDF"], clouds["contacts"]
        pairs = Contacts(_from_memory(contacts), len(contacts.points))
        how: dict[str, Any] = {"shapes": lambda: shapes, "species": lambda: names}
        return cls(0, dimension, _from_memory(grains), grains.scalars, pairs, walls, **how)

    def __len__(self) -> int:
        """Number of grains."""
        return len(self.position)

    def __repr__(self) -> str:
        return f"Frame({self.index}: {len(self)} grains, {len(self.contacts)} contacts, t = {self.time:g} s)"

    def _repr_html_(self) -> str:
        from ..view.notebook_more import frame_html

        return frame_html(self)

    @property
    def step(self) -> int:
        return int(self.figures["step"])

    @property
    def time(self) -> float:
        """s"""
        return float(self.figures["time"])

    @property
    def dt(self) -> float:
        """s"""
        return float(self.figures["dt"])

    @property
    def whole(self) -> bool:
        """True when the contacts are those of the step that led here: not at the start, nor after one that failed."""
        return bool(self.figures["whole"])

    def column(self, name: str) -> Array | None:
        """(n, ...) any array of grains by its name, see model/arrays.py; None if this frame does not have it."""
        try:
            if isinstance(getattr(type(self), name, None), cached_property):
                return getattr(self, name)  # type: ignore[no-any-return]
            return self._read(f"PointData/{name}")
        except KeyError:
            return None

    @cached_property
    def position(self) -> Array:
        """(n, 3) m"""
        return self._read("Points")

    @cached_property
    def orientation(self) -> Array:
        """(n,) rad in 2D, (n, 4) unit quaternions (w, x, y, z) in 3D"""
        return self._needed("orientation")

    @cached_property
    def velocity(self) -> Array:
        """(n, 3) m/s; in a cell that deforms with its flow"""
        return self._needed("velocity")

    @cached_property
    def spin(self) -> Array:
        """(n, 3) rad/s"""
        return self._needed("spin")

    @cached_property
    def velocity_before(self) -> Array:
        """(n, 3) m/s, at the beginning of the step; only in files with contacts"""
        return self._needed("velocity_before")

    @cached_property
    def spin_before(self) -> Array:
        """(n, 3) rad/s, at the beginning of the step; only in files with contacts"""
        return self._needed("spin_before")

    @cached_property
    def radius(self) -> Array:
        """(n,) m; of other shapes that of the disk or sphere of equal volume"""
        return self._read("PointData/radius")

    @cached_property
    def catalogue(self) -> Catalogue | None:
        """The shapes of grains, see `shape`; None where all of them are disks or spheres"""
        if not self._has("PointData/shape"):
            return None
        with self._guard():
            return shape_table.rebuild(self._shapes())

    @cached_property
    def shape(self) -> Array | None:
        """(n,) number of each grain's shape in the catalogue; None where all grains are disks or spheres"""
        return self._read("PointData/shape") if self._has("PointData/shape") else None

    @cached_property
    def mass(self) -> Array:
        """(n,) kg"""
        return self._read("PointData/mass")

    @cached_property
    def id(self) -> Array:
        """(n,) number of each grain, the same in all frames"""
        return self._read("PointData/id")

    @cached_property
    def material(self) -> Array:
        """(n,) row in the friction table"""
        return self._read("PointData/material")

    @cached_property
    def density(self) -> Array:
        """(n,) kg/m^3 (kg/m^2 in 2D)"""
        radius = self.radius.astype(float)
        volume = math.pi * radius**2 if self.dimension == 2 else 4.0 / 3.0 * math.pi * radius**3
        return self.mass.astype(float) / volume

    @cached_property
    def group(self) -> Array | None:
        """(n,) number of each grain's group, see `names.groups`; -1 of none; None in files of earlier versions"""
        return self._read("PointData/group") if self._has("PointData/group") else None

    @cached_property
    def names(self) -> species_table.Names:
        """What groups, materials and scalars are called"""
        with self._guard():
            return species_table.rebuild(self._species())

    @cached_property
    def scalars(self) -> dict[str, Array]:
        """Numbers of the user, (n,) each, by name"""
        return {name: self._read(f"PointData/{name}") for name in self.names.scalars}

    @cached_property
    def load(self) -> Array:
        """(n,) N, sum of the normal forces on each grain"""
        return self._needed("load")

    @cached_property
    def contact_number(self) -> Array:
        """(n,) force-carrying contacts of each grain"""
        return self._needed("contact_number")

    @cached_property
    def external_force(self) -> Array:
        """(n, 3) N, without gravity, with springs"""
        return self._needed("external_force")

    @cached_property
    def external_torque(self) -> Array | None:
        """(n, 3) N m, about the centres; None without any"""
        return self._read("PointData/external_torque") if self._has("PointData/external_torque") else None

    @cached_property
    def spring_force(self) -> Array | None:
        """(n, 3) N, the part of the external force that springs have; None without springs"""
        return self._read("PointData/spring_force") if self._has("PointData/spring_force") else None

    @cached_property
    def gravity(self) -> Array:
        """(3,) m/s^2"""
        return self._read("FieldData/gravity")[0]

    @cached_property
    def friction(self) -> Array:
        """(k, k) coefficient of each pair of materials"""
        return self._read("FieldData/friction")

    @cached_property
    def cell(self) -> Array | None:
        """(3, 3) m, rows are the vectors of the periodic cell; None without one"""
        return self._cell("vectors")

    @cached_property
    def cell_origin(self) -> Array | None:
        """(3,) m, lower corner of the cell"""
        origin = self._cell("origin")
        return None if origin is None else origin[0]

    @cached_property
    def cell_periodic(self) -> Array | None:
        """(3,) True along vectors that have images"""
        periodic = self._cell("periodic")
        return None if periodic is None else periodic[0] > 0

    @cached_property
    def image(self) -> Array | None:
        """(n, 3) cells that each grain has crossed: it really is at position + image @ cell; None without a cell"""
        return self._read("PointData/image") if self._has("PointData/image") else None

    @cached_property
    def cell_rate(self) -> Array | None:
        """(3, 3) 1/s, velocity gradient L of the cell at the end of the step; 0 for one that keeps still"""
        return self._cell("rate")

    @cached_property
    def cell_rate_before(self) -> Array | None:
        """(3, 3) 1/s, L at the beginning of the step; None for a cell that keeps still"""
        return self._cell("rate_before")

    @cached_property
    def cell_stress(self) -> Array | None:
        """(3, 3) Pa (N/m in 2D), stress prescribed for the cell, pressure positive; NaN where none is"""
        return self._cell("stress")

    @cached_property
    def cell_mobility(self) -> Array | None:
        """(3, 5) 1/(kg m^2), 1/M of each component under stress, 1/M of all sides as one and 1 where those move; None
        for a cell that keeps still"""
        return self._cell("mobility")

    @cached_property
    def peculiar_velocity(self) -> Array:
        """(n, 3) m/s, c = v - L (x - origin): the velocity itself without a cell that deforms"""
        if self._has("PointData/peculiar_velocity"):
            return self._read("PointData/peculiar_velocity")
        if self.cell_rate is None or not self.cell_rate.any():
            return self.velocity
        return self.velocity - (self.position - self.cell_origin) @ self.cell_rate.T

    @cached_property
    def peculiar_velocity_before(self) -> Array:
        """(n, 3) m/s, at the beginning of the step; only in files with contacts"""
        path = "PointData/peculiar_velocity_before"
        return self._read(path) if self._has(path) else self.velocity_before

    def _needed(self, name: str) -> Array:
        """An array that frames have unless it was left out."""
        try:
            return self._read(f"PointData/{name}")
        except KeyError:
            told = "with chosen fields; choose this one too, or none"
            if goes_with_contacts(name):
                told = "without contacts; run again with them"
            raise NotInFile(f"frames of this file have no {name!r}: they were written {told}") from None

    def _cell(self, name: str) -> Array | None:
        path = f"FieldData/cell_{name}"
        return self._read(path) if self._has(path) else None

    def law(self, name: str) -> Array | None:
        """(k, k) coefficients of a law beyond plain friction, "StaticFriction_static" for instance; None without it."""
        try:
            return self._read(f"FieldData/law_{name}")
        except KeyError:
            return None

    @cached_property
    def wall_velocity(self) -> Array:
        """(w, 3) m/s"""
        return self._read("FieldData/wall_velocity")

    @cached_property
    def wall_velocity_before(self) -> Array:
        """(w, 3) m/s, at the beginning of the step"""
        return self._read("FieldData/wall_velocity_before")

    @cached_property
    def wall_force(self) -> Array:
        """(w, 3) N, force of the grains on each wall"""
        return self._read("FieldData/wall_force")

    @cached_property
    def walls(self) -> list[Wall]:
        """The walls that are there, where they are in this frame."""
        at = {name: self._read(f"FieldData/{name}") for name in wall_table.PLACEMENT if self._has(f"FieldData/{name}")}
        with self._guard():
            return wall_table.rebuild(self._walls, at)

    @property
    def reaches(self) -> tuple[Array, Array]:
        """(n, 3) m, how far each grain reaches from its centre below and above, along x, y and z."""
        if self.catalogue is None or self.shape is None:  # whichever way they are turned, which a file may not know
            reach = self.radius.astype(float)[:, None].repeat(3, axis=1)
            return -reach, reach
        return extents(self.catalogue, self.shape, self.radius, self.orientation)

    @property
    def has_contacts(self) -> bool:
        """False in a file that was written without contacts."""
        return len(self.contacts) > 0 or self._has("PointData/velocity_before")

    def _has(self, path: str) -> bool:
        try:
            self._read(path)
        except KeyError:
            return False
        return True


def _from_memory(cloud: Cloud) -> Read:
    """Copies of all arrays: the simulation goes on."""
    arrays = {"Points": cloud.points.copy()}
    arrays |= {f"PointData/{name}": array.copy() for name, array in (cloud.data | cloud.once).items()}
    arrays |= {f"FieldData/{name}": array.copy() for name, array in (cloud.tables | cloud.tables_once).items()}
    return arrays.__getitem__
