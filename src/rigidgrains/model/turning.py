"""Spins of grains of any shape, scaled so that a body stays a row of eight numbers.

With B = sqrt(m) I^(-1/2), a matrix in space, and s = B^-1 w every component of v and s has the same inertia: the
kinetic energy is m (v^2 + s^2)/2, an impulse p at the lever l changes s by B (l x p)/m, and L = m B^-1 s. In 2D, and
for spheres, B is 1 over the radius of gyration.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiled import kernel, law
from ..runtime.threads import spread
from .columns import A0_X, A1_Y, A_ONE, A_ZERO, FLAT_LEVERS, S_X, S_Y, S_Z, X, Y, Z

if TYPE_CHECKING:
    from .bodies import Bodies

Array = NDArray[np.float64]

TURN_W, TURN_X, TURN_Y, TURN_Z = range(4)  # columns of quaternions
LOOKS = 50  # at the spin of the step; each brings it nearer by the angle of the step


def gyration(bodies: Bodies) -> Array:
    """(n, 3) m, radii of gyration about the principal axes of each grain, sqrt(I/m); in 2D all that about z."""
    assert bodies.catalogue is not None
    return bodies.radius[:, None] * bodies.catalogue.gyration[bodies.shape]


def spin_matrices(bodies: Bodies, *, inverse: bool = False, orientation: Array | None = None) -> Array:
    """(n, 3, 3) 1/m, B of each grain: w = B s; with `inverse` B^-1 (m). For the present orientations unless told."""
    assert bodies.catalogue is not None
    n, turned = bodies.count, bodies.orientation if orientation is None else orientation
    fill, out = _fill_flat if bodies.dimension == 2 else _fill_solid, np.empty((n, 3, 3))
    spread(fill, n, turned, bodies.radius, bodies.shape, bodies.catalogue.gyration, inverse, out, weight=4)
    return out


def spins(bodies: Bodies, motion: Array, orientation: Array) -> Array:
    """(n, 3) rad/s, w = B s, from rows with s, of grains that are turned like this."""
    return spins_and_turning(bodies, motion, spin_matrices(bodies, orientation=orientation))[0]


def scaled_spins(bodies: Bodies, spin: Array) -> Array:
    """(n, 3) m/s, s = B^-1 w."""
    return np.einsum("iab,ib->ia", spin_matrices(bodies, inverse=True), spin)


def turned_back(bodies: Bodies) -> Array:
    """(bodies, 8) motion with s as the step was solved: solids have turned since, and s with them. Else as it is."""
    if bodies.catalogue is None or bodies.dimension == 2:
        return bodies.motion
    motion, scaled = bodies.motion.copy(), slice(S_X, S_Z + 1)
    per_mass = np.einsum("iab,ib->ia", spin_matrices(bodies, inverse=True), motion[: bodies.count, scaled])  # L/m
    before = spin_matrices(bodies, orientation=bodies.orientation_before)
    motion[: bodies.count, scaled] = np.einsum("iab,ib->ia", before, per_mass)
    return motion


def turning_speeds(bodies: Bodies, *motions: Array) -> list[Array]:
    """(n,) m/s, for each table of rows with s the speed of the farthest point of each grain by its spin.

    0 for round ones; (0,) where all grains are round.
    """
    if bodies.catalogue is None:
        return [np.zeros(0) for _ in motions]
    matrices = spin_matrices(bodies)
    return [spins_and_turning(bodies, motion, matrices)[1] for motion in motions]


def spins_and_turning(bodies: Bodies, motion: Array, matrices: Array) -> tuple[Array, Array]:
    """(n, 3) rad/s, w = B s, and what `turning_speeds` says; matrices : (n, 3, 3) B of each grain."""
    catalogue, n = bodies.catalogue, bodies.count
    assert catalogue is not None
    spin, speed = np.empty((n, 3)), np.empty(n)
    motion = np.ascontiguousarray(motion)  # views of some columns would compile it once more
    what = matrices, motion, bodies.radius, bodies.shape, catalogue.bound, catalogue.round, spin, speed
    spread(_fill_spins, n, *what, weight=4)
    return spin, speed


def turn_shapes(bodies: Bodies, dt: float) -> None:
    """Orientations of grains of any shape after a step with the present spins; angular momenta stay what they are.

    In 3D the spin follows from L = I w as the grain turns. The midpoint rule for L in the axes of the body, with
    Cayley's turn, keeps L and the energy of a free grain to rounding (Simo and Wong 1991); s becomes that of the new
    orientation.
    """
    n, motion = bodies.count, bodies.motion
    if bodies.dimension == 2:
        bodies.orientation += dt * motion[:n, S_Z] / gyration(bodies)[:, Z]
        return
    bodies.orientation_before = bodies.orientation.copy()
    _turn_all(bodies, bodies.orientation, motion, dt)


def turned_ahead(bodies: Bodies, dt: float) -> Array:
    """Orientations to which `turn_shapes` would take the grains, which stay as they are."""
    n, motion = bodies.count, bodies.motion
    if bodies.dimension == 2:
        return np.asarray(bodies.orientation + dt * motion[:n, S_Z] / gyration(bodies)[:, Z])
    out = bodies.orientation.copy()
    _turn_all(bodies, out, motion[:n].copy(), dt)
    return out


def _turn_all(bodies: Bodies, orientation: Array, motion: Array, dt: float) -> None:
    """Solids, by the spins of their rows."""
    assert bodies.catalogue is not None
    what = orientation, motion, bodies.radius, bodies.shape, bodies.catalogue.gyration, dt
    spread(_turn_solids, bodies.count, *what, weight=64)


def quaternions(bodies: Bodies) -> Array:
    """(n, 4) orientations as unit quaternions, also of flat grains."""
    if bodies.dimension == 3:
        return bodies.orientation
    out = np.empty((bodies.count, 4))
    spread(_fill_quaternions, bodies.count, bodies.orientation, out, weight=8)
    return out


def by_turning(levers: Array, one: Array, other: Array) -> Array:
    """(c, 3) m/s, what the spins s (c, 3) of bodies 0 and 1 add to V, A_1 s_1 - A_0 s_0."""
    matrices = lever_matrices(levers)
    return np.asarray(np.einsum("cab,cb->ca", matrices[:, 1], other) - np.einsum("cab,cb->ca", matrices[:, 0], one))


def lever_matrices(levers: Array) -> Array:
    """(c, 2, 3, 3) A_0 and A_1 of each contact."""
    if levers.shape[1] > FLAT_LEVERS:
        return levers[:, A_ZERO : A_ONE + 9].reshape(-1, 2, 3, 3)
    matrices = np.zeros((len(levers), 2, 3, 3))
    matrices[:, :, :Z, Z] = levers[:, A0_X : A1_Y + 1].reshape(-1, 2, 2)
    return matrices


def turned_by(bodies: Bodies, angle: Array) -> Array:
    """Orientations after a turn by rotation vectors (n, 3) rad; (n,) rad in 2D, (n, 4) in 3D."""
    if bodies.dimension == 2:
        return np.asarray(bodies.orientation + angle[:, Z])
    out = bodies.orientation.copy()
    spread(_turn, bodies.count, out, angle, weight=8)
    return out


def turned_vectors(orientation: Array, vectors: Array) -> Array:
    """(m, 3) vectors in the axes of bodies as they are in space; orientation (m,) rad in 2D, (m, 4) in 3D."""
    if orientation.ndim == 1:
        c, s, (x, y, z) = np.cos(orientation), np.sin(orientation), vectors.T
        return np.stack([c * x - s * y, s * x + c * y, z], axis=1)
    w, axis = orientation[:, [TURN_W]], orientation[:, TURN_X : TURN_Z + 1]
    across = 2.0 * np.cross(axis, vectors)
    return np.asarray(vectors + w * across + np.cross(axis, across))


@kernel
def _fill_spins(first, last, matrices, motion, radius, shape, bound, round_one, spin, speed):
    """Spins of some grains, and the speed of the farthest point of each by its spin."""
    for i in range(first, last):
        s_x, s_y, s_z = motion[i, S_X], motion[i, S_Y], motion[i, S_Z]
        for a in range(3):
            spin[i, a] = matrices[i, a, X] * s_x + matrices[i, a, Y] * s_y + matrices[i, a, Z] * s_z
        x, y, z = spin[i, X], spin[i, Y], spin[i, Z]
        own = radius[i] * bound[shape[i]]
        speed[i] = 0.0 if round_one[shape[i]] else math.sqrt(x * x + y * y + z * z) * own


@law
def turn_quaternion(q, a, b, d, x, y, z):
    """A unit quaternion (q, a, b, d) turned by the rotation vector (x, y, z)."""
    angle = math.sqrt(x * x + y * y + z * z)
    if angle == 0.0:
        return q, a, b, d
    c, s = math.cos(0.5 * angle), math.sin(0.5 * angle) / angle
    x, y, z = s * x, s * y, s * z
    w, a, b, d = (
        c * q - x * a - y * b - z * d,
        c * a + x * q + y * d - z * b,
        c * b + y * q + z * a - x * d,
        c * d + z * q + x * b - y * a,
    )
    scale = 1.0 / math.sqrt(w * w + a * a + b * b + d * d)
    return w * scale, a * scale, b * scale, d * scale


@kernel
def _turn(first, last, quaternion, angle):
    """Of some grains."""
    for i in range(first, last):
        w, x, y, z = quaternion[i, TURN_W], quaternion[i, TURN_X], quaternion[i, TURN_Y], quaternion[i, TURN_Z]
        (
            quaternion[i, TURN_W], quaternion[i, TURN_X], quaternion[i, TURN_Y], quaternion[i, TURN_Z],
        ) = turn_quaternion(w, x, y, z, angle[i, X], angle[i, Y], angle[i, Z])  # fmt: skip


@kernel
def _turn_solids(first, last, quaternion, motion, radius, shape, gyration, dt):
    """Of some grains, at unit mass: L = B^-1 s in space, M = L in the axes of the body, w = I^-1 M."""
    for i in range(first, last):
        turn = rotation(quaternion, i)
        l_x, l_y, l_z = _lengths(i, radius, shape, gyration)
        x, y, z = _in_axes(turn, motion[i, S_X], motion[i, S_Y], motion[i, S_Z])
        a_x, a_y, a_z = l_x * x, l_y * y, l_z * z  # M before
        m_x, m_y, m_z = _in_space(turn, a_x, a_y, a_z)  # L
        q, a, b, d = quaternion[i, TURN_W], quaternion[i, TURN_X], quaternion[i, TURN_Y], quaternion[i, TURN_Z]
        b_x, b_y, b_z = a_x, a_y, a_z  # M after
        h, e, f, g = q, a, b, d
        for _ in range(LOOKS):
            w_x, w_y, w_z = 0.5 * (a_x + b_x) / l_x**2, 0.5 * (a_y + b_y) / l_y**2, 0.5 * (a_z + b_z) / l_z**2
            half = 0.5 * dt * math.sqrt(w_x * w_x + w_y * w_y + w_z * w_z)
            angle = dt * (np.arctan(half) / half if half > 0.0 else 1.0)  # Cayley's turn: tan of half of it is w dt/2
            x, y, z = _in_space(turn, angle * w_x, angle * w_y, angle * w_z)
            h, e, f, g = turn_quaternion(q, a, b, d, x, y, z)
            x, y, z = _in_axes(_rotation(h, e, f, g), m_x, m_y, m_z)
            change, size = abs(x - b_x) + abs(y - b_y) + abs(z - b_z), abs(x) + abs(y) + abs(z)
            b_x, b_y, b_z = x, y, z
            if change <= 4e-16 * size:
                break
        quaternion[i, TURN_W], quaternion[i, TURN_X], quaternion[i, TURN_Y], quaternion[i, TURN_Z] = h, e, f, g
        turn = _rotation(h, e, f, g)
        motion[i, S_X], motion[i, S_Y], motion[i, S_Z] = _in_space(turn, b_x / l_x, b_y / l_y, b_z / l_z)


@law
def _in_axes(turn, x, y, z):
    """Components of a vector along the axes of the body."""
    return (
        turn[X][X] * x + turn[Y][X] * y + turn[Z][X] * z,
        turn[X][Y] * x + turn[Y][Y] * y + turn[Z][Y] * z,
        turn[X][Z] * x + turn[Y][Z] * y + turn[Z][Z] * z,
    )


@law
def _in_space(turn, x, y, z):
    """The way back."""
    return (
        turn[X][X] * x + turn[X][Y] * y + turn[X][Z] * z,
        turn[Y][X] * x + turn[Y][Y] * y + turn[Y][Z] * z,
        turn[Z][X] * x + turn[Z][Y] * y + turn[Z][Z] * z,
    )


@law
def _lengths(i, radius, shape, gyration):
    """(m) radii of gyration of a grain about its principal axes."""
    size, k = radius[i], shape[i]
    return size * gyration[k, X], size * gyration[k, Y], size * gyration[k, Z]


@law
def rotation(quaternion, i):
    """The rotation matrix of a unit quaternion, row after row: columns are the axes of the body in space."""
    return _rotation(quaternion[i, TURN_W], quaternion[i, TURN_X], quaternion[i, TURN_Y], quaternion[i, TURN_Z])


@law
def _rotation(w, x, y, z):
    """The same of its components."""
    return (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
        (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
    )


@kernel
def _fill_quaternions(first, last, angle, out):
    """Of flat grains, about z."""
    for i in range(first, last):
        out[i, TURN_W], out[i, TURN_Z] = math.cos(0.5 * angle[i]), math.sin(0.5 * angle[i])
        out[i, TURN_X], out[i, TURN_Y] = 0.0, 0.0


@kernel
def _fill_flat(first, last, angle, radius, shape, gyration, inverse, out):
    """Of disks and flat grains: the same about every axis, whatever the angle."""
    for i in range(first, last):
        _, _, length = _lengths(i, radius, shape, gyration)
        for a in range(3):
            for b in range(3):
                out[i, a, b] = (length if inverse else 1.0 / length) if a == b else 0.0


@kernel
def _fill_solid(first, last, quaternion, radius, shape, gyration, inverse, out):
    """Turned from the principal axes into space."""
    for i in range(first, last):
        turn, (x, y, z) = rotation(quaternion, i), _lengths(i, radius, shape, gyration)
        if not inverse:
            x, y, z = 1.0 / x, 1.0 / y, 1.0 / z
        for a in range(3):
            for b in range(a, 3):
                value = turn[a][X] * x * turn[b][X] + turn[a][Y] * y * turn[b][Y] + turn[a][Z] * z * turn[b][Z]
                out[i, a, b] = out[i, b, a] = value
