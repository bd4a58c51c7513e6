"""Walls in a file: what never changes as text, where they are and how they are turned as arrays, exact to the bit."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.shapes import SHAPES, Shape
from ..model.time_functions import rebuild_time_function
from ..model.walls import Drive, Wall
from ..runtime.registry import UnknownName
from .errors import Mismatch

Array = NDArray[np.float64]

TIMES = {"since": -math.inf, "until": math.inf}  # when a wall is there, and what stands for always
PLACEMENT = ("wall_point", "wall_normal", "wall_along", "wall_about", "wall_spin", "wall_load")


def describe(walls: list[Wall]) -> str:
    """Everything about the walls that does not move with them, as JSON."""
    return json.dumps([_describe(wall) for wall in walls])


def placement(walls: list[Wall]) -> dict[str, Array]:
    """Arrays (walls, 3): a point of each wall (m), its normal or axis, its other direction if any, the centre of
    rotation (m; not a number where it turns about its own point), the spin (rad/s) and the load (N) of the step."""
    nowhere, zero = np.full(3, math.nan), np.zeros(3)
    shapes = [wall.shape for wall in walls]
    return {
        "wall_point": _rows([shape.point for shape in shapes]),
        "wall_normal": _rows([_direction(shape, 0) for shape in shapes]),
        "wall_along": _rows([_direction(shape, 1) for shape in shapes]),
        "wall_about": _rows([nowhere if wall.drive.about is None else wall.drive.about for wall in walls]),
        "wall_spin": _rows([wall.drive.spin for wall in walls]),
        "wall_load": _rows([wall.load * wall.normal if wall.guided else zero for wall in walls]),
    }


def rebuild(text: str, at: dict[str, Array]) -> list[Wall]:
    """The walls that `describe` and `placement` told of; older files have neither spin nor load of the step."""
    described = json.loads(text)
    for name, rows in at.items():
        if rows.shape != (len(described), 3):
            raise Mismatch(f"it describes {len(described)} walls, and '{name}' has the shape {rows.shape}")
    return [_rebuild(words, {name: rows[w].copy() for name, rows in at.items()}) for w, words in enumerate(described)]


def _describe(wall: Wall) -> dict[str, Any]:
    shape = wall.shape
    words: dict[str, Any] = {"name": wall.name, "shape": SHAPES.word_of(shape), "material": int(wall.material)}
    words |= shape.words()
    if wall.guided:
        constant = wall.load_function is None and wall.stress is None
        words |= {"mass": float(wall.mass), "load": float(wall.load) if constant else 0.0}
    if wall.stress is not None:
        words |= {"stress": wall.stress.words(), "area": wall.area if isinstance(wall.area, float) else list(wall.area)}
    if wall.load_function is not None:
        words["load_course"] = wall.load_function.words()
    if wall.stiffness:
        words |= {"stiffness": wall.stiffness, "rest": wall.rest}
    words |= {name: getattr(wall, name) for name, never in TIMES.items() if getattr(wall, name) != never}
    words |= {} if wall.start is None else {"start": wall.start.tolist()}
    return words | wall.drive.words()


def _rebuild(words: dict[str, Any], at: dict[str, Array]) -> Wall:
    point, normal, about = at["wall_point"], at["wall_normal"], at["wall_about"]
    try:
        kind = SHAPES.find(str(words["shape"]))
    except UnknownName as said:
        raise Mismatch(f"it has a wall of the unknown shape {words['shape']!r} ({said})") from None
    shape = kind.from_words(words, point, normal, at["wall_along"])
    drive = Drive.from_words(words, about=None if np.isnan(about[0]) else about, spin=at.get("wall_spin"))
    mass, load, function = float(words.get("mass", math.inf)), float(words.get("load", 0.0)), None
    if "load_course" in words:
        function, load = rebuild_time_function(words["load_course"]), float(at["wall_load"] @ normal)
    stress, area = None, words.get("area", ())
    if "stress" in words:
        stress, load = rebuild_time_function(words["stress"]), float(at["wall_load"] @ normal)
    more = {name: float(words[name]) for name in ("since", "until", "stiffness", "rest") if name in words}
    return Wall(
        str(words["name"]),
        shape,
        int(words["material"]),
        drive,
        mass,
        load,
        function,
        **more,
        stress=stress,
        area=area if isinstance(area, float) else tuple(area),
        start=_vector(words["start"]) if "start" in words else None,
    )


def _direction(shape: Shape, number: int) -> Array:
    """(3,), zero if the shape has fewer."""
    return getattr(shape, shape.directions[number]) if number < len(shape.directions) else np.zeros(3)


def _vector(numbers: Any) -> Array:
    """(3,), or an error."""
    return np.array(numbers, dtype=float).reshape(3)


def _rows(vectors: list[Array]) -> Array:
    return np.array(vectors, dtype=float).reshape(-1, 3)
