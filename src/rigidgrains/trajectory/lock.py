"""One writer at a time: a lock on the file that is written, which readers in the same process cannot drop.

Where the system has them, locks belong to the open file (OFD locks). POSIX record locks belong to the process and are
dropped as soon as it closes any descriptor of the file; they are taken where there is nothing better, and taken again
before each change. Windows: files/windows.py. HDF5 itself locks with flock, which is independent of all: viewers with
HDF5's own locks are not kept out.
"""

from __future__ import annotations

import errno
import io
import os
import struct
import sys
from contextlib import suppress
from pathlib import Path

from ..files import windows
from .errors import TrajectoryError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

HELD = (errno.EACCES, errno.EAGAIN)
OFD_SETLK = getattr(fcntl, "F_OFD_SETLK", None) if sys.platform == "linux" else None
WHOLE = struct.Struct("hhqqi")  # Linux: type, whence, start, length (0: to the end) and process (0: none)


def lock(file: io.FileIO, path: Path) -> None:
    """Take the lock, or keep it; refused while another run has it. File systems without locks have none to take."""
    try:
        if fcntl is None:
            if not windows.take(file):
                raise BlockingIOError(errno.EAGAIN, "locked")
        elif OFD_SETLK is not None:
            fcntl.fcntl(file, OFD_SETLK, WHOLE.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
        else:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        if problem.errno in HELD:
            who = _holder(file)
            raise TrajectoryError(
                f"{path}: another run is writing this file{who}; wait for it, stop it first, or choose another place"
            ) from None


def check_unlocked(path: Path) -> None:
    """Refuse a file that a run is writing; one that is not there, or cannot be written anyway, is none of them."""
    try:
        with io.FileIO(path, "r+") as file:
            lock(file, path)
    except OSError:
        return


def is_locked(path: Path) -> bool:
    """Whether a run is writing the file."""
    try:
        check_unlocked(path)
    except TrajectoryError:
        return True
    return False


def _holder(file: io.FileIO) -> str:
    """The process that has the lock, in words, where the system tells: Linux lists the locks of each descriptor."""
    ours = os.fstat(file.fileno())
    with suppress(OSError):
        for process in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):  # gone, or somebody else's
                for number in os.listdir(f"/proc/{process}/fd"):
                    with suppress(OSError), open(f"/proc/{process}/fdinfo/{number}", encoding="ascii") as told:
                        same = os.path.samestat(os.stat(f"/proc/{process}/fd/{number}"), ours)
                        if same and "lock:" in told.read():
                            return f" (process {process})"
    return ""
