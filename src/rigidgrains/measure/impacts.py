"""Impacts: contacts that bodies run into with a speed, and the energy that they bring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .images import start, velocity_gradient
from .links import Links, links
from .shown import Shown
from .state import Array, Frame, Index, Mask, dot, double, of

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation


@dataclass(frozen=True)
class Impacts(Shown):
    """Of one step, contact by contact.

    speed   : (c,) m/s, at which surfaces approached along the normal as the step began
    energy  : (c,) J, m v^2/2 with m the reduced mass, all that a central impact may dissipate
    first, second : (c,) ids of the grains; the second is -1 - w at wall w
    dt      : s
    """

    speed: Array
    energy: Array
    first: Index
    second: Index
    dt: float

    @property
    def number(self) -> int:
        return len(self.speed)

    @property
    def rate(self) -> float:
        """1/s"""
        return len(self.speed) / self.dt

    @property
    def power(self) -> float:
        """W, that impacts bring."""
        return float(self.energy.sum()) / self.dt

    @property
    def total(self) -> float:
        """J"""
        return float(self.energy.sum())

    @property
    def hardest(self) -> float:
        """J, of the impact with the most energy; 0 without any."""
        return float(self.energy.max(initial=0.0))


def impacts(source: Frame | Simulation, *, least: float | None = None, walls: bool = True) -> Impacts:
    """Contacts that carry a force and whose surfaces approached each other faster than `least` as the step began.

    least : m/s; by default twice what gravity gives in the step, 2 g dt: grains at rest press on each other with up to
            that. Without gravity every approach counts
    walls : with those at walls, which are as heavy as they are

    Fixed and driven walls and grains with prescribed motion have no end of mass, and the speed that this step gives
    them.

    A frame knows the step that led to it. For all impacts of a run look at every step: Measure(impacts) with every=1;
    frames further apart are a sample.
    """
    frame = of(source)
    if least is None:
        least = 2.0 * float(np.linalg.norm(double(frame.gravity))) * frame.dt
    if not least >= 0.0:
        raise ValueError(f"least = {least} is no speed; give a number that is not negative (m/s)")
    found, n = links(frame, walls=walls).joined(), len(frame)
    told = np.zeros(n, np.bool_) if (guided := frame.column("guided")) is None else guided > 0
    velocity, spin = (
        np.where(told[:, None], double(now), double(before))
        for now, before in ((frame.velocity, frame.peculiar_velocity_before), (frame.spin, frame.spin_before))
    )
    j = np.where(found.at_wall, 0, found.j)
    w = np.where(found.at_wall, found.j - n, len(frame.walls))
    other = np.where(found.at_wall[:, None], _of_walls(frame, found), velocity[j] + np.cross(spin[j], found.lever_j))
    other += np.where(found.at_wall[:, None], 0.0, found.branch) @ velocity_gradient(frame).T
    speed = -dot(other - velocity[found.i] - np.cross(spin[found.i], found.lever_i), found.normal)
    heavy = np.array([wall.mass if wall.guided else np.inf for wall in frame.walls] + [np.inf])
    mass = np.where(told, np.inf, double(frame.mass))
    inverse = 1.0 / mass[found.i] + np.where(found.at_wall, 1.0 / heavy[w], 1.0 / mass[j])
    hits: Mask = speed > least
    speed, reduced = speed[hits], 1.0 / inverse[hits]
    ids = frame.id.astype(np.int64)
    second = np.where(found.at_wall, -1 - w, ids[j])
    return Impacts(speed, 0.5 * reduced * speed**2, ids[found.i][hits], second[hits], frame.dt)


def _of_walls(frame: Frame, found: Links) -> Array:
    """(c, 3) m/s, of the surfaces of walls where they are touched, as the step begins; zero elsewhere."""
    out, n, place = np.zeros((len(found), 3)), len(frame), start(frame)
    now, before = double(frame.wall_velocity), double(frame.wall_velocity_before)
    for w, wall in enumerate(frame.walls):
        rows = np.flatnonzero(found.j == n + w)
        velocity = before[w] if wall.guided else now[w]
        touched = place[found.i[rows]] + found.arm_i[rows] + frame.dt * velocity  # where its centre is in the frame
        out[rows] = wall.surface_velocity(velocity, touched)
    return out
