"""The file on the disk: what groups it has, how it is made and opened, and what is said when it cannot be.

/VTKHDF      grains, as a series that ParaView opens
/contacts    contacts, a second series; a tiny file beside this one links to it for ParaView
/history     figures of the run, one data set for each column
/checkpoint  the state to resume from
/walls       descriptions of the walls, JSON; frames say which one holds
/frames      checksums of each frame and of its arrays
/texts       the scene (TOML), how it was run and what came out (JSON), the shapes of grains that are not round, and
             names of groups, materials and scalars (JSON)
attributes   format, format_version, version, units, seed, dimension

All of this is made at the beginning of the file. What is added later touches no index but its own. Texts and checkpoint
are written anew behind the frames, with parts of the index: a file that has lost its end may not open any more.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

import h5py
import numpy as np

from ..files.hdf5 import ForeignData, check_contained
from ..files.outputs import check_outputs
from ..runtime.version import __version__
from . import verify
from .append import Appender
from .atomic import AtomicFile
from .entry import unpack
from .errors import TrajectoryError, WriteError, damaged, unreadable
from .layout import FORMAT, FORMAT_VERSION, LIBRARY
from .lock import check_unlocked, is_locked
from .whereabouts import SIGNATURE

SUFFIX = ".vtkhdf"
TRIES, PAUSE = 10, 0.05  # while a writer is at work, a reader may meet it within a commit
PATIENCE = 10  # times as many where there is one


def create(path: Path, content: bytes, *, force: bool) -> tuple[AtomicFile, h5py.File]:
    """A new file under a temporary name; `publish` gives it its own when the first frame is in it."""
    check_name(path, force=force)
    part = _part(path)
    try:
        atomic = AtomicFile(part, writable=True, content=content)
    except OSError as problem:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        reason = problem.strerror or problem
        raise TrajectoryError(f"{path} cannot be written: {reason}; choose another place") from None
    return _open(atomic)


def publish(atomic: AtomicFile, path: Path) -> None:
    """Give a new file its name, replacing an earlier one only now, and never one that a run is writing."""
    check_unlocked(path)
    try:
        atomic.rename(path)
    except OSError as problem:
        raise WriteError(problem.errno, f"{problem.strerror}; nothing was written", str(path)) from None


def open_to_append(path: Path) -> tuple[AtomicFile, h5py.File]:
    """A file to go on writing; whatever a killed writer left is put in order first."""
    with open_to_read(path):
        pass
    try:
        atomic = AtomicFile(path, writable=True)
    except OSError as problem:
        raise TrajectoryError(f"{path} cannot be written: {problem.strerror}; check its permissions") from None
    return _settled(atomic)


def settle(path: Path) -> None:
    """Put in order whatever a killed writer left, for other programs to read."""
    atomic, file = _settled(AtomicFile(path, writable=True))
    file.close()
    atomic.commit()
    atomic.close()


def open_to_read(path: Path, *, own: bool = False) -> h5py.File:
    """A file to read, also while a run is writing it: then it is tried longer, between two changes.

    own : this process has just written it, and knows that it leads to no other file
    """
    for attempt in range(PATIENCE * TRIES):
        try:
            return open_whole(path, own=own)
        except TrajectoryError:
            raise
        except Exception as problem:  # whatever HDF5, and we, make of damaged bytes
            if isinstance(problem, (FileNotFoundError, IsADirectoryError, PermissionError)):
                raise unreadable(path, problem) from None
            if not _is_hdf5(path):
                told = f"{path}: this is no trajectory; give a file made by a run, NAME{SUFFIX}"
                raise TrajectoryError(told) from None
            if attempt + 1 >= TRIES and (attempt + 1 == PATIENCE * TRIES or not is_locked(path)):
                check_unlocked(path)  # a file that is written is not damaged: it never stood still
                raise (foreign if isinstance(problem, ForeignData) else damaged)(path, problem) from None
            time.sleep(PAUSE)
    raise AssertionError  # the last attempt returns or raises


def make_link(path: Path) -> None:
    """The tiny file by which ParaView opens the contacts: its /VTKHDF is a link to /contacts."""
    beside = contacts_link(path)
    part = beside.with_name(beside.name + ".part")
    with h5py.File(part, "w", locking=False) as file:
        file["VTKHDF"] = h5py.ExternalLink(path.name, "/contacts")
    os.replace(part, beside)


def contacts_link(path: Path) -> Path:
    """Name of the file that links to the contacts."""
    return path.with_name(f"{path.stem}-contacts{SUFFIX}")


def outputs(path: Path, *, contacts: bool) -> list[Path]:
    """What a trajectory of this name would replace; links are made again whenever they are needed."""
    beside = contacts_link(path)
    return [path, beside] if contacts and not _is_link(beside) else [path]


def check_name(path: Path, *, force: bool, contacts: bool = False, source: Path | None = None) -> None:
    """Refuse a path at which no trajectory can be, or where there is something already; with contacts, also a link.

    force  : replace what is there, unless a run is writing it
    source : a file that is read meanwhile
    """
    if path.is_dir():
        raise TrajectoryError(f"{path}: this is a folder; give the name of a file in it, such as {path}/run{SUFFIX}")
    if path.suffix != SUFFIX:
        raise TrajectoryError(f"{path}: a trajectory ends in {SUFFIX}, for ParaView to know it; call it so")
    if not path.parent.is_dir():
        raise TrajectoryError(f"{path}: there is no folder {path.parent}; make it first, or choose another")
    check_outputs(*outputs(path, contacts=contacts), force=force, source=source)
    check_unlocked(path)


def _is_link(path: Path) -> bool:
    try:
        with h5py.File(path, "r", locking=False) as file:
            return isinstance(file.get("VTKHDF", getlink=True), h5py.ExternalLink)
    except OSError:
        return False


def _part(path: Path) -> Path:
    return path.with_name(path.name + ".part")


def _open(atomic: AtomicFile) -> tuple[AtomicFile, h5py.File]:
    # No chunk cache: rows go straight to the disk.
    return atomic, h5py.File(atomic, "r+", libver=LIBRARY, rdcc_nbytes=0)


def _settled(atomic: AtomicFile) -> tuple[AtomicFile, h5py.File]:
    """Open a file to write, with frames that are logged in their places."""
    atomic, file = _open(atomic)
    if atomic.records:
        try:
            _put_in_place(atomic, file)
            file.flush()
            atomic.commit()
        except BaseException:
            atomic.abandon()
            with suppress(OSError, RuntimeError):
                file.close()
            atomic.close()
            raise
    return atomic, file


def _put_in_place(atomic: AtomicFile, file: h5py.File) -> None:
    """Add the frames that a writer has logged, and had no time to add."""
    Appender(file).append([unpack(record) for record in atomic.records])


def open_whole(path: Path, *, own: bool = False) -> h5py.File:
    """Through our own file object: it applies a journal that it finds, and HDF5 shares no cache with other readers.

    Frames that are logged are put in their place in memory.
    """
    if path.is_dir():
        raise IsADirectoryError
    atomic = AtomicFile(path, writable=False)
    file = h5py.File(atomic, "r+" if atomic.records else "r")
    try:
        _check_format(path, file)
        if not own:
            check_contained(file)
        if atomic.records:
            _put_in_place(atomic, file)
        verify.frames(file)
    except BaseException:
        file.close()
        raise
    return file


def foreign(path: Path, problem: Exception) -> TrajectoryError:
    """A clear line for a file that leads elsewhere."""
    return TrajectoryError(f"{path}: {problem}; a trajectory holds all its data itself, and this file is not read")


def _is_hdf5(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(len(SIGNATURE)) == SIGNATURE


def _check_format(path: Path, file: h5py.File) -> None:
    found = file.attrs.get("format")
    if not isinstance(found, str) or found != FORMAT:
        raise TrajectoryError(f"{path}: this is an HDF5 file, but no trajectory of rigidgrains; give one made by a run")
    version = int(np.asarray(file.attrs["format_version"]))
    if version > FORMAT_VERSION:
        raise TrajectoryError(
            f"{path}: format version {version} is newer than {FORMAT_VERSION}, the newest that rigidgrains "
            f"{__version__} knows; upgrade rigidgrains"
        )
