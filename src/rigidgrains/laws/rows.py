"""What a law sees of the contacts of a step, and may change."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..model.bodies import Bodies
from ..model.columns import (
    BRANCH,
    N_X,
    N_Y,
    N_Z,
    S_X,
    S_Y,
    S_Z,
    U_T,
    V_X,
    V_Y,
    V_Z,
    Column,
    ContactColumns,
    N,
    S,
    V,
    X,
    Y,
    Z,
)  # fmt: skip
from ..model.law import Law
from ..model.turning import by_turning
from ..runtime.compiled import kernel
from .attraction import attract, contract

Array = NDArray[np.float64]

SLIDES = 1.0 - 1e-9  # of mu R_n: a tangential force from which a contact slides


@dataclass
class Rows(ContactColumns):
    """The contacts of a step, as laws see and change them before the solve, and see them after it.

    Named columns are read as views and written in place: `rows.friction`, `rows.to_close`, `rows.gap`, `rows.normal`
    and the others of ContactColumns, and those below where a law is extended.

    bodies   : the bodies of the simulation: radii, masses, materials, walls
    motion   : (bodies, 8) free velocities before the solve, the new ones after it; see Bodies
    before   : (bodies, 8) velocities at the beginning of the step; driven walls with those of the step
    pairs    : (c, 2) bodies 0 and 1, as rows of `motion`; body 0 is always a grain
    geometry, forces : the tables behind the named columns, see ContactProblem
    body     : (c,) wall or grain that body 1 belongs to: grains, then walls
    memory   : (c, k) what the laws remember of each contact from the step before; 0 for a new one
    dt       : s, the time step
    extra    : (c, 14) see model/columns.py; None where no law is extended
    branch   : (c, 2) m, in a cell that deforms, see model/deforming.py; else None
    levers   : (c, 8) or (c, 24) of grains of any shape, see model/columns.py; else None
    attraction : (c,) N, by which R_n may be negative, already given to the motion; None where no law attracts
    """

    shares = Column("extra", slice(3, 5), "(c, 2) lever/r of both bodies, 0 for walls.")
    turning_mass = Column("extra", 5, "(c,) kg, m_r, that rolling and twisting meet.")
    rolling_limit = Column("extra", 6, "(c,) mu_r over the lever.")
    twisting_limit = Column("extra", 7, "(c,) mu_t over the lever.")
    wall_spin = Column("extra", slice(8, 11), "(c, 3) m/s, lever times the spin of a wall.")
    lever = Column("extra", 11, "(c,) m, 1/(1/r_0 + 1/r_1).")

    bodies: Bodies
    motion: Array
    before: Array
    pairs: NDArray[np.int32]
    geometry: Array
    forces: Array
    body: NDArray[np.int64]
    memory: Array
    dt: float
    extra: Array | None = None
    attraction: Array | None = None
    branch: Array | None = None
    levers: Array | None = None

    @property
    def normal_force(self) -> Array:
        """(c,) N, R_n, negative where a contact pulls; a copy."""
        return self.repulsion - (0.0 if self.attraction is None else self.attraction)

    @property
    def rebound(self) -> Array:
        """(c, 3) m/s, the tangential velocity that a contact that sticks has to reach, 0 if nothing asks; a copy."""
        return np.zeros((len(self.pairs), 3)) if self.extra is None else -self.extra[:, U_T]

    @rebound.setter
    def rebound(self, velocity: Array) -> None:
        if self.extra is None:
            raise AttributeError("no rebound: no law of these contacts says extended = True; say so in yours")
        self.extra[:, U_T] = -velocity

    def attract(self, pull: Array) -> None:
        """Let both bodies of each contact pull at each other (c,) (N), on top of what other laws do."""
        if self.attraction is None:
            raise AttributeError("no attraction: no law of these contacts says attracts = True; say so in yours")
        self.attraction += pull
        attract(self.motion, self.pairs, self.geometry, pull, self.dt)
        if self.branch is not None:
            contract(self.bodies.flow, self.geometry, self.branch, pull, self.dt)

    def of_pair(self, table: Array) -> Array:
        """(c,) the coefficient of each contact in a table (k, k) over materials."""
        if table.size == 1:
            return np.full(len(self.pairs), table.flat[0])
        return np.asarray(table[self.materials[:, 0], self.materials[:, 1]])

    @cached_property
    def materials(self) -> NDArray[np.int64]:
        """(c, 2) material of both bodies."""
        rows = np.append(self.bodies.material, [wall.material for wall in self.bodies.walls]).astype(np.int64)
        return np.stack([rows[self.pairs[:, 0]], rows[self.body]], axis=1)

    @cached_property
    def velocity_before(self) -> tuple[Array, Array]:
        """V_n (c,) and V_t (c, 3) at the beginning of the step, Eq. (contact-veloc)."""
        return self.contact_velocity(self.before)

    def contact_velocity(self, motion: Array) -> tuple[Array, Array]:
        """V_n (c,) and V_t (c, 3) by motion rows (bodies, 8)."""
        n = self.normal
        if self.levers is None:
            v = np.empty((len(self.pairs), 3))
            _surface_velocities(self.pairs, motion, self.geometry, v)
        else:
            one, other = motion[self.pairs[:, 0]], motion[self.pairs[:, 1]]
            v = other[:, V] - one[:, V] + by_turning(self.levers, one[:, S], other[:, S])
        if self.branch is not None:
            v += self._carried(motion)
        v_n = (v * n).sum(axis=1)
        return v_n, v - v_n[:, None] * n

    @property
    def drift(self) -> Array:
        """(c, 3) m/s, what a cell that deforms adds to contact velocities at the beginning of the step."""
        return np.zeros((len(self.pairs), 3)) if self.branch is None else self._carried(self.before)

    def _carried(self, motion: Array) -> Array:
        """(c, 3) m/s, L times the branch."""
        assert self.branch is not None
        rate = motion[self.bodies.rows - 3 : self.bodies.rows, V]
        return np.asarray(self.branch[:, [BRANCH]] * (self.geometry[:, N] @ rate.T))

    @property
    def sliding(self) -> NDArray[np.bool_]:
        """(c,) True where the force found is that of a sliding contact."""
        r_n, mu = self.repulsion, self.friction
        limit = np.where(r_n > 0.0, SLIDES * mu * np.where(r_n > 0.0, r_n, 1.0), np.inf)
        return np.asarray((self.tangential_force**2).sum(axis=1) >= limit**2)


@kernel
def _surface_velocities(pairs, motion, geometry, v):
    """V of contacts of disks and spheres, v_1 - v_0 - (s_0 + s_1) x n, Eq. (contact-veloc)."""
    for c in range(len(pairs)):
        i, j = pairs[c, 0], pairs[c, 1]
        x, y, z = motion[i, S_X] + motion[j, S_X], motion[i, S_Y] + motion[j, S_Y], motion[i, S_Z] + motion[j, S_Z]
        n_x, n_y, n_z = geometry[c, N_X], geometry[c, N_Y], geometry[c, N_Z]
        v[c, X] = motion[j, V_X] - motion[i, V_X] - (y * n_z - z * n_y)
        v[c, Y] = motion[j, V_Y] - motion[i, V_Y] - (z * n_x - x * n_z)
        v[c, Z] = motion[j, V_Z] - motion[i, V_Z] - (x * n_y - y * n_x)


def check_rows(rows: Rows, name: str) -> None:
    """Raise if a law has written what the shock law cannot read."""
    tiny, huge, kept = np.finfo(float).tiny, np.finfo(float).max, "leave the masses as they are"
    for column, low, high, remedy in (
        ("friction", 0.0, np.inf, "write a number of at least 0, or inf"),
        ("to_close", -huge, huge, "write a finite gap (m)"),
        ("normal_mass", tiny, huge, kept),
        ("tangential_mass", tiny, huge, kept),
    ):
        values = getattr(rows, column)
        good = (values >= low) & (values <= high)
        if not good.all():
            bad = int(np.flatnonzero(~good)[0])
            raise ValueError(f"law {name} wrote {column} = {values[bad]:g} into contact {bad}; {remedy}")


def arrange(laws: list[Law]) -> int:
    """Give each law its columns of memory; returns how many there are."""
    width = 0
    for law in laws:
        law.at, width = width, width + law.memory
    return width


def need(name: str, table: Array, least: float, most: float) -> None:
    """Raise if a coefficient is out of its range."""
    bad = table[~((table >= least) & (table <= most))]
    if bad.size:
        raise ValueError(f"{name} = {bad[0]:g} is out of range; give a number from {least:g} to {most:g}")
