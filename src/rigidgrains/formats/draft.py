"""Files under temporary names, that get their own when all of them are whole."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from types import TracebackType

from ..files.outputs import check_outputs
from .errors import FormatError

FRAME = re.compile(r"(grains|contacts|surfaces)-\d{6,}\.(csv|vtu|stl|obj)")


class Draft:
    """What is written within `with` appears at `target`, and beside it, at the end; after an error nothing does.

    target : file or folder to make; source : file that is read meanwhile; force : replace files that are there
    """

    def __init__(self, target: Path, source: Path, *, force: bool = False, folder: bool = False) -> None:
        self._target, self._source, self._force, self._folder = target, source, force, folder
        self._files: list[Path] = []

    def __enter__(self) -> Draft:
        try:
            self._check_target()
            self._room = self._target.with_name(f"{self._target.name}.part{os.getpid()}")
            self._room.mkdir()
        except OSError as problem:
            raise unwritable(self._target, problem) from None
        return self

    def path(self, final: Path) -> Path:
        """Where to write what shall be called `final`: the target, a file in it, or one beside it."""
        if final.parent == self._target.parent:
            self._check(final)
        self._files.append(final)
        temporary = self._temporary(final)
        temporary.parent.mkdir(exist_ok=True)
        return temporary

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if error is None:
                self._publish()
        except OSError as problem:
            raise unwritable(self._target, problem) from None
        finally:
            shutil.rmtree(self._room, ignore_errors=True)
        if isinstance(error, OSError):
            raise unwritable(self._target, error) from None

    def _publish(self) -> None:
        if self._folder and not self._target.exists():
            os.rename(self._temporary(self._target), self._target)
            return
        for final in self._files:
            os.replace(self._temporary(final), final)
        if self._folder:  # frames of an earlier export would be taken for some of this one
            suffixes, names = {final.suffix for final in self._files}, {final.name for final in self._files}
            for old in self._target.iterdir():
                if FRAME.fullmatch(old.name) and old.suffix in suffixes and old.name not in names:
                    old.unlink()

    def _temporary(self, final: Path) -> Path:
        return self._room / final.relative_to(self._target.parent)

    def _check_target(self) -> None:
        target = self._target
        if not target.parent.is_dir():
            raise FormatError(target, f"there is no folder {target.parent}; make it first, or choose another")
        if target.is_dir() and not self._folder:
            raise FormatError(target, "this is a folder; give the name of a file in it with --output")
        if target.exists() and self._folder and not target.is_dir():
            raise FormatError(target, "this is a file, and a folder is to be made; choose another name with --output")
        self._check(target)

    def _check(self, final: Path) -> None:
        check_outputs(final, force=self._force, source=self._source)


def unwritable(path: Path, problem: OSError) -> FormatError:
    """A clear line about a place where nothing can be written."""
    return FormatError(path, f"cannot be written: {problem.strerror or problem}; choose another place with --output")
