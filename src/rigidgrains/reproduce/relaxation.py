"""Sweeps over a given network of contacts, written out: what should come of them, a second opinion beside the engine.

It takes from a simulation who touches whom, with which normal and mass, and which contacts stick; the sweeps are its
own, and linear: a small change of load neither opens contacts nor lets more of them slide. One that slides already
keeps |R_t| = mu R_n; in 3D R_t may turn, and across the slip such a contact sticks. Where a step starts from forces of
zero, `least` keeps normal forces from pulling. dt = 1: forces are impulses.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..model.columns import INV_MASS, INV_SPIN, R_N, R_T, X, Y, Z
from ..runtime.compiled import kernel
from ..simulation.simulation import Simulation

Array = NDArray[np.float64]
Index = NDArray[np.int64]

STICKS = 1.0 - 1e-6  # of mu R_n: a tangential force up to which a contact sticks


@dataclass
class Network:
    """Contacts (c,) between bodies (b,), walls after grains, and what sweeps have made of a disturbance so far.

    pairs, normal : (c, 2) bodies, (c, 3) from the first to the second
    sticks, slip  : (c,) whether a contact sticks; (c, 3) R_t/R_n of one that slides
    mobility      : (b, 3) 1/m along each axis, 0 where a body cannot go; turning : (b,) r^2/I
    velocity      : (b, 3) v and spin (b, 3) s = r times the turn; force : (c, 3) changes of the contact forces
    """

    pairs: Index
    normal: Array
    sticks: NDArray[np.bool_]
    slip: Array
    mobility: Array
    turning: Array
    velocity: Array = field(init=False)
    spin: Array = field(init=False)
    force: Array = field(init=False)

    def __post_init__(self) -> None:
        self.velocity, self.spin = np.zeros_like(self.mobility), np.zeros_like(self.mobility)
        self.force = np.zeros_like(self.normal)

    def relax(self, orders: Iterable[Index], least: float = -np.inf) -> None:
        """One sweep in each of these orders; normal forces stay above `least`."""
        for order in orders:
            _sweep(order, self.pairs, self.normal, self.sticks, self.slip, self.mobility, self.turning, self.velocity,
                   self.spin, self.force, least)  # fmt: skip

    def random(self, sweeps: int, seed: int) -> Iterable[Index]:
        """Orders of random sweeps."""
        rng = np.random.default_rng(seed)
        return (rng.permutation(len(self.pairs)) for _ in range(sweeps))

    def momentum(self, axis: int, grains: int) -> Array:
        """(grains,) of each grain along an axis."""
        return np.asarray(self.velocity[:grains, axis] / self.mobility[:grains, axis])


def network_of(simulation: Simulation, some: NDArray[np.bool_] | None = None, piston: int | None = None) -> Network:
    """The contacts of a simulation that carry a force, or the given ones; all walls stand but the piston, by number.

    The piston goes along its normal alone.
    """
    bodies, contacts = simulation.bodies, simulation.contacts
    if some is None:
        some = contacts.forces[:, R_N] > 0.0
    n, normal = bodies.count, contacts.normal[some].copy()
    pressed, along = contacts.forces[some, R_N], contacts.forces[some, R_T]
    limit = contacts.friction[some] * pressed
    size = np.linalg.norm(along, axis=1)
    sticks = size < STICKS * limit
    slides = ~sticks & (limit > 0.0)
    slip = np.zeros_like(normal)
    slip[slides] = along[slides] / pressed[slides, None]
    mobility, turning = np.zeros((len(bodies.motion), 3)), np.zeros(len(bodies.motion))
    mobility[:n], turning[:n] = bodies.motion[:n, INV_MASS, None], bodies.motion[:n, INV_SPIN]
    if piston is not None:
        wall = bodies.walls[piston]
        mobility[n + piston] = wall.normal**2 / wall.mass
    return Network(contacts.pairs[some].astype(np.int64), normal, sticks, slip, mobility, turning)


@kernel
def _sweep(order, pairs, normal, sticks, slip, mobility, turning, v, s, force, least):
    """Each contact in turn gets the impulse that stops it, Eqs. (contact-veloc), (noslipRnew) at g = 0."""
    for c in order:
        i, j = pairs[c]
        nx, ny, nz = normal[c]
        ax, ay, az = s[i, X] + s[j, X], s[i, Y] + s[j, Y], s[i, Z] + s[j, Z]
        vx = v[j, X] - v[i, X] - (ay * nz - az * ny)
        vy = v[j, Y] - v[i, Y] - (az * nx - ax * nz)
        vz = v[j, Z] - v[i, Z] - (ax * ny - ay * nx)
        speed = nx * vx + ny * vy + nz * vz
        inverse, pressed = 0.0, 0.0
        for axis in range(3):
            inverse += normal[c, axis] ** 2 * (mobility[i, axis] + mobility[j, axis])
            pressed += normal[c, axis] * force[c, axis]
        push = max(-speed / inverse, least - pressed)
        # A grain, the first body, moves alike along all axes; a wall does not move along its face.
        inverse = mobility[i, X] + turning[i] + turning[j] + (mobility[j, X] if turning[j] > 0.0 else 0.0)
        tx, ty, tz = (speed * nx - vx) / inverse, (speed * ny - vy) / inverse, (speed * nz - vz) / inverse
        if not sticks[c]:
            lx, ly, lz = slip[c]
            size = lx * lx + ly * ly + lz * lz
            if size > 0.0:  # across the slip, where R_t may turn, it sticks
                along = (tx * lx + ty * ly + tz * lz) / size
                tx, ty, tz = tx - along * lx, ty - along * ly, tz - along * lz
            else:
                tx, ty, tz = 0.0, 0.0, 0.0
            tx, ty, tz = tx + push * lx, ty + push * ly, tz + push * lz
        kick = (push * nx + tx, push * ny + ty, push * nz + tz)
        turn = (ny * tz - nz * ty, nz * tx - nx * tz, nx * ty - ny * tx)
        for axis in range(3):
            force[c, axis] += kick[axis]
            v[i, axis] -= mobility[i, axis] * kick[axis]
            v[j, axis] += mobility[j, axis] * kick[axis]
            s[i, axis] -= turning[i] * turn[axis]
            s[j, axis] -= turning[j] * turn[axis]
