"""Contacts with torques, see laws/torque.py: force first, then torque; in a cell that deforms or not."""

from __future__ import annotations

import math

from ...laws import contact as one
from ...laws.torque import relative_spin, stopping_torque, turn
from ...model.cell import drag as drag_cell
from ...model.columns import (
    EXTRA_BRANCH,
    EXTRA_MOVING,
    MU_R,
    MU_T,
    N_X,
    N_Y,
    N_Z,
    U_X,
    U_Y,
    U_Z,
)  # fmt: skip
from ...runtime.compiled import inlined
from ...runtime.rows import read_row, write_row
from ...runtime.simd import read_rows
from .cell import flow_velocity
from .friction import bound, force_power, larger


@inlined
def read_extra(extra, c):
    """All extra columns of a contact."""
    return read_row(extra, c, 14)


@inlined
def read_extras(extra, c):
    """The same of several contacts."""
    return read_rows(extra, c, 14)


@inlined
def read_force(table, c):
    """A row of seven columns."""
    return read_row(table, c, 7)


@inlined
def write_force(forces, c, new):
    """R_n, R_t (3) and Q (3)."""
    write_row(forces, c, 7, new)


@inlined
def read_forces(forces, c):
    """R_n, R_t (3) and Q (3) of several contacts."""
    return read_rows(forces, c, 7)


@inlined
def velocity(a, b, contact, extra, cell):
    """V_n and V_t (3) with the flow of the cell, less what is to be reached."""
    v_n, v_x, v_y, v_z = flow_velocity(a, b, contact, extra[EXTRA_BRANCH], cell)
    return v_n, v_x + extra[U_X], v_y + extra[U_Y], v_z + extra[U_Z]


@inlined
def collide(a, b, contact, extra, old, cell, dt, rate, opens):
    """Force first, then torque, with the spins that the force has left."""
    r = one.shock_force(old, velocity(a, b, contact, extra, cell), contact, rate, opens)
    p_n, p_x, p_y, p_z = dt * (r[0] - old[0]), dt * (r[1] - old[1]), dt * (r[2] - old[2]), dt * (r[3] - old[3])
    a, b = one.push(a, b, contact[N_X], contact[N_Y], contact[N_Z], p_n, p_x, p_y, p_z)
    q = stopping_torque(old, relative_spin(a, b, extra), contact, extra, r[0], rate)
    a, b = turn(a, b, extra, dt * (q[0] - old[4]), dt * (q[1] - old[5]), dt * (q[2] - old[6]))
    return a, b, (r[0], r[1], r[2], r[3], q[0], q[1], q[2])


@inlined
def asked(a, b, contact, extra, old, cell, rate):
    """Force and torque that the laws ask for, both from the same velocities."""
    r = one.shock_force(old, velocity(a, b, contact, extra, cell), contact, rate, False)
    q = stopping_torque(old, relative_spin(a, b, extra), contact, extra, r[0], rate)
    return r[0], r[1], r[2], r[3], q[0], q[1], q[2]


@inlined
def push(a, b, contact, extra, p):
    """Both bodies after an impulse p_n n + p_t and an angular impulse."""
    a, b = one.push(a, b, contact[N_X], contact[N_Y], contact[N_Z], p[0], p[1], p[2], p[3])
    return turn(a, b, extra, p[4], p[5], p[6])


@inlined
def drag(cell, contact, extra, p):
    """What an impulse does to L."""
    if extra[EXTRA_MOVING] > 0.0:
        drag_cell(cell, extra[EXTRA_MOVING], contact[N_X], contact[N_Y], contact[N_Z], p[0], p[1], p[2], p[3])


@inlined
def impulse(new, old, dt):
    """The change of a force and a torque times dt."""
    return (
        dt * (new[0] - old[0]), dt * (new[1] - old[1]), dt * (new[2] - old[2]), dt * (new[3] - old[3]),
        dt * (new[4] - old[4]), dt * (new[5] - old[5]), dt * (new[6] - old[6]),
    )  # fmt: skip


@inlined
def minus(a, b):
    """The difference of two forces, and of their torques."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3], a[4] - b[4], a[5] - b[5], a[6] - b[6]


@inlined
def scaled(share, r):
    """A multiple of a force, and of its torque."""
    return share * r[0], share * r[1], share * r[2], share * r[3], share * r[4], share * r[5], share * r[6]


@inlined
def shifted(force, share, by):
    """A force and torque, and a share of another."""
    return (
        force[0] + share * by[0], force[1] + share * by[1], force[2] + share * by[2], force[3] + share * by[3],
        force[4] + share * by[4], force[5] + share * by[5], force[6] + share * by[6],
    )  # fmt: skip


@inlined
def dot(a, b):
    """Of two forces with torques."""
    return ((a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3])) + (a[4] * b[4] + a[5] * b[5] + a[6] * b[6])


@inlined
def square(r):
    """|R|^2 + |Q|^2."""
    return (r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]) + (r[4] * r[4] + r[5] * r[5] + r[6] * r[6])


@inlined
def power(r, a, b, contact, extra, cell, rate):
    """Terms of force and torque: normal, sliding, what slides; twisting, rolling, what twists and rolls."""
    normal, sliding, friction, _, _, _ = force_power(r, a, b, contact, extra, cell, rate)
    n_x, n_y, n_z = contact[N_X], contact[N_Y], contact[N_Z]
    z_x, z_y, z_z = relative_spin(a, b, extra)
    z_n, q_n = z_x * n_x + z_y * n_y + z_z * n_z, r[4] * n_x + r[5] * n_y + r[6] * n_z
    twist = bound(extra[MU_T], r[0]) * larger(z_n, 0.0 - z_n)
    roll = bound(extra[MU_R], r[0]) * math.sqrt(larger(z_x * z_x + z_y * z_y + z_z * z_z - z_n * z_n, 0.0))
    rolling = roll + (r[4] * z_x + r[5] * z_y + r[6] * z_z - q_n * z_n)
    return normal, sliding, friction, twist + q_n * z_n, rolling, twist + roll
