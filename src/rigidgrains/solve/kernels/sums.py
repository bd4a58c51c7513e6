"""Sums over forces and velocities, whatever the kind of contact: sizes, the strongest, what a sweep has changed."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...model.columns import INV_MASS, N_X, N_Y, N_Z, R_N, R_X, R_Y, R_Z, S_X, S_Y, S_Z, V_X, V_Y, V_Z, X, Y, Z
from ...runtime.compiled import kernel
from ...runtime.threads import spread, total

Array = NDArray[np.float64]


def total_force(forces: Array) -> float:
    """Sum of |R| over all candidates (N)."""
    return strength(forces)[1]


def strength(forces: Array) -> tuple[float, float]:
    """The largest component of any force (N), infinite if one is not finite; and the sum of |R| (N)."""
    found = spread(strength_of, len(forces), forces)
    return float(max(most for most, _ in found)), float(total([size for _, size in found]))


def changes(before: Array, forces: Array, epsilon: float, delta: float) -> tuple[int, float]:
    """What a sweep has changed: contacts with |dR| > epsilon |R| + delta, and the sum of |R|."""
    found: tuple[int, float] = total(spread(_changes, len(forces), before, forces, epsilon, delta))
    return found


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
def strength_of(first, last, forces):
    """The largest component of some forces, and the sum of their sizes."""
    most, total, wrong = 0.0, 0.0, 0.0  # what is not finite makes a zero wrong
    for c in range(first, last):
        n, x, y, z = forces[c, R_N], forces[c, R_X], forces[c, R_Y], forces[c, R_Z]
        # Side by side, not one after another: a chain of maxima takes twice as long as the root.
        most = max(most, max(max(abs(n), abs(x)), max(abs(y), abs(z))))
        wrong += (0.0 * n + 0.0 * x) + (0.0 * y + 0.0 * z)
        for k in range(R_Z + 1, forces.shape[1]):
            most, wrong = max(most, abs(forces[c, k])), wrong + 0.0 * forces[c, k]
        total += math.sqrt(n * n + x * x + y * y + z * z)
    return most if wrong == 0.0 else math.inf, total


@kernel
def top_component(first, last, motion):
    """The largest component of some velocities and spins."""
    top = 0.0
    for i in range(first, last):
        v = max(max(abs(motion[i, V_X]), abs(motion[i, V_Y])), abs(motion[i, V_Z]))
        s = max(max(abs(motion[i, S_X]), abs(motion[i, S_Y])), abs(motion[i, S_Z]))
        top = max(top, max(v, s))
    return top


@kernel
def pushed_on(first, last, motion, free, rate):
    """Sum of the contact forces on some bodies that can move, by what they did to velocities."""
    pushed = 0.0
    for i in range(first, last):
        if motion[i, INV_MASS] > 0.0:
            x, y, z = motion[i, V_X] - free[i, V_X], motion[i, V_Y] - free[i, V_Y], motion[i, V_Z] - free[i, V_Z]
            m = rate / motion[i, INV_MASS]
            x, y, z = m * x, m * y, m * z
            pushed += math.sqrt(x * x + y * y + z * z)
    return pushed


@kernel
def held_by_walls(pairs, geometry, forces, motion, grains, part, net):
    """The same of walls that no force can move; net : (walls, 3) takes the force on each."""
    net[:] = 0.0
    for c in range(len(pairs) if len(net) else 0):
        j = pairs[c, 1]
        if j >= grains and motion[j, INV_MASS] == 0.0:
            r_n = part * forces[c, R_N]
            net[j - grains, X] += part * forces[c, R_X] + r_n * geometry[c, N_X]
            net[j - grains, Y] += part * forces[c, R_Y] + r_n * geometry[c, N_Y]
            net[j - grains, Z] += part * forces[c, R_Z] + r_n * geometry[c, N_Z]
    held = 0.0
    for w in range(len(net)):
        held += math.sqrt(net[w, X] ** 2 + net[w, Y] ** 2 + net[w, Z] ** 2)
    return held
