"""What moves walls and a cell from some time on: what a stage puts in the place of what moved them before."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bodies import Bodies, make_wall_rows
from .cell import Cell, make_cell_rows
from .columns import INV, INV_M_X
from .time_functions import TimeFunction, begin, rebuild_time_function
from .walls import Drive, Wall

Array = NDArray[np.float64]


@dataclass
class WallControl:
    """Motion, or mass and load, of a wall, and its material.

    material : row in the friction table
    drive, mass, load, load_function, stress, area, stiffness : as of `Wall`; drive is None where only the material
               changes
    """

    material: int
    drive: Drive | None = None
    mass: float = math.inf
    load: float = 0.0
    load_function: TimeFunction | None = None
    stress: TimeFunction | None = None
    area: float | tuple[str, ...] = ()
    stiffness: float = 0.0

    @classmethod
    def of(cls, wall: Wall, *, moves: bool) -> WallControl:
        """What moves a wall that was made to be like this; moves : whether its motion, or load, is to change."""
        if not moves:
            return cls(wall.material)
        loads = wall.mass, wall.load, wall.load_function, wall.stress, wall.area, wall.stiffness
        return cls(wall.material, wall.drive, *loads)

    def apply(self, bodies: Bodies, wall: Wall, time: float) -> None:
        """Let it move the wall; a piston that was driven goes on with the velocity that it has."""
        wall.material = self.material
        if self.drive is None:
            return
        wall.drive, wall.mass, wall.load, wall.area = self.drive.begin(time), self.mass, self.load, self.area
        wall.load_function = None if self.load_function is None else begin(self.load_function, time)
        wall.stress = None if self.stress is None else begin(self.stress, time)
        wall.stiffness = wall.rest = 0.0
        if self.stiffness:
            wall.attach_spring(self.stiffness)
        for row, there in enumerate(bodies.walls, start=bodies.count):
            if there is wall:
                bodies.motion[row, INV] = make_wall_rows([wall])[0, INV]

    def words(self) -> dict[str, Any]:
        """As plain words and numbers, exact."""
        functions = {name: getattr(self, name) for name in ("load_function", "stress")}
        area = self.area if isinstance(self.area, float) else list(self.area)
        words: dict[str, Any] = {
            "material": int(self.material),
            "load": self.load,
            "area": area,
            "stiffness": self.stiffness,
        }
        words |= {"mass": self.mass} if math.isfinite(self.mass) else {}
        words |= {name: one.words() for name, one in functions.items() if one is not None}
        if self.drive is None:
            return words
        about = None if self.drive.about is None else self.drive.about.tolist()
        return words | {"drive": self.drive.words(), "about": about}

    @classmethod
    def from_words(cls, words: dict[str, Any]) -> WallControl:
        drive = None
        if "drive" in words:
            about = None if words["about"] is None else np.array(words["about"], float)
            drive = Drive.from_words(words["drive"], about=about)
        functions: dict[str, Any] = {
            name: rebuild_time_function(words[name]) for name in ("load_function", "stress") if name in words
        }
        area = words["area"] if isinstance(words["area"], float) else tuple(words["area"])
        numbers = {"mass": words.get("mass", math.inf), "load": words["load"], "stiffness": words["stiffness"]}
        return cls(words["material"], drive, area=area, **numbers, **functions)


@dataclass
class CellControl:
    """Rates and stresses of a cell, as of `Cell`."""

    rate: Array
    free: NDArray[np.bool_]
    stress: Array
    isotropic: bool = False
    inertia: float = 1.0
    functions: dict[str, TimeFunction] = field(default_factory=dict)

    @classmethod
    def of(cls, cell: Cell) -> CellControl:
        """Those of a cell that was made to be like this."""
        return cls(cell.rate, cell.free, cell.stress, cell.isotropic, cell.inertia, cell.functions)

    def apply(self, bodies: Bodies, time: float) -> None:
        """Let them move the cell; components that come free go on with the rate that they have, all sides of one that
        keeps its shape with their mean."""
        cell = bodies.cell
        assert cell is not None
        functions = {name: begin(one, time) for name, one in self.functions.items()}
        cell.control(self.rate, self.free, self.stress, self.isotropic, self.inertia, functions)
        bodies.flow[:, INV_M_X:] = make_cell_rows(cell, float(bodies.mass.sum()))[:, INV_M_X:]
        if cell.isotropic:
            along = np.flatnonzero(cell.periodic)
            bodies.flow[along, along] = bodies.flow[along, along].mean()

    def words(self) -> dict[str, Any]:
        """As plain words and numbers, exact."""
        arrays = {name: getattr(self, name).tolist() for name in ("rate", "free", "stress")}
        functions = {name: one.words() for name, one in self.functions.items()}
        return arrays | {"isotropic": self.isotropic, "inertia": self.inertia, "functions": functions}

    @classmethod
    def from_words(cls, words: dict[str, Any]) -> CellControl:
        functions = {name: rebuild_time_function(one) for name, one in words["functions"].items()}
        free = np.array(words["free"], np.bool_)
        return cls(
            np.array(words["rate"]), free, np.array(words["stress"]), words["isotropic"], words["inertia"], functions
        )
