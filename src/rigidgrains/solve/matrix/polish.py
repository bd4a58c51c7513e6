"""Polish: semismooth Newton steps that take a nearly solved problem to rounding.

Each contact is open, sticking or sliding as its force r - u/w_nn says (Alart and Curnier). Where contacts are many,
forces are not unique: a small multiple of w_nn holds them near where they are, without moving the solution.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .interior import TINY, System

Array = NDArray[np.float64]

STEPS, GENTLE, FIRM = 12, 1e-9, 1e-1


def polish(
    system: System, q: Array, mu: Array, mobility: Array, r: Array, residual: Callable[[Array], float], goal: float
) -> tuple[Array, float, int]:
    """The best impulses found, their residual and the number of steps.

    mobility : (c,) w_nn
    """
    best, least, hold = r, residual(r), GENTLE
    current, value = best, least
    for step in range(STEPS):
        if least <= goal or hold > FIRM:
            return best, least, step
        change = newton_step(system, q, mu, mobility, current, hold)
        if change is None:
            return best, least, step
        trial = into_cone(current + change, mu)
        value = residual(trial)
        if not np.isfinite(value):
            return best, least, step + 1
        if value < least:
            best, least = trial, value
            hold = max(0.1 * hold, GENTLE)
        elif value > 1e4 * least:
            trial, hold = best, 100.0 * hold
        current = trial
    return best, least, STEPS


def newton_step(system: System, q: Array, mu: Array, mobility: Array, r: Array, hold: float) -> Array | None:
    """dr (c, 3), or None when the matrix is singular.

    In units of 1/sqrt(w_nn) for impulses and sqrt(w_nn) for velocities, where light and heavy bodies are alike.
    """
    scale = np.repeat(1.0 / np.sqrt(mobility)[:, None], 3, axis=1)
    u, r = scale * (system.times(r) + q), r / scale
    z = r - u
    length, limit = np.linalg.norm(z[:, 1:], axis=1), mu * np.maximum(z[:, 0], 0.0)
    closed = z[:, 0] > 0.0
    sliding = closed & ((length > limit) | (mu == 0.0))
    sticking = closed & ~sliding
    gap, left, right = r.copy(), np.tile(np.eye(3), (len(r), 1, 1)), np.zeros((len(r), 3, 3))  # open: r = 0
    gap[closed, 0], left[closed, 0, 0], right[closed, 0, 0] = u[closed, 0], 0.0, 1.0  # u_n = 0
    gap[sticking, 1:], left[sticking, 1:] = u[sticking, 1:], 0.0  # u_t = 0
    right[sticking, 1, 1] = right[sticking, 2, 2] = 1.0
    # r_t = limit t with t along z_t
    k = sliding
    t = z[k, 1:] / np.maximum(length[k], TINY)[:, None]
    turn = (limit[k] / np.maximum(length[k], TINY))[:, None, None] * (np.eye(2) - t[:, :, None] * t[:, None, :])
    gap[k, 1:] = r[k, 1:] - limit[k, None] * t
    left[k, 1:, 1:] -= turn
    left[k, 1:, 0] -= mu[k, None] * t
    right[k, 1:, 1:] += turn
    right[k, 1:, 0] += mu[k, None] * t
    try:
        factors = system.factorise(left + hold * right, right, scale)
    except RuntimeError:
        return None
    return scale * factors.solve(-gap)


def into_cone(r: Array, mu: Array) -> Array:
    """No pull, and no more friction than mu r_n."""
    r_n, r_t = np.maximum(r[:, 0], 0.0), np.linalg.norm(r[:, 1:], axis=1)
    share = np.minimum(1.0, mu * r_n / np.maximum(r_t, TINY))
    return np.column_stack([r_n, share[:, None] * r[:, 1:]])
