"""Locks of open files on Windows. They belong to the handle, as OFD locks of Linux do, and end with it.

Windows lets nobody read what is locked, so the byte that is locked lies far beyond the end of any file.
Not proven on Windows yet: tests hold it against a stand-in for the system.
"""

from __future__ import annotations

import ctypes
import io
import os
from typing import Any
from weakref import WeakSet

BYTE = 1 << 62  # offset of the byte that is locked
EXCLUSIVE, AT_ONCE = 2, 1  # flags of LockFileEx
TAKEN = (33, 997)  # ERROR_LOCK_VIOLATION, ERROR_IO_PENDING

_ours: WeakSet[io.IOBase] = WeakSet()  # a handle cannot take its own lock twice


class Overlapped(ctypes.Structure):
    """OVERLAPPED: where the byte is."""

    _fields_ = (
        ("internal", ctypes.c_size_t),
        ("internal_high", ctypes.c_size_t),
        ("offset", ctypes.c_uint32),
        ("offset_high", ctypes.c_uint32),
        ("event", ctypes.c_void_p),
    )


def system() -> Any | None:
    """LockFileEx with what it needs, (handle, flags) -> number of the error or 0; None on other systems."""
    if os.name != "nt":
        return None
    import msvcrt

    kernel: Any = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined, unused-ignore]

    def lock_file(file: int, flags: int, place: Overlapped) -> int:
        handle = ctypes.c_void_p(msvcrt.get_osfhandle(file))  # type: ignore[attr-defined, unused-ignore]
        done = kernel.LockFileEx(handle, flags, 0, 1, 0, ctypes.byref(place))
        return 0 if done else int(ctypes.get_last_error())  # type: ignore[attr-defined, unused-ignore]

    return lock_file


def take(file: io.IOBase) -> bool:
    """Take the lock of an open file, or keep it; False while another handle has it. No lock where there are none."""
    lock_file = system()
    if lock_file is None or file in _ours:
        return True
    error = lock_file(file.fileno(), EXCLUSIVE | AT_ONCE, Overlapped(offset_high=BYTE >> 32))
    if error == 0:
        _ours.add(file)
    return error not in TAKEN
