"""Grains with prescribed motion: an intruder, a tracer on a path. In the contact problem their mass is infinite."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .columns import INV, LEVER, Q, S, V
from .turning import gyration, scaled_spins
from .walls import Drive

if TYPE_CHECKING:
    from .bodies import Bodies

Array = NDArray[np.float64]


@dataclass
class Guide:
    """Moves some grains of a group as one is told; whatever that takes is an external force on them.

    ids    : of the grains, None for all of the group
    force  : (3,) N, of other bodies on them in the last step; torque : (3,) N m, about the centre of each
    power  : W, of whoever prescribes the motion; work : J, so far
    """

    name: str
    group: str
    ids: list[int] | None
    drive: Drive
    force: Array = field(default_factory=lambda: np.zeros(3))
    torque: Array = field(default_factory=lambda: np.zeros(3))
    power: float = 0.0
    work: float = 0.0

    def rows(self, bodies: Bodies) -> NDArray[np.int64]:
        """Rows of the grains."""
        group = np.arange(bodies.count)[bodies.groups[self.group]]
        return group if self.ids is None else group[np.isin(bodies.id[group], self.ids)]

    def prescribe(self, bodies: Bodies, time: float, dt: float) -> None:
        """Give its grains the mean velocity and spin of the step, and no mobility."""
        rows, motion = self.rows(bodies), bodies.motion
        motion[rows, INV] = 0.0
        motion[rows, V] = self.drive.step_velocity(time, dt)
        spin = self.drive.step_spin(time, dt)
        if bodies.catalogue is None:
            motion[rows, S] = bodies.radius[rows, None] * spin
        else:
            motion[rows, S] = scaled_spins(bodies, np.broadcast_to(spin, (bodies.count, 3)))[rows]

    def energy(self, bodies: Bodies) -> float:
        """J, kinetic energy of its grains."""
        rows = self.rows(bodies)
        turning = _momentum(bodies, rows, bodies.motion[rows, S])
        motion = bodies.mass[rows, None] * bodies.motion[rows, V] ** 2
        return 0.5 * float(motion.sum() + (turning * bodies.spin[rows]).sum())

    def words(self) -> dict[str, Any]:
        """As plain words and numbers, exact."""
        own = {name: getattr(self, name) for name in ("name", "group", "ids", "power", "work")}
        return own | {"drive": self.drive.words(), "force": self.force.tolist(), "torque": self.torque.tolist()}

    @classmethod
    def from_words(cls, words: dict[str, Any]) -> Guide:
        drive = Drive.from_words(words["drive"], about=None)
        return cls(**words | {"drive": drive} | {name: np.array(words[name]) for name in ("force", "torque")})


def book(bodies: Bodies, contacts: Any, before: Array, dt: float) -> None:
    """What the step, before bodies are moved, asks of those who prescribe motions: forces on grains, reactions, work.

    before : (bodies, 6) v and s at the beginning of the step
    """
    if not bodies.guides:
        return
    bodies.guide_force, bodies.guide_torque = np.zeros((bodies.count, 3)), np.zeros((bodies.count, 3))
    spins = bodies.spin
    for guide in bodies.guides:
        rows = guide.rows(bodies)
        force, torque = reactions(bodies, contacts, rows)
        guide.force, guide.torque = force.sum(axis=0), torque.sum(axis=0)
        mass = bodies.mass[rows, None]
        given = mass * ((bodies.motion[rows, V] - before[rows, V]) / dt - bodies.gravity) - force
        wound = _momentum(bodies, rows, bodies.motion[rows, S] - before[rows, S]) / dt - torque
        for out, other in ((given, bodies.applied_force), (wound, bodies.applied_torque)):
            if len(other):
                out -= other[rows]
        guide.power = float((given * bodies.motion[rows, V]).sum() + (wound * spins[rows]).sum())
        guide.work += dt * guide.power
        bodies.guide_force[rows], bodies.guide_torque[rows] = given, wound


def reactions(bodies: Bodies, contacts: Any, rows: NDArray[np.int64]) -> tuple[Array, Array]:
    """(m, 3) N and N m, what contacts do to grains, torques about their centres."""
    place = np.full(max(bodies.rows, int(contacts.pairs.max(initial=-1)) + 1), -1)
    place[rows] = np.arange(len(rows))
    force, torque = np.zeros((len(rows), 3)), np.zeros((len(rows), 3))
    for side, sign in ((0, -1.0), (1, 1.0)):
        some = np.flatnonzero(place[contacts.pairs[:, side]] >= 0)
        mine, pushed = place[contacts.pairs[some, side]], sign * contacts.force[some]
        np.add.at(force, mine, pushed)
        np.add.at(torque, mine, np.cross(_levers(bodies, contacts, some, side), pushed))
        if contacts.extra is not None and contacts.forces.shape[1] > Q.start:
            np.add.at(torque, mine, sign * contacts.extra[some][:, [LEVER]] * contacts.forces[some, Q])
    return force, torque


def _levers(bodies: Bodies, contacts: Any, some: NDArray[np.int64], side: int) -> Array:
    """(m, 3) m, from the centre of a body to its surface at some contacts."""
    i, j = contacts.pairs[some].T
    normal = contacts.normal[some]
    if contacts.lever is None:
        return np.asarray(bodies.radius[i][:, None] * normal if side == 0 else -bodies.radius[j][:, None] * normal)
    lever = contacts.lever[some]
    if side == 1:  # from the other centre
        apart = bodies.position[j] - bodies.position[i] + bodies.shifts[contacts.image[some]]
        lever = lever + contacts.gap[some][:, None] * normal - apart
    return np.asarray(lever)


def _momentum(bodies: Bodies, rows: NDArray[np.int64], scaled: Array) -> Array:
    """(m, 3) N m s, angular momentum of grains with s (m, 3); in 3D only round ones turn as they are told."""
    if bodies.catalogue is not None:
        return np.asarray(bodies.mass[rows, None] * gyration(bodies)[rows] * scaled)
    share = {2: 0.5, 3: 0.4}[bodies.dimension]  # of m r^2
    return np.asarray(share * bodies.mass[rows, None] * bodies.radius[rows, None] * scaled)
