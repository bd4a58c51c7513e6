"""Some of the grains: cut out of a region, thinned out, by group. Forces that are cut act from outside."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .figures import links_of, with_figures, without_forces
from .sample import Array, Sample

Mask = NDArray[np.bool_]


def keep(sample: Sample, grains: Mask, walls: Mask | None = None, opened: Mask | None = None) -> tuple[Sample, str]:
    """The grains and walls to be kept, and a line about what became of forces.

    Contacts among them stay with their forces. A force that came from what is taken away acts on as an external one,
    with its torque, so that the balance of every grain is what it was.
    opened : (3,) directions that are periodic no more
    """
    walls = np.ones(len(sample.walls), bool) if walls is None else walls
    opened = np.zeros(3, bool) if opened is None else opened
    if grains.all() and walls.all() and not opened.any():
        return sample, ""
    told = ""
    if sample.whole and sample.flows:
        sample, told = (
            without_forces(sample),
            "forces are dropped: those of a cell that deforms hold for all its grains",
        )
    stays = np.append(grains, walls)
    pair = sample.contacts["pair"].astype(np.int64)
    lost: Mask = ~np.asarray(stays[pair].all(axis=1), dtype=np.bool_)
    if "image" in sample.contacts:
        lost = np.asarray(lost | (sample.contacts["image"][:, opened] != 0).any(axis=1))
    if sample.whole and lost.any():
        sample, told = _from_outside(sample, lost, stays)
    number = np.append(np.cumsum(grains) - 1, grains.sum() + np.cumsum(walls) - 1).astype(np.int32)
    contacts = {name: array[~lost] for name, array in sample.contacts.items()}
    contacts["pair"] = number[contacts["pair"]]
    sample = replace(
        sample,
        grains={name: array[grains] for name, array in sample.grains.items()},
        contacts=contacts,
        walls=tuple(wall for wall, stay in zip(sample.walls, walls) if stay),
        wall_velocity=sample.wall_velocity[walls],
        wall_before=sample.wall_before[walls],
        figures=sample.figures | {"converged": np.nan},
    )
    return with_figures(_open(sample, opened) if opened.any() else sample, loads=True), told


def _from_outside(sample: Sample, lost: Mask, stays: Mask) -> tuple[Sample, str]:
    """Forces of lost contacts as external ones; on a piston as a part of its load."""
    links = links_of(sample)
    n, grains = len(sample), dict(sample.grains)
    torques = links.torques()
    force, torque = np.zeros((len(stays), 3)), np.zeros((len(stays), 3))
    for bodies, sign, turn in ((links.i, -1.0, torques[0]), (links.j, 1.0, torques[1])):
        np.add.at(force, bodies[lost], sign * links.force[lost])
        np.add.at(torque, bodies[lost], turn[lost])
    grains["external_force"] = grains["external_force"] + force[:n]
    there = grains.get("external_torque", np.zeros((n, 3)))
    if torque[:n].any() or "external_torque" in grains:
        grains["external_torque"] = there + torque[:n]
    walls = list(sample.walls)
    for w, wall in enumerate(walls):
        if wall.guided and force[n + w].any():
            walls[w] = replace(wall, load=wall.load + float(force[n + w] @ wall.normal))
    cut = int((lost & force_carrying(sample)).sum())
    told = f"forces of {cut:,} contacts that were cut act on as external forces" if cut else ""
    return replace(sample, grains=grains, walls=tuple(walls)), told


def force_carrying(sample: Sample) -> Mask:
    """(c,) True for contacts with a force."""
    return np.asarray(sample.contacts["force"].any(axis=1))


def _open(sample: Sample, opened: Mask) -> Sample:
    """No images along some directions; there the cell reaches from the lowest to the highest grain."""
    cell = sample.cell
    assert cell is not None
    tables, grains, contacts = dict(sample.tables), dict(sample.grains), dict(sample.contacts)
    periodic = cell.periodic & ~opened
    if not periodic.any():
        tables = {name: table for name, table in tables.items() if not name.startswith("cell_")}
        grains.pop("image", None)
        contacts.pop("image", None)
        for name in ("peculiar_velocity", "peculiar_velocity_before"):
            grains.pop(name, None)
        return replace(sample, grains=grains, contacts=contacts, tables=tables)
    low, high = extent(sample)
    vectors, origin = cell.vectors.copy(), cell.origin.copy()
    for k in np.flatnonzero(opened):
        origin[k], vectors[k, k] = low[k], high[k] - low[k]
    tables |= {"cell_vectors": vectors, "cell_origin": origin[None], "cell_periodic": periodic[None].astype(np.uint8)}
    if sample.flows:  # forces were dropped before
        for name in ("cell_mobility", "cell_rate_before"):
            tables.pop(name)
        tables |= {"cell_rate": np.zeros((3, 3)), "cell_stress": np.full((3, 3), np.nan)}
        for name in ("peculiar_velocity", "peculiar_velocity_before"):
            grains.pop(name)
    grains["image"] = np.where(opened, 0, grains["image"]).astype(np.int32)
    return replace(sample, grains=grains, tables=tables)


def extent(sample: Sample) -> tuple[Array, Array]:
    """(3,) and (3,) m, corners of the box around all grains."""
    from ..shapes.poses import extents

    grains = sample.grains
    below, above = extents(sample.catalogue, grains.get("shape"), grains["radius"], grains["orientation"])
    return (grains["position"] + below).min(axis=0), (grains["position"] + above).max(axis=0)
