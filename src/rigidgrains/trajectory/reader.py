"""Reads a trajectory lazily: opening costs nothing, a frame is read when it is asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial, wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar, overload

import numpy as np
from h5py import h5d
from numpy.typing import NDArray

from ..model.arrays import grains_in_frames
from . import checksums, store, verify
from .checksums import Sums, read_history
from .errors import TrajectoryError, reading
from .frame import Contacts, Frame
from .series import Cloud, Series, read_whole
from .texts import get_text

Array = NDArray[Any]
AXES = {3: "component", 4: "quaternion"}  # of vectors and orientations
P = ParamSpec("P")
T = TypeVar("T")


def guarded(method: Callable[Concatenate[Trajectory, P], T]) -> Callable[Concatenate[Trajectory, P], T]:
    """A method that reads the file: what goes wrong there is told as damage of the file."""

    @wraps(method)
    def read(self: Trajectory, *words: P.args, **named: P.kwargs) -> T:
        if not self._file:
            raise TrajectoryError(f"{self.path} is closed; refresh() opens it again")
        with reading(self.path):
            return method(self, *words, **named)

    return read


class Trajectory:
    """A file of frames: `len`, indexing, slices, iteration; also while a run is still writing it.

    >>> trajectory = Trajectory("piston.vtkhdf")
    >>> trajectory[-1].position            # numpy array (n, 3)
    >>> for frame in trajectory[::10]: ...
    >>> trajectory.at(0.2)                 # the frame closest to t = 0.2 s
    >>> trajectory.history["kinetic_energy"]

    verify : False reads also what does not match its checksum
    own    : this process has just written the file, which need not be searched for links to others
    """

    def __init__(self, path: str | Path, *, verify: bool = True, own: bool = False) -> None:
        self.path = Path(path)
        self._verify, self._own = verify, own
        self._open()

    def _open(self) -> None:
        file = store.open_to_read(self.path, own=self._own)
        try:
            with reading(self.path):
                count = Series(file["VTKHDF"]).steps
                fields = file["VTKHDF/FieldData"]
                columns = {name: h5d.open(fields.id, name.encode()) for name in fields}
                numbers = [name for name, column in columns.items() if len(column.shape) == 1]
                figures = {name: read_whole(fields, name)[:count] for name in numbers}
                sums = Sums(file)
                if self._verify:
                    sums.check_figures(figures)
                contacts = Series(file["contacts"]) if "contacts" in file else None
        except BaseException:
            file.close()
            raise
        self._file, self._count, self._figures, self._sums, self._contacts = file, count, figures, sums, contacts

    def refresh(self) -> Trajectory:
        """See the frames that were written since the file was opened; after an error it is as it was."""
        before = self._file
        self._open()
        before.close()
        return self

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Trajectory:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __len__(self) -> int:
        """Number of frames."""
        return self._count

    @overload
    def __getitem__(self, which: int) -> Frame: ...

    @overload
    def __getitem__(self, which: slice) -> list[Frame]: ...

    def __getitem__(self, which: int | slice) -> Frame | list[Frame]:
        if isinstance(which, slice):
            return [self._frame(index) for index in range(*which.indices(self._count))]
        index = which + self._count if which < 0 else which
        if not 0 <= index < self._count:
            raise TrajectoryError(
                f"{self.path}: there is no frame {which}; it has {self._count}, 0 to {self._count - 1} (-1 is the last)"
            )
        return self._frame(index)

    def __iter__(self) -> Iterator[Frame]:
        return (self._frame(index) for index in range(self._count))

    def __repr__(self) -> str:
        return f"Trajectory({str(self.path)!r}: {len(self)} frames, t = {self.times[0]:g} to {self.times[-1]:g} s)"

    def show(self, *, every: int | None = None, height: int = 520, megabytes: float = 4.0) -> Any:
        """In a notebook: the page of this trajectory, to turn, play and pick grains in; kept in a saved notebook.

        every     : take every so many frames, whatever their size; default: as many as there is room for, at most 120
        height    : pixels
        megabytes : of the view at most
        """
        from ..view.notebook import show_trajectory

        return show_trajectory(self, every=every, height=height, megabytes=megabytes)

    def _repr_html_(self) -> str:
        from ..view.notebook import trajectory_html

        return trajectory_html(self)

    @property
    @guarded
    def dimension(self) -> int:
        return verify.dimension(self._file.attrs["dimension"])

    @property
    @guarded
    def seed(self) -> int:
        return int(self._file.attrs["seed"])

    @property
    @guarded
    def version(self) -> str:
        """Version of rigidgrains that wrote the file."""
        return str(self._file.attrs["version"])

    @property
    @guarded
    def scene(self) -> str:
        """Text of the scene, in TOML; empty if it was made in Python."""
        return get_text(self._file["texts"], "scene")

    @property
    @guarded
    def run(self) -> dict[str, Any]:
        """How the run was asked for."""
        return dict(json.loads(get_text(self._file["texts"], "run") or "{}"))

    @property
    @guarded
    def report(self) -> dict[str, Any]:
        """Report of the run when it last ended; empty if it was killed."""
        return dict(json.loads(get_text(self._file["texts"], "report") or "{}"))

    @property
    def has_contacts(self) -> bool:
        return self._contacts is not None

    @property
    def times(self) -> Array:
        """(frames,) s"""
        return self.figures("time")

    @property
    def steps(self) -> NDArray[np.int64]:
        """(frames,) number of the step after which each frame was taken"""
        return self.figures("step").astype(np.int64)

    @property
    def names(self) -> list[str]:
        """Figures that every frame has."""
        return list(self._figures)

    def figures(self, name: str) -> Array:
        """(frames,) one figure of all frames, "kinetic_energy" for instance."""
        if name not in self._figures:
            raise TrajectoryError(f"{self.path}: no figure is called {name!r}; there are {', '.join(self._figures)}")
        return self._figures[name].copy()

    @property
    @guarded
    def history(self) -> dict[str, Array]:
        """Columns of the history, recorded more often than frames; without one, the figures of the frames."""
        columns = read_history(self._file["history"])
        if len(columns.get("step", ())):
            return columns
        return {name: self.figures(name) for name in self._figures}

    @property
    @guarded
    def wall_names(self) -> list[str]:
        """Names of the walls of the scene, also of those that are not there all the time."""
        told = self._file["history/wall_force"].attrs.get("walls") if "history/wall_force" in self._file else None
        return [wall.name for wall in self[-1].walls] if told is None else list(json.loads(told))

    @property
    def wall_force(self) -> Array:
        """(frames, walls, 3) N, force of the grains on each wall of the scene; zero for those that are not there."""
        names, out = self.wall_names, np.zeros((len(self), len(self.wall_names), 3))
        for k, frame in enumerate(self):
            out[k, [names.index(wall.name) for wall in frame.walls]] = frame.wall_force
        return out

    @property
    @guarded
    def step_sizes(self) -> Array:
        """(k,) s, the length of every step up to the last checkpoint of a run with dt = "auto"; empty otherwise."""
        group = self._file["checkpoint"]
        return np.array(group["step_sizes"]) if "step_sizes" in group else np.zeros(0)

    def at(self, time: float) -> Frame:
        """The frame closest to a time (s)."""
        return self[int(np.argmin(np.abs(self.times - time)))]

    def array(self, name: str, frames: slice = slice(None)) -> Array:
        """(frames, n, ...) one array of several frames, "position" or "velocity" for instance."""
        rows = [self._named(frame, name) for frame in self[frames]]
        if len({len(row) for row in rows}) > 1:
            raise TrajectoryError(f"{self.path}: {name} has not the same length in all frames; read them one by one")
        return np.array(rows)

    def to_xarray(self) -> Any:
        """All grains and figures as an xarray.Dataset with dimensions frame, grain and component; needs xarray."""
        try:
            import xarray
        except ImportError:
            raise ImportError("to_xarray needs xarray; pip install 'rigidgrains[formats]'") from None
        variables: dict[str, Any] = {}
        for name, column in grains_in_frames().items():
            if not column.exported or name == "id" or self[0].column(name) is None:
                continue
            rows = self.array(name)
            inner = ("grain", *(AXES.get(size, f"{name}_component") for size in rows.shape[2:]))
            once = column.frames == "once" and bool((rows == rows[0]).all())
            variables[name] = (inner, rows[0]) if once else (("frame", *inner), rows)
        for name in self[0].names.scalars:
            variables[name] = (("frame", "grain"), self.array(name))
        variables |= {name: (("frame",), self.figures(name)) for name in self._figures if name != "time"}
        coordinates = {"time": (("frame",), self.times), "grain": self[0].id, "component": ["x", "y", "z"]}
        return xarray.Dataset(variables, coordinates, attrs={"seed": self.seed, "version": self.version})

    def _named(self, frame: Frame, name: str) -> Array:
        array = getattr(frame, name, None)
        array = frame.column(name) if array is None else array
        if array is None:
            raise TrajectoryError(f"{self.path}: no array of frame {frame.index} is called {name!r}; see docs of Frame")
        return np.asarray(array)

    @guarded
    def clouds(self, index: int) -> dict[str, Cloud]:
        """All arrays of a frame by the groups of the file, as they were written; what does not match is damage."""
        groups = {name: Series(self._file[name]) for name in ("VTKHDF", "contacts") if name in self._file}
        found = {name: series.cloud(index) for name, series in groups.items()}
        if self._verify and checksums.of_frame(self._file, found) != int(self._file[checksums.FRAMES][index]):
            raise checksums.Mismatch(f"frame {index} is not what was written (checksum)")
        return found

    @guarded
    def text(self, name: str) -> str:
        """A text that is kept in the file, by its name; empty if there is none."""
        return get_text(self._file["texts"], name)

    @guarded
    def _frame(self, index: int) -> Frame:
        figures = {name: float(column[index]) for name, column in self._figures.items()}
        walls = get_text(self._file["walls"], str(int(figures["wall_table"])))
        contacts = Contacts(_no_contacts, 0)
        if self._contacts is not None:
            count = int(self._contacts.group["NumberOfPoints"][index])
            contacts = Contacts(partial(self._read, "contacts", index), count)
        read = partial(self._read, "VTKHDF", index)
        shapes = partial(get_text, self._file["texts"], "shapes")
        species = partial(get_text, self._file["texts"], "species")
        return Frame(
            index, self.dimension, read, figures, contacts, walls, partial(reading, self.path), shapes, species
        )  # fmt: skip

    def _read(self, group: str, index: int, path: str) -> Array:
        """An array of a frame; KeyError if it has none of that name. Whoever meets the writer within a commit looks
        again."""
        try:
            return self._array(group, index, path)
        except TrajectoryError:
            if not self._file:
                raise
            self.refresh()
        return self._array(group, index, path)

    def _array(self, group: str, index: int, path: str) -> Array:
        name = f"{group}/{path}"
        if not self._has(group, path) and name not in self._sums:
            raise KeyError(path)
        return self._verified(group, index, path)

    @guarded
    def _has(self, group: str, path: str) -> bool:
        return path in self._file[group]

    @guarded
    def _verified(self, group: str, index: int, path: str) -> Array:
        array, name = Series(self._file[group]).read(path, index), f"{group}/{path}"
        if self._verify:
            self._sums.check(name, index, array)
            verify.values(self._file, name, index, array)
        verify.shape(self._file, name, index, array)
        return array


def _no_contacts(path: str) -> Array:
    raise TrajectoryError("this file was written without contacts; run again with contacts")
