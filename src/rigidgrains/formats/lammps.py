"""LAMMPS dump: grains as `dump custom`, contacts as `dump local` in a file beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .columns import Columns, contact_columns, grain_columns, lines, quaternions
from .errors import FormatError
from .rows import Row, open_text, read_columns
from .state import State, Which, make_state, pick

if TYPE_CHECKING:
    from ..trajectory.frame import Frame
    from .export import Job

SPIN = {"spin_x": "omegax", "spin_y": "omegay", "spin_z": "omegaz"}


def write(job: Job) -> None:
    """Every frame as a snapshot; ids and types count from 1, a wall in the contacts is -1, -2, ..."""
    beside = job.beside
    with ExitStack() as stack:
        grains = stack.enter_context(job.main.open("w", encoding="ascii", newline="\n"))
        contacts = stack.enter_context(beside.open("w", encoding="ascii", newline="\n")) if beside else None
        for frame in job.frames():
            columns = _grains(frame)
            grains.write(_header(frame, job, "ATOMS", columns) + lines(columns.values()))
            if contacts:
                columns = _contacts(frame)
                contacts.write(_header(frame, job, "ENTRIES", columns) + lines(columns.values()))


def read(path: Path, which: Which) -> State:
    """One snapshot; columns x y z (or xu yu zu), radius or diameter, vx vy vz, omegax omegay omegaz, mass, id."""
    with open_text(path) as file:
        frame, (names, rows) = pick(_snapshots(path, enumerate(file, start=1)), which, path)
    columns = read_columns(path, names, rows)
    return make_state(path, columns, frame=frame, where=lambda row: f"line {rows[row][0]}")


def _grains(frame: Frame) -> Columns:
    columns = grain_columns(frame)
    angle = {"angle": columns["angle"]} if frame.dimension == 2 else {}
    turned = dict(zip(("quatw", "quati", "quatj", "quatk"), quaternions(frame).T))
    kept = ("x", "y", "z", "vx", "vy", "vz", *SPIN, "radius", "mass")
    return {
        "id": columns["id"] + 1,
        "type": columns["material"] + 1,
        **{SPIN.get(name, name): columns[name] for name in kept},
        **turned,
        **angle,
        "load": columns["load"],
    }


def _contacts(frame: Frame) -> Columns:
    columns: dict[str, Any] = {"index": np.arange(1, len(frame.contacts) + 1), **contact_columns(frame)}
    for k in (0, 1):
        body = columns.pop(f"body{k}")
        columns[f"id{k + 1}"] = np.where(body >= 0, body + 1, body)
    first = ("index", "id1", "id2")
    return {name: columns[name] for name in (*first, *(name for name in columns if name not in first))}


def _header(frame: Frame, job: Job, label: str, columns: Columns) -> str:
    lower, upper = job.bounds
    box = "".join(f"{low!r} {high!r}\n" for low, high in zip(lower.tolist(), upper.tolist()))
    count = len(columns["x"])
    return (
        f"ITEM: TIME\n{frame.time!r}\nITEM: TIMESTEP\n{frame.step}\nITEM: NUMBER OF {label}\n{count}\n"
        f"ITEM: BOX BOUNDS ff ff ff\n{box}ITEM: {label} {' '.join(columns)}\n"
    )


def _snapshots(path: Path, numbered: Iterator[tuple[int, str]]) -> Iterator[tuple[list[str], list[Row]]]:
    """Names and rows of the columns of each snapshot."""
    count, ended = 0, False
    for number, line in numbered:
        if line.startswith("ITEM: NUMBER OF ATOMS"):
            count = _count(path, *next(numbered, (number + 1, "")))
        elif line.startswith("ITEM: NUMBER OF"):
            raise FormatError(path, "this is a dump of contacts, without grains; give the one with ITEM: ATOMS")
        elif line.startswith("ITEM: ATOMS"):
            rows: list[Row] = [(place, row.split()) for place, row in islice(numbered, count)]
            if len(rows) < count:
                told = f"the last frame ends after {len(rows)} of its {count} grains; choose an earlier frame"
                raise FormatError(path, told)
            yield line.split()[2:], rows
            ended = True
            continue
        elif ended and line.strip() and not line.startswith("ITEM:"):
            raise FormatError(path, f"line {number}: the frame has more rows than its {count} grains; mend it")
        ended = ended and not line.startswith("ITEM:")


def _count(path: Path, number: int, line: str) -> int:
    if not line.strip().isdigit():
        raise FormatError(path, f"line {number}: {line.strip()[:40]!r} should be the number of grains")
    return int(line)
