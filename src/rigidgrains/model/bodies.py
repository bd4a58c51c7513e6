"""The physical state: arrays for grains and walls. Grains come first, walls are the last rows.

Three components always: a disk is a flat sphere with z = 0, spin about z, mass ~ area and I = m r^2 / 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiled import kernel
from ..runtime.memory import on_lines
from ..runtime.threads import spread
from ..shapes.catalogue import Catalogue
from .arrays import grain_arrays
from .cell import Cell, make_cell_rows
from .columns import INV_MASS, INV_SPIN, S_X, S_Y, S_Z, V_X, V_Y, V_Z, S, V
from .given import GivenForces
from .guide import Guide
from .law import Law
from .materials import check_tables
from .spring import Spring
from .tables import as_table
from .time_functions import TimeFunctions
from .turning import scaled_spins, spins
from .user_force import UserForce
from .wall_table import WallTable
from .walls import Wall

Array = NDArray[np.float64]

INERTIA = {2: 2.0, 3: 2.5}  # m r^2 / I of a disk and of a sphere


class Radii(NamedTuple):
    """The smallest, the mean and the largest radius (m); without grains infinite, 1 and 0."""

    least: float
    mean: float
    most: float

    @classmethod
    def of(cls, radius: Array) -> Radii:
        if not len(radius):
            return cls(math.inf, 1.0, 0.0)
        mean = float(np.add.reduce(radius)) / len(radius)  # methods take twice as long, of few numbers
        return cls(float(np.minimum.reduce(radius)), mean, float(np.maximum.reduce(radius)))


class Comings(Protocol):
    """What bodies know of events: where grains enter and leave, and that they take place as a step begins."""

    inflows: list[Any]
    outlets: list[Any]
    next_id: int
    stages: Any

    def take_place(self, bodies: Any, neighbours: Any, contacts: Any, time: float, dt: float) -> Any: ...
    def pack(self, bodies: Any) -> dict[str, Any]: ...
    def moved_walls(self) -> dict[str, list[Any]]: ...


@dataclass
class Bodies:
    """Grains and walls with their motion. Arrays with a row for each grain are declared in arrays.py.

    dimension : 2 or 3
    position  : (n, 3) m, centres of the grains
    radius    : (n,) m; of a grain of another shape that of the round grain of equal volume
    mass      : (n,) kg (per metre of depth in 2D)
    motion    : (n + walls + elements, 8) one row per body: v (m/s), s = radius * spin (m/s), 1/m (1/kg), r^2/I (1/kg).
                With other shapes s is the spin scaled as in turning.py, and r^2/I becomes 1/m.
                Fixed and driven walls have zero mobility; a rotating wall lends each of its contacts a row of its own.
                A cell that deforms has three rows, see `flow`; then v is the velocity less that of the flow.
    orientation : (n,) rad in 2D, (n, 4) unit quaternions (w, x, y, z) in 3D
    material  : (n,) row of each grain in the friction table, and in the tables of laws; see laws/tables.py
    force     : (n, 3) N, external force without gravity; (0, 3) when there is none
    torque    : (n, 3) N m, external torque about the centre, along z in 2D; (0, 3) when there is none
    gravity   : (3,) m/s^2
    friction  : (k, k) coefficient of each pair of materials
    walls     : the walls that are there; wall w has motion row n + w
    groups    : named slices of grains
    laws      : contact laws beyond plain friction
    cell      : periodic cell, or None
    image     : (n, 3) cells that each grain has crossed: it really is at position + image @ cell.vectors;
                (0, 3) without a cell
    id        : (n,) number of each grain, the same as long as it is there, and never given again
    springs   : that pull grains; pull : (n, 3) N, their forces in the present step; (0, 3) without any
    user_forces : functions of the user's own; user_force, user_torque : (n, 3) N, N m, of the present step; (0, 3)
                without any
    guides    : that prescribe the motion of grains; guide_force, guide_torque : (n, 3) N, N m, what that takes
    gravity_function : gravity in the course of time; `gravity` is then that of the present step
    scheduled : all walls in the order of the scene, where some come or go at a time; else empty
    events    : what else comes and goes, see events/; None if nothing does
    catalogue : the shapes of the grains; None where all of them are disks or spheres
    shape     : (n,) number of each grain's shape in the catalogue; (0,) without one
    orientation_before : (n, 4) orientations at the beginning of the last step, of solids in a catalogue; else (0, 4)
    scalars   : (n, k) numbers of the user, which take no part in the motion; scalar_names : (k,) what they are called
    material_names : of the rows of the friction table; none where nobody named them
    given     : forces from a file, until the first step begins with them
    """

    dimension: int
    position: Array
    radius: Array
    mass: Array
    motion: Array
    orientation: Array
    material: NDArray[np.int32]
    force: Array
    gravity: Array
    friction: Array
    walls: list[Wall] = field(default_factory=list)
    groups: dict[str, slice] = field(default_factory=dict)
    laws: list[Law] = field(default_factory=list)
    cell: Cell | None = None
    image: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 3), np.int32))
    id: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    gravity_function: TimeFunctions | None = None
    scheduled: list[Wall] = field(default_factory=list)
    events: Comings | None = None
    springs: list[Spring] = field(default_factory=list)
    pull: Array = field(default_factory=lambda: np.zeros((0, 3)))
    torque: Array = field(default_factory=lambda: np.zeros((0, 3)))
    user_forces: list[UserForce] = field(default_factory=list)
    user_force: Array = field(default_factory=lambda: np.zeros((0, 3)))
    user_torque: Array = field(default_factory=lambda: np.zeros((0, 3)))
    guides: list[Guide] = field(default_factory=list)
    guide_force: Array = field(default_factory=lambda: np.zeros((0, 3)))
    guide_torque: Array = field(default_factory=lambda: np.zeros((0, 3)))
    catalogue: Catalogue | None = None
    shape: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    orientation_before: Array = field(default_factory=lambda: np.zeros((0, 4)))
    scalars: Array = field(default_factory=lambda: np.zeros((0, 0)))
    scalar_names: list[str] = field(default_factory=list)
    material_names: list[str] = field(default_factory=list)
    given: GivenForces | None = None
    _radii: Radii | None = field(default=None, init=False, repr=False, compare=False)
    _wall_table: WallTable | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.id) != self.count:
            self.id = np.arange(self.count)
        for column in grain_arrays():
            if not hasattr(self, column.name):
                setattr(self, column.name, column.make(self.count, self.dimension))
        self.motion = on_lines(self.motion)
        check_tables(self)

    @classmethod
    def assemble(
        cls,
        *,
        dimension: int,
        position: Array,
        radius: Array,
        density: Array | float,
        velocity: Array | float = 0.0,
        spin: Array | float = 0.0,
        material: NDArray[np.int32] | int = 0,
        force: Array | None = None,
        gravity: Array | None = None,
        friction: Array | float = 0.0,
        walls: list[Wall] | None = None,
        groups: dict[str, slice] | None = None,
        laws: list[Law] | None = None,
        cell: Cell | None = None,
        catalogue: Catalogue | None = None,
        shape: NDArray[np.int32] | int = 0,
        orientation: Array | None = None,
    ) -> Bodies:
        """Fill the arrays from positions (n, 3), radii (n,) and densities; masses follow from the dimension.

        orientation : (n,) rad in 2D, (n, 4) unit quaternions in 3D; unturned if absent
        """
        walls = walls or []
        n = len(radius)
        radius = np.array(radius, dtype=float)
        friction = as_table("friction", friction)
        volume = np.pi * radius**2 if dimension == 2 else 4.0 / 3.0 * np.pi * radius**3
        mass = density * volume
        flows = cell is not None and cell.moves
        if flows and walls:
            raise ValueError(f"a cell that deforms has no walls, and wall '{walls[0].name}' is one; remove one of them")
        scheduled = walls if any(wall.comes_or_goes for wall in walls) else []
        walls = [wall for wall in walls if wall.is_there(0.0)]
        motion = np.concatenate([np.zeros((n, 8)), make_wall_rows(walls), make_cell_rows(cell, float(mass.sum()))])
        motion[:n, V] = velocity
        motion[:n, S] = spin * radius[:, None]
        motion[:n, INV_MASS] = 1.0 / mass
        motion[:n, INV_SPIN] = INERTIA[dimension] / mass
        if orientation is None:
            orientation = np.zeros(n) if dimension == 2 else np.tile([1.0, 0.0, 0.0, 0.0], (n, 1))
        bodies = cls(
            dimension=dimension,
            position=np.array(position, dtype=float, order="C").reshape(n, 3),  # kernels are compiled for one order
            radius=radius,
            mass=mass,
            motion=motion,
            orientation=np.array(orientation, dtype=float, order="C"),
            material=np.full(n, material, dtype=np.int32),
            force=np.zeros((0, 3)) if force is None else np.array(force, dtype=float),
            gravity=np.zeros(3) if gravity is None else np.array(gravity, dtype=float),
            friction=friction,
            walls=walls,
            groups=groups or {},
            laws=laws or [],
            cell=cell,
            image=np.zeros((0 if cell is None else n, 3), np.int32),
            scheduled=scheduled,
            catalogue=catalogue,
            shape=np.full(0 if catalogue is None else n, shape, dtype=np.int32),
        )
        if catalogue is not None:
            bodies.orientation_before = bodies.orientation.copy() if dimension == 3 else bodies.orientation_before
            bodies.motion[:n, S] = scaled_spins(bodies, np.broadcast_to(spin, (n, 3)))
            bodies.motion[:n, INV_SPIN] = 1.0 / mass
        return bodies

    @classmethod
    def restore(cls, dimension: int, arrays: dict[str, NDArray[Any]], **rest: Any) -> Bodies:
        """From arrays that were kept, by name; those that are missing have their defaults."""
        own = {field.name for field in fields(cls)}
        given: dict[str, Any] = {name: array for name, array in arrays.items() if name in own}
        bodies = cls(dimension, **given, **rest)
        for name in arrays.keys() - own:
            setattr(bodies, name, arrays[name])
        return bodies

    @property
    def count(self) -> int:
        """Number of grains."""
        return len(self.radius)

    @property
    def flows(self) -> bool:
        """True when the cell deforms, or may."""
        return self.cell is not None and self.cell.moves

    @property
    def rows(self) -> int:
        """Motion rows of grains, walls and cell; those beyond are lent to contacts."""
        return self.count + len(self.walls) + (3 if self.flows else 0)

    @property
    def flow(self) -> Array:
        """(3, 8) rows of a cell that deforms, a view: L (1/s), 1/M of each component, 1/M and 1 of an isotropic one."""
        return self.motion[self.rows - 3 : self.rows] if self.flows else np.zeros((3, 8))

    @property
    def shifts(self) -> Array:
        """(codes, 3) m, displacement of each image of a grain; one row without a cell."""
        return np.zeros((1, 3)) if self.cell is None else self.cell.shifts

    @property
    def unwrapped(self) -> Array:
        """(n, 3) m, where grains really are after all faces they have crossed; the position itself without a cell."""
        return self.position if self.cell is None else self.position + self.image @ self.cell.vectors

    @property
    def radii(self) -> Radii:
        """The smallest, the mean and the largest; within a step those with which it began."""
        return Radii.of(self.radius) if self._radii is None else self._radii

    def hold_radii(self, hold: bool) -> None:
        """Radii do not change until they are released: a step asks for their extremes many times."""
        self._radii = Radii.of(self.radius) if hold else None

    @property
    def wall_table(self) -> WallTable:
        """The walls as tables; within a step, from the free velocities until they move, what they were as it began."""
        return WallTable.of(self.walls) if self._wall_table is None else self._wall_table

    def hold_walls(self, hold: bool) -> None:
        """Walls do not change until they are released: each stage of a step asks what they are."""
        self._wall_table = WallTable.of(self.walls) if hold else None

    @property
    def mean_radius(self) -> float:
        """m; 1 where there are no grains."""
        return self.radii.mean

    @property
    def all_walls(self) -> list[Wall]:
        """The walls in the order of the scene, also those that are not there now."""
        return self.scheduled or self.walls

    @property
    def external_force(self) -> Array:
        """(n, 3) N, all but gravity and contacts in the present step; (0, 3) when there is none."""
        return _sum(self.applied_force, self.guide_force)

    @property
    def external_torque(self) -> Array:
        """(n, 3) N m, likewise."""
        return _sum(self.applied_torque, self.guide_torque)

    @property
    def applied_force(self) -> Array:
        """(n, 3) N, what pushes grains before any contact is thought of: constant, by springs and functions."""
        return _sum(_sum(self.pull, self.force), self.user_force)

    @property
    def applied_torque(self) -> Array:
        """(n, 3) N m, likewise."""
        return _sum(self.torque, self.user_torque)

    @property
    def reach(self) -> float:
        """m, the widest gap at which a law acts: 0 for contact alone."""
        return max((law.reach for law in self.laws), default=0.0)

    @property
    def velocity(self) -> Array:
        """(n, 3) m/s, a view."""
        return self.motion[: self.count, V]

    @property
    def spin(self) -> Array:
        """(n, 3) rad/s, a copy."""
        return self.spins_of(self.motion)

    def spins_of(self, motion: Array, *, before: bool = False) -> Array:
        """(n, 3) rad/s, of rows with v and s; before : that belong to the orientations before the last step."""
        if self.catalogue is None:
            return motion[: self.count, S] / self.radius[:, None]
        return spins(self, motion, self.orientation_before if before and self.dimension == 3 else self.orientation)

    @property
    def bound(self) -> Array:
        """(n,) m, radius of the sphere about the centre that holds each grain: its radius, if it is round."""
        return self.radius if self.catalogue is None else self.radius * self.catalogue.bound[self.shape]


def _sum(one: Array, other: Array) -> Array:
    """Of forces (n, 3), either of which may have no rows."""
    if not len(one) or not len(other):
        return other if len(other) else one
    return one + other


def make_wall_rows(walls: list[Wall]) -> Array:
    """(walls, 8) motion rows of walls at rest."""
    rows = np.zeros((len(walls), 8))
    for row, wall in zip(rows, walls):
        if wall.guided:
            # A guided piston gives way along its normal alone. Its negative spin mobility takes back, in the
            # contact velocity v - s x n, exactly what a sideways push adds to v: 1/m_t holds no piston term.
            row[INV_MASS] = 1.0 / wall.mass
            row[INV_SPIN] = -1.0 / wall.mass
    return rows


def keep_motion(motion: Array, to: Array) -> None:
    """Copy v and s of all bodies to (bodies, 6); the rest of a row does not change in a step."""
    spread(_keep_motion, len(motion), motion, to)


def restore_motion(motion: Array, kept: Array) -> None:
    """Give bodies the velocities and spins that were kept."""
    spread(_restore_motion, len(kept), motion, kept)


def top_speed(motion: Array) -> float:
    """Largest speed of any body; infinite if a speed or spin is not a number."""
    return float(max(spread(_top_speed, len(motion), motion)))


@kernel
def _keep_motion(first, last, motion, to):
    """Of some bodies."""
    for i in range(first, last):
        to[i, V_X], to[i, V_Y], to[i, V_Z] = motion[i, V_X], motion[i, V_Y], motion[i, V_Z]
        to[i, S_X], to[i, S_Y], to[i, S_Z] = motion[i, S_X], motion[i, S_Y], motion[i, S_Z]


@kernel
def _restore_motion(first, last, motion, kept):
    """The same for some bodies."""
    for i in range(first, last):
        for k in range(6):
            motion[i, k] = kept[i, k]


@kernel
def _top_speed(first, last, motion):
    """The largest of some."""
    top = 0.0
    for i in range(first, last):
        speed = motion[i, V_X] * motion[i, V_X] + motion[i, V_Y] * motion[i, V_Y] + motion[i, V_Z] * motion[i, V_Z]
        if not speed + abs(motion[i, S_X] + motion[i, S_Y] + motion[i, S_Z]) < np.inf:
            return np.inf
        top = max(top, speed)
    return math.sqrt(top)
