"""Plain friction between two bodies: point functions for one contact, or for several in lanes."""

from __future__ import annotations

import math

from ...laws import contact as one
from ...model.columns import M_N, MU, N_X, N_Y, N_Z, TO_CLOSE
from ...runtime.compiled import inlined
from ...runtime.prefetch import prefetch
from ...runtime.rows import read_row, write_row
from ...runtime.simd import choose, read_rows


@inlined
def read_extra(extra, c):
    """Nothing beyond the geometry."""
    return ()


@inlined
def read_extras(extra, c):
    """The same of several contacts."""
    return ()


@inlined
def ask_extra(extra, c):
    """Bring that into the cache."""
    prefetch(extra, c)


@inlined
def read_force(table, c):
    """A row of four columns."""
    return read_row(table, c, 4)


@inlined
def write_force(forces, c, new):
    """R_n and R_t (3)."""
    write_row(forces, c, 4, new)


@inlined
def read_forces(forces, c):
    """R_n and R_t (3) of several contacts."""
    return read_rows(forces, c, 4)


@inlined
def velocity(a, b, contact, extra, cell):
    """V_n and V_t (3), Eq. (contact-veloc)."""
    return one.velocity(a, b, contact[N_X], contact[N_Y], contact[N_Z])


@inlined
def push(a, b, contact, extra, p):
    """Both bodies after an impulse p_n n + p_t."""
    return one.push(a, b, contact[N_X], contact[N_Y], contact[N_Z], p[0], p[1], p[2], p[3])


@inlined
def collide(a, b, contact, extra, old, cell, dt, rate, opens):
    """Both bodies and the force after the shock law, from those before; Eq. (generalized-R), the change at once."""
    new = one.shock_force(old, velocity(a, b, contact, extra, cell), contact, rate, opens)
    a, b = push(a, b, contact, extra, impulse(new, old, dt))
    return a, b, new


@inlined
def settle(a, b, contact, extra, old, cell, dt, rate, opens):
    """The same for one contact alone, where several in lanes may have to leave it to this."""
    return collide(a, b, contact, extra, old, cell, dt, rate, opens)


@inlined
def are_strong(extra, sequence, first, number):
    """Whether some of the contacts in turn cannot be taken in lanes."""
    return False


@inlined
def asked(a, b, contact, extra, old, cell, rate):
    """The force that the law asks for, from the present one and the velocities."""
    return one.shock_force(old, velocity(a, b, contact, extra, cell), contact, rate, False)


@inlined
def drag(cell, contact, extra, p):
    """No force moves a cell."""


@inlined
def impulse(new, old, dt):
    """The change of a force times dt."""
    return dt * (new[0] - old[0]), dt * (new[1] - old[1]), dt * (new[2] - old[2]), dt * (new[3] - old[3])


@inlined
def minus(a, b):
    """The difference of two forces."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]


@inlined
def scaled(share, force):
    """A multiple of a force."""
    return share * force[0], share * force[1], share * force[2], share * force[3]


@inlined
def shifted(force, share, by):
    """A force and a share of another one."""
    return (
        force[0] + share * by[0], force[1] + share * by[1], force[2] + share * by[2], force[3] + share * by[3],
    )  # fmt: skip


@inlined
def over_mass(d, s, contact):
    """Products d . s, d . d and s . s of changes of a force over the mass of the contact: kinetic energies."""
    weight = 1.0 / contact[M_N]
    return weight * dot(d, s), weight * dot(d, d), weight * dot(s, s)


@inlined
def dot(a, b):
    """Of two forces."""
    return (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3])


@inlined
def square(r):
    """|R|^2."""
    return r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]


@inlined
def force_power(r, a, b, contact, extra, cell, rate):
    """R_n (V_n + gap/dt), mu R_n |V_t| + R_t . V_t, what slides; and the same of torques, of which there are none."""
    v_n, v_x, v_y, v_z = velocity(a, b, contact, extra, cell)
    friction = bound(contact[MU], r[0]) * math.sqrt(v_x * v_x + v_y * v_y + v_z * v_z)
    sliding = friction + (r[1] * v_x + r[2] * v_y + r[3] * v_z)
    return r[0] * (v_n + contact[TO_CLOSE] * rate), sliding, friction, 0.0, 0.0, 0.0


@inlined
def bound(coefficient, r_n):
    """Coefficient times R_n; an infinite one has no motion and leaves it out."""
    return choose(math.inf > coefficient, coefficient * r_n, 0.0)


@inlined
def larger(a, b):
    """Of two numbers."""
    return choose(a > b, a, b)


@inlined
def smaller(a, b):
    """Of two numbers."""
    return choose(a > b, b, a)


power = force_power
