"""How a shape has to be turned to look as it does in a mirror; a chiral one cannot."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from ..shapes.catalogue import Catalogue
from ..shapes.core import FLAT, Shape
from .errors import PackingError
from .kinds import mirrored
from .sample import Array

CLOSE = 1e-6  # of the size of a shape, within which corners are the same


def reflections(catalogue: Catalogue, numbers: Iterable[int], axis: int) -> dict[int, Array]:
    """For each shape the turn Q with P S = Q S: an angle (rad) in 2D, a quaternion (w, x, y, z) in 3D."""
    found = {}
    for number in numbers:
        shape = catalogue.shapes[number]
        turn = _reflection(shape, axis)
        if turn is None:
            raise PackingError(
                f"shape {catalogue.names[number]!r} is chiral: its mirror image is no turned copy of it; take out the "
                f"grains of that shape first, or leave the packing as it is"
            )
        found[int(number)] = turn
    return found


def _reflection(shape: Shape, axis: int) -> Array | None:
    """The least turn that brings the mirrored corners of all parts onto the corners; None if there is none."""
    points = np.concatenate([part.vertices for part in shape.parts])
    # corners of parts of another number of corners, or rounded otherwise, are other corners
    kinds = np.concatenate([np.full((len(p.vertices), 2), [p.rounding, float(len(p.vertices))]) for p in shape.parts])
    size = float(np.linalg.norm(points, axis=1).max()) or 1.0
    seen, close = mirrored(points, axis), CLOSE * size
    tree = cKDTree(np.hstack([points, size * kinds]))

    def fits(turn: Array) -> bool:
        distance, index = tree.query(np.hstack([seen @ turn, size * kinds]))  # Q^T P x for each corner
        return bool((distance < close).all()) and len(np.unique(index)) == len(points)

    for turn in _candidates(points, seen, close, flat=shape.dimension == FLAT):
        if fits(turn):
            if shape.dimension == FLAT:
                return np.array(np.arctan2(turn[1, 0], turn[0, 0]))
            x, y, z, w = Rotation.from_matrix(turn).as_quat()
            return np.array([w, x, y, z])
    return None


def _candidates(points: Array, seen: Array, close: float, *, flat: bool) -> Iterable[Array]:
    """Rotations Q that may do: none, half turns, and those that bring a corner, or two, to corners as far away."""
    yield np.eye(3)
    halves = [np.diag(signs) for signs in ([1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0])]
    yield from halves[2:] if flat else halves
    far = np.linalg.norm(seen, axis=1)
    a = int(np.argmax(far))
    if far[a] < close:
        return
    alike = np.flatnonzero(np.abs(np.linalg.norm(points, axis=1) - far[a]) < close)
    if flat:
        for k in alike:
            turn = np.arctan2(seen[a, 1], seen[a, 0]) - np.arctan2(points[k, 1], points[k, 0])
            yield Rotation.from_rotvec([0.0, 0.0, turn]).as_matrix()
        return
    across = np.linalg.norm(np.cross(seen, seen[a]), axis=1)
    b = int(np.argmax(across))
    if across[b] < close * far[a]:  # all corners in a line
        for k in alike:
            yield Rotation.align_vectors(seen[[a]], points[[k]])[0].as_matrix()
        return
    others = np.flatnonzero(np.abs(np.linalg.norm(points, axis=1) - far[b]) < close)
    inner = float(seen[a] @ seen[b])
    for k, m in product(alike, others):
        if abs(float(points[k] @ points[m]) - inner) < close * far[a]:
            yield Rotation.align_vectors(seen[[a, b]], points[[k, m]])[0].as_matrix()
