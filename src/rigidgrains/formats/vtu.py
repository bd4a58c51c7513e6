"""VTK unstructured grids in XML, with the arrays appended as raw bytes, and collections in time for ParaView.

Grains of other shapes than disks and spheres have their surfaces in a grid of their own.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .box import cell_of
from .columns import bodies, grain_arrays, more_of_contacts, normal_force, tangential_force
from .surfaces import placed_surfaces

if TYPE_CHECKING:
    from ..trajectory.frame import Frame
    from .export import Job

Array = NDArray[Any]
KINDS = {"f": "Float", "i": "Int", "u": "UInt"}
ENDIAN = f'byte_order="{"LittleEndian" if sys.byteorder == "little" else "BigEndian"}"'
VERTEX, TRIANGLE, POLYGON = 1, 5, 7
OF_SURFACES = ("id", "shape", "material", "group", "radius", "velocity", "load", "contact_number")


def write(job: Job) -> None:
    """A folder with grids of grains, contacts and, of other shapes, surfaces for each frame, or those of one frame."""
    series: dict[str, list[tuple[float, str]]] = {"grains": []}
    if job.has_contacts:
        series["contacts"] = []
    for frame in job.frames():
        for kind, grid in (("grains", _grains), ("contacts", _contacts)):
            if kind not in series:
                continue
            name = f"{kind}-{frame.index:06d}.vtu"
            place = job.inside(name) if job.folder else job.main if kind == "grains" else job.beside
            assert place is not None
            points, data = grid(frame, job.fields)
            save(place, points, data, fields={"TimeValue": np.array([frame.time]), **_cell(frame)})
            series[kind].append((frame.time, name))
        if frame.catalogue is not None:
            name = f"surfaces-{frame.index:06d}.vtu"
            place = job.inside(name) if job.folder else job.apart("surfaces")
            points, cells, data = _surfaces(frame, job.fields)
            save(place, points, data, fields={"TimeValue": np.array([frame.time])}, cells=cells)
            series.setdefault("surfaces", []).append((frame.time, name))
    if job.folder:
        for kind, steps in series.items():
            job.inside(f"{kind}.pvd").write_text(_collection(steps), encoding="utf-8")


class Cells(NamedTuple):
    """connectivity : numbers of points, cell after cell; offsets : (c,) where each cell ends; types : (c,) of VTK"""

    connectivity: Array
    offsets: Array
    types: Array


def save(
    path: Path, points: Array, data: Mapping[str, Array], *, fields: Mapping[str, Array], cells: Cells | None = None
) -> None:
    """Points (n, 3), each a cell of its own, with their data, and fields of the whole; with cells, data are theirs."""
    n = len(points)
    own = "PointData" if cells is None else "CellData"
    cells = cells or Cells(np.arange(n), np.arange(1, n + 1), np.full(n, VERTEX))
    blocks: list[Array] = []
    place = 0

    def array(name: str, values: Array, *, tuples: bool = False) -> str:
        nonlocal place
        values = np.ascontiguousarray(values)
        blocks.append(values)
        kind = f"{KINDS[values.dtype.kind]}{8 * values.dtype.itemsize}"
        shape = f'NumberOfComponents="{values.shape[1] if values.ndim > 1 else 1}"'
        shape += f' NumberOfTuples="{len(values)}"' if tuples else ""
        text = f'<DataArray type="{kind}" Name="{escape(name)}" {shape} format="appended" offset="{place}"/>'
        place += 8 + values.nbytes
        return text

    head = [
        '<?xml version="1.0"?>',
        f'<VTKFile type="UnstructuredGrid" version="1.0" {ENDIAN} header_type="UInt64">',
        "<UnstructuredGrid>",
        "<FieldData>",
        *(array(name, values, tuples=True) for name, values in fields.items()),
        "</FieldData>",
        f'<Piece NumberOfPoints="{n}" NumberOfCells="{len(cells.types)}">',
        f"<{own}>",
        *(array(name, values) for name, values in data.items()),
        f"</{own}>",
        f"<Points>{array('Points', points)}</Points>",
        "<Cells>",
        array("connectivity", cells.connectivity.astype(np.int64)),
        array("offsets", cells.offsets.astype(np.int64)),
        array("types", cells.types.astype(np.uint8)),
        "</Cells>",
        "</Piece>",
        "</UnstructuredGrid>",
        '<AppendedData encoding="raw">',
    ]
    with path.open("wb") as file:
        file.write("\n".join(head).encode() + b"\n_")
        for block in blocks:
            file.write(np.uint64(block.nbytes).tobytes())
            file.write(block.tobytes())
        file.write(b"\n</AppendedData>\n</VTKFile>\n")


def _grains(frame: Frame, fields: Sequence[str] | None) -> tuple[Array, dict[str, Array]]:
    arrays = grain_arrays(frame, fields)
    return arrays.pop("position"), arrays


def _surfaces(frame: Frame, fields: Sequence[str] | None) -> tuple[Array, Cells, dict[str, Array]]:
    """Points (k, 3) m of all grains, triangles or flat polygons, and for each of them the data of its grain.

    In single precision: they are many, and there to be looked at.
    """
    points: list[Array] = [np.zeros((0, 3))]
    corners: list[Array] = [np.zeros(0, np.int64)]
    sizes: list[Array] = [np.zeros(0, np.int64)]
    owner: list[Array] = [np.zeros(0, np.int64)]
    first = 0
    for grains in placed_surfaces(frame):
        n, k = grains.points.shape[:2]
        points.append(grains.points.reshape(-1, 3))
        one = np.concatenate([np.asarray(cell, np.int64).ravel() for cell in grains.cells])
        corners.append((one + first + k * np.arange(n)[:, None]).ravel())
        sizes.append(np.tile([len(cell) for cell in grains.cells], n))
        owner.append(np.repeat(grains.rows, len(grains.cells)))
        first += n * k
    size, row = np.concatenate(sizes), np.concatenate(owner)
    kind = np.full(len(size), POLYGON if frame.dimension == 2 else TRIANGLE)
    arrays, short = grain_arrays(frame, fields), {"f": np.float32, "i": np.int32, "u": np.int32}
    wanted = [name for name in (*OF_SURFACES, *frame.scalars) if name in arrays]
    data = {name: arrays[name].astype(short[arrays[name].dtype.kind])[row] for name in wanted}
    return np.concatenate(points).astype(np.float32), Cells(np.concatenate(corners), np.cumsum(size), kind), data


def _cell(frame: Frame) -> dict[str, Array]:
    """The periodic cell: rows of vectors, origin and directions, in double precision."""
    cell = cell_of(frame)
    if cell is None:
        return {}
    periodic = cell.periodic[None].astype(np.uint8)
    return {"cell_vectors": cell.vectors, "cell_origin": cell.origin[None], "cell_periodic": periodic}


def _contacts(frame: Frame, fields: Sequence[str] | None) -> tuple[Array, dict[str, Array]]:
    contacts = frame.contacts
    return contacts.point, {
        "pair": np.stack([bodies(frame, 0), bodies(frame, 1)], axis=1),
        "normal": contacts.normal,
        "gap": contacts.gap,
        "force": contacts.force,
        "normal_force": normal_force(frame),
        "tangential_force": tangential_force(frame),
        "status": contacts.status,
        **({} if contacts.image is None else {"image": contacts.image}),
        **more_of_contacts(frame),
    }


def _collection(steps: list[tuple[float, str]]) -> str:
    rows = [f'<DataSet timestep="{time!r}" part="0" file="{name}"/>' for time, name in steps]
    head = f'<?xml version="1.0"?>\n<VTKFile type="Collection" version="1.0" {ENDIAN}>\n<Collection>\n'
    return head + "\n".join(rows) + "\n</Collection>\n</VTKFile>\n"
