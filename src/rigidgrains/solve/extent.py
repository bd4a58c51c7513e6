"""L/d: how many grains a load has to cross."""

from __future__ import annotations

from ..contacts.problem import ContactProblem
from ..model.columns import X, Y, Z
from ..runtime.compiled import kernel


def extent_of(problem: ContactProblem) -> float:
    """L/d of the grains that have candidates."""
    length, d = _extent(problem.pairs, problem.position), 2.0 * float(problem.radius.mean())
    return min(1.0 + float(length) / d, float(problem.count))


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
