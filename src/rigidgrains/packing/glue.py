"""Two packings as one: beside each other, or where they are. Materials and groups go by their names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..certificate import crowding
from ..certificate.overlap import UNSEEN, Overlaps
from ..certificate.state import State
from ..model.arrays import grains_in_frames
from ..shapes.build import clump
from ..shapes.catalogue import Catalogue
from .errors import PackingError
from .figures import with_figures, without_forces
from .mirror import move
from .sample import Array, Arrays, Sample
from .select import extent, keep

SIDES = {"left": (0, -1), "right": (0, 1), "bottom": (1, -1), "top": (1, 1)}
SIDES_3D = {"left": (0, -1), "right": (0, 1), "front": (1, -1), "back": (1, 1), "bottom": (2, -1), "top": (2, 1)}


def glue(sample: Sample, other: Sample, side: str | None, overlap: float) -> tuple[Sample, list[str]]:
    """All grains of both. side : where the other is put, so that the boxes around both touch; None where it is.

    Walls of both are left out: one would stand in the other. Forces are kept if both were found in equal steps.
    """
    if sample.dimension != other.dimension:
        raise PackingError(f"a packing in {sample.dimension}D and one in {other.dimension}D cannot be glued")
    told = []
    parts = []
    for one in (sample, other):
        one, line = keep(one, np.ones(len(one), bool), walls=np.zeros(len(one.walls), bool))
        told += [line] if line else []
        parts.append(one)
    first, second = parts
    _check_cells(first, second)
    if side is not None:
        second = move(second, _to_side(first, second, side))
    if (first.whole or second.whole) and (why := _unlike(first, second)):
        first, second = without_forces(first), without_forces(second)
        told.append(f"forces are dropped: {why}")
    materials, second = _materials(first, second)
    catalogue, number, second_numbers = _shapes(first, second)
    shift = int(first.grains["id"].max(initial=-1)) + 1 - min(int(second.grains["id"].min(initial=0)), 0)
    groups = tuple(dict.fromkeys(first.groups + second.groups))
    theirs = dict(second.grains) | {"id": second.grains["id"] + shift}
    if "group" in theirs:
        theirs["group"] = _renumbered(theirs["group"], second.groups, groups)
    mine = dict(first.grains)
    if catalogue is not None:
        mine["shape"], theirs["shape"] = number, second_numbers
    contacts = _joined_contacts(first, second)
    tables = _tables(first, second, materials)
    made = replace(
        first,
        grains=_joined(mine, theirs, first, second),
        contacts=contacts,
        tables=tables,
        figures=first.figures | {"converged": np.nan},
        catalogue=catalogue,
        groups=groups,
        scalars=tuple(dict.fromkeys(first.scalars + second.scalars)),
        materials=materials,
        single=first.single and second.single,
    ).completed()
    if _touch(made, len(first), overlap) and made.whole:
        made = without_forces(made)
        told.append("forces are dropped: grains of both packings touch, and nobody knows with which force")
    return with_figures(made, loads=True), told


def _to_side(first: Sample, second: Sample, side: str) -> Array:
    """(3,) m, by which the second is to be moved."""
    sides = SIDES if first.dimension == 2 else SIDES_3D
    if side not in sides:
        raise PackingError(f"side {side!r} is unknown; give {', '.join(sides)}")
    axis, sign = sides[side]
    if first.cell is not None and first.cell.periodic[axis]:
        raise PackingError(f"side {side!r}: the packing is periodic along {'xyz'[axis]}; cut it there first")
    (low, high), (below, above) = extent(first), extent(second)
    way = np.zeros(3)
    way[axis] = high[axis] - below[axis] if sign > 0 else low[axis] - above[axis]
    return way


def _check_cells(first: Sample, second: Sample) -> None:
    for one in (first, second):
        if one.flows:
            raise PackingError("a packing in a cell that deforms cannot be glued; cut it along its periodic directions")
    a, b = first.cell, second.cell
    if (a is None) != (b is None):
        raise PackingError("one packing is periodic and the other is not; cut the periodic one along those directions")
    if a is not None and b is not None:
        same = (a.periodic == b.periodic).all() and np.allclose(
            a.vectors[a.periodic], b.vectors[b.periodic], rtol=1e-12
        )
        if not same:
            raise PackingError(
                "the packings have different periodic cells; replicate, scale or cut one of them to the other"
            )


def _unlike(first: Sample, second: Sample) -> str:
    """Why the forces of both cannot stand in one frame; empty if they can."""
    if not (first.whole and second.whole):
        return "one of the packings has none"
    if first.figures["dt"] != second.figures["dt"]:
        return f"steps were of {first.figures['dt']:g} s in one and {second.figures['dt']:g} s in the other"
    if not np.array_equal(first.tables["gravity"], second.tables["gravity"]):
        return "gravity differs"
    if _laws(first) or _laws(second):
        return "the materials have laws beyond plain friction"
    if first.contacts.keys() != second.contacts.keys():
        return "grains of the one are round and those of the other are not"
    return ""


def _laws(sample: Sample) -> list[str]:
    return [name for name in sample.tables if name.startswith("law_")]


def _materials(first: Sample, second: Sample) -> tuple[tuple[str, ...], Sample]:
    """Names of the rows of friction for both, and the second with its numbers among them."""
    if not first.materials or not second.materials:
        if not np.array_equal(first.tables["friction"], second.tables["friction"]):
            # without names nobody knows which are the same
            first_names = first.materials or tuple(f"a{k}" for k in range(len(first.tables["friction"])))
            other = second.materials or tuple(f"b{k}" for k in range(len(second.tables["friction"])))
        else:
            return first.materials or second.materials, second
    else:
        first_names, other = first.materials, second.materials
    names = tuple(dict.fromkeys(first_names + other))
    number = _renumbered(second.grains["material"], other, names)
    return names, replace(second, grains=second.grains | {"material": number}, materials=other)


def _renumbered(numbers: Array, names: tuple[str, ...], among: tuple[str, ...]) -> Array:
    where = np.array([*(among.index(name) for name in names), -1], dtype=np.int32)
    return np.asarray(where[numbers])


def _tables(first: Sample, second: Sample, names: tuple[str, ...]) -> Arrays:
    """Those of the first; friction of pairs that only the second knows from there, of unknown pairs the smaller."""
    tables = {name: table for name, table in first.tables.items() if not name.startswith("law_")}
    mine, theirs = first.tables["friction"], second.tables["friction"]
    if len(names) <= len(mine) or second.materials == ():
        return tables
    k = len(names)
    own = {name: row for row, name in enumerate(second.materials)}
    rows = [own.get(name, -1) for name in names]
    alone = [mine[i, i] if i < len(mine) else theirs[rows[i], rows[i]] for i in range(k)]
    table = np.minimum.outer(alone, alone)
    for i in range(k):
        for j in range(k):
            if i < len(mine) and j < len(mine):
                table[i, j] = mine[i, j]
            elif rows[i] >= 0 and rows[j] >= 0:
                table[i, j] = theirs[rows[i], rows[j]]
    return tables | {"friction": table}


def _shapes(first: Sample, second: Sample) -> tuple[Catalogue | None, Array, Array]:
    """One catalogue for both, and the numbers of their grains in it."""
    nothing = np.zeros(0, np.int32)
    if first.catalogue is None and second.catalogue is None:
        return None, nothing, nothing
    words: list[Any] = []
    shapes: list[Any] = []
    names: list[str] = []
    numbers = []
    for one in (first, second):
        catalogue = one.catalogue or _round(one.dimension)
        where = []
        for name, shape, said in zip(catalogue.names, catalogue.shapes, catalogue.words()):
            bare = {key: value for key, value in said.items() if key != "name"}
            if bare not in words:
                words.append(bare)
                shapes.append(shape)
                names.append(name if name not in names else f"{name}-2")
            where.append(words.index(bare))
        own = one.grains.get("shape", np.zeros(len(one), np.int32))
        numbers.append(np.array(where, np.int32)[own])
    return Catalogue(tuple(names), tuple(shapes)), numbers[0], numbers[1]


def _round(dimension: int) -> Catalogue:
    """Disks or spheres alone."""
    return Catalogue.of({"disk" if dimension == 2 else "sphere": clump([[0.0] * dimension], [1.0])})


def _joined(mine: Arrays, theirs: Arrays, first: Sample, second: Sample) -> Arrays:
    """Rows of both; what one lacks is zero, or not a number where it is an array of the user."""
    declared, out = grains_in_frames(), {}
    for name in [*mine, *(name for name in theirs if name not in mine)]:
        parts = []
        for arrays, one in ((mine, first), (theirs, second)):
            like = mine.get(name, theirs.get(name))
            assert like is not None
            absent = -1 if name == "group" else 0 if name in declared else np.nan
            parts.append(arrays.get(name, np.full((len(one), *like.shape[1:]), absent, like.dtype)))
        out[name] = np.concatenate(parts)
    return out


def _joined_contacts(first: Sample, second: Sample) -> Arrays:
    if not first.whole:
        return first.contacts if first.contacts.keys() == second.contacts.keys() else {}
    theirs = second.contacts | {"pair": second.contacts["pair"] + np.int32(len(first))}
    return {name: np.concatenate([array, theirs[name]]) for name, array in first.contacts.items()}


def _touch(sample: Sample, border: int, overlap: float) -> bool:
    """Whether grains of the one touch grains of the other; those that lie within each other are refused."""
    state = State(sample.frame())
    found = Overlaps.of(state) if state.shapes is None else crowding.overlaps(state)
    across = (found.pair[:, 0] < border) != (found.pair[:, 1] < border)
    depth = np.where(across, found.depth / found.radius, 0.0)
    deep = int((depth > overlap).sum())
    if deep:
        worst = float(depth.max())
        raise PackingError(
            f"{deep} pairs of grains of both packings overlap, by {worst:.2g} of the smaller radius at most; put the "
            "second to a side (side = 'top'), move or cut it first, or allow it (overlap)"
        )
    return bool((depth > UNSEEN).any())
