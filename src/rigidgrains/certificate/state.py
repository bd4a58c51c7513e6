"""A frame in double precision, and what follows from it: the beginning of the step, names, magnitudes."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..model.walls import Wall
from ..trajectory.frame import Frame
from . import surfaces
from .flow import Flow
from .grains import Grains

Array = NDArray[np.float64]

# Of the numbers that a law is made of, by bytes of a stored number.
ROUNDING = {8: 1e-10, 4: 4e-6}  # accepted: doubles gather errors over the sweeps, a single has one rounding of its own
GRAININESS = {8: 1e-14, 4: 4e-6}  # what rounding of the stored numbers alone may do


class State:
    """Grains and walls of a frame. Walls follow the grains as bodies: wall w is body n + w.

    velocity : (n, 3) m/s, about the flow of a cell that deforms
    cell : (3, 3) m, rows are the vectors of the periodic cell, with its origin and directions; None without one
    rounding : relative error accepted in laws that hold to rounding; graininess : relative error of stored numbers
    told : (n,) True for grains that move as prescribed: no force moves them
    shapes : of the grains, None where all are disks or spheres; extent : (n,) m, the farthest point from each centre
    """

    def __init__(self, frame: Frame) -> None:
        self.frame, self.n, self.dt, self.dimension = frame, len(frame), frame.dt, frame.dimension
        self.rounding = ROUNDING[frame.position.dtype.itemsize]
        self.graininess = GRAININESS[frame.position.dtype.itemsize]
        self.single = frame.position.dtype.itemsize == 4
        self.position, self.velocity = _double(frame.position), _double(frame.peculiar_velocity)
        self.spin = _double(frame.spin)
        self.radius, self.mass, self.force = _double(frame.radius), _double(frame.mass), _double(frame.external_force)
        self.torque = np.zeros((self.n, 3)) if frame.external_torque is None else _double(frame.external_torque)
        self.gravity = _double(frame.gravity)
        told = frame.column("guided")
        self.told = np.zeros(self.n, np.bool_) if told is None else told > 0
        self.inertia_share = 0.5 if frame.dimension == 2 else 0.4
        self.walls: list[Wall] = frame.walls
        self.wall_velocity = _double(frame.wall_velocity)
        self.cell = None if frame.cell is None else _double(frame.cell)
        self.cell_origin = None if frame.cell_origin is None else _double(frame.cell_origin)
        self.cell_periodic = frame.cell_periodic
        self.flow = Flow(self)
        self.shapes = None if frame.catalogue is None else Grains(self)
        self.extent = self.radius if self.shapes is None else self.shapes.size

    @cached_property
    def mobility(self) -> Array:
        """(n,) 1/kg, 1/m; 0 for grains that move as prescribed."""
        return np.where(self.told, 0.0, 1.0 / self.mass)

    @cached_property
    def inertia(self) -> Array:
        """(n,) kg m^2: m r^2/2 of a disk, 2 m r^2/5 of a sphere."""
        return self.inertia_share * self.mass * self.radius**2

    @cached_property
    def turning(self) -> Array:
        """(n, 3) kg m^2/s, angular momenta L = I w at the end of the step."""
        if self.shapes is None:
            return self.inertia[:, None] * self.spin
        return self.shapes.momentum(self.spin, self.shapes.after)

    @cached_property
    def turning_before(self) -> Array:
        """(n, 3) kg m^2/s, L at its beginning."""
        if self.shapes is None:
            return self.inertia[:, None] * self.spin_before
        return self.shapes.momentum(self.spin_before, self.shapes.before)

    @cached_property
    def solved_spin(self) -> Array:
        """(n, 3) rad/s, with which the step was solved: grains of other shapes have turned since."""
        return self.spin if self.shapes is None else self.shapes.gained

    @cached_property
    def velocity_before(self) -> Array:
        return _double(self.frame.peculiar_velocity_before)

    @cached_property
    def spin_before(self) -> Array:
        return _double(self.frame.spin_before)

    @cached_property
    def coming(self) -> tuple[Array, Array]:
        """(n, 3) m/s and rad/s, with which grains come to their contacts: those before the step, and of grains that
        move as prescribed those of the step, as of driven walls."""
        if not self.told.any():
            return self.velocity_before, self.spin_before
        told = self.told[:, None]
        return (
            np.where(told, self.velocity, self.velocity_before),
            np.where(told, self.solved_spin, self.spin_before),
        )

    @cached_property
    def start(self) -> Array:
        """(n, 3) m, positions at the beginning of the step, Eq. (dx)."""
        there = self.position - self.dt * self.velocity
        if self.cell_origin is None or not self.flow.moves:
            return there
        return np.asarray(self.cell_origin + self.flow.back(there - self.cell_origin, self.dt))

    @cached_property
    def cell_before(self) -> Array | None:
        """(3, 3) m, vectors of the cell at the beginning of the step."""
        return None if self.cell is None else self.flow.back(self.cell, self.dt)

    @cached_property
    def unwrapped(self) -> Array:
        """(n, 3) m, where grains really are after all faces they have crossed."""
        if self.cell is None or self.frame.image is None:
            return self.position
        return np.asarray(self.position + self.frame.image @ self.cell)

    @cached_property
    def free_velocity(self) -> Array:
        """(n, 3) m/s, without contacts, Eq. (discr-free-veloc)."""
        pushed = self.velocity_before + self.dt * (self.gravity + self.force / self.mass[:, None])
        free = self.flow.carried(pushed, self.dt)
        return np.where(self.told[:, None], self.velocity, free) if self.told.any() else free

    @cached_property
    def free_spin(self) -> Array:
        """(n, 3) rad/s, without contacts."""
        if self.shapes is not None:
            free = self.shapes.spin(self.turning_before + self.dt * self.torque, self.shapes.before)
        else:
            free = np.asarray(self.spin_before + self.dt * self.torque / self.inertia[:, None])
        return np.where(self.told[:, None], self.solved_spin, free) if self.told.any() else free

    @cached_property
    def weight(self) -> Array:
        """(n,) N, the size of what acts on each grain from outside; torques over the radius."""
        pushes = self.mass * size(self.gravity) + length(self.force)
        return np.asarray(pushes + length(self.torque) / self.radius)

    @cached_property
    def walls_before(self) -> list[Wall]:
        """The walls at the beginning of the step."""
        return [surfaces.moved_back(wall, velocity, self.dt) for wall, velocity in zip(self.walls, self.wall_velocity)]

    @cached_property
    def coordinate(self) -> Array:
        """(n + walls,) m, the largest number in the place of each body: gaps are rounded to this times epsilon."""
        grains = np.abs(self.position).max(axis=1) + self.dt * np.abs(self.velocity).max(axis=1) + self.extent
        return np.append(grains, [surfaces.extent(wall) for wall in self.walls])

    @cached_property
    def speed(self) -> Array:
        """(n + walls,) m/s, the numbers that contact velocities are made of, added up."""
        grains = length(self.velocity) + self.extent * length(self.spin)
        before = length(self.velocity_before) + self.extent * length(self.spin_before)
        arm = [size(wall.drive.spin) * surfaces.extent(wall) for wall in self.walls]
        return np.append(grains + before, length(self.wall_velocity) + arm)

    def wall(self, w: int) -> str:
        return f"wall '{self.walls[w].name}'"

    def grain(self, i: int) -> str:
        return f"grain {int(self.frame.id[i])}"

    def body(self, b: int) -> str:
        return self.grain(b) if b < self.n else self.wall(b - self.n)

    def contact(self, c: int) -> str:
        i, j = (int(b) for b in self.frame.contacts.pair[c])
        image = None if self.frame.contacts.image is None else self.frame.contacts.image[c]
        through = "" if image is None or not image.any() else f" through image {image.tolist()}"
        return f"contact {c} of {self.body(i)} and {self.body(j)}{through}"


def dot(a: Array, b: Array) -> Array:
    """(m,) products of vectors (m, 3)."""
    return np.asarray(np.einsum("ij,ij->i", a, b))


def length(vectors: Array) -> Array:
    """(m,) of vectors (m, 3)."""
    return np.sqrt(dot(vectors, vectors))


def size(vector: Array) -> float:
    """Of one vector (3,)."""
    return float(np.sqrt(vector @ vector))


def cross(a: Array, b: Array) -> Array:
    """(m, 3) cross products of vectors (m, 3)."""
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    for k in range(3):
        x, y = (k + 1) % 3, (k + 2) % 3
        out[:, k] = a[:, x] * b[:, y] - a[:, y] * b[:, x]
    return out


def guided(wall: Wall) -> bool:
    return math.isfinite(wall.mass)


def _double(array: NDArray[np.floating]) -> Array:
    return np.asarray(array, dtype=float)
