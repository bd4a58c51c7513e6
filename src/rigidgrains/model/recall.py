"""Functions of the user's own, which no file can keep: who needs them again, and putting them back in their places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .bodies import Bodies
from .cell import Cell
from .guide import Guide
from .spring import Spring
from .time_functions import Lost, Multiple, along, in_space, read_time_function
from .user_force import UserForce
from .walls import Wall

Owner = Wall | Spring | Cell | Guide | UserForce
WORDS = {"path": "displacement", "speed": "velocity", "turn": "angle", "rate": "rotation"}  # of a drive, of a scene


def recall(bodies: Bodies, functions: dict[str, Any]) -> list[str]:
    """Put functions back, each by its place and written as in the scene; returns the places that still lack theirs.

    functions : {"shaker.displacement": (0, f), "lid.load": f, "gravity": (0, g)} for instance
    """
    places = dict(_lost(bodies))
    for place, given in functions.items():
        if place not in places:
            known = ", ".join(places) or "none"
            raise ValueError(f"functions: no function was lost at '{place}'; lost are {known}")
        _put(bodies, *places[place], given)
    return [place for place in places if place not in functions]


def _lost(bodies: Bodies) -> Iterator[tuple[str, tuple[Owner | None, str]]]:
    for wall in bodies.all_walls:
        for name, word in WORDS.items():
            if any(map(_is_lost, getattr(wall.drive, name) or ())):
                yield f"{wall.name}.{word}", (wall, name)
        for name, word in (("load_function", "load"), ("stress", "stress")):
            if _is_lost(getattr(wall, name)):
                yield f"{wall.name}.{word}", (wall, name)
    for spring in bodies.springs:
        if _is_lost(spring.function):
            yield f"{spring.name}.displacement", (spring, "function")
    for guide in bodies.guides:
        for name in ("path", "speed", "rate"):
            if any(map(_is_lost, getattr(guide.drive, name) or ())):
                yield f"{guide.name}.{WORDS[name]}", (guide, name)
    for one in bodies.user_forces:
        if one.function is None:
            yield f"force.{one.name}", (one, "function")
    if any(map(_is_lost, bodies.gravity_function or ())):
        yield "gravity", (None, "gravity_function")
    if bodies.cell is not None:
        yield from (
            (f"cell.{name}", (bodies.cell, name)) for name, one in bodies.cell.functions.items() if _is_lost(one)
        )


def _put(bodies: Bodies, wall: Owner | None, name: str, given: Any) -> None:
    if wall is None:
        bodies.gravity_function = in_space(given)
    elif isinstance(wall, Cell):
        wall.functions[name] = read_time_function(given)
    elif isinstance(wall, UserForce):
        wall.function = given
        wall.__post_init__()
    elif isinstance(wall, Spring) or name in ("load_function", "stress"):
        setattr(wall, name, read_time_function(given))
    elif isinstance(given, (tuple, list, np.ndarray)):
        setattr(wall.drive, name, in_space(given))
    elif name in ("turn", "rate"):
        setattr(wall.drive, name, in_space((0.0, 0.0, given)))
    else:
        assert isinstance(wall, Wall)
        setattr(wall.drive, name, along(wall.normal, given))


def _is_lost(function: Any) -> bool:
    return isinstance(function, Lost) or (isinstance(function, Multiple) and _is_lost(function.function))
