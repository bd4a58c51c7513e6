"""Copies of a periodic packing side by side, with the same force at every copy of a contact."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..model.shapes import Cylinder, Plane, Shape
from .errors import PackingError
from .figures import with_figures
from .flow import with_flow
from .kinds import MOBILITIES
from .sample import Array, Sample

ALONG = 1e-9  # cosine, of a wall that lies along a vector


def replicate(sample: Sample, copies: tuple[int, int, int]) -> Sample:
    """So many copies along each vector of the cell; ids of later copies follow those of the first."""
    cell = sample.cell
    many, n, c = int(np.prod(copies)), len(sample), len(sample.contacts["pair"])
    if many == 1:
        return sample
    for k in range(3):
        if copies[k] > 1 and (cell is None or not cell.periodic[k]):
            raise PackingError(
                f"replicate {copies[k]} times along {'xyz'[k]}: the packing is not periodic along {'xyz'[k]}; "
                "put copies beside each other with glue"
            )
    assert cell is not None
    _check_walls(sample, copies)
    shift = np.stack(np.unravel_index(np.arange(many), copies), axis=1)  # (many, 3) vectors of each copy
    away = shift @ cell.vectors
    grains = {name: np.tile(array, (many, *(1 for _ in array.shape[1:]))) for name, array in sample.grains.items()}
    grains["position"] = (sample.grains["position"] + away[:, None]).reshape(-1, 3)
    grains["image"] = np.zeros((many * n, 3), np.int32)
    own = sample.grains["id"]
    grains["id"] = (own + np.arange(many)[:, None] * (int(own.max()) + 1)).ravel()
    contacts = {name: np.tile(array, (many, *(1 for _ in array.shape[1:]))) for name, array in sample.contacts.items()}
    contacts["point"] = (sample.contacts["point"] + away[:, None]).reshape(-1, 3)
    pair, image = sample.contacts["pair"].astype(np.int64), sample.contacts["image"].astype(np.int64)
    there = shift[:, None] + image  # (many, c, 3) vectors to the copy that body 1 is
    copy = np.ravel_multi_index(tuple(np.moveaxis(there % copies, 2, 0)), copies)
    first = np.arange(many)[:, None] * n + pair[:, 0]
    second = np.where(pair[:, 1] < n, copy * n + pair[:, 1], (many - 1) * n + pair[:, 1])
    contacts["pair"] = np.stack([first, second], axis=2).reshape(many * c, 2).astype(np.int32)
    contacts["image"] = (there // copies).reshape(many * c, 3).astype(np.int8)
    tables = dict(sample.tables)
    tables["cell_vectors"] = cell.vectors * np.array(copies)[:, None]
    if "cell_mobility" in tables:
        tables["cell_mobility"] = tables["cell_mobility"].copy()
        tables["cell_mobility"][:, MOBILITIES] /= many
    walls = tuple(
        replace(wall, mass=wall.mass * many, load=wall.load * many) if wall.guided else wall for wall in sample.walls
    )
    return with_figures(with_flow(replace(sample, grains=grains, contacts=contacts, tables=tables, walls=walls)))


def _check_walls(sample: Sample, copies: tuple[int, int, int]) -> None:
    assert sample.cell is not None
    vectors = sample.cell.vectors[[k for k in range(3) if copies[k] > 1]]
    for wall in sample.walls:
        if not _endless(wall.shape, vectors):
            what = "ends within the cell"
        elif np.cross(vectors, wall.drive.spin).any():
            what = "turns about one point"
        else:
            continue
        raise PackingError(
            f"wall '{wall.name}' {what} and cannot be copied with it; take the walls away first (without_walls, "
            "--no-walls)"
        )


def _endless(shape: Shape, vectors: Array) -> bool:
    """True for a wall that looks the same from all copies."""
    sizes = np.linalg.norm(vectors, axis=1)
    if isinstance(shape, Plane):
        return bool((np.abs(vectors @ shape.normal) < ALONG * sizes).all())
    if isinstance(shape, Cylinder) and not np.isfinite(shape.half):
        return bool((np.linalg.norm(np.cross(vectors, shape.axis), axis=1) < ALONG * sizes).all())
    return False
