"""A packing in a mirror, turned by nothing, moved, or larger: forces hold, with those changes of space."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ..model.cell import Cell
from ..model.shapes import Shape
from ..model.walls import Drive, Wall
from .errors import PackingError
from .figures import with_figures, without_forces
from .flow import with_flow
from .kinds import AXIAL, MOBILITIES, Factors, is_vector, mirrored, unit_of
from .reflect import reflections
from .sample import Array, Arrays, Sample

WITH_LENGTHS = ("Cohesion_force", "Rolling_rolling", "Rolling_twisting", "Restitution_threshold")


def mirror(sample: Sample, axis: int, at: float) -> tuple[Sample, str]:
    """x -> 2 at - x along one axis; a mirror twice gives the same bits where at is 0."""
    told = ""
    if sample.shaped and sample.whole:
        sample, told = without_forces(sample), "forces are dropped: contact points of shapes are named by their corners"

    def place(points: Array) -> Array:
        out = np.array(points)
        out[:, axis] = -out[:, axis] if at == 0.0 else 2.0 * at - out[:, axis]
        return out

    grains = _changed(sample.grains, axis, place, contacts=False)
    for name in ("orientation", "orientation_before"):
        if name in grains:
            grains[name] = _turned(sample, grains[name], axis)
    for arrays in (grains, contacts := _changed(sample.contacts, axis, place, contacts=True)):
        if "image" in arrays:
            arrays["image"] = arrays["image"].copy()
            arrays["image"][:, axis] *= -1
    tables = dict(sample.tables)
    tables["gravity"] = mirrored(tables["gravity"], axis)
    for name in ("cell_rate", "cell_rate_before", "cell_stress"):
        if name in tables:
            tables[name] = mirrored(mirrored(tables[name], axis).T, axis).T
    if (cell := sample.cell) is not None:
        tables |= _cell(cell, axis, place)
    walls = tuple(_wall(wall, axis, place) for wall in sample.walls)
    speeds: dict[str, Any] = {name: mirrored(getattr(sample, name), axis) for name in ("wall_velocity", "wall_before")}
    made = replace(sample, grains=grains, contacts=contacts, tables=tables, walls=walls, **speeds)
    return with_figures(with_flow(made)), told


def move(sample: Sample, way: Array) -> Sample:
    """Everything elsewhere, walls and the cell as well."""
    grains = sample.grains | {"position": sample.grains["position"] + way}
    contacts = sample.contacts | {"point": sample.contacts["point"] + way}
    tables = dict(sample.tables)
    if "cell_origin" in tables:
        tables["cell_origin"] = tables["cell_origin"] + way
    walls = tuple(_placed(wall, wall.shape, lambda points: points + way) for wall in sample.walls)
    return with_figures(replace(sample, grains=grains, contacts=contacts, tables=tables, walls=walls))


def scale(sample: Sample, factor: float) -> tuple[Sample, str]:
    """All lengths times a factor, about the origin, at equal densities.

    Under gravity times grow with its root, so that gravity is what it was, and forces grow with the masses. Without
    gravity stresses and velocities are kept. Both are exact: every law holds for what is scaled.
    """
    told, d = "", sample.dimension
    weighs = bool(sample.tables["gravity"].any())
    by = Factors(factor, math.sqrt(factor) if weighs else factor, factor**d)
    if sample.whole and (own := _lengths_of_laws(sample)):
        sample, told = without_forces(sample), f"forces are dropped: {own} of the materials has a size of its own"
    grains = {name: array * by.of(unit_of(name)) if unit_of(name) else array for name, array in sample.grains.items()}
    contacts = {
        name: array * by.of(unit) if (unit := unit_of(name, contacts=True)) else array
        for name, array in sample.contacts.items()
    }
    tables = {name: table * by.of(unit_of(name)) if unit_of(name) else table for name, table in sample.tables.items()}
    tables["gravity"] = sample.tables["gravity"]
    if "cell_vectors" in tables and d == 2:
        tables["cell_vectors"][2] = sample.tables["cell_vectors"][2]  # as thick as before
    if "cell_stress" in tables:
        tables["cell_stress"] = tables["cell_stress"] * by.of("N") / factor ** (d - 1)
    if "cell_mobility" in tables:
        tables["cell_mobility"] = tables["cell_mobility"].copy()
        tables["cell_mobility"][:, MOBILITIES] *= by.of("1/(kg m^2)")
    walls = tuple(_scaled(wall, by) for wall in sample.walls)
    speeds: dict[str, Any] = {name: getattr(sample, name) * by.of("m/s") for name in ("wall_velocity", "wall_before")}
    figures = dict(sample.figures)
    figures["dt"] *= by.time
    figures["slack"] *= factor
    made = replace(sample, grains=grains, contacts=contacts, tables=tables, walls=walls, figures=figures, **speeds)
    return with_figures(made), told


def _changed(arrays: Arrays, axis: int, place: Any, *, contacts: bool) -> Arrays:
    out = dict(arrays)
    for name, array in arrays.items():
        if name in ("position", "point"):
            out[name] = place(array)
        elif is_vector(name, array, contacts=contacts):
            out[name] = mirrored(array, axis, axial=unit_of(name, contacts=contacts) in AXIAL)
    return out


def _turned(sample: Sample, orientation: Array, axis: int) -> Array:
    """Orientations P R P Q: P mirrors, and Q turns what the mirror shows of a shape to the shape itself."""
    if sample.dimension == 2:
        out = -orientation
    else:
        out = orientation.copy()
        out[:, 1:] = mirrored(orientation[:, 1:], axis, axial=True)
    if sample.catalogue is None or not sample.shaped:
        return np.asarray(out)
    turns = reflections(sample.catalogue, np.unique(sample.grains["shape"]), axis)
    for number, turn in turns.items():
        some = sample.grains["shape"] == number
        if sample.dimension == 2:
            out[some] += turn
        elif turn[0] != 1.0:
            out[some] = product(out[some], turn)
    return np.asarray(out)


def product(a: Array, b: Array) -> Array:
    """(n, 4) Hamilton products of quaternions (n, 4) with one (4,)."""
    w, x, y, z = a.T
    s, i, j, k = b
    return np.stack(
        [w * s - x * i - y * j - z * k, w * i + x * s + y * k - z * j, w * j - x * k + y * s + z * i,
         w * k + x * j - y * i + z * s], axis=1,
    )  # fmt: skip


def _cell(cell: Cell, axis: int, place: Any) -> Arrays:
    """The vector along the axis is turned round, so that the cell has the form of a sheared box again."""
    seen = mirrored(cell.vectors, axis)
    vectors = seen.copy()
    vectors[axis] = -seen[axis]
    origin = place(cell.origin[None])[0] + seen[axis]
    return {"cell_vectors": vectors + 0.0, "cell_origin": origin[None]}


def _wall(wall: Wall, axis: int, place: Any) -> Wall:
    velocity, spin = wall.drive.velocity[None], wall.drive.spin[None]
    drive = Drive(
        velocity=mirrored(velocity, axis)[0], spin=mirrored(spin, axis, axial=True)[0], about=wall.drive.about
    )
    turned = {name: mirrored(getattr(wall.shape, name)[None], axis)[0] for name in wall.shape.directions}
    return _placed(replace(wall, drive=drive), replace(wall.shape, **turned), place)


def _placed(wall: Wall, shape: Shape, place: Any) -> Wall:
    about = None if wall.drive.about is None else place(wall.drive.about[None])[0]
    return replace(
        wall, shape=replace(shape, point=place(shape.point[None])[0]), drive=replace(wall.drive, about=about)
    )


def _scaled(wall: Wall, by: Factors) -> Wall:
    sizes: dict[str, Any] = {}
    for name in wall.shape.words():
        value = getattr(wall.shape, name)
        if not isinstance(value, bool):
            sizes[name] = tuple(by.length * part for part in value) if np.ndim(value) else by.length * value
    drive = Drive(
        velocity=wall.drive.velocity * by.of("m/s"), spin=wall.drive.spin * by.of("rad/s"), about=wall.drive.about
    )
    wall = replace(wall, drive=drive, mass=wall.mass * by.mass, load=wall.load * by.of("N"))
    return _placed(wall, replace(wall.shape, **sizes), lambda points: points * by.length)


def _lengths_of_laws(sample: Sample) -> str:
    """The name of a coefficient that is a length, a force or a speed, if the materials have one."""
    for name in WITH_LENGTHS:
        table = sample.tables.get(f"law_{name}")
        if table is not None and (np.isfinite(table) & (table != 0.0)).any():
            return name.partition("_")[2]
    return ""


def check_axis(axis: str, dimension: int) -> int:
    """Number of a direction by its letter."""
    letters = "xyz"[:dimension]
    if axis not in tuple(letters):
        raise PackingError(f"axis {axis!r} is none of a packing in {dimension}D; give {' or '.join(letters)}")
    return letters.index(axis)
