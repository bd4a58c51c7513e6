"""An independent look at a solution: plain arrays, no code shared with the solvers."""

from __future__ import annotations

from typing import Any

import numpy as np

from rigidgrains.contacts.problem import ContactProblem

Array = Any


def certify(free: Array, problem: ContactProblem) -> dict[str, float]:
    """Residual, momentum error and the violation of each law, from the forces and the free velocities (bodies, 8).

    opening, cone : worst breach of V_n + gap/dt >= 0 (m/s) and of |R_t| <= mu R_n (N)
    velocity      : difference of the velocities handed back from those that the forces give (m/s)
    """
    i, j = problem.pairs.T
    n, gap, m_n, m_t, mu = problem.geometry[:, :3], *problem.geometry[:, 3:7].T
    dt, r_n, r_t = problem.dt, problem.forces[:, 0], problem.forces[:, 1:]
    force = r_n[:, None] * n + r_t
    torque = np.cross(n, force)
    motion = free.copy()
    for body, sign in ((i, -1.0), (j, 1.0)):
        np.add.at(motion[:, :3], body, sign * dt * force * motion[body, 6:7])
        np.add.at(motion[:, 3:6], body, -dt * torque * motion[body, 7:8])
    v = motion[j, :3] - motion[i, :3] - np.cross(motion[i, 3:6] + motion[j, 3:6], n)
    v_n = (v * n).sum(axis=1)
    v_t = v - v_n[:, None] * n
    opening = v_n + gap / dt
    asked_n = np.maximum(0.0, r_n - m_n / dt * opening)
    asked_t = r_t - (m_t / dt)[:, None] * v_t
    length = np.linalg.norm(asked_t, axis=1)
    asked_t *= np.minimum(1.0, mu * asked_n / np.maximum(length, 1e-300))[:, None]
    miss = ((r_n - asked_n) ** 2).sum() + ((r_t - asked_t) ** 2).sum()
    terms = np.concatenate([r_n * opening, mu * r_n * np.linalg.norm(v_t, axis=1) + (r_t * v_t).sum(axis=1)])
    net = np.zeros((len(motion), 3))
    np.add.at(net, i, -force)
    np.add.at(net, j, force)
    load = 0.5 * np.linalg.norm(net, axis=1).sum()
    inverse = free[np.unique(problem.pairs), 6]
    mass = (1.0 / inverse[inverse > 0.0]).sum()
    power = max(terms[terms > 0.0].sum(), -terms[terms < 0.0].sum())
    return {
        "residual": float(np.sqrt(miss / (force**2).sum())),
        "momentum_error": float(power * mass / (load**2 * dt)),
        "opening": float(-opening.min(initial=0.0)),
        "cone": float((np.linalg.norm(r_t, axis=1) - mu * r_n).max(initial=0.0)),
        "velocity": float(np.abs(motion[:, :6] - problem.motion[:, :6]).max()),
    }
