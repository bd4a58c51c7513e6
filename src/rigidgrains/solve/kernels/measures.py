"""Texts of the loops that measure, changing nothing: what forces lack, and the power of forces that should have none.

Each goes over some contacts, `first` to `last`, so that threads can share; see `sweeps` for what is done with these
texts. Forces are taken times `part`, so that squares do not overflow.
"""

from __future__ import annotations

import math

from ...laws.contact import row
from ...model.columns import M_N, TO_CLOSE
from ...runtime.simd import WIDTH, choose, column_of, lanes_with, max_of, read_rows, rows_from, sum_of
from .friction import (
    asked,
    larger,
    minus,
    power,
    read_extra,
    read_extras,
    read_force,
    read_forces,
    scaled,
    smaller,
    square,
    velocity,
)  # fmt: skip


def lacks(first, last, motion, pairs, geometry, extra, cell, forces, dt, out):
    """|R - R'| of each contact (N): R' is what its law makes of the present R and V."""
    rate = 1.0 / dt
    for c in range(first, last):
        a, b, old = row(motion, pairs[c, 0]), row(motion, pairs[c, 1]), read_force(forces, c)
        out[c] = 0.0
        for component in minus(old, asked(a, b, row(geometry, c), read_extra(extra, c), old, cell, rate)):
            out[c] = math.hypot(out[c], component)


def terms(a, b, contact, extra, old, cell, dt, rate, part, mean, least):
    """What one contact, or several in lanes, add to the sums of `look`, and |R - R'|/(|R| + mean)."""
    force = scaled(part, old)
    missing = square(scaled(part, minus(old, asked(a, b, contact, extra, old, cell, rate))))
    strength = square(force)
    size = math.sqrt(missing)
    lack = choose(size > least, size / (math.sqrt(strength) + mean), 0.0)
    v_n, v_x, v_y, v_z = velocity(a, b, contact, extra, cell)
    closing, pressing = dt * v_n + contact[TO_CLOSE], old[0] * (dt * dt) / contact[M_N]
    least_of = smaller(closing, pressing)
    overlap = larger(least_of, 0.0 - least_of)
    normal, sliding, friction, twisting, rolling, turning = power(force, a, b, contact, extra, cell, rate)
    gained = (larger(normal, 0.0) + larger(sliding, 0.0)) + (larger(twisting, 0.0) + larger(rolling, 0.0))
    lost = (larger(0.0 - normal, 0.0) + larger(0.0 - sliding, 0.0)) + (
        larger(0.0 - twisting, 0.0) + larger(0.0 - rolling, 0.0)
    )
    presses = old[0] > 0.0
    speed = choose(presses, math.sqrt(v_n * v_n + (v_x * v_x + v_y * v_y + v_z * v_z)), 0.0)
    return missing, strength, overlap, lost, gained, friction + turning, speed, choose(presses, 1.0, 0.0), lack


def look(first, last, motion, pairs, geometry, extra, cell, forces, dt, part, mean, least):
    """Sums of |R - R'|^2 and |R|^2; of |R_n - R_n'| dt^2/m_n (m); of the terms of -S and S, each over those that are
    positive, and of what slides, rolls and twists; of |V| over contacts with a force, and their number. Last the
    largest |R - R'|/(|R| + mean), of those beyond the `least`, and the largest |V|. Lane by lane, then those that are
    left.
    """
    rate, none = 1.0 / dt, lanes_with(0.0)
    missing, strength, overlap, lost, gained = none, none, none, none, none
    slid, speed, pressing, worst, fastest = none, none, none, none, none
    while first + WIDTH <= last:
        c = rows_from(first, WIDTH)
        i, j, old = column_of(pairs, c, 0), column_of(pairs, c, 1), read_forces(forces, c)
        t = terms(
            read_rows(motion, i, 8), read_rows(motion, j, 8), read_rows(geometry, c, 8), read_extras(extra, c), old,
            cell, dt, rate, part, mean, least,
        )  # fmt: skip
        missing, strength, overlap = missing + t[0], strength + t[1], overlap + t[2]
        lost, gained, slid = lost + t[3], gained + t[4], slid + t[5]
        speed, pressing = speed + t[6], pressing + t[7]
        worst, fastest = larger(t[8], worst), larger(t[6], fastest)
        first += WIDTH
    sums = (
        sum_of(missing), sum_of(strength), sum_of(overlap), sum_of(lost), sum_of(gained), sum_of(slid), sum_of(speed),
        sum_of(pressing), max_of(worst), max_of(fastest),
    )  # fmt: skip
    for c in range(first, last):
        a, b, old = row(motion, pairs[c, 0]), row(motion, pairs[c, 1]), read_force(forces, c)
        t = terms(a, b, row(geometry, c), read_extra(extra, c), old, cell, dt, rate, part, mean, least)
        sums = (
            sums[0] + t[0], sums[1] + t[1], sums[2] + t[2], sums[3] + t[3], sums[4] + t[4], sums[5] + t[5],
            sums[6] + t[6], sums[7] + t[7], max(sums[8], t[8]), max(sums[9], t[6]),
        )  # fmt: skip
    return sums


INLINED = (terms,)
TEXTS = lacks, look
