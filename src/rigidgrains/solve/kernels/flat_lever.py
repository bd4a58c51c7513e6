"""Contacts of flat grains of any shape: they turn about z alone, and a lever is two numbers."""

from __future__ import annotations

from ...laws import contact as one
from ...model.columns import A0_X, A0_Y, A1_X, A1_Y, FLAT_LEVERS, FLAT_STRONG, FLAT_WT_X, FLAT_WT_Y, N_X, N_Y, N_Z
from ...runtime.compiled import inlined
from ...runtime.rows import read_row
from ...runtime.simd import read_rows
from .lever import asked, collide, settle, strong_force

__all__ = (
    "are_strong", "asked", "collide", "is_strong", "moved", "push", "read_extra", "read_extras", "settle",
    "strong_force", "velocity",
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
    """V_t that a unit impulse along n adds."""
    return extra[FLAT_WT_X], extra[FLAT_WT_Y], 0.0


@inlined
def velocity(a, b, contact, extra, cell):
    """V_n and V_t (3), Eq. (contact-veloc)."""
    return one.along_normal(
        b[0] - a[0] + (extra[A1_X] * b[5] - extra[A0_X] * a[5]),
        b[1] - a[1] + (extra[A1_Y] * b[5] - extra[A0_Y] * a[5]),
        b[2] - a[2], contact[N_X], contact[N_Y], contact[N_Z],
    )  # fmt: skip


@inlined
def push(a, b, contact, extra, p):
    """Both bodies after an impulse p_n n + p_t: Eq. (generalized-R)."""
    p_x, p_y, p_z = p[1] + p[0] * contact[N_X], p[2] + p[0] * contact[N_Y], p[3] + p[0] * contact[N_Z]
    t, u = extra[A0_X] * p_x + extra[A0_Y] * p_y, extra[A1_X] * p_x + extra[A1_Y] * p_y
    return (
        (
            a[0] - a[6] * p_x, a[1] - a[6] * p_y, a[2] - a[6] * p_z, a[3], a[4], a[5] - a[7] * t, a[6], a[7],
        ),
        (
            b[0] + b[6] * p_x, b[1] + b[6] * p_y, b[2] + b[6] * p_z, b[3], b[4], b[5] + b[7] * u, b[6], b[7],
        ),
    )  # fmt: skip


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
