"""The same sweeps in a cell that deforms, see flow.py: siblings of `kernels.py`.

branch (c, 2): r_0 + r_1 + g from centre to centre (m), and the same where forces move the cell, else 0.
flow (3, 8): motion rows of the cell. Its velocity gradient L adds branch * L n to V; each force changes L where that
is free.
"""

from __future__ import annotations

import math

import numpy as np

from ..laws.contact import asked_force, contact_velocity, scatter
from ..model.cell import drag
from ..runtime.barrier import meet
from ..runtime.compiled import inlined, kernel
from .colouring import shared_colour


@inlined
def update(c, motion, pairs, geometry, branch, flow, forces, dt, rate):
    """One contact; returns |dR|^2 and |R|^2."""
    i, j = pairs[c, 0], pairs[c, 1]
    n_x, n_y, n_z = geometry[c, 0], geometry[c, 1], geometry[c, 2]
    old_n, old_x, old_y, old_z = forces[c, 0], forces[c, 1], forces[c, 2], forces[c, 3]
    r_n, r_x, r_y, r_z = asked(c, i, j, motion, geometry, branch, flow, forces, rate)
    forces[c, 0], forces[c, 1], forces[c, 2], forces[c, 3] = r_n, r_x, r_y, r_z
    d_n, d_x, d_y, d_z = r_n - old_n, r_x - old_x, r_y - old_y, r_z - old_z
    p_n, p_x, p_y, p_z = dt * d_n, dt * d_x, dt * d_y, dt * d_z
    scatter(i, j, motion, n_x, n_y, n_z, p_n, p_x, p_y, p_z)
    if branch[c, 1] > 0.0:
        drag(flow, branch[c, 1], n_x, n_y, n_z, p_n, p_x, p_y, p_z)
    return d_n * d_n + d_x * d_x + d_y * d_y + d_z * d_z, r_n * r_n + r_x * r_x + r_y * r_y + r_z * r_z


@inlined
def asked(c, i, j, motion, geometry, branch, flow, forces, rate):
    """R_n and R_t (3) that the shock law asks for."""
    n_x, n_y, n_z = geometry[c, 0], geometry[c, 1], geometry[c, 2]
    v_n, v_x, v_y, v_z = flow_velocity(i, j, motion, n_x, n_y, n_z, branch[c, 0], flow)
    return asked_force(
        forces[c, 0], forces[c, 1], forces[c, 2], forces[c, 3], v_n, v_x, v_y, v_z,
        geometry[c, 3], geometry[c, 4], geometry[c, 5], geometry[c, 6], rate, False,
    )  # fmt: skip


@inlined
def flow_velocity(i, j, motion, n_x, n_y, n_z, branch, flow):
    """V_n and V_t (3) with the flow of the cell, V = c1 - c0 + L b - (s0 + s1) x n."""
    v_n, v_x, v_y, v_z = contact_velocity(i, j, motion, n_x, n_y, n_z)
    l_x = branch * (flow[0, 0] * n_x + flow[0, 1] * n_y + flow[0, 2] * n_z)
    l_y = branch * (flow[1, 1] * n_y + flow[1, 2] * n_z)
    l_z = branch * (flow[2, 2] * n_z)
    l_n = l_x * n_x + l_y * n_y + l_z * n_z
    return v_n + l_n, v_x + (l_x - l_n * n_x), v_y + (l_y - l_n * n_y), v_z + (l_z - l_n * n_z)


@kernel
def apply_forces(motion, pairs, geometry, branch, flow, forces, dt):
    """Bring the velocities up to date with the carried forces."""
    for c in range(len(pairs)):
        p_n, p_x, p_y, p_z = dt * forces[c, 0], dt * forces[c, 1], dt * forces[c, 2], dt * forces[c, 3]
        n_x, n_y, n_z = geometry[c, 0], geometry[c, 1], geometry[c, 2]
        scatter(pairs[c, 0], pairs[c, 1], motion, n_x, n_y, n_z, p_n, p_x, p_y, p_z)
        if branch[c, 1] > 0.0:
            drag(flow, branch[c, 1], n_x, n_y, n_z, p_n, p_x, p_y, p_z)


@kernel
def sweep(sequence, motion, pairs, geometry, branch, flow, forces, dt):
    """Update the contacts of a sequence one after another, each new force stored at once."""
    rate = 1.0 / dt
    for c in sequence:
        update(c, motion, pairs, geometry, branch, flow, forces, dt, rate)


@kernel
def checked_sweep(sequence, motion, pairs, geometry, branch, flow, forces, dt, epsilon, delta):
    """The same sweep, watched: contacts that changed by more than epsilon |R| + delta, and the sum of |R|."""
    rate = 1.0 / dt
    unsettled, total = 0, 0.0
    for c in sequence:
        change, force = update(c, motion, pairs, geometry, branch, flow, forces, dt, rate)
        force = math.sqrt(force)
        total += force
        if not math.sqrt(change) <= epsilon * force + delta:
            unsettled += 1
    return unsettled, total


@kernel
def survey(motion, pairs, geometry, branch, flow, forces, dt, epsilon, delta):
    """What a sweep would find, changing nothing."""
    rate = 1.0 / dt
    unsettled, total = 0, 0.0
    for c in range(len(pairs)):
        r_n, r_x, r_y, r_z = asked(c, pairs[c, 0], pairs[c, 1], motion, geometry, branch, flow, forces, rate)
        d_n, d_x, d_y, d_z = r_n - forces[c, 0], r_x - forces[c, 1], r_y - forces[c, 2], r_z - forces[c, 3]
        force = math.sqrt(r_n * r_n + r_x * r_x + r_y * r_y + r_z * r_z)
        if not math.sqrt(d_n * d_n + d_x * d_x + d_y * d_y + d_z * d_z) <= epsilon * force + delta:
            unsettled += 1
        total += math.sqrt(forces[c, 0] ** 2 + forces[c, 1] ** 2 + forces[c, 2] ** 2 + forces[c, 3] ** 2)
    return unsettled, total


@kernel
def parallel_sweep(before, motion, pairs, geometry, branch, flow, forces, dt, epsilon, delta):
    """All new forces from the old velocities at once: kept to show that it fails."""
    rate = 1.0 / dt
    unsettled, total = 0, 0.0
    before[:] = motion
    held = flow.copy()
    for c in range(len(pairs)):
        i, j = pairs[c, 0], pairs[c, 1]
        r_n, r_x, r_y, r_z = asked(c, i, j, before, geometry, branch, held, forces, rate)
        d_n, d_x, d_y, d_z = r_n - forces[c, 0], r_x - forces[c, 1], r_y - forces[c, 2], r_z - forces[c, 3]
        forces[c, 0], forces[c, 1], forces[c, 2], forces[c, 3] = r_n, r_x, r_y, r_z
        n_x, n_y, n_z = geometry[c, 0], geometry[c, 1], geometry[c, 2]
        scatter(i, j, motion, n_x, n_y, n_z, dt * d_n, dt * d_x, dt * d_y, dt * d_z)
        drag(flow, branch[c, 1], n_x, n_y, n_z, dt * d_n, dt * d_x, dt * d_y, dt * d_z)
        force = math.sqrt(r_n * r_n + r_x * r_x + r_y * r_y + r_z * r_z)
        total += force
        if not math.sqrt(d_n * d_n + d_x * d_x + d_y * d_y + d_z * d_z) <= epsilon * force + delta:
            unsettled += 1
    return unsettled, total


@kernel
def coloured_sweep(
    thread, threads, meeting, colours, sequence, start, alone, tiles, motion, pairs, geometry, branch, flow, forces, dt
):
    """What one thread has to do: its share of colour after colour, tiles or not."""
    rate = 1.0 / dt
    for k in colours:
        first, last = shared_colour(k, start, alone, thread, threads)
        for at in range(first, last):
            update(sequence[at], motion, pairs, geometry, branch, flow, forces, dt, rate)
        meet(meeting, threads)


@kernel
def coloured_forces(thread, threads, meeting, start, alone, motion, pairs, geometry, branch, flow, forces, dt):
    """Bring the velocities up to date with forces in rows that stand colour after colour: one thread's share."""
    for k in range(alone.size):
        first, last = shared_colour(k, start, alone, thread, threads)
        if last > first:
            some = slice(first, last)
            apply_forces(motion, pairs[some], geometry[some], branch[some], flow, forces[some], dt)
        meet(meeting, threads)


@kernel
def miss(motion, pairs, geometry, branch, flow, forces, dt, out):
    """R - R' of each contact, (c, 4): what forces lack of those that the law asks for."""
    rate = 1.0 / dt
    for c in range(len(pairs)):
        r_n, r_x, r_y, r_z = asked(c, pairs[c, 0], pairs[c, 1], motion, geometry, branch, flow, forces, rate)
        out[c, 0], out[c, 1] = forces[c, 0] - r_n, forces[c, 1] - r_x
        out[c, 2], out[c, 3] = forces[c, 2] - r_y, forces[c, 3] - r_z


@kernel
def virtual_power(motion, pairs, geometry, branch, flow, forces, dt):
    """The terms of -S and S, each sum over those that are positive, and what slides."""
    rate = 1.0 / dt
    lost, gained, slid = 0.0, 0.0, 0.0
    for c in range(len(pairs)):
        n_x, n_y, n_z, mu = geometry[c, 0], geometry[c, 1], geometry[c, 2], geometry[c, 6]
        v_n, v_x, v_y, v_z = flow_velocity(pairs[c, 0], pairs[c, 1], motion, n_x, n_y, n_z, branch[c, 0], flow)
        limit = mu * forces[c, 0] if mu < np.inf else 0.0
        normal = forces[c, 0] * (v_n + geometry[c, 3] * rate)
        friction = limit * math.sqrt(v_x * v_x + v_y * v_y + v_z * v_z)
        sliding = friction + (forces[c, 1] * v_x + forces[c, 2] * v_y + forces[c, 3] * v_z)
        lost -= min(normal, 0.0) + min(sliding, 0.0)
        gained += max(normal, 0.0) + max(sliding, 0.0)
        slid += friction
    return lost, gained, slid
