"""Rows of numbers in a text file: which columns are which, and what is said about a line that cannot be read."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from .errors import FormatError

Row = tuple[int, Sequence[str]]  # number of the line, and its words

# Names by which columns are known in other programs, without units and in small letters.
NAMES = {
    "x": ("x", "xu", "pos_x", "position_x"),
    "y": ("y", "yu", "pos_y", "position_y"),
    "z": ("z", "zu", "pos_z", "position_z"),
    "xs": ("xs", "xsu"),
    "ys": ("ys", "ysu"),
    "zs": ("zs", "zsu"),
    "radius": ("radius", "radii", "r"),
    "diameter": ("diameter",),
    "vx": ("vx", "v_x", "velo_x", "vel_x", "velocity_x"),
    "vy": ("vy", "v_y", "velo_y", "vel_y", "velocity_y"),
    "vz": ("vz", "v_z", "velo_z", "vel_z", "velocity_z"),
    "spin_x": ("spin_x", "omegax", "omega_x"),
    "spin_y": ("spin_y", "omegay", "omega_y"),
    "spin_z": ("spin_z", "omegaz", "omega_z", "spin"),
    "mass": ("mass", "masses"),
    "id": ("id", "ids"),
}
MEANING = {alias: name for name, aliases in NAMES.items() for alias in aliases}
SI = {"", "-", "1", "m", "m/s", "rad/s", "1/s", "kg"}
UNIT = re.compile(r"\s*[\[(]\s*(.*?)\s*[\])]\s*$")


@contextmanager
def open_text(path: Path) -> Iterator[IO[str]]:
    """A text file; bytes that are no text are told."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield file
    except UnicodeDecodeError:
        raise FormatError(path, "not a text file in UTF-8") from None
    except OSError as problem:
        raise FormatError(path, f"cannot be read: {problem.strerror}; check its permissions") from None


def read_columns(path: Path, names: Sequence[str], rows: Sequence[Row]) -> dict[str, NDArray[Any]]:
    """Columns by our own names; of two that mean the same, the first."""
    places: dict[str, int] = {}
    for k, name in enumerate(names):
        if meaning := known(path, name):
            places.setdefault(meaning, k)
    columns, wanted = [*places], [*places.values()]
    if len(wanted) < 2:
        return dict.fromkeys(columns, np.empty(0))  # too few to be grains, and that will be told
    take, numbers = itemgetter(*wanted), array("d")
    for number, words in rows:
        if len(words) != len(names):
            raise FormatError(path, f"line {number}: has {len(words)} columns instead of {len(names)}; mend the line")
        try:
            numbers.extend(map(float, take(words)))
        except ValueError:
            raise FormatError(path, f"line {number}: {_not_a_number(names, words, wanted)}") from None
    table = np.frombuffer(numbers).reshape(-1, len(wanted))
    if "id" in places:
        ids = table[:, columns.index("id")]
        if (odd := np.flatnonzero(ids != np.floor(ids))).size:  # NaN too
            raise FormatError(path, f"line {rows[odd[0]][0]}: id = {ids[odd[0]]:g}, and must be a whole number")
    return dict(zip(columns, table.T))


def known(path: Path, name: str) -> str | None:
    """What a column means to us; units in brackets must be SI."""
    unit = UNIT.search(name)
    bare = (name[: unit.start()] if unit else name).strip().lower().replace(" ", "_")
    meaning = MEANING.get(bare)
    if meaning and unit and unit[1] not in SI:
        raise FormatError(path, f"column {name!r}: other units than SI are not converted; give m, kg and s")
    return meaning


def _not_a_number(names: Sequence[str], words: Sequence[str], wanted: Sequence[int]) -> str:
    for k in wanted:
        try:
            float(words[k])
        except ValueError:
            return f"{names[k]} = {words[k]!r}, and must be a number"
    raise AssertionError("all words are numbers")
