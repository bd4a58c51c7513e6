"""Vertices of a surface in a file: STL (text or binary) or OBJ."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from .core import Array

HEAD, RECORD = 84, np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def read_vertices(path: str | os.PathLike[str]) -> Array:
    """Different vertices (k, 3) of a file, in a fixed order."""
    file = Path(path)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ValueError(f"{file} cannot be read: {error.strerror}; check the path") from None
    readers = {".stl": _stl, ".obj": _obj}
    if file.suffix.lower() not in readers:
        raise ValueError(f"{file} has the ending {file.suffix!r}; give a file that ends in .stl or .obj")
    try:
        points = readers[file.suffix.lower()](data)
    except (ValueError, IndexError):
        raise ValueError(f"{file} is damaged or of another kind; export it again as STL or OBJ") from None
    if len(points) == 0:
        raise ValueError(f"{file} has no vertices; export the surface again")
    if not np.isfinite(points).all():
        raise ValueError(f"{file} has a vertex that is not finite; export the surface again")
    return np.unique(points, axis=0)


def _stl(data: bytes) -> Array:
    """Binary where the length says so, since binary files may begin with the word `solid` too."""
    if len(data) >= HEAD:
        count = int.from_bytes(data[HEAD - 4 : HEAD], "little")
        if len(data) == HEAD + count * RECORD.itemsize:
            return np.frombuffer(data, RECORD, count, HEAD)["corners"].reshape(-1, 3).astype(float)
    if not data.lstrip().startswith(b"solid"):
        raise ValueError
    return _numbers(data, "vertex")


def _obj(data: bytes) -> Array:
    return _numbers(data, "v")


def _numbers(data: bytes, word: str) -> Array:
    """The three numbers of each line that begins with a word."""
    lines = (line.split() for line in data.decode("utf-8", "replace").splitlines())
    rows = [[float(number) for number in line[1:4]] for line in lines if line and line[0] == word]
    return np.array(rows, float).reshape(-1, 3)
