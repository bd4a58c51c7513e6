"""Vertices of the five Platonic solids, on the unit sphere."""

from __future__ import annotations

import itertools
import math

import numpy as np

from .core import Array

GOLDEN = 0.5 * (1.0 + math.sqrt(5.0))
SIGNS = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))


def platonic(name: str) -> Array:
    """Vertices (k, 3) by name."""
    if name not in SOLIDS:
        raise ValueError(f'"{name}" is no solid; give one of {", ".join(SOLIDS)}')
    points = SOLIDS[name]
    return np.asarray(points / np.linalg.norm(points[0]))


def _turns(*corner: float) -> Array:
    """A corner with all signs of its components, and these in cyclic order."""
    points = np.unique(SIGNS * corner, axis=0)
    return np.concatenate([np.roll(points, k, axis=1) for k in range(3)])


SOLIDS = {
    "tetrahedron": SIGNS[SIGNS.prod(axis=1) > 0.0],
    "cube": SIGNS,
    "octahedron": _turns(1.0, 0.0, 0.0),
    "dodecahedron": np.concatenate([SIGNS, _turns(0.0, 1.0 / GOLDEN, GOLDEN)]),
    "icosahedron": _turns(0.0, 1.0, GOLDEN),
}
