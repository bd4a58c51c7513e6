"""Forces of the user's own: functions of where grains are, how fast they move, and time, asked in every step."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..runtime.arguments import is_number
from .columns import L

if TYPE_CHECKING:
    from .bodies import Bodies

Array = NDArray[np.float64]
F = TypeVar("F", bound=Callable[..., Any])

ARGUMENTS = (
    "position", "velocity", "spin", "orientation", "radius", "mass", "material", "id", "time", "dt",
)  # fmt: skip
ASKED = 1e-4  # s, length of a step that a force is asked with before the first: none has been chosen yet
FORCES: dict[str, Callable[..., Any]] = {}  # by the names under which files know them


def force(function: F) -> F:
    """Register a force under its name, so that a run with it is resumed without being told of it again.

    >>> @rg.force
    ... def drag(velocity, radius):
    ...     return -0.01 * radius[:, None] * velocity
    """
    if not callable(function):
        raise TypeError(f"{function!r} is no function; write @rg.force above one")
    name, there = function_name(function), FORCES.get(function_name(function))
    if there is not None and (there.__module__, getattr(there, "__qualname__", "")) != (
        function.__module__, getattr(function, "__qualname__", ""),
    ):  # fmt: skip
        raise ValueError(f"there is a force '{name}' already, {there!r}; give the function another name")
    FORCES[name] = function
    return function


def function_name(function: Any) -> str:
    """Name of a function, or of the class of what is called like one."""
    return str(getattr(function, "__name__", type(function).__name__))


@dataclass
class UserForce:
    """A function that returns forces (N), or forces and torques (N m), on the grains of a group, or on all.

    timescale : s, in which the force on a grain changes; None if nothing is said
    """

    name: str
    function: Callable[..., Any] | None
    group: str | None = None
    timescale: float | None = None
    _wanted: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise TypeError(f"name = {self.name!r} of a force is none; give a text that is not empty")
        if self.timescale is not None and not (is_number(self.timescale) and 0.0 < self.timescale < math.inf):
            raise ValueError(f"force '{self.name}': timescale = {self.timescale!r} is no time; give seconds, or none")
        if self.function is not None:
            self._wanted = tuple(_arguments(self.function, self.name))

    def take(self, function: Callable[..., Any]) -> None:
        """The function, which no file keeps."""
        self.function = function
        self.__post_init__()

    def on(self, bodies: Bodies, time: float, dt: float) -> tuple[slice, Array, Array | None]:
        """Rows of the grains, forces (m, 3) N and torques (m, 3) N m, if there are any, at the beginning of a step."""
        assert self.function is not None
        rows = slice(0, bodies.count) if self.group is None else bodies.groups[self.group]
        try:
            given = self.function(**{name: _argument(name, bodies, rows, time, dt) for name in self._wanted})
        except Exception as problem:
            raise ValueError(f"force '{self.name}' failed at t = {time:g} s: {problem!r}") from problem
        pair = given if isinstance(given, tuple) else (given, None)
        if len(pair) != 2:
            raise ValueError(f"force '{self.name}' gave {len(pair)} things; return forces, or (forces, torques)")
        number = rows.stop - rows.start
        pushed = _in_space(pair[0], number, bodies.dimension, f"forces of '{self.name}'")
        twisted = None if pair[1] is None else _torques(pair[1], number, bodies.dimension, f"torques of '{self.name}'")
        return rows, pushed, twisted

    def words(self) -> dict[str, Any]:
        """As plain words and numbers; the function by its name."""
        return {"name": self.name, "group": self.group, "timescale": self.timescale}

    @classmethod
    def from_words(cls, words: dict[str, Any]) -> UserForce:
        """With the function that is registered under the name, if there is one."""
        return cls(words["name"], FORCES.get(words["name"]), words["group"], words["timescale"])


def add_user_force(bodies: Bodies, one: UserForce, time: float = 0.0, dt: float = ASKED) -> None:
    """Let a force act, from the next step on; it is asked once at once, so that mistakes are told here.

    time, dt : s, with which it is asked
    """
    if one.function is None:
        raise TypeError(f"force '{one.name}' is no function; give one of {', '.join(ARGUMENTS)}, as many as it needs")
    if any(one.name == other.name for other in bodies.user_forces):
        raise ValueError(f"there is a force '{one.name}' already; give this one another name")
    if one.group is not None and one.group not in bodies.groups:
        raise ValueError(
            f"force '{one.name}': no group of grains is called {one.group!r}; known are {', '.join(bodies.groups)}"
        )
    bodies.user_forces.append(one)
    try:
        _ask(bodies, time, dt)
    except ValueError:
        bodies.user_forces.pop()
        raise


def set_user_forces(bodies: Bodies, time: float, dt: float) -> None:
    """The forces of a step, from where grains are and how they move as it begins, at the time in its middle."""
    for one in bodies.user_forces:
        if one.timescale is not None and dt > one.timescale:
            told = f"force '{one.name}' changes within {one.timescale:g} s, less than a step of {dt:g} s"
            raise ValueError(f"{told}; use a dt below, or dt = 'auto'")
    if bodies.user_forces:
        _ask(bodies, time, dt)


def _ask(bodies: Bodies, time: float, dt: float) -> None:
    """All functions for the forces of a step from this time on."""
    forces, torques = np.zeros((bodies.count, 3)), np.zeros((bodies.count, 3))
    for one in bodies.user_forces:
        rows, pushed, twisted = one.on(bodies, time + 0.5 * dt, dt)
        forces[rows] += pushed
        if twisted is not None:
            torques[rows] += twisted
    bodies.user_force, bodies.user_torque = forces, torques


def _arguments(function: Callable[..., Any], name: str) -> list[str]:
    """Names of the arguments that a function asks for."""
    if not callable(function):
        raise TypeError(f"force {name!r} is no function; give one of {', '.join(ARGUMENTS)}, as many as it needs")
    try:
        parameters = inspect.signature(getattr(function, "py_func", function)).parameters.values()
    except (TypeError, ValueError):
        raise TypeError(
            f"force '{name}': its arguments cannot be seen; wrap it in a function that names them"
        ) from None
    wanted = []
    for one in parameters:
        if one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL):
            continue
        if one.name in ARGUMENTS and one.kind is not one.POSITIONAL_ONLY:
            wanted.append(one.name)
        elif one.default is one.empty:
            known = ", ".join(ARGUMENTS)
            raise TypeError(f"force '{name}' asks for '{one.name}', which is not known; known are {known}")
    return wanted


def _argument(name: str, bodies: Bodies, rows: slice, time: float, dt: float) -> Any:
    """Not to be written to: a force changes nothing but what it returns."""
    if name in ("time", "dt"):
        return time if name == "time" else dt
    array = bodies.spin[rows] if name == "spin" else _velocity(bodies)[rows] if name == "velocity" else None
    view: NDArray[Any] = getattr(bodies, name)[rows].view() if array is None else array.view()
    view.flags.writeable = False
    return view


def _velocity(bodies: Bodies) -> Array:
    """(n, 3) m/s, with the flow of a cell that deforms."""
    if bodies.cell is None or not bodies.flows:
        return np.ascontiguousarray(bodies.velocity)
    return np.asarray(bodies.velocity + (bodies.position - bodies.cell.origin) @ bodies.flow[:, L].T)


def _in_space(given: Any, number: int, dimension: int, what: str) -> Array:
    """(m, 3) from (m, dimension) or (m, 3)."""
    array = _real(given)
    if array is None or array.ndim != 2 or len(array) != number or array.shape[1] not in (dimension, 3):
        raise ValueError(f"{what} are {_told(given)}; return one of ({number}, {dimension}), a row for each grain")
    out = np.zeros((number, 3))
    out[:, : array.shape[1]] = array
    if dimension == 2:
        out[:, 2] = 0.0
    return _finite(out, what)


def _torques(given: Any, number: int, dimension: int, what: str) -> Array:
    """(m, 3) from (m,) in 2D, about z, or (m, 3)."""
    array = _real(given)
    if array is not None and dimension == 2 and array.shape == (number,):
        array = np.column_stack([np.zeros((number, 2)), array])
    if array is None or array.shape != (number, 3):
        wanted = f"({number},)" if dimension == 2 else f"({number}, 3)"
        raise ValueError(f"{what} are {_told(given)}; return one of {wanted}, a row for each grain")
    return _finite(array * ([0.0, 0.0, 1.0] if dimension == 2 else 1.0), what)


def _real(given: Any) -> Array | None:
    """An array of numbers; None of what is not one."""
    try:
        return None if np.iscomplexobj(given) else np.asarray(given, float)
    except (TypeError, ValueError):
        return None


def _told(given: Any) -> str:
    """What was returned, for people."""
    try:
        shape = np.shape(given)
    except ValueError:
        return "rows of different lengths"
    kind = "complex numbers" if np.iscomplexobj(given) else "an array"
    return f"{kind} {shape}" if shape else repr(given)


def _finite(array: Array, what: str) -> Array:
    bad = ~np.isfinite(array).all(axis=1)
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"{what} are not finite, {array[row].tolist()} in row {row}")
    return array
