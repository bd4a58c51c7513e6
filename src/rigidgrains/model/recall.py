"""Functions of the user's own, which no file can keep: who needs them again, and putting them back in their places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .bodies import Bodies
from .cell import Cell
from .control import CellControl, WallControl
from .spring import Spring
from .time_functions import Lost, Multiple, along, in_space, read_time_function
from .user_force import UserForce
from .walls import Drive, Wall

Target = tuple[Any, str, Any]  # whose function it is, its attribute or key, and the wall that it moves, if any
WORDS = {"path": "displacement", "speed": "velocity", "turn": "angle", "rate": "rotation"}  # of a drive, of a scene


def recall(bodies: Bodies, functions: dict[str, Any]) -> list[str]:
    """Put functions back, each by its place and written as in the scene; returns the places that still lack theirs.

    functions : {"shaker.displacement": (0, f), "lid.load": f, "gravity": (0, g), "stage.shear.lid.load": h} for
                instance; those that stages have replaced may be given, and are of no use
    """
    places = dict(_lost(bodies))
    for place, given in functions.items():
        if place in places:
            _put(*places[place], given)
        elif not _replaced(bodies, place):
            raise ValueError(f"functions: no function was lost at '{place}'; lost are {', '.join(places) or 'none'}")
    return [place for place in places if place not in functions]


def _lost(bodies: Bodies) -> Iterator[tuple[str, Target]]:
    """Functions that act, called after the stage that gave them, if one did, and those of stages to come."""
    begun, coming = _stages(bodies)
    for place, target in _acting(bodies):
        stage = next((one.name for one in reversed(begun) if _changes(one.change, place)), "")
        yield (f"stage.{stage}.{place}" if stage else place), target
    for one in coming:
        yield from ((f"stage.{one.name}.{place}", target) for place, target in _in_change(bodies, one.change))


def _acting(bodies: Bodies) -> Iterator[tuple[str, Target]]:
    for wall in bodies.all_walls:
        yield from _of_wall(wall.name, wall, wall)
    for spring in bodies.springs:
        if _is_lost(spring.function):
            yield f"{spring.name}.displacement", (spring, "function", None)
    for guide in bodies.guides:
        yield from _of_drive(guide.name, guide.drive, None)
    for one in bodies.user_forces:
        if one.function is None:
            yield f"force.{one.name}", (one, "function", None)
    if any(map(_is_lost, bodies.gravity_function or ())):
        yield "gravity", (bodies, "gravity_function", None)
    if bodies.cell is not None:
        yield from _of_cell(bodies.cell)


def _in_change(bodies: Bodies, change: Any) -> Iterator[tuple[str, Target]]:
    """What a stage to come gives."""
    walls = {wall.name: wall for wall in bodies.all_walls}
    for name, control in change.walls.items():
        yield from _of_wall(name, control, walls.get(name))
    for name, drive in change.motions.items():
        yield from _of_drive(name, drive, None)
    if any(map(_is_lost, change.gravity or ())):
        yield "gravity", (change, "gravity", None)
    if change.cell is not None:
        yield from _of_cell(change.cell)


def _of_wall(name: str, owner: Wall | WallControl, wall: Wall | None) -> Iterator[tuple[str, Target]]:
    if owner.drive is not None:
        yield from _of_drive(name, owner.drive, wall)
    for key, word in (("load_function", "load"), ("stress", "stress")):
        if _is_lost(getattr(owner, key)):
            yield f"{name}.{word}", (owner, key, wall)


def _of_drive(name: str, drive: Drive, wall: Wall | None) -> Iterator[tuple[str, Target]]:
    for key, word in WORDS.items():
        if any(map(_is_lost, getattr(drive, key) or ())):
            yield f"{name}.{word}", (drive, key, wall)


def _of_cell(cell: Cell | CellControl) -> Iterator[tuple[str, Target]]:
    yield from ((f"cell.{key}", (cell, key, None)) for key, one in cell.functions.items() if _is_lost(one))


def _stages(bodies: Bodies) -> tuple[list[Any], list[Any]]:
    """Those that have begun, and those to come."""
    stages = getattr(bodies.events, "stages", None)
    return ([], []) if stages is None else (
        stages.stages[: stages.number + 1], stages.stages[stages.number + 1 :]
    )  # fmt: skip


def _changes(change: Any, place: str) -> bool:
    """Whether a stage has replaced what was at a place."""
    name = place.rpartition(".")[0]
    moved = {own for own, control in change.walls.items() if control.drive is not None} | {*change.motions}
    cell = place.startswith("cell.") and change.cell is not None
    return name in moved or cell or (place == "gravity" and change.gravity is not None)


def _replaced(bodies: Bodies, place: str) -> bool:
    """Whether a function at a place is that of a stage that has begun, or one that such a stage has replaced."""
    begun, _ = _stages(bodies)
    return any(place.startswith(f"stage.{stage.name}.") or _changes(stage.change, place) for stage in begun)


def _put(owner: Any, key: str, wall: Any, given: Any) -> None:
    if key in ("gravity_function", "gravity"):
        setattr(owner, key, in_space(given))
    elif isinstance(owner, (Cell, CellControl)):
        owner.functions[key] = read_time_function(given)
    elif isinstance(owner, UserForce):
        owner.take(given)
    elif isinstance(owner, Spring) or key in ("load_function", "stress"):
        setattr(owner, key, read_time_function(given))
    elif isinstance(given, (tuple, list, np.ndarray)):
        setattr(owner, key, in_space(given))
    elif key in ("turn", "rate"):
        setattr(owner, key, in_space((0.0, 0.0, given)))
    else:
        assert isinstance(wall, Wall)
        setattr(owner, key, along(wall.normal, given))


def _is_lost(function: Any) -> bool:
    return isinstance(function, Lost) or (isinstance(function, Multiple) and _is_lost(function.function))
