"""What a stage changes as it begins: walls, cell, gravity, friction, forces on grains, and what comes or goes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.bodies import Bodies
from ..model.control import CellControl, WallControl
from ..model.tables import as_table
from ..model.time_functions import TimeFunctions, begin_all, rebuild_time_functions, values, words_of
from ..model.walls import Drive, Wall
from .inflow import Inflow
from .outlet import Outlet

Array = NDArray[np.float64]
APPEARS, GOES = "since", "until"


@dataclass
class Push:
    """A constant force (N) and torque (N m), (3,) each, on grains of a group; ids : of some of them, None for all."""

    group: str
    ids: list[int] | None
    force: Array
    torque: Array

    def rows(self, bodies: Bodies) -> NDArray[np.int64]:
        """Rows of the grains."""
        group = np.arange(bodies.count)[bodies.groups[self.group]]
        return group if self.ids is None else group[np.isin(bodies.id[group], self.ids)]

    def words(self) -> dict[str, Any]:
        return {"group": self.group, "ids": self.ids, "force": self.force.tolist(), "torque": self.torque.tolist()}

    @classmethod
    def from_words(cls, words: dict[str, Any]) -> Push:
        return cls(words["group"], words["ids"], np.array(words["force"]), np.array(words["torque"]))


@dataclass
class Change:
    """What is None or empty stays as it is.

    friction : (k, k) table; laws : tables by name, for the first laws of the bodies in their order
    walls, motions : of walls, and of grains with prescribed motion, by name
    forces   : constant forces on grains, all there are from then on
    times    : (kind, name, "since" or "until") of walls, inflows and outlets that come or go with the stage
    """

    gravity: TimeFunctions | None = None
    friction: Array | None = None
    laws: list[dict[str, Array]] | None = None
    walls: dict[str, WallControl] = field(default_factory=dict)
    motions: dict[str, Drive] = field(default_factory=dict)
    cell: CellControl | None = None
    forces: list[Push] | None = None
    times: list[tuple[str, str, str]] = field(default_factory=list)

    def apply(self, bodies: Bodies, streams: Iterable[Inflow | Outlet], time: float) -> None:
        """Let the stage that begins at this time (s) have its way."""
        if self.gravity is not None:
            begun = begin_all(self.gravity, time)
            assert begun is not None
            bodies.gravity_function, bodies.gravity = begun, values(begun, time)
        if self.friction is not None:
            bodies.friction = self.friction.copy()
        for law, tables in zip(bodies.laws, self.laws or []):
            for name, table in tables.items():
                setattr(law, name, as_table(f"{name} of {type(law).__name__}", table))
            law.check()
        for wall in bodies.all_walls:
            if wall.name in self.walls:
                self.walls[wall.name].apply(bodies, wall, time)
        for guide in bodies.guides:
            if guide.name in self.motions:
                guide.drive = self.motions[guide.name].begin(time)
        if self.cell is not None:
            self.cell.apply(bodies, time)
        if self.forces is not None:
            bodies.force, bodies.torque = pushes(bodies, self.forces)
        self._let_come_and_go([*bodies.all_walls, *streams], time)

    def arrives(self, wall: Wall) -> bool:
        """Whether a wall appears with this stage."""
        return ("wall", wall.name, APPEARS) in self.times

    def _let_come_and_go(self, things: list[Wall | Inflow | Outlet], time: float) -> None:
        for thing in things:
            for word in (APPEARS, GOES):
                if (_kind(thing), thing.name, word) in self.times:
                    setattr(thing, word, time)

    def words(self) -> dict[str, Any]:
        """As plain words and numbers, exact."""
        words: dict[str, Any] = {"times": [list(one) for one in self.times]}
        words |= {} if self.gravity is None else {"gravity": words_of(self.gravity)}
        words |= {} if self.friction is None else {"friction": self.friction.tolist()}
        words |= {} if self.laws is None else {"laws": [_as_lists(tables) for tables in self.laws]}
        words |= {} if self.cell is None else {"cell": self.cell.words()}
        words |= {} if self.forces is None else {"forces": [push.words() for push in self.forces]}
        words["motions"] = {name: drive.words() for name, drive in self.motions.items()}
        return words | {"walls": {name: control.words() for name, control in self.walls.items()}}

    @classmethod
    def from_words(cls, words: dict[str, Any]) -> Change:
        friction, laws, cell, forces = (words.get(name) for name in ("friction", "laws", "cell", "forces"))
        return cls(
            gravity=rebuild_time_functions(words.get("gravity")),
            friction=None if friction is None else np.array(friction, float),
            laws=None if laws is None else [{k: np.array(v, float) for k, v in tables.items()} for tables in laws],
            walls={name: WallControl.from_words(one) for name, one in words["walls"].items()},
            motions={name: Drive.from_words(one, about=None) for name, one in words.get("motions", {}).items()},
            cell=None if cell is None else CellControl.from_words(cell),
            forces=None if forces is None else [Push.from_words(push) for push in forces],
            times=[(kind, name, word) for kind, name, word in words["times"]],
        )


def pushes(bodies: Bodies, forces: list[Push]) -> tuple[Array, Array]:
    """(n, 3) N and N m on all grains; (0, 3) where nothing acts."""
    force, torque = np.zeros((bodies.count, 3)), np.zeros((bodies.count, 3))
    for push in forces:
        force[push.rows(bodies)] += push.force
        torque[push.rows(bodies)] += push.torque
    none = np.zeros((0, 3))
    return force if force.any() else none, torque if torque.any() or len(bodies.torque) else none


def _kind(thing: Wall | Inflow | Outlet) -> str:
    return "wall" if isinstance(thing, Wall) else "inflow" if isinstance(thing, Inflow) else "outlet"


def _as_lists(tables: dict[str, Array]) -> dict[str, Any]:
    return {name: np.asarray(table).tolist() for name, table in tables.items()}


def never(thing: Wall | Inflow | Outlet, word: str) -> None:
    """Let a thing wait for its stage: it is not there yet, or does not go by itself."""
    setattr(thing, word, math.inf)
