"""One series of point clouds in transient VTKHDF layout, as ParaView reads it: a group that frames are appended to.

Each frame is one poly-vertex cell over all its points, so that its bookkeeping is a few numbers however many points
there are, and the connectivity 0, 1, 2, ... is shared by all frames. Arrays that rarely change are written again only
when they do: frames point to the rows they use. Bookkeeping that is equal by nature is one data set with many names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import accumulate
from typing import Any

import h5py
import numpy as np
from h5py import h5d, h5s
from numpy.typing import NDArray

Array = NDArray[Any]

TOPOLOGIES = ("Vertices", "Lines", "Strips", "Polygons")
NUMBERS = 256  # rows of a chunk of numbers
ROWS = 256, 32768  # least and most rows of a chunk of points


@dataclass
class Cloud:
    """What one frame appends to a series.

    points : (n, 3) m
    data   : arrays (n, ...) of this frame; once : arrays (n, ...) that rarely change
    scalars : numbers of this frame; tables : arrays (w, k) of this frame, all of one length w
    tables_once : arrays (w, k) that rarely change
    precision : of points, data and once as far as they are no whole numbers; None: as they are
    """

    time: float
    points: Array
    data: dict[str, Array] = field(default_factory=dict)
    once: dict[str, Array] = field(default_factory=dict)
    scalars: dict[str, float] = field(default_factory=dict)
    tables: dict[str, Array] = field(default_factory=dict)
    tables_once: dict[str, Array] = field(default_factory=dict)
    precision: type | None = None

    def stored(self, array: Array) -> Array:
        """An array as a file holds it; one at a time, since a copy of all of them would be large."""
        rounded = self.precision if array.dtype.kind == "f" else None
        return np.ascontiguousarray(array, dtype=rounded)


class Column:
    """A data set of a group that grows by rows."""

    def __init__(self, group: h5py.Group, path: str) -> None:
        self._id = h5d.open(group.id, path.encode())  # ten times as fast as group[path]
        self.dtype = self._id.dtype
        self.length: int
        self.length, *self._tail = self._id.shape

    def append(self, rows: Array) -> int:
        """Add rows at the end; returns the number of the first."""
        first, count = self.length, len(rows)
        if count:
            self.length += count
            self._id.set_extent((self.length, *self._tail))
            there = h5s.create_simple((self.length, *self._tail))
            there.select_hyperslab((first, *(0 for _ in self._tail)), (count, *self._tail))
            self._id.write(h5s.create_simple(rows.shape), there, np.ascontiguousarray(rows))
        return first

    def extend(self, parts: Sequence[Array]) -> list[int]:
        """Add several arrays, in one go; returns the number of the first row of each."""
        first = [*accumulate((len(part) for part in parts), initial=self.length)]
        if parts:
            self.append(parts[0] if len(parts) == 1 else np.concatenate(parts))
        return first[:-1]


def read_whole(group: h5py.Group, name: str) -> Array:
    """All of a data set of numbers; several times as fast as group[name][:], which looks for more."""
    data = h5d.open(group.id, name.encode())
    found: Array = np.empty(data.shape, data.dtype)
    if found.size:
        data.read(h5s.ALL, h5s.ALL, found)
    return found


class Series:
    """A VTKHDF group and its frames."""

    def __init__(self, group: h5py.Group, *, compression: str | None = None, expected: int = 1) -> None:
        self.group, self._compression, self._expected = group, compression, max(expected, 1)
        self._columns: dict[str, Column] = {}
        self._kept: dict[str, tuple[int, bytes]] = {}
        self._there: dict[str, set[str]] = {}  # names of data sets, which do not change

    @classmethod
    def create(
        cls, parent: h5py.Group, name: str, first: Cloud, *, compression: str | None = None, expected: int
    ) -> Series:
        """An empty series for frames like the first, of about so many points. VTK asks for version and type."""
        group = parent.create_group(name)
        group.attrs["Version"] = np.array([2, 2], np.int64)
        group.attrs.create("Type", b"PolyData", dtype=h5py.string_dtype("ascii", 8))
        group.create_group("Steps").attrs["NSteps"] = np.int64(0)
        series = cls(group, compression=compression, expected=expected)
        series._make_bookkeeping()
        series._make("Points", first.stored(first.points[:0]))
        for name, array in (first.data | first.once).items():
            series._make(f"PointData/{name}", first.stored(array[:0]))
        for name in first.scalars:
            series._make(f"FieldData/{name}", np.zeros(1))
        for name, array in (first.tables | first.tables_once).items():
            series._make(f"FieldData/{name}", array)
        number, pair = np.zeros(1, np.int64), np.zeros((1, 2), np.int64)
        series._make_shared("Steps/PointDataOffsets", first.data, group["Steps/PointOffsets"])
        series._make_shared("Steps/FieldDataOffsets", first.scalars, group["Steps/PartOffsets"])
        series._make_shared("Steps/FieldDataSizes", first.scalars, series._make("Steps/ScalarSizes", pair))
        series._make_shared("Steps/FieldDataOffsets", first.tables, series._make("Steps/TableOffsets", number))
        series._make_shared("Steps/FieldDataSizes", first.tables, series._make("Steps/TableSizes", pair))
        for name in first.once:
            series._make(f"Steps/PointDataOffsets/{name}", number)
        for name in first.tables_once:
            series._make(f"Steps/FieldDataOffsets/{name}", number)
            series._make(f"Steps/FieldDataSizes/{name}", pair)
        return series

    @property
    def steps(self) -> int:
        """Number of frames, by the index."""
        return int(self.group["Steps"].attrs["NSteps"])

    @property
    def rows(self) -> int:
        """Number of frames, by what is there of them."""
        return int(self.group["Steps/Values"].shape[0])

    def known(self, cloud: Cloud) -> Cloud:
        """A frame as files of earlier versions hold it: names they lack are left out, old numbers stay as they were."""
        if not self._there:
            points, fields = self.group["PointData"], self.group["FieldData"]
            self._there = {"points": set(points), "fields": set(fields)}
            self._there["scalars"] = {name for name in fields if len(h5d.open(fields.id, name.encode()).shape) == 1}
        parts = {"data": "points", "once": "points", "scalars": "fields", "tables": "fields", "tables_once": "fields"}
        some: dict[str, Any] = {
            part: {name: one for name, one in getattr(cloud, part).items() if name in self._there[kind]}
            for part, kind in parts.items()
        }
        for name in self._there["scalars"] - cloud.scalars.keys():
            some["scalars"][name] = float(self.group[f"FieldData/{name}"][-1])
        return replace(cloud, **some)

    def append(self, *clouds: Cloud) -> None:
        """Add frames, all of the same arrays."""
        step, first = self.steps, clouds[0]
        steps, ones = range(step, step + len(clouds)), np.ones(len(clouds), np.int64)
        counts = np.array([len(cloud.points) for cloud in clouds])
        self._add("NumberOfPoints", counts)
        self._add("Steps/Values", [cloud.time for cloud in clouds])
        self._add("Steps/PartOffsets", steps)
        self._add("Steps/NumberOfParts", ones)
        self._add("Steps/PointOffsets", self._column("Points").extend([cloud.stored(cloud.points) for cloud in clouds]))
        self._add_cells(steps, counts)
        for name in first.data:
            self._column(f"PointData/{name}").extend([cloud.stored(cloud.data[name]) for cloud in clouds])
        for name in first.once:
            self._add_changed("PointData", name, [cloud.stored(cloud.once[name]) for cloud in clouds])
        for name in first.scalars:
            self._add(f"FieldData/{name}", [cloud.scalars[name] for cloud in clouds])
        self._add("Steps/ScalarSizes", np.column_stack((ones, ones)))
        sizes, rows = [(0, 0) for _ in clouds], [0 for _ in clouds]
        for name in first.tables:
            tables = [cloud.tables[name] for cloud in clouds]
            sizes, rows = [table.shape[::-1] for table in tables], self._column(f"FieldData/{name}").extend(tables)
        self._add("Steps/TableOffsets", rows)
        self._add("Steps/TableSizes", sizes)
        for name in first.tables_once:
            tables = [cloud.tables_once[name] for cloud in clouds]
            self._add_changed("FieldData", name, tables)
            self._add(f"Steps/FieldDataSizes/{name}", [table.shape[::-1] for table in tables])
        self.group["Steps"].attrs.modify("NSteps", np.int64(steps.stop))

    def drop_last(self) -> None:
        """Take out the last of several frames, as if it had never been appended."""
        group, last = self.group, self.steps - 1
        own = group["Steps/PointOffsets"], group["Steps/TableOffsets"]  # of arrays that each frame has for itself
        kept: dict[str, int] = {"Points": int(group["Steps/PointOffsets"][last])}  # rows, by path
        for kind in ("PointData", "FieldData"):
            for name, offsets in group[f"Steps/{kind}Offsets"].items():
                first = int(offsets[last])
                if offsets not in own and first == int(offsets[last - 1]):  # the frame before uses them too
                    first += len(self.read(f"{kind}/{name}", last))
                kept[f"{kind}/{name}"] = first
        for name in TOPOLOGIES:
            kept[f"{name}/Offsets"] = last * (2 if name == "Vertices" else 1)
            kept |= {f"{name}/{part}": last for part in ("NumberOfCells", "NumberOfConnectivityIds")}
        kept["NumberOfPoints"] = last
        numbers: dict[str, int] = {}

        def note(name: str, item: Any) -> None:
            if isinstance(item, h5py.Dataset):
                numbers[f"Steps/{name}"] = last

        group["Steps"].visititems(note)  # each data set once, whatever its names
        for path, rows in (kept | numbers).items():
            group[path].resize(rows, 0)
        group["Steps"].attrs.modify("NSteps", np.int64(last))
        self._columns.clear()
        self._kept.clear()

    def read(self, path: str, step: int) -> Array:
        """Rows of an array at a step; path is "Points", "PointData/..." or "FieldData/..."."""
        kind, _, name = path.partition("/")
        if kind == "FieldData":
            start, (_, count) = (self.group[f"Steps/FieldData{part}/{name}"][step] for part in ("Offsets", "Sizes"))
        else:
            offsets = "Steps/PointOffsets" if kind == "Points" else f"Steps/PointDataOffsets/{name}"
            start, count = self.group[offsets][step], self.group["NumberOfPoints"][step]
        return np.asarray(self.group[path][int(start) : int(start) + int(count)])

    def cloud(self, step: int) -> Cloud:
        """A whole frame, as it was appended."""
        offsets, fields = self.group["Steps/PointDataOffsets"], self.group["FieldData"]
        data = {name: self.read(f"PointData/{name}", step) for name in self.names("PointData")}
        tables = {name: self.read(f"FieldData/{name}", step) for name in fields if fields[name].ndim > 1}
        scalars = {name: float(fields[name][step]) for name in fields if fields[name].ndim == 1}
        moving, shared = self.group["Steps/PointOffsets"], self.group["Steps/TableOffsets"]
        once = {name: data.pop(name) for name in list(data) if offsets[name] != moving}
        offsets = self.group["Steps/FieldDataOffsets"]
        tables_once = {name: tables.pop(name) for name in list(tables) if offsets[name] != shared}
        time = float(self.group["Steps/Values"][step])
        return Cloud(time, self.read("Points", step), data, once, scalars, tables, tables_once)

    def names(self, kind: str) -> list[str]:
        """Names of the arrays of a kind, "PointData" or "FieldData"."""
        return list(self.group[kind])

    def _make_bookkeeping(self) -> None:
        number, four = np.zeros(1, np.int64), np.zeros((1, 4), np.int64)
        for name in ("Steps/PartOffsets", "Steps/NumberOfParts", "Steps/PointOffsets", "NumberOfPoints"):
            self._make(name, number)
        self._make("Steps/Values", np.zeros(1))
        self._make("Steps/CellOffsets", four)
        self._make("Steps/ConnectivityIdOffsets", four)
        for name in TOPOLOGIES:
            for part in ("NumberOfCells", "NumberOfConnectivityIds", "Connectivity", "Offsets"):
                self._make(f"{name}/{part}", number)
        for name in ("PointData", "FieldData", "Steps/PointDataOffsets", "Steps/FieldDataOffsets"):
            self.group.create_group(name)
        self.group.create_group("Steps/FieldDataSizes")

    def _make(self, name: str, like: Array) -> h5py.Dataset:
        """An empty data set that grows by rows; chunks of points hold whole frames, or even parts of one."""
        points = name.startswith("Point")
        rows = NUMBERS
        if points:
            parts = -(-self._expected // ROWS[1])
            rows = self._expected * -(-ROWS[0] // self._expected) if parts == 1 else -(-self._expected // parts)
        return self.group.create_dataset(
            name, (0, *like.shape[1:]), like.dtype, maxshape=(None, *like.shape[1:]), chunks=(rows, *like.shape[1:]),
            compression=self._compression if points else None, shuffle=bool(self._compression) and points,
        )  # fmt: skip

    def _make_shared(self, kind: str, names: dict[str, Any], dataset: h5py.Dataset) -> None:
        """One data set under many names."""
        for name in names:
            self.group[f"{kind}/{name}"] = dataset

    def _column(self, path: str) -> Column:
        if path not in self._columns:
            self._columns[path] = Column(self.group, path)
        return self._columns[path]

    def _add(self, path: str, numbers: Any) -> None:
        """One or more numbers for each frame."""
        column = self._column(path)
        column.append(np.array(numbers, column.dtype))

    def _add_changed(self, kind: str, name: str, arrays: list[Array]) -> None:
        """Of arrays that rarely change those that differ from the one before, and for each frame where its own is."""
        path, offsets = f"{kind}/{name}", f"Steps/{kind}Offsets/{name}"
        if path not in self._kept and self.steps:
            self._kept[path] = int(self.group[offsets][self.steps - 1]), fingerprint(self.read(path, self.steps - 1))
        column = self._column(path)
        new, end, rows = [], column.length, []
        for array in arrays:
            mark = fingerprint(array)
            if path not in self._kept or self._kept[path][1] != mark:
                self._kept[path] = end, mark
                new.append(array)
                end += len(array)
            rows.append(self._kept[path][0])
        column.extend(new)
        self._add(offsets, rows)

    def _add_cells(self, steps: range, counts: Array) -> None:
        """For each frame one poly-vertex cell with all points; no lines, strips or polygons."""
        listed = self._column("Vertices/Connectivity")
        listed.append(np.arange(listed.length, max(listed.length, counts.max())))
        zero, four = np.zeros_like(counts), np.zeros((len(counts), 4), np.int64)
        for name in TOPOLOGIES:
            some = name == "Vertices"
            self._add(f"{name}/NumberOfCells", zero + some)
            self._add(f"{name}/NumberOfConnectivityIds", counts if some else zero)
            self._add(f"{name}/Offsets", np.column_stack((zero, counts)).ravel() if some else zero)
        self._add("Steps/ConnectivityIdOffsets", four)
        four[:, 0] = steps
        self._add("Steps/CellOffsets", four)


def fingerprint(array: Array) -> bytes:
    """What tells an array from all others, in place of a copy of it."""
    return blake2b(np.ascontiguousarray(array).data, digest_size=32, person=str(array.shape).encode()[:16]).digest()
