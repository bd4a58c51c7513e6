"""Images of grains in a periodic cell, found with formulas of their own: each pair of neighbours through each image."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .state import State

Array = NDArray[np.float64]
Index = NDArray[np.int64]

FURTHEST = 7  # images on either side along a vector that a list of contacts may name


def ghosts(state: State) -> tuple[Index, Index, Array]:
    """Owner (m,), image (m, 3) and place (m, 3) m of all images that a grain may overlap, one of each two opposite
    ones, and the grains themselves first, with positions brought into the cell."""
    n, vectors, origin, periodic = state.n, state.cell, state.cell_origin, state.cell_periodic
    nothing = np.zeros((n, 3), np.int64)
    if vectors is None or origin is None or periodic is None:
        return np.arange(n), nothing, state.position
    share = np.linalg.solve(vectors.T, (state.position - origin).T).T
    into = -np.where(periodic, np.floor(share), 0.0).astype(np.int64)
    share = share + into
    # a face lies at a distance of |volume|/|area| from the opposite one
    area = np.linalg.norm(np.cross(np.roll(vectors, -1, axis=0), np.roll(vectors, -2, axis=0)), axis=1)
    near = (state.extent + state.extent.max())[:, None] * area / abs(float(np.linalg.det(vectors)))
    wide = 1 + np.ceil(near.max(axis=0, initial=0.0)).astype(np.int64)
    owner, image = [np.arange(n)], [into]
    for k in product(*(range(-w, w + 1) if has else (0,) for w, has in zip(wide, periodic))):
        if k <= (0, 0, 0):
            continue
        there = share + np.array(k)
        some = np.flatnonzero(((there > -near) & (there < 1.0 + near) | ~periodic).all(axis=1))
        owner.append(some)
        image.append(into[some] + np.array(k))
    rows, all_images = np.concatenate(owner), np.concatenate(image)
    return rows, all_images, state.position[rows] + all_images @ vectors


def keys(pair: NDArray[np.integer], image: NDArray[np.integer] | None, bodies: int) -> Index:
    """(c,) one whole number for each pair and image, whichever body comes first."""
    low, high = pair.min(axis=1).astype(np.int64), pair.max(axis=1).astype(np.int64)
    number = low * bodies + high
    if image is None:
        return np.asarray(number)
    # seen from the other body, the image is the opposite one
    seen = np.where((pair[:, 0] > pair[:, 1])[:, None], -image.astype(np.int64), image.astype(np.int64))
    for part in seen.T:
        number = number * (2 * FURTHEST + 2) + part + FURTHEST
    return np.asarray(number)


def faults(state: State) -> list[str]:
    """Contacts through images that there are not: of walls, along open directions, too far away."""
    pair, image = state.frame.contacts.pair, state.frame.contacts.image
    if image is None or state.cell_periodic is None:
        return []
    far = (np.abs(image.astype(np.int64)) > FURTHEST).any(axis=1) | (image[:, ~state.cell_periodic] != 0).any(axis=1)
    wrong = np.flatnonzero(far | ((pair[:, 1] >= state.n) & image.any(axis=1)))
    return [f"contact {c} is through image {image[c].tolist()}, which its body has not" for c in wrong]
