"""LAMMPS data files: grains as `atom_style sphere`, as `write_data` writes and `read_data` reads them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..model.cell import B, C
from ..model.columns import X, Y
from .columns import grain_columns, lines
from .errors import FormatError
from .lammps import box_of
from .rows import Row, open_text, read_columns
from .state import Box, Given, State, Which, make_state, single

if TYPE_CHECKING:
    from .export import Job

# Columns of the section Atoms by its style; numbers of images may follow.
STYLES = {
    "sphere": ("id", "type", "diameter", "density", "x", "y", "z"),
    "atomic": ("id", "type", "x", "y", "z"),
    "charge": ("id", "type", "q", "x", "y", "z"),
    "bond": ("id", "mol", "type", "x", "y", "z"),
    "molecular": ("id", "mol", "type", "x", "y", "z"),
    "full": ("id", "mol", "type", "q", "x", "y", "z"),
}
IMAGES = ("nx", "ny", "nz")
VELOCITIES = ("id", "vx", "vy", "vz", "omegax", "omegay", "omegaz")
SPHERE = 4.0 / 3.0 * np.pi


def write(job: Job) -> None:
    """One frame; ids and types count from 1, masses are those of the grains."""
    for frame in job.frames():
        if frame.catalogue is not None and frame.shape is not None and not frame.catalogue.round[frame.shape].all():
            told = "has grains of other shapes, and atom_style sphere has none; export --to lammps, a dump, writes them"
            raise FormatError(job.trajectory.path, told)
        columns = grain_columns(frame, job.fields)
        vectors, lower = box_of(frame, job.bounds)
        upper, tilt = lower + np.diag(vectors), (vectors[B, X], vectors[C, X], vectors[C, Y])
        radius, mass = (np.asarray(columns[name], dtype=float) for name in ("radius", "mass"))
        ends = "".join(
            f"{float(low)!r} {float(high)!r} {axis}lo {axis}hi\n" for axis, low, high in zip("xyz", lower, upper)
        )
        leans = f"{' '.join(repr(float(part)) for part in tilt)} xy xz yz\n" if any(tilt) else ""
        ids, images = columns["id"] + 1, [columns[f"image_{axis}"] for axis in "xyz" if f"image_{axis}" in columns]
        atoms = [ids, columns["material"] + 1, 2.0 * radius, mass / (SPHERE * radius**3)]
        moving = "vx" in columns and "spin_x" in columns
        motion = [ids, *(columns[name] for name in ("vx", "vy", "vz", "spin_x", "spin_y", "spin_z"))] if moving else []
        if ("vx" in columns) != ("spin_x" in columns):
            job.notes.append("a LAMMPS data file has velocities with spins or none: they are left out; choose both")
        told = f"\nVelocities\n\n{lines(motion)}" if moving else ""
        job.main.write_text(
            f"LAMMPS data file by rigidgrains, frame {frame.index}, t = {frame.time!r} s\n\n{len(frame)} atoms\n"
            f"{int(columns['material'].max(initial=0)) + 1} atom types\n\n{ends}{leans}\n"
            f"Atoms # sphere\n\n{lines([*atoms, *(columns[axis] for axis in 'xyz'), *images])}{told}",
            encoding="ascii",
        )


def read(path: Path, which: Which, given: Given) -> State:
    """The grains; `given.periodic` says along which directions the box is periodic, since the file does not."""
    single(path, which)
    sections: dict[str, tuple[str, list[Row]]] = {}
    with open_text(path) as file:
        header = list(_sections(path, file, sections))
    if "Atoms" not in sections:
        raise FormatError(path, "has no section Atoms; write it with write_data")
    style, rows = sections["Atoms"]
    columns = _atoms(path, style, rows)
    if "Velocities" in sections:
        _add_velocities(path, columns, sections["Velocities"][1])
    box = _box(path, header, given.periodic)
    return make_state(path, columns, where=lambda row: f"line {rows[row][0]}", box=box, given=given)


def _sections(path: Path, file: Any, sections: dict[str, tuple[str, list[Row]]]) -> Iterator[tuple[int, list[str]]]:
    """Lines of the header; the rows of each section by its name, with what stands after # beside it."""
    rows: list[Row] | None = None
    for number, line in enumerate(file, start=1):
        text, _, remark = line.partition("#")
        words = text.split()
        if number == 1 or not words:
            continue
        if words[0][0].isalpha():
            rows = []
            sections[" ".join(words)] = remark.strip(), rows
        elif rows is None:
            yield number, words
        else:
            rows.append((number, words))


def _atoms(path: Path, style: str, rows: list[Row]) -> dict[str, NDArray[Any]]:
    """Columns of the section Atoms; without a style by how many there are."""
    width = len(rows[0][1]) if rows else 0
    name = style.split()[0] if style else "sphere" if width in (7, 10) else "atomic" if width in (5, 8) else ""
    if name not in STYLES:
        told = f"Atoms of style {name!r} hold no spheres" if name else f"Atoms has {width} columns and no style"
        raise FormatError(path, f"{told}; write them with atom_style sphere")
    names = STYLES[name]
    if width == len(names) + len(IMAGES):
        names = (*names, *IMAGES)
    columns = read_columns(path, ["mass" if one == "density" else one for one in names], rows)
    if "mass" in columns:
        columns["mass"] = columns["mass"] * SPHERE * (0.5 * columns["diameter"]) ** 3
    return columns


def _add_velocities(path: Path, columns: dict[str, NDArray[Any]], rows: list[Row]) -> None:
    """Velocities and spins, which are listed in any order."""
    width = len(rows[0][1]) if rows else 0
    if width not in (4, 7):
        raise FormatError(path, f"Velocities has {width} columns instead of 4 or 7; write them with atom_style sphere")
    found = read_columns(path, ["x", "y", *VELOCITIES][2 : 2 + width], rows)
    place = {int(one): k for k, one in enumerate(found.pop("id"))}
    try:
        order = [place[int(one)] for one in columns["id"]]
    except KeyError as missing:
        raise FormatError(path, f"Velocities has none of atom {missing}; give one for each") from None
    columns.update({name: column[order] for name, column in found.items()})


def _box(path: Path, header: list[tuple[int, list[str]]], periodic: str) -> Box | None:
    if not periodic:
        return None
    low, high, tilt = np.zeros(3), np.zeros(3), np.zeros(3)
    for number, words in header:
        try:
            if words[2:] in (["xlo", "xhi"], ["ylo", "yhi"], ["zlo", "zhi"]):
                k = "xyz".index(words[2][0])
                low[k], high[k] = map(float, words[:2])
            elif words[3:] == ["xy", "xz", "yz"]:
                tilt[:] = list(map(float, words[:3]))
        except ValueError:
            raise FormatError(path, f"line {number}: {' '.join(words)!r} is no end of a box; mend it") from None
    vectors = np.diag(high - low)
    vectors[B, X], vectors[C, X], vectors[C, Y] = tilt
    return vectors, low, ["xyz"[k] in periodic for k in range(3)]
