"""Sums over forces alone, whatever the kind of contact: their size, the strongest, what a sweep has changed."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...model.columns import R_N, R_X, R_Y, R_Z
from ...runtime.compiled import kernel
from ...runtime.threads import in_parts, total

Array = NDArray[np.float64]


def total_force(forces: Array) -> float:
    """Sum of |R| over all candidates (N)."""
    return strength(forces)[1]


def strength(forces: Array) -> tuple[float, float]:
    """The largest component of any force (N), infinite if one is not finite; and the sum of |R| (N)."""
    found = in_parts(lambda first, last: _strength(first, last, forces), len(forces))
    return float(max(most for most, _ in found)), float(total([size for _, size in found]))


def changes(before: Array, forces: Array, epsilon: float, delta: float) -> tuple[int, float]:
    """What a sweep has changed: contacts with |dR| > epsilon |R| + delta, and the sum of |R|."""
    found: tuple[int, float] = total(
        in_parts(lambda first, last: _changes(first, last, before, forces, epsilon, delta), len(forces))
    )
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
def _strength(first, last, forces):
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
