"""The residual once more, from the forces alone: plain numpy that shares nothing with the solvers.

Velocities are made afresh from the free ones and the forces, masses from the bodies.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

from ..contacts.problem import ContactProblem
from ..fclib import GlobalProblem, LocalProblem
from ..model.columns import (
    ALL,
    BRANCH,
    INV_M,
    INV_M_ALL,
    INV_MASS,
    INV_SPIN,
    MOBILITY,
    MOVING,
    MU,
    R_N,
    R_T,
    TO_CLOSE,
    L,
    N,
    S,
    V,
)  # fmt: skip
from ..model.turning import by_turning, lever_matrices

Array = NDArray[np.float64]

NORMAL, TANGENTIAL = 0, slice(1, None)  # columns in the frame of each contact


@np.errstate(all="ignore")
def check_step(problem: ContactProblem, forces: Array) -> float:
    """The residual of forces (c, 4) for a problem with free velocities: sqrt(sum |R - R'|^2) over sqrt(sum |R|^2)."""
    if not np.isfinite(forces).all():
        return math.inf
    i, j = problem.pairs.astype(np.int64).T
    n, gap, mu = problem.geometry[:, N], problem.geometry[:, TO_CLOSE], problem.geometry[:, MU]
    v, s = problem.motion[:, V].copy(), problem.motion[:, S].copy()
    per_mass, per_spin = problem.motion[:, INV_MASS], problem.motion[:, INV_SPIN]
    impulse = problem.dt * (forces[:, R_N, None] * n + forces[:, R_T])
    twist = [-np.cross(n, impulse)] * 2
    if problem.levers is not None:
        levers = lever_matrices(problem.levers)
        twist = [sign * np.einsum("cab,ca->cb", levers[:, side], impulse) for side, sign in ((0, -1.0), (1, 1.0))]
    for body, sign, turn in ((i, -1.0, twist[0]), (j, 1.0, twist[1])):
        np.add.at(v, body, sign * per_mass[body, None] * impulse)
        np.add.at(s, body, per_spin[body, None] * turn)
    velocity = v[j] - v[i]  # Eq. (contact-veloc)
    if problem.levers is None:
        velocity = velocity - np.cross(s[i] + s[j], n)
    else:
        velocity = velocity + by_turning(problem.levers, s[i], s[j])
    mobility = per_mass[i] + per_mass[j]
    if problem.branch is not None:
        reach, flow = problem.branch[:, [BRANCH]] * n, problem.flow
        moment = impulse.T @ (problem.branch[:, [MOVING]] * n)
        rate = flow[:, L] + flow[:, INV_M] * moment + np.diag(flow[:, ALL] * (flow[:, INV_M_ALL] @ np.diag(moment)))
        velocity += reach @ rate.T
        mobility = mobility + flow[:, MOBILITY].max() * problem.branch[:, MOVING] ** 2
    v_n = np.einsum("ck,ck->c", velocity, n)
    v_t = velocity - v_n[:, None] * n
    m_n, m_t = 1.0 / mobility, 1.0 / (mobility + per_spin[i] + per_spin[j])  # Eqs. (m-n), (m-t)
    if problem.levers is not None:
        m_n, m_t = (
            problem.normal_mass,
            problem.tangential_mass,
        )  # any will do: forces that hold are asked for as they are
    asked_n = np.maximum(0.0, forces[:, R_N] - m_n / problem.dt * (v_n + gap / problem.dt))
    asked_t = forces[:, R_T] - (m_t / problem.dt)[:, None] * v_t
    pressed = asked_n > 0.0
    limit = np.where(pressed, np.where(pressed, asked_n, 1.0) * mu, 0.0)
    size = np.linalg.norm(asked_t, axis=1)
    asked_t *= np.where(size > limit, limit / np.where(size > 0.0, size, 1.0), 1.0)[:, None]
    miss = math.hypot(np.linalg.norm(forces[:, R_N] - asked_n), np.linalg.norm(forces[:, R_T] - asked_t))
    total = float(np.linalg.norm(forces))
    if total == 0.0:
        return 1.0 if miss > 0.0 else 0.0
    return miss / total if math.isfinite(miss / total) else math.inf


def check_matrix(problem: LocalProblem | GlobalProblem, r: Array) -> float:
    """FCLIB's residual of impulses (d c,), as it is defined and with r in units of velocity; the larger of both."""
    if not np.isfinite(r).all():
        return math.inf
    d, mu, local = problem.dimension, problem.mu, problem.local()
    q, mobility = local.q, float(local.W.diagonal()[::d].mean())
    if isinstance(problem, LocalProblem):
        u = problem.W @ r + q
    else:
        v = splu(sparse.csc_matrix(problem.M)).solve(problem.H @ r + problem.f)
        u = problem.H.T @ v + problem.w
    u, r = u.reshape(-1, d), r.reshape(-1, d)
    shifted = u.copy()
    shifted[:, NORMAL] += mu * np.linalg.norm(u[:, TANGENTIAL], axis=1)  # De Saxce
    scale = float(np.linalg.norm(q)) or 1.0
    misses = (np.linalg.norm(unit * r - _onto_cone(unit * r - shifted, mu)) for unit in (1.0, mobility))
    return float(max(misses)) / scale


def _onto_cone(x: Array, mu: Array) -> Array:
    """The nearest points with |x_t| <= mu x_n."""
    x_n, x_t = x[:, NORMAL], np.linalg.norm(x[:, TANGENTIAL], axis=1)
    along = (x_n + mu * x_t) / (1.0 + mu**2)
    direction = x[:, TANGENTIAL] / np.where(x_t > 0.0, x_t, 1.0)[:, None]
    side = np.column_stack([along, (mu * along)[:, None] * direction])
    inside, below = x_t <= mu * x_n, mu * x_t <= -x_n
    return np.where(inside[:, None], x, np.where(below[:, None], 0.0, side))
