"""Texts of extrapolated sweeps by colours: many sweeps, their sums and decisions in one call, on one thread or several.

There are two tables of forces and two of velocities, which take turns: x of the last sweep and x of the one before. A
contact reads both, is extrapolated to y = x + beta (x - before), gets its new force from the law, and writes that over
the one before. So a sweep moves hardly more memory than a plain one, and no pass over the contacts comes on top.

Sums have one shape whatever the number of threads and lanes: eight partial sums over each block of contacts, then block
after block. Every thread adds the blocks up and decides for itself, from the same numbers.
"""

from __future__ import annotations

import math

import numpy as np

from ...laws.contact import put_back, row
from ...runtime.barrier import meet, share
from ...runtime.compiled import allocating, kernel, part
from ...runtime.simd import SIDE_BY_SIDE, WIDTH, column_of, next_of, read_rows, side_by_side, sum_of, write_rows
from ..restarts import GO_ON, RESCUE, choose
from .friction import (
    are_strong,
    collide,
    drag,
    impulse,
    minus,
    over_mass,
    read_extra,
    read_extras,
    read_force,
    read_forces,
    settle,
    shifted,
    write_force,
)  # fmt: skip

ALONG, CHANGE, STEP = range(3)  # columns of sums
BLOCK = 64  # contacts: the share of a thread in a colour is some blocks


def update_lanes(at, beta, sequence, motion, pairs, geometry, extra, cell, forces, before, dt, rate, opens):
    """Extrapolate and update several contacts that share no movable body; their sums, lane by lane."""
    c = next_of(sequence, at, SIDE_BY_SIDE)
    i, j = column_of(pairs, c, 0), column_of(pairs, c, 1)
    contact, x = read_rows(geometry, c, 8), read_forces(forces, c)
    y = shifted(x, beta, minus(x, read_forces(before, c)))
    a, b, new = collide(
        read_rows(motion, i, 8), read_rows(motion, j, 8), contact, read_extras(extra, c), y, cell, dt, rate, opens
    )
    write_rows(motion, i, a)
    write_rows(motion, j, b)
    write_rows(before, c, new)
    return over_mass(minus(new, y), minus(new, x), contact)


def update_one(c, beta, motion, pairs, geometry, extra, cell, forces, before, dt, rate, opens):
    """The same for one contact, and what it does to the cell."""
    i, j = pairs[c, 0], pairs[c, 1]
    contact, more, x = row(geometry, c), read_extra(extra, c), read_force(forces, c)
    y = shifted(x, beta, minus(x, read_force(before, c)))
    a, b, new = settle(row(motion, i), row(motion, j), contact, more, y, cell, dt, rate, opens)
    put_back(motion, i, a)
    put_back(motion, j, b)
    write_force(before, c, new)
    drag(cell, contact, more, impulse(new, y, dt))
    return over_mass(minus(new, y), minus(new, x), contact)


def update_blocks(
    first, last, block, free, row_of_sums, sums, beta, sequence, motion, pairs, geometry, extra, cell, forces, before,
    dt, rate, opens,
):  # fmt: skip
    """Update some contacts, and add change . step, change^2, step^2, each over m, of each block to its row of sums.

    free : they share no movable body
    """
    while first < last:
        end, nothing = min(first + block, last), side_by_side(0.0)
        along, change, step, along_b, change_b, step_b = nothing, nothing, nothing, nothing, nothing, nothing
        while free and first + WIDTH <= end and not are_strong(extra, sequence, first, WIDTH):
            for _ in range(WIDTH // SIDE_BY_SIDE):
                a, c, s = update_lanes(
                    first, beta, sequence, motion, pairs, geometry, extra, cell, forces, before, dt, rate, opens
                )
                along, change, step = along + a, change + c, step + s
                if SIDE_BY_SIDE < WIDTH:  # four and four lanes of the sums take turns
                    along, change, step, along_b, change_b, step_b = along_b, change_b, step_b, along, change, step
                first += SIDE_BY_SIDE
        total, changes, steps = sum_of(along + along_b), sum_of(change + change_b), sum_of(step + step_b)
        while first < end:
            a, c, s = update_one(
                sequence[first], beta, motion, pairs, geometry, extra, cell, forces, before, dt, rate, opens
            )
            total, changes, steps = total + a, changes + c, steps + s
            first += 1
        sums[row_of_sums, ALONG] += total
        sums[row_of_sums, CHANGE] += changes
        sums[row_of_sums, STEP] += steps
        row_of_sums += 1


def extrapolated_sweeps(
    thread, threads, meeting, rule, extent, state, most, soon, enough, seed, kept, orders, sums, sums_b, sequence,
    start, alone, inner, tiles, tile, first_row, pairs, geometry, extra, motion, cell, forces, motion_b, cell_b,
    forces_b, best, dt, opens,
):  # fmt: skip
    """Sweep `most` times, or until a change, after at least `soon` sweeps, is at most `enough`; one thread's share.

    Forces and velocities end up in the first tables. Returns the state; it is the same on all threads.

    kept, orders : (colours,) the order of the last sweep, and (threads, colours) room for each thread's own copy
    sums        : (rows, 3) of tiles, then of blocks, which begin in each colour at first_row; two tables take turns,
                  since one thread may begin the next sweep while another still adds up this one
    tile        : bodies in a tile
    best        : the best forces so far
    """
    rate, turn, order = 1.0 / dt, False, orders[thread]
    for k in range(len(order)):
        order[k] = kept[k]
    for made in range(1, most + 1):
        if state.what != GO_ON:
            seed = shuffle(order, inner, seed)
        turn = not turn
        # 1. and 2. Extrapolate, each into the table of the sweep before the last, and sweep there.
        visit(
            thread, threads, meeting, state.beta, order, sums, sequence, start, alone, inner, tiles, tile, first_row,
            motion, motion_b, pairs, geometry, extra, cell_b, forces, forces_b, dt, rate, opens,
        )  # fmt: skip
        motion, motion_b, cell, cell_b, forces, forces_b = motion_b, motion, cell_b, cell, forces_b, forces
        # 3. and 4. Measure, and decide.
        along, change, step = 0.0, 0.0, 0.0
        for k in range(len(sums)):
            along, change, step = along + sums[k, ALONG], change + sums[k, CHANGE], step + sums[k, STEP]
        sums, sums_b = sums_b, sums
        size = math.sqrt(change) * math.sqrt(step)
        state = choose(rule, extent, state, along / size if size > 0.0 else 0.0, change)
        if state.better:
            first, last = share(0, len(forces), thread, threads)
            copy(first, last, forces, best)
        if state.what == RESCUE or (made >= soon and made % 2 == 0 and state.change <= enough):
            break
    if turn:
        meet(meeting, threads)
        swap(*share(0, len(forces), thread, threads), forces, forces_b)
        swap(*share(0, len(motion), thread, threads), motion, motion_b)
    if thread == 0:
        for k in range(len(order)):
            kept[k] = order[k]
    return state


def visit(
    thread, threads, meeting, beta, order, sums, sequence, start, alone, inner, tiles, tile, first_row, last_motion,
    motion, pairs, geometry, extra, cell, forces, before, dt, rate, opens,
):  # fmt: skip
    """One sweep, one thread's share: its tiles, and its blocks of colour after colour beyond them.

    Velocities of a tile are extrapolated when it is its turn; where there are no tiles, all at first.
    """
    at, own, within = 0, share(0, max(len(tiles) - 1, 0), thread, threads), tile * max(len(tiles) - 1, 0)
    while at < len(order) and inner[order[at]]:
        at += 1
    first, last = share(min(within, len(motion)), len(motion), thread, threads)
    extrapolate(first, last, beta, last_motion, motion)
    for t in range(own[0], own[1]):
        extrapolate(t * tile, min((t + 1) * tile, len(motion)), beta, last_motion, motion)
        clear(t, t + 1, sums)
        for k in order[:at]:
            update_blocks(
                tiles[t, k], tiles[t + 1, k], start[k + 1], not alone[k], t, sums, beta, sequence, motion, pairs,
                geometry, extra, cell, forces, before, dt, rate, opens,
            )  # fmt: skip
    meet(meeting, threads)
    for k in order[at:]:
        block = start[k + 1] - start[k] if alone[k] else BLOCK
        first, last = share(first_row[k], first_row[k + 1], thread, threads)
        clear(first, last, sums)
        update_blocks(
            start[k] + (first - first_row[k]) * block, min(start[k] + (last - first_row[k]) * block, start[k + 1]),
            block, not alone[k], first, sums, beta, sequence, motion, pairs, geometry, extra, cell, forces, before, dt,
            rate, opens,
        )  # fmt: skip
        meet(meeting, threads)


@part
def extrapolate(first, last, beta, now, before):
    """before = now + beta (now - before), for some rows; masses stay what they are."""
    x, y = now[first:last].reshape(-1), before[first:last].reshape(-1)
    for k in range(len(x)):
        y[k] = x[k] + beta * (x[k] - y[k])


@part
def clear(first, last, sums):
    """Begin some sums."""
    for k in range(first, last):
        sums[k, ALONG], sums[k, CHANGE], sums[k, STEP] = 0.0, 0.0, 0.0


@part
def copy(first, last, rows, to):
    """Copy some rows of a table. To assign slices takes seconds to compile: its message on shapes is compiled too."""
    x, y = rows[first:last].reshape(-1), to[first:last].reshape(-1)
    for k in range(len(x)):
        y[k] = x[k]


@part
def swap(first, last, a, b):
    """Exchange some rows of two tables."""
    x, y = a[first:last].reshape(-1), b[first:last].reshape(-1)
    for k in range(len(x)):
        x[k], y[k] = y[k], x[k]


@kernel
def shuffle(order, inner, seed):
    """Colours in a random order, those within tiles first; returns the next seed. Random numbers after Steele et al."""
    for k in range(len(order) - 1, 0, -1):
        seed += 0x9E3779B97F4A7C15
        z = seed
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB
        other = (z ^ (z >> 31)) % (k + 1)
        order[k], order[other] = order[other], order[k]
    front = 0
    for k in range(len(order)):
        if inner[order[k]]:
            order[front], order[k] = order[k], order[front]
            front += 1
    return seed


@allocating
def rows_of_sums(start, alone, inner, tiles):
    """(colours + 1,) where the blocks of each colour begin among the rows of sums, after those of the tiles."""
    rows = np.empty(alone.size + 1, np.int64)
    rows[0] = max(tiles - 1, 0)
    for k in range(alone.size):
        blocks = (start[k + 1] - start[k] + BLOCK - 1) // BLOCK
        rows[k + 1] = rows[k] + (0 if inner[k] else 1 if alone[k] else blocks)
    return rows


def squares_over_mass(first, last, geometry, forces):
    """Sum of |R|^2/m."""
    total = 0.0
    for c in range(first, last):
        r = read_force(forces, c)
        total += over_mass(r, r, row(geometry, c))[0]
    return total


INLINED = update_lanes, update_one, visit  # calls would hand over a dozen arrays each time
PARTS = (update_blocks,)  # kernels alone call it
TEXTS = squares_over_mass, update_lanes, update_one, update_blocks, visit, extrapolated_sweeps
