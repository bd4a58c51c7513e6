"""Recover what is intact of a damaged file: the frames whose checksum holds go into a new one."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from . import store
from .atomic import data_end, heal
from .errors import TrajectoryError, unreadable
from .series import Cloud, Column, Series
from .writer import checksum


@dataclass
class Repaired:
    """What came out of a damaged file.

    frames : number recovered; lost : numbers, in the old file, of those that are not
    contacts, checkpoint : whether there are any
    """

    path: Path
    frames: int
    lost: list[int]
    contacts: bool
    checkpoint: bool


def repair(path: str | Path, output: str | Path | None = None, *, force: bool = False) -> Repaired:
    """Copy every intact frame, the texts and, if whole, the checkpoint to a new file; the old one is left as it is."""
    path = Path(path)
    output = path.with_name(f"{path.stem}-repaired{store.SUFFIX}") if output is None else Path(output)
    store.check_name(output, force=force, contacts=True, source=path)
    with _mended_copy(path) as damaged:
        if damaged.attrs.get("format") != store.FORMAT:
            raise TrajectoryError(f"{path}: this is no trajectory of rigidgrains; there is nothing to repair")
        atomic, file = store.create(output, force=force)
        try:
            recovered = _Recovery(damaged, file).run(output)
            file.close()
            atomic.commit(durable=True)
            store.publish(atomic, output)
        except BaseException:
            atomic.abandon()
            with suppress(OSError, RuntimeError):
                file.close()
            atomic.path.unlink(missing_ok=True)
            raise
        finally:
            atomic.close()
    if recovered.contacts:
        store.make_link(output)
    return recovered


class _Recovery:
    """Copies from a damaged file whatever can be read."""

    def __init__(self, damaged: h5py.File, file: h5py.File) -> None:
        self._damaged, self._file = damaged, file
        self._old = [Series(damaged[name]) for name in ("VTKHDF", "contacts") if name in damaged]
        self._new: list[Series] = []

    def run(self, output: Path) -> Repaired:
        lost, kept = [], 0
        for step in range(self._old[0].steps):
            clouds = self._intact(step)
            if clouds is None:
                lost.append(step)
                continue
            self._append(clouds)
            kept += 1
        if not kept:
            raise TrajectoryError("no frame is intact: nothing can be recovered")
        for name, value in self._damaged.attrs.items():
            self._file.attrs[name] = value
        for name in ("texts", "walls", "history"):
            self._copy(name)
        checkpoint = self._copy("checkpoint") and "text" in self._file["checkpoint"]
        return Repaired(output, kept, lost, len(self._old) > 1, checkpoint)

    def _intact(self, step: int) -> dict[str, Cloud] | None:
        """A frame, if all of it can be read and its checksum holds."""
        try:
            clouds = {series.group.name.strip("/"): series.cloud(step) for series in self._old}
            return clouds if checksum(clouds) == int(self._damaged["frames/checksum"][step]) else None
        except (OSError, KeyError, ValueError, RuntimeError, IndexError):
            return None

    def _append(self, clouds: dict[str, Cloud]) -> None:
        if not self._new:
            grains = len(clouds["VTKHDF"].points)
            self._new = [Series.create(self._file, name, cloud, expected=grains) for name, cloud in clouds.items()]
        Column(self._file["frames/checksum"]).append(np.array([checksum(clouds)], np.uint32))
        for series, cloud in zip(self._new, clouds.values()):
            series.append(cloud)

    def _copy(self, name: str) -> bool:
        """Copy a group as it is; False, and nothing of it, if any part cannot be read."""
        del self._file[name]
        try:
            self._damaged[name].visititems(_read)
            self._damaged.copy(name, self._file)
        except (OSError, KeyError, ValueError, RuntimeError):
            self._file.require_group(name)
            return False
        return True


def _read(name: str, item: Any) -> None:
    if isinstance(item, h5py.Dataset):
        item[()]


@contextmanager
def _mended_copy(path: Path) -> Iterator[h5py.File]:
    """The file as far as HDF5 can read it: a copy with its journal applied and a missing end filled with zeros."""
    try:
        with open(path, "rb") as file:
            content = file.read(8)
        if content != store.SIGNATURE:
            raise TrajectoryError(f"{path}: this is no trajectory; there is nothing to repair")
    except OSError as problem:
        raise unreadable(path, problem) from None
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".repair-")
    os.close(handle)
    copy = Path(name)
    try:
        shutil.copyfile(path, copy)
        with io.FileIO(copy, "r+") as file:
            heal(file)
            if os.fstat(file.fileno()).st_size < data_end(file):
                file.truncate(data_end(file))
        try:
            mended = h5py.File(copy, "r", locking=False)
            mended["VTKHDF/Steps"].attrs["NSteps"]
        except (OSError, KeyError, RuntimeError) as problem:
            raise TrajectoryError(f"{path}: its index is lost, nothing can be recovered ({problem})") from None
        with mended:
            yield mended
    finally:
        copy.unlink(missing_ok=True)
