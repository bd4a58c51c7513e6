"""History: time series of a run, one row per look."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..simulation import figures as measured
from ..simulation.columns import COLUMNS, figures
from ..simulation.tally import INTERRUPTED
from ..simulation.triggers import Observer

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation


class History(Observer):
    """Records time, sweeps, contacts, residual, energies, overlap and rigidity; `history["time"]` is a column.

    `converged` is 1 or 0, and NaN in steps of which that was not asked.
    In a periodic cell also its volume, packing fraction, pressure and shear stress xy, compression positive.

    names      : of the columns
    wall_force : force of the grains on each wall (walls, 3) in N, one entry per row; zero for walls that are not there
    wall_names : the walls of the scene
    by_momentum : whether rigidity is judged by the momentum error, as in the report, or by the diffusion length
    """

    ends = True

    def __init__(self) -> None:
        self.names = list(COLUMNS)
        self.rows: list[tuple[float, ...]] = []
        self.wall_force: list[NDArray[np.float64]] = []
        self.wall_names: list[str] = []
        self.by_momentum = False

    def look(self, simulation: Simulation) -> None:
        now = figures(simulation)
        self.names = list(now)
        self.rows.append(tuple(float(value) for value in now.values()))
        self.wall_force.append(measured.forces_on_all_walls(simulation.bodies, simulation.contacts))
        self.wall_names = [wall.name for wall in simulation.bodies.all_walls]
        self.by_momentum = math.isfinite(simulation.last_solve.momentum_error)

    def finish(self, simulation: Simulation) -> None:
        """The last step is always recorded, unless it is only an interruption: a run that goes on has no such row.

        After a step that failed the one before has lost its forces, and no figures could be told.
        """
        if simulation.tally.stopped == INTERRUPTED or not simulation.whole:
            return
        if simulation.steps and (not self.rows or self.rows[-1][0] != simulation.steps):
            self.look(simulation)

    def __len__(self) -> int:
        return len(self.rows)

    def _repr_html_(self) -> str:
        from ..view.notebook_more import history_html

        return history_html(self)

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        column = self.names.index(name)
        return np.array([row[column] for row in self.rows], dtype=float)
