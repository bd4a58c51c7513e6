"""The chain written out: contact dynamics of disks in a row in thirty lines, a second opinion beside the engine.

It shares no code with it: contacts in a row need no search, no rotation and no friction, and Eq. (1d-update) with the
gap, R_i := max(0, R_i - m_i (V_i + max(g_i, 0)/dt)/dt), is all. Units d = m = dt = 1. Contact 0 is that with the wall.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiled import allocating

Array = NDArray[np.float64]

MOST = 2000  # sweeps in a step


@dataclass(frozen=True)
class WrittenOut:
    """What a chain did.

    place   : (steps,) way of the last disk, away from the wall
    sweeps  : (steps,) N_I
    gap     : (steps, n) of each contact after each step
    """

    place: Array
    sweeps: NDArray[np.int64]
    gap: Array


def written_out(
    disks: int, force: Array, seed: int, *, sweeps: int = 0, epsilon: float = 0.0, first: float = 0.0
) -> WrittenOut:
    """Push the last disk of a chain towards the wall with a force (steps,).

    sweeps  : in every step; else, with `epsilon`, by the local criterion, Eq. (localcrit), with delta = epsilon <|R|>
    first   : gap between wall and chain at the beginning
    """
    rng = np.random.default_rng(seed)
    return WrittenOut(*_follow(disks, np.asarray(force, dtype=np.float64), rng, sweeps, epsilon, first))


@allocating
def _follow(n, force, rng, sweeps, epsilon, first):
    """Step by step: forces of the last step are applied, swept over in random order, and the disks move."""
    steps = len(force)
    v, r, gap = np.zeros(n), np.zeros(n), np.zeros(n)
    gap[0] = first
    place, used, gaps = np.zeros(steps), np.zeros(steps, np.int64), np.zeros((steps, n))
    order, way = np.arange(n), 0.0
    for step in range(steps):
        v[n - 1] -= force[step]
        for i in range(n):
            v[i] += r[i] - (r[i + 1] if i + 1 < n else 0.0)
        count, settled = 0, False
        while not settled and count < MOST:
            count, unsettled = count + 1, 0
            delta = epsilon * r.mean()
            rng.shuffle(order)
            for i in order:
                approach = v[i] - (v[i - 1] if i > 0 else 0.0) + max(gap[i], 0.0)
                new = max(0.0, r[i] - (0.5 if i > 0 else 1.0) * approach)
                change = new - r[i]
                r[i] = new
                v[i] += change
                if i > 0:
                    v[i - 1] -= change
                unsettled += abs(change) > epsilon * new + delta
            settled = count >= sweeps if sweeps > 0 else unsettled == 0
        for i in range(n):
            gap[i] += v[i] - (v[i - 1] if i > 0 else 0.0)
        way += v[n - 1]
        place[step], used[step], gaps[step] = way, count, gap
    return place, used, gaps
