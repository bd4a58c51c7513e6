"""Any measurement over time: as an observer of a run, or over the frames of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..simulation.tally import INTERRUPTED
from ..simulation.triggers import OBSERVERS, Observer
from .blocking import Blocking, blocking
from .state import Frame, TooFew, of

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation

Function = Callable[[Frame], Any]


class Measure(Observer):
    """Records what functions of a frame return: numbers, arrays, or dataclasses of them.

    >>> record = Measure(coordination, stress, top=lambda frame: frame.position[:, 1].max())
    >>> simulation.observe(record, every=100)
    >>> record["time"], record["top"], record["coordination.z"], record["stress.contact"], record["stress.pressure"]

    A function is a column by its own name or by the keyword; each field of a dataclass is a column of its own, and what
    it makes of them, the pressure of a stress for instance, can be asked for by name.
    A function may have a memory, as ContactLifetimes has: what its method `state()` gives is kept for `restore()`.
    A row is nan where there are too few grains for a function (TooFew), and in columns of what came later: kinds of
    grains that flow in.
    A resumed run goes on with the rows it had. Use one Measure for all columns of a run: a checkpoint keeps one.
    """

    def __init__(self, *functions: Function, **named: Function) -> None:
        self.functions: dict[str, Function] = {}
        for name, function in [*((_name(function), function) for function in functions), *named.items()]:
            if name in self.functions or name in ("step", "time"):
                raise ValueError(f"there are two columns {name!r}; give one of them another name: Measure(other=...)")
            self.functions[name] = function
        self._columns: dict[str, list[NDArray[Any]]] = {}
        self._kinds: dict[str, type] = {}

    def look(self, simulation: Simulation) -> None:
        self.add(of(simulation))

    def finish(self, simulation: Simulation) -> None:
        """The last step is always recorded, unless it is only an interruption: a run that goes on has no such row.

        After a step that failed the one before has lost its contacts: they would seem to have ended.
        """
        if simulation.tally.stopped == INTERRUPTED or not simulation.whole:
            return
        if simulation.steps and (not len(self) or self._columns["step"][-1] != simulation.steps):
            self.look(simulation)

    def add(self, frame: Frame) -> None:
        """Record one more frame."""
        row = {"step": np.asarray(frame.step), "time": np.asarray(frame.time)}
        for name, function in self.functions.items():
            with suppress(TooFew):
                row |= _flat(name, function(frame), self._kinds)
        before = len(self)
        for name in [*self._columns, *(name for name in row if name not in self._columns)]:
            rows = self._columns.setdefault(name, [_nan(row[name]) for _ in range(before)] if before else [])
            rows.append(row[name] if name in row else _nan(rows[-1]))

    @property
    def names(self) -> list[str]:
        """Columns so far."""
        return list(self._columns)

    def __len__(self) -> int:
        """Number of rows."""
        return len(self._columns.get("step", []))

    def __getitem__(self, name: str) -> NDArray[Any]:
        """(rows, ...) one column; rows must be of one shape. What a dataclass makes of its fields is one too."""
        owner, _, derived = name.rpartition(".")
        kind = self._kinds.get(owner)
        if name not in self._columns and isinstance(getattr(kind, derived, None), property):
            assert kind is not None
            columns = [self._columns[f"{owner}.{field.name}"] for field in fields(kind)]
            return np.array([getattr(kind(*row), derived) for row in zip(*columns)])
        if len(self) and (function := name.split(".")[0]) in self.functions and not self._has(function):
            return np.full(len(self), np.nan)  # there have been too few grains all the time
        if name not in self._columns:
            raise KeyError(f"no column is called {name!r}; there are {', '.join(self._columns) or 'none yet'}")
        return np.array(self._columns[name])

    def _has(self, function: str) -> bool:
        """Whether a function has given anything yet."""
        return any(name == function or name.startswith(f"{function}.") for name in self._columns)

    def _repr_html_(self) -> str:
        from ..view.notebook_more import record_html

        return record_html("Measurements", {name: _column(column) for name, column in self._columns.items()})

    def blocking(self, name: str) -> Blocking:
        """Mean and error of a column of numbers."""
        return blocking(self[name])

    def state(self) -> dict[str, Any]:
        columns = {name: [_pack(value) for value in column] for name, column in self._columns.items()}
        memory = {name: function.state() for name, function in self.functions.items() if hasattr(function, "state")}
        return {"functions": list(self.functions), "columns": columns, "memory": memory}

    def restore(self, state: dict[str, Any]) -> None:
        if state["functions"] != list(self.functions):
            kept, here = ", ".join(state["functions"]), ", ".join(self.functions)
            raise ValueError(f"the checkpoint has a Measure of {kept}, not of {here}; observe with the same functions")
        for name, kept in state.get("memory", {}).items():
            self.functions[name].restore(kept)  # type: ignore[attr-defined]
        self._columns = {name: [_unpack(value) for value in column] for name, column in state["columns"].items()}


def _column(rows: list[Any]) -> NDArray[Any]:
    """Rows of one shape; without any where shapes differ, as those of arrays over grains that come and go."""
    return np.array(rows) if len({np.shape(row) for row in rows}) <= 1 else np.zeros((len(rows), 0))


OBSERVERS.register("Measure", Measure)


def over(frames: Iterable[Frame], *functions: Function, **named: Function) -> Measure:
    """The same over the frames of a Trajectory, or over some of them.

    >>> over(trajectory[::10], stress)["stress.contact"]
    """
    record = Measure(*functions, **named)
    for frame in frames:
        record.add(frame)
    return record


def _nan(like: NDArray[Any]) -> NDArray[Any]:
    """A value that is none."""
    return np.full(like.shape, np.nan)


def _name(function: Function) -> str:
    name = str(getattr(function, "__name__", "<"))
    if name.startswith("<"):
        raise ValueError("a function without a name needs a keyword: Measure(top=lambda frame: ...)")
    return name


def _flat(name: str, value: Any, kinds: dict[str, type]) -> dict[str, NDArray[Any]]:
    """Columns of a value: itself, the entries of a dictionary, or the fields of a dataclass, whose kind is noted."""
    if isinstance(value, dict):
        named: dict[str, NDArray[Any]] = {}
        for key, part in value.items():
            named |= _flat(f"{name}.{key}", part, kinds)
        return named
    if is_dataclass(value):
        kinds[name] = type(value)
        parts: dict[str, NDArray[Any]] = {}
        for field in fields(value):
            parts |= _flat(f"{name}.{field.name}", getattr(value, field.name), kinds)
        return parts
    array = np.array(value)
    if array.dtype.kind not in "bif":
        raise TypeError(f"{name} gave {type(value).__name__}; give a number, an array or a dataclass of them")
    return {name: array}


def _pack(value: NDArray[Any]) -> Any:
    """As plain numbers, exact."""
    if value.ndim == 0:
        return value.item()
    return {"dtype": value.dtype.str, "shape": list(value.shape), "data": value.ravel().tolist()}


def _unpack(kept: Any) -> NDArray[Any]:
    if isinstance(kept, dict):
        return np.array(kept["data"], dtype=kept["dtype"]).reshape(kept["shape"])
    return np.asarray(kept)
