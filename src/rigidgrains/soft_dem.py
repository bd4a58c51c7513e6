"""Soft DEM, the soft counterpart: grains that overlap on linear springs and dashpots, as in molecular dynamics.

The rooms are those of contact dynamics (neighbours, contacts, move); only the force is different. It is a function of
gap and velocity, Eq. (lin-spring), evaluated once per step, so the step must be small against the shortest oscillation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .contacts.contacts import Contacts
from .detect.candidates import find_candidates
from .detect.neighbours import Neighbours
from .laws.contact import contact_velocity
from .model.bodies import Bodies
from .model.columns import GAP, MU, N_X, N_Y, N_Z, R_N, R_X, R_Y, R_Z, N
from .model.materials import check_tables
from .model.vectors import difference
from .runtime.compiled import kernel
from .simulation import integrate
from .solve.kernels.factory import apply_forces

Array = NDArray[np.float64]


class SoftDEM:
    """Disks or spheres whose contacts are linear springs and dashpots, with friction.

    dt         : s, below about min(sqrt(m/stiffness), m/(2 viscosity)) for a chain; fewer for more contacts per grain
    stiffness  : kappa, N/m, between two grains
    viscosity  : gamma, N s/m, between two grains
    tangential : tangential spring and dashpot over the normal ones
    wall       : spring and dashpot against a wall over those between grains; 2 makes the wall a mirror, as in a chain
                 of contact dynamics, where the grain at the wall meets half a contact of twice the stiffness
    bonded     : keep the contacts of the first step for good, in both directions, as Eq. (lin-spring) does; without
                 friction. Otherwise contacts act while they overlap and never pull.
    """

    def __init__(
        self, bodies: Bodies, *, dt: float, stiffness: float, viscosity: float = 0.0, tangential: float = 2.0 / 7.0,
        wall: float = 1.0, bonded: bool = False,
    ) -> None:  # fmt: skip
        if not (0.0 < dt < math.inf and 0.0 < stiffness < math.inf):
            raise ValueError(f"dt = {dt} and stiffness = {stiffness} must be positive and finite; choose both so")
        if viscosity < 0.0 or tangential < 0.0 or wall <= 0.0:
            raise ValueError(f"viscosity {viscosity}, tangential {tangential} or wall {wall} is negative; give more")
        if bodies.laws:
            raise ValueError(f"soft DEM knows plain friction, not {type(bodies.laws[0]).__name__}; use a Simulation")
        if bodies.cell is not None:
            raise ValueError("soft DEM knows no periodic cell; use a Simulation")
        if bodies.events is not None or bodies.scheduled:
            raise ValueError("soft DEM knows no walls or grains that come and go; use a Simulation")
        self.bodies, self.dt = bodies, dt
        self.stiffness, self.viscosity = stiffness, viscosity
        self.tangential, self.wall, self.bonded = tangential, wall, bonded
        self.neighbours, self.contacts = Neighbours(), Contacts()
        self.steps = 0
        self.updates = 0  # contact forces computed so far

    @property
    def time(self) -> float:
        """s, the present time."""
        return self.steps * self.dt

    def step(self) -> None:
        """Advance by dt: leap-frog, so that velocities belong to the middle of a step.

        1. Contacts: gaps, normals and tangential springs at the present positions.
        2. Forces: a function of the gap and of the velocity half a step earlier.
        3. Velocities: external forces, walls, contact forces.
        4. Move: positions and orientations.
        """
        bodies, contacts, dt = self.bodies, self.contacts, self.dt
        check_tables(bodies)
        if self.bonded and self.steps:
            self._stretch()
        else:
            self.neighbours.refresh(bodies, dt)
            contacts.gather(bodies, self.neighbours, find_candidates(bodies, self.neighbours, dt), dt, gap="g")
        forces = np.empty_like(contacts.forces)
        spring_forces(
            contacts.pairs, contacts.geometry, bodies.motion, contacts.forces, forces, bodies.count, dt,
            self.stiffness, self.viscosity, self.tangential, self.wall, -math.inf if self.bonded else 0.0,
        )  # fmt: skip
        integrate.free_velocity(bodies, self.time, dt)
        apply_forces(replace(contacts.problem(bodies, dt), forces=forces))
        integrate.move(bodies, dt)
        self.steps += 1
        self.updates += contacts.count

    def run(self, steps: int, look: Callable[[SoftDEM], Any] | None = None, *, every: int = 1) -> SoftDEM:
        """So many steps; `look` is called after every few of them."""
        for _ in range(steps):
            self.step()
            if look is not None and self.steps % every == 0:
                look(self)
        return self

    def _stretch(self) -> None:
        """New gaps and normals of the bonds."""
        bodies, contacts = self.bodies, self.contacts
        measure_pairs(contacts.pairs, bodies.position, bodies.radius, contacts.geometry)
        for wall, rows in zip(bodies.walls, contacts.wall_rows):
            grains = np.ascontiguousarray(contacts.pairs[rows, 0])
            gap, normal = wall.shape.gaps(grains, bodies.position, bodies.radius)
            contacts.geometry[rows, N], contacts.geometry[rows, GAP] = normal, gap


@kernel
def spring_forces(pairs, geometry, motion, springs, forces, grains, dt, kappa, gamma, tangential, wall, least):
    """Contact forces (c, 4) from gaps and velocities; `springs` (c, 4) holds R_n and the tangential springs.

    least : smallest normal force; 0 forbids pulling, -inf makes bonds
    """
    for c in range(len(pairs)):
        i, j, g = pairs[c, 0], pairs[c, 1], geometry[c, GAP]
        if g >= 0.0 and least == 0.0:
            springs[c, :] = 0.0
            forces[c, :] = 0.0
            continue
        n_x, n_y, n_z, mu = geometry[c, N_X], geometry[c, N_Y], geometry[c, N_Z], geometry[c, MU]
        v_n, v_x, v_y, v_z = contact_velocity(i, j, motion, n_x, n_y, n_z)
        stiff = wall if j >= grains else 1.0
        r_n = max(-stiff * (kappa * g + gamma * v_n), least)  # Eq. (lin-spring)
        stiff *= tangential
        a = stiff * kappa * dt  # the spring is stretched by the sliding of this step
        x, y, z = springs[c, R_X] - a * v_x, springs[c, R_Y] - a * v_y, springs[c, R_Z] - a * v_z
        b = stiff * gamma
        r_x, r_y, r_z = x - b * v_x, y - b * v_y, z - b * v_z
        r_t, limit = math.sqrt(r_x * r_x + r_y * r_y + r_z * r_z), mu * max(r_n, 0.0)
        if r_t > limit:  # sliding: the spring is let out to what friction can hold
            r_x, r_y, r_z = r_x * (limit / r_t), r_y * (limit / r_t), r_z * (limit / r_t)
            x, y, z = r_x, r_y, r_z
        springs[c, R_N], springs[c, R_X], springs[c, R_Y], springs[c, R_Z] = r_n, x, y, z
        forces[c, R_N], forces[c, R_X], forces[c, R_Y], forces[c, R_Z] = r_n, r_x, r_y, r_z


@kernel
def measure_pairs(pairs, position, radius, geometry):
    """Gap and normal of the rows whose bodies are both grains."""
    for c in range(len(pairs)):
        i, j = pairs[c, 0], pairs[c, 1]
        if j >= radius.size:
            continue
        x, y, z = difference(position, j, position, i)
        distance = math.sqrt(x * x + y * y + z * z)
        geometry[c, N_X], geometry[c, N_Y], geometry[c, N_Z] = x / distance, y / distance, z / distance
        geometry[c, GAP] = distance - radius[i] - radius[j]
