"""Comma-separated values: one table for grains and one for contacts of each frame, and one for the history."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .box import cell_of
from .columns import contact_columns, grain_columns, units
from .rows import Row, open_text, read_columns
from .state import Given, State, Which, make_state, single

if TYPE_CHECKING:
    from ..trajectory.frame import Frame
    from ..trajectory.reader import Trajectory
    from .export import Job


CELL = [f"{vector}_{axis}" for vector in ("a", "b", "c", "origin") for axis in "xyz"]


def write(job: Job) -> None:
    """A folder with tables for each frame and the history, or the tables of one frame."""
    for frame in job.frames():
        place = job.inside(f"grains-{frame.index:06d}.csv") if job.folder else job.main
        save(place, grain_columns(frame, job.fields), units(frame))
        if job.has_contacts:
            beside = job.inside(f"contacts-{frame.index:06d}.csv") if job.folder else job.beside
            assert beside is not None
            save(beside, {**contact_columns(frame), "wall": wall_of_contact(frame)}, units(frame))
    if job.folder:
        save(job.inside("history.csv"), *history_columns(job.trajectory))
    if cells := cell_columns(job):
        own = job.target.with_name(f"{job.target.stem}-cell{job.target.suffix}")
        save(job.inside("cell.csv") if job.folder else job.draft.path(own), cells, dict.fromkeys(CELL, "m"))


def cell_columns(job: Job) -> dict[str, NDArray[Any]]:
    """Frame, time, vectors a, b, c and origin of the periodic cell in each frame; none without one."""
    rows = []
    for index in job.chosen:
        frame = job.trajectory[index]
        if (cell := cell_of(frame)) is not None:
            rows.append([float(frame.index), frame.time, *cell.vectors.flat, *cell.origin])
    table = np.array(rows).reshape(len(rows), 2 + len(CELL))
    columns = {"frame": table[:, 0].astype(np.int64), "time": table[:, 1], **dict(zip(CELL, table[:, 2:].T))}
    return columns if rows else {}


def read(path: Path, which: Which, given: Given) -> State:
    """A table whose first line names the columns, also after #; units in brackets and empty lines do no harm."""
    single(path, which)
    with open_text(path) as file:
        rows = list(_rows(file))
    names = [name.strip() for name in rows[0][1]] if rows else []
    rows = rows[1:]
    return make_state(path, read_columns(path, names, rows), where=lambda row: f"line {rows[row][0]}", given=given)


def save(path: Path, columns: dict[str, NDArray[Any]], units: dict[str, str]) -> None:
    """A table with units in brackets; every number is written so that reading gives the same bits."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(f"{name} [{units[name]}]" if units.get(name) else name for name in columns)
        table.writerows(zip(*(column.tolist() for column in columns.values())))


def history_columns(trajectory: Trajectory) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """Columns of the history with their units; forces on walls as NAME_x, NAME_y, NAME_z."""
    from ..simulation.columns import COLUMNS, OF_CELL, unit_of

    history = dict(trajectory.history)
    units = {name: unit_of(name) for name in [*COLUMNS, *OF_CELL, *(name for name in history if name != "wall_force")]}
    forces = history.pop("wall_force", np.zeros((0, 0, 3)))
    columns = {name: history.pop(name) for name in units if name in history} | history
    names = trajectory.wall_names
    for w in range(forces.shape[1]):
        for k, letter in enumerate("xyz"):
            name = f"{names[w] if w < len(names) else f'wall{w}'}_{letter}"
            columns[name], units[name] = forces[:, w, k], "N"
    return columns, units


def wall_of_contact(frame: Frame) -> NDArray[Any]:
    """(c,) name of the wall of each contact; empty between grains."""
    names = np.array(["", *(wall.name for wall in frame.walls)])
    return names[np.maximum(frame.contacts.pair[:, 1].astype(np.int64) - len(frame) + 1, 0)]


def _rows(file: IO[str]) -> Iterator[Row]:
    """Number and words of each line, names first; the first line tells by what they are separated."""
    separator, remark = "", (0, "")
    for number, line in enumerate(file, start=1):
        text = line.strip()
        if text.startswith("#"):
            remark = number, text.lstrip("# ")
        if not text or text.startswith("#"):
            continue
        if not separator:
            separator = next((mark for mark in ",;\t" if mark in text), " ")
            if _is_number(_split(text, separator)[0]) and remark[1]:  # the names are in the remark above
                yield remark[0], _split(remark[1], separator)
        yield number, _split(text, separator)


def _split(text: str, separator: str) -> Sequence[str]:
    if separator == " " or '"' not in text:
        return text.split() if separator == " " else text.split(separator)
    return next(csv.reader([text], delimiter=separator))


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
