"""Which grains are meant, and what they are made of: groups, materials, densities, shares drawn at random."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..scene.errors import suggestion
from .errors import PackingError
from .figures import with_figures, without_forces
from .sample import Sample
from .select import Mask


def chosen(sample: Sample, of: Any) -> Mask:
    """(n,) True for the grains of a group or material, by its name, of rows, or of a mask."""
    n = len(sample)
    if isinstance(of, str):
        if of in sample.groups:
            return np.asarray(sample.grains["group"] == sample.groups.index(of))
        if of in sample.materials:
            return np.asarray(sample.grains["material"] == sample.materials.index(of))
        known = [*sample.groups, *sample.materials]
        there = f"there are {', '.join(known)}{suggestion(of, known)}" if known else "this packing has no names"
        raise PackingError(f"no group or material is called {of!r}; {there}")
    rows = np.asarray(of)
    if rows.dtype == bool and rows.shape == (n,):
        return rows
    if rows.ndim == 1 and rows.dtype.kind in "iu" and (not rows.size or (-n <= rows.min() and rows.max() < n)):
        mask = np.zeros(n, bool)
        mask[rows] = True
        return mask
    raise PackingError(
        f"{rows.dtype} array of shape {rows.shape} chooses no grains; give the name of a group or material, {n} truth "
        "values, or numbers of rows"
    )


def share_of(some: Mask, share: float, seed: int) -> Mask:
    """So large a part of some grains, drawn at random, to within one grain."""
    if not 0.0 <= share <= 1.0:
        raise PackingError(f"share = {share:g} is none; give a number from 0 to 1")
    rows = np.flatnonzero(some)
    drawn = np.random.default_rng(seed).permutation(rows)[: round(share * len(rows))]
    mask = np.zeros(len(some), bool)
    mask[drawn] = True
    return mask


def swap(
    sample: Sample, some: Mask, *, material: str | None, density: float | None, group: str | None
) -> tuple[Sample, str]:
    """Other material, density or group for some grains. Only a new group leaves forces as they are."""
    grains, told = dict(sample.grains), ""
    if (material is not None or density is not None) and sample.whole and some.any():
        sample, told = without_forces(sample), "forces are dropped: other grains bear others"
        grains = dict(sample.grains)
    if group is not None:
        groups = sample.groups if group in sample.groups else (*sample.groups, group)
        number = np.array(grains.get("group", np.full(len(sample), -1, np.int32)))
        number[some] = groups.index(group)
        grains["group"] = number
        sample = replace(sample, groups=groups)
    if material is not None:
        sample, row = _row(sample, material)
        grains["material"] = np.where(some, row, grains["material"]).astype(np.int32)
    if density is not None:
        r = grains["radius"]
        volume = np.pi * r**2 if sample.dimension == 2 else 4.0 / 3.0 * np.pi * r**3
        grains["mass"] = np.where(some, density * volume, grains["mass"])
    return with_figures(replace(sample, grains=grains)), told


def _row(sample: Sample, material: str) -> tuple[Sample, int]:
    """The row of friction of a material; a new one has that of the first until a scene gives its own."""
    names = sample.materials or tuple(f"material{k}" for k in range(len(sample.tables["friction"])))
    if material in names:
        return replace(sample, materials=names), names.index(material)
    tables = dict(sample.tables)
    for name, table in sample.tables.items():
        if (name == "friction" or name.startswith("law_")) and table.shape == (len(names),) * 2:
            tables[name] = np.pad(table, ((0, 1), (0, 1)), mode="edge")
    return replace(sample, tables=tables, materials=(*names, material)), len(names)
