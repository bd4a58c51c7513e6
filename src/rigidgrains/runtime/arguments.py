"""What a program tells a simulation and its solver, and what to answer where that cannot be used."""

from __future__ import annotations

import math
from os import PathLike
from typing import Any

import numpy as np

LAST_SEED = 2**63 - 1  # what files can hold


def is_number(value: object, *, whole: bool = False) -> bool:
    """True for numbers, or for whole ones; truth values and texts are none."""
    kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    return isinstance(value, kinds) and not isinstance(value, bool)


def check_scene(scene: Any) -> None:
    """A scene; bodies that are ready are told apart before."""
    if isinstance(scene, (str, PathLike)):
        raise TypeError(f"{str(scene)!r} is the name of a file; read it first: Simulation(load_scene({str(scene)!r}))")
    if isinstance(scene, type) or not hasattr(scene, "build"):
        raise TypeError(f"{scene!r} is no scene; give a Scene, as load_scene returns, or the Bodies that it builds")


def check_state(state: Any) -> None:
    """A simulation, whose grains are somewhere; frames are told apart before."""
    _check_no_file(state, "[-1]")
    if isinstance(state, type) or not hasattr(state, "bodies"):
        raise TypeError(f"{_short(state)} has no state to look at; give a Simulation, or a Frame, trajectory[-1] say")


def check_series(series: Any, *, has: str = "times", other: str = "") -> None:
    """A trajectory, or what else will do, told by an attribute that it has."""
    _check_no_file(series)
    if isinstance(series, type) or not hasattr(series, has):
        raise TypeError(f"{_short(series)} is no trajectory; give a Trajectory{other}")


def check_seed(seed: Any) -> int:
    """The seed, if it is one."""
    if not is_number(seed, whole=True) or not 0 <= seed <= LAST_SEED:
        raise ValueError(f"seed = {seed!r} starts no random numbers; give a whole number from 0 to {LAST_SEED}")
    return int(seed)


def check_end(until: Any, steps: Any) -> None:
    """A time, or a number of steps; None where it is not given."""
    for name, end in (("until", until), ("steps", steps)):
        if end is not None and not (is_number(end) and 0 <= end < math.inf):
            raise ValueError(f"{name} = {end!r} is no end of a run; give a finite number that is not negative")
    if steps is not None and steps != int(steps):
        raise ValueError(f"steps = {steps} is not a whole number; give one")


def _check_no_file(given: Any, then: str = "") -> None:
    if isinstance(given, (str, PathLike)):
        name = str(given)
        raise TypeError(f"{name!r} is the name of a file; open it first: Trajectory({name!r}){then}")


def _short(given: Any) -> str:
    """A scene would fill a page."""
    told = repr(given)
    return told if len(told) < 60 else f"this {type(given).__name__}"
