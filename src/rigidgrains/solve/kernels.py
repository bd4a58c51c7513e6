"""Contact updates: gather both bodies, apply the shock law, scatter the change at once."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..laws.contact import collide, put_back, row, scatter
from ..runtime.compiled import kernel
from ..runtime.threads import in_parts, total

Array = NDArray[np.float64]


@kernel
def update(c, motion, pairs, geometry, forces, dt, rate, opens=False):
    """One contact; returns |dR|^2 and |R|^2. The forces of its neighbours act through the velocities of both bodies.

    opens : whether it opens as it slides, see dilation.py
    """
    i, j = pairs[c, 0], pairs[c, 1]
    old = forces[c, 0], forces[c, 1], forces[c, 2], forces[c, 3]
    a, b, new = collide(row(motion, i), row(motion, j), row(geometry, c), old, dt, rate, opens)
    forces[c, 0], forces[c, 1], forces[c, 2], forces[c, 3] = new
    put_back(motion, i, a)
    put_back(motion, j, b)
    d_n, d_x, d_y, d_z = new[0] - old[0], new[1] - old[1], new[2] - old[2], new[3] - old[3]
    r_n, r_x, r_y, r_z = new
    return d_n * d_n + d_x * d_x + d_y * d_y + d_z * d_z, r_n * r_n + r_x * r_x + r_y * r_y + r_z * r_z


def total_force(forces: Array) -> float:
    """Sum of |R| over all candidates (N)."""
    return float(total(in_parts(lambda first, last: _total_force(first, last, forces), len(forces))))


def changes(before: Array, forces: Array, epsilon: float, delta: float) -> tuple[int, float]:
    """What a sweep has changed: contacts with |dR| > epsilon |R| + delta, and the sum of |R|."""
    found: tuple[int, float] = total(
        in_parts(lambda first, last: _changes(first, last, before, forces, epsilon, delta), len(forces))
    )
    return found


@kernel
def _total_force(first, last, forces):
    """The sum over some."""
    total = 0.0
    for c in range(first, last):
        total += math.sqrt(forces[c, 0] ** 2 + forces[c, 1] ** 2 + forces[c, 2] ** 2 + forces[c, 3] ** 2)
    return total


@kernel
def apply_forces(motion, pairs, geometry, forces, dt):
    """Bring the velocities up to date with the carried forces."""
    for c in range(len(pairs)):
        r_n, x, y, z = forces[c, 0], forces[c, 1], forces[c, 2], forces[c, 3]
        n_x, n_y, n_z = geometry[c, 0], geometry[c, 1], geometry[c, 2]
        scatter(pairs[c, 0], pairs[c, 1], motion, n_x, n_y, n_z, dt * r_n, dt * x, dt * y, dt * z)


@kernel
def sweep(sequence, motion, pairs, geometry, forces, dt):
    """Update the contacts of a sequence one after another, each new force stored at once."""
    rate = 1.0 / dt
    for c in sequence:
        update(c, motion, pairs, geometry, forces, dt, rate)


@kernel
def checked_sweep(sequence, motion, pairs, geometry, forces, dt, epsilon, delta):
    """The same sweep, watched: returns how many contacts changed by |dR| > epsilon |R| + delta, and the sum of |R|."""
    rate = 1.0 / dt
    unsettled, total = 0, 0.0
    for c in sequence:
        change, force = update(c, motion, pairs, geometry, forces, dt, rate)
        force = math.sqrt(force)
        total += force
        if not math.sqrt(change) <= epsilon * force + delta:
            unsettled += 1
    return unsettled, total


@kernel
def _changes(first, last, before, forces, epsilon, delta):
    """The same of some."""
    unsettled, total = 0, 0.0
    for c in range(first, last):
        change, force = 0.0, 0.0
        for k in range(forces.shape[1]):
            change += (forces[c, k] - before[c, k]) ** 2
            force += forces[c, k] ** 2
        force = math.sqrt(force)
        total += force
        if not math.sqrt(change) <= epsilon * force + delta:
            unsettled += 1
    return unsettled, total


@kernel
def survey(motion, pairs, geometry, forces, dt, epsilon, delta):
    """What a sweep would find, changing nothing: contacts with |dR| > epsilon |R| + delta, and the sum of |R|."""
    rate = 1.0 / dt
    unsettled, total = 0, 0.0
    alone, first, own = np.empty((2, 8)), np.array([[0, 1]], dtype=np.int32), np.empty((1, 4))
    for c in range(len(pairs)):
        alone[0], alone[1], own[0] = motion[pairs[c, 0]], motion[pairs[c, 1]], forces[c]
        change, force = update(0, alone, first, geometry[c : c + 1], own, dt, rate)
        if not math.sqrt(change) <= epsilon * math.sqrt(force) + delta:
            unsettled += 1
        total += math.sqrt(forces[c, 0] ** 2 + forces[c, 1] ** 2 + forces[c, 2] ** 2 + forces[c, 3] ** 2)
    return unsettled, total


@kernel
def parallel_sweep(before, motion, pairs, geometry, forces, dt, epsilon, delta):
    """All new forces from the old velocities at once: kept to show that it fails."""
    rate = 1.0 / dt
    unsettled, total = 0, 0.0
    before[:] = motion
    alone, first = np.empty((2, 8)), np.array([[0, 1]], dtype=np.int32)
    for c in range(len(pairs)):
        i, j = pairs[c, 0], pairs[c, 1]
        alone[0], alone[1] = before[i], before[j]  # both bodies as they were, for this contact alone
        r_n, x, y, z = forces[c, 0], forces[c, 1], forces[c, 2], forces[c, 3]
        change, force = update(0, alone, first, geometry[c : c + 1], forces[c : c + 1], dt, rate)
        n_x, n_y, n_z = geometry[c, 0], geometry[c, 1], geometry[c, 2]
        p_n, p_x, p_y, p_z = forces[c, 0] - r_n, forces[c, 1] - x, forces[c, 2] - y, forces[c, 3] - z
        scatter(i, j, motion, n_x, n_y, n_z, dt * p_n, dt * p_x, dt * p_y, dt * p_z)
        force = math.sqrt(force)
        total += force
        if not math.sqrt(change) <= epsilon * force + delta:
            unsettled += 1
    return unsettled, total
