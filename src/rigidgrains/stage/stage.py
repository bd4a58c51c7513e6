"""The stage: what is there in a step. Walls come and go at their times, grains through inflows and outlets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..walls import Wall
from .errors import StageError
from .population import change

if TYPE_CHECKING:
    from ..bodies import Bodies
    from ..simulation import Simulation

NOW = 1e-9  # of a time step: times that close are equal
DEEPEST = 0.05  # of a radius: the overlap with grains at which a wall may still appear


@dataclass
class Stage:
    """walls : all walls of the scene in their order, also those that are not there now"""

    walls: list[Wall]

    def pack(self, bodies: Bodies) -> dict[str, Any]:
        """What has to be kept to go on, besides the walls."""
        return {"present": [w for w, wall in enumerate(self.walls) if any(wall is one for one in bodies.walls)]}

    @classmethod
    def unpack(cls, bodies: Bodies, words: dict[str, Any]) -> Stage:
        """The stage that was packed; leaves in bodies the walls that were there."""
        stage = cls(bodies.walls)
        bodies.walls = [stage.walls[w] for w in words["present"]]
        return stage

    def set(self, simulation: Simulation) -> None:
        """Let come and go what is due in the step that begins."""
        bodies, now = simulation.bodies, simulation.time + NOW * simulation.dt
        present = [wall for wall in self.walls if is_there(wall, now)]
        if len(present) != len(bodies.walls) or any(a is not b for a, b in zip(present, bodies.walls)):
            new = [wall for wall in present if not any(wall is old for old in bodies.walls)]
            for wall, arrived in zip(new, [self._arrival(wall, simulation) for wall in new]):
                wall.shape, wall.drive = arrived.shape, arrived.drive
            change(simulation, walls=present)

    def _arrival(self, wall: Wall, simulation: Simulation) -> Wall:
        """A wall where its motion has brought it by now, unless grains are in its way."""
        bodies, time = simulation.bodies, simulation.time
        arrived = wall.at(time)
        gap, _ = arrived.shape.gaps(np.arange(bodies.count, dtype=np.int32), bodies.position, bodies.radius)
        depth = -gap / bodies.radius
        if depth.max(initial=0.0) > DEEPEST:
            i = int(np.argmax(depth))
            raise StageError(
                f"wall '{wall.name}' cannot appear at t = {time:g} s: {int((depth > DEEPEST).sum())} grains are in its"
                f" way, grain {bodies.id[i]} at {bodies.position[i, : bodies.dimension].tolist()} the most; let it come"
                " at another time (since), at another place, or move it in by a velocity or displacement"
            )
        return arrived


def is_there(wall: Wall, time: float) -> bool:
    return wall.since <= time < wall.until


def has_times(walls: list[Wall]) -> bool:
    """True when some wall comes or goes."""
    return any(np.isfinite([wall.since, wall.until]).any() for wall in walls)
