"""Whether arrays of a file are what their names say: kind, shape, and no number that points beyond its table.

Checksums tell what a bad disk has changed. Here it is seen that a file makes sense at all, whoever wrote it: compiled
loops follow its indices without looking.
"""

from __future__ import annotations

from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from ..model.arrays import Column, contacts_in_frames, grains_in_frames
from .checksums import FRAMES
from .errors import Mismatch
from .series import Series

Array = NDArray[Any]
Shape = tuple[int | str, ...]  # letters stand for lengths that must agree

WALLS, TABLE = ("w", 3), ("k", "k")
OF_CELL = {"vectors": (3, 3), "origin": (1, 3), "rate": (3, 3), "stress": (3, 3)}
OF_CELL |= {"rate_before": (3, 3), "mobility": (3, 5)}
FIELDS: dict[str, tuple[str, Shape]] = {
    **{f"cell_{name}": ("f", shape) for name, shape in OF_CELL.items()},
    **{
        f"wall_{name}": ("f", WALLS)
        for name in ("point", "normal", "along", "about", "spin", "load", "velocity", "velocity_before", "force")
    },
    "gravity": ("f", (1, 3)),
    "friction": ("f", TABLE),
    "cell_periodic": ("iu", (1, 3)),
}
POINTS = Column(name="Points", row=(3,))


def frames(file: h5py.File) -> int:
    """Number of frames, if all that tells of it agrees."""
    grains = Series(file["VTKHDF"])
    told = {"its index": grains.steps, "its times": grains.rows, "its checksums": len(file[FRAMES])}
    if "contacts" in file:
        contacts = Series(file["contacts"])
        told |= {"the index of contacts": contacts.steps, "the times of contacts": contacts.rows}
    if len(set(told.values())) > 1 or grains.steps < 1:
        raise Mismatch(", ".join(f"{who} tells of {count} frames" for who, count in told.items()))
    dimension(file.attrs["dimension"])
    return grains.steps


def dimension(told: Any) -> int:
    """2 or 3."""
    found = np.asarray(told)
    if found.ndim or found.dtype.kind not in "iu" or int(found) not in (2, 3):
        raise Mismatch(f"its dimension is {told}, neither 2 nor 3")
    return int(found)


def shape(file: h5py.File, name: str, index: int, found: Array) -> None:
    """An array of a frame is of the kind, and has the rows, that its name says."""
    group, kind, short = (*name.split("/"), "")[:3]
    sizes = {"n": _count(file[f"{group}/NumberOfPoints"][index])}
    declared = grains_in_frames() if group == "VTKHDF" else contacts_in_frames()
    if column := POINTS if kind == "Points" else declared.get(short) if kind == "PointData" else None:
        check(short or kind, found, column.kinds, ("n", *column.shape(dimension(file.attrs["dimension"]))), sizes)
    elif group == "VTKHDF" and kind == "PointData":
        check(short, found, "f", ("n",), sizes)  # a scalar of the user
    elif kind == "FieldData" and short in FIELDS:
        check(short, found, *FIELDS[short], sizes)
    elif short.startswith("law_"):
        check(short, found, "f", TABLE, sizes)


def values(file: h5py.File, name: str, index: int, found: Array) -> None:
    """Of a frame: sizes that are some, and no material, wall or grain that is not there."""
    short = name.rpartition("/")[2]
    column = grains_in_frames().get(short) if name.startswith("VTKHDF/PointData/") else None
    if column is not None and column.values == "positive":
        positive(short, found)
    elif short == "material":
        within(short, found, _count(file["VTKHDF/Steps/FieldDataSizes/friction"][index][1]))
    elif name == "contacts/PointData/pair":
        grains, walls = file["VTKHDF/NumberOfPoints"][index], file["VTKHDF/Steps/TableSizes"][index][1]
        within(short, found, _count(grains) + _count(walls))


def check(name: str, found: Array, kinds: str, shape: Shape, sizes: dict[str, int]) -> None:
    """Raise unless an array is of one of these kinds and of this shape; letters seen for the first time are learnt."""
    wanted = [sizes.get(size, size) if isinstance(size, str) else size for size in shape]
    fits = found.ndim == len(wanted) and all(
        size == here or isinstance(size, str) for size, here in zip(wanted, found.shape)
    )
    if found.dtype.kind not in kinds or not fits:
        raise Mismatch(f"{name} is {found.dtype} {found.shape}, and should be {_words(kinds)} {tuple(wanted)}")
    for size, here in zip(shape, found.shape):
        if isinstance(size, str) and sizes.setdefault(size, here) != here:
            raise Mismatch(f"{name} is {found.shape}, and should be square")


def within(name: str, found: Array, stop: int, start: int = 0) -> None:
    """Raise unless all are from start up to, and without, stop."""
    if found.size and not (start <= found.min() and found.max() < stop):
        raise Mismatch(f"{name} goes from {found.min()} to {found.max()}, beyond {start} to {stop - 1}")


def positive(name: str, found: Array) -> None:
    if found.size and not (found.min() > 0.0 and found.max() < np.inf):
        raise Mismatch(f"{name} goes from {found.min():g} to {found.max():g}, and should be positive and finite")


def finite(name: str, found: Array) -> None:
    if not np.isfinite(found).all():
        raise Mismatch(f"{name} has numbers that are not finite")


def _count(number: Any) -> int:
    if int(number) < 0:
        raise Mismatch(f"its index tells of {number} rows")
    return int(number)


def _words(kinds: str) -> str:
    return "numbers" if kinds == "f" else "whole numbers"
