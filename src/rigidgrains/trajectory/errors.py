"""What can be wrong with a trajectory file, told in one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class TrajectoryError(ValueError):
    """A file that cannot be read, written or resumed; the text says which, why, and the remedy."""


class NotInFile(TrajectoryError, KeyError):
    """An array that the frames of a file do not have: it was left out when they were written."""

    __str__ = Exception.__str__  # that of KeyError quotes the text


class Mismatch(Exception):
    """Something in a file that does not match its checksum; the text says what."""


class WriteError(OSError):
    """A frame could not be written; the frames before it are intact."""


class FileLost(OSError):
    """A file that is being written is not the one under its name any more; the text says what has happened.

    intact : whether what was committed is still in the open file; now : its new name, if it has one
    """

    def __init__(self, number: int, told: str, *, intact: bool = True, now: Path | None = None) -> None:
        super().__init__(number, told)
        self.intact, self.now = intact, now


def unreadable(path: Path, problem: OSError) -> TrajectoryError:
    """A clear line for a file that the system does not let us read."""
    if isinstance(problem, FileNotFoundError):
        return TrajectoryError(f"{path}: no such file; check the name and the folder")
    if isinstance(problem, IsADirectoryError) or path.is_dir():
        return TrajectoryError(f"{path}: this is a folder; give the path of a trajectory file such as run.vtkhdf")
    return TrajectoryError(f"{path}: cannot be opened: {problem.strerror or problem}; check its permissions")


def damaged(path: Path, problem: Exception) -> TrajectoryError:
    """A clear line for a file that was a trajectory."""
    reason = "it ends too early" if "truncated file" in str(problem) else "HDF5 cannot read it"
    if isinstance(problem, Mismatch):
        reason = str(problem)
    elif isinstance(problem, (ArithmeticError, AttributeError, IndexError, TypeError, ValueError)):
        reason = f"what it holds makes no sense ({' '.join(str(problem).split())})"
    return TrajectoryError(f"{path} is damaged: {reason}; rigidgrains repair {path} may recover its frames")


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Whatever goes wrong within, where nothing but a file is read, is damage of that file, and told so."""
    try:
        yield
    except (TrajectoryError, MemoryError, BrokenPipeError):
        raise
    except Exception as problem:
        raise damaged(path, problem) from problem
