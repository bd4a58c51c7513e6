"""A file that changes all at once: what is below its committed end is touched only when a change is complete.

HDF5 rewrites its own bookkeeping in place, so that a process killed in the middle leaves a torn file. This file object
stands between h5py and the disk. New bytes beyond the committed end go to the disk at once: nobody refers to them yet.
Changes below it are held back as patches. `commit` then

1. appends the patches as a journal behind the new end, closed by a seal with their checksum,
2. applies them,
3. cuts the journal off.

Killed before the seal is written, the file is what it was, with loose bytes behind its end that HDF5 ignores. Killed
later, whoever opens the file next finds the seal and applies the patches again. There is no second file to lose: large
patches wait on the disk in one without a name, which nobody needs once the journal is sealed, nor before.

A commit is dear where little is added to many places. `log` keeps such additions, as they are, in records behind the
committed end; whoever opens the file finds them there (`records`). The next commit, which has them in their places,
cuts them off; until then what is written over them is held back too.
"""

from __future__ import annotations

import errno
import io
import os
import struct
import sys
import zlib
from bisect import bisect_left
from collections.abc import Iterator
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from .errors import FileLost, TrajectoryError
from .lock import lock
from .spill import PIECE, Spill, Spilled, get, pieces, put
from .whereabouts import data_end, marked_end, whereabouts

SEAL = b"rigidgrains seal"
FOOTER = struct.Struct("<QQI16s")  # end of the data, length and checksum of the patches, seal
PATCH = struct.Struct("<QQ")  # offset and length of one patch
LOG = b"rigidgrains log."
RECORD = struct.Struct("<16sQQI")  # mark, its own offset, length and checksum of the data that follow
LARGE, FEW = 1 << 16, 256  # bytes of a patch that is written by itself; smaller ones that are written together

Patches = list[tuple[int, bytes | Spilled]]


class AtomicFile(io.RawIOBase):
    """File object for h5py. Reading sees every write at once; the disk sees them whole, at `commit`.

    writable : False keeps all changes in memory, also those of a journal that a killed writer has left
    content  : of a new file, in place of whatever is there
    records  : what was logged before the file was opened, and is not in its place yet
    failure  : the error of the system at the first write that failed; from then on nothing is written any more
    """

    def __init__(self, path: Path, *, writable: bool, content: bytes | None = None) -> None:
        self._file = io.FileIO(path, "r+" if writable else "r", opener=None if content is None else _make)
        self.path = path.absolute()  # the working folder may change
        self.failure: OSError | None = None
        self._writable, self._sealed, self._place = writable, False, 0
        self._spill = Spill(path)
        if writable:
            try:
                lock(self._file, path)
                if content is not None:
                    if not os.path.samestat(os.stat(path), os.fstat(self._file.fileno())):
                        raise TrajectoryError(f"{path}: another run has just begun here; choose another place")
                    self._file.truncate(0)
                    put(self._file, content, 0)
                heal(self._file)
            except BaseException:
                self._file.close()
                raise
        left = None if writable else read_journal(self._file)
        self._patches: Patches = left[1] if left else []
        self._end = self._size = left[0] if left else data_end(self._file)
        if self._end > os.fstat(self._file.fileno()).st_size:
            self._file.close()
            raise OSError("truncated file")
        self.records, logged = ([], self._end) if left else read_log(self._file, self._end)
        self._held = logged if writable else sys.maxsize  # below it nothing on the disk is touched before a commit
        self._mark = marked_end(self._file)

    def log(self, data: bytes) -> bool:
        """Keep data behind the end until the next commit, which has to put them in their place, has taken it over.

        False, and nothing is kept, if there are changes by now that wait for a commit. Raises as `commit` does.
        """
        self._raise_failure()
        if self._patches or self._size != self._end:
            return False
        lost = self.check()
        try:
            put(self._file, RECORD.pack(LOG, self._held, len(data), zlib.crc32(data)) + data, self._held)
        except OSError as problem:
            self.failure = problem
            raise
        self._held += RECORD.size + len(data)
        if lost is not None:
            raise lost
        return True

    def commit(self, *, durable: bool = False) -> None:
        """Make all changes since the last commit real, together, in place of the log. Durable: also if the power fails
        right after.

        Raises FileLost, also after a commit, if the file is not where it was: nobody would find what is written.
        """
        self._raise_failure()
        if not self._patches and self._size == self._end:
            return
        lost = self.check()
        try:
            place = max(self._size, self._held)
            for part in journal(self._patches, self._size):
                put(self._file, part, place)
                place += len(part)
            self._sealed = True
            if durable:
                os.fsync(self._file)
            _apply(self._file, self._patches)
            if durable:
                os.fsync(self._file)
            self._file.truncate(self._size)
        except OSError as problem:
            self.failure = self.failure or problem
            self._raise_failure()
        self._patches, self._end, self._held, self._sealed = [], self._size, self._size, False
        self.records = []
        self._mark = marked_end(self._file)
        self._spill.clear()
        if lost is not None:
            raise lost

    def check(self) -> FileLost | None:
        """None if the file is where it was; what has happened if it is not, raised if it is somebody else's by now."""
        lost = whereabouts(self._file, self.path, self._held, self._mark)
        if lost is not None and not lost.intact:
            self.failure = lost
            raise lost
        return lost

    def copy(self, path: Path) -> None:
        """Copy what is committed, and the log, to a file that is not there yet; after an error there is none."""
        with open(path, "xb") as copy:
            try:
                for place in range(0, self._held, PIECE):
                    copy.write(get(self._file, min(PIECE, self._held - place), place))
            except BaseException:
                copy.close()  # Windows deletes no open file
                path.unlink()
                raise

    def rename(self, path: Path) -> None:
        """Give the file another name, replacing whatever has it. Windows renames no open file: there it is closed
        meanwhile.
        """
        try:
            os.replace(self.path, path)
        except PermissionError:
            ours = os.fstat(self._file.fileno())
            self._file.close()
            try:
                os.replace(self.path, path)
                self.path = path.absolute()
            finally:
                self._file = io.FileIO(self.path, "r+")
                lock(self._file, self.path)
            if not os.path.samestat(os.fstat(self._file.fileno()), ours):
                raise FileLost(errno.EBUSY, "another run has begun to write this file", intact=False) from None
        self.path = path.absolute()

    def abandon(self) -> None:
        """Drop what is neither committed nor logged; later writes are ignored, for a broken HDF5 handle to be closed.

        A journal that has its seal is left for whoever opens the file next. A file that is another's is left as it is.
        """
        self.failure = self.failure or OSError("abandoned")
        self._patches = []
        self._spill.clear()
        if self._writable and not self._sealed and not isinstance(self.failure, FileLost):
            self._file.truncate(self._held)

    def close(self) -> None:
        self._file.close()
        self._spill.clear()
        super().close()

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return self._writable

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._place = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        return self._place

    def tell(self) -> int:
        return self._place

    def truncate(self, size: int | None = None) -> int:
        self._size = self._place if size is None else size
        return self._size

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        start, count = self._place, max(0, min(len(view), self._size - self._place))
        self._file.seek(start)
        found = self._file.readinto(view[:count]) or 0
        view[found:count] = bytes(count - found)  # never written
        first = bisect_left(self._patches, start, key=itemgetter(0))
        for offset, patch in islice(self._patches, max(0, first - 1), None):
            if offset >= start + count:
                break
            low, high = max(offset, start), min(offset + len(patch), start + count)
            if low < high:
                view[low - start : high - start] = patch[low - offset : high - offset]
        self._place += count
        return count

    def write(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        start, stop = self._place, self._place + len(view)
        if self.failure is None:
            below = max(0, min(stop, self._held) - start)
            try:
                if below:
                    self._patch(start, view[:below])
                if stop > self._held:
                    put(self._file, view[below:], start + below)
            except OSError as problem:  # h5py cannot carry it: commit will tell
                self.failure = problem
        self._place, self._size = stop, max(self._size, stop)
        return len(view)

    def _patch(self, start: int, data: memoryview) -> None:
        """Hold back a change below the committed end, or over the log. Patches are in order, joined where they meet."""
        patches, stop = self._patches, start + len(data)
        low = bisect_left(patches, start, key=itemgetter(0))
        if low and patches[low - 1][0] + len(patches[low - 1][1]) > start:
            low -= 1
        high = bisect_left(patches, stop, key=itemgetter(0))
        if low < high:
            (first, old), (last, tail) = patches[low], patches[high - 1]
            data = memoryview(b"".join((old[: max(0, start - first)], data, tail[max(0, stop - last) :])))
            start = min(start, first)
        patches[low:high] = [(start, self._spill.keep(data) if self._writable else bytes(data))]

    def _raise_failure(self) -> None:
        if self.failure is not None:
            raise self.failure


def journal(patches: Patches, end: int) -> Iterator[bytes]:
    """The patches, each with its place, and the seal; some at a time."""
    length = checksum = 0
    small: list[bytes] = []
    for offset, patch in patches:
        for piece in chain([PATCH.pack(offset, len(patch))], pieces(patch)):
            length, checksum = length + len(piece), zlib.crc32(piece, checksum)
            small.append(piece)
            if len(piece) >= LARGE or len(small) >= FEW:
                yield from (b"".join(small[:-1]), piece)
                small.clear()
    yield b"".join(small) + FOOTER.pack(end, length, checksum, SEAL)


def read_journal(file: io.FileIO) -> tuple[int, Patches] | None:
    """End of the data and patches of a journal that a killed writer left behind its seal; None without one."""
    size = os.fstat(file.fileno()).st_size
    if size < FOOTER.size:
        return None
    end, length, checksum, seal = FOOTER.unpack(get(file, FOOTER.size, size - FOOTER.size))
    start = size - FOOTER.size - length
    if seal != SEAL or not end <= start < size:
        return None
    body = get(file, length, start)
    if zlib.crc32(body) != checksum:
        return None
    patches: Patches = []
    place = 0
    while place < length:
        offset, count = PATCH.unpack_from(body, place)
        place += PATCH.size
        patches.append((offset, body[place : place + count]))
        place += count
    return end, patches


def read_log(file: io.FileIO, end: int) -> tuple[list[bytes], int]:
    """What was logged behind the end of the data, as far as it is whole, and where the log ends."""
    records: list[bytes] = []
    while len(head := get(file, RECORD.size, end)) == RECORD.size:
        mark, place, length, checksum = RECORD.unpack(head)
        if mark != LOG or place != end or end + RECORD.size + length > os.fstat(file.fileno()).st_size:
            break
        data = get(file, length, end + RECORD.size)
        if zlib.crc32(data) != checksum:
            break
        records.append(data)
        end += RECORD.size + length
    return records, end


def heal(file: io.FileIO) -> bool:
    """Finish the commit of a writer that was killed, or cut off what it left unfinished; True if anything was done.

    What it has logged is left to whoever can put it in its place.
    """
    size = os.fstat(file.fileno()).st_size
    if found := read_journal(file):
        end, patches = found
        _apply(file, patches)
    else:
        _, end = read_log(file, data_end(file))
    if end < size:
        file.truncate(end)
    return end < size


def _apply(file: io.FileIO, patches: Patches) -> None:
    """Write each patch to its place."""
    for offset, patch in patches:
        for piece in pieces(patch):
            put(file, piece, offset)
            offset += len(piece)


def _make(path: str, flags: int) -> int:
    """Open a file that need not be there; it is emptied only when its lock is taken."""
    return os.open(path, flags | os.O_CREAT, 0o666)
