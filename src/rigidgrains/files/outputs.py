"""Where results may be written: nothing that is there is lost unasked, and a file that is being read never."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class OutputError(ValueError):
    """A place where nothing may be written; the text says which, why, and the remedy."""


def check_outputs(*paths: Path, force: bool, source: Path | None = None, remedy: str = "choose another name") -> None:
    """Refuse files and filled folders that are there, all of them at once, unless `force` says that they may go.

    source : the file from which the results are made; not even force replaces it
    remedy : what else can be done
    """
    for path in paths:
        if source is not None and path.exists() and source.exists() and path.samefile(source):
            raise OutputError(f"{path}: this is the file to be read; choose another name")
    there = [] if force else [str(path) for path in paths if taken(path)]
    if len(there) == 1:
        raise OutputError(f"{there[0]} exists and is left alone; {remedy}, or overwrite it with force=True")
    if there:
        names = f"{', '.join(there[:-1])} and {there[-1]}"
        raise OutputError(f"{names} exist and are left alone; {remedy}, or overwrite them with force=True")


def taken(path: Path) -> bool:
    """Whether there is something that could be lost; an empty folder is not."""
    return os.path.lexists(path) and not (path.is_dir() and not any(path.iterdir()))


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A temporary name for a file that comes to its own when it is complete, and not at all after an error."""
    part = path.with_name(path.name + ".part")
    try:
        yield part
        os.replace(part, path)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
