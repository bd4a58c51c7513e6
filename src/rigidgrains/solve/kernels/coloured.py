"""Texts of the loops by colours, on one thread or several: contacts of one colour share no body that can move.

Four or eight contacts of a colour go at a time, one in each lane; see `sweeps` for what is done with these texts.
"""

from __future__ import annotations

from ...runtime.barrier import meet, share
from ...runtime.compiled import part
from ...runtime.simd import SIDE_BY_SIDE, column_of, next_of, read_rows, rows_from, write_rows
from .friction import are_strong, collide, push, read_extras, read_forces, scaled
from .sweeps import apply_force, update


def sweep_lanes(first, last, sequence, motion, pairs, geometry, extra, cell, forces, dt, rate, opens):
    """Update contacts that share no movable body, several at a time; returns where fewer are left.

    Lanes that share a wall all put back what it was. No such contact moves the cell.
    """
    while first + SIDE_BY_SIDE <= last:
        if are_strong(extra, sequence, first, SIDE_BY_SIDE):
            for at in range(first, first + SIDE_BY_SIDE):
                update(sequence[at], motion, pairs, geometry, extra, cell, forces, dt, rate, opens)
            first += SIDE_BY_SIDE
            continue
        c = next_of(sequence, first, SIDE_BY_SIDE)
        i, j = column_of(pairs, c, 0), column_of(pairs, c, 1)
        a, b, new = collide(
            read_rows(motion, i, 8), read_rows(motion, j, 8), read_rows(geometry, c, 8), read_extras(extra, c),
            read_forces(forces, c), cell, dt, rate, opens,
        )  # fmt: skip
        write_rows(motion, i, a)
        write_rows(motion, j, b)
        write_rows(forces, c, new)
        first += SIDE_BY_SIDE
    return first


def sweep_some(first, last, free, sequence, motion, pairs, geometry, extra, cell, forces, dt, rate, opens):
    """Update some contacts of a sequence; free : they share no movable body."""
    if free:
        first = sweep_lanes(first, last, sequence, motion, pairs, geometry, extra, cell, forces, dt, rate, opens)
    for at in range(first, last):
        update(sequence[at], motion, pairs, geometry, extra, cell, forces, dt, rate, opens)


def coloured_sweep(
    thread, threads, meeting, colours, sequence, start, alone, inner, tiles, motion, pairs, geometry, extra, cell,
    forces, dt, opens,
):  # fmt: skip
    """What one thread has to do: its tiles, and its share of colour after colour beyond them.

    The bits do not depend on how many threads share.

    inner, tiles : which colours are within tiles, and where these begin
    opens : whether contacts open as they slide, see associated.py
    """
    rate = 1.0 / dt
    at = 0
    while at < len(colours):
        end = at
        while end < len(colours) and inner[colours[end]]:
            end += 1
        if end > at:  # tile after tile through all colours that it has
            own = share(0, len(tiles) - 1, thread, threads)
            for tile in range(own[0], own[1]):
                for k in colours[at:end]:
                    first, last = tiles[tile, k], tiles[tile + 1, k]
                    free = not alone[k]
                    sweep_some(
                        first, last, free, sequence, motion, pairs, geometry, extra, cell, forces, dt, rate, opens
                    )
            at = end
        else:
            k = colours[at]
            first, last = shared_colour(k, start, alone, thread, threads)
            sweep_some(
                first, last, not alone[k], sequence, motion, pairs, geometry, extra, cell, forces, dt, rate, opens
            )
            at += 1
        meet(meeting, threads)


def push_lanes(first, last, motion, pairs, geometry, extra, forces, dt):
    """Let several forces at a time act on bodies that they do not share; returns where fewer are left."""
    while first + SIDE_BY_SIDE <= last:
        c = rows_from(first, SIDE_BY_SIDE)
        i, j = column_of(pairs, c, 0), column_of(pairs, c, 1)
        a, b = push(
            read_rows(motion, i, 8), read_rows(motion, j, 8), read_rows(geometry, c, 8), read_extras(extra, c),
            scaled(dt, read_forces(forces, c)),
        )  # fmt: skip
        write_rows(motion, i, a)
        write_rows(motion, j, b)
        first += SIDE_BY_SIDE
    return first


def coloured_forces(thread, threads, meeting, start, alone, motion, pairs, geometry, extra, cell, forces, dt):
    """Bring the velocities up to date with forces in rows that stand colour after colour: one thread's share."""
    for k in range(alone.size):
        first, last = shared_colour(k, start, alone, thread, threads)
        if not alone[k]:
            first = push_lanes(first, last, motion, pairs, geometry, extra, forces, dt)
        for c in range(first, last):
            apply_force(c, motion, pairs, geometry, extra, cell, forces, dt)
        meet(meeting, threads)


@part
def shared_colour(k, start, alone, thread, threads):
    """The share of a thread in colour k."""
    if not alone[k]:
        return share(start[k], start[k + 1], thread, threads)
    return start[k], start[k + 1] if thread == 0 else start[k]


INLINED = ()
PARTS = sweep_lanes, sweep_some, push_lanes  # kernels alone call them
TEXTS = *PARTS, coloured_sweep, coloured_forces
