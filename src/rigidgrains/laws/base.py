"""What a law sees of the contacts of a step, and what it has to do."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ..bodies import Bodies

Array = NDArray[np.float64]

SLIDES = 1.0 - 1e-9  # of mu R_n: a tangential force from which a contact slides


@dataclass
class Rows:
    """The contacts of a step, as laws see and change them before the solve, and see them after it.

    motion   : (bodies, 8) free velocities before the solve
    before   : (bodies, 8) velocities at the beginning of the step; driven walls with those of the step
    pairs, geometry, forces : see ContactProblem
    body     : (c,) wall or grain that body 1 belongs to
    memory   : (c, k) what the laws remember of each contact from the step before; 0 for a new one
    extra    : (c, 14) see solve/extended.py; None where no law needs them
    branch   : (c, 2) m, in a cell that deforms, see solve/flowing.py; else None
    attraction : (c,) N, by which R_n may be negative, already given to the motion; None where no law attracts
    """

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
        one, other, n = motion[self.pairs[:, 0]], motion[self.pairs[:, 1]], self.geometry[:, 0:3]
        v = other[:, 0:3] - one[:, 0:3] - np.cross(one[:, 3:6] + other[:, 3:6], n)
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
        rate = motion[self.bodies.rows - 3 : self.bodies.rows, 0:3]
        return np.asarray(self.branch[:, 0:1] * (self.geometry[:, 0:3] @ rate.T))

    @property
    def sliding(self) -> NDArray[np.bool_]:
        """(c,) True where the force found is that of a sliding contact."""
        r_n, mu = self.forces[:, 0], self.geometry[:, 6]
        limit = np.where(r_n > 0.0, SLIDES * mu * np.where(r_n > 0.0, r_n, 1.0), np.inf)
        return np.asarray((self.forces[:, 1:4] ** 2).sum(axis=1) >= limit**2)


class Ledger(NamedTuple):
    """Energies of a step (J), for laws that keep books.

    lost    : beyond the law, by the length of the step
    taken   : by contacts, all in all
    kinetic : at its beginning
    """

    lost: float = 0.0
    taken: float = 0.0
    kinetic: float = 0.0


@dataclass
class Law:
    """Base: a law changes the contact rows before the solve, and may remember something of each contact after it.

    Fields that are arrays are tables (k, k) over materials; a number stands for all of them.
    memory   : columns of memory that it needs; at : the first of them, set by whoever holds the laws
    storable : False for a law that a file cannot hold, for instance a function
    extended : True if it needs the extra columns of solve/extended.py
    attracts : True if it pulls bodies together; reach : m, up to which gap it does
    ledger   : energies of the last step, if it keeps books
    """

    memory = 0
    at = 0
    storable = True
    extended = False
    attracts = False
    reach = 0.0
    ledger = Ledger()

    def __post_init__(self) -> None:
        for name, table in self.tables().items():
            setattr(self, name, np.array(table, dtype=float, ndmin=2))
        self.check()

    def tables(self) -> dict[str, Any]:
        """Its coefficients by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def check(self) -> None:
        """Raise ValueError for coefficients out of range."""

    def prepare(self, rows: Rows) -> None:
        """Change the rows before the solve."""

    def accepts(self, rows: Rows) -> bool:
        """False when the forces found are not to be, and the step is to be solved again; memory tells why."""
        return True

    def missed(self, rows: Rows) -> float:
        """Share of an energy that this step has lost, and that a shorter one would keep; see AutoStep."""
        return 0.0

    def take_back(self, rows: Rows) -> None:
        """Forget what was learnt of a step that is taken again, shorter."""

    def conclude(self, rows: Rows) -> None:
        """Write the memory for the next step after the solve."""


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
