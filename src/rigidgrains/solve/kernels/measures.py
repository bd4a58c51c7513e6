"""Texts of the loops that measure, changing nothing: what forces lack, and the power of forces that should have none.

Each goes over some contacts, `first` to `last`, so that threads can share; see `sweeps` for what is done with these
texts. Forces are taken times `part`, so that squares do not overflow.
"""

from __future__ import annotations

import math

from ...laws.contact import row
from ...model.columns import M_N, R_N, TO_CLOSE
from ...runtime.simd import WIDTH, column_of, lanes_with, read_rows, rows_from, sum_of
from .friction import (
    asked,
    minus,
    power,
    read_extra,
    read_extras,
    read_force,
    read_forces,
    scaled,
    square,
    velocity,
)  # fmt: skip


def lack(c, motion, pairs, geometry, extra, cell, forces, rate):
    """R - R' of one contact: R' is what its law makes of the present R and V."""
    a, b, old = row(motion, pairs[c, 0]), row(motion, pairs[c, 1]), read_force(forces, c)
    return minus(old, asked(a, b, row(geometry, c), read_extra(extra, c), old, cell, rate))


def lacks(first, last, motion, pairs, geometry, extra, cell, forces, dt, out):
    """|R - R'| of each contact (N)."""
    rate = 1.0 / dt
    for c in range(first, last):
        miss = lack(c, motion, pairs, geometry, extra, cell, forces, rate)
        out[c] = 0.0
        for component in miss:
            out[c] = math.hypot(out[c], component)


def worst_lack(first, last, motion, pairs, geometry, extra, cell, forces, dt, part, mean, least):
    """The largest |R - R'|/(|R| + mean), of those beyond the `least`; inf where one is no number."""
    rate, worst = 1.0 / dt, 0.0
    for c in range(first, last):
        miss = math.sqrt(square(scaled(part, lack(c, motion, pairs, geometry, extra, cell, forces, rate))))
        if miss > least:
            worst = max(worst, miss / (math.sqrt(square(scaled(part, read_force(forces, c)))) + mean))
        elif not miss >= 0.0:
            return math.inf
    return worst


def lack_squares(first, last, motion, pairs, geometry, extra, cell, forces, dt, part):
    """sum |R - R'|^2 and sum |R|^2; lane by lane, then those that are left."""
    rate = 1.0 / dt
    misses, squares = lanes_with(0.0), lanes_with(0.0)
    while first + WIDTH <= last:
        c = rows_from(first, WIDTH)
        i, j, old = column_of(pairs, c, 0), column_of(pairs, c, 1), read_forces(forces, c)
        new = asked(
            read_rows(motion, i, 8), read_rows(motion, j, 8), read_rows(geometry, c, 8), read_extras(extra, c), old,
            cell, rate,
        )  # fmt: skip
        misses, squares = misses + square(scaled(part, minus(old, new))), squares + square(scaled(part, old))
        first += WIDTH
    total, all_squares = sum_of(misses), sum_of(squares)
    for c in range(first, last):
        total += square(scaled(part, lack(c, motion, pairs, geometry, extra, cell, forces, rate)))
        all_squares += square(scaled(part, read_force(forces, c)))
    return total, all_squares


def overlap_lack(first, last, motion, pairs, geometry, extra, cell, forces, dt):
    """Sum of |R_n - R_n'| dt^2/m_n (m)."""
    total = 0.0
    for c in range(first, last):
        a, b, contact = row(motion, pairs[c, 0]), row(motion, pairs[c, 1]), row(geometry, c)
        closes = dt * velocity(a, b, contact, read_extra(extra, c), cell)[0] + contact[TO_CLOSE]
        total += abs(min(closes, forces[c, R_N] * dt * dt / contact[M_N]))
    return total


def powers(first, last, motion, pairs, geometry, extra, cell, forces, dt, part):
    """The terms of -S and S, each sum over those that are positive, what slides, rolls and twists, and sum of R^2."""
    rate = 1.0 / dt
    lost, gained, slid, squares = 0.0, 0.0, 0.0, 0.0
    for c in range(first, last):
        a, b, r = row(motion, pairs[c, 0]), row(motion, pairs[c, 1]), scaled(part, read_force(forces, c))
        normal, sliding, friction, twisting, rolling, turning = power(
            r, a, b, row(geometry, c), read_extra(extra, c), cell, rate
        )
        lost -= (min(normal, 0.0) + min(sliding, 0.0)) + (min(twisting, 0.0) + min(rolling, 0.0))
        gained += (max(normal, 0.0) + max(sliding, 0.0)) + (max(twisting, 0.0) + max(rolling, 0.0))
        slid += friction + turning
        squares += (r[0] * r[0] + r[1] * r[1]) + (r[2] * r[2] + r[3] * r[3])
    return lost, gained, slid, squares


def speeds(first, last, motion, pairs, geometry, extra, cell, forces):
    """Sum of |V|, less what is to be reached sideways, over contacts that carry a force, and their number."""
    total, count = 0.0, 0
    for c in range(first, last):
        if forces[c, R_N] > 0.0:
            a, b, contact = row(motion, pairs[c, 0]), row(motion, pairs[c, 1]), row(geometry, c)
            v_n, v_x, v_y, v_z = velocity(a, b, contact, read_extra(extra, c), cell)
            total += math.sqrt(v_n * v_n + v_x * v_x + v_y * v_y + v_z * v_z)
            count += 1
    return total, count


TEXTS = lack, lacks, worst_lack, lack_squares, overlap_lack, powers, speeds
