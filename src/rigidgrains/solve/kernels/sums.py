"""Sums over forces alone, whatever the kind of contact: their size, the strongest, what a sweep has changed."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...model.columns import R_N, R_X, R_Y, R_Z
from ...runtime.compiled import kernel
from ...runtime.simd import WIDTH, choose, lanes_of, lanes_with, max_of, sum_of
from ...runtime.threads import in_parts, total

Array = NDArray[np.float64]


def total_force(forces: Array) -> float:
    """Sum of |R| over all candidates (N)."""
    return float(total(in_parts(lambda first, last: _total_force(first, last, forces), len(forces))))


def strongest_force(forces: Array) -> float:
    """The largest component of any force (N); infinite if one is not finite."""
    return float(max(in_parts(lambda first, last: _largest(first, last, forces), len(forces))))


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
        total += math.sqrt(forces[c, R_N] ** 2 + forces[c, R_X] ** 2 + forces[c, R_Y] ** 2 + forces[c, R_Z] ** 2)
    return total


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
def _largest(first, last, forces):
    """The largest component of some forces."""
    r = forces[first:last].reshape(-1)
    lanes = len(r) - len(r) % WIDTH
    nothing = lanes_with(0.0)
    most, wrong = nothing, nothing  # what is not finite makes a zero wrong
    for k in range(0, lanes, WIDTH):
        up = lanes_of(r, k)
        down = 0.0 - up
        size = choose(up > down, up, down)
        most, wrong = choose(size > most, size, most), wrong + 0.0 * up
    largest = max_of(most) if sum_of(wrong) == 0.0 else math.inf
    for k in range(lanes, len(r)):
        largest = max(largest, abs(r[k])) if abs(r[k]) < math.inf else math.inf
    return largest
