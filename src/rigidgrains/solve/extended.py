"""The same sweeps for contacts that also resist rolling and twisting or rebound sideways: siblings of `kernels.py`.

Extra columns of a contact, (c, 14):

    0-2   velocity to be reached: sticking means V_t = -(column), zero without tangential restitution
    3, 4  a_0, a_1 = lever/r of both bodies, 0 for walls; 1/lever = 1/r_0 + 1/r_1
    5     m_r = 1/(a_0^2 r_0^2/I_0 + a_1^2 r_1^2/I_1) (kg), the mass that rolling and twisting meet
    6, 7  mu_r/lever and mu_t/lever
    8-10  lever times the spin of a wall (m/s)
    11    lever (m)
    12, 13  branch, as in `flowing.py`, in a cell that deforms; else 0

Forces have seven columns: R_n, R_t (3) and Q (3) = torque on body 1 over the lever (N). Q stops the relative spin,
times the lever, z = a_1 s_1 - a_0 s_0: its part across n within a disk of radius (mu_r/lever) R_n, its part along n
within (mu_t/lever) R_n.

flow (3, 8) are the motion rows of a cell that deforms, see `flowing.py`; zero without such a cell.
"""

from __future__ import annotations

import math

import numpy as np

from ..laws.contact import asked_force, scatter
from ..model.cell import drag
from ..runtime.barrier import meet
from ..runtime.compiled import inlined, kernel
from .colouring import shared_colour
from .flowing import flow_velocity


@kernel
def update(c, motion, pairs, geometry, extra, flow, forces, dt, rate):
    """One contact, force first, then torque; returns |dR|^2 + |dQ|^2 and |R|^2 + |Q|^2."""
    i, j = pairs[c, 0], pairs[c, 1]
    n_x, n_y, n_z = geometry[c, 0], geometry[c, 1], geometry[c, 2]
    old_n, old_x, old_y, old_z = forces[c, 0], forces[c, 1], forces[c, 2], forces[c, 3]
    r_n, r_x, r_y, r_z = asked(c, i, j, motion, geometry, extra, flow, forces, rate)
    forces[c, 0], forces[c, 1], forces[c, 2], forces[c, 3] = r_n, r_x, r_y, r_z
    d_n, d_x, d_y, d_z = r_n - old_n, r_x - old_x, r_y - old_y, r_z - old_z
    scatter(i, j, motion, n_x, n_y, n_z, dt * d_n, dt * d_x, dt * d_y, dt * d_z)
    if extra[c, 13] > 0.0:
        drag(flow, extra[c, 13], n_x, n_y, n_z, dt * d_n, dt * d_x, dt * d_y, dt * d_z)
    change = d_n * d_n + d_x * d_x + d_y * d_y + d_z * d_z
    force = r_n * r_n + r_x * r_x + r_y * r_y + r_z * r_z
    q_x, q_y, q_z = asked_torque(c, i, j, motion, geometry, extra, forces, r_n, rate)
    d_x, d_y, d_z = q_x - forces[c, 4], q_y - forces[c, 5], q_z - forces[c, 6]
    forces[c, 4], forces[c, 5], forces[c, 6] = q_x, q_y, q_z
    turn(c, i, j, motion, extra, dt * d_x, dt * d_y, dt * d_z)
    return change + (d_x * d_x + d_y * d_y + d_z * d_z), force + (q_x * q_x + q_y * q_y + q_z * q_z)


@inlined
def asked(c, i, j, motion, geometry, extra, flow, forces, rate):
    """R_n and R_t (3) that the shock law asks for."""
    v_n, v_x, v_y, v_z = missed_velocity(c, i, j, motion, geometry, extra, flow)
    return asked_force(
        forces[c, 0], forces[c, 1], forces[c, 2], forces[c, 3], v_n, v_x, v_y, v_z,
        geometry[c, 3], geometry[c, 4], geometry[c, 5], geometry[c, 6], rate, False,
    )  # fmt: skip


@inlined
def missed_velocity(c, i, j, motion, geometry, extra, flow):
    """V_n and V_t (3) with the flow of the cell, less what is to be reached."""
    n_x, n_y, n_z = geometry[c, 0], geometry[c, 1], geometry[c, 2]
    v_n, v_x, v_y, v_z = flow_velocity(i, j, motion, n_x, n_y, n_z, extra[c, 12], flow)
    return v_n, v_x + extra[c, 0], v_y + extra[c, 1], v_z + extra[c, 2]


@kernel
def relative_spin(c, i, j, motion, extra):
    """z (3) = lever times the spin of body 1 relative to body 0 (m/s)."""
    a_0, a_1 = extra[c, 3], extra[c, 4]
    return (
        a_1 * motion[j, 3] - a_0 * motion[i, 3] + extra[c, 8],
        a_1 * motion[j, 4] - a_0 * motion[i, 4] + extra[c, 9],
        a_1 * motion[j, 5] - a_0 * motion[i, 5] + extra[c, 10],
    )


@kernel
def asked_torque(c, i, j, motion, geometry, extra, forces, r_n, rate):
    """Q (3) that stops rolling and twisting as far as R_n allows."""
    n_x, n_y, n_z = geometry[c, 0], geometry[c, 1], geometry[c, 2]
    z_x, z_y, z_z = relative_spin(c, i, j, motion, extra)
    m = extra[c, 5] * rate
    q_x, q_y, q_z = forces[c, 4] - m * z_x, forces[c, 5] - m * z_y, forces[c, 6] - m * z_z
    q_n = q_x * n_x + q_y * n_y + q_z * n_z
    q_x, q_y, q_z = q_x - q_n * n_x, q_y - q_n * n_y, q_z - q_n * n_z
    if r_n <= 0.0:
        return 0.0, 0.0, 0.0
    limit, square = extra[c, 6] * r_n, q_x * q_x + q_y * q_y + q_z * q_z
    if square > limit * limit:
        share = limit / math.sqrt(square)
        q_x, q_y, q_z = share * q_x, share * q_y, share * q_z
    limit = extra[c, 7] * r_n
    q_n = min(max(q_n, -limit), limit)
    return q_x + q_n * n_x, q_y + q_n * n_y, q_z + q_n * n_z


@kernel
def turn(c, i, j, motion, extra, p_x, p_y, p_z):
    """Give body 1 the angular impulse lever * p and body 0 its opposite."""
    turn_1, turn_0 = extra[c, 4] * motion[j, 7], extra[c, 3] * motion[i, 7]
    motion[j, 3] += turn_1 * p_x
    motion[j, 4] += turn_1 * p_y
    motion[j, 5] += turn_1 * p_z
    motion[i, 3] -= turn_0 * p_x
    motion[i, 4] -= turn_0 * p_y
    motion[i, 5] -= turn_0 * p_z


@kernel
def apply_forces(motion, pairs, geometry, extra, flow, forces, dt):
    """Bring the velocities up to date with the carried forces and torques."""
    for c in range(len(pairs)):
        i, j = pairs[c, 0], pairs[c, 1]
        n_x, n_y, n_z = geometry[c, 0], geometry[c, 1], geometry[c, 2]
        p_n, p_x, p_y, p_z = dt * forces[c, 0], dt * forces[c, 1], dt * forces[c, 2], dt * forces[c, 3]
        scatter(i, j, motion, n_x, n_y, n_z, p_n, p_x, p_y, p_z)
        if extra[c, 13] > 0.0:
            drag(flow, extra[c, 13], n_x, n_y, n_z, p_n, p_x, p_y, p_z)
        turn(c, i, j, motion, extra, dt * forces[c, 4], dt * forces[c, 5], dt * forces[c, 6])


@kernel
def sweep(sequence, motion, pairs, geometry, extra, flow, forces, dt):
    """Update the contacts of a sequence one after another, each new force stored at once."""
    rate = 1.0 / dt
    for c in sequence:
        update(c, motion, pairs, geometry, extra, flow, forces, dt, rate)


@kernel
def checked_sweep(sequence, motion, pairs, geometry, extra, flow, forces, dt, epsilon, delta):
    """The same sweep, watched: contacts that changed by more than epsilon |R| + delta, and the sum of |R|."""
    rate = 1.0 / dt
    unsettled, total = 0, 0.0
    for c in sequence:
        change, force = update(c, motion, pairs, geometry, extra, flow, forces, dt, rate)
        force = math.sqrt(force)
        total += force
        if not math.sqrt(change) <= epsilon * force + delta:
            unsettled += 1
    return unsettled, total


@kernel
def survey(motion, pairs, geometry, extra, flow, forces, dt, epsilon, delta):
    """What a sweep would find, changing nothing."""
    rate = 1.0 / dt
    unsettled, total = 0, 0.0
    alone, first, own = np.empty((2, 8)), np.array([[0, 1]], dtype=np.int32), np.empty((1, 7))
    held = np.empty((3, 8))
    for c in range(len(pairs)):
        alone[0], alone[1], own[0], held[:] = motion[pairs[c, 0]], motion[pairs[c, 1]], forces[c], flow
        change, force = update(0, alone, first, geometry[c : c + 1], extra[c : c + 1], held, own, dt, rate)
        if not math.sqrt(change) <= epsilon * math.sqrt(force) + delta:
            unsettled += 1
        total += math.sqrt(forces[c, 0] ** 2 + forces[c, 1] ** 2 + forces[c, 2] ** 2 + forces[c, 3] ** 2)
    return unsettled, total


@kernel
def parallel_sweep(before, motion, pairs, geometry, extra, flow, forces, dt, epsilon, delta):
    """All new forces from the old velocities at once: kept to show that it fails."""
    rate = 1.0 / dt
    unsettled, total = 0, 0.0
    before[:] = motion
    alone, first, old = np.empty((2, 8)), np.array([[0, 1]], dtype=np.int32), np.empty(7)
    flow_before, held = flow.copy(), flow.copy()
    for c in range(len(pairs)):
        i, j = pairs[c, 0], pairs[c, 1]
        alone[0], alone[1], old[:], held[:] = before[i], before[j], forces[c], flow_before
        change, force = update(
            0, alone, first, geometry[c : c + 1], extra[c : c + 1], held, forces[c : c + 1], dt, rate
        )
        n_x, n_y, n_z = geometry[c, 0], geometry[c, 1], geometry[c, 2]
        p = dt * (forces[c] - old)
        scatter(i, j, motion, n_x, n_y, n_z, p[0], p[1], p[2], p[3])
        drag(flow, extra[c, 13], n_x, n_y, n_z, p[0], p[1], p[2], p[3])
        turn(c, i, j, motion, extra, p[4], p[5], p[6])
        force = math.sqrt(force)
        total += force
        if not math.sqrt(change) <= epsilon * force + delta:
            unsettled += 1
    return unsettled, total


@kernel
def coloured_sweep(
    thread, threads, meeting, colours, sequence, start, alone, tiles, motion, pairs, geometry, extra, flow, forces, dt
):
    """What one thread has to do: its share of colour after colour, tiles or not."""
    rate = 1.0 / dt
    for k in colours:
        first, last = shared_colour(k, start, alone, thread, threads)
        for at in range(first, last):
            update(sequence[at], motion, pairs, geometry, extra, flow, forces, dt, rate)
        meet(meeting, threads)


@kernel
def coloured_forces(thread, threads, meeting, start, alone, motion, pairs, geometry, extra, flow, forces, dt):
    """Bring the velocities up to date with forces and torques: one thread's share."""
    for k in range(alone.size):
        first, last = shared_colour(k, start, alone, thread, threads)
        if last > first:
            some = slice(first, last)
            apply_forces(motion, pairs[some], geometry[some], extra[some], flow, forces[some], dt)
        meet(meeting, threads)


@kernel
def miss(motion, pairs, geometry, extra, flow, forces, dt, out):
    """R - R' and Q - Q' of each contact, (c, 7): what force and torque lack of those that the laws ask for."""
    rate = 1.0 / dt
    for c in range(len(pairs)):
        i, j = pairs[c, 0], pairs[c, 1]
        r_n, r_x, r_y, r_z = asked(c, i, j, motion, geometry, extra, flow, forces, rate)
        q_x, q_y, q_z = asked_torque(c, i, j, motion, geometry, extra, forces, r_n, rate)
        out[c, 0], out[c, 1], out[c, 2], out[c, 3] = r_n, r_x, r_y, r_z
        out[c, 4], out[c, 5], out[c, 6] = q_x, q_y, q_z
        for k in range(7):
            out[c, k] = forces[c, k] - out[c, k]


@kernel
def virtual_power(motion, pairs, geometry, extra, flow, forces, dt):
    """The terms of -S and S, each sum over those that are positive, and what slides, rolls and twists."""
    rate = 1.0 / dt
    lost, gained, slid = 0.0, 0.0, 0.0
    for c in range(len(pairs)):
        i, j = pairs[c, 0], pairs[c, 1]
        n_x, n_y, n_z = geometry[c, 0], geometry[c, 1], geometry[c, 2]
        v_n, v_x, v_y, v_z = missed_velocity(c, i, j, motion, geometry, extra, flow)
        r_n = forces[c, 0]
        normal = r_n * (v_n + geometry[c, 3] * rate)
        friction = _limit(geometry[c, 6], r_n) * math.sqrt(v_x * v_x + v_y * v_y + v_z * v_z)
        sliding = friction + (forces[c, 1] * v_x + forces[c, 2] * v_y + forces[c, 3] * v_z)
        z_x, z_y, z_z = relative_spin(c, i, j, motion, extra)
        z_n = z_x * n_x + z_y * n_y + z_z * n_z
        q_n = forces[c, 4] * n_x + forces[c, 5] * n_y + forces[c, 6] * n_z
        twist = _limit(extra[c, 7], r_n) * abs(z_n)
        twisting = twist + q_n * z_n
        roll = _limit(extra[c, 6], r_n) * math.sqrt(max(z_x * z_x + z_y * z_y + z_z * z_z - z_n * z_n, 0.0))
        rolling = roll + (forces[c, 4] * z_x + forces[c, 5] * z_y + forces[c, 6] * z_z - q_n * z_n)
        lost -= min(normal, 0.0) + min(sliding, 0.0) + min(twisting, 0.0) + min(rolling, 0.0)
        gained += max(normal, 0.0) + max(sliding, 0.0) + max(twisting, 0.0) + max(rolling, 0.0)
        slid += friction + twist + roll
    return lost, gained, slid


@kernel
def _limit(coefficient, r_n):
    """Coefficient times R_n; an infinite one has no motion and leaves it out."""
    return coefficient * r_n if coefficient < math.inf else 0.0
