"""LAMMPS dump: grains as `dump custom`, contacts as `dump local` in a file beside it.

A clump of spheres is written sphere by sphere, with the number of its grain as molecule; grains of other shapes are
written as spheres of equal volume.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..model.cell import B, C
from ..model.columns import X, Y
from ..shapes.poses import matrices
from .box import cell_of
from .columns import Columns, contact_columns, grain_columns, lines, quaternions
from .errors import FormatError
from .rows import Row, open_text, read_columns
from .state import Array, Box, Given, State, Which, make_state, pick

if TYPE_CHECKING:
    from ..trajectory.frame import Frame
    from .export import Job

LOW, HIGH, TILT = range(3)  # columns of the bounds of a box, one row per direction
OTHERWISE = (  # columns that are told under other names, or not at all
    "id", "material", "angle", "qw", "qx", "qy", "qz", "load", "contact_number", "image_x", "image_y", "image_z",
)  # fmt: skip
SPIN = {"spin_x": "omegax", "spin_y": "omegay", "spin_z": "omegaz"}


def write(job: Job) -> None:
    """Every frame as a snapshot; ids and types count from 1, a wall in the contacts is -1, -2, ..."""
    beside = job.beside
    with ExitStack() as stack:
        grains = stack.enter_context(job.main.open("w", encoding="ascii", newline="\n"))
        contacts = stack.enter_context(beside.open("w", encoding="ascii", newline="\n")) if beside else None
        for frame in job.frames():
            columns = _grains(frame, job.fields)
            if frame.catalogue is not None:
                columns, note = beads(frame, columns)
                job.notes = [note] if note else job.notes
            grains.write(_header(frame, job, "ATOMS", columns) + lines(columns.values()))
            if contacts:
                columns = _contacts(frame)
                contacts.write(_header(frame, job, "ENTRIES", columns) + lines(columns.values()))


def read(path: Path, which: Which, given: Given) -> State:
    """One snapshot; columns x y z (or xu yu zu, xs ys zs, xsu ysu zsu), radius or diameter, vx vy vz, omegax omegay
    omegaz, mass, id."""
    with open_text(path) as file:
        frame, (names, rows, box) = pick(_snapshots(path, enumerate(file, start=1)), which, path)
    columns = read_columns(path, names, rows)
    if "x" not in columns and box is not None:
        columns = unscaled(columns, box)
    return make_state(path, columns, frame=frame, where=lambda row: f"line {rows[row][0]}", box=box, given=given)


def unscaled(columns: Mapping[str, NDArray[Any]], box: Box) -> dict[str, NDArray[Any]]:
    """Positions x = origin + xs a + ys b + zs c of scaled ones; those that are not there are 0."""
    shares = {name: column for name, column in columns.items() if name in ("xs", "ys", "zs")}
    if not {"xs", "ys"} <= shares.keys():
        return dict(columns)
    vectors, origin, _ = box
    share = np.stack([shares.get(name, np.zeros(len(shares["xs"]))) for name in ("xs", "ys", "zs")], axis=1)
    place = origin + share @ vectors
    return {**dict(zip("xyz", place.T)), **{name: column for name, column in columns.items() if name not in shares}}


def _grains(frame: Frame, fields: Sequence[str] | None) -> Columns:
    columns = grain_columns(frame, fields)
    angle = {"angle": columns["angle"]} if "angle" in columns else {}
    is_turned = "angle" in columns or "qw" in columns
    turned = dict(zip(("quatw", "quati", "quatj", "quatk"), quaternions(frame).T)) if is_turned else {}
    kept = ("x", "y", "z", "vx", "vy", "vz", *SPIN, "radius", "mass")
    return {
        "id": columns["id"] + 1,
        "type": columns["material"] + 1,
        **{SPIN.get(name, name): columns[name] for name in kept if name in columns},
        **turned,
        **angle,
        **({"load": columns["load"]} if "load" in columns else {}),
        **{f"i{axis}": columns[f"image_{axis}"] for axis in "xyz" if f"image_{axis}" in columns},
        **{name: column for name, column in columns.items() if name not in (*kept, *OTHERWISE)},
    }


def beads(frame: Frame, columns: Columns) -> tuple[Columns, str]:
    """Rows of single spheres, in the order of grains, with the column mol; and what has to be said of other shapes."""
    assert frame.catalogue is not None
    assert frame.shape is not None
    shapes = frame.catalogue.shapes
    clump = np.array([all(len(part.vertices) == 1 for part in shape.parts) for shape in shapes])
    count = np.where(clump, [len(shape.parts) for shape in shapes], 1)[frame.shape]
    row = np.repeat(np.arange(len(frame)), count)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    centre, radius, share = np.zeros((len(row), 3)), np.ones(len(row)), np.ones(len(row))
    for k in np.flatnonzero(clump):
        parts, some = shapes[k].parts, np.flatnonzero(frame.shape[row] == k)
        size = np.array([part.rounding for part in parts])
        centre[some] = np.array([part.vertices[0] for part in parts])[nth[some]]
        radius[some] = size[nth[some]]
        share[some] = (size**frame.dimension / (size**frame.dimension).sum())[nth[some]]
    away = frame.radius[row, None] * np.einsum("iab,ib->ia", matrices(frame.orientation)[row], centre)
    out = {name: np.asarray(column)[row] for name, column in columns.items()}
    if "vx" in out:
        for axis, drift in zip("xyz", np.cross(frame.spin[row], away).T):
            out["v" + axis] = out["v" + axis] + drift
    for axis, step in zip("xyz", away.T):
        out[axis] = out[axis] + step
    out |= {"radius": out["radius"] * radius, "mass": out["mass"] * share}
    if len(row) > len(frame):
        out["id"] = np.arange(1, len(row) + 1)
    other = int((~clump)[frame.shape].sum())
    note = (
        f"{other} grains are neither spheres nor clumps of spheres: LAMMPS gets spheres of equal volume"
        if other
        else ""
    )
    rest = {name: column for name, column in out.items() if name != "id"}
    return {"id": out["id"], "mol": frame.id[row] + 1, **rest}, note


def _contacts(frame: Frame) -> Columns:
    columns: dict[str, Any] = {"index": np.arange(1, len(frame.contacts) + 1), **contact_columns(frame)}
    for k in (0, 1):
        body = columns.pop(f"body{k}")
        columns[f"id{k + 1}"] = np.where(body >= 0, body + 1, body)
    first = ("index", "id1", "id2")
    return {name: columns[name] for name in (*first, *(name for name in columns if name not in first))}


def _header(frame: Frame, job: Job, label: str, columns: Columns) -> str:
    count = len(columns["x"])
    return (
        f"ITEM: TIME\n{frame.time!r}\nITEM: TIMESTEP\n{frame.step}\nITEM: NUMBER OF {label}\n{count}\n"
        f"ITEM: BOX BOUNDS {_box(frame, job)}ITEM: {label} {' '.join(columns)}\n"
    )


def box_of(frame: Frame, bounds: tuple[Array, Array]) -> tuple[Array, Array]:
    """(3, 3) and (3,) m, vectors and lower corner: the cell, else a box around the bounds."""
    (lower, upper), cell, vectors = bounds, cell_of(frame), np.zeros((3, 3))
    if cell is not None:
        told = cell.periodic | (np.arange(3) < frame.dimension)  # the thickness of disks is not that of their cell
        lower = np.where(told, cell.origin, lower)
        upper = np.where(told, cell.origin + np.diag(cell.vectors), upper)
        vectors = np.tril(cell.vectors, -1)
    return vectors + np.diag(upper - lower), np.asarray(lower)


def _box(frame: Frame, job: Job) -> str:
    """Kinds of sides and bounds; of a leaning cell the bounds of all its corners, and how far it leans."""
    cell = cell_of(frame)
    sides = ["ff"] * 3 if cell is None else ["pp" if has else "ff" for has in cell.periodic]
    vectors, lower = box_of(frame, job.bounds)
    tilt = np.array([vectors[B, X], vectors[C, X], vectors[C, Y]])
    lower, upper = lower + _corners(tilt)[0], lower + np.diag(vectors) + _corners(tilt)[1]
    leans = bool(tilt.any())
    rows = zip(lower.tolist(), upper.tolist(), tilt.tolist())
    text = "".join(" ".join(map(repr, row if leans else row[:2])) + "\n" for row in rows)
    return f"{'xy xz yz ' if leans else ''}{' '.join(sides)}\n{text}"


def _corners(tilt: Array) -> Array:
    """(2, 3) m, how far corners of a leaning cell reach beyond its upright box, below and above."""
    xy, xz, yz = tilt
    along_x, along_y = (0.0, xy, xz, xy + xz), (0.0, yz)
    return np.array([[min(along_x), min(along_y), 0.0], [max(along_x), max(along_y), 0.0]])


def _snapshots(path: Path, numbered: Iterator[tuple[int, str]]) -> Iterator[tuple[list[str], list[Row], Box | None]]:
    """Names and rows of the columns of each snapshot, and its box."""
    count, ended, box = 0, False, None
    for number, line in numbered:
        if line.startswith("ITEM: NUMBER OF ATOMS"):
            count = _count(path, *next(numbered, (number + 1, "")))
        elif line.startswith("ITEM: NUMBER OF"):
            raise FormatError(path, "this is a dump of contacts, without grains; give the one with ITEM: ATOMS")
        elif line.startswith("ITEM: BOX BOUNDS"):
            box = _read_box(path, line.split()[3:], list(islice(numbered, 3)))
        elif line.startswith("ITEM: ATOMS"):
            rows: list[Row] = [(place, row.split()) for place, row in islice(numbered, count)]
            if len(rows) < count:
                told = f"the last frame ends after {len(rows)} of its {count} grains; choose an earlier frame"
                raise FormatError(path, told)
            yield line.split()[2:], rows, box
            ended = True
            continue
        elif ended and line.strip() and not line.startswith("ITEM:"):
            raise FormatError(path, f"line {number}: the frame has more rows than its {count} grains; mend it")
        ended = ended and not line.startswith("ITEM:")


def _read_box(path: Path, words: list[str], rows: list[tuple[int, str]]) -> Box | None:
    """Vectors, origin and periodic directions, none where the line does not say; None for a box that is turned."""
    sides = [word for word in words if word not in ("xy", "xz", "yz")]
    if words[:1] == ["abc"]:
        return None
    leans = "xy" in words
    sides = sides if len(sides) == 3 else ["ff"] * 3
    try:
        numbers = np.array([[float(word) for word in row.split()[: 3 if leans else 2]] for _, row in rows])
        numbers = numbers.reshape(3, 3 if leans else 2)
    except ValueError:
        number = rows[0][0] if rows else 0
        wanted = "3 numbers in each of 3 lines: low, high, tilt" if leans else "2 numbers in each of 3 lines"
        raise FormatError(path, f"line {number}: the bounds of the box must be {wanted}; mend them") from None
    xy, xz, yz = tilt = numbers[:, TILT] if leans else np.zeros(3)
    below, above = _corners(tilt)
    lower, upper = numbers[:, LOW] - below, numbers[:, HIGH] - above
    vectors = np.diag(upper - lower)
    vectors[B, X], vectors[C, X], vectors[C, Y] = xy, xz, yz
    return vectors, lower, [side.startswith("p") for side in sides]


def _count(path: Path, number: int, line: str) -> int:
    if not line.strip().isdigit():
        raise FormatError(path, f"line {number}: {line.strip()[:40]!r} should be the number of grains")
    return int(line)
