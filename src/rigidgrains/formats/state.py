"""A state of grains read from a file: what a simulation can start from."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..model.cell import Cell
from ..model.columns import Z
from ..model.given import GivenForces
from ..runtime.arguments import is_number
from ..shapes.catalogue import Catalogue
from .box import read_cell
from .errors import FormatError, FrameError
from .table import to_read

Array = NDArray[np.float64]
T = TypeVar("T")
Which = int | Literal["last"]
Box = tuple[Any, Any, Iterable[bool]]  # vectors, origin and periodic directions of a cell

FARTHEST = 1e100
POSITIVE = ("radius", "diameter", "mass")
# Arrays of a State with a row for each grain.
ROWS = ("position", "radius", "velocity", "spin", "mass", "ids", "shape", "orientation", "group", "material")


@dataclass(frozen=True)
class Given:
    """What is said besides a file: radius (m) of grains that have none there; periodic directions of its box."""

    radius: float | None = None
    periodic: str = ""


@dataclass(frozen=True)
class State:
    """Grains in the order of their ids, or as written where there are none. What the file does not know is None.

    position : (n, 3) m; radius : (n,) m
    velocity : (n, 3) m/s; spin : (n, 3) rad/s; mass : (n,) kg; ids : (n,)
    dimension : 2 or 3, as the file says; else 2 if all z are equal and nothing moves along z
    frame : number of the frame in its file
    gravity : (3,) m/s^2; dt : s, of the run that made the state
    cell : the periodic cell
    catalogue : shapes of grains that are not round; then `shape` (n,) are their numbers, and `orientation` (n,) rad or
                (n, 4) unit quaternions; None where all are round
    scalars : (n,) numbers of the user by name
    group : (n,) number of each grain's group in `groups`, -1 of none; only of trajectories
    material : (n,) row of each grain in `friction` (k, k), whose rows have the names `materials`; only of trajectories
    forces : of contacts, by the ids of the file
    """

    position: Array
    radius: Array
    dimension: int
    frame: int = 0
    velocity: Array | None = None
    spin: Array | None = None
    mass: Array | None = None
    ids: NDArray[np.int64] | None = None
    gravity: Array | None = None
    dt: float | None = None
    cell: Cell | None = None
    catalogue: Catalogue | None = None
    shape: NDArray[np.int32] | None = None
    orientation: Array | None = None
    scalars: dict[str, Array] = field(default_factory=dict)
    groups: tuple[str, ...] = ()
    group: NDArray[np.int32] | None = None
    materials: tuple[str, ...] = ()
    material: NDArray[np.int32] | None = None
    friction: Array | None = None
    forces: GivenForces | None = None

    def of_group(self, name: str) -> State:
        """The grains of one group alone; KeyError if there is none of that name."""
        if self.group is None or name not in self.groups:
            raise KeyError(name)
        some = self.group == self.groups.index(name)
        rows = {one: array[some] for one in ROWS if (array := getattr(self, one)) is not None}
        return replace(self, **rows, scalars={one: values[some] for one, values in self.scalars.items()})

    @property
    def material_names(self) -> list[str | None]:
        """Of the materials that grains are of; None stands for one that the file does not know."""
        return [None] if self.material is None else [self.materials[k] for k in np.unique(self.material)]

    @property
    def bound(self) -> Array:
        """(n,) m, radius of the sphere about the centre that holds each grain."""
        return self.radius if self.catalogue is None else self.radius * self.catalogue.bound[self.shape]

    @property
    def flat(self) -> bool:
        """All z are equal and nothing moves along z."""
        return is_flat(self.position, self.velocity)


def read_state(path: str | Path, frame: Which = "last", *, radius: float | None = None, periodic: str = "") -> State:
    """The grains of one frame of a file: a LAMMPS dump or data file, extended XYZ, CSV, GSD, or a trajectory.

    radius   : m, of all grains, where the file tells none
    periodic : directions along which the box of a LAMMPS data file is periodic, "xy" for instance

    >>> read_state("settled.dump").position
    """
    path = Path(path)
    state: State = to_read(path).room.read(path, frame, Given(radius, periodic))
    return state


def make_state(
    path: Path,
    columns: Mapping[str, NDArray[Any]],
    *,
    frame: int = 0,
    dimension: int | None = None,
    where: Callable[[int], str] = "grain {}".format,
    box: Box | None = None,
    given: Given | None = None,
    **more: Any,
) -> State:
    """A state from columns x, y, z, radius or diameter, vx ..., spin_x ..., mass, id; `where` names a bad row.

    box : what the file says about periodic directions
    """
    for name in ("x", "y"):
        if name not in columns:
            if f"{name}s" in columns:
                raise FormatError(path, "has scaled coordinates xs, ys, zs, and no box; write x y z instead")
            raise FormatError(path, f"has no column {name}; columns x, y, z and radius are needed")
    has, radius = "radius" in columns or "diameter" in columns, None if given is None else given.radius
    if not has and radius is None:
        raise FormatError(path, "has no column radius or diameter; give a radius for all grains (radius, --radius)")
    if has and radius is not None:
        raise FormatError(path, "has radii of its own; leave out the radius (radius, --radius)")
    if radius is not None:
        if not (is_number(radius) and 0.0 < radius <= FARTHEST):
            raise FormatError(path, f"radius = {radius!r} of all grains is none; give a positive number of metres")
        columns = {**columns, "radius": np.full(len(columns["x"]), radius)}
    if not len(columns["x"]):
        raise FormatError(path, f"frame {frame} has no grains; choose another")
    for name, column in columns.items():
        bad = ~(np.abs(column.astype(float)) <= FARTHEST)
        if name in POSITIVE:
            bad |= ~(column > 0.0)
        if bad.any():
            row = int(np.argmax(bad))
            wanted = "greater than zero" if name in POSITIVE else "a finite number"
            raise FormatError(path, f"{where(row)}: {name} = {column[row]:g}, and must be {wanted}")
    position, velocity = _vectors(columns, "x", "y", "z"), _vectors(columns, "vx", "vy", "vz")
    assert position is not None
    ids = columns["id"].astype(np.int64) if "id" in columns else None
    if dimension is None:
        dimension = 2 if is_flat(position, velocity) else 3
    state = State(
        position,
        np.ascontiguousarray(columns["radius"] if "radius" in columns else 0.5 * columns["diameter"], dtype=float),
        dimension,
        frame,
        velocity,
        _vectors(columns, "spin_x", "spin_y", "spin_z"),
        np.ascontiguousarray(columns["mass"], dtype=float) if "mass" in columns else None,
        ids,
        cell=None if box is None else read_cell(*box, dimension),
        **more,
    )
    return state if ids is None else _sorted(path, state, ids)


def single(path: Path, which: Which) -> None:
    """Refuse another frame than the first of a file that has one."""
    if which not in ("last", 0, -1):
        raise FrameError(path, which, 1)


def is_flat(position: Array, velocity: Array | None) -> bool:
    """All z are equal and nothing moves along z."""
    return not np.ptp(position[:, Z]) and (velocity is None or not velocity[:, Z].any())


def pick(frames: Iterable[T], which: Which, path: Path) -> tuple[int, T]:
    """Number and content of one of the frames, which are read no further than needed."""
    wanted, count = -1 if which == "last" else which, 0
    if wanted < 0:
        kept = deque(enumerate(frames), maxlen=-wanted)
        if len(kept) == -wanted:
            return kept[0]
        count = len(kept)
    else:
        for index, content in enumerate(frames):
            if index == wanted:
                return index, content
            count = index + 1
    raise FrameError(path, which, count)


def _vectors(columns: Mapping[str, NDArray[Any]], *names: str) -> Array | None:
    """(n, 3) from columns, absent ones are 0; None without any."""
    if not any(name in columns for name in names):
        return None
    out = np.zeros((len(columns["x"]), 3))
    for k, name in enumerate(names):
        if name in columns:
            out[:, k] = columns[name]
    return out


def _sorted(path: Path, state: State, ids: NDArray[np.int64]) -> State:
    order = np.argsort(ids, kind="stable")
    twice = np.flatnonzero(np.diff(ids[order]) == 0)
    if len(twice):
        raise FormatError(path, f"id {ids[order][twice[0]]} is given to two grains; ids must differ")
    rows = {name: array[order] for name in ROWS if (array := getattr(state, name)) is not None}
    return replace(state, **rows, scalars={name: values[order] for name, values in state.scalars.items()})
