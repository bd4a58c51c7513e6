"""Adds frames to an open file: series, checksums, descriptions of walls, history; many in one go."""

from __future__ import annotations

import h5py
import numpy as np

from . import checksums
from .entry import Array, Entry
from .series import Column, Series
from .texts import get_text, put_text

GROUPS = ("VTKHDF", "contacts")  # of the series


class Appender:
    """Of one file; it finds its data sets once.

    series : of the groups that it has
    """

    def __init__(self, file: h5py.File) -> None:
        self._file = file
        self.series = {name: Series(file[name]) for name in GROUPS if name in file}
        history = file["history"]
        self._columns = {name: Column(history, name) for name in history}
        self._walls: tuple[int, str] | None = None  # number and text of the last description

    def append(self, entries: list[Entry]) -> None:
        """Add frames with their rows of the history."""
        for entry in entries:
            entry.clouds["VTKHDF"].scalars["wall_table"] = self._wall_table(entry.walls)
        checksums.append(self._file, [entry.clouds for entry in entries])
        for name, series in self.series.items():
            series.append(*(entry.clouds[name] for entry in entries))
        parts = [entry.history for entry in entries if entry.history]
        if parts:
            self.append_history({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})

    def append_history(self, rows: dict[str, Array]) -> None:
        """Add rows, by column; files of earlier versions lack some columns."""
        added = {name: column for name, column in rows.items() if name in self._columns}
        for name, column in added.items():
            self._columns[name].append(column)
        if added:
            checksums.extend_history(self._file["history"], added)

    def _wall_table(self, text: str) -> int:
        """Number of the description that holds for walls."""
        group = self._file["walls"]
        if self._walls is None:
            last = len(group) - 1
            self._walls = last, get_text(group, str(last))
        if self._walls[1] != text:
            self._walls = self._walls[0] + 1, text
            put_text(group, str(self._walls[0]), text)
        return self._walls[0]
