"""Large changes that a file holds back, kept in a file without a name until they are due: memory is for grains."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LARGE = 1 << 20  # bytes from which on a change is kept on the disk
PIECE = 1 << 20  # bytes that are read at a time


class Spilled:
    """Bytes on the disk; slices of it are bytes in memory."""

    def __init__(self, file: Any, place: int, length: int) -> None:
        self._file, self._place, self._length = file, place, length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, part: slice) -> bytes:
        start, stop, _ = part.indices(self._length)
        return get(self._file, max(0, stop - start), self._place + start)


class Spill:
    """Beside the file at `path`, where there is room for what goes into it; the system removes it, come what may."""

    def __init__(self, path: Path) -> None:
        self._folder, self._end = path.parent, 0
        self._file: Any = None

    def keep(self, data: memoryview) -> Spilled | bytes:
        """The same bytes, on the disk if they are many."""
        if len(data) < LARGE:
            return bytes(data)
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115 (closed by clear)
        put(self._file, data, self._end)
        kept = Spilled(self._file, self._end, len(data))
        self._end += len(data)
        return kept

    def clear(self) -> None:
        """Forget everything; the room on the disk is given back."""
        if self._file is not None:
            self._file.close()
        self._file, self._end = None, 0


def pieces(data: bytes | Spilled) -> Iterator[bytes]:
    """Bytes, some at a time."""
    for start in range(0, len(data), PIECE):
        yield data[start : start + PIECE]


def get(file: io.FileIO, count: int, offset: int) -> bytes:
    """So many bytes of a file, or fewer if it ends before."""
    file.seek(offset)
    parts = []
    while count and (part := file.read(count)):
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def put(file: io.FileIO, data: Any, offset: int) -> None:
    """Write all of the data."""
    view = memoryview(data)
    file.seek(offset)
    while len(view):
        view = view[file.write(view) :]
