"""Stages from the tables of a scene: each is what differs between the scene then and before."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..events.change import APPEARS, GOES, Change, Push
from ..events.events import Events
from ..events.stages import Stage, Stages
from ..model import time_functions
from ..model.bodies import Bodies
from ..model.control import CellControl, WallControl
from ..model.walls import Wall
from ..simulation.columns import columns
from ..simulation.rest import QUASI_STATIC
from .errors import Problem, SceneError, suggestion
from .friction import FrictionTable
from .make_walls import drive_of
from .make_walls import wall as make_wall
from .scene import Scene
from .settings import Force
from .stage import Stage as StageTable
from .stage_tables import LOADED, MOTION
from .values import in_space

WALLS = ("plane", "cylinder", "cone", "piston")


def add_stages(scene: Scene, later: list[Scene], bodies: Bodies, walls: list[Wall], friction: FrictionTable) -> None:
    """Give the bodies the stages of the scene; later : the scene as it is in each of them."""
    if not scene.stage:
        return
    problems = list(_new_laws(scene, later, friction))
    stages = [_stage(scene, table, then, friction.of(then), bodies) for table, then in zip(scene.stage, later)]
    events = bodies.events if isinstance(bodies.events, Events) else Events(next_id=bodies.count)
    events.stages, bodies.events = Stages(stages), events
    if events.stages.have_walls and not bodies.scheduled:
        bodies.scheduled = list(walls)
    if any(push.torque.any() for stage in stages for push in stage.change.forces or ()) and not len(bodies.torque):
        bodies.torque = np.zeros((bodies.count, 3))
    known = columns(bodies)
    for index, stage in enumerate(stages):
        if stage.column and stage.column not in known:
            hint = suggestion(stage.column, known) or f"; known are {', '.join(known)}"
            problems.append(Problem(f"stage[{index}].when.column", stage.column, "no column of the history" + hint))
    if problems:
        raise SceneError(problems)
    events.stages.enter(bodies, [*events.inflows, *events.outlets], 0.0)  # steps are chosen by what moves from now on


def _stage(scene: Scene, table: StageTable, then: Scene, now: FrictionTable, bodies: Bodies) -> Stage:
    """One of them; then, now : scene and coefficients as they are in it."""
    change = Change(times=list(_times(scene, table)))
    if table.gravity is not None:
        change.gravity = time_functions.in_space(table.gravity)
    if table.friction is not None or table.material:
        change.friction, change.laws = now.table(), [dict(law.tables()) for law in now.laws()]
    for key in WALLS:
        for one in getattr(then, key):
            if words := getattr(table, key).get(one.name):
                moves = bool({*words} & {*MOTION, *LOADED})
                change.walls[one.name] = WallControl.of(make_wall(one, now), moves=moves)
    for motion in then.motion:
        if motion.name in table.motion:
            change.motions[motion.name] = drive_of(motion)
    if table.cell and then.cell is not None:
        change.cell = CellControl.of(then.cell.make(scene.dimension))
    if table.force is not None:
        change.forces = [_push(force, bodies) for force in then.force]
    when = table.when
    crossing: dict[str, Any] = {}
    if when is not None:
        rising = when.rising is not None
        crossing = {
            "column": when.column,
            "rising": rising,
            "bound": when.rising if rising else when.falling,
            "during": when.during or 0.0,
        }
    return Stage(
        table.name,
        until=math.inf if table.until is None else table.until,
        rest=QUASI_STATIC if table.rest is True else table.rest or None,
        limit=math.inf if table.limit is None else table.limit,
        change=change,
        **crossing,
    )


def _push(table: Force, bodies: Bodies) -> Push:
    """By the ids of the grains, that do not change."""
    group = bodies.id[bodies.groups[table.grains]]
    ids = None if table.index is None else group[list(table.index)].tolist()
    torque = np.zeros(3)
    if table.torque is not None:
        torque[3 - np.size(table.torque) :] = table.torque
    return Push(table.grains, ids, np.zeros(3) if table.force is None else in_space(table.force), torque)


def _times(scene: Scene, stage: StageTable) -> Iterator[tuple[str, str, str]]:
    """What comes or goes with this stage."""
    things: list[tuple[str, Any]] = [("wall", table) for table in scene.surfaces()]
    things += [("inflow", inflow) for inflow in scene.inflow] + [("outlet", outlet) for outlet in scene.outlet]
    first = scene.stage[0].name
    for kind, table in things:
        for word in (APPEARS, GOES):
            if getattr(table, word) == stage.name and not (word == APPEARS and stage.name == first):
                yield kind, table.name, word


def _new_laws(scene: Scene, later: list[Scene], friction: FrictionTable) -> Iterator[Problem]:
    """Coefficients of laws that the scene does not begin with: contacts have nothing to remember for them."""
    known = {type(law) for law in friction.laws()}
    for index, then in enumerate(later):
        for law in friction.of(then).laws():
            if type(law) not in known:
                known.add(type(law))
                message = f"needs {type(law).__name__}, which the scene begins without; give the coefficient there, too"
                yield Problem(f"stage[{index}].material", scene.stage[index].material, message)
