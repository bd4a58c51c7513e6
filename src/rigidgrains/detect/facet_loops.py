"""The loops over points of grains at the facets of walls, see facet_points.py."""

from __future__ import annotations

import math

from ..model.columns import V_X, V_Y, V_Z, X, Y, Z
from ..runtime.compiled import kernel, law
from .point_columns import (
    AT_GAP,
    AT_N_X,
    AT_N_Y,
    AT_N_Z,
    AT_RADIUS,
    AT_SINK,
    AT_V_X,
    AT_V_Y,
    AT_V_Z,
    AT_X,
    AT_Y,
    AT_Z,
    FOUND_GAP,
    FOUND_N_X,
    FOUND_N_Y,
    FOUND_N_Z,
    FOUND_X,
    FOUND_Y,
    FOUND_Z,
    WITH_0,
    WITH_1,
)  # fmt: skip

FLUSH = 1e-9  # cosine below which a direction does not point into a facet
SAME_WAY = 1e-4  # of normals of two facets that tell the same
SAME_PLACE = 1e-6  # of the grain's size, the same of places


@law
def _surface_velocity(row, turn, about, motion, x, y, z):
    """Velocity (m/s) of a wall's material at a place."""
    x, y, z = x - about[X], y - about[Y], z - about[Z]
    return (
        motion[row, V_X] + (turn[Y] * z - turn[Z] * y),
        motion[row, V_Y] + (turn[Z] * x - turn[X] * z),
        motion[row, V_Z] + (turn[X] * y - turn[Y] * x),
    )


@kernel
def find_facet_speeds(grains, row, turn, about, motion, position, bound, speed):
    """What `facet_speeds` says; row : of the wall; turn : its spin, about a point."""
    turning = math.sqrt(turn[X] * turn[X] + turn[Y] * turn[Y] + turn[Z] * turn[Z])
    for k in range(len(grains)):
        i = grains[k]
        x, y, z = _surface_velocity(row, turn, about, motion, position[i, X], position[i, Y], position[i, Z])
        x, y, z = motion[i, V_X] - x, motion[i, V_Y] - y, motion[i, V_Z] - z
        speed[k] = math.sqrt(x * x + y * y + z * z) + turning * bound[i]


@kernel
def fill_facet_rows(owner, found, row, turn, about, normals_turn, motion, position, spin, dt, rows):
    """Rows of points at facets, see point_columns.py; normals_turn : (3,) rad/s, with which n of facets turns.

    What they sink is as for points of two grains, see contacts/point_rows.py.
    """
    for p in range(len(owner)):
        i, gap = owner[p], found[p, FOUND_GAP]
        n_x, n_y, n_z = found[p, FOUND_N_X], found[p, FOUND_N_Y], found[p, FOUND_N_Z]
        x, y, z = (
            found[p, FOUND_X] - 0.5 * gap * n_x,
            found[p, FOUND_Y] - 0.5 * gap * n_y,
            found[p, FOUND_Z] - 0.5 * gap * n_z,
        )
        u_x, u_y, u_z = _surface_velocity(
            row, turn, about, motion, position[i, X] + x + gap * n_x, position[i, Y] + y + gap * n_y,
            position[i, Z] + z + gap * n_z,
        )  # fmt: skip
        w_x, w_y, w_z = spin[i, X], spin[i, Y], spin[i, Z]
        v_x = u_x - motion[i, V_X] - (w_y * z - w_z * y)
        v_y = u_y - motion[i, V_Y] - (w_z * x - w_x * z)
        v_z = u_z - motion[i, V_Z] - (w_x * y - w_y * x)
        own = (w_y * n_z - w_z * n_y) * v_x + (w_z * n_x - w_x * n_z) * v_y + (w_x * n_y - w_y * n_x) * v_z
        w_x, w_y, w_z = normals_turn[X], normals_turn[Y], normals_turn[Z]
        other = (w_y * n_z - w_z * n_y) * v_x + (w_z * n_x - w_x * n_z) * v_y + (w_x * n_y - w_y * n_x) * v_z
        rows[p, AT_X], rows[p, AT_Y], rows[p, AT_Z], rows[p, AT_RADIUS], rows[p, AT_GAP] = x, y, z, 0.0, gap
        rows[p, AT_N_X], rows[p, AT_N_Y], rows[p, AT_N_Z] = n_x, n_y, n_z
        rows[p, AT_V_X], rows[p, AT_V_Y], rows[p, AT_V_Z] = u_x, u_y, u_z
        rows[p, AT_SINK] = dt * dt * min(min(found[p, WITH_0] * own, found[p, WITH_1] * other), 0.0)


@kernel
def mark_twins(grain, own, facet, lean, found, scale, keep):
    """Mark points, in the order of grains, that another one makes needless."""
    begin = 0
    for p in range(len(grain)):
        if grain[p] != grain[begin]:
            begin = p
        near = SAME_PLACE * scale[grain[p]]
        for q in range(begin, p):
            if not (keep[p] and keep[q]) or own[p] != own[q] or facet[p] == facet[q]:
                continue
            apart, turned = 0.0, 0.0
            for c in range(3):
                apart = max(apart, abs(found[p, FOUND_X + c] - found[q, FOUND_X + c]))
                turned = max(turned, abs(found[p, FOUND_N_X + c] - found[q, FOUND_N_X + c]))
            if apart > near or turned > SAME_WAY:
                continue
            worse = lean[q] < lean[p] - FLUSH or (lean[q] <= lean[p] + FLUSH and facet[q] > facet[p])
            keep[q if worse else p] = False
