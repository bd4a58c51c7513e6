"""A file without frames: all its groups and data sets, as the first frame asks for them."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from functools import lru_cache

import h5py
import numpy as np

from ..model.arrays import contacts_in_frames, grains_in_frames
from ..runtime.version import __version__
from . import checksums
from .series import Cloud, Series

FORMAT = "rigidgrains trajectory"
FORMAT_VERSION = 1
LIBRARY = ("v110", "v114")  # versions of HDF5 whose layouts are used
UNITS = {
    "Points": "m", "cell_vectors": "m", "cell_origin": "m", "cell_rate": "1/s", "cell_rate_before": "1/s",
    "cell_stress": "Pa; N/m in 2D", "cell_mobility": "1/(kg m^2)",
}  # fmt: skip
ROWS = 256  # of a chunk of the history


Kind = tuple[str, str, str, str, tuple[int, ...]]  # of an array: group, part of a cloud, name, type, shape of a row


def without_frames() -> bytes:
    """The content of a file with its groups and nothing in them."""
    content = io.BytesIO()
    # A superblock of version 2 has no mark for open files, which would keep viewers out while a run goes on.
    with h5py.File(content, "w", libver=("v108", "v108")) as file:
        file.attrs["format"], file.attrs["format_version"] = FORMAT, FORMAT_VERSION
        file.attrs["version"], file.attrs["units"] = __version__, json.dumps(_units())
        for name in ("checkpoint", "frames", "history", "texts", "walls"):
            file.create_group(name)
        file.create_dataset(checksums.FRAMES, (0,), np.uint32, maxshape=(None,), chunks=(256,))
    return content.getvalue()


def for_frames(
    clouds: dict[str, Cloud], columns: list[str], *, walls: int, compression: str | None, expected: int
) -> bytes:
    """The content of a file for frames like this one, of about so many grains, with these columns of the history.

    Runs that are alike begin with the same bytes: a study makes them once.
    """
    kinds = tuple(kind for group, cloud in clouds.items() for kind in _kinds(group, cloud))
    return _for_frames(kinds, tuple(columns), walls, compression, expected)


@lru_cache(maxsize=16)
def _for_frames(
    kinds: tuple[Kind, ...], columns: tuple[str, ...], walls: int, compression: str | None, expected: int
) -> bytes:
    content = io.BytesIO(without_frames())
    clouds: dict[str, Cloud] = {}
    for group, part, name, dtype, row in kinds:
        cloud = clouds.setdefault(group, Cloud(0.0, np.zeros((0, 3))))
        if part == "points":
            cloud.points = np.zeros((0, *row), dtype)
        elif part == "scalars":
            cloud.scalars[name] = 0.0
        else:
            getattr(cloud, part)[name] = np.zeros((0, *row), dtype)
    with h5py.File(content, "r+", libver=LIBRARY) as file:
        history = file["history"]
        for name in columns:
            history.create_dataset(name, (0,), float, maxshape=(None,), chunks=(ROWS,))
        history.create_dataset("wall_force", (0, walls, 3), float, maxshape=(None, None, 3), chunks=(ROWS, 4, 3))
        checksums.mark_history(history, {name: column[:] for name, column in history.items()})
        for group, cloud in clouds.items():
            Series.create(file, group, cloud, compression=compression, expected=expected)
        checksums.begin(file, clouds)
    return content.getvalue()


def _kinds(group: str, cloud: Cloud) -> Iterator[Kind]:
    """Of all that a cloud holds."""
    yield group, "points", "", cloud.stored(cloud.points[:0]).dtype.str, cloud.points.shape[1:]
    yield from ((group, "scalars", name, "", ()) for name in cloud.scalars)
    for part in ("data", "once"):
        for name, array in getattr(cloud, part).items():
            yield group, part, name, cloud.stored(array[:0]).dtype.str, array.shape[1:]
    for part in ("tables", "tables_once"):
        for name, array in getattr(cloud, part).items():
            yield group, part, name, array.dtype.str, array.shape[1:]


def _units() -> dict[str, str]:
    """Of all that a frame may hold, by name."""
    columns = {name: column for name, column in grains_in_frames().items() if name != "position"} | contacts_in_frames()
    return UNITS | {name: column.unit or column.note or "1" for name, column in columns.items()}
