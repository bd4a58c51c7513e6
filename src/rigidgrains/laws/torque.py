"""Torques at a contact, one at a time: relative spin, the torque that stops it, and the turn of both bodies.

A contact that resists rolling and twisting, or rebounds sideways, has the extra columns of model/columns.py. Its force
has seven: R_n, R_t (3) and Q (3) = torque on body 1 over the lever (N). Q stops the relative spin, times the lever,
z = a_1 s_1 - a_0 s_0: its part across n within a disk of radius (mu_r/lever) R_n, its part along n within
(mu_t/lever) R_n.
"""

from __future__ import annotations

from math import sqrt

from ..model.columns import A_0, A_1, M_R, MU_R, MU_T, W_X, W_Y, W_Z
from ..runtime.compiled import inlined
from ..runtime.simd import choose


@inlined
def relative_spin(a, b, extra):
    """z (3) = lever times the spin of body 1 relative to body 0 (m/s)."""
    a_0, a_1 = extra[A_0], extra[A_1]
    return (
        a_1 * b[3] - a_0 * a[3] + extra[W_X],
        a_1 * b[4] - a_0 * a[4] + extra[W_Y],
        a_1 * b[5] - a_0 * a[5] + extra[W_Z],
    )


@inlined
def stopping_torque(old, z, contact, extra, r_n, rate):
    """Q (3) that stops rolling and twisting as far as R_n allows."""
    n_x, n_y, n_z = contact[0], contact[1], contact[2]
    m = extra[M_R] * rate
    q_x, q_y, q_z = old[4] - m * z[0], old[5] - m * z[1], old[6] - m * z[2]
    q_n = q_x * n_x + q_y * n_y + q_z * n_z
    q_x, q_y, q_z = q_x - q_n * n_x, q_y - q_n * n_y, q_z - q_n * n_z
    limit, square = extra[MU_R] * r_n, q_x * q_x + q_y * q_y + q_z * q_z
    rolls = square > limit * limit
    share = choose(rolls, limit, 1.0) / sqrt(choose(rolls, square, 1.0))
    limit = extra[MU_T] * r_n
    q_n = choose(q_n > limit, limit, choose(0.0 - limit > q_n, 0.0 - limit, q_n))
    apart = r_n <= 0.0
    q_x, q_y, q_z = share * q_x + q_n * n_x, share * q_y + q_n * n_y, share * q_z + q_n * n_z
    return choose(apart, 0.0, q_x), choose(apart, 0.0, q_y), choose(apart, 0.0, q_z)


@inlined
def turn(a, b, extra, p_x, p_y, p_z):
    """Both bodies after body 1 got the angular impulse lever * p and body 0 its opposite."""
    turn_1, turn_0 = extra[A_1] * b[7], extra[A_0] * a[7]
    return (
        (a[0], a[1], a[2], a[3] - turn_0 * p_x, a[4] - turn_0 * p_y, a[5] - turn_0 * p_z, a[6], a[7]),
        (b[0], b[1], b[2], b[3] + turn_1 * p_x, b[4] + turn_1 * p_y, b[5] + turn_1 * p_z, b[6], b[7]),
    )
