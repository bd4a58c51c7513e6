"""Stop conditions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.bodies import top_speed
from ..model.columns import INV_SPIN, S
from ..simulation.triggers import OBSERVERS, Observer, StopRun

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation


class StopWhenStatic(Observer):
    """Ends the run when no grain or piston was faster than `speed` (m/s), nor any surface by its spin, for a while.

    looks : how many looks in a row must be quiet
    The quiet must last longer than it takes to reach that speed by gravity, or by a force or torque on a grain: grains
    about to fall are slow, but not at rest.
    """

    def __init__(self, speed: float, *, looks: int = 10) -> None:
        if not (math.isfinite(speed) and speed > 0.0):
            raise ValueError(
                f"speed = {speed} is no bound; give a positive speed in m/s below which a grain is at rest"
            )
        self.speed = speed
        self.looks = looks
        self._quiet, self._since = 0, math.nan
        self._resumed = False

    def state(self) -> dict[str, Any]:
        return {"quiet": self._quiet, "since": self._since}

    def restore(self, state: dict[str, Any]) -> None:
        self._quiet, self._since, self._resumed = state["quiet"], state["since"], True

    def start(self, simulation: Simulation, steps: int) -> None:
        if not self._resumed:
            self._quiet, self._since = 0, simulation.time
        self._resumed = False
        bodies = simulation.bodies
        force, torque = bodies.applied_force, bodies.applied_torque
        push = np.atleast_2d(bodies.gravity + (force / bodies.mass[:, None] if len(force) else 0.0))
        acceleration = np.linalg.norm(push, axis=1)
        if len(torque):  # of the surface, r T/I
            turning = np.linalg.norm(torque, axis=1) * bodies.motion[: bodies.count, INV_SPIN] / bodies.radius
            acceleration = np.append(acceleration, turning)
        least = acceleration[acceleration > 0.0].min(initial=np.inf)
        self._wait = 2.0 * self.speed / float(least)

    def look(self, simulation: Simulation) -> None:
        bodies = simulation.bodies
        pistons = [row for row, wall in enumerate(bodies.walls, start=bodies.count) if wall.guided]
        spin = float(np.abs(bodies.motion[: bodies.count, S]).max(initial=0.0))
        fastest = max(top_speed(bodies.motion[: bodies.count]), top_speed(bodies.motion[pistons]), spin)
        if fastest >= self.speed:
            self._quiet, self._since = 0, simulation.time
            return
        self._quiet += 1
        if self._quiet >= self.looks and simulation.time - self._since > self._wait:
            raise StopRun(f"static: no body faster than {self.speed:g} m/s at {self.looks} looks in a row")


OBSERVERS.register("StopWhenStatic", StopWhenStatic)
