"""Texts of the loops that measure, changing nothing: what forces lack, and the power of forces that should have none.

Each goes over some contacts, `first` to `last`, so that threads can share; see `sweeps` for what is done with these
texts. Forces are taken times `part`, so that squares do not overflow.
"""

from __future__ import annotations

import math

from ...laws.contact import row
from ...model.columns import M_N, TO_CLOSE
from ...runtime.barrier import meet, share
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
from .sums import held_by_walls, pushed_on, strength_of, top_component

LOOKS, LARGEST = 10, 8  # numbers that `look` returns, of which the last ones are largest, not sums
COLUMNS = 3 + LOOKS + 1  # of the table of `look_at_all`


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


def look_at_all(
    thread, threads, meeting, size, body_size, table, net, motion, pairs, geometry, extra, cell, forces, dt, free,
    grains, heaviest, rounding,
):  # fmt: skip
    """All that `measure` needs, on one thread or several; sums are over parts of the rows, then part after part.

    size, body_size : contacts and bodies in a part; table : (parts, COLUMNS) and net : (walls, 3), to be written over
    Returns the largest component of any force (N); the least force that is one (N), the factor of forces in all sums
    that follow; those of `look`; the sums of the contact forces on bodies, and on walls that no force can move.
    """
    count, bodies = len(pairs), len(motion)
    parts, body_parts = -(-count // size), -(-bodies // body_size)
    mine, end = share(0, parts, thread, threads)
    own, last = share(0, body_parts, thread, threads)
    for k in range(mine, end):
        table[k, 0], table[k, 1] = strength_of(k * size, min(count, (k + 1) * size), forces)
    for k in range(own, last):
        table[k, 2] = top_component(k * body_size, min(bodies, (k + 1) * body_size), motion)
    meet(meeting, threads)
    most, all_forces, top = table[0, 0], table[0, 1], table[0, 2]
    for k in range(1, parts):
        most, all_forces = max(most, table[k, 0]), all_forces + table[k, 1]
    for k in range(1, body_parts):
        top = max(top, table[k, 2])
    least = rounding * heaviest * (top if top < math.inf else 0.0) / dt
    part = 1.0 / most if 1e-290 < most < math.inf else 1.0
    for k in range(mine, end):
        sums = look(
            k * size, min(count, (k + 1) * size), motion, pairs, geometry, extra, cell, forces, dt, part,
            part * all_forces / count, part * least,
        )  # fmt: skip
        for a in range(LOOKS):
            table[k, 3 + a] = sums[a]
    for k in range(own, last):
        first, stop = k * body_size, min(bodies, (k + 1) * body_size)
        table[k, 3 + LOOKS] = pushed_on(first, stop, motion, free, part / dt)
    held = held_by_walls(pairs, geometry, forces, motion, grains, part, net) if thread == 0 else 0.0
    meet(meeting, threads)
    for k in range(1, parts if thread == 0 else 1):
        for a in range(LOOKS):
            more = table[k, 3 + a]
            table[0, 3 + a] = max(table[0, 3 + a], more) if a >= LARGEST else table[0, 3 + a] + more
    for k in range(1, body_parts if thread == 0 else 1):
        table[0, 3 + LOOKS] += table[k, 3 + LOOKS]
    t = table[0]
    return most, least, part, t[3], t[4], t[5], t[6], t[7], t[8], t[9], t[10], t[11], t[12], t[13], held


INLINED = (terms,)
PARTS = ()
TEXTS = lacks, terms, look, look_at_all
