"""A scene that starts from a state: TOML text, ready to run and to change."""

from __future__ import annotations

import itertools
import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from ..formats.box import scene_words
from ..formats.draft import Draft
from ..formats.state import State, Which, read_state
from ..runtime.version import __version__
from .references import DEFAULT

GRAVITY = 9.81
STEPS = 1000


def start_scene(
    source: Path,
    output: Path,
    *,
    frame: Which | None = None,
    density: float | None = None,
    dimension: int | None = None,
    overlap: float | None = None,
    radius: float | None = None,
    periodic: str = "",
    force: bool = False,
) -> State:
    """Write a scene whose grains are those of a file; raises SceneError where they cannot be built."""
    from . import Scene

    state = read_state(source, "last" if frame is None else frame, radius=radius, periodic=periodic)
    words = {
        "frame": state.frame if frame is not None or state.frame else None,
        "density": density if density is not None else 2500.0 if state.mass is None else None,
        "overlap": overlap,
        "radius": radius,
    }
    grains = {key: value for key, value in words.items() if value is not None}
    dimension = dimension or state.dimension
    cell = {} if state.cell is None else {"cell": scene_words(state.cell, dimension, *extent(state))}
    materials = [{"name": name} for name in own_materials(state)]
    scene = Scene(dimension=dimension, grains=[{"file": str(source), **grains}], material=materials, **cell)
    scene.build()  # what is wrong is told now
    with Draft(output, source, force=force) as draft:
        text = scene_text(state, dimension, relative(source, output.parent), grains)
        draft.path(output).write_text(text, encoding="utf-8")
    return state


def scene_text(state: State, dimension: int, file: str, grains: dict[str, float]) -> str:
    """The periodic cell, or a box around the grains, open at the top under gravity, and a time step that resolves their
    motion; without gravity if that has no end."""
    low, high = extent(state)
    keys = "".join(f"{key} = {value!r}\n" for key, value in grains.items())
    gravity = np.array([0.0, -GRAVITY, 0.0] if dimension == 2 else [0.0, 0.0, -GRAVITY])
    along = np.zeros(3, np.bool_) if state.cell is None else state.cell.periodic
    if state.gravity is not None or gravity[along].any():
        gravity = np.zeros(3) if state.gravity is None else state.gravity
    falls = bool(gravity[:dimension].any())
    shut = {"open": sides} if (sides := open_sides(dimension, along, falls=falls)) else {}
    box = {"lower": low[:dimension].tolist(), "upper": high[:dimension].tolist()}
    friction, materials = materials_text(state)
    return (
        f"# Made by rigidgrains {__version__}. Walls are not imported: change the box to what there is.\n"
        f"dimension = {dimension}\n"
        + (f"gravity = {_vector(gravity[:dimension])}\n" if falls else "")
        + f"friction = {friction!r}\n\n{materials}"
        + "".join(f"[[grains]]\n{group}file = {quoted(file)}\n{keys}\n" for group in groups_text(state))
        + ("" if state.cell is None else _table("cell", scene_words(state.cell, dimension, low, high)))
        + ("" if along[:dimension].all() else _table("[box]", box | shut))
        + f"[run]\ndt = {state.dt or time_step(state, gravity)!r}\nsteps = {STEPS}\n"
    )


def groups_text(state: State) -> list[str]:
    """Keys of a table for each group; of one for all grains where the file knows no groups, or not of all grains."""
    if state.group is None or (state.group < 0).any():
        return [""]
    names = [state.groups[k] for k in np.unique(state.group)]
    named = ["" if "[" in name else f"name = {quoted(name)}\n" for name in names]  # some are called by their place
    return named if len(names) == 1 else [f"{own}group = {quoted(name)}\n" for own, name in zip(named, names)]


def own_materials(state: State) -> list[str]:
    """Names of the materials that grains keep from the file, besides the default one."""
    return [name for name in state.material_names if name not in (None, DEFAULT)]


def materials_text(state: State) -> tuple[float, str]:
    """Friction of the scene, and the tables of materials and pairs that differ from it."""
    if state.friction is None or state.material is None:
        return 0.5, ""
    rows = np.unique(state.material).tolist()
    if DEFAULT in state.materials:  # walls are of it
        rows = list(dict.fromkeys([state.materials.index(DEFAULT), *rows]))
    names, table = [state.materials[k] for k in rows], state.friction[np.ix_(rows, rows)].tolist()
    row = names.index(DEFAULT) if DEFAULT in names else 0
    usual, text = table[row][row], ""
    for k, name in enumerate(names):
        if name != DEFAULT:
            text += f"[[material]]\nname = {quoted(name)}\nfriction = {table[k][k]!r}\n\n"
    for i, k in itertools.combinations(range(len(names)), 2):
        if table[i][k] != usual:
            pair = f"[{quoted(names[i])}, {quoted(names[k])}]"
            text += f"[[pair]]\nmaterials = {pair}\nfriction = {table[i][k]!r}\n\n"
    return usual, text


def extent(state: State) -> tuple[np.ndarray, np.ndarray]:
    """(3,) and (3,) m, corners of the box around all grains."""
    radius = state.bound[:, None]
    return (state.position - radius).min(axis=0), (state.position + radius).max(axis=0)


def open_sides(dimension: int, along: np.ndarray, *, falls: bool) -> list[str]:
    """Sides of the box that are no walls: those of periodic directions, and the top under gravity."""
    from .confinement import SIDES

    sides = [side for k, side in enumerate(SIDES[dimension]) if along[k // 2]]
    return sides + (["top"] if falls and "top" not in sides else [])


def _table(name: str, words: dict[str, Any]) -> str:
    """A table of a scene in TOML."""
    rows = []
    for key, value in words.items():
        if isinstance(value, dict):
            text = "{ " + ", ".join(f"{part} = {number!r}" for part, number in value.items()) + " }"
        elif isinstance(value, list):
            text = "[" + ", ".join(quoted(part) if isinstance(part, str) else repr(part) for part in value) + "]"
        else:
            text = quoted(value)
        rows.append(f"{key} = {text}\n")
    return f"[{name}]\n{''.join(rows)}\n"


def time_step(state: State, gravity: np.ndarray) -> float:
    """s: no grain moves by more than a tenth of the mean radius, and a fall through one takes 50 steps; rounded."""
    radius = float(state.radius.mean())
    speed = 0.0 if state.velocity is None else float(np.linalg.norm(state.velocity, axis=1).max())
    pull = float(np.linalg.norm(gravity))
    times = [0.1 * radius / speed] if speed else []
    times += [0.02 * math.sqrt(2.0 * radius / pull)] if pull else []
    dt = min(times, default=1e-4)
    digit = 10.0 ** math.floor(math.log10(dt))
    return float(f"{math.floor(dt / digit) * digit:.0e}")


def relative(source: Path, folder: Path) -> str:
    """Path of a file as seen from a folder."""
    try:
        return Path(os.path.relpath(source, folder)).as_posix()
    except ValueError:  # on another drive
        return source.resolve().as_posix()


def quoted(text: str) -> str:
    """A text as TOML wants it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _vector(x: np.ndarray) -> str:
    return repr([float(component) + 0.0 for component in x])
