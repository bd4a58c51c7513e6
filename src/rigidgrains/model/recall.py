"""Functions of the user's own, which no file can keep: who needs them again, and putting them back in their places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from .bodies import Bodies
from .time_functions import Lost, Multiple, TimeFunctions, along, in_space, read_time_function
from .walls import Drive, Wall

Put = Callable[[Any], None]
WORDS = {"path": "displacement", "speed": "velocity", "turn": "angle", "rate": "rotation"}  # of a drive, of a scene
LOADS = {"load_function": "load", "stress": "stress"}


def recall(bodies: Bodies, functions: dict[str, Any]) -> list[str]:
    """Put functions back, each by its place and written as in the scene; returns the places that still lack theirs.

    functions : {"shaker.displacement": (0, f), "lid.load": f, "stage.strain.gravity": (0, g)} for instance
    """
    places = dict(_lost(bodies))
    for place, given in functions.items():
        if place not in places:
            known = ", ".join(places) or "none"
            raise ValueError(f"functions: no function was lost at '{place}'; lost are {known}")
        places[place](given)
    return [place for place in places if place not in functions]


def _lost(bodies: Bodies) -> Iterator[tuple[str, Put]]:
    """Places of lost functions, each with what puts one back: of all that moves now, and in stages to come."""
    walls = {wall.name: wall for wall in bodies.all_walls}
    for wall in walls.values():
        yield from _of_wall(wall.name, wall, wall)
    for spring in bodies.springs:
        if _is_lost(spring.function):
            yield f"{spring.name}.displacement", _setter(spring, "function")
    for guide in bodies.guides:
        yield from _of_drive(guide.name, guide.drive)
    for one in bodies.user_forces:
        if one.function is None:
            yield f"force.{one.name}", one.take
    if any(map(_is_lost, bodies.gravity_function or ())):
        yield "gravity", _setter(bodies, "gravity_function", in_space)
    if bodies.cell is not None:
        yield from _of_cell("cell", bodies.cell)
    stages = None if bodies.events is None else bodies.events.stages
    for stage in [] if stages is None else stages.stages[stages.number + 1 :]:
        at, change = f"stage.{stage.name}", stage.change
        for name, control in change.walls.items():
            if control.drive is not None and name in walls:
                yield from _of_wall(f"{at}.{name}", control, walls[name])
        for name, drive in change.motions.items():
            yield from _of_drive(f"{at}.{name}", drive)
        if any(map(_is_lost, change.gravity or ())):
            yield f"{at}.gravity", _setter(change, "gravity", in_space)
        if change.cell is not None:
            yield from _of_cell(f"{at}.cell", change.cell)


def _of_wall(at: str, control: Any, wall: Wall) -> Iterator[tuple[str, Put]]:
    """Of a wall, or of what a stage puts in the place of its motion and load."""
    yield from _of_drive(at, control.drive, wall)
    for name, word in LOADS.items():
        if _is_lost(getattr(control, name)):
            yield f"{at}.{word}", _setter(control, name)


def _of_drive(at: str, drive: Drive, wall: Wall | None = None) -> Iterator[tuple[str, Put]]:
    for name, word in WORDS.items():
        if any(map(_is_lost, getattr(drive, name) or ())):
            yield f"{at}.{word}", _setter(drive, name, partial(_read_motion, name, wall))


def _of_cell(at: str, control: Any) -> Iterator[tuple[str, Put]]:
    for name, function in control.functions.items():
        if _is_lost(function):
            yield f"{at}.{name}", partial(_set_item, control.functions, name)


def _read_motion(name: str, wall: Wall | None, given: Any) -> TimeFunctions:
    """A vector, a turn about z, or a motion along the normal of a piston."""
    if isinstance(given, (tuple, list, np.ndarray)):
        return in_space(given)
    if name in ("turn", "rate"):
        return in_space((0.0, 0.0, given))
    assert wall is not None
    return along(wall.normal, given)


def _setter(owner: Any, name: str, read: Callable[[Any], Any] = read_time_function) -> Put:
    return lambda given: setattr(owner, name, read(given))


def _set_item(functions: dict[str, Any], name: str, given: Any) -> None:
    functions[name] = read_time_function(given)


def _is_lost(function: Any) -> bool:
    return isinstance(function, Lost) or (isinstance(function, Multiple) and _is_lost(function.function))
