"""The loops that fill contact rows of grains of any shape from points: bodies, normal, gap, friction, place."""

from __future__ import annotations

from ..detect.point_columns import (
    AT_GAP,
    AT_N_X,
    AT_RADIUS,
    AT_SINK,
    AT_X,
    FOUND_GAP,
    FOUND_N_X,
    FOUND_N_Y,
    FOUND_N_Z,
    FOUND_X,
    WITH_0,
    WITH_1,
)
from ..model.columns import GAP, MU, N_X, TO_CLOSE, V_X, V_Y, V_Z
from ..model.vectors import vector
from ..runtime.compiled import kernel, law


@kernel
def fill_points(
    first, last, pair, found_image, found_feature, found, shifts, position, spin, motion, material, friction,
    part, left, dt, pairs, image, feature, geometry, point, other,
):  # fmt: skip
    """Contact rows of some points of two grains.

    point : (c, 3) takes where each touches, its own surface, not half-way, as spheres do; from the centre of body 0
    other : (c, 3) the same of body 1
    """
    for c in range(first, last):
        i, j, at, g = pair[c, 0], pair[c, 1], found_image[c], found[c, FOUND_GAP]
        pairs[c, 0], pairs[c, 1], image[c], feature[c] = i, j, at, found_feature[c]
        for a in range(3):
            n, away = found[c, FOUND_N_X + a], position[j, a] - position[i, a] + shifts[at, a]
            geometry[c, N_X + a] = n
            point[c, a] = found[c, FOUND_X + a] - 0.5 * g * n
            other[c, a] = point[c, a] + g * n - away
        closing_0, closing_1 = _closing(c, i, j, spin, motion, found, point, other)
        sink = dt * dt * min(min(found[c, WITH_0] * closing_0, found[c, WITH_1] * closing_1), 0.0)
        geometry[c, GAP], geometry[c, MU] = g, friction[material[i], material[j]]
        geometry[c, TO_CLOSE] = (g if g > 0.0 else part * min(g + left, 0.0)) + sink  # Eq. (gpos) where part = 0


@kernel
def fill_wall_points(
    start, owner, found_feature, rows, body, turning, wall_material, material, friction, part, left, row, pairs,
    feature, geometry, point, other,
):  # fmt: skip
    """Contact rows of points at walls, from `row` on: with the wall's body, or each with an element of its own."""
    for w in range(body.size):
        for k in range(start[w], start[w + 1]):
            c, i, g, radius = row + k, owner[k], rows[k, AT_GAP], rows[k, AT_RADIUS]
            pairs[c, 0], pairs[c, 1] = i, body[w] + k - start[w] if turning[w] else body[w]
            feature[c] = found_feature[k]
            for a in range(3):
                n = rows[k, AT_N_X + a]
                geometry[c, N_X + a], point[c, a], other[c, a] = n, rows[k, AT_X + a] + radius * n, 0.0
            geometry[c, GAP], geometry[c, MU] = g, friction[wall_material[w], material[i]]
            geometry[c, TO_CLOSE] = (g if g > 0.0 else part * min(g + left, 0.0)) + rows[k, AT_SINK]  # Eq. (gpos)


@law
def _closing(c, i, j, spin, motion, found, point, other):
    """(m/s^2) how fast V_n changes as a side of body 0, or of body 1, turns while the contact glides along it.

    Normals are fixed within a step, and n of a side of body k turns by w_k x n: the gap changes by (w_k x n) . V_t dt^2
    at second order, and a point that glides along would sink in by as much. What opens it is left out.
    """
    n_x, n_y, n_z = found[c, FOUND_N_X], found[c, FOUND_N_Y], found[c, FOUND_N_Z]
    p_x, p_y, p_z = vector(spin, i)
    q_x, q_y, q_z = vector(spin, j)
    x, y, z = vector(point, c)
    a, b, d = vector(other, c)
    v_x = motion[j, V_X] + (q_y * d - q_z * b) - motion[i, V_X] - (p_y * z - p_z * y)
    v_y = motion[j, V_Y] + (q_z * a - q_x * d) - motion[i, V_Y] - (p_z * x - p_x * z)
    v_z = motion[j, V_Z] + (q_x * b - q_y * a) - motion[i, V_Z] - (p_x * y - p_y * x)
    return (
        (p_y * n_z - p_z * n_y) * v_x + (p_z * n_x - p_x * n_z) * v_y + (p_x * n_y - p_y * n_x) * v_z,
        (q_y * n_z - q_z * n_y) * v_x + (q_z * n_x - q_x * n_z) * v_y + (q_x * n_y - q_y * n_x) * v_z,
    )
