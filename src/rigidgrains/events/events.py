"""Events: what is there in a step. Walls come and go at their times, grains through inflows and outlets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contacts.contacts import Contacts
from ..detect.neighbours import Neighbours
from ..detect.wall_points import balls_of
from ..model.bodies import Bodies
from ..model.materials import check_material
from ..model.walls import Wall
from .errors import StageError
from .inflow import Inflow
from .outlet import Outlet
from .population import Crowd, change, copy_grains

NOW = 1e-9  # of a time step: times that close are equal
DEEPEST = 0.05  # of a radius: the overlap with grains at which a wall may still appear


@dataclass
class Events:
    """inflows : where grains enter; outlets : where they leave; next_id : number of the next new grain"""

    inflows: list[Inflow] = field(default_factory=list)
    outlets: list[Outlet] = field(default_factory=list)
    next_id: int = 0

    def take_place(
        self, bodies: Bodies, neighbours: Neighbours, contacts: Contacts, time: float, dt: float
    ) -> Neighbours:
        """Let come and go what is due in the step that begins; bodies and contacts are renumbered, and so the lists."""
        now = time + NOW * dt
        present = [wall for wall in bodies.all_walls if wall.is_there(now)]
        walls = None if _same(present, bodies.walls) else present
        if walls is not None:
            new = [wall for wall in present if not any(wall is old for old in bodies.walls)]
            for wall, arrived in zip(new, [_arrival(wall, bodies, time) for wall in new]):
                wall.shape, wall.drive = arrived.shape, arrived.drive
        stays = self._let_out(bodies, now)
        coming = self._let_in(bodies, stays, now)
        if walls is not None or coming or not stays.all():
            crowd = Crowd.joined(coming) if coming else None
            leaving = np.flatnonzero(~stays)
            return change(bodies, neighbours, contacts, leaving=leaving, coming=crowd, walls=walls)
        return neighbours

    def _let_out(self, bodies: Bodies, now: float) -> NDArray[np.bool_]:
        """(n,) grains that stay; those that come back are handed to their inflow."""
        stays = np.ones(bodies.count, bool)
        for outlet in self.outlets:
            leaving = outlet.take(bodies, stays, now)
            if outlet.recycle is not None and leaving.any():
                inflow = next(one for one in self.inflows if one.name == outlet.recycle)
                inflow.waiting += [copy_grains(bodies, np.array([i])) for i in np.flatnonzero(leaving)]
            stays &= ~leaving
        return stays

    def _let_in(self, bodies: Bodies, stays: NDArray[np.bool_], now: float) -> list[Crowd]:
        """Grains that enter; new ones get their id."""
        coming: list[Crowd] = []
        for inflow in self.inflows:
            coming += inflow.enter(bodies, stays, coming, now)
        for grain in coming:
            if grain.id[0] < 0:
                grain.id[0], self.next_id = self.next_id, self.next_id + 1
        return coming

    def pack(self, bodies: Bodies) -> dict[str, Any]:
        """What has to be kept to go on, besides the walls."""
        return {
            "present": [w for w, wall in enumerate(bodies.all_walls) if any(wall is one for one in bodies.walls)],
            "inflows": [inflow.pack() for inflow in self.inflows],
            "outlets": [outlet.pack() for outlet in self.outlets],
            "next_id": self.next_id,
        }

    @classmethod
    def unpack(cls, bodies: Bodies, words: dict[str, Any]) -> Events:
        """The events that were packed; leaves in bodies the walls that were there."""
        inflows, outlets = map(Inflow.unpack, words["inflows"]), map(Outlet.unpack, words["outlets"])
        events, walls = cls(list(inflows), list(outlets), words["next_id"]), bodies.walls
        for w in words["present"]:
            if not 0 <= w < len(walls):
                raise ValueError(f"wall {w} is said to be there, of {len(walls)} walls; the file was changed")
        for inflow in events.inflows:
            for grain in inflow.waiting:
                check_material(bodies, int(grain.material[0]), f"grain {grain.id[0]} on its way to '{inflow.name}'")
        bodies.scheduled = walls if any(wall.comes_or_goes for wall in walls) else []
        bodies.walls = [walls[w] for w in words["present"]]
        return events


def _arrival(wall: Wall, bodies: Bodies, time: float) -> Wall:
    """A wall where its motion has brought it by now, unless grains are in its way."""
    arrived = wall.at(time)
    grains = np.arange(bodies.count, dtype=np.int32)
    if bodies.catalogue is None:
        gap, _ = arrived.shape.gaps(grains, bodies.position, bodies.radius)
    else:
        balls = balls_of(bodies, grains)
        each, _ = arrived.shape.gaps(np.arange(len(balls.owner), dtype=np.int32), balls.place, balls.radius)
        gap = np.full(bodies.count, np.inf)
        np.minimum.at(gap, balls.owner, each)
    depth = -gap / bodies.radius
    if depth.max(initial=0.0) > DEEPEST:
        i = int(np.argmax(depth))
        raise StageError(
            f"wall '{wall.name}' cannot appear at t = {time:g} s: {int((depth > DEEPEST).sum())} grains are in its"
            f" way, grain {bodies.id[i]} at {bodies.position[i, : bodies.dimension].tolist()} the most; let it come"
            " at another time (since), at another place, or move it in by a velocity or displacement"
        )
    return arrived


def _same(some: list[Wall], others: list[Wall]) -> bool:
    return len(some) == len(others) and all(a is b for a, b in zip(some, others))
