"""Texts of the loops that sweep: gather both bodies, apply the law, scatter the change at once.

`factory.make_kernels` compiles them for each kind of contact, with its point functions in place of those of plain
friction that are imported here. Arrays are those of `ContactProblem.arrays`, in their order.
"""

from __future__ import annotations

import math

from ...laws.contact import put_back, row
from ...runtime.prefetch import prefetch
from .friction import (
    ask_extra,
    drag,
    impulse,
    minus,
    push,
    read_extra,
    read_force,
    scaled,
    settle,
    square,
    write_force,
)  # fmt: skip

AHEAD = 8  # contacts: in so many updates memory answers


def update(c, motion, pairs, geometry, extra, cell, forces, dt, rate, opens):
    """One contact; returns |dR|^2 and |R|^2. The forces of its neighbours act through the velocities of both bodies.

    opens : whether it opens as it slides, see associated.py
    """
    i, j = pairs[c, 0], pairs[c, 1]
    contact, more, old = row(geometry, c), read_extra(extra, c), read_force(forces, c)
    a, b, new = settle(row(motion, i), row(motion, j), contact, more, old, cell, dt, rate, opens)
    write_force(forces, c, new)
    put_back(motion, i, a)
    put_back(motion, j, b)
    drag(cell, contact, more, impulse(new, old, dt))
    return square(minus(new, old)), square(new)


def apply_force(c, motion, pairs, geometry, extra, cell, forces, dt):
    """Let the force of one contact act."""
    i, j = pairs[c, 0], pairs[c, 1]
    contact, more, p = row(geometry, c), read_extra(extra, c), scaled(dt, read_force(forces, c))
    a, b = push(row(motion, i), row(motion, j), contact, more, p)
    put_back(motion, i, a)
    put_back(motion, j, b)
    drag(cell, contact, more, p)


def apply_forces(motion, pairs, geometry, extra, cell, forces, dt):
    """Bring the velocities up to date with the carried forces."""
    for c in range(len(pairs)):
        apply_force(c, motion, pairs, geometry, extra, cell, forces, dt)


def ask_ahead(k, sequence, motion, pairs, geometry, extra, forces):
    """At place k of a sequence ask for the bodies of a contact that comes soon, and for the rows of one still later."""
    last = len(sequence) - 1
    soon, late = sequence[min(k + AHEAD, last)], sequence[min(k + 2 * AHEAD, last)]
    prefetch(pairs, late)
    prefetch(geometry, late)
    ask_extra(extra, late)
    prefetch(forces, late)
    prefetch(motion, pairs[soon, 0])
    prefetch(motion, pairs[soon, 1])


def sweep(sequence, motion, pairs, geometry, extra, cell, forces, dt, opens=False):
    """Update the contacts of a sequence one after another, each new force stored at once."""
    rate = 1.0 / dt
    for k in range(len(sequence)):
        ask_ahead(k, sequence, motion, pairs, geometry, extra, forces)
        update(sequence[k], motion, pairs, geometry, extra, cell, forces, dt, rate, opens)


def stored_sweep(motion, pairs, geometry, extra, cell, forces, dt):
    """Update all contacts as they are stored: those of one body 0 follow each other, its row stays in registers."""
    rate = 1.0 / dt
    i = pairs[0, 0]
    a = row(motion, i)
    for c in range(len(pairs)):
        if pairs[c, 0] != i:
            put_back(motion, i, a)
            i = pairs[c, 0]
            a = row(motion, i)
        j = pairs[c, 1]
        contact, more, old = row(geometry, c), read_extra(extra, c), read_force(forces, c)
        a, b, new = settle(a, row(motion, j), contact, more, old, cell, dt, rate, False)
        write_force(forces, c, new)
        put_back(motion, j, b)
        drag(cell, contact, more, impulse(new, old, dt))
    put_back(motion, i, a)


def checked_sweep(sequence, motion, pairs, geometry, extra, cell, forces, dt, epsilon, delta):
    """The same sweep, watched: returns how many contacts changed by |dR| > epsilon |R| + delta, and the sum of |R|."""
    rate = 1.0 / dt
    unsettled, total = 0, 0.0
    for k in range(len(sequence)):
        ask_ahead(k, sequence, motion, pairs, geometry, extra, forces)
        change, force = update(sequence[k], motion, pairs, geometry, extra, cell, forces, dt, rate, False)
        force = math.sqrt(force)
        total += force
        if not math.sqrt(change) <= epsilon * force + delta:
            unsettled += 1
    return unsettled, total


def survey(motion, pairs, geometry, extra, cell, forces, dt, epsilon, delta):
    """What a sweep would find, changing nothing: contacts with |dR| > epsilon |R| + delta, and the sum of |R|."""
    rate = 1.0 / dt
    unsettled, total = 0, 0.0
    for c in range(len(pairs)):
        a, b, old = row(motion, pairs[c, 0]), row(motion, pairs[c, 1]), read_force(forces, c)
        _, _, new = settle(a, b, row(geometry, c), read_extra(extra, c), old, cell, dt, rate, False)
        if not math.sqrt(square(minus(new, old))) <= epsilon * math.sqrt(square(new)) + delta:
            unsettled += 1
        total += math.sqrt(square(old))
    return unsettled, total


def parallel_sweep(before, cell_before, motion, pairs, geometry, extra, cell, forces, dt, epsilon, delta):
    """All new forces from the velocities before at once, Jacobi's way: kept to show that it fails.

    before, cell_before : copies of motion and cell
    """
    rate = 1.0 / dt
    unsettled, total = 0, 0.0
    for c in range(len(pairs)):
        i, j = pairs[c, 0], pairs[c, 1]
        contact, more, old = row(geometry, c), read_extra(extra, c), read_force(forces, c)
        _, _, new = settle(row(before, i), row(before, j), contact, more, old, cell_before, dt, rate, False)
        write_force(forces, c, new)
        a, b = push(row(motion, i), row(motion, j), contact, more, impulse(new, old, dt))
        put_back(motion, i, a)
        put_back(motion, j, b)
        drag(cell, contact, more, impulse(new, old, dt))
        force = math.sqrt(square(new))
        total += force
        if not math.sqrt(square(minus(new, old))) <= epsilon * force + delta:
            unsettled += 1
    return unsettled, total


INLINED = ()
PARTS = ask_ahead, apply_force  # kernels alone call them
TEXTS = *PARTS, update, apply_forces, sweep, stored_sweep, checked_sweep, survey, parallel_sweep
