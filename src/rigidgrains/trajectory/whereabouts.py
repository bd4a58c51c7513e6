"""Where a file is that is being written: still under its name, moved, deleted, or somebody else's by now."""

from __future__ import annotations

import errno
import io
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .errors import FileLost, TrajectoryError
from .lock import fcntl, lock
from .spill import get

SIGNATURE = b"\x89HDF\r\n\x1a\n"


def whereabouts(file: io.FileIO, path: Path, end: int, mark: int | None) -> FileLost | None:
    """None if an open file is the one at its path, as its last commit left it; otherwise what has happened.

    end, mark : where that commit ended, and where the superblock said so
    """
    ours = os.fstat(file.fileno())
    try:
        there: os.stat_result | None = os.stat(path)
    except OSError:
        there = None
    if there is not None and os.path.samestat(there, ours):
        try:
            lock(file, path)
        except TrajectoryError:
            return FileLost(errno.EBUSY, "another run has begun to write this file", intact=False)
        if ours.st_size < end or marked_end(file) != mark:
            return FileLost(errno.EIO, "the file was overwritten while the run was writing it", intact=False)
        return None
    if (now := _name(file, ours)) is not None:
        return FileLost(errno.ENOENT, f"the file was moved to {now} while the run was writing it", now=now)
    done = "replaced by another one" if there else "deleted" if path.parent.is_dir() else "deleted with its folder"
    return FileLost(errno.ENOENT, f"the file was {done} while the run was writing it")


def data_end(file: io.FileIO) -> int:
    """Where HDF5 thinks the data end; the size of a file of another kind."""
    mark = marked_end(file)
    return os.fstat(file.fileno()).st_size if mark is None else mark


def marked_end(file: io.FileIO) -> int | None:
    """Where the superblock says that the data end; None unless it is one of version 2."""
    head = get(file, 36, 0)
    if len(head) < 36 or head[:8] != SIGNATURE or head[8] != 2:
        return None
    return int.from_bytes(head[28:36], "little")


def other_places(path: Path) -> Iterator[Path]:
    """Names for what cannot be kept under its own: beside it, or as near as there is a folder; then a temporary one."""
    near = next((folder for folder in path.absolute().parents if folder.is_dir()), Path.cwd())
    for folder in (near, Path(tempfile.gettempdir())):
        free, number = folder / f"{path.stem}-rescued{path.suffix}", 1
        while os.path.lexists(free):
            number += 1
            free = folder / f"{path.stem}-rescued-{number}{path.suffix}"
        yield free


def _name(file: io.FileIO, ours: os.stat_result) -> Path | None:
    """The present name of an open file, where the system tells."""
    try:
        if hasattr(fcntl, "F_GETPATH"):  # macOS
            now = fcntl.fcntl(file, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0").decode()
        else:
            now = os.readlink(f"/proc/self/fd/{file.fileno()}")
        return Path(now) if os.path.samestat(os.stat(now), ours) else None
    except (OSError, UnicodeDecodeError):
        return None
