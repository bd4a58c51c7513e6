"""A linear spring that pulls grains: one end at their centre of mass, the other moves in the course of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .time_functions import TimeFunction, rebuild_time_function

if TYPE_CHECKING:
    from .bodies import Bodies

Array = NDArray[np.float64]


@dataclass
class Spring:
    """It acts along a direction alone, and each grain gets its share by mass.

    group, index : the grains, all of the group if index is None
    stiffness : k, N/m; direction : (3,) unit vector
    function    : displacement X of the free end along the direction (m)
    start     : m, where along the direction the centre of mass was, with X, when the spring was relaxed
    force     : N, k (X - x) in the last step
    """

    name: str
    group: str
    index: list[int] | None
    stiffness: float
    direction: Array
    function: TimeFunction
    start: float
    force: float = 0.0

    def rows(self, bodies: Bodies) -> NDArray[np.int64]:
        """Rows of the grains it pulls."""
        group = np.arange(bodies.count)[bodies.groups[self.group]]
        return group if self.index is None else group[self.index]

    def mass(self, bodies: Bodies) -> float:
        """kg, of the grains it pulls."""
        return float(bodies.mass[self.rows(bodies)].sum())

    def stretch(self, bodies: Bodies, time: float) -> float:
        """m, X(t) - x with the grains where they are now."""
        return self.function.value(time) - (self.place(bodies) - self.start)

    def place(self, bodies: Bodies) -> float:
        """m, of the centre of mass along the direction."""
        some = self.rows(bodies)
        mass = bodies.mass[some]
        return float(mass @ (bodies.unwrapped[some] @ self.direction)) / float(mass.sum())

    def energy(self, bodies: Bodies, time: float) -> float:
        """J"""
        return 0.5 * self.stiffness * self.stretch(bodies, time) ** 2

    def words(self) -> dict[str, Any]:
        """As plain words and numbers, exact."""
        own = {name: value for name, value in vars(self).items() if name != "function"}
        return own | {"direction": self.direction.tolist(), "course": self.function.words()}

    @classmethod
    def from_words(cls, words: dict[str, Any]) -> Spring:
        own = {name: value for name, value in words.items() if name != "course"}
        function = rebuild_time_function(words["course"])
        return cls(**own | {"direction": np.array(words["direction"]), "function": function})


def set_springs(bodies: Bodies, time: float, dt: float) -> None:
    """The forces of the step: where grains are at its beginning and the free end at its end.

    Velocities are found from these, and positions from the velocities: the energy of a swing stays within bounds for
    k dt^2 < 4 m. A step that is so long that it could not follow a swing is refused.
    """
    for spring in bodies.springs:
        mass = spring.mass(bodies)
        if spring.stiffness * dt**2 > mass:
            raise ValueError(
                f"spring '{spring.name}': k dt^2 = {spring.stiffness * dt**2:.3g} kg is more than the mass of "
                f"{mass:.3g} kg that it pulls; use a dt below {np.sqrt(mass / spring.stiffness):.2g} s"
            )
        spring.force = spring.stiffness * spring.stretch(bodies, time + dt)
    bodies.pull = pulls(bodies)


def pulls(bodies: Bodies) -> Array:
    """(n, 3) N, forces of all springs on grains; (0, 3) without any."""
    if not bodies.springs:
        return np.zeros((0, 3))
    out = np.zeros((bodies.count, 3))
    for spring in bodies.springs:
        some = spring.rows(bodies)
        out[some] += (spring.force / bodies.mass[some].sum() * bodies.mass[some])[:, None] * spring.direction
    return out
