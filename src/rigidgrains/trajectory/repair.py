"""Recover what is intact of a damaged file: the frames whose checksum holds go into a new one."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py

from ..files.hdf5 import ForeignData, check_contained
from . import checksums, store
from .atomic import heal
from .errors import TrajectoryError, unreadable
from .layout import FORMAT, ROWS, without_frames
from .resume import read_checkpoint
from .series import Cloud, Series
from .texts import get_text, put_text
from .whereabouts import SIGNATURE, data_end


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
        atomic, file = store.create(output, without_frames(), force=force)
        try:
            with _index(path):
                recovery = _Recovery(damaged, file)
            recovered = recovery.run(path, output)
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
        self._steps, self._words = self._old[0].rows, dict(damaged.attrs)  # what is there, whatever the index claims

    def run(self, path: Path, output: Path) -> Repaired:
        lost, kept = [], 0
        for step in range(self._steps):
            clouds = self._intact(step)
            if clouds is None:
                lost.append(step)
                continue
            self._append(clouds)
            kept += 1
        if not kept:
            raise TrajectoryError(f"{path}: no frame is intact; nothing can be recovered")
        for name, value in self._words.items():
            self._file.attrs[name] = value
        for name in ("texts", "walls"):
            self._copy_texts(name)
        if not self._copy("history", checksums.read_history):
            self._begin_history()
        checkpoint = self._copy("checkpoint", read_checkpoint)
        return Repaired(output, kept, lost, len(self._old) > 1, checkpoint)

    def _intact(self, step: int) -> dict[str, Cloud] | None:
        """A frame, if all of it can be read and its checksum holds."""
        try:
            clouds = {series.group.name.strip("/"): series.cloud(step) for series in self._old}
            if checksums.of_frame(self._damaged, clouds) != int(self._damaged[checksums.FRAMES][step]):
                return None
            get_text(self._damaged["walls"], str(int(clouds["VTKHDF"].scalars["wall_table"])))
        except Exception:  # whatever HDF5 makes of damaged bytes
            return None
        return clouds

    def _append(self, clouds: dict[str, Cloud]) -> None:
        if not self._new:
            grains = len(clouds["VTKHDF"].points)
            self._new = [Series.create(self._file, name, cloud, expected=grains) for name, cloud in clouds.items()]
            checksums.begin(self._file, clouds)
        checksums.append(self._file, [clouds])
        for series, cloud in zip(self._new, clouds.values()):
            series.append(cloud)

    def _copy_texts(self, name: str) -> None:
        """Copy those texts of a group that are intact."""
        with suppress(Exception):
            for key in self._damaged[name]:
                with suppress(Exception):
                    put_text(self._file[name], key, get_text(self._damaged[name], key))

    def _copy(self, name: str, read: Callable[[h5py.Group], Any]) -> bool:
        """Copy a group as it is; False, and nothing of it, if any part cannot be read or is not what was written."""
        del self._file[name]
        try:
            read(self._damaged[name])
            self._damaged.copy(name, self._file)
        except Exception:
            if name in self._file:
                del self._file[name]
            self._file.create_group(name)
            return False
        return True

    def _begin_history(self) -> None:
        """A history that is lost begins anew, in the columns that it had."""
        with suppress(Exception):
            for name, old in self._damaged["history"].items():
                empty, rest = (0, *old.shape[1:]), old.shape[1:]
                column = self._file.create_dataset(
                    f"history/{name}", empty, old.dtype, maxshape=(None, *rest), chunks=(ROWS, *rest)
                )
                for key, value in old.attrs.items():
                    column.attrs[key] = value


@contextmanager
def _index(path: Path) -> Iterator[None]:
    """Without an index there is nothing to begin with."""
    try:
        yield
    except (TrajectoryError, ForeignData):
        raise
    except Exception:  # whatever HDF5 makes of damaged bytes
        raise TrajectoryError(f"{path}: its index is lost; nothing can be recovered") from None


@contextmanager
def _mended_copy(path: Path) -> Iterator[h5py.File]:
    """The file as far as HDF5 can read it: a copy with its journal applied and a missing end filled with zeros."""
    try:
        with open(path, "rb") as file:
            content = file.read(len(SIGNATURE))
        if content != SIGNATURE:
            raise TrajectoryError(f"{path}: this is no trajectory; there is nothing to repair")
    except OSError as problem:
        raise unreadable(path, problem) from None
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".repair-")
    os.close(handle)
    copy = Path(name)
    try:
        shutil.copyfile(path, copy)
        with _index(path):
            with io.FileIO(copy, "r+") as file:
                heal(file)
                if os.fstat(file.fileno()).st_size < data_end(file):
                    file.truncate(data_end(file))
            with suppress(Exception):  # frames that were logged, if what they are added to is whole
                store.settle(copy)
            mended = h5py.File(copy, "r", locking=False)
            if mended.attrs.get("format") != FORMAT:
                raise TrajectoryError(f"{path}: this is no trajectory of rigidgrains; there is nothing to repair")
            check_contained(mended, damaged=True)
        with mended:
            yield mended
    except ForeignData as problem:
        raise store.foreign(path, problem) from None
    finally:
        copy.unlink(missing_ok=True)
