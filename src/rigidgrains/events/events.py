"""Events: what is there in a step. Stages begin, walls come and go, grains enter and leave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contacts.contacts import Contacts
from ..detect.facet_points import wall_gaps
from ..detect.neighbours import Neighbours
from ..model.bodies import Bodies
from ..model.control import WallControl
from ..model.materials import check_material
from ..model.walls import Wall
from .errors import StageError
from .inflow import Inflow
from .outlet import Outlet
from .population import Crowd, change, copy_grains
from .stages import Stages

NOW = 1e-9  # of a time step: times that close are equal
DEEPEST = 0.05  # of a radius: the overlap with grains at which a wall may still appear


@dataclass
class Events:
    """inflows : where grains enter; outlets : where they leave; next_id : number of the next new grain

    stages : what the run does one after the other; None for a run without
    """

    inflows: list[Inflow] = field(default_factory=list)
    outlets: list[Outlet] = field(default_factory=list)
    next_id: int = 0
    stages: Stages | None = None

    def take_place(
        self, bodies: Bodies, neighbours: Neighbours, contacts: Contacts, time: float, dt: float
    ) -> Neighbours:
        """Let come and go what is due in the step that begins; bodies and contacts are renumbered, and so the lists.

        Where anything cannot come, StageError is raised and all is as it was.
        """
        now = time + NOW * dt
        if self.stages is not None and (due := self.stages.due) is not None:
            for wall in filter(due.change.arrives, bodies.all_walls):
                _arrival(wall, bodies, time, waits=True)  # before the stage changes anything
        begun = None if self.stages is None else self.stages.enter(bodies, [*self.inflows, *self.outlets], time)
        present = [wall for wall in bodies.all_walls if wall.is_there(now)]
        walls = None if _same(present, bodies.walls) else present
        if walls is not None:
            new = [wall for wall in present if not any(wall is old for old in bodies.walls)]
            waited = [begun is not None and begun.arrives(wall) for wall in new]
            for wall, arrived in zip(new, [_arrival(wall, bodies, time, waits) for wall, waits in zip(new, waited)]):
                wall.shape, wall.drive = arrived.shape, arrived.drive
        streams: list[Inflow | Outlet] = [*self.inflows, *self.outlets]
        kept, next_id = [_remembered(one) for one in streams], self.next_id
        try:
            stays = self._let_out(bodies, now)
            coming = self._let_in(bodies, stays, now)
        except StageError:
            for put_back in kept:
                put_back()
            self.next_id = next_id
            raise
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

    def moved_walls(self) -> dict[str, list[WallControl]]:
        """What moves walls in some stage, by their names."""
        return {} if self.stages is None else self.stages.moved_walls()

    def pack(self, bodies: Bodies) -> dict[str, Any]:
        """What has to be kept to go on, besides the walls."""
        return {
            "present": [w for w, wall in enumerate(bodies.all_walls) if any(wall is one for one in bodies.walls)],
            "inflows": [inflow.pack() for inflow in self.inflows],
            "outlets": [outlet.pack() for outlet in self.outlets],
            "next_id": self.next_id,
        } | ({} if self.stages is None else {"stages": self.stages.pack()})

    @classmethod
    def unpack(cls, bodies: Bodies, words: dict[str, Any]) -> Events:
        """The events that were packed; leaves in bodies the walls that were there."""
        inflows, outlets = map(Inflow.unpack, words["inflows"]), map(Outlet.unpack, words["outlets"])
        events, walls = cls(list(inflows), list(outlets), words["next_id"]), bodies.walls
        for w in words["present"]:
            if not 0 <= w < len(walls):
                raise ValueError(f"wall {w} is said to be there, of {len(walls)} walls; the file was changed")
        for inflow in events.inflows:
            if strange := inflow.scalars.keys() - set(bodies.scalar_names):
                raise ValueError(
                    f"inflow '{inflow.name}' has the unknown scalar {min(strange)!r}; the file was changed"
                )
            for grain in inflow.waiting:
                check_material(bodies, int(grain.material[0]), f"grain {grain.id[0]} on its way to '{inflow.name}'")
        if "stages" in words:
            events.stages = Stages.unpack(words["stages"])
        staged = events.stages is not None and events.stages.have_walls
        bodies.scheduled = walls if staged or any(wall.comes_or_goes for wall in walls) else []
        bodies.walls = [walls[w] for w in words["present"]]
        return events


def _arrival(wall: Wall, bodies: Bodies, time: float, waits: bool) -> Wall:
    """A wall where its motion has brought it by now, or at its place if it waits; unless grains are in its way."""
    arrived = wall.at(0.0 if waits else time)
    grains = np.arange(bodies.count, dtype=np.int32)
    if bodies.catalogue is None:
        gap, _ = arrived.shape.gaps(grains, bodies.position, bodies.radius)
    else:
        gap = wall_gaps(bodies, arrived.shape)
    depth = -gap / bodies.radius
    if depth.max(initial=0.0) > DEEPEST:
        i = int(np.argmax(depth))
        raise StageError(
            f"wall '{wall.name}' cannot appear at t = {time:g} s: {int((depth > DEEPEST).sum())} grains are in its"
            f" way, grain {bodies.id[i]} at {bodies.position[i, : bodies.dimension].tolist()} the most; let it come"
            " at another time (since), at another place, or move it in by a velocity or displacement"
        )
    return arrived


def _remembered(stream: Inflow | Outlet) -> Callable[[], None]:
    """What puts a stream back to what it is now."""
    own = {name: value.copy() if isinstance(value, list) else value for name, value in vars(stream).items()}
    drawn = stream.rng.bit_generator.state if isinstance(stream, Inflow) else {}

    def put_back() -> None:
        vars(stream).update(own)
        if isinstance(stream, Inflow):
            stream.rng.bit_generator.state = drawn

    return put_back


def _same(some: list[Wall], others: list[Wall]) -> bool:
    return len(some) == len(others) and all(a is b for a, b in zip(some, others))
