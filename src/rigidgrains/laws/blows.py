"""Chains of blows: grains that are struck more than once within a step.

A grain that rebounds may fly at a third one before the step is over. That contact was not about to collide when the
step began, so Newton's law as `restitution.py` writes it down leaves it its gap, and the blow would be met plastically.
Here blows are followed one shock after the other, from the velocities at the beginning of the step and with its
normals. A shock is all contacts that would close, each to leave at e_n times the speed at which it came, together with
those that touch already and are pressed on; the next one is what closes by the velocities after it. Each shock gives
no energy, and none is lost at e_n = 1 without friction; impulses add up to one force for each contact.

The velocities after the last shock are what the step is to reach: without friction they are the solution of the step's
own contact problem if each contact that was struck is asked for its last V_n. Normal forces follow uniquely up to
redundancy, no matter which solver finds them, and the impulses found here are where it may start from.

Chains that do not end soon, or grow large, are given up: there the law is left as it is for contacts alone. A cluster
that has held before is large if it has many contacts, struck or not: a blow on it is one shock of all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..detect.clusters import root_of
from ..model.columns import INV_MASS, M_N, M_T, MU, N_X, N_Y, N_Z, R_N, R_X, R_Y, R_Z, X, Y, Z
from ..runtime.compiled import allocating, kernel
from .contact import contact_velocity, scatter, shock_force
from .rows import Array

LARGEST = 64  # contacts of a chain that is followed
SHOCKS = 64  # one after the other, within a step
SWEEPS = 200  # to solve a shock to rounding
ROUNDING = 1e-14  # of the velocities of both bodies: a change that is none
AT_ONCE = 1e-6  # of a step within which a gap closes that belongs to the same shock

# Struck in one shock; in a chain of them; in a chain that was given up, since too many free grains had a part in it, or
# for another reason. A shorter step helps the third alone.
ALONE, FOLLOWED, TOO_LARGE, GIVEN_UP = 1, 2, 3, 4

E_N, E_T, THRESHOLD = range(3)  # columns of `coefficients`
TO_N, TO_X, TO_Y, TO_Z = range(4)  # columns of `goal`: V_n and V_t that a contact is to leave at (m/s)


@dataclass
class Blows:
    """What became of the contacts.

    mark    : (c,) 0 for those that no blow reaches, else ALONE, FOLLOWED, TOO_LARGE or GIVEN_UP
    impulse : (c, 4) N s, of all shocks together: normal, tangential (3)
    v_n, v_t : (c,) and (c, 3) m/s, after the last shock
    """

    mark: NDArray[np.int8]
    impulse: Array
    v_n: Array
    v_t: Array


def follow(
    first: NDArray[np.bool_],
    lasting: NDArray[np.bool_],
    barred: NDArray[np.bool_],
    pairs: NDArray[np.int32],
    geometry: Array,
    limit: Array,
    before: Array,
    drift: Array,
    ahead: Array,
    coefficients: Array,
    dt: float,
) -> Blows:
    """Follow the blows of a step.

    first  : (c,) True for contacts that collide by the velocities at its beginning
    lasting : (c,) True for contacts that have held in the step before
    barred : (c,) True for contacts whose chain is not to be followed
    limit  : (c,) m, what may close of the gap of a contact that does not rebound
    before : (bodies, 8) motion rows at the beginning of the step
    drift  : (c, 3) m/s, what a cell that deforms adds to contact velocities
    ahead  : (c,) m/s, what external forces add to V_n in the step
    coefficients : (c, 3) e_n, e_t, threshold (m/s)
    """
    count, bodies = len(pairs), len(before)
    start = np.zeros(bodies + 1, np.int64)
    near = np.empty(2 * count, np.int32)
    _around(pairs, before, start, near)
    found = Blows(np.zeros(count, np.int8), np.zeros((count, 4)), np.zeros(count), np.zeros((count, 3)))
    _follow(
        np.flatnonzero(first), np.flatnonzero(lasting), np.flatnonzero(barred), pairs, geometry, limit, before.copy(),
        before.copy(), drift, ahead, coefficients, dt, start, near, found.mark, found.impulse, found.v_n, found.v_t,
    )  # fmt: skip
    return found


@allocating
def _around(pairs, motion, start, near):
    """The contacts of each body that gives way: those of body b are near[start[b]:start[b + 1]]."""
    for c in range(len(pairs)):
        for side in range(2):
            if motion[pairs[c, side], INV_MASS] > 0.0:
                start[pairs[c, side] + 1] += 1
    for b in range(start.size - 1):
        start[b + 1] += start[b]
    place = start.copy()
    for c in range(len(pairs)):
        for side in range(2):
            b = pairs[c, side]
            if motion[b, INV_MASS] > 0.0:
                near[place[b]] = c
                place[b] += 1


@allocating
def _follow(
    seeds, lasting, barred, pairs, geometry, limit, motion, origin, drift, ahead, coefficients, dt, start, near, mark,
    impulse, end_n, end_t,
):  # fmt: skip
    """Shock after shock. `motion` and `origin` both begin as the velocities before; then they are those after the last.

    A chain is known by the root of its bodies. listed : (c,) the last shock that a contact takes part in
    lost : why a chain was given up, TOO_LARGE or GIVEN_UP; 0 while it is followed; bound : True if it holds something
    """
    count, bodies = len(pairs), len(motion)
    root = np.arange(bodies)
    size, last, lost = np.zeros(bodies, np.int64), np.zeros(bodies, np.int64), np.zeros(bodies, np.int8)
    bound = np.zeros(bodies, np.bool_)
    listed, goal, q = np.zeros(count, np.int64), np.zeros((count, 4)), np.zeros((count, 4))
    now, coming = np.empty(count, np.int64), np.empty(count, np.int64)
    held = seeds.size
    now[:held] = seeds
    for c in lasting:
        bound[root_of(root, pairs[c, 0])] = True
        _join(c, pairs, motion, root, size, last, lost, bound, mark)
        mark[c] = 0
    size[:] = 0
    for c in barred:
        lost[root_of(root, pairs[c, 0])] = GIVEN_UP
    for shock in range(1, SHOCKS + 1):
        for k in range(held):
            _join(now[k], pairs, motion, root, size, last, lost, bound, mark)
        kept = 0
        for k in range(held):
            c = now[k]
            r = root_of(root, pairs[c, 0])
            if lost[r] > 0:
                continue
            now[kept], kept, listed[c], last[r] = c, kept + 1, shock, shock
            v_n, v_x, v_y, v_z = _velocity(c, pairs, motion, geometry, drift)
            e_n, e_t = coefficients[c, E_N], coefficients[c, E_T]
            goal[c, TO_N], goal[c, TO_X], goal[c, TO_Y], goal[c, TO_Z] = -e_n * v_n, -e_t * v_x, -e_t * v_y, -e_t * v_z
            q[c, R_N], q[c, R_X], q[c, R_Y], q[c, R_Z] = 0.0, 0.0, 0.0, 0.0
        held = _solve(
            now, kept, shock, pairs, geometry, limit, motion, origin, drift, dt, start, near, root, size, last, lost,
            bound, mark, listed, goal, q,
        )  # fmt: skip
        for k in range(held):
            for m in range(4):
                impulse[now[k], m] += q[now[k], m]
        number = 0
        for k in range(held):
            for side in range(2):
                b = pairs[now[k], side]
                if motion[b, INV_MASS] > 0.0:
                    number = _next(
                        b, shock, pairs, geometry, limit, motion, origin, drift, ahead, coefficients, dt, start, near,
                        listed, coming, number,
                    )  # fmt: skip
        for k in range(held):
            for side in range(2):
                b = pairs[now[k], side]
                for m in range(6):
                    origin[b, m] = motion[b, m]
        now, coming, held = coming, now, number
        if held == 0:
            break
    for k in range(held):  # no end in sight
        _join(now[k], pairs, motion, root, size, last, lost, bound, mark)
        lost[root_of(root, pairs[now[k], 0])] = GIVEN_UP
    for c in range(count):
        if mark[c] > 0:
            r = root_of(root, pairs[c, 0])
            mark[c] = lost[r] if lost[r] > 0 else FOLLOWED if last[r] > 1 else ALONE
            end_n[c], end_t[c, X], end_t[c, Y], end_t[c, Z] = _velocity(c, pairs, motion, geometry, drift)


@kernel
def _solve(
    now, held, shock, pairs, geometry, limit, motion, origin, drift, dt, start, near, root, size, last, lost, bound,
    mark, listed, goal, q,
):  # fmt: skip
    """Impulses q (c, 4) of one shock, by sweeps to rounding; returns how many contacts take part in the end."""
    for sweep in range(SWEEPS):
        settled = True
        for k in range(held):
            c = now[k]
            r = root_of(root, pairs[c, 0])
            if lost[r] > 0:
                continue
            i, j, n_x, n_y, n_z = pairs[c, 0], pairs[c, 1], geometry[c, N_X], geometry[c, N_Y], geometry[c, N_Z]
            v_n, v_x, v_y, v_z = _velocity(c, pairs, motion, geometry, drift)
            m_n, m_t, mu = geometry[c, M_N], geometry[c, M_T], geometry[c, MU]
            lacks = v_n, v_x - goal[c, TO_X], v_y - goal[c, TO_Y], v_z - goal[c, TO_Z]
            contact = n_x, n_y, n_z, -goal[c, TO_N], m_n, m_t, mu, 0.0
            new = shock_force((q[c, R_N], q[c, R_X], q[c, R_Y], q[c, R_Z]), lacks, contact, 1.0, False)
            d_n, d_x, d_y, d_z = new[0] - q[c, R_N], new[1] - q[c, R_X], new[2] - q[c, R_Y], new[3] - q[c, R_Z]
            q[c, R_N], q[c, R_X], q[c, R_Y], q[c, R_Z] = new
            scatter(i, j, motion, n_x, n_y, n_z, d_n, d_x, d_y, d_z)
            if abs(d_n) + abs(d_x) + abs(d_y) + abs(d_z) > ROUNDING * m_n * _speeds(c, pairs, motion, origin, drift):
                settled = False
                if sweep == SWEEPS - 1:
                    lost[r] = GIVEN_UP
        if settled:
            more = _touching(
                now, held, shock, pairs, geometry, limit, motion, origin, drift, dt, start, near, root, size, last,
                lost, bound, mark, listed, goal, q,
            )  # fmt: skip
            if more == held:
                break
            held = more
    return held


@kernel
def _touching(
    now, held, shock, pairs, geometry, limit, motion, origin, drift, dt, start, near, root, size, last, lost, bound,
    mark, listed, goal, q,
):  # fmt: skip
    """Add contacts that nothing has struck yet, and that the shock closes at once; they stay closed."""
    more = held
    for k in range(held):
        for side in range(2):
            b = pairs[now[k], side]
            if motion[b, INV_MASS] == 0.0 or lost[root_of(root, pairs[now[k], 0])] > 0:
                continue
            for at in range(start[b], start[b + 1]):
                d = near[at]
                if mark[d] > 0:
                    continue
                v_n, _, _, _ = _velocity(d, pairs, motion, geometry, drift)
                was, _, _, _ = _velocity(d, pairs, origin, geometry, drift)
                room = max(limit[d] / dt, was)
                if v_n < -room - ROUNDING * _speeds(d, pairs, motion, origin, drift) and room < -AT_ONCE * v_n:
                    _join(d, pairs, motion, root, size, last, lost, bound, mark)
                    r = root_of(root, pairs[d, 0])
                    listed[d], last[r], now[more], more = shock, max(last[r], shock), d, more + 1
                    goal[d, TO_N], goal[d, TO_X], goal[d, TO_Y], goal[d, TO_Z] = -room, 0.0, 0.0, 0.0
                    q[d, R_N], q[d, R_X], q[d, R_Y], q[d, R_Z] = 0.0, 0.0, 0.0, 0.0
    return more


@kernel
def _next(
    b, shock, pairs, geometry, limit, motion, origin, drift, ahead, coefficients, dt, start, near, listed, coming,
    number,
):  # fmt: skip
    """Note the contacts of a body that are about to collide by the velocities after a shock, each once."""
    for at in range(start[b], start[b + 1]):
        d = near[at]
        v_n, _, _, _ = _velocity(d, pairs, motion, geometry, drift)
        least = max(coefficients[d, THRESHOLD], ROUNDING * _speeds(d, pairs, motion, origin, drift))
        if listed[d] <= shock and v_n < -least and limit[d] + dt * min(v_n, v_n + ahead[d]) < -dt * least:
            listed[d] = shock + 1
            coming[number] = d
            number += 1
    return number


@kernel
def _velocity(c, pairs, motion, geometry, drift):
    """V_n and V_t (3) of a contact."""
    n_x, n_y, n_z = geometry[c, N_X], geometry[c, N_Y], geometry[c, N_Z]
    v_n, v_x, v_y, v_z = contact_velocity(pairs[c, 0], pairs[c, 1], motion, n_x, n_y, n_z)
    along = drift[c, X] * n_x + drift[c, Y] * n_y + drift[c, Z] * n_z
    return (
        v_n + along, v_x + drift[c, X] - along * n_x, v_y + drift[c, Y] - along * n_y, v_z + drift[c, Z] - along * n_z,
    )  # fmt: skip


@kernel
def _speeds(c, pairs, motion, origin, drift):
    """The numbers that the velocity of a contact is made of, added up."""
    i, j = pairs[c, 0], pairs[c, 1]
    total = abs(drift[c, X]) + abs(drift[c, Y]) + abs(drift[c, Z])
    for m in range(6):
        total += abs(motion[i, m]) + abs(motion[j, m]) + abs(origin[i, m]) + abs(origin[j, m])
    return total


@kernel
def _join(c, pairs, motion, root, size, last, lost, bound, mark):
    """Count a contact to the chain of its bodies, which become one; a chain that is too large is lost."""
    a = root_of(root, pairs[c, 0])
    if motion[pairs[c, 1], INV_MASS] > 0.0:
        b = root_of(root, pairs[c, 1])
        if a != b:
            a, b = min(a, b), max(a, b)
            root[b], size[a], last[a] = a, size[a] + size[b], max(last[a], last[b])
            lost[a], bound[a] = max(lost[a], lost[b]), bound[a] or bound[b]
    if mark[c] == 0:
        mark[c] = ALONE
        size[a] += 1
    if size[a] > LARGEST or lost[a] > 0:
        lost[a] = GIVEN_UP if bound[a] else max(lost[a], TOO_LARGE)
