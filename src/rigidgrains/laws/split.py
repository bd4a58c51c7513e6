"""The shock law at a contact with levers, where a normal impulse moves V_t as well: normal force first, then friction.

For grains of any shape w = M_c^-1 couples n and t. The split law takes R_n from w_nn alone, cut at 0, moves V_t by what
that changes, and takes R_t with the largest inverse mass along the surface. Where nothing changes any more both steps
hold, and that is Signorini's condition and Coulomb's: the answer is that of `general_shock_law`, only the way differs.
A sliding contact comes closer to it by mu |w_nt|/w_nn each time, so strong couplings take the general law.
"""

from __future__ import annotations

from math import sqrt

from ..model.columns import M_N, M_T, MU, TO_CLOSE
from ..runtime.compiled import inlined, inside
from ..runtime.simd import choose
from .contact import associated, shock
from .shock import general_shock_law

COUPLED = 0.5  # mu |w_nt|/w_nn from which on a contact takes the general law
GLUED = 1e6  # stands for an infinite coefficient in the general law, whose rounding it multiplies

general = inside(general_shock_law)


@inlined
def split_force(old, v, contact, moved, rate, opens):
    """R_n and R_t (3) that the split law asks for.

    moved : (3) m_t times V_t that a unit impulse along n adds
    opens : whether the contact opens as it slides. Then R is the point of the cone next to R - m V/dt, which with half
            of the masses comes closer each time, however strong the coupling
    """
    if opens:
        a, b = 0.5 * contact[M_N] * rate, 0.5 * contact[M_T] * rate
        r_n = old[0] - a * (v[0] + contact[TO_CLOSE] * rate)
        r_x, r_y, r_z = old[1] - b * v[1], old[2] - b * v[2], old[3] - b * v[3]
        r_tt = r_x * r_x + r_y * r_y + r_z * r_z
        r_n = associated(r_n, r_tt, contact[MU], contact[M_N] / contact[M_T])
        r_n, factor = shock(r_n, r_tt, contact[MU])
        return r_n, factor * r_x, factor * r_y, factor * r_z
    # Each number waits for the one before, so the way is kept short: the change of R_n, what it does to R_t, and
    # nothing in front of the root. Written so that what is not a number stays none.
    step = contact[M_N] * rate * (v[0] + contact[TO_CLOSE] * rate)
    step = choose(step > old[0], old[0], step)
    r_n, b = old[0] - step, contact[M_T] * rate
    r_x = (old[1] - b * v[1]) + step * moved[0]
    r_y = (old[2] - b * v[2]) + step * moved[1]
    r_z = (old[3] - b * v[3]) + step * moved[2]
    r_tt = r_x * r_x + r_y * r_y + r_z * r_z
    limit = choose(r_n <= 0.0, 0.0, contact[MU] * r_n)
    factor = choose(r_tt > limit * limit, limit / sqrt(r_tt), 1.0)
    return r_n, factor * r_x, factor * r_y, factor * r_z


@inside
def tangents(n_x, n_y, n_z):
    """Two unit vectors across n, at right angles to each other; in 2D the first lies in the plane."""
    if abs(n_z) < 0.9:
        size = 1.0 / sqrt(n_x * n_x + n_y * n_y)
        t_x, t_y, t_z = -n_y * size, n_x * size, 0.0
    else:
        size = 1.0 / sqrt(n_y * n_y + n_z * n_z)
        t_x, t_y, t_z = 0.0, -n_z * size, n_y * size
    return t_x, t_y, t_z, n_y * t_z - n_z * t_y, n_z * t_x - n_x * t_z, n_x * t_y - n_y * t_x
