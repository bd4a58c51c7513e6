"""Time and its steps: a clock that keeps time without rounding, and the adaptive time step, dt = "auto"."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..detect.near_walls import wall_gaps
from ..detect.neighbours import Neighbours
from ..model.bodies import Bodies, top_speed
from ..model.columns import V_X, V_Y, V_Z, V, X, Y, Z
from ..model.deforming import strain_rates
from ..model.sizes import mean_power
from ..model.time_functions import values
from ..model.turning import turning_speeds
from ..model.vectors import difference, to_image
from ..model.walls import Drive, Wall
from ..runtime.compiled import kernel
from ..solve.accuracy import DROP, Accuracy

Array = NDArray[np.float64]

GROWTH = 1.2  # of a step over the one before: what is carried over stays a good guess
AT_REST = np.zeros((1, 3))
SWING = 20  # steps, at least, in a period of an oscillating wall
ACROSS = 0.125  # of the width of a periodic cell, at most, in a step: images beyond the next are not known


@dataclass
class Clock:
    """Steps taken, and the time as their sum.

    dt    : s, length of the last step, and of the next if nobody changes it
    begun : s, when dt was last changed; since : number of steps taken then
    lost  : s, what rounding took from that time
    """

    dt: float
    steps: int = 0
    begun: float = 0.0
    since: int = 0
    lost: float = 0.0

    @property
    def time(self) -> float:
        """s, now: whole steps of the present dt after the last change."""
        return self.begun + (self.steps - self.since) * self.dt + self.lost

    def change(self, dt: float) -> None:
        """Go on with another dt; sums are compensated, so that a million changes cost no more than one rounding."""
        if dt == self.dt:
            return
        passed = (self.steps - self.since) * self.dt
        total = self.begun + passed
        self.lost += (self.begun - total) + passed if self.begun >= passed else (passed - total) + self.begun
        self.dt, self.begun, self.since = dt, total, self.steps


@dataclass
class AutoStep:
    """Steps as long as the motion allows.

    Within a step no two bodies come closer than to touch and then by `travel` radii of the smallest grain: for each
    pair |v| dt + |a| dt^2 <= max(g, 0) + travel r, with v the velocity of one relative to the other at the beginning
    and a what external forces and walls do to it. A plane counts by its normal velocity alone. In a periodic cell no
    grain crosses more than an eighth of it. Where grains rebound, a step is taken again, half as long, as long as blows
    that it could not follow (laws/blows.py) lose more than a share of the energy that blows bring.

    travel   : over the smallest radius; at a rod thinner than that over the rod's
    loss     : that share of the energy, sum of m_n V_n^2/2 over the contacts that collide, in a step
    drop     : over the mean diameter, how far what pulls most may bring a body from rest in a step, a dt^2; what is at
               rest would else make steps ever longer
    longest  : s, no step is longer; shortest : s, none is shorter, whatever moves
    wish     : s, the last step as the motion allowed it; steps that end a run may be shorter
    """

    travel: float = 0.1
    longest: float = math.inf
    shortest: float = 0.0
    wish: float | None = None
    loss: float = 1e-3
    drop: float = math.inf

    def __post_init__(self) -> None:
        if not self.drop > 0.0:
            raise ValueError(f"drop = {self.drop} is no part of a diameter; give a positive number, 0.01 say")
        if not 0.0 <= self.loss <= 1.0:
            raise ValueError(f"loss = {self.loss} is no share of an energy; give 0 to 1, 1e-3 say")
        if not 0.0 < self.travel <= 1.0:
            raise ValueError(f"travel = {self.travel} is no part of a radius; give more than 0 and at most 1, 0.1 say")
        if not 0.0 <= self.shortest <= self.longest or self.longest == 0.0:
            raise ValueError(
                f"dt_min = {self.shortest} and dt_max = {self.longest} leave no time step; give 0 <= dt_min <= dt_max"
            )

    @classmethod
    def of(cls, level: Accuracy) -> AutoStep:
        """The steps of a level of accuracy, where nobody has chosen others."""
        return cls(level.travel, drop=DROP)

    def in_words(self) -> str:
        """By what steps are bounded."""
        bounds = [f"pairs come closer by {self.travel:g} radii"]
        bounds += [f"a fall from rest is {self.drop:g} diameters"] if self.drop < math.inf else []
        bounds += [f"a step takes {self.longest:g} s"] if self.longest < math.inf else []
        return f"{', '.join(bounds)} at most" + (f"; {self.shortest:g} s at least" if self.shortest else "")

    def first(self, bodies: Bodies) -> float:
        """s, a step that is short enough for whatever moves at the beginning."""
        acceleration = _acceleration(bodies)
        speed = float(np.linalg.norm(bodies.motion[: bodies.count + len(bodies.walls), V], axis=1).max())
        if bodies.flows:
            speed = max(speed, strain_rates(bodies)[0])
        driven = [_drive_speed(wall.drive) for wall in bodies.walls if not wall.guided]
        dt = _allowed(self.travel * _radii(bodies)[0], max([speed, *driven]), acceleration)
        dt = min(dt, self._most(bodies))
        if not math.isfinite(dt):
            raise ValueError("dt = 'auto' finds nothing that moves; give dt_max, the longest step in seconds")
        return max(dt, self.shortest)

    def trial(self, bodies: Bodies) -> float:
        """s, the longest step to think of now."""
        dt = self.first(bodies) if self.wish is None else GROWTH * self.wish
        return max(min(dt, self._most(bodies), _within_cell(bodies)), self.shortest)

    def allowed(self, bodies: Bodies, neighbours: Neighbours, before: Array, dt: float) -> float:
        """s, what the motion allows, up to dt: the step for which `bodies` has free velocities and lists are made.

        before : (bodies, 6) v and s at the beginning of the step
        """
        smallest = bodies.radii.least
        reach = self.travel * smallest
        pairs, rate = neighbours.pairs, 1.0 / dt
        begun, spinning = turning_speeds(bodies, before, bodies.motion)
        least = _pair_limit(
            pairs.start, pairs.partner, pairs.image, bodies.shifts, bodies.position, bodies.bound, begun, spinning,
            before, bodies.motion, reach, rate, dt,
        )  # fmt: skip
        if bodies.flows:
            least = min(least, _allowed(reach, *strain_rates(bodies)))
        if bodies.walls:
            least = self._by_walls(bodies, neighbours, before, spinning, rate, least)
        return max(least, self.shortest)

    def _by_walls(
        self, bodies: Bodies, neighbours: Neighbours, before: Array, spinning: Array, rate: float, least: float
    ) -> float:
        """s, what grains listed near walls allow, at most `least`; spinning : (n,) m/s, see `turning_speeds`."""
        n, walls, near = bodies.count, bodies.wall_table, wall_gaps(bodies, neighbours)
        own = bodies.motion[n : n + len(bodies.walls), V].copy()
        reach, start = np.empty(len(own)), own.copy()
        reach[:] = self.travel * np.minimum(bodies.radii.least, walls.thickness)
        for w in walls.pistons:  # a driven wall moves as it is told
            start[w] = before[n + w, V]
        curved = [] if walls.flat.all() else np.flatnonzero(~walls.flat).tolist()
        sliding = np.zeros((near.count, 3)) if curved else AT_REST
        for w in curved:
            some = near.of(w)
            sliding[some] = bodies.walls[w].surface_velocity(AT_REST[0], bodies.position[near.grains[some]])
        if spinning.size:
            fastest = float(spinning[near.grains].max(initial=0.0))
            least = min(least, _allowed(self.travel * bodies.radii.least, fastest, 0.0))
        what = near.start, near.grains, near.gap, near.normal, before, bodies.motion, start, own, sliding
        return float(_wall_limit(*what, walls.flat, reach, rate, least))

    def too_long(self, dt: float, missed: float) -> bool:
        """True when a step dt has lost too much by its length, and may be shorter."""
        return missed > self.loss and 0.5 * dt >= self.shortest

    def _most(self, bodies: Bodies) -> float:
        """s, bounds that do not depend on the state."""
        periods = [2.0 * math.pi * math.sqrt(one.mass(bodies) / one.stiffness) for one in bodies.springs]
        periods += [one.timescale for one in bodies.user_forces if one.timescale is not None]
        for wall in bodies.walls:
            if wall.drive.frequency > 0.0 and np.any(wall.drive.amplitude):
                periods.append(1.0 / wall.drive.frequency)
            if wall.stiffness:
                periods.append(2.0 * math.pi * math.sqrt(wall.mass / wall.stiffness))
        return min(self.longest, time_to_fall(bodies, self.drop), min(periods, default=math.inf) / SWING)


def time_to_fall(bodies: Bodies, drop: float) -> float:
    """s, the step in which what pulls most brings a body from rest by so many mean diameters; inf if nothing does."""
    acceleration = _acceleration(bodies)
    return math.sqrt(2.0 * drop * _radii(bodies)[1] / acceleration) if acceleration > 0.0 else math.inf


def _radii(bodies: Bodies) -> tuple[float, float]:
    """m, the smallest and the mean radius; before the first grain those of what will come in, roughly."""
    if bodies.count:
        return bodies.radii.least, bodies.mean_radius
    inflows = bodies.events.inflows if bodies.events is not None else []
    sizes = [mean_power(one.radius, bodies.dimension) for one in inflows if one.radius is not None]
    coming = min(sizes, default=math.inf) ** (1.0 / bodies.dimension)
    return coming, coming


def _acceleration(bodies: Bodies) -> float:
    """m/s^2, the most that gravity, forces and loads do to a grain, a piston, or neighbours in a cell under stress."""
    pistons = [wall for wall in bodies.walls if wall.guided]
    pushed = [abs(_load(wall, bodies) / wall.mass + float(bodies.gravity @ wall.normal)) for wall in pistons]
    pulled_in = strain_rates(bodies)[1] if bodies.flows else 0.0
    return max([_pull(bodies), pulled_in, *pushed])


def _load(wall: Wall, bodies: Bodies) -> float:
    """N, on a piston at the beginning: a stress becomes a load in the first step, and that has not begun."""
    if wall.stress is None or wall.load:
        return wall.load
    return wall.stress.value(0.0) * wall.present_area(bodies.walls)


def _pull(bodies: Bodies) -> float:
    """m/s^2, the most that gravity, given forces and torques do to a grain."""
    force, torque = bodies.applied_force, bodies.applied_torque
    if not len(force) and not len(torque):
        x, y, z = bodies.gravity.tolist()
        return math.sqrt(x * x + y * y + z * z)
    pull = bodies.gravity + (force / bodies.mass[:, None] if len(force) else np.zeros((1, 3)))
    most = np.linalg.norm(pull, axis=1)
    if len(torque):  # a torque T becomes a push through friction, T/r at most
        most = most + np.linalg.norm(torque, axis=1) / (bodies.mass * bodies.radius)
    return float(most.max())


def _within_cell(bodies: Bodies) -> float:
    """s, a step in which no grain crosses more than ACROSS of a periodic cell; infinite without one."""
    cell = bodies.cell
    if cell is None or not cell.periodic.any():
        return math.inf
    return float(
        _allowed(
            ACROSS * float(cell.widths[cell.periodic].min()), top_speed(bodies.motion[: bodies.count]), _pull(bodies)
        )
    )


def _drive_speed(drive: Drive) -> float:
    """m/s, the largest of a driven wall; by a function that of the beginning."""
    swing = 2.0 * math.pi * drive.frequency * float(np.linalg.norm(drive.amplitude))
    by_function = 0.0 if drive.speed is None else float(np.linalg.norm(values(drive.speed, 0.0)))
    return float(np.linalg.norm(drive.velocity)) + swing + by_function


@kernel
def _allowed(reach, speed, acceleration):
    """The dt with speed dt + acceleration dt^2 = reach."""
    below = speed + math.sqrt(speed * speed + 4.0 * acceleration * reach)
    return 2.0 * reach / below if below > 0.0 else np.inf


@kernel
def _pair_limit(
    start, partner, image, shifts, position, radius, turning, turning_free, before, motion, reach, rate, least
):  # fmt: skip
    """The shortest dt that a listed pair asks for, at most `least`."""
    for i in range(start.size - 1):
        for k in range(start[i], start[i + 1]):
            j, at = partner[k], image[k]
            u_x, u_y, u_z = difference(before, j, before, i)
            w_x, w_y, w_z = difference(motion, j, motion, i)
            a_x, a_y, a_z = w_x - u_x, w_y - u_y, w_z - u_z
            speed = math.sqrt(u_x * u_x + u_y * u_y + u_z * u_z)
            gain = math.sqrt(a_x * a_x + a_y * a_y + a_z * a_z)
            if turning.size:
                speed += turning[i] + turning[j]
                gain += abs(turning_free[i] - turning[i]) + abs(turning_free[j] - turning[j])
            if (speed + gain * rate * least) * least <= reach:
                continue
            x, y, z = to_image(position, i, j, shifts, at)
            gap = math.sqrt(x * x + y * y + z * z) - radius[i] - radius[j]
            least = min(least, _allowed(max(gap, 0.0) + reach, speed, gain * rate))
    return least


@kernel
def _wall_limit(start, grains, gap, normal, before, motion, begun, own, sliding, flat, reach, rate, least):
    """The shortest dt that a grain listed near a wall asks for, at most `least`.

    begun, own : (walls, 3) velocities at the beginning and at the end of the step; sliding : (m, 3) of surfaces that
    are not flat, by their rotation
    """
    for w in range(flat.size):
        for k in range(start[w], start[w + 1]):
            i, at = grains[k], k if len(sliding) > 1 else 0
            u_x = before[i, V_X] - begun[w, X] - sliding[at, X]
            u_y = before[i, V_Y] - begun[w, Y] - sliding[at, Y]
            u_z = before[i, V_Z] - begun[w, Z] - sliding[at, Z]
            a_x, a_y, a_z = (
                motion[i, V_X] - own[w, X] - sliding[at, X] - u_x,
                motion[i, V_Y] - own[w, Y] - sliding[at, Y] - u_y,
                motion[i, V_Z] - own[w, Z] - sliding[at, Z] - u_z,
            )
            if flat[w]:
                speed = abs(u_x * normal[k, X] + u_y * normal[k, Y] + u_z * normal[k, Z])
                gain = abs(a_x * normal[k, X] + a_y * normal[k, Y] + a_z * normal[k, Z])
            else:
                speed = math.sqrt(u_x * u_x + u_y * u_y + u_z * u_z)
                gain = math.sqrt(a_x * a_x + a_y * a_y + a_z * a_z)
            least = min(least, _allowed(max(gap[k], 0.0) + reach[w], speed, gain * rate))
    return least
