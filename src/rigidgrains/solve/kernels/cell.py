"""Contacts in a cell that deforms: V has the flow of the cell, and each force may change L, see model/deforming.py."""

from __future__ import annotations

from ...laws import contact as one
from ...model.cell import drag as drag_cell
from ...model.columns import BRANCH, L_X, L_Y, L_Z, MOVING, N_X, N_Y, N_Z, X, Y, Z
from ...runtime.compiled import inlined
from ...runtime.simd import read_column


@inlined
def flow_velocity(a, b, contact, branch, cell):
    """V_n and V_t (3) with the flow of the cell, V = c1 - c0 + L b - (s0 + s1) x n."""
    n_x, n_y, n_z = contact[N_X], contact[N_Y], contact[N_Z]
    v_x, v_y, v_z = one.relative_velocity(a, b, n_x, n_y, n_z)
    return one.along_normal(
        v_x + branch * (cell[X, L_X] * n_x + cell[X, L_Y] * n_y + cell[X, L_Z] * n_z),
        v_y + branch * (cell[Y, L_Y] * n_y + cell[Y, L_Z] * n_z),
        v_z + branch * (cell[Z, L_Z] * n_z),
        n_x, n_y, n_z,
    )  # fmt: skip


@inlined
def read_extra(extra, c):
    """The branch, and the same where forces move the cell."""
    return extra[c, BRANCH], extra[c, MOVING]


@inlined
def read_extras(extra, c):
    """The branches of several contacts, of which none moves the cell."""
    return (read_column(extra, c, 2, 0),)


@inlined
def velocity(a, b, contact, extra, cell):
    """V_n and V_t (3) with the flow of the cell."""
    return flow_velocity(a, b, contact, extra[BRANCH], cell)


@inlined
def drag(cell, contact, extra, p):
    """What an impulse does to L."""
    if extra[MOVING] > 0.0:
        drag_cell(cell, extra[MOVING], contact[N_X], contact[N_Y], contact[N_Z], p[0], p[1], p[2], p[3])
