"""A system that, as Windows does, neither renames nor deletes nor replaces a file that this process has open."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any


def is_open(path: Any) -> bool:
    """Whether a descriptor of this process leads to the file, or into the folder."""
    place = os.path.abspath(path)
    for number in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            target = os.readlink(f"/proc/self/fd/{number}")
            if target == place or target.startswith(place + os.sep):
                return True
    return False


def refuse_open_files(monkeypatch: Any) -> list[str]:
    """Let os.replace, os.rename and os.unlink refuse such files from now on; what they refused is listed."""
    refused: list[str] = []

    def guarded(name: str, call: Any) -> Any:
        def guard(*paths: Any, **words: Any) -> Any:
            for path in paths:
                if os.path.exists(path) and is_open(path):
                    refused.append(f"{name} {Path(path).name}")
                    raise PermissionError(13, "The process cannot access the file because it is being used", str(path))
            return call(*paths, **words)

        return guard

    for name in ("replace", "rename", "unlink", "remove"):
        monkeypatch.setattr(os, name, guarded(name, getattr(os, name)))
    return refused
