"""Implicit Euler: free velocities before the forces are known, positions after.

v(t+dt) = v(t) + F(t+dt) dt / m and r(t+dt) = r(t) + v(t+dt) dt, Eqs. (dv) and (dx).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from ..model.bodies import Bodies
from ..model.columns import INV_SPIN, R_N, S_X, S_Y, S_Z, V_X, V_Y, V_Z, S, V, X, Y, Z
from ..model.deforming import deform, free_flow
from ..model.formula import NoValue
from ..model.spring import set_springs
from ..model.time_functions import means
from ..model.turning import TURN_W, TURN_X, TURN_Y, TURN_Z, spin_matrices, turn_quaternion, turn_shapes
from ..model.user_force import set_user_forces
from ..model.walls import AT_REST
from ..runtime.compiled import kernel
from ..runtime.threads import spread

if TYPE_CHECKING:
    from ..contacts.contacts import Contacts

NOBODY = np.empty(0)


def free_velocity(bodies: Bodies, time: float, dt: float) -> None:
    """Velocities at the end of the step without contact forces, Eq. (discr-free-veloc); walls follow their drive."""
    n = bodies.count
    if bodies.gravity_function is not None:
        with of("gravity"):
            bodies.gravity = means(bodies.gravity_function, time, dt)
    set_user_forces(bodies, time, dt)
    kick = dt * bodies.gravity
    spread(_accelerate, n, bodies.motion, kick)
    if bodies.springs:
        with of("springs"):
            set_springs(bodies, time, dt)
    force, torque = bodies.applied_force, bodies.applied_torque
    if len(force):
        spread(_push, n, bodies.motion, force, bodies.mass, dt)
    if len(torque) and bodies.catalogue is not None:
        twist = np.einsum("iab,ib->ia", spin_matrices(bodies), torque)
        bodies.motion[:n, S] += dt * twist / bodies.mass[:, None]
    elif len(torque):
        spread(_twist, n, bodies.motion, torque, bodies.radius, dt)
    for guide in bodies.guides:
        with of(f"motion '{guide.name}'"):
            guide.prescribe(bodies, time, dt)
    for row, wall in enumerate(bodies.walls, start=n):
        try:
            wall.prescribe(time, dt, bodies.walls)
            velocity = wall.drive.step_velocity(time, dt)
        except NoValue as problem:
            raise NoValue(f"{problem} (wall '{wall.name}')") from None
        if wall.guided:
            normal = wall.normal
            bodies.motion[row, V] += dt * (wall.load / wall.mass + bodies.gravity @ normal) * normal
        else:
            bodies.motion[row, V] = velocity
    if bodies.flows:
        with of("cell"):
            free_flow(bodies, time, dt)


@contextmanager
def of(what: str) -> Iterator[None]:
    """Say of what a function has no value."""
    try:
        yield
    except NoValue as problem:
        raise NoValue(f"{problem} ({what})") from None


def move(bodies: Bodies, dt: float) -> float:
    """Positions and orientations with the new velocities; returns the largest displacement over the radius."""
    n, walls = bodies.count, bodies.wall_table
    still = [speeds == AT_REST for speeds in bodies.motion[n : n + len(bodies.walls), V].tolist()]
    for w, wall in enumerate(bodies.walls):
        if still[w] and not (walls.guided[w] or walls.turning[w]):
            continue
        row = n + w
        velocity = bodies.motion[row, V]
        if wall.guided:
            velocity[:] = (velocity @ wall.normal) * wall.normal  # the guide takes what is sideways
            bodies.motion[row, S] = 0.0
        wall.advance(velocity, dt)
    what = bodies.motion, bodies.radius, dt
    if bodies.catalogue is None:
        turn = _turn_disks if bodies.dimension == 2 else _turn_spheres
        spread(turn, n, bodies.orientation, *what, weight=8)
    else:
        turn_shapes(bodies, dt)
    if bodies.flows:
        return deform(bodies, dt)
    return float(max(spread(_translate, n, bodies.position, *what)))


def past_walls(bodies: Bodies, contacts: Contacts, dt: float) -> tuple[float, str]:
    """The largest displacement round a curved wall over its curvature, of grains that it holds; and the wall's name."""
    most, where = 0.0, ""
    for row, (wall, rows) in enumerate(zip(bodies.walls, contacts.wall_rows), start=bodies.count):
        if wall.shape.curvature(NOBODY) is None:
            continue
        some = contacts.pairs[rows, 0][contacts.forces[rows, R_N] > 0.0]
        curvature = wall.shape.curvature(bodies.radius[some])
        assert curvature is not None
        if not (sharp := (curvature < bodies.radius[some]) & (curvature > 0.0)).any():
            continue
        way = dt * (bodies.motion[some, V] - bodies.motion[row, V])
        farthest = float((wall.shape.around(way)[sharp] / curvature[sharp]).max())
        if farthest > most:
            most, where = farthest, wall.name
    return most, where


@kernel
def _accelerate(first, last, motion, kick):
    """Add the same velocity to all: gravity, Eq. (dv)."""
    for i in range(first, last):
        motion[i, V_X] += kick[X]
        motion[i, V_Y] += kick[Y]
        motion[i, V_Z] += kick[Z]


@kernel
def _push(first, last, motion, force, mass, dt):
    """External forces of single grains, Eq. (RFext)."""
    for i in range(first, last):
        for a in range(3):
            motion[i, V_X + a] += dt * force[i, a] / mass[i]  # Eq. (dv)


@kernel
def _twist(first, last, motion, torque, radius, dt):
    """External torques of single grains, Eq. (RFext): I dw = T dt, in terms of s = r w and r^2/I."""
    for i in range(first, last):
        for a in range(3):
            motion[i, S_X + a] += dt * torque[i, a] * motion[i, INV_SPIN] / radius[i]


@kernel
def _translate(first, last, position, motion, radius, dt):
    """Positions by the new velocities."""
    farthest = 0.0
    for i in range(first, last):
        x, y, z = motion[i, V_X] * dt, motion[i, V_Y] * dt, motion[i, V_Z] * dt  # Eq. (dx)
        position[i, X] += x
        position[i, Y] += y
        position[i, Z] += z
        farthest = max(farthest, (x * x + y * y + z * z) / (radius[i] * radius[i]))
    return math.sqrt(farthest)


@kernel
def _turn_disks(first, last, angle, motion, radius, dt):
    """Angle about z."""
    for i in range(first, last):
        angle[i] += motion[i, S_Z] / radius[i] * dt


@kernel
def _turn_spheres(first, last, quaternion, motion, radius, dt):
    """Unit quaternion, turned by the rotation vector spin * dt."""
    for i in range(first, last):
        x, y, z = motion[i, S_X] / radius[i] * dt, motion[i, S_Y] / radius[i] * dt, motion[i, S_Z] / radius[i] * dt
        q, a, b, d = quaternion[i, TURN_W], quaternion[i, TURN_X], quaternion[i, TURN_Y], quaternion[i, TURN_Z]
        (
            quaternion[i, TURN_W], quaternion[i, TURN_X], quaternion[i, TURN_Y], quaternion[i, TURN_Z],
        ) = turn_quaternion(q, a, b, d, x, y, z)  # fmt: skip
