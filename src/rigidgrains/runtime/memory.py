"""Memory: tables whose rows are cache lines, and arrays that are kept from one step to the next.

A row of eight numbers that moves to and from registers as a whole lies in one line.
"""

from __future__ import annotations

import ctypes
import mmap
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .threads import spread, worth

Array = NDArray[np.float64]

LINE = 64  # bytes
LARGE = 1 << 18  # bytes from which on memory is a mapping of its own: all of it goes back when it is given up
HUGE = 1 << 22  # bytes from which on it had better lie in large pages
ROOM = 4  # what grows gets one part in so many on top: nobody pays for room that is not used, but for holes left behind


class Workspace:
    """Arrays that are kept for the next time, each under a name: a step asks for memory only where it needs more.

    A copy of a workspace is empty.
    """

    def __init__(self) -> None:
        self._kept: dict[str, NDArray[Any]] = {}
        self._lent, self._pieces, self._used = "", dict[str, NDArray[np.uint8]](), 0

    def __reduce__(self) -> tuple[type[Workspace], tuple[()]]:
        return Workspace, ()

    def take(self, name: str, rows: int, columns: int | None = None, *, kind: Any = np.float64) -> NDArray[Any]:
        """(rows,) or (rows, columns), with whatever was in it; it is the same memory as under that name before.

        It begins at a cache line. A name may serve several purposes, one after the other. It always has the same
        columns and kind.
        """
        kept = self._kept.get(name)
        if kept is None or len(kept) < rows:
            room = rows if kept is None else rows + rows // ROOM + 16
            del kept  # before more is asked for
            self._kept.pop(name, None)
            kept = new_bytes(room * (columns or 1) * np.dtype(kind).itemsize).view(kind)
            self._kept[name] = kept = kept if columns is None else kept.reshape(room, columns)
        return kept[:rows]

    def lend(self, name: str) -> None:
        """Let others borrow what is kept under a name, until who has lent it takes it again and writes over it."""
        self._lent, self._pieces, self._used = name, {}, 0

    def borrow(self, name: str, rows: int, *, kind: Any = np.float64) -> NDArray[Any]:
        """(rows,) for a short while: within the memory that is lent, or as from `take` where that has no room.

        It keeps its place, and what is in it, until memory is lent again.
        """
        size, lent = rows * np.dtype(kind).itemsize, self._kept.get(self._lent)
        piece = self._pieces.get(name)
        if piece is None or len(piece) < size:
            end = self._used + -(-size // LINE) * LINE
            if lent is None or end > lent.nbytes:
                self._pieces.pop(name, None)
                return self.take(name, rows, kind=kind)
            piece = self._pieces[name] = lent.reshape(-1).view(np.uint8)[self._used : end]
            self._used = end
            self._kept.pop(name, None)
        return piece[:size].view(kind)


def copy_rows(rows: Array, to: Array) -> None:
    """Copy a table, on several threads if it is large."""
    if worth(len(rows)) > 1 and rows.dtype == to.dtype and rows.flags.c_contiguous and to.flags.c_contiguous:
        from .board import copy

        spread(copy, rows.size, rows.reshape(-1), to.reshape(-1))
    else:
        np.copyto(to, rows)


def new_table(rows: int, columns: int) -> Array:
    """A table that begins at a cache line, not yet filled."""
    return new_bytes(8 * rows * columns).view(np.float64).reshape(rows, columns)


def new_bytes(size: int) -> NDArray[np.uint8]:
    """So many bytes from a cache line on.

    Tables that grow would leave holes among others, which nobody can use: large ones are mappings of their own.
    """
    if size < LARGE or not hasattr(mmap, "MAP_ANONYMOUS"):
        raw = np.empty(size + LINE, np.uint8)
        first = -raw.ctypes.data % LINE
        return raw[first : first + size]
    own = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if size >= HUGE and hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # systems without large pages
            own.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(own, np.uint8)


def on_lines(table: Array) -> Array:
    """The table itself, or a copy if it does not begin at a cache line."""
    if table.ctypes.data % LINE == 0:
        return table
    moved = new_table(*table.shape)
    moved[:] = table
    return moved


def give_back() -> None:
    """Let the system have what was given up within the heap, where the C library knows how: preparing many grains
    leaves as much there as they take afterwards."""
    with suppress(OSError, TypeError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
