"""L/d: how many grains a load has to cross."""

from __future__ import annotations

import math

from ..contacts.problem import ContactProblem
from ..model.columns import R_N, X, Y, Z
from ..runtime.compiled import kernel
from ..runtime.threads import spread, total


def extent_of(problem: ContactProblem) -> float:
    """L/d of the grains that have candidates, by the box around them."""
    if "extent" not in problem.known:
        ends = spread(_ends, problem.count, problem.pairs, problem.position)
        x, y, z, most_x, most_y, most_z = ends[0] if len(ends) == 1 else _outermost(ends)
        length = max(most_x - x, most_y - y, most_z - z)
        problem.known["extent"] = min(1.0 + length / (2.0 * problem.mean_radius), float(problem.count))
    return problem.known["extent"]


def loaded_extent(problem: ContactProblem) -> float:
    """L/d of the grains that press on each other: a box that is filled evenly has it, and as wide a spread of contacts.

    Single grains that fall out of a silo, or lie far from a heap, hardly count. That of all candidates as long as no
    force is carried over.
    """
    what = problem.pairs, problem.position, problem.forces
    *sums, count = total(spread(_moments, problem.count, *what))
    if count < 2:
        return extent_of(problem)
    x, y, z, x_x, y_y, z_z = sums
    width = max(0.0, x_x - x * x / count, y_y - y * y / count, z_z - z * z / count) / count
    return min(1.0 + math.sqrt(12.0 * width) / (2.0 * problem.mean_radius), float(count))


def _outermost(ends: list[tuple[float, ...]]) -> tuple[float, ...]:
    """The least of the first three numbers of all parts, and the largest of the others."""
    columns = list(zip(*ends))
    return *map(min, columns[:3]), *map(max, columns[3:])


@kernel
def _ends(begin, end, pairs, position):
    """The least and the largest coordinates of bodies 0 of some contacts (m)."""
    i = pairs[begin, 0]
    x, y, z = position[i, X], position[i, Y], position[i, Z]
    most_x, most_y, most_z = x, y, z
    for c in range(begin, end):
        i = pairs[c, 0]
        x, y, z = min(x, position[i, X]), min(y, position[i, Y]), min(z, position[i, Z])
        most_x, most_y = max(most_x, position[i, X]), max(most_y, position[i, Y])
        most_z = max(most_z, position[i, Z])
    return x, y, z, most_x, most_y, most_z


@kernel
def _moments(begin, end, pairs, position, forces):
    """Sums of coordinates, from those of the first contact of all, and of their squares over contacts that press."""
    first = position[pairs[0, 0]]
    x, y, z, x_x, y_y, z_z, count = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0
    for c in range(begin, end):
        if forces[c, R_N] > 0.0:
            i = pairs[c, 0]
            a, b, d = position[i, X] - first[X], position[i, Y] - first[Y], position[i, Z] - first[Z]
            x, y, z = x + a, y + b, z + d
            x_x, y_y, z_z = x_x + a * a, y_y + b * b, z_z + d * d
            count += 1
    return x, y, z, x_x, y_y, z_z, count
