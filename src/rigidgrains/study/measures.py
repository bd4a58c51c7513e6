"""What is measured of a run, from its file alone: functions of frames, columns of the history, functions of users."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import measure
from ..scene.errors import Problem, suggestion
from ..simulation.columns import COLUMNS, OF_CELL
from .columns import compile_columns
from .words import TAKES, Measured

if TYPE_CHECKING:
    from ..trajectory.reader import Trajectory

OF_FLOW = [
    f"{kind}_{axes}"
    for kind, some in (("stress", ("xx", "yy", "zz")), ("strain", ("xx", "yy", "zz", "xy", "xz", "yz")))
    for axes in some
]  # of a cell that deforms
TORQUES = ("torque", "torque_x", "torque_y", "torque_z", "power")
OF_NAMED = {
    "plane": ("force", "displacement", *TORQUES),
    "piston": ("force", "displacement", "power"),
    "cylinder": TORQUES,
    "cone": TORQUES,
    "motion": ("force_x", "force_y", "force_z", *TORQUES, "work"),
}
KNOWN = sorted(
    name for name in measure.__all__ if inspect.isfunction(getattr(measure, name)) and name not in ("of", "over")
)


def evaluate(name: str, one: Measured, trajectory: Trajectory, folder: Path) -> float:
    """The number that a run has; ValueError if there is none to take."""
    if one.of_column:
        history = trajectory.history
        counts = one.inside(history["time"])
        rows = {name: column[counts] for name, column in history.items()}
        values = np.broadcast_to(compile_columns(one.of[len("column:") :], rows)(rows), rows["time"].shape)
    else:
        function = find(name, one, folder)
        if one.gets == "trajectory":
            return _number(function(trajectory, **one.options))
        wanted = np.flatnonzero(one.inside(trajectory.times))
        wanted = {"last": wanted[-1:], "first": wanted[:1]}.get(one.taken, wanted)
        values = np.array([_number(function(trajectory[int(k)], **one.options)) for k in wanted])
    if not len(values):
        raise ValueError(f"no {'row of the history' if one.of_column else 'frame'} lies in the times that count")
    return _number(TAKES[one.taken](values))


def find(name: str, one: Measured, folder: Path) -> Callable[..., Any]:
    """The function behind a measure; what it returns of a dataclass is the field that was named."""
    if callable(one.of):
        return one.of  # type: ignore[no-any-return]
    if ":" in one.of:
        module, _, path = one.of.partition(":")
        return reduce(getattr, path.split("."), load_module(module, folder))  # type: ignore[arg-type,return-value]
    word, *parts = one.of.split(".")
    function = getattr(measure, word)
    parts = parts or field_of(function, name)
    return lambda frame, **options: reduce(getattr, parts, function(frame, **options))


def field_of(function: Callable[..., Any], name: str) -> list[str]:
    """The part of a dataclass that has the name of the measure, if the function returns one."""
    kind = returned(function)
    return [name] if is_dataclass(kind) and name in numbers_of(kind) else []


def returned(function: Callable[..., Any]) -> Any:
    """The kind that a function of `measure` says it returns; None if it is no class of its module."""
    told = function.__annotations__.get("return")
    return function.__globals__.get(told) if isinstance(told, str) else told


def numbers_of(kind: Any) -> list[str]:
    """Fields and properties of a dataclass."""
    return [field.name for field in fields(kind)] + [
        key for key, value in vars(kind).items() if isinstance(value, property) and not key.startswith("_")
    ]


def load_module(name: str, folder: Path) -> ModuleType:
    """A module of the user: a file in the folder of the study, else one that Python finds."""
    file = folder / f"{name}.py"
    if not file.is_file():
        return importlib.import_module(name)
    own = f"rigidgrains_study_{hashlib.sha256(str(file.resolve()).encode() + file.read_bytes()).hexdigest()[:16]}"
    if own not in sys.modules:
        found = importlib.util.spec_from_file_location(own, file)
        assert found is not None
        assert found.loader is not None
        module = importlib.util.module_from_spec(found)
        found.loader.exec_module(module)
        sys.modules[own] = module
    return sys.modules[own]


def code_of(one: Measured, folder: Path) -> str:
    """Mark of the code of a user's function: what it gave is measured again when the code has changed."""
    if callable(one.of):
        try:
            return _digest(inspect.getsource(one.of).encode())
        except (OSError, TypeError):
            return ""
    file = folder / f"{one.of.partition(':')[0]}.py"
    return _digest(file.read_bytes()) if ":" in one.of and not one.of_column and file.is_file() else ""


def mistakes_of(name: str, one: Measured, words: Mapping[str, Any], folder: Path, *, kept: bool) -> Iterator[Problem]:
    """What can be told of a measure before anything runs.

    words : of a scene
    kept  : whether the study was read from its folder, where results of functions that are elsewhere may be read
    """
    yield from one.mistakes()
    try:
        if kept and isinstance(one.of, str) and ":" in one.of and not one.of_column:
            return
        if one.of_column:
            compile_columns(one.of[len("column:") :], columns_of(words))
        else:
            _check_function(name, one, folder)
    except ValueError as problem:
        yield Problem("of", one.of, str(problem))


def columns_of(words: Mapping[str, Any]) -> list[str]:
    """Columns that the history of a scene will have, or may: those of walls if they move."""
    springs, cell = _names(words, "spring"), [*OF_CELL, *OF_FLOW] if words.get("cell") else []
    named = [f"{name}.force" for name in springs]
    for key, columns in OF_NAMED.items():
        named += [f"{name}.{column}" for name in _names(words, key) for column in columns]
    return [
        *COLUMNS,
        *cell,
        *(["spring_energy"] if springs else []),
        *named,
        *(["stage"] if words.get("stage") else []),
    ]


def _names(words: Mapping[str, Any], key: str) -> list[str]:
    """Names of the tables of a kind."""
    tables = words.get(key) or []
    return [str(table.get("name")) for table in tables if isinstance(table, dict)]


def _check_function(name: str, one: Measured, folder: Path) -> None:
    if not isinstance(one.of, str):
        if not callable(one.of):
            raise ValueError("must be a text or, in Python, a function")
        _check_options(one.of, one)
        return
    if ":" in one.of:
        _check_options(_users_function(one, folder), one)
        return
    word, *parts = one.of.split(".")
    if word not in KNOWN:
        hint = suggestion(word, KNOWN) or f"; known are {', '.join(KNOWN)}"
        raise ValueError(f"rigidgrains.measure has no function '{word}'{hint}; or column:NAME, or module:function")
    function = getattr(measure, word)
    kind = returned(function)
    if is_dataclass(kind):
        known = numbers_of(kind)
        if (not parts and name not in known) or (parts and parts[0] not in known):
            raise ValueError(
                f"gives several numbers; choose one of them, such as '{word}.{known[0]}': {', '.join(known)}"
            )
    elif parts:
        raise ValueError(f"gives no {'.'.join(parts)}; write '{word}'")
    _check_options(function, one)


def _users_function(one: Measured, folder: Path) -> Callable[..., Any]:
    module, _, path = one.of.partition(":")
    try:
        found: Any = reduce(getattr, path.split("."), load_module(module, folder))  # type: ignore[arg-type]
    except ImportError as problem:
        raise ValueError(f"{problem}; put {module}.py beside the study file, or install it") from None
    except AttributeError:
        raise ValueError(f"module '{module}' has no '{path}'; check its name") from None
    except Exception as problem:
        raise ValueError(f"{module}.py cannot be imported: {type(problem).__name__}: {problem}") from None
    if not callable(found):
        raise ValueError(f"'{path}' of module '{module}' is no function")
    return found  # type: ignore[no-any-return]


def _check_options(function: Callable[..., Any], one: Measured) -> None:
    """Whether the function can be called with one thing and the options."""
    try:
        inspect.signature(function).bind(None, **one.options)
    except TypeError as problem:
        given = ", ".join([one.gets, *one.options])
        raise ValueError(f"cannot be called with ({given}): {problem}; mend with = {{...}} or the function") from None


def _number(value: Any) -> float:
    array = np.asarray(value)
    if array.ndim or array.dtype.kind not in "biuf":
        raise ValueError(f"it gave {type(value).__name__}, not a number")
    number = float(array)
    if math.isinf(number):
        raise ValueError("it is infinite")
    return number


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
