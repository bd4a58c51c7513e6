"""One series of point clouds in transient VTKHDF layout, as ParaView reads it: a group that frames are appended to.

Each frame is one poly-vertex cell over all its points, so that its bookkeeping is a few numbers however many points
there are, and the connectivity 0, 1, 2, ... is shared by all frames. Arrays that rarely change are written again only
when they do: frames point to the rows they use. Bookkeeping that is equal by nature is one data set with many names.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

import h5py
import numpy as np
from h5py import h5s
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
    """A data set that grows by rows."""

    def __init__(self, dataset: h5py.Dataset) -> None:
        self._id, self._tail, self.dtype = dataset.id, dataset.shape[1:], dataset.dtype
        self.length: int = dataset.shape[0]

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
            self._there["scalars"] = {name for name in fields if fields[name].ndim == 1}
        parts = {"data": "points", "once": "points", "scalars": "fields", "tables": "fields", "tables_once": "fields"}
        some: dict[str, Any] = {
            part: {name: one for name, one in getattr(cloud, part).items() if name in self._there[kind]}
            for part, kind in parts.items()
        }
        for name in self._there["scalars"] - cloud.scalars.keys():
            some["scalars"][name] = float(self.group[f"FieldData/{name}"][-1])
        return replace(cloud, **some)

    def append(self, cloud: Cloud) -> None:
        """Add a frame."""
        step, n = self.steps, len(cloud.points)
        self._add("NumberOfPoints", n)
        self._add("Steps/Values", cloud.time)
        self._add("Steps/PartOffsets", step)
        self._add("Steps/NumberOfParts", 1)
        self._add("Steps/PointOffsets", self._column("Points").append(cloud.stored(cloud.points)))
        self._add_cells(step, n)
        for name, array in cloud.data.items():
            self._column(f"PointData/{name}").append(cloud.stored(array))
        for name, array in cloud.once.items():
            self._add(f"Steps/PointDataOffsets/{name}", self._append_changed(f"PointData/{name}", cloud.stored(array)))
        for name, number in cloud.scalars.items():
            self._add(f"FieldData/{name}", number)
        self._add("Steps/ScalarSizes", (1, 1))
        rows = columns = first = 0
        for name, array in cloud.tables.items():
            (rows, columns), first = array.shape, self._column(f"FieldData/{name}").append(array)
        self._add("Steps/TableOffsets", first)
        self._add("Steps/TableSizes", (columns, rows))
        for name, array in cloud.tables_once.items():
            self._add(f"Steps/FieldDataOffsets/{name}", self._append_changed(f"FieldData/{name}", array))
            self._add(f"Steps/FieldDataSizes/{name}", (array.shape[1], array.shape[0]))
        self.group["Steps"].attrs.modify("NSteps", np.int64(step + 1))

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
            self._columns[path] = Column(self.group[path])
        return self._columns[path]

    def _add(self, path: str, number: Any) -> None:
        column = self._column(path)
        column.append(np.array([number], column.dtype))

    def _append_changed(self, path: str, array: Array) -> int:
        """First row of an array that is written only when it differs from the one before."""
        if path not in self._kept and self.steps:
            kind, _, name = path.partition("/")
            first = int(self.group[f"Steps/{kind}Offsets/{name}"][self.steps - 1])
            self._kept[path] = first, fingerprint(self.read(path, self.steps - 1))
        mark = fingerprint(array)
        if path not in self._kept or self._kept[path][1] != mark:
            self._kept[path] = self._column(path).append(array), mark
        return self._kept[path][0]

    def _add_cells(self, step: int, n: int) -> None:
        """One poly-vertex cell with all points; no lines, strips or polygons."""
        listed = self._column("Vertices/Connectivity")
        listed.append(np.arange(listed.length, n))
        for name in TOPOLOGIES:
            some = name == "Vertices"
            self._add(f"{name}/NumberOfCells", int(some))
            self._add(f"{name}/NumberOfConnectivityIds", n if some else 0)
            self._column(f"{name}/Offsets").append(np.array([0, n] if some else [0]))
        self._add("Steps/CellOffsets", (step, 0, 0, 0))
        self._add("Steps/ConnectivityIdOffsets", (0, 0, 0, 0))


def fingerprint(array: Array) -> bytes:
    """What tells an array from all others, in place of a copy of it."""
    return blake2b(np.ascontiguousarray(array).data, digest_size=32, person=str(array.shape).encode()[:16]).digest()
