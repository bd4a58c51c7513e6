"""The loops over points of grains of any shape at walls, see wall_points.py for what their arrays hold."""

from __future__ import annotations

import math

from ..model.columns import V_X, X, Y, Z
from ..model.turning import rotation
from ..runtime.compiled import kernel, law
from .point_columns import AT, AT_GAP, AT_N_X, AT_N_Y, AT_N_Z, AT_RADIUS, AT_SINK, AT_V_X, AT_X, AT_Y, AT_Z


@kernel
def count_vertices(begin, grains, juts, sided, shape, part_start, vertex_start, start):
    """How many vertices there are near all walls; start : (walls + 1,) takes where those of each begin."""
    for w in range(juts.size):
        count = 0
        for g in range(begin[w], begin[w + 1]):
            of = shape[grains[g]]
            if not (juts[w] and sided[of]):
                count += vertex_start[part_start[of + 1]] - vertex_start[part_start[of]]
        start[w + 1] = start[w] + count
    return start[juts.size]


@kernel
def place_vertices(
    begin, grains, juts, sided, shape, part_start, vertex_start, vertices, rounding, scale, position, orientation,
    walls, point, normal, owner, feature, rows,
):  # fmt: skip
    """Turned and scaled vertices of the grains near each wall, the rounding of their parts, gaps at planes.

    walls : rows of motion; point, normal : (walls, 3) of planes, zeros for other walls
    """
    row = 0
    for w in range(juts.size):
        n_x, n_y, n_z = normal[w, X], normal[w, Y], normal[w, Z]
        for g in range(begin[w], begin[w + 1]):
            i = grains[g]
            if juts[w] and sided[shape[i]]:
                continue
            turn, first = rotation(orientation, i), row
            for part in range(part_start[shape[i]], part_start[shape[i] + 1]):
                for v in range(vertex_start[part], vertex_start[part + 1]):
                    x, y, z = vertices[v, X], vertices[v, Y], vertices[v, Z]
                    for a in range(3):
                        rows[row, AT_X + a] = scale[i] * (turn[a][X] * x + turn[a][Y] * y + turn[a][Z] * z)
                        rows[row, AT_N_X + a] = -normal[w, a]
                        rows[row, AT_V_X + a] = walls[w, V_X + a] if len(walls) else 0.0
                    x = position[i, X] + rows[row, AT_X] - point[w, X]
                    y = position[i, Y] + rows[row, AT_Y] - point[w, Y]
                    z = position[i, Z] + rows[row, AT_Z] - point[w, Z]
                    rows[row, AT_RADIUS] = scale[i] * rounding[part]
                    rows[row, AT_GAP] = x * n_x + y * n_y + z * n_z - rows[row, AT_RADIUS]
                    rows[row, AT_SINK] = 0.0
                    owner[row], feature[row] = i, row - first
                    row += 1


@law
def _towards(k, owner, rows, motion, spin):
    """Speed (m/s) of the k-th point towards the surface."""
    i, radius = owner[k], rows[k, AT_RADIUS]
    n_x, n_y, n_z = rows[k, AT_N_X], rows[k, AT_N_Y], rows[k, AT_N_Z]
    x, y, z = rows[k, AT_X] + radius * n_x, rows[k, AT_Y] + radius * n_y, rows[k, AT_Z] + radius * n_z
    w_x, w_y, w_z = spin[i, X], spin[i, Y], spin[i, Z]
    v_x = motion[i, V_X + X] + (w_y * z - w_z * y) - rows[k, AT_V_X + X]
    v_y = motion[i, V_X + Y] + (w_z * x - w_x * z) - rows[k, AT_V_X + Y]
    v_z = motion[i, V_X + Z] + (w_x * y - w_y * x) - rows[k, AT_V_X + Z]
    return v_x * n_x + v_y * n_y + v_z * n_z


@kernel
def find_towards(owner, rows, motion, spin, speed):
    """Of all points."""
    for k in range(len(owner)):
        speed[k] = _towards(k, owner, rows, motion, spin)


@kernel
def raise_towards(owner, rows, motion, spin, speed):
    """A_i from the largest square of a relative speed: at least that of its points towards or away from a wall."""
    for i in range(len(speed)):
        speed[i] = math.sqrt(speed[i])
    for k in range(len(owner)):
        speed[owner[k]] = max(speed[owner[k]], abs(_towards(k, owner, rows, motion, spin)))


@kernel
def meets_wall(start, owner, rows, guided, walls, motion, spin, speed, turn, margin, ahead, dt, least):
    """Whether vertices that were out of reach of a wall overlap with it after the step, Eq. (gap-change).

    Points of guided walls take the velocities that these have now.
    """
    meets = False
    for w in range(guided.size):
        for k in range(start[w], start[w + 1]):
            if guided[w]:
                for a in range(3):
                    rows[k, AT_V_X + a] = walls[w, V_X + a]
            i, gap = owner[k], rows[k, AT_GAP] + rows[k, AT_SINK]
            if gap >= margin + ahead * (speed[i] + turn[i]):
                meets = meets or gap - dt * _towards(k, owner, rows, motion, spin) < -least
    return meets


@law
def _copy_point(k, to, owner, feature, rows, to_owner, to_feature, to_rows):
    to_owner[to], to_feature[to] = owner[k], feature[k]
    for a in range(AT):
        to_rows[to, a] = rows[k, a]


@kernel
def choose_points(
    start, owner, feature, rows, speed, turn, margin, ahead, to_start, to_owner, to_feature, to_rows
):  # fmt: skip
    """Copy the points within reach, wall by wall; returns how many there are."""
    count = 0
    for w in range(start.size - 1):
        for k in range(start[w], start[w + 1]):
            i = owner[k]
            if rows[k, AT_GAP] + rows[k, AT_SINK] < margin + ahead * (speed[i] + turn[i]):
                _copy_point(k, count, owner, feature, rows, to_owner, to_feature, to_rows)
                count += 1
        to_start[w + 1] = count
    return count


@kernel
def number_points(start, owner, number):
    """Number the points of each grain at each wall; returns the most that one has."""
    most = 0
    for w in range(start.size - 1):
        for k in range(start[w], start[w + 1]):
            number[k] = number[k - 1] + 1 if k > start[w] and owner[k] == owner[k - 1] else 0
            most = max(most, number[k] + 1)
    return most


@kernel
def sort_points(start, number, owner, feature, rows, sizes, place, to_owner, to_feature, to_rows):
    """Copy the points of each wall in the order of their numbers.

    sizes : (walls, most) takes how many have each number; place : (most,) where the next one goes
    """
    for w in range(start.size - 1):
        for k in range(start[w], start[w + 1]):
            sizes[w, number[k]] += 1
        at = start[w]
        for m in range(sizes.shape[1]):
            place[m] = at
            at += sizes[w, m]
        for k in range(start[w], start[w + 1]):
            _copy_point(k, place[number[k]], owner, feature, rows, to_owner, to_feature, to_rows)
            place[number[k]] += 1
