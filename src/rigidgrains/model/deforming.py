"""A cell that deforms: everything in it follows v = c + L (x - origin), with c the peculiar velocity of each grain.

Motion rows hold c. Then contacts need no images: V = c1 - c0 + L b - (s0 + s1) x n with the branch b = (r0 + r1 + g) n
from centre to centre, whichever image is touched. Newton's law for c and, where a stress is prescribed, for the cell:

    m dc/dt = F - m L c
    M dL/dt = sum R b + sum m c c - Omega P

The first is the equation of Lees and Edwards' shear flow without any face. The second is Andersen's and Parrinello's
idea of a cell with inertia; L is an unknown of the contact problem (Shaebani, Unger, Kertész, Int. J. Mod. Phys. C 20,
847 (2009)). What grains lose by L c the cell gains by m c c, so that energy changes only by contacts and by the work
of P.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiled import kernel
from ..runtime.threads import spread, total
from .bodies import Bodies
from .columns import ALL, INV_M, INV_M_ALL, V_X, V_Y, V_Z, L, X, Y, Z

Array = NDArray[np.float64]

LARGEST = 0.3  # strain in one step that is no flow any more


def free_flow(bodies: Bodies, time: float, dt: float) -> None:
    """L and peculiar velocities at the end of the step without contact forces."""
    cell, rows = bodies.cell, bodies.flow
    assert cell is not None
    cell.prescribe(time, dt)
    gradient = rows[:, L]
    gradient[~cell.free] = cell.rate[~cell.free]
    back = np.asarray(np.linalg.inv(np.eye(3) + dt * gradient), dtype=np.float64)  # implicit: c' = c - dt L c'
    kinetic = _carry(bodies, back) - cell.volume * cell.stress
    gradient += dt * rows[:, INV_M] * kinetic
    gradient[range(3), range(3)] += rows[:, ALL] * dt * float(rows[:, INV_M_ALL] @ np.diag(kinetic))


def deform(bodies: Bodies, dt: float) -> float:
    """Move grains and cell with the flow; returns the largest displacement within it over the radius."""
    cell, strain = bodies.cell, dt * bodies.flow[:, L]
    assert cell is not None
    what = bodies.position, bodies.motion, bodies.radius, dt, strain, cell.origin
    farthest = max(spread(_translate, bodies.count, *what))
    cell.vectors += cell.vectors @ strain.T
    cell.strain += strain
    return float(farthest) + 2.0 * float(np.linalg.norm(strain))


def strain_rate(bodies: Bodies) -> float:
    """1/s, size of L; 0 where nothing flows."""
    return float(np.linalg.norm(bodies.flow[:, L])) if bodies.flows else 0.0


def strain_rates(bodies: Bodies) -> tuple[float, float]:
    """m/s and m/s^2, how fast the flow moves two of the largest grains that touch, and how fast P changes that."""
    cell, rows, apart = bodies.cell, bodies.flow, 2.0 * bodies.radii.most
    assert cell is not None
    gained = cell.volume * np.abs(cell.stress) * np.maximum(rows[:, INV_M], rows[:, INV_M_ALL, None])
    return apart * strain_rate(bodies), apart * float(np.linalg.norm(gained))


def velocities(position: Array, peculiar: Array, flow: Array, origin: Array) -> Array:
    """(n, 3) m/s, v of grains at positions (n, 3) with peculiar velocities (n, 3)."""
    return np.asarray(peculiar + (position - origin) @ flow.T)


def _carry(bodies: Bodies, back: Array) -> Array:
    """Let the flow change the peculiar velocities; returns (3, 3) J, sum of m c c above the diagonal."""
    motion, mass = bodies.motion, bodies.mass
    xx, yy, zz, xy, xz, yz = total(spread(_turn_back, len(mass), motion, mass, back))
    return np.array([[xx, xy, xz], [0.0, yy, yz], [0.0, 0.0, zz]])


@kernel
def _turn_back(first, last, motion, mass, back):
    """c' = back c, upper triangular; sums of m (c + c')_a c'_b / 2, which is exactly what the grains lose to L."""
    xx, yy, zz, xy, xz, yz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(first, last):
        x, y, z = motion[i, V_X], motion[i, V_Y], motion[i, V_Z]
        new_x = back[X, X] * x + back[X, Y] * y + back[X, Z] * z
        new_y = back[Y, Y] * y + back[Y, Z] * z
        new_z = back[Z, Z] * z
        motion[i, V_X], motion[i, V_Y], motion[i, V_Z] = new_x, new_y, new_z
        x, y, z = 0.5 * mass[i] * (x + new_x), 0.5 * mass[i] * (y + new_y), 0.5 * mass[i] * (z + new_z)
        xx += x * new_x
        yy += y * new_y
        zz += z * new_z
        xy += x * new_y
        xz += x * new_z
        yz += y * new_z
    return xx, yy, zz, xy, xz, yz


@kernel
def _translate(first, last, position, motion, radius, dt, strain, origin):
    """Positions by the new v = c + L (x - origin)."""
    farthest = 0.0
    for i in range(first, last):
        x, y, z = motion[i, V_X] * dt, motion[i, V_Y] * dt, motion[i, V_Z] * dt
        farthest = max(farthest, (x * x + y * y + z * z) / (radius[i] * radius[i]))
        a, b, c = position[i, X] - origin[X], position[i, Y] - origin[Y], position[i, Z] - origin[Z]
        # Eq. (dx)
        position[i, X] += x + strain[X, X] * a + strain[X, Y] * b + strain[X, Z] * c
        position[i, Y] += y + strain[Y, Y] * b + strain[Y, Z] * c
        position[i, Z] += z + strain[Z, Z] * c
    return math.sqrt(farthest)
