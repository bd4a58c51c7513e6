"""What a look of the writer adds to a file, and its bytes: names and shapes as JSON, then the arrays."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .series import Cloud

Array = NDArray[Any]

LENGTH = struct.Struct("<Q")  # of the JSON text
PARTS = ("data", "once", "tables", "tables_once")  # of a cloud, arrays by name
KINDS = "fiu"  # of numbers


@dataclass
class Entry:
    """A frame, with the rows of the history that came before it.

    clouds  : by the group of their series
    walls   : their description
    history : rows by column, with `wall_force`; none of them if there is no history
    """

    clouds: dict[str, Cloud]
    walls: str
    history: dict[str, Array] = field(default_factory=dict)

    def nbytes(self) -> int:
        """About as many as `pack` makes."""
        return sum(array.nbytes for _, array in self._arrays())

    def pack(self) -> bytes:
        """All of it, as `unpack` takes it."""
        clouds = {name: [cloud.time, [*cloud.scalars]] for name, cloud in self.clouds.items()}
        arrays = {path: np.ascontiguousarray(array) for path, array in self._arrays()}
        words = {path: [array.dtype.str, array.shape] for path, array in arrays.items()}
        text = json.dumps({"walls": self.walls, "clouds": clouds, "arrays": words}).encode()
        return b"".join((LENGTH.pack(len(text)), text, *(array.data for array in arrays.values())))

    def _arrays(self) -> Iterator[tuple[str, Array]]:
        """As they are stored, by path."""
        for name, cloud in self.clouds.items():
            yield f"{name}/points", cloud.stored(cloud.points)
            yield f"{name}/scalars", np.array([*cloud.scalars.values()], float)
            for part in ("data", "once"):
                yield from ((f"{name}/{part}/{key}", cloud.stored(one)) for key, one in getattr(cloud, part).items())
            for part in ("tables", "tables_once"):
                yield from ((f"{name}/{part}/{key}", one) for key, one in getattr(cloud, part).items())
        yield from ((f"history/{name}", rows) for name, rows in self.history.items())


def unpack(data: bytes) -> Entry:
    """The entry that was packed; its arrays are views of the data."""
    (length,) = LENGTH.unpack_from(data)
    place = LENGTH.size + length
    words = json.loads(data[LENGTH.size : place])
    found: dict[str, dict[str, Array]] = {}
    for path, (kind, shape) in words["arrays"].items():
        dtype = np.dtype(kind)
        if dtype.kind not in KINDS:
            raise TypeError(f"{path} is no array of numbers")
        array = np.frombuffer(data, dtype, math.prod(shape), place).reshape(shape)
        place += array.nbytes
        folder, _, name = path.rpartition("/")
        found.setdefault(folder, {})[name] = array
    clouds = {}
    for group, (time, names) in words["clouds"].items():
        own = found[group]
        scalars = dict(zip(names, own["scalars"].tolist(), strict=True))
        parts: dict[str, Any] = {part: found.get(f"{group}/{part}", {}) for part in PARTS}
        clouds[group] = Cloud(time, own["points"], scalars=scalars, **parts)
    return Entry(clouds, words["walls"], found.get("history", {}))
