"""A plain scene: what the scenes of plain_scenes.py have in common.

words     : of `rigidgrains.Scene`
begin, samples : time from which on the state is sampled, and how often until the end; one sample is the end alone
walls, opening : the same walls as lines of LAMMPS, see plain_lammps.py
results   : physical results of a list of samples, the same function for all codes: name -> (mean, standard error)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from plain_measures import Result, State, pair_overlaps

RADII = [0.4, 0.6]
ROUGH = 1.0  # friction coefficient of walls that drive grains
THIN = 0.01  # thickness of a plate for LAMMPS, whose blocks have one


@dataclass(frozen=True)
class Start:
    """Grains at the beginning: position (n, 3), radius (n,)."""

    position: np.ndarray
    radius: np.ndarray


class PlainScene:
    """What all scenes have in common."""

    name = ""
    dimension = 3
    size = 1000  # grains, if nothing else is asked for
    few = 200  # grains of a short scene
    at_rest = False  # whether grains stand still at the end
    boundary = "f f f"
    begin = 0.0
    samples = 1
    words: dict[str, Any]
    until: float
    box: list[tuple[float, float]]  # of LAMMPS; what leaves it is gone

    def __init__(self, grains: int, seed: int, *, short: bool = False) -> None:
        self.grains, self.seed, self.short = grains, seed, short

    @property
    def label(self) -> str:
        return self.name

    @property
    def interval(self) -> float:
        """Time between two samples."""
        return (self.until - self.begin) / self.samples

    @property
    def unit(self) -> float:
        """Time that is a whole number of LAMMPS' steps."""
        return self.interval

    def scene(self, **more: Any) -> Any:
        """The scene of rigidgrains; `more` is nothing, or the level of accuracy."""
        import rigidgrains as rg

        return rg.Scene(**self.words, **more)

    def start(self) -> Start:
        bodies = self.scene().build()
        return Start(np.array(bodies.position), np.array(bodies.radius))

    def stiffness(self, overlap: float) -> float:
        """A guess of LAMMPS' stiffness that leaves so much overlap (mean radii), from which a search begins."""
        return 3.0 / overlap * (self.grains / 1000.0) ** (1.0 / 3.0)

    def walls(self, law: str, rough: str, steps: int) -> str:
        """Lines of LAMMPS; law and rough : hooke/history and its numbers, with MU and with ROUGH."""
        raise NotImplementedError

    def opening(self) -> tuple[float, str]:
        """Time and line of LAMMPS that opens a gate, if there is one."""
        return 0.0, ""

    def overlaps(self, state: State) -> np.ndarray:
        """Overlaps of all contacts between grains, over the mean radius."""
        return pair_overlaps(state) / 0.5

    def results(self, states: list[State]) -> dict[str, Result]:
        """What is compared, beside the contacts per grain and the share of them that slides."""
        return {}
