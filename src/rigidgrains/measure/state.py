"""What every measurement starts from: a frame in double precision, and its contacts that carry a force."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..trajectory.frame import STATUS, Frame

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Mask = NDArray[np.bool_]

SLIDING = STATUS.index("sliding")


def of(source: Frame | Simulation) -> Frame:
    """The present state of a simulation as a frame; a frame is given back as it is."""
    return source if isinstance(source, Frame) else Frame.of(source)


@dataclass(frozen=True)
class Links:
    """Contacts that carry a force. Bodies i (a grain) and j; n points from i to j, R acts on j.

    i, j     : (c,) rows of the grains; j = n + w for wall w
    at_wall  : (c,) True where j is a wall
    normal   : (c, 3); force : (c, 3) N; r_n : (c,) N; r_t : (c, 3) N
    image    : (c, 3) image of j that is touched, in cells; zero without a periodic cell
    arm_i, arm_j : (c,) m, from each centre to the point of contact at the beginning of the step: the middle of the gap
                   between grains, the surface of a wall (arm_j = 0)
    torque   : (c, 3) N m on j, by rolling and twisting friction
    sliding  : (c,) True where the tangential force is mobilised
    """

    i: Index
    j: Index
    at_wall: Mask
    image: Index
    normal: Array
    force: Array
    r_n: Array
    r_t: Array
    arm_i: Array
    arm_j: Array
    torque: Array
    sliding: Mask

    def __len__(self) -> int:
        return len(self.i)

    @property
    def branch(self) -> Array:
        """(c, 3) m, from centre to centre, or from a centre to the surface of a wall."""
        return (self.arm_i + self.arm_j)[:, None] * self.normal

    def some(self, which: Mask) -> Links:
        """A part of the contacts."""
        return Links(*(getattr(self, name)[which] for name in self.__dataclass_fields__))


def links(frame: Frame, *, walls: bool = True, least: float = 0.0) -> Links:
    """The contacts of a frame that carry a force.

    walls : with those at walls; least : leave out normal forces below this share of the mean one
    """
    contacts, n = frame.contacts, len(frame)
    force, normal = double(contacts.force), double(contacts.normal)
    carry = np.any(force != 0.0, axis=1)
    force, normal = force[carry], normal[carry]
    pair, gap = contacts.pair[carry].astype(np.int64), double(contacts.gap)[carry]
    i, j = pair[:, 0].copy(), pair[:, 1].copy()
    at_wall = j >= n
    radius, torque = double(frame.radius), contacts.law("torque")
    r_n = dot(force, normal)
    found = Links(
        i=i,
        j=j,
        at_wall=at_wall,
        image=np.zeros((len(i), 3), np.int64) if contacts.image is None else contacts.image[carry].astype(np.int64),
        normal=normal,
        force=force,
        r_n=r_n,
        r_t=force - r_n[:, None] * normal,
        arm_i=radius[i] + np.where(at_wall, gap, 0.5 * gap),
        arm_j=np.where(at_wall, 0.0, radius[np.where(at_wall, 0, j)] + 0.5 * gap),
        torque=np.zeros((len(i), 3)) if torque is None else double(torque)[carry],
        sliding=contacts.status[carry] == SLIDING,
    )
    if least > 0.0 and len(found):
        found = found.some(np.abs(found.r_n) >= least * np.abs(found.r_n).mean())
    return found if walls else found.some(~found.at_wall)


def grain_volume(frame: Frame) -> Array:
    """(n,) m^3 of spheres, m^2 of disks."""
    radius = double(frame.radius)
    return np.pi * radius**2 if frame.dimension == 2 else 4.0 / 3.0 * np.pi * radius**3


def inertia(frame: Frame) -> Array:
    """(n,) kg m^2: m r^2/2 of a disk, 2 m r^2/5 of a sphere."""
    return (0.5 if frame.dimension == 2 else 0.4) * double(frame.mass) * double(frame.radius) ** 2


def axis_number(frame: Frame, axis: int | str) -> int:
    """0, 1 or 2 from a number or from "x", "y", "z"."""
    names = "xyz"[: frame.dimension]
    number = names.find(axis) if isinstance(axis, str) and len(axis) == 1 else axis
    if not isinstance(number, (int, np.integer)) or not 0 <= number < frame.dimension:
        raise ValueError(f"axis = {axis!r} is no axis in {frame.dimension}D; give one of {', '.join(names)}")
    return int(number)


def double(array: Any) -> Array:
    """In double precision; files may hold single."""
    return np.asarray(array, dtype=float)


def dot(a: Array, b: Array) -> Array:
    """(m,) products of vectors (m, 3)."""
    return np.asarray(np.einsum("ij,ij->i", a, b))


def dyads(a: Array, b: Array, dimension: int) -> Array:
    """(d, d) sum of a_k b_k over vectors (m, 3)."""
    return np.ascontiguousarray((a.T @ b)[:dimension, :dimension])
