"""One worker at a time: a lock on a folder, which the system drops with the process that has it."""

from __future__ import annotations

import time as clock
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path

from ..files import windows

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

NAME = "lock"
PATIENCE = 20.0  # s, for a worker that is just dying to let go of its run


@contextmanager
def alone(folder: Path, *, wait: float = PATIENCE) -> Iterator[bool]:
    """Whether nobody else has the folder, after a wait (s) at most."""
    with open(folder / NAME, "a", encoding="ascii") as file:
        until = clock.monotonic() + wait
        while not (mine := _take(file)) and clock.monotonic() < until:
            clock.sleep(0.1)
        yield mine


def _take(file: TextIOWrapper) -> bool:
    if fcntl is None:
        return windows.take(file)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks has none to take
        return True
    return True
