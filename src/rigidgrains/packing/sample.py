"""The arrays of a packing: grains, contacts, walls, cell and tables, read from files and written to them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..model.arrays import contacts_in_frames, grains_in_frames
from ..model.cell import Cell
from ..model.walls import Drive, Wall
from ..observe.history import COLUMNS
from ..shapes.catalogue import Catalogue
from ..trajectory import record, shape_table, species_table, wall_table
from ..trajectory.frame import Frame
from ..trajectory.series import Cloud
from ..trajectory.single import write_frame
from ..trajectory.texts import PACKING

if TYPE_CHECKING:
    from ..formats.state import State
    from ..simulation.simulation import Simulation

Array = NDArray[Any]
Arrays = dict[str, Array]

DENSITY = 2500.0  # kg/m^3 (kg/m^2 in 2D), of grains whose file tells no mass
STEP = 1e-4  # s, of a file that tells no time step
# Figures that hold for a packing as they did for the run; others are computed anew, or not known.
KEPT = ("step", "time", "dt", "converged", "whole", "removed_part", "slack", "still", "carried", *record.ASKED)


@dataclass(frozen=True)
class Sample:
    """A state in arrays, as a frame has it.

    grains   : arrays (n, ...) by name, with "position"; contacts : arrays (c, ...) by name, with "point" and "pair"
    tables   : gravity, friction, coefficients of laws, the cell
    figures  : numbers of the step by name
    walls    : as they are at that moment, with constant velocities; wall_velocity, wall_before : (w, 3) m/s
    groups   : names, of the numbers in grains["group"]; materials : names of the rows of friction, none if unknown
    scalars  : names of arrays of the user in grains
    single   : arrays of grains and contacts are stored in single precision
    """

    dimension: int
    grains: Arrays
    contacts: Arrays
    tables: Arrays
    figures: dict[str, float]
    walls: tuple[Wall, ...] = ()
    wall_velocity: Array = field(default_factory=lambda: np.zeros((0, 3)))
    wall_before: Array = field(default_factory=lambda: np.zeros((0, 3)))
    catalogue: Catalogue | None = None
    groups: tuple[str, ...] = ()
    materials: tuple[str, ...] = ()
    scalars: tuple[str, ...] = ()
    single: bool = False

    @classmethod
    def of_clouds(cls, clouds: dict[str, Cloud], walls: list[Wall], **rest: Any) -> Sample:
        """From what a file or a simulation has of a frame; walls where they are."""
        grains, pairs = clouds["VTKHDF"], clouds.get("contacts")
        single = grains.points.dtype.itemsize == 4
        tables = {name: np.array(table) for name, table in (grains.tables | grains.tables_once).items()}
        speed, before = (
            tables.get(name, np.zeros((len(walls), 3))) for name in ("wall_velocity", "wall_velocity_before")
        )
        own = {"position": grains.points} | grains.data | grains.once
        touching = {} if pairs is None else {"point": pairs.points} | pairs.data | pairs.once
        return cls(
            grains={name: _double(array) for name, array in own.items()},
            contacts={name: _double(array) for name, array in touching.items()},
            tables={name: table for name, table in tables.items() if not name.startswith("wall_")},
            figures={name: number for name, number in grains.scalars.items() if name != "wall_table"},
            walls=tuple(frozen(wall, velocity) for wall, velocity in zip(walls, speed)),
            wall_velocity=speed,
            wall_before=before,
            single=single,
            **rest,
        ).completed()

    @classmethod
    def of_state(cls, state: State, density: float | None) -> Sample:
        """From a file of another program: grains at their places, with velocities, without forces."""
        n, flat = len(state.radius), state.dimension == 2
        volume = np.pi * state.radius**2 if flat else 4.0 / 3.0 * np.pi * state.radius**3
        mass = state.mass if state.mass is not None and density is None else volume * (density or DENSITY)
        grains: Arrays = {"position": state.position, "radius": state.radius, "mass": mass}
        given = {"velocity": state.velocity, "spin": state.spin, "orientation": state.orientation, "id": state.ids}
        grains |= {name: array for name, array in given.items() if array is not None}
        if state.catalogue is not None:
            assert state.shape is not None
            grains["shape"] = state.shape
        grains |= state.scalars
        gravity = np.zeros(3) if state.gravity is None else state.gravity
        tables: Arrays = {"gravity": gravity[None], "friction": np.zeros((1, 1))}
        if state.cell is not None:
            tables |= cell_tables(state.cell)
        figures = dict.fromkeys((*COLUMNS, *record.ASKED), np.nan)
        figures |= {"step": 0.0, "time": 0.0, "dt": state.dt or STEP, "whole": 0.0}
        figures |= dict.fromkeys(("removed_part", "slack", "still", "carried"), 0.0)
        columns = {name: column for name, column in contacts_in_frames().items() if name in CONTACT_ARRAYS}
        contacts = {name: column.default_rows(0, state.dimension, 0) for name, column in columns.items()}
        if state.cell is None:
            contacts.pop("image")
        contacts["point"] = np.zeros((0, 3))
        if "id" not in grains:
            grains["id"] = np.arange(n)
        return cls(
            state.dimension, grains, contacts, tables, figures, catalogue=state.catalogue, scalars=tuple(state.scalars)
        ).completed()

    def completed(self) -> Sample:
        """With the arrays that a frame needs and a file may lack."""
        n, grains = len(self), dict(self.grains)
        for name, column in grains_in_frames().items():
            if name not in grains and name in ALWAYS:
                default = getattr(column, "default", 0)
                grains[name] = column.default_rows(n, self.dimension, default)
        grains.setdefault("velocity_before", grains["velocity"])
        grains.setdefault("spin_before", grains["spin"])
        if self.cell is not None:
            grains.setdefault("image", np.zeros((n, 3), np.int32))
        if self.catalogue is not None and self.dimension == 3:
            grains.setdefault("orientation_before", grains["orientation"])
        contacts = self.contacts
        if not contacts:
            contacts = {name: contacts_in_frames()[name].default_rows(0, self.dimension, 0) for name in CONTACT_ARRAYS}
            contacts["point"] = np.zeros((0, 3))
            if self.cell is None:
                contacts.pop("image")
        whole = self.figures["whole"] if self.contacts else 0.0
        return replace(self, grains=grains, contacts=contacts, figures=self.figures | {"whole": whole})

    def __len__(self) -> int:
        return len(self.grains["position"])

    @property
    def cell(self) -> Cell | None:
        """The periodic cell, as it is at that moment."""
        if "cell_vectors" not in self.tables:
            return None
        origin, periodic = self.tables["cell_origin"][0], self.tables["cell_periodic"][0] > 0
        return Cell(self.tables["cell_vectors"], origin, periodic)

    @property
    def flows(self) -> bool:
        """True in a cell that deforms."""
        return "cell_mobility" in self.tables

    @property
    def whole(self) -> bool:
        """True while the forces are those of the step that led to the state."""
        return self.figures["whole"] > 0.0

    @property
    def shaped(self) -> bool:
        """True if some grain is not round."""
        return self.catalogue is not None and not bool(self.catalogue.round[self.grains["shape"]].all())

    def clouds(self) -> dict[str, Cloud]:
        """As a file has it."""
        precision = np.float32 if self.single else None
        declared, time = grains_in_frames(), self.figures["time"]
        arrays = {name: array for name, array in self.grains.items() if name != "position"}
        once = {name for name in arrays if name not in declared or declared[name].frames == "once"}
        walls = list(self.walls)
        force = np.zeros((len(walls), 3))
        pair = self.contacts["pair"]
        for w in range(len(walls)):
            force[w] = self.contacts["force"][pair[:, 1] == len(self) + w].sum(axis=0)
        at_walls = wall_table.placement(walls) | {
            "wall_velocity": self.wall_velocity, "wall_velocity_before": self.wall_before, "wall_force": force,
        }  # fmt: skip
        return {
            "VTKHDF": Cloud(
                time, self.grains["position"], {name: arrays[name] for name in arrays if name not in once},
                {name: arrays[name] for name in arrays if name in once}, dict(self.figures), at_walls,
                dict(self.tables), precision,
            ),
            "contacts": Cloud(
                time, self.contacts["point"], {k: a for k, a in self.contacts.items() if k != "point"},
                precision=precision,
            ),
        }  # fmt: skip

    def frame(self) -> Frame:
        """As a frame, for pictures, measurements and certificates."""
        clouds = self.clouds()
        for cloud in clouds.values():
            cloud.points = cloud.stored(cloud.points)
            for arrays in (cloud.data, cloud.once):
                arrays |= {name: cloud.stored(array) for name, array in arrays.items()}
        walls = wall_table.describe(list(self.walls))
        shapes = shape_table.describe(self.catalogue)
        return Frame.in_memory(clouds, self.dimension, walls, shapes, self._names())

    def _names(self) -> str:
        words = {"groups": self.groups, "materials": self.materials, "scalars": self.scalars}
        return json.dumps({name: list(said) for name, said in words.items()})

    def save(self, path: Path, *, force: bool) -> None:
        """As a trajectory of one frame."""
        texts = {PACKING: "1", "species": self._names()}
        if self.catalogue is not None:
            texts["shapes"] = shape_table.describe(self.catalogue)
        write_frame(
            path, self.clouds(), dimension=self.dimension, walls=wall_table.describe(list(self.walls)),
            wall_names=[wall.name for wall in self.walls], texts=texts, force=force,
        )  # fmt: skip


ALWAYS = (
    "velocity", "spin", "orientation", "load", "contact_number", "material", "id", "external_force",
)  # fmt: skip
CONTACT_ARRAYS = ("pair", "normal", "gap", "force", "status", "image")


def sample_of(simulation: Simulation) -> Sample:
    """The present state of a simulation."""
    bodies = simulation.bodies
    names = species_table.rebuild(species_table.describe(bodies))
    sample = Sample.of_clouds(
        record.clouds(simulation), bodies.walls, dimension=bodies.dimension, catalogue=bodies.catalogue
    )
    return with_names(sample, names)


def with_names(sample: Sample, names: species_table.Names) -> Sample:
    """What groups, materials and scalars are called; of materials only where each has a name of its own."""
    own = names.materials
    known = len(set(own)) == len(own) == len(sample.tables["friction"])
    return replace(
        sample, groups=tuple(names.groups), materials=tuple(own) if known else (), scalars=tuple(names.scalars)
    )


def frozen(wall: Wall, velocity: Array) -> Wall:
    """A wall as it is at this moment: where it is, how fast it moves, and with which load."""
    drive = Drive(spin=np.array(wall.drive.spin), about=wall.drive.about)
    if not wall.guided:
        drive.velocity = np.array(velocity, dtype=float)
    return Wall(wall.name, wall.shape, wall.material, drive, wall.mass, wall.load)


def cell_tables(cell: Cell) -> Arrays:
    """A cell that keeps still, as frames have it."""
    return {
        "cell_vectors": cell.vectors.copy(),
        "cell_origin": cell.origin[None].copy(),
        "cell_periodic": cell.periodic[None].astype(np.uint8),
        "cell_rate": np.zeros((3, 3)),
        "cell_stress": np.full((3, 3), np.nan),
    }


def _double(array: Array) -> Array:
    return np.array(array, dtype=float) if array.dtype.kind == "f" else np.array(array)
