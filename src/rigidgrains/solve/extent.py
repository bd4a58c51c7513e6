"""L/d: how many grains a load has to cross."""

from __future__ import annotations

import math

from ..contacts.problem import ContactProblem
from ..model.columns import R_N, X, Y, Z
from ..runtime.compiled import kernel


def extent_of(problem: ContactProblem) -> float:
    """L/d of the grains that have candidates, by the box around them."""
    length, d = _extent(problem.pairs, problem.position), 2.0 * float(problem.radius.mean())
    return min(1.0 + float(length) / d, float(problem.count))


def loaded_extent(problem: ContactProblem) -> float:
    """L/d of the grains that press on each other: a box that is filled evenly has it, and as wide a spread of contacts.

    Single grains that fall out of a silo, or lie far from a heap, hardly count. That of all candidates as long as no
    force is carried over.
    """
    spread, count = _spread(problem.pairs, problem.position, problem.forces)
    if count < 2:
        return extent_of(problem)
    length, d = math.sqrt(12.0 * float(spread)), 2.0 * float(problem.radius.mean())
    return min(1.0 + length / d, float(count))


@kernel
def _extent(pairs, position):
    """The largest distance between bodies 0 along an axis (m)."""
    first = position[pairs[0, 0]]
    x, y, z = first[0], first[1], first[2]
    most_x, most_y, most_z = x, y, z
    for c in range(len(pairs)):
        i = pairs[c, 0]
        x, y, z = min(x, position[i, X]), min(y, position[i, Y]), min(z, position[i, Z])
        most_x, most_y = max(most_x, position[i, X]), max(most_y, position[i, Y])
        most_z = max(most_z, position[i, Z])
    return max(most_x - x, most_y - y, most_z - z)


@kernel
def _spread(pairs, position, forces):
    """The largest variance of bodies 0 along an axis (m^2), over contacts that carry a force, and their number."""
    first = position[pairs[0, 0]]
    x, y, z, x_x, y_y, z_z, count = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0
    for c in range(len(pairs)):
        if forces[c, R_N] > 0.0:
            i = pairs[c, 0]
            a, b, d = position[i, X] - first[X], position[i, Y] - first[Y], position[i, Z] - first[Z]
            x, y, z = x + a, y + b, z + d
            x_x, y_y, z_z = x_x + a * a, y_y + b * b, z_z + d * d
            count += 1
    part = 1.0 / max(count, 1)
    return max(x_x - x * x * part, y_y - y * y * part, z_z - z * z * part, 0.0) * part, count
