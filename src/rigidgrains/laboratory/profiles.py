"""Performance profiles after Dolan and More: which share of the problems a solver solves at which cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def profiles(costs: Mapping[str, Sequence[float]]) -> dict[str, Array]:
    """For each solver its costs over the least of any solver, in ascending order; inf where it did not converge.

    costs : for each solver one cost per problem, the same problems for all, inf where it did not converge
    The share of problems that a solver has solved within tau times the least cost is the number of its ratios <= tau
    over that of the problems.
    """
    table = np.array(list(costs.values()), dtype=float)
    least = table.min(axis=0)
    ratios = np.full_like(table, np.inf)
    solved = np.isfinite(table)
    np.divide(table, np.where(least > 0.0, least, 1.0), out=ratios, where=solved)
    return {name: np.sort(np.maximum(row, 1.0)) for name, row in zip(costs, ratios)}


def share_within(ratios: Array, tau: float) -> float:
    """The share of problems solved within tau times the least cost."""
    return float((ratios <= tau).mean())
