"""What can be wrong with a file of another program, told in one line."""

from __future__ import annotations

from pathlib import Path


class FormatError(ValueError):
    """A file that cannot be read or written: which one, why, and the remedy."""

    def __init__(self, path: str | Path, reason: str) -> None:
        self.path, self.reason = Path(path), reason
        super().__init__(f"{path}: {reason}")


class FrameError(FormatError):
    """A frame that the file does not have."""

    def __init__(self, path: str | Path, frame: int | str, count: int) -> None:
        there = "it has no frame" if not count else f"it has {count}, 0 to {count - 1} (-1 or last is the last)"
        super().__init__(path, f"there is no frame {frame}; {there}")
