"""Contacts of grains of any shape: each has levers, which enter as matrices, V = v_1 - v_0 + A_1 s_1 - A_0 s_0."""

from __future__ import annotations

from ...laws import contact as one
from ...laws.split import general, split_force, tangents
from ...model.columns import A_ONE, A_ZERO, LEVERS, MU, N_X, N_Y, N_Z, STRONG, TO_CLOSE, WT_X, WT_Y, WT_Z
from ...runtime.calls import certainly
from ...runtime.compiled import inlined, inside
from ...runtime.prefetch import prefetch_wide
from ...runtime.rows import read_row
from ...runtime.simd import read_rows
from .friction import impulse, minus


@inlined
def read_extra(extra, c):
    """All columns of the levers of a contact."""
    return read_row(extra, c, LEVERS)


@inlined
def read_extras(extra, c):
    """The same of several contacts."""
    return read_rows(extra, c, LEVERS)


@inlined
def ask_extra(extra, c):
    """Bring them into the cache."""
    prefetch_wide(extra, c, LEVERS)


@inlined
def moved(extra):
    """m_t times V_t that a unit impulse along n adds."""
    return extra[WT_X], extra[WT_Y], extra[WT_Z]


@inlined
def turned(extra, k, s):
    """A s, of the matrix that begins in column k."""
    return (
        extra[k] * s[3] + extra[k + 1] * s[4] + extra[k + 2] * s[5],
        extra[k + 3] * s[3] + extra[k + 4] * s[4] + extra[k + 5] * s[5],
        extra[k + 6] * s[3] + extra[k + 7] * s[4] + extra[k + 8] * s[5],
    )


@inlined
def turning(extra, k, p_x, p_y, p_z):
    """A^T p: what an impulse gives to s, times the mass."""
    return (
        extra[k] * p_x + extra[k + 3] * p_y + extra[k + 6] * p_z,
        extra[k + 1] * p_x + extra[k + 4] * p_y + extra[k + 7] * p_z,
        extra[k + 2] * p_x + extra[k + 5] * p_y + extra[k + 8] * p_z,
    )


@inlined
def velocity(a, b, contact, extra, cell):
    """V_n and V_t (3), Eq. (contact-veloc)."""
    u, w = turned(extra, A_ONE, b), turned(extra, A_ZERO, a)
    return one.along_normal(
        ((b[0] + u[0]) - a[0]) - w[0], ((b[1] + u[1]) - a[1]) - w[1], ((b[2] + u[2]) - a[2]) - w[2],
        contact[N_X], contact[N_Y], contact[N_Z],
    )  # fmt: skip


@inlined
def push(a, b, contact, extra, p):
    """Both bodies after an impulse p_n n + p_t: Eq. (generalized-R)."""
    return push_for(a, b, contact, extra, p, 1.0)


@inlined
def push_for(a, b, contact, extra, p, dt):
    """Both bodies after a force p_n n + p_t for a time dt."""
    p_x, p_y, p_z = p[1] + p[0] * contact[N_X], p[2] + p[0] * contact[N_Y], p[3] + p[0] * contact[N_Z]
    t, u = turning(extra, A_ZERO, p_x, p_y, p_z), turning(extra, A_ONE, p_x, p_y, p_z)
    h, i, k, m = dt * a[6], dt * a[7], dt * b[6], dt * b[7]  # they are there before the force
    return (
        (
            a[0] - h * p_x, a[1] - h * p_y, a[2] - h * p_z, a[3] - i * t[0], a[4] - i * t[1], a[5] - i * t[2],
            a[6], a[7],
        ),
        (
            b[0] + k * p_x, b[1] + k * p_y, b[2] + k * p_z, b[3] + m * u[0], b[4] + m * u[1], b[5] + m * u[2],
            b[6], b[7],
        ),
    )  # fmt: skip


@inlined
def collide(a, b, contact, extra, old, cell, dt, rate, opens):
    """Both bodies and the force after the split law, from those before."""
    new = split_force(old, velocity(a, b, contact, extra, cell), contact, moved(extra), rate, opens)
    a, b = push_for(a, b, contact, extra, minus(new, old), dt)
    return a, b, new


@inlined
def asked(a, b, contact, extra, old, cell, rate):
    """The force that the law asks for, from the present one and the velocities."""
    return split_force(old, velocity(a, b, contact, extra, cell), contact, moved(extra), rate, False)


@inlined
def is_strong(extra):
    """Whether normal and tangential motion are coupled strongly."""
    return extra[STRONG] > 0.0


@inlined
def are_strong(extra, sequence, first, number):
    """Whether some of the contacts in turn are."""
    some = False
    for at in range(first, first + number):
        some = some or extra[sequence[at], STRONG] > 0.0
    return some


@inlined
def settle(a, b, contact, extra, old, cell, dt, rate, opens):
    """One contact: the general law where the coupling is strong and the split law might go round in circles."""
    if is_strong(extra) and not opens:
        new = certainly(strong_force, (a, b, contact, extra, old, dt))
        a, b = push(a, b, contact, extra, impulse(new, old, dt))
        return a, b, new
    return collide(a, b, contact, extra, old, (), dt, rate, opens)


@inside
def strong_force(a, b, contact, extra, old, dt):
    """R_n and R_t (3) of the general law."""
    n_x, n_y, n_z = contact[N_X], contact[N_Y], contact[N_Z]
    t_x, t_y, t_z, u_x, u_y, u_z = tangents(n_x, n_y, n_z)
    # M_c^-1: what unit impulses do to bodies at rest
    w_nn, x, y, z = after(a, b, contact, extra, (1.0, 0.0, 0.0, 0.0), 0.0)
    w_n1, w_n2 = x * t_x + y * t_y + z * t_z, x * u_x + y * u_y + z * u_z
    _, x, y, z = after(a, b, contact, extra, (0.0, t_x, t_y, t_z), 0.0)
    w_11, w_12 = x * t_x + y * t_y + z * t_z, x * u_x + y * u_y + z * u_z
    _, x, y, z = after(a, b, contact, extra, (0.0, u_x, u_y, u_z), 0.0)
    w_22 = x * u_x + y * u_y + z * u_z
    # U: the present velocity without the contact's own force
    v_n, x, y, z = after(a, b, contact, extra, (0.0, 0.0, 0.0, 0.0), 1.0)
    v_1, v_2 = x * t_x + y * t_y + z * t_z, x * u_x + y * u_y + z * u_z
    r_1, r_2 = old[1] * t_x + old[2] * t_y + old[3] * t_z, old[1] * u_x + old[2] * u_y + old[3] * u_z
    u = (
        v_n - dt * (w_nn * old[0] + w_n1 * r_1 + w_n2 * r_2),
        v_1 - dt * (w_n1 * old[0] + w_11 * r_1 + w_12 * r_2),
        v_2 - dt * (w_n2 * old[0] + w_12 * r_1 + w_22 * r_2),
    )
    w = w_nn, w_n1, w_n2, w_11, w_12, w_22
    r_n, r_1, r_2 = general(contact[TO_CLOSE], u, w, contact[MU], dt)
    return r_n, r_1 * t_x + r_2 * u_x, r_1 * t_y + r_2 * u_y, r_1 * t_z + r_2 * u_z


@inside
def after(a, b, contact, extra, p, present):
    """V_n and V_t (3) after an impulse, of bodies that move as they do (present = 1) or are at rest (0)."""
    a = (
        present * a[0], present * a[1], present * a[2], present * a[3], present * a[4], present * a[5], a[6], a[7],
    )  # fmt: skip
    b = (
        present * b[0], present * b[1], present * b[2], present * b[3], present * b[4], present * b[5], b[6], b[7],
    )  # fmt: skip
    a, b = push(a, b, contact, extra, p)
    return velocity(a, b, contact, extra, ())
