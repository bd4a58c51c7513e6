"""Export a trajectory, or one frame of it, to a file of another program."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..model.arrays import unknown_fields
from .draft import Draft
from .errors import FormatError, FrameError
from .table import Format, to_write

if TYPE_CHECKING:
    from ..trajectory.frame import Frame
    from ..trajectory.reader import Trajectory

Tell = Callable[[int, int], None]


def export(
    trajectory: Trajectory | str | Path,
    to: str,
    path: str | Path | None = None,
    frames: int | Literal["last", "all"] = "all",
    *,
    every: int = 1,
    fields: Sequence[str] | None = None,
    contacts: bool | None = None,
    single: bool = False,
    compress: bool = False,
    force: bool = False,
    tell: Tell | None = None,
    note: Callable[[str], None] | None = None,
) -> Path:
    """Write frames of a trajectory in another format; returns the file or folder that was made.

    to     : "gsd", "lammps", "lammps-data", "extxyz", "csv", "vtu", "stl", "obj", or "vtkhdf" for a thinner trajectory
    path   : file or folder to make; default: named after the trajectory, beside it
    frames : number of a frame, "last" or "all"; every : take one frame in so many
    fields : arrays of grains to write beside positions, radii, masses, materials, ids, groups and scalars, which are
             always written; all if absent
    contacts : False leaves them out; a trajectory with chosen fields has none
    single, compress : of a trajectory: arrays in single precision, compressed
    force  : overwrite what is there
    tell   : called with the frames done and their total
    note   : called with a line about what the format cannot hold; default: a warning

    >>> export("piston.vtkhdf", "gsd")
    """
    if isinstance(trajectory, (str, Path)):
        from ..trajectory.reader import Trajectory

        to_write(to, Path(trajectory))  # a wrong name is told before a file is opened
        with Trajectory(trajectory) as opened:
            return export(
                opened, to, path, frames, every=every, fields=fields, contacts=contacts, single=single,
                compress=compress, force=force, tell=tell, note=note,
            )  # fmt: skip
    known = to_write(to, trajectory.path)
    check_choice(trajectory.path, known.name, fields, contacts, single=single, compress=compress)
    if known.single and frames == "all":
        frames = "last"
    if not isinstance(every, int) or every < 1:
        raise FrameError(trajectory.path, f"every {every}", len(trajectory))
    chosen = choose(trajectory, frames)[::every]
    _check_there(trajectory, chosen, fields or ())
    folder = known.folder and frames == "all"
    target = Path(path) if path is not None else default_target(trajectory.path, known, folder=folder)
    if target.name in ("", ".."):
        target = target.resolve()
    with Draft(target, trajectory.path, force=force, folder=folder) as draft:
        job = Job(trajectory, chosen, target, draft, folder, tell, fields, contacts is not False, single, compress)
        known.room.write(job)
    for line in job.notes:
        note(line) if note is not None else warnings.warn(line, stacklevel=2)
    return target


def check_choice(
    path: Path, to: str, fields: Sequence[str] | None, contacts: bool | None, *, single: bool, compress: bool
) -> None:
    """Raise, with all that is wrong, unless these fields can be chosen and the rest belongs to the format."""
    told = [f"frames have no array {name!r} to choose; {hint}" for name, hint in unknown_fields(fields or ())]
    if to == "vtkhdf" and fields is not None and contacts:
        told.append("a trajectory has contacts with all fields or none; leave out the one or the other")
    if to != "vtkhdf" and (single or compress):
        told.append(f"single precision and compression belong to format 'vtkhdf', not to {to!r}; leave them out")
    if told:
        raise FormatError(path, "; ".join(told))


def _check_there(trajectory: Trajectory, chosen: Sequence[int], fields: Sequence[str]) -> None:
    """Raise unless the frames have the fields that are asked for; a frame without grains may lack some."""
    ends = [trajectory[index] for index in {*chosen[:1], *chosen[-1:]}]
    if missing := [name for name in fields if all(frame.column(name) is None for frame in ends)]:
        told = ", ".join(repr(name) for name in missing)
        raise FormatError(
            trajectory.path, f"its frames have no {told}: the run had none, or wrote chosen fields; leave it out"
        )


def default_target(source: Path, known: Format, *, folder: bool) -> Path:
    """What an export is called if nobody says: named after the trajectory, beside it."""
    return source.with_name(f"{source.stem}-{known.name}" if folder else source.stem + known.suffix)


def choose(trajectory: Trajectory, frames: int | str) -> Sequence[int]:
    """Numbers of the frames that were asked for."""
    count = len(trajectory)
    if frames == "all":
        return range(count)
    number = -1 if frames == "last" else frames
    if not isinstance(number, int) or not -count <= number < count:
        raise FrameError(trajectory.path, frames, count)
    return [number % count]


@dataclass
class Job:
    """What a room needs to write: frames to read, names to write to.

    fields : arrays of grains that are written, all if absent; with_contacts : whether contacts are, if there are any
    single, compress : of a trajectory
    notes : lines about what the format cannot hold
    """

    trajectory: Trajectory
    chosen: Sequence[int]
    target: Path
    draft: Draft
    folder: bool
    tell: Tell | None
    fields: Sequence[str] | None = None
    with_contacts: bool = True
    single: bool = False
    compress: bool = False
    notes: list[str] = field(default_factory=list)

    def frames(self) -> Iterator[Frame]:
        """The chosen frames, one by one."""
        for done, index in enumerate(self.chosen):
            yield self.trajectory[index]
            if self.tell is not None:
                self.tell(done + 1, len(self.chosen))

    @property
    def has_contacts(self) -> bool:
        """Whether contacts are written."""
        return self.with_contacts and self.trajectory.has_contacts

    @property
    def main(self) -> Path:
        """Where to write the one file of grains."""
        return self.draft.path(self.target)

    @property
    def beside(self) -> Path | None:
        """Where to write the contacts, in a file of their own; None without contacts."""
        return self.apart("contacts") if self.has_contacts else None

    def apart(self, kind: str) -> Path:
        """Where to write something in a file of its own, beside that of the grains."""
        return self.draft.path(self.target.with_name(f"{self.target.stem}-{kind}{self.target.suffix}"))

    def inside(self, name: str) -> Path:
        """Where to write a file in the folder."""
        return self.draft.path(self.target / name)

    @cached_property
    def bounds(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Lowest and highest corner (3,) of a box around all grains of all chosen frames."""
        lower, upper = np.full(3, np.inf), np.full(3, -np.inf)
        for index in self.chosen:
            frame = self.trajectory[index]
            position = frame.position.astype(float)
            below, above = frame.reaches
            np.minimum(lower, (position + below).min(axis=0, initial=np.inf), out=lower)
            np.maximum(upper, (position + above).max(axis=0, initial=-np.inf), out=upper)
        return (lower, upper) if (lower <= upper).all() else (np.zeros(3), np.ones(3))
