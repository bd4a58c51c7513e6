"""Walls: confining objects with a shape, a material and a prescribed or guided motion.

A wall's normal points into the grains. What tells shapes apart is in `shapes/`.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import X, Y, Z
from .shapes import Plane, Shape
from .time_functions import (
    Constant,
    TimeFunction,
    TimeFunctions,
    begin_all,
    means,
    rebuild_time_functions,
    values,
    words_of,
)

Array = NDArray[np.float64]

FUNCTIONS = ("path", "speed", "turn", "rate")  # of a drive
AT_REST = [0.0, 0.0, 0.0]
PIECES = 200  # of the time before a wall appears, over which its functions are added up


@dataclass
class Drive:
    """Prescribed motion: constant velocity, harmonic oscillation, rotation about a point, functions of time.

    velocity  : (3,) m/s
    amplitude : (3,) m; displacement amplitude * (sin(2 pi frequency t + phase) - sin(phase))
    frequency : Hz
    phase     : rad
    spin      : (3,) rad/s, about the point `about` (None: the wall's own point); that of the present step if it varies
    path      : displacement (m) from the start; speed : velocity (m/s); both as functions of time
    turn      : rotation vector (rad) from the start; rate : angular velocity (rad/s), instead of a constant spin
    """

    velocity: Array = field(default_factory=lambda: np.zeros(3))
    amplitude: Array = field(default_factory=lambda: np.zeros(3))
    frequency: float = 0.0
    phase: float = 0.0
    spin: Array = field(default_factory=lambda: np.zeros(3))
    about: Array | None = None
    path: TimeFunctions | None = None
    speed: TimeFunctions | None = None
    turn: TimeFunctions | None = None
    rate: TimeFunctions | None = None

    def step_velocity(self, time: float, dt: float) -> Array:
        """Mean velocity over [time, time + dt], so that the wall follows its path exactly."""
        velocity = self.velocity
        if self.frequency != 0.0:
            angle = 2.0 * math.pi * self.frequency
            swing = math.sin(angle * (time + dt) + self.phase) - math.sin(angle * time + self.phase)
            velocity = velocity + self.amplitude * (swing / dt)
        if self.path is not None:
            velocity = velocity + (values(self.path, time + dt) - values(self.path, time)) / dt
        if self.speed is not None:
            velocity = velocity + means(self.speed, time, dt)
        return velocity

    def step_spin(self, time: float, dt: float) -> Array:
        """Mean angular velocity over [time, time + dt], so that the wall is turned as its function says."""
        if self.rate is not None:
            return means(self.rate, time, dt)
        if self.turn is None:
            return self.spin
        before, after = values(self.turn, time), values(self.turn, time + dt)
        if not np.cross(before, after).any():  # about one axis
            return (after - before) / dt
        return rotation_vector(rotation_matrix(after) @ rotation_matrix(before).T) / dt

    @property
    def moves(self) -> bool:
        """Whether it is the motion of anything, at some time."""
        swings = self.frequency != 0.0 and self.amplitude.any()
        functions = any(getattr(self, name) is not None for name in FUNCTIONS)
        return bool(self.velocity.any() or self.spin.any() or swings or functions)

    @property
    def turns(self) -> bool:
        """Whether it rotates at some time."""
        return bool(self.spin.any() or self.turn is not None or self.rate is not None)

    def begin(self, time: float) -> Drive:
        """The same in a stage that begins at this time (s)."""
        own: dict[str, Any] = {name: begin_all(getattr(self, name), time) for name in FUNCTIONS}
        return replace(self, about=None if self.about is None else self.about.copy(), **own)

    def words(self) -> dict[str, Any]:
        """As plain words and numbers, exact; without the centre of rotation, and the spin of the step if it varies."""
        words = {name: words_of(getattr(self, name)) for name in FUNCTIONS if getattr(self, name) is not None}
        varies = self.turn is not None or self.rate is not None
        return words | {
            "velocity": self.velocity.tolist(),
            "amplitude": self.amplitude.tolist(),
            "frequency": self.frequency,
            "phase": self.phase,
            "spin": [0.0, 0.0, 0.0] if varies else self.spin.tolist(),
        }

    @classmethod
    def from_words(cls, words: dict[str, Any], *, about: Array | None, spin: Array | None = None) -> Drive:
        """The drive of these words; spin : (3,) rad/s of the present step, where it varies."""
        functions = {name: rebuild_time_functions(words.get(name)) for name in FUNCTIONS}
        varies = functions["turn"] is not None or functions["rate"] is not None
        velocity, amplitude, constant = (
            np.array(words[name], float).reshape(3) for name in ("velocity", "amplitude", "spin")
        )
        return cls(
            velocity, amplitude, float(words["frequency"]), float(words["phase"]),
            spin if varies and spin is not None else constant, about, **functions,
        )  # fmt: skip

    @property
    def rotates(self) -> bool:
        return bool(self.spin.tolist() != AT_REST)  # asked often: a list is quicker than any()


@dataclass
class Wall:
    """One wall. A piston has a finite mass, is guided along its normal and carries a load along that normal.

    load : N (per metre of depth in 2D), positive presses the piston along its normal into the grains
    load_function  : the load in the course of time; `load` is then that of the present step
    stress       : Pa (N/m in 2D) in the course of time, times the present area; `load` is then that of the present step
    area         : m^2 (m in 2D), or the names of the walls between which the piston runs, pair by pair
    since, until : s, the wall is there in steps that begin from the one to the other
    stiffness    : N/m, of a spring that takes so much from the load as the piston goes along its normal
    rest         : m, where along its normal the spring has no force
    start        : (3,) m, `shape.point` at the beginning, from where displacements count; None if nobody asks
    """

    name: str
    shape: Shape
    material: int = 0
    drive: Drive = field(default_factory=Drive)
    mass: float = math.inf
    load: float = 0.0
    load_function: TimeFunction | None = None
    since: float = -math.inf
    until: float = math.inf
    stress: TimeFunction | None = None
    area: float | tuple[str, ...] = ()
    stiffness: float = 0.0
    rest: float = 0.0
    start: Array | None = None

    def __post_init__(self) -> None:
        if self.guided and not isinstance(self.shape, Plane):
            raise ValueError(f"wall '{self.name}' of mass {self.mass} cannot be guided: only a plane can be a piston")

    def is_there(self, time: float) -> bool:
        """True in a step that begins at this time (s)."""
        return self.since <= time < self.until

    @property
    def comes_or_goes(self) -> bool:
        """True when it is not there all the time."""
        return self.since > -math.inf or self.until < math.inf

    @property
    def guided(self) -> bool:
        return self.mass < math.inf

    @property
    def displacement(self) -> float:
        """m, how far a plane has gone along its normal; not a number of other walls."""
        if self.start is None or not isinstance(self.shape, Plane):
            return math.nan
        return float((self.shape.point - self.start) @ self.shape.normal)

    @property
    def normal(self) -> Array:
        """Unit normal of a piston."""
        assert isinstance(self.shape, Plane)
        return self.shape.normal

    @property
    def bends(self) -> bool:
        """True when a grain that glides straight along the surface would run into it: concave, or turning."""
        return self.shape.concave or self.drive.rotates

    def prescribe(self, time: float, dt: float, others: list[Wall]) -> None:
        """Set load and spin of the step that begins: means over it, so that impulse and angle are exact."""
        if self.load_function is not None:
            self.load = self.load_function.mean(time, dt)
        if self.stress is not None:
            self.load = self.stress.mean(time, dt) * self.present_area(others)
        if self.stiffness:
            self.load -= self.spring_force(dt)
        if self.drive.turn is not None or self.drive.rate is not None:
            self.drive.spin = self.drive.step_spin(time, dt)

    def attach_spring(self, stiffness: float) -> None:
        """A spring of so many N/m that has no force where the piston is now."""
        self.stiffness, self.rest = stiffness, float(self.shape.point @ self.normal)
        if self.load_function is None and self.stress is None:
            self.load_function = Constant(self.load)

    def spring_force(self, dt: float) -> float:
        """N, k x of the piston's spring, with the piston where it is at the beginning of the step."""
        if self.stiffness * dt**2 > self.mass:
            raise ValueError(
                f"piston '{self.name}': stiffness dt^2 = {self.stiffness * dt**2:.3g} kg is more than its mass of"
                f" {self.mass:.3g} kg; use a dt below {math.sqrt(self.mass / self.stiffness):.2g} s"
            )
        return self.stiffness * (float(self.shape.point @ self.normal) - self.rest)

    def present_area(self, others: list[Wall]) -> float:
        """m^2, in 2D m: what the walls leave between which a piston runs, where they are now."""
        if isinstance(self.area, float):
            return self.area
        area, there = 1.0, {wall.name: wall for wall in others}
        for name in self.area:
            if name not in there:
                raise ValueError(f"piston '{self.name}' runs along wall '{name}', which is not there; give it an area")
        for one, other in zip(self.area[::2], self.area[1::2]):
            width = float((there[other].shape.point - there[one].shape.point) @ there[one].normal)
            if width <= 0.0:
                told = f"walls '{one}' and '{other}' have passed each other, and piston '{self.name}' runs between them"
                raise ValueError(f"{told}; stop them before, or give it an area")
            area *= width
        return area

    def ahead(self, velocity: Array, dt: float) -> Wall:
        """The wall as it will be after a step."""
        wall = copy.copy(self)
        wall.shape, wall.drive = copy.copy(self.shape), copy.copy(self.drive)
        wall.advance(velocity, dt)
        return wall

    def at(self, time: float) -> Wall:
        """A wall at its place of time zero, as it will be at a later time; a piston is held where it is."""
        pieces = 1 if self.drive.speed is None and self.drive.rate is None else PIECES
        wall = self.ahead(np.zeros(3), 0.0)
        for k in range(pieces if time > 0.0 and not self.guided else 0):
            wall.prescribe(k * time / pieces, time / pieces, [])
            wall.advance(wall.drive.step_velocity(k * time / pieces, time / pieces), time / pieces)
        return wall

    def surface_velocity(self, velocity: Array, points: Array) -> Array:
        """Velocity (m, 3) of the wall's material at surface points (m, 3), for translation `velocity`."""
        if not self.drive.rotates:
            return np.tile(velocity, (len(points), 1))
        about = self.shape.point if self.drive.about is None else self.drive.about
        return velocity + np.cross(self.drive.spin, points - about)

    def advance(self, velocity: Array, dt: float) -> None:
        """Move the surface by one step: translate by velocity * dt, then turn about the centre of rotation."""
        drive = self.drive
        if velocity.tolist() != AT_REST:
            self.shape.point = self.shape.point + velocity * dt
        if drive.rotates:
            rotation = rotation_matrix(drive.spin * dt)
            self.shape.turn(rotation)
            if drive.about is not None:
                drive.about = drive.about + velocity * dt
                self.shape.point = drive.about + rotation @ (self.shape.point - drive.about)


def rotation_matrix(angle: Array) -> Array:
    """Rodrigues' formula for a rotation vector (3,) in rad."""
    theta = float(np.linalg.norm(angle))
    if theta == 0.0:
        return np.eye(3)
    x, y, z = angle / theta
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + math.sin(theta) * cross + (1.0 - math.cos(theta)) * cross @ cross


def rotation_vector(rotation: Array) -> Array:
    """(3,) rad, the inverse of `rotation_matrix` for less than half a turn."""
    skew = 0.5 * (rotation - rotation.T)
    axis = np.array([skew[Z, Y], skew[X, Z], skew[Y, X]])
    sine = float(np.linalg.norm(axis))
    angle = math.atan2(sine, 0.5 * (float(np.trace(rotation)) - 1.0))
    return axis * (angle / sine) if sine > 0.0 else np.zeros(3)
