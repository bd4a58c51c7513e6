"""Scalars: numbers of the user, one for each grain under each name, that take no part in the motion."""

from __future__ import annotations

import re
from collections.abc import Iterator, MutableMapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .arrays import PER_GRAIN

if TYPE_CHECKING:
    from .bodies import Bodies

Array = NDArray[np.float64]

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
LONGEST = 40  # letters of a name
# What frames, exports and colours call other things.
TAKEN = {
    *PER_GRAIN, "Points", "x", "y", "z", "vx", "vy", "vz", "qw", "qx", "qy", "qz", "type", "diameter", "angle",
    "density", "speed", "peculiar", "rotation", "contacts", "status", "time", "step", "vtkGhostType",
}  # fmt: skip


def check_name(name: Any) -> None:
    """Raise ValueError unless a scalar may have this name."""
    if not isinstance(name, str) or not NAME.fullmatch(name) or len(name) > LONGEST:
        raise ValueError(f"{name!r} is no name of a scalar; take up to {LONGEST} letters, digits and _, a letter first")
    if name in TAKEN:
        raise ValueError(f"{name!r} is what grains call something else; take another name, 'my_{name}' for instance")


class Scalars(MutableMapping[str, Array]):
    """The scalars of all grains by name: a view (n,) of each, in the order of `bodies.position`.

    >>> simulation.scalars["dye"] = simulation.bodies.position[:, 0] > 0.05
    >>> simulation.scalars["dye"][simulation.bodies.groups["rain"]] = 2.0

    NaN stands for no value, as grains have it that come in through an inflow that says nothing.
    """

    def __init__(self, bodies: Bodies) -> None:
        self._bodies = bodies

    def __getitem__(self, name: str) -> Array:
        names = self._bodies.scalar_names
        if name not in names:
            near = get_close_matches(str(name), names, n=1, cutoff=0.6)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise KeyError(f"no scalar is called {name!r}; {hint}there are {', '.join(names) or 'none'}")
        return np.asarray(self._bodies.scalars[:, names.index(name)])

    def __setitem__(self, name: str, values: Any) -> None:
        bodies = self._bodies
        if name not in bodies.scalar_names:
            check_name(name)
        try:
            column = np.array(np.broadcast_to(np.asarray(values, dtype=float), (bodies.count,)))
        except (TypeError, ValueError):
            given = f"an array {np.shape(values)}" if np.ndim(values) else repr(values)
            message = f"scalar {name!r} is {given}; give a number for each of the {bodies.count} grains, or one for all"
            raise ValueError(message) from None
        if np.isinf(column).any():
            row = int(np.argmax(np.isinf(column)))
            raise ValueError(f"scalar {name!r} is {column[row]} in row {row}; give finite numbers, or NaN for no value")
        if name not in bodies.scalar_names:
            bodies.scalars = np.column_stack([bodies.scalars.reshape(bodies.count, -1), column])
            bodies.scalar_names = [*bodies.scalar_names, name]
        else:
            bodies.scalars[:, bodies.scalar_names.index(name)] = column

    def __delitem__(self, name: str) -> None:
        raise TypeError(f"scalar {name!r} is in files already; set it to NaN, which stands for no value")

    def __iter__(self) -> Iterator[str]:
        return iter(self._bodies.scalar_names)

    def __len__(self) -> int:
        return len(self._bodies.scalar_names)

    def __repr__(self) -> str:
        return f"Scalars({', '.join(self)})"
