"""Spins of grains of any shape, scaled so that a body stays a row of eight numbers.

With B = sqrt(m) I^(-1/2), a matrix in space, and s = B^-1 w every component of v and s has the same inertia: the kinetic
energy is m (v^2 + s^2)/2, a force p at the lever l changes s by B (l x p)/m, and L = m B^-1 s. In 2D, and for spheres, B
is 1 over the radius of gyration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiled import kernel, law
from ..runtime.threads import in_parts
from .columns import X, Y, Z

if TYPE_CHECKING:
    from .bodies import Bodies

Array = NDArray[np.float64]

TURN_W, TURN_X, TURN_Y, TURN_Z = range(4)  # columns of quaternions


def gyration(bodies: Bodies) -> Array:
    """(n, 3) m, radii of gyration about the principal axes of each grain, sqrt(I/m); in 2D all that about z."""
    assert bodies.catalogue is not None
    return bodies.radius[:, None] * bodies.catalogue.gyration[bodies.shape]


def spin_matrices(bodies: Bodies, *, inverse: bool = False, out: Array | None = None) -> Array:
    """(n, 3, 3) 1/m, B of each grain: w = B s; with `inverse` B^-1 (m)."""
    lengths = gyration(bodies)
    out = np.empty((bodies.count, 3, 3)) if out is None else out
    diagonal = lengths if inverse else 1.0 / lengths
    fill = _fill_flat if bodies.dimension == 2 else _fill_solid
    in_parts(lambda first, last: fill(first, last, bodies.orientation, diagonal, out), bodies.count, weight=4)
    return out


def spins(bodies: Bodies, scaled: Array) -> Array:
    """(n, 3) rad/s, w = B s."""
    return np.einsum("iab,ib->ia", spin_matrices(bodies), scaled)


def scaled_spins(bodies: Bodies, spin: Array) -> Array:
    """(n, 3) m/s, s = B^-1 w."""
    return np.einsum("iab,ib->ia", spin_matrices(bodies, inverse=True), spin)


@law
def rotation(quaternion, i):
    """The rotation matrix of a unit quaternion, row after row: columns are the axes of the body in space."""
    w, x, y, z = quaternion[i, TURN_W], quaternion[i, TURN_X], quaternion[i, TURN_Y], quaternion[i, TURN_Z]
    return (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
        (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
    )


@kernel
def _fill_flat(first, last, angle, diagonal, out):
    """Of disks and flat grains: the same about every axis, whatever the angle."""
    for i in range(first, last):
        for a in range(3):
            for b in range(3):
                out[i, a, b] = diagonal[i, Z] if a == b else 0.0


@kernel
def _fill_solid(first, last, quaternion, diagonal, out):
    """Turned from the principal axes into space."""
    for i in range(first, last):
        turn = rotation(quaternion, i)
        for a in range(3):
            for b in range(a, 3):
                value = (
                    turn[a][X] * diagonal[i, X] * turn[b][X]
                    + turn[a][Y] * diagonal[i, Y] * turn[b][Y]
                    + turn[a][Z] * diagonal[i, Z] * turn[b][Z]
                )
                out[i, a, b] = out[i, b, a] = value
