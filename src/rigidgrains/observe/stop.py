"""Stop conditions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..bodies import top_speed
from .base import Observer, StopRun

if TYPE_CHECKING:
    from ..simulation import Simulation


class StopWhenStatic(Observer):
    """Ends the run when no grain or piston was faster than `speed` (m/s) at `looks` looks in a row.

    Only looks at which some contact carries a force count: grains about to fall are slow, but not at rest.
    """

    def __init__(self, speed: float, *, looks: int = 10) -> None:
        if not (math.isfinite(speed) and speed > 0.0):
            raise ValueError(
                f"speed = {speed} is no bound; give a positive speed in m/s below which a grain is at rest"
            )
        self.speed = speed
        self.looks = looks
        self._quiet = 0

    def look(self, simulation: Simulation) -> None:
        bodies = simulation.bodies
        pistons = [row for row, wall in enumerate(bodies.walls, start=bodies.count) if wall.guided]
        fastest = max(top_speed(bodies.motion[: bodies.count]), top_speed(bodies.motion[pistons]))
        at_rest = fastest < self.speed and simulation.contacts.forces[:, 0].any()
        self._quiet = self._quiet + 1 if at_rest else 0
        if self._quiet >= self.looks:
            raise StopRun(f"static: no body faster than {self.speed:g} m/s at {self.looks} looks in a row")
