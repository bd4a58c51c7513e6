"""Walls in a file: what never changes as text, where they are and how they are turned as arrays, exact to the bit."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bodies import Bodies
from ..detect.shapes import Cylinder, Plane, Plate
from ..walls import Drive, Wall

Array = NDArray[np.float64]


def describe(walls: list[Wall]) -> str:
    """Everything about the walls that does not move with them, as JSON."""
    return json.dumps([_describe(wall) for wall in walls])


def placement(bodies: Bodies) -> dict[str, Array]:
    """Arrays (walls, 3): a point of each wall (m), its normal or axis, the first side of a plate, the centre of
    rotation (m; not a number where it turns about its own point)."""
    nowhere, zero = np.full(3, math.nan), np.zeros(3)
    shapes: list[Any] = [wall.shape for wall in bodies.walls]
    about = [nowhere if wall.drive.about is None else wall.drive.about for wall in bodies.walls]
    return {
        "wall_point": _rows([shape.point for shape in shapes]),
        "wall_normal": _rows([shape.axis if isinstance(shape, Cylinder) else shape.normal for shape in shapes]),
        "wall_along": _rows([shape.along if isinstance(shape, Plate) else zero for shape in shapes]),
        "wall_about": _rows(about),
    }


def rebuild(text: str, at: dict[str, Array]) -> list[Wall]:
    """The walls that `describe` and `placement` told of."""
    return [
        _rebuild(words, *(at[name][w].copy() for name in ("wall_point", "wall_normal", "wall_along", "wall_about")))
        for w, words in enumerate(json.loads(text))
    ]


def _describe(wall: Wall) -> dict[str, Any]:
    shape: Any = wall.shape
    words: dict[str, Any] = {"name": wall.name, "shape": type(shape).__name__.lower(), "material": int(wall.material)}
    if isinstance(shape, Plate):
        words["half"] = [float(half) for half in shape.half]
    if isinstance(shape, Cylinder):
        words |= {"radius": float(shape.radius), "inside": bool(shape.inside), "half": float(shape.half)}
    if wall.guided:
        words |= {"mass": float(wall.mass), "load": float(wall.load)}
    drive = wall.drive
    return words | {
        "velocity": drive.velocity.tolist(),
        "amplitude": drive.amplitude.tolist(),
        "frequency": drive.frequency,
        "phase": drive.phase,
        "spin": drive.spin.tolist(),
    }


def _rebuild(words: dict[str, Any], point: Array, normal: Array, along: Array, about: Array) -> Wall:
    shape: Any
    if words["shape"] == "plane":
        shape = Plane(point, normal)
    elif words["shape"] == "plate":
        shape = Plate(point, normal, along, tuple(words["half"]))
    else:
        shape = Cylinder(point, normal, words["radius"], words["inside"], words["half"])
    drive = Drive(
        np.array(words["velocity"]),
        np.array(words["amplitude"]),
        words["frequency"],
        words["phase"],
        np.array(words["spin"]),
        None if np.isnan(about[0]) else about,
    )
    mass, load = words.get("mass", math.inf), words.get("load", 0.0)
    return Wall(words["name"], shape, words["material"], drive, mass, load)


def _rows(vectors: list[Array]) -> Array:
    return np.array(vectors, dtype=float).reshape(-1, 3)
