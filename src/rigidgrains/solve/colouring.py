"""Sweeps by colours, on one thread or several: contacts of one colour share no body that can move."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..contacts.contacts import gives_way
from ..contacts.problem import ContactProblem
from ..detect.colours import COLOURS, Colouring, paint_contacts, sort_by_colour
from ..laws.contact import collide, push, scatter
from ..runtime.barrier import meet, share
from ..runtime.compiled import kernel
from ..runtime.simd import WIDTH, column_of, next_of, read_rows, rows_from, write_rows
from .kernels import update

Index = NDArray[np.int32]

WORTH = 8192  # contacts from which on threads are used: 0.07 ms of work, of which two save a quarter


def find_colouring(problem: ContactProblem, among: Index) -> Colouring:
    """Greedy colours for some contacts: each takes the first that neither of its bodies has."""
    movable = (problem.motion[:, 6:] != 0.0).any(axis=1)
    colour, sequence = np.empty(len(among), np.int8), np.empty(len(among), np.int32)
    size = paint_contacts(among, problem.pairs, movable, colour)
    start = np.concatenate([[0], np.cumsum(size)])
    sort_by_colour(among, colour, start[:-1].copy(), sequence)
    alone = (np.arange(COLOURS + 1) == COLOURS) | gives_way(problem.flow)
    return Colouring.of(sequence, start, alone)


@kernel
def coloured_sweep(
    thread, threads, meeting, colours, sequence, start, alone, tiles, motion, pairs, geometry, forces, dt, opens=False
):
    """What one thread has to do: its tiles, and its share of colour after colour beyond them.

    The bits do not depend on how many threads share.

    tiles : which colours are within tiles, and where these begin
    opens : whether contacts open as they slide, see dilation.py
    """
    inner, begin = tiles
    rate = 1.0 / dt
    at = 0
    while at < len(colours):
        end = at
        while end < len(colours) and inner[colours[end]]:
            end += 1
        if end > at:  # tile after tile through all colours that it has
            own = share(0, len(begin) - 1, thread, threads)
            for tile in range(own[0], own[1]):
                for k in colours[at:end]:
                    first, last = begin[tile, k], begin[tile + 1, k]
                    sweep_some(first, last, not alone[k], sequence, motion, pairs, geometry, forces, dt, rate, opens)
            at = end
        else:
            k = colours[at]
            first, last = shared_colour(k, start, alone, thread, threads)
            sweep_some(first, last, not alone[k], sequence, motion, pairs, geometry, forces, dt, rate, opens)
            at += 1
        meet(meeting, threads)


@kernel
def sweep_some(first, last, free, sequence, motion, pairs, geometry, forces, dt, rate, opens):
    """Update some contacts of a sequence; free : they share no movable body."""
    if free:
        first = sweep_lanes(first, last, sequence, motion, pairs, geometry, forces, dt, rate, opens)
    for at in range(first, last):
        update(sequence[at], motion, pairs, geometry, forces, dt, rate, opens)


@kernel
def sweep_lanes(first, last, sequence, motion, pairs, geometry, forces, dt, rate, opens):
    """Update contacts that share no movable body, eight at a time; returns where fewer are left.

    Lanes that share a wall all put back what it was.
    """
    while first + WIDTH <= last:
        c = next_of(sequence, first)  # type: ignore[call-arg,var-annotated]
        i, j = column_of(pairs, c, 0), column_of(pairs, c, 1)
        a, b, new = collide(
            read_rows(motion, i, 8), read_rows(motion, j, 8), read_rows(geometry, c, 8), read_rows(forces, c, 4),
            dt, rate, opens,
        )  # fmt: skip
        write_rows(motion, i, a)
        write_rows(motion, j, b)
        write_rows(forces, c, new)
        first += WIDTH
    return first


@kernel
def coloured_forces(thread, threads, meeting, start, alone, motion, pairs, geometry, forces, dt):
    """Bring the velocities up to date with forces in rows that stand colour after colour: one thread's share."""
    for k in range(alone.size):
        first, last = shared_colour(k, start, alone, thread, threads)
        if not alone[k]:
            first = push_lanes(first, last, motion, pairs, geometry, forces, dt)
        for c in range(first, last):
            r_n, x, y, z = forces[c, 0], forces[c, 1], forces[c, 2], forces[c, 3]
            n_x, n_y, n_z = geometry[c, 0], geometry[c, 1], geometry[c, 2]
            scatter(pairs[c, 0], pairs[c, 1], motion, n_x, n_y, n_z, dt * r_n, dt * x, dt * y, dt * z)
        meet(meeting, threads)


@kernel
def push_lanes(first, last, motion, pairs, geometry, forces, dt):
    """Let eight forces at a time act on bodies that they do not share; returns where fewer are left."""
    while first + WIDTH <= last:
        c = rows_from(first)  # type: ignore[call-arg,var-annotated]
        i, j = column_of(pairs, c, 0), column_of(pairs, c, 1)
        n_x, n_y, n_z, _, _, _, _, _ = read_rows(geometry, c, 8)
        r_n, x, y, z = read_rows(forces, c, 4)
        a, b = push(
            read_rows(motion, i, 8), read_rows(motion, j, 8), n_x, n_y, n_z, dt * r_n, dt * x, dt * y, dt * z
        )  # fmt: skip
        write_rows(motion, i, a)
        write_rows(motion, j, b)
        first += WIDTH
    return first


@kernel
def shared_colour(k, start, alone, thread, threads):
    """The share of a thread in colour k."""
    if not alone[k]:
        return share(start[k], start[k + 1], thread, threads)
    return start[k], start[k + 1] if thread == 0 else start[k]
