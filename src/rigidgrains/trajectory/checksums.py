"""Checksums (CRC-32) of all that a file holds: they tell what a bad disk or a broken copy has changed.

frames/checksum        one for each frame, over all its arrays and figures
frames/array_checksum  one for each array of each frame, and one for its figures: what is read is what is verified
attributes `checksum`  of texts, of the checkpoint, and of the history, one for each column

HDF5 itself has checksums of its index.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from .errors import Mismatch
from .series import Cloud, Column, read_whole

Array = NDArray[Any]

FRAMES, ARRAYS, FIGURES = "frames/checksum", "frames/array_checksum", "VTKHDF/figures"
MARK = "checksum"


def of_frame(file: h5py.File, clouds: dict[str, Cloud]) -> int:
    """One checksum of the arrays and figures of a frame, as this file has them."""
    return _total(clouds, of_arrays(clouds) if ARRAYS in file else {})


def of_arrays(clouds: dict[str, Cloud]) -> dict[str, int]:
    """A checksum for each array of a frame, and one for its figures."""
    figures = clouds["VTKHDF"].scalars
    sums = {FIGURES: zlib.crc32(np.array([figures[name] for name in sorted(figures)], dtype=float).data)}
    for group, cloud in clouds.items():
        sums[f"{group}/Points"] = zlib.crc32(cloud.stored(cloud.points).data)
        for name, array in (cloud.data | cloud.once).items():
            sums[f"{group}/PointData/{name}"] = zlib.crc32(cloud.stored(array).data)
        for name, array in (cloud.tables | cloud.tables_once).items():
            sums[f"{group}/FieldData/{name}"] = zlib.crc32(np.ascontiguousarray(array).data)
    return sums


def begin(file: h5py.File, clouds: dict[str, Cloud]) -> None:
    """Make the table for frames like this one."""
    names = sorted(of_arrays(clouds))
    k = len(names)
    table = file.create_dataset(ARRAYS, (0, k), np.uint32, maxshape=(None, k), chunks=(64, k))
    table.attrs["names"] = np.array(json.dumps(names).encode())


def append(file: h5py.File, frames: Sequence[dict[str, Cloud]]) -> None:
    """Add those of frames; files of earlier versions have the totals alone."""
    there = ARRAYS in file
    sums = [of_arrays(clouds) if there else {} for clouds in frames]
    totals = [_total(clouds, own) for clouds, own in zip(frames, sums)]
    Column(file, FRAMES).append(np.array(totals, np.uint32))
    if there:
        names = json.loads(bytes(file[ARRAYS].attrs["names"]))
        Column(file, ARRAYS).append(np.array([[own[name] for name in names] for own in sums], np.uint32))


def drop_last(file: h5py.File) -> None:
    """Take out those of the last frame."""
    for name in (FRAMES, ARRAYS):
        if name in file:
            file[name].resize(len(file[name]) - 1, 0)


def _total(clouds: dict[str, Cloud], sums: dict[str, int]) -> int:
    """The checksum of those of all arrays; in files of earlier versions of the arrays one after another."""
    total = 0
    for group, cloud in clouds.items():
        figures = [number for name, number in sorted(cloud.scalars.items()) if name != "wall_table"]
        arrays = {"Points": cloud.points} | cloud.data | cloud.once
        tables = cloud.tables | cloud.tables_once
        if sums:
            own = [sums[name] for name in sorted(sums) if name.startswith(f"{group}/") and name != FIGURES]
            total = zlib.crc32(np.array(own, np.uint32).data, total)
        for name in [] if sums else ["Points", *sorted((arrays | tables).keys() - {"Points"})]:
            array = cloud.stored(arrays[name]) if name in arrays else np.ascontiguousarray(tables[name])
            total = zlib.crc32(array.data, total)
        total = zlib.crc32(np.array(figures, dtype=float).data, total)
    return total


class Sums:
    """The checksums of the arrays of all frames in a file; none in one of an earlier version."""

    def __init__(self, file: h5py.File) -> None:
        there = ARRAYS in file
        names = json.loads(bytes(file[ARRAYS].attrs["names"])) if there else []
        self._column = {name: k for k, name in enumerate(names)}
        self._table = file[ARRAYS][:] if there else np.zeros((0, 0), np.uint32)

    def __contains__(self, name: str) -> bool:
        return name in self._column

    def check(self, name: str, index: int, array: Array) -> None:
        """Raise if the checksum of what was read is not the one that was written."""
        if name in self._column and int(self._table[index, self._column[name]]) != zlib.crc32(array.data):
            raise Mismatch(f"{name.rpartition('/')[2]} of frame {index} is not what was written (checksum)")

    def check_figures(self, figures: dict[str, Array]) -> None:
        """The same for the figures of all frames, columns by name."""
        for index, row in enumerate(np.column_stack([figures[name] for name in sorted(figures)]).astype(float)):
            self.check(FIGURES, index, row)


def of_checkpoint(arrays: dict[str, Array], text: str) -> int:
    """One checksum of all arrays, with their names, and the text."""
    total = zlib.crc32(text.encode())
    for name in sorted(arrays):
        total = zlib.crc32(np.ascontiguousarray(arrays[name]).data, zlib.crc32(name.encode(), total))
    return total


def check_mark(thing: h5py.Group | h5py.Dataset, found: int, what: str) -> None:
    """Hold a checksum against the one kept with a group or data set; those of earlier versions have none."""
    if MARK in thing.attrs and int(thing.attrs[MARK]) != found:
        raise Mismatch(f"{what} is not what was written (checksum)")


def read_history(group: h5py.Group) -> dict[str, Array]:
    """The columns of the history, with `wall_force`."""
    names = sorted(group)
    columns = {name: read_whole(group, name) for name in names}
    marks = group.attrs.get(MARK)
    for k, name in enumerate(names if marks is not None else []):
        if int(marks[k]) != zlib.crc32(np.ascontiguousarray(columns[name]).data):
            raise Mismatch(f"{name} of the history is not what was written (checksum)")
    return columns


def mark_history(group: h5py.Group, columns: dict[str, Array]) -> None:
    """Keep the checksums of columns as they now are."""
    sums = [zlib.crc32(np.ascontiguousarray(columns[name]).data) for name in sorted(group)]
    group.attrs.create(MARK, np.array(sums, np.uint32))


def extend_history(group: h5py.Group, added: dict[str, Array]) -> None:
    """Take rows into account that were added to columns; files of earlier versions have no marks to keep."""
    if MARK not in group.attrs:
        return
    marks = group.attrs[MARK]
    for k, name in enumerate(sorted(group)):
        if name in added:
            marks[k] = zlib.crc32(np.ascontiguousarray(added[name]).data, int(marks[k]))
    group.attrs.modify(MARK, marks)
