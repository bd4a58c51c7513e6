"""The columns of the tables of bodies and contacts by their names, for kernels and for users.

Kernels index with the numbers below, which the compiler knows; laws, criteria and observers read and write the named
views of `ContactColumns`.
"""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Columns of `motion`, one row per body: velocity v, s = lever * spin (m/s), 1/m and lever^2/I (1/kg)
V_X, V_Y, V_Z, S_X, S_Y, S_Z, INV_MASS, INV_SPIN = range(8)
V, S, V_S, INV = slice(V_X, V_Z + 1), slice(S_X, S_Z + 1), slice(V_X, S_Z + 1), slice(INV_MASS, INV_SPIN + 1)
# Columns of `geometry`, one row per contact: normal, gap that the shock law closes (m), masses (kg), friction, gap (m)
N_X, N_Y, N_Z, TO_CLOSE, M_N, M_T, MU, GAP = range(8)
N = slice(N_X, N_Z + 1)
# Columns of `forces`, one row per contact: R_n, R_t (N); where laws resist rolling, Q = torque over the lever (N)
R_N, R_X, R_Y, R_Z, Q_X, Q_Y, Q_Z = range(7)
R_T, Q = slice(R_X, R_Z + 1), slice(Q_X, Q_Z + 1)
# Columns of `extra`, one row per contact that resists rolling and twisting or rebounds sideways: velocity to be
# reached, sticking means V_t = -(column); a = lever/r of both bodies, 0 for walls; m_r (kg), that rolling and twisting
# meet, 1/m_r = a_0^2 r_0^2/I_0 + a_1^2 r_1^2/I_1; mu_r and mu_t over the lever; lever times the spin of a wall (m/s);
# lever (m), 1/lever = 1/r_0 + 1/r_1; then the two of `branch`
U_X, U_Y, U_Z, A_0, A_1, M_R, MU_R, MU_T, W_X, W_Y, W_Z, LEVER, EXTRA_BRANCH, EXTRA_MOVING = range(14)
U_T, W = slice(U_X, U_Z + 1), slice(W_X, W_Z + 1)
# Columns of `branch`, one row per contact in a cell that deforms: from centre to centre (m); the same where forces move
# the cell, else 0
BRANCH, MOVING = range(2)
# Columns of `levers`, one row per contact of grains of any shape, in 2D: V = v_1 - v_0 + a_1 s_1 - a_0 s_0 with s about
# z (a is B times the lever turned left); m_t times what a unit impulse along n does to V_t; 1 for a strong coupling,
# else 0
A0_X, A0_Y, A1_X, A1_Y, FLAT_WT_X, FLAT_WT_Y, FLAT_STRONG, FLAT_LEVERS = range(8)
FLAT_LEVERS += 1  # the last one fills the line
# The same in 3D: matrices, row after row, V = v_1 - v_0 + A_1 s_1 - A_0 s_0; the rest as above
A_ZERO, A_ONE, WT_X, WT_Y, WT_Z, STRONG, LEVERS = 0, 9, 18, 19, 20, 21, 24
ROW_X, ROW_Y, ROW_Z = 0, 3, 6  # where the rows of a matrix begin, after its first column
# Columns of `flow`, the three rows of a cell that deforms: row a holds L_ab (1/s) and 1/M_ab (1/(kg m^2)), 0 where L_ab
# does not follow a stress; 1/M of the isotropic part of L, and 1 where that acts, else 0
L_X, L_Y, L_Z, INV_M_X, INV_M_Y, INV_M_Z, INV_M_ALL, ALL = range(8)
L, INV_M, MOBILITY = slice(L_X, L_Z + 1), slice(INV_M_X, INV_M_Z + 1), slice(INV_M_X, INV_M_ALL + 1)
# Components of a position, or of any vector
X, Y, Z = range(3)


class Column:
    """Some columns of a table with one row per contact: read as a view, written in place."""

    def __init__(self, table: str, at: int | slice, doc: str) -> None:
        self._table, self._at, self.__doc__ = table, at, doc

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, rows: None, owner: type) -> Column: ...
    @overload
    def __get__(self, rows: Any, owner: type | None = None) -> Array: ...
    def __get__(self, rows: Any, owner: type | None = None) -> Column | Array:
        if rows is None:
            return self
        return np.asarray(self._of(rows)[:, self._at])

    def __set__(self, rows: Any, values: Any) -> None:
        self._of(rows)[:, self._at] = values

    def _of(self, rows: Any) -> Array:
        table: Array | None = getattr(rows, self._table)
        if table is None:
            raise AttributeError(f"no {self._name}: no law of these contacts says extended = True; say so in yours")
        return table


class ContactColumns:
    """Named columns of `geometry` and `forces`.

    Signs: n points from body 0 to body 1, forces act on body 1; V_n < 0 approaches, g < 0 overlaps.
    """

    normal = Column("geometry", N, "(c, 3) n, unit vectors from body 0 to body 1.")
    to_close = Column(
        "geometry", TO_CLOSE, "(c,) m, the gap that the shock law closes: it demands V_n >= -to_close/dt."
    )
    normal_mass = Column("geometry", M_N, "(c,) kg, m_n.")
    tangential_mass = Column("geometry", M_T, "(c,) kg, m_t.")
    friction = Column("geometry", MU, "(c,) mu, 0 to inf.")
    gap = Column("geometry", GAP, "(c,) m, g at the beginning of the step, negative for an overlap.")
    repulsion = Column("forces", R_N, "(c,) N, what presses the surfaces together: R_n, and the attraction if any.")
    tangential_force = Column("forces", R_T, "(c, 3) N, R_t on body 1.")
