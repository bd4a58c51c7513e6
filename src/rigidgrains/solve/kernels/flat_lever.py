"""Contacts of flat grains of any shape: they turn about z alone, and a lever is two numbers."""

from __future__ import annotations

from ...model.columns import A0_X, A0_Y, A1_X, A1_Y, FLAT_LEVERS, FLAT_STRONG, FLAT_WT_X, FLAT_WT_Y, N_X, N_Y
from ...runtime.compiled import inlined
from ...runtime.rows import read_row
from ...runtime.simd import read_rows
from .lever import after, asked, collide, settle, strong_force

__all__ = (
    "after", "are_strong", "asked", "collide", "is_strong", "moved", "push", "push_for", "read_extra", "read_extras",
    "settle", "strong_force", "velocity",
)  # fmt: skip


@inlined
def read_extra(extra, c):
    """The levers of a contact."""
    return read_row(extra, c, FLAT_LEVERS)


@inlined
def read_extras(extra, c):
    """The same of several contacts."""
    return read_rows(extra, c, FLAT_LEVERS)


@inlined
def moved(extra):
    """m_t times V_t that a unit impulse along n adds."""
    return extra[FLAT_WT_X], extra[FLAT_WT_Y], 0.0


@inlined
def velocity(a, b, contact, extra, cell):
    """V_n and V_t (3), Eq. (contact-veloc)."""
    v_x = ((b[0] + extra[A1_X] * b[5]) - a[0]) - extra[A0_X] * a[5]
    v_y = ((b[1] + extra[A1_Y] * b[5]) - a[1]) - extra[A0_Y] * a[5]
    v_n = v_x * contact[N_X] + v_y * contact[N_Y]
    return v_n, v_x - v_n * contact[N_X], v_y - v_n * contact[N_Y], 0.0


@inlined
def push(a, b, contact, extra, p):
    """Both bodies after an impulse p_n n + p_t."""
    return push_for(a, b, contact, extra, p, 1.0)


@inlined
def push_for(a, b, contact, extra, p, dt):
    """Both bodies after a force p_n n + p_t for a time dt: Eq. (generalized-R)."""
    p_x, p_y = p[1] + p[0] * contact[N_X], p[2] + p[0] * contact[N_Y]
    t, u = extra[A0_X] * p_x + extra[A0_Y] * p_y, extra[A1_X] * p_x + extra[A1_Y] * p_y
    h, i, k, m = dt * a[6], dt * a[7], dt * b[6], dt * b[7]  # they are there before the force
    return (
        (a[0] - h * p_x, a[1] - h * p_y, a[2], a[3], a[4], a[5] - i * t, a[6], a[7]),
        (b[0] + k * p_x, b[1] + k * p_y, b[2], b[3], b[4], b[5] + m * u, b[6], b[7]),
    )


@inlined
def is_strong(extra):
    """Whether normal and tangential motion are coupled strongly."""
    return extra[FLAT_STRONG] > 0.0


@inlined
def are_strong(extra, sequence, first, number):
    """Whether some of the contacts in turn are."""
    some = False
    for at in range(first, first + number):
        some = some or extra[sequence[at], FLAT_STRONG] > 0.0
    return some
