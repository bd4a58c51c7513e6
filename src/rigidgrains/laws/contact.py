"""One contact at a time: its velocity, the force that the shock law asks for, and the push on both bodies.

Point functions without loops, on numbers: one text serves a single contact and several in the lanes of a register.

    a, b    : motion rows of bodies 0 and 1
    contact : geometry row, n (3), gap to be closed, m_n, m_t, mu, g
    old     : R_n and R_t (3), perhaps more
    rate    : 1/dt
"""

from __future__ import annotations

from ..model.columns import M_N, M_T, MU, TO_CLOSE
from ..runtime.compiled import inlined, inside, kernel
from ..runtime.rows import read_row, write_row
from .shock import associated_law, shock_law

shock, associated = inside(shock_law), inside(associated_law)


@inlined
def relative_velocity(a, b, n_x, n_y, n_z):
    """V of two bodies: Eq. (contact-veloc) with levers along n, V = v1 - v0 - (s0 + s1) x n."""
    s_x, s_y, s_z = a[3] + b[3], a[4] + b[4], a[5] + b[5]
    return (
        b[0] - a[0] - (s_y * n_z - s_z * n_y),
        b[1] - a[1] - (s_z * n_x - s_x * n_z),
        b[2] - a[2] - (s_x * n_y - s_y * n_x),
    )


@inlined
def along_normal(v_x, v_y, v_z, n_x, n_y, n_z):
    """V_n and V_t (3) of V."""
    v_n = v_x * n_x + v_y * n_y + v_z * n_z
    return v_n, v_x - v_n * n_x, v_y - v_n * n_y, v_z - v_n * n_z


@inlined
def velocity(a, b, n_x, n_y, n_z):
    """V_n and V_t (3) of two bodies."""
    v_x, v_y, v_z = relative_velocity(a, b, n_x, n_y, n_z)
    return along_normal(v_x, v_y, v_z, n_x, n_y, n_z)


@inlined
def push(a, b, n_x, n_y, n_z, p_n, p_x, p_y, p_z):
    """Both bodies after an impulse p_n n + p_t: Eq. (generalized-R), torque -lever n x R on either."""
    t_x, t_y, t_z = n_y * p_z - n_z * p_y, n_z * p_x - n_x * p_z, n_x * p_y - n_y * p_x
    p_x, p_y, p_z = p_x + p_n * n_x, p_y + p_n * n_y, p_z + p_n * n_z
    return (
        (
            a[0] - a[6] * p_x, a[1] - a[6] * p_y, a[2] - a[6] * p_z,
            a[3] - a[7] * t_x, a[4] - a[7] * t_y, a[5] - a[7] * t_z, a[6], a[7],
        ),
        (
            b[0] + b[6] * p_x, b[1] + b[6] * p_y, b[2] + b[6] * p_z,
            b[3] - b[7] * t_x, b[4] - b[7] * t_y, b[5] - b[7] * t_z, b[6], b[7],
        ),
    )  # fmt: skip


@inlined
def sticking_force(old, v, contact, rate):
    """R_n and R_t (3) that would make the contact stick and close its gap, from the present R and V, Eq. (noslipRnew).

    The velocities contain the contact's own force R. Since V = U + M_c^-1 R dt, Eq. (discr-contact-accel2), the force
    that makes it stick, -(m/dt) (g/dt + U), is R - (m/dt) (g/dt + V): nothing has to be taken out first.
    """
    a = contact[M_T] * rate
    r_n = old[0] - contact[M_N] * rate * (v[0] + contact[TO_CLOSE] * rate)
    return r_n, old[1] - a * v[1], old[2] - a * v[2], old[3] - a * v[3]


@inlined
def shock_force(old, v, contact, rate, opens):
    """R_n and R_t (3) that the shock law asks for, Eq. (sphere-shock).

    opens : whether a contact opens as it slides, see `shock.associated_law`. All contacts take the same branch, and it
            cuts the text in two: in one piece it needs too many registers, and lanes are a quarter slower.
    """
    r_n, r_x, r_y, r_z = sticking_force(old, v, contact, rate)
    r_tt = r_x * r_x + r_y * r_y + r_z * r_z
    if opens:
        r_n = associated(r_n, r_tt, contact[MU], contact[M_N] / contact[M_T])
    r_n, factor = shock(r_n, r_tt, contact[MU])
    return r_n, factor * r_x, factor * r_y, factor * r_z


@inlined
def row(table, k):
    """A row of a table with eight columns."""
    return read_row(table, k, 8)


@inlined
def put_back(motion, i, body):
    """v and s of a body."""
    write_row(motion, i, 8, (body[0], body[1], body[2], body[3], body[4], body[5]))


@kernel
def contact_velocity(i, j, motion, n_x, n_y, n_z):
    """V_n and V_t (3) of bodies i and j."""
    return velocity(row(motion, i), row(motion, j), n_x, n_y, n_z)


@kernel
def scatter(i, j, motion, n_x, n_y, n_z, p_n, p_x, p_y, p_z):
    """Give both bodies an impulse p_n n + p_t."""
    a, b = push(row(motion, i), row(motion, j), n_x, n_y, n_z, p_n, p_x, p_y, p_z)
    put_back(motion, i, a)
    put_back(motion, j, b)
