"""The contact problem of one step, as solvers see it.

Signs, once: bodies 0 and 1, the normal n points from 0 to 1, the contact force R acts on 1 and -R on 0. Approaching
bodies have V_n < 0; an overlap is g < 0. R is a force, R dt an impulse.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..detect.colours import Colouring
from ..model.columns import INV_MASS, M_N, MU, ContactColumns
from ..runtime.compiled import kernel
from ..runtime.memory import Workspace

Array = NDArray[np.float64]
Index = NDArray[np.int32]


@dataclass
class ContactProblem(ContactColumns):
    """What a solver sees. It finds the forces and leaves in `motion` the velocities that go with them.

    Columns of `geometry` and `forces` also have names, see ContactColumns: `problem.normal`, `problem.friction`, ...

    motion   : (bodies, 8) v, s = lever * spin (m/s), 1/m, lever^2/I (1/kg); see Bodies
    pairs    : (c, 2) bodies 0 and 1; body 0 is always a grain
    geometry : (c, 8) n (3), gap to be closed (m), m_n, m_t (kg), mu, signed gap g (m)
    forces   : (c, 4) R_n, R_t (3) (N), at first those carried over
    position, radius : centres (m) and radii (m) of the grains
    extra    : (c, 14) columns of laws that plain friction does not have, see model/columns.py; forces then have seven
    colouring : the colours, if rows stand colour after colour
    branch   : (c, 2) m, in a cell that deforms, see model/deforming.py; then flow : (3, 8) its rows within `motion`
    edges    : (3,) m, of a periodic cell, infinite where it has no images; None without a cell
    before   : (bodies, 6) v and s at the beginning of the step, for solvers that ask
    free     : (bodies, 6) v and s without contact forces, where a solver knows them
    levers   : (c, 8) in 2D, (c, 24) in 3D, of grains of any shape, see model/columns.py; else None
    lever    : (c, 3) m, from the centre of body 0 to the point of its surface that is touched, where there are levers
    work     : what solvers need beside these, kept from one step to the next
    count    : c; loops : over contacts of their kind, see solve/kernels/factory.py, and known : by name, what bodies
               and rows are whatever the forces; once somebody has asked
    """

    motion: Array
    pairs: Index
    geometry: Array
    forces: Array
    dt: float
    position: Array
    radius: Array
    extra: Array | None = None
    colouring: Colouring | None = None
    branch: Array | None = None
    flow: Array = field(default_factory=lambda: np.zeros((3, 8)))
    edges: Array | None = None
    before: Array | None = None
    free: Array | None = None
    levers: Array | None = None
    lever: Array | None = None
    work: Workspace = field(default_factory=Workspace, repr=False)
    count: int = field(init=False)
    loops: Any = field(default=None, init=False, repr=False)
    known: dict[str, float] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self.count = len(self.pairs)

    @property
    def heaviest(self) -> float:
        """kg, the largest m_n."""
        return self._masses[0]

    @cached_property
    def mean_radius(self) -> float:
        """m."""
        return float(self.radius.mean())

    @property
    def moved_mass(self) -> float:
        """kg, of all movable bodies that have candidates."""
        return self._masses[1]

    @property
    def slides(self) -> bool:
        """Whether no coefficient of friction is infinite."""
        return self._masses[2]

    @cached_property
    def _masses(self) -> tuple[float, float, bool]:
        return _find_masses(self.pairs, self.geometry, self.motion, np.zeros(len(self.motion), np.bool_))

    @property
    def arrays(self) -> tuple[Array | Index, ...]:
        """What every loop over contacts takes, in this order, before dt: motion, pairs, geometry, extra, cell, forces.

        extra : the columns that this kind of contact has beyond its geometry; some table where it has none
        cell  : motion rows of a cell that deforms
        """
        own = self.geometry
        for table in (self.branch, self.extra, self.levers):
            own = own if table is None else table
        return self.motion, self.pairs, self.geometry, own, self.flow, self.forces

    def copy(self) -> ContactProblem:
        """The same problem with velocities and forces of its own."""
        motion, n = self.motion.copy(), len(self.position)
        flow = self.flow.copy() if self.branch is None else motion[n : n + 3]
        return replace(self, motion=motion, forces=self.forces.copy(), flow=flow)

    def points(self) -> Array:
        """(c, 3) m, contact points."""
        i = self.pairs[:, 0]
        if self.lever is not None:
            return self.position[i] + self.lever + (0.5 * self.gap)[:, None] * self.normal
        return self.position[i] + (self.radius[i] + 0.5 * self.gap)[:, None] * self.normal


@kernel
def _find_masses(pairs, geometry, motion, touched):
    """The largest m_n, the sum of the masses of movable bodies with candidates, and whether all mu are finite."""
    heaviest, mass, finite = 0.0, 0.0, True
    for c in range(len(pairs)):
        touched[pairs[c, 0]] = touched[pairs[c, 1]] = True
        heaviest = max(heaviest, geometry[c, M_N])
        finite = finite and geometry[c, MU] < np.inf
    for i in range(len(motion)):
        if touched[i] and motion[i, INV_MASS] > 0.0:
            mass += 1.0 / motion[i, INV_MASS]
    return heaviest, mass, finite
