"""The loops that fill contact rows of grains of any shape: levers, masses, and which row a contact had before."""

from __future__ import annotations

import math

import numpy as np

from ..laws.split import COUPLED, GLUED, tangents
from ..model.columns import (
    A0_X,
    A0_Y,
    A1_X,
    A1_Y,
    A_ONE,
    A_ZERO,
    FLAT_STRONG,
    FLAT_WT_X,
    FLAT_WT_Y,
    INV_MASS,
    INV_SPIN,
    M_N,
    M_T,
    MU,
    N_X,
    N_Y,
    N_Z,
    R_N,
    R_X,
    R_Y,
    R_Z,
    ROW_Y,
    ROW_Z,
    STRONG,
    WT_X,
    WT_Y,
    WT_Z,
    X,
    Y,
    Z,
)  # fmt: skip
from ..runtime.compiled import allocating, inside, kernel
from .rows import NOTHING

NEAR = 0.05  # of the radius: a point under another name that is not farther away takes over the force
UNCOUPLED = 1e-9  # |w_nt|/w_nn that is rounding


@kernel
def fill_flat_levers(first, last, grains, pairs, place, other, matrix, motion, geometry, levers):
    """Levers and masses of some contacts in 2D.

    grains : number of grains; bodies beyond are walls, which do not turn
    place  : (c, 3) m, from the centre of body 0 to its surface; other : the same of body 1
    matrix : (n, 3, 3) 1/m, B of each grain
    """
    for c in range(first, last):
        i, j, n_x, n_y = pairs[c, 0], pairs[c, 1], geometry[c, N_X], geometry[c, N_Y]
        b = matrix[i, Z, Z]
        levers[c, A0_X], levers[c, A0_Y] = -b * place[c, Y], b * place[c, X]
        if j < grains:
            b = matrix[j, Z, Z]
            levers[c, A1_X], levers[c, A1_Y] = -b * other[c, Y], b * other[c, X]
        else:  # for a guided piston, whose spin row takes back what a sideways push adds, see `make_wall_rows`
            levers[c, A1_X], levers[c, A1_Y] = -n_y, n_x
        m, turn_0, turn_1 = motion[i, INV_MASS] + motion[j, INV_MASS], motion[i, INV_SPIN], motion[j, INV_SPIN]
        a_n, b_n = levers[c, A0_X] * n_x + levers[c, A0_Y] * n_y, levers[c, A1_X] * n_x + levers[c, A1_Y] * n_y
        a_t, b_t = levers[c, A0_Y] * n_x - levers[c, A0_X] * n_y, levers[c, A1_Y] * n_x - levers[c, A1_X] * n_y
        w_nn, w_tt = m + turn_0 * a_n * a_n + turn_1 * b_n * b_n, m + turn_0 * a_t * a_t + turn_1 * b_t * b_t
        w_nt = turn_0 * a_n * a_t + turn_1 * b_n * b_t
        levers[c, FLAT_STRONG], geometry[c, MU] = _strong(abs(w_nt), w_nn, geometry[c, MU])
        geometry[c, M_N] = 1.0 / w_nn if w_nn > 0.0 else NOTHING  # Eq. (m-n)
        geometry[c, M_T] = 1.0 / w_tt if w_tt > 0.0 else NOTHING  # Eq. (m-t)
        w_nt *= geometry[c, M_T]
        levers[c, FLAT_WT_X], levers[c, FLAT_WT_Y] = -w_nt * n_y, w_nt * n_x


@kernel
def fill_levers(first, last, grains, pairs, place, other, matrix, motion, geometry, levers):
    """The same in 3D."""
    for c in range(first, last):
        i, j = pairs[c, 0], pairs[c, 1]
        n_x, n_y, n_z = geometry[c, N_X], geometry[c, N_Y], geometry[c, N_Z]
        _across(matrix, i, place, c, levers, A_ZERO)
        if j < grains:
            _across(matrix, j, other, c, levers, A_ONE)
        else:  # 1 - n n^T, for a guided piston
            for a in range(3):
                for b in range(3):
                    levers[c, A_ONE + ROW_Y * a + b] = (1.0 if a == b else 0.0) - geometry[c, N_X + a] * geometry[
                        c, N_X + b
                    ]
        m, turn_0, turn_1 = motion[i, INV_MASS] + motion[j, INV_MASS], motion[i, INV_SPIN], motion[j, INV_SPIN]
        t_x, t_y, t_z, u_x, u_y, u_z = tangents(n_x, n_y, n_z)
        w_nn, w_11, w_22, w_n1, w_n2, w_12 = m, m, m, 0.0, 0.0, 0.0
        for side in range(2):
            at, turn = (A_ZERO, turn_0) if side == 0 else (A_ONE, turn_1)
            for b in range(3):
                x, y, z = levers[c, at + b], levers[c, at + ROW_Y + b], levers[c, at + ROW_Z + b]
                n, t, u = (
                    x * n_x + y * n_y + z * n_z,
                    x * t_x + y * t_y + z * t_z,
                    x * u_x + y * u_y + z * u_z,
                )
                w_nn, w_11, w_22 = w_nn + turn * n * n, w_11 + turn * t * t, w_22 + turn * u * u
                w_n1, w_n2, w_12 = w_n1 + turn * n * t, w_n2 + turn * n * u, w_12 + turn * t * u
        half, mean = 0.5 * (w_11 - w_22), 0.5 * (w_11 + w_22)
        levers[c, STRONG], geometry[c, MU] = _strong(math.sqrt(w_n1 * w_n1 + w_n2 * w_n2), w_nn, geometry[c, MU])
        largest = mean + math.sqrt(half * half + w_12 * w_12)
        geometry[c, M_N] = 1.0 / w_nn if w_nn > 0.0 else NOTHING  # Eq. (m-n)
        geometry[c, M_T] = 1.0 / largest if largest > 0.0 else NOTHING  # Eq. (m-t), the larger of two
        w_n1, w_n2 = geometry[c, M_T] * w_n1, geometry[c, M_T] * w_n2
        levers[c, WT_X] = w_n1 * t_x + w_n2 * u_x
        levers[c, WT_Y] = w_n1 * t_y + w_n2 * u_y
        levers[c, WT_Z] = w_n1 * t_z + w_n2 * u_z


@inside
def _strong(w_nt, w_nn, mu):
    """1 for a contact that takes the general law, else 0; and its coefficient of friction.

    An infinite one is a large number there: where a contact would stick only under tension, R_n becomes nothing and R_t
    stays, which has a limit but no value.
    """
    if w_nt > UNCOUPLED * w_nn and mu * w_nt > COUPLED * w_nn:
        return 1.0, min(mu, GLUED)
    return 0.0, mu


@inside
def _across(matrix, i, place, c, levers, at):
    """The matrix A of a lever l, with A s = (B s) x l: its columns are those of B across l."""
    x, y, z = place[c, X], place[c, Y], place[c, Z]
    for b in range(3):
        p, q, r = matrix[i, X, b], matrix[i, Y, b], matrix[i, Z, b]
        levers[c, at + b] = q * z - r * y
        levers[c, at + ROW_Y + b] = r * x - p * z
        levers[c, at + ROW_Z + b] = p * y - q * x


@kernel
def turn_forces(first, last, origin, old, geometry, forces):
    """Forces of some contacts from the rows they had, turned to the new normals; 0 for new ones.

    The tangential force is turned into the new tangent plane and keeps its length.
    """
    for c in range(first, last):
        for k in range(forces.shape[1]):
            forces[c, k] = 0.0
        if origin[c] < 0:
            continue
        last_row = origin[c]
        x, y, z = old[last_row, R_X], old[last_row, R_Y], old[last_row, R_Z]
        n_x, n_y, n_z = geometry[c, N_X], geometry[c, N_Y], geometry[c, N_Z]
        before, along = x * x + y * y + z * z, x * n_x + y * n_y + z * n_z
        x, y, z = x - along * n_x, y - along * n_y, z - along * n_z
        after = x * x + y * y + z * z
        stretch = math.sqrt(before / after) if after > 0.0 else 0.0
        forces[c, R_N] = old[last_row, R_N]
        forces[c, R_X], forces[c, R_Y], forces[c, R_Z] = stretch * x, stretch * y, stretch * z


@kernel
def match_rows(first, last, pairs, feature, lever, start, order, old_pairs, old_feature, old_lever, size, used, origin):
    """Which row the contacts of some grains had before: the same bodies and feature, else the nearest old point.

    pairs   : (c, 2) grains and walls, those of one body 0 at order[0][start[0][i]:start[0][i + 1]]; `old_` : as before
    used    : (old c,) takes 1 for rows that were handed on; origin : (c,) takes the row, -1 for none
    """
    starts, old_starts = start
    orders, old_orders = order
    for i in range(first, last):
        for again in range(2):
            for k in range(starts[i], starts[i + 1]):
                c = orders[k]
                if again == 0:
                    origin[c] = -1
                elif origin[c] >= 0:
                    continue
                best, nearest = -1, np.inf if again == 0 else (NEAR * size[i]) ** 2
                for m in range(old_starts[i], old_starts[i + 1]):
                    o = old_orders[m]
                    if used[o] or old_pairs[o, 1] != pairs[c, 1] or (again == 0 and old_feature[o] != feature[c]):
                        continue
                    square = 0.0
                    for a in range(3):
                        square += (old_lever[o, a] - lever[c, a]) ** 2
                    if again == 0 and not square < np.inf:  # renumbered: the lever is not known
                        square = 0.0
                    if square < nearest:
                        best, nearest = o, square
                if best >= 0:
                    origin[c], used[best] = best, 1


@allocating
def rows_of_grains(grains, pairs, ends, pair, start, order):
    """Rows by their body 0: those of grain i at order[start[i]:start[i + 1]].

    ends : (2 walls,) where the rows of each begin and end; pair : (c, 2) takes grains, and walls in place of elements
    """
    for i in range(grains + 1):
        start[i] = 0
    for c in range(len(pairs)):
        pair[c, 0], pair[c, 1] = pairs[c, 0], pairs[c, 1]
        start[pairs[c, 0] + 1] += 1
    for w in range(len(ends) // 2):
        for c in range(ends[2 * w], ends[2 * w + 1]):
            pair[c, 1] = grains + w
    for i in range(grains):
        start[i + 1] += start[i]
    place = start[:grains].copy()
    for c in range(len(pairs)):
        order[place[pairs[c, 0]]] = c
        place[pairs[c, 0]] += 1
