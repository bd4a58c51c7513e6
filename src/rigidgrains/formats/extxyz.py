"""Extended XYZ, as ASE and OVITO read it: grains in one file, contacts as points in another beside it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .box import cell_of
from .columns import bodies, grain_arrays, lines, more_of_contacts, normal_force, tangential_force
from .errors import FormatError
from .rows import Row, open_text, read_columns
from .state import Box, Given, State, Which, make_state, pick

if TYPE_CHECKING:
    from ..trajectory.frame import Frame
    from .export import Job

PROPERTIES = re.compile(r'\bProperties\s*=\s*"?([^\s"]+)', re.IGNORECASE)
LATTICE, ORIGIN, PERIODIC = (
    re.compile(rf'\b{key}\s*=\s*(?:"([^"]*)"|(\S*))', re.IGNORECASE) for key in ("Lattice", "Origin", "pbc")
)
NAMES = {"position": "pos", "velocity": "velo"}  # as ASE calls them
DIMENSION = re.compile(r"\bdimension=([23])\b")


def write(job: Job) -> None:
    """Every frame as a block; all grains are of species X, which stands for no element."""
    beside = job.beside
    with ExitStack() as stack:
        grains = stack.enter_context(job.main.open("w", encoding="ascii", newline="\n"))
        contacts = stack.enter_context(beside.open("w", encoding="ascii", newline="\n")) if beside else None
        for frame in job.frames():
            grains.write(_block(frame, _grains(frame, job.fields)))
            if contacts:
                contacts.write(_block(frame, _contacts(frame)))


def read(path: Path, which: Which, given: Given) -> State:
    """One block; properties pos, radius or diameter, velo, spin, mass and id."""
    with open_text(path) as file:
        frame, (number, comment, names, rows) = pick(_blocks(path, enumerate(file, start=1)), which, path)
    said = DIMENSION.search(comment)
    dimension = int(said[1]) if said else None
    columns = read_columns(path, names, rows)
    box = _box(path, number, comment)
    return make_state(
        path, columns, frame=frame, dimension=dimension, where=lambda row: f"line {rows[row][0]}", box=box, given=given
    )


def _grains(frame: Frame, fields: Sequence[str] | None) -> dict[str, NDArray[Any]]:
    turned = {"orientation": "angle" if frame.dimension == 2 else "quaternion"}
    return {(NAMES | turned).get(name, name): array for name, array in grain_arrays(frame, fields).items()}


def _contacts(frame: Frame) -> dict[str, NDArray[Any]]:
    contacts = frame.contacts
    return {
        "pos": contacts.point,
        "pair": np.stack([bodies(frame, 0), bodies(frame, 1)], axis=1),
        "normal": contacts.normal,
        "gap": contacts.gap,
        "force": contacts.force,
        "normal_force": normal_force(frame),
        "tangential_force": tangential_force(frame),
        "status": contacts.status,
        **({} if contacts.image is None else {"image": contacts.image}),
        **more_of_contacts(frame),
    }


def _block(frame: Frame, arrays: dict[str, NDArray[Any]]) -> str:
    tables = {name: array if array.ndim > 1 else array[:, None] for name, array in arrays.items()}
    kinds = [f"{name}:{'I' if table.dtype.kind in 'iu' else 'R'}:{table.shape[1]}" for name, table in tables.items()]
    columns = [column for table in tables.values() for column in table.T]
    comment = (
        f"{_lattice(frame)}Properties=species:S:1:{':'.join(kinds)} Time={frame.time!r} step={frame.step} "
        f'dimension={frame.dimension} pbc="{_sides(frame)}"'
    )
    return f"{len(arrays['pos'])}\n{comment}\n{lines(columns, start='X ')}"


def _lattice(frame: Frame) -> str:
    cell = cell_of(frame)
    if cell is None:
        return ""
    vectors, origin = (" ".join(map(repr, numbers.ravel().tolist())) for numbers in (cell.vectors, cell.origin))
    return f'Lattice="{vectors}" Origin="{origin}" '


def _sides(frame: Frame) -> str:
    cell = cell_of(frame)
    return " ".join("T" if has else "F" for has in ([False] * 3 if cell is None else cell.periodic))


def _box(path: Path, number: int, comment: str) -> Box | None:
    """Without pbc all directions of a lattice are periodic, as for ASE."""
    lattice = _words(LATTICE, comment)
    if lattice is None:
        return None
    vectors = _numbers(path, number, "Lattice", lattice, 9)
    at = _numbers(path, number, "Origin", _words(ORIGIN, comment) or ["0"] * 3, 3)
    sides = _words(PERIODIC, comment) or ["T"] * 3
    if len(sides) != 3:
        raise _malformed(path, number, "pbc", sides, "T or F for each of 3 sides")
    return vectors, at, [side[:1].upper() in ("T", "1") for side in sides]


def _words(key: re.Pattern[str], comment: str) -> list[str] | None:
    """The words of a key, None if it is not there."""
    found = key.search(comment)
    return None if found is None else (found[1] or found[2] or "").split()


def _numbers(path: Path, number: int, name: str, words: list[str], wanted: int) -> list[float]:
    """So many finite numbers, and no others."""
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        numbers = [math.nan]
    if len(numbers) == wanted and all(map(math.isfinite, numbers)):
        return numbers
    raise _malformed(path, number, name, words, f"{wanted} finite numbers")


def _malformed(path: Path, number: int, name: str, words: list[str], wanted: str) -> FormatError:
    found = " ".join(words)[:60]
    return FormatError(path, f'line {number}: {name}="{found}" must be {wanted}, in quotes; mend it, or take it out')


def _blocks(path: Path, numbered: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str, list[str], list[Row]]]:
    """Comment with its line, names of the columns and rows of each block."""
    for number, line in numbered:
        if not line.strip():
            continue
        if not line.strip().isdigit():
            raise FormatError(path, f"line {number}: {line.strip()[:40]!r} should be the number of grains")
        count = int(line)
        _, comment = next(numbered, (0, ""))
        rows: list[Row] = [(place, row.split()) for place, row in islice(numbered, count)]
        if len(rows) < count:
            told = f"the last frame ends after {len(rows)} of its {count} grains; choose an earlier frame"
            raise FormatError(path, told)
        yield number + 1, comment, _names(path, number + 1, comment), rows


def _names(path: Path, number: int, comment: str) -> list[str]:
    """One name for each column; those of a vector end in _x, _y, _z."""
    found = PROPERTIES.search(comment)
    parts = found[1].split(":") if found else []
    if not parts or len(parts) % 3 or not all(count.isdigit() for count in parts[2::3]):
        raise FormatError(path, f"line {number}: must say Properties=species:S:1:pos:R:3:radius:R:1, with a radius")
    names: list[str] = []
    for name, count in zip(parts[0::3], map(int, parts[2::3])):
        letters = "xyz" if count == 3 else range(count)
        names += [name] if count == 1 else [f"{name}_{letter}" for letter in letters]
    return names
