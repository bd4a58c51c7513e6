"""History: time series of a run, one row per look."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from . import measure
from .base import Observer
from .rigidity import rigidity

if TYPE_CHECKING:
    from ..simulation import Simulation

COLUMNS = {
    "time": "s",
    "sweeps": "",
    "converged": "",
    "contacts": "",
    "mean_force": "N",
    "kinetic_energy": "J",
    "mean_overlap": "mean radii",
    "max_overlap": "mean radii",
    "diffusion_length": "m",
    "sound_velocity": "m/s",
    "critical_wave_length": "m",
    "stiffness": "N/m",
    "viscosity": "N s/m",
    "cluster": "grains",
    "cluster_extent": "m",
}


class History(Observer):
    """Records time, sweeps, contacts, mean force, energy, overlap and rigidity; `history["time"]` is a column."""

    def __init__(self) -> None:
        self.rows: list[tuple[float, ...]] = []

    def look(self, simulation: Simulation) -> None:
        bodies, contacts, solve = simulation.bodies, simulation.contacts, simulation.last_solve
        overlap = measure.overlaps(bodies, contacts) / bodies.radius.mean()
        meter = rigidity(simulation)
        self.rows.append(
            (
                simulation.time,
                solve.sweeps,
                solve.converged,
                len(overlap),
                solve.mean_force,
                measure.kinetic_energy(bodies),
                float(overlap.mean()) if len(overlap) else 0.0,
                float(overlap.max()) if len(overlap) else 0.0,
                meter.diffusion_length,
                meter.sound_velocity,
                meter.critical_wave_length,
                meter.stiffness,
                meter.viscosity,
                meter.cluster,
                meter.extent,
            )
        )

    def finish(self, simulation: Simulation) -> None:
        """The last step is always recorded."""
        if simulation.steps and (not self.rows or self.rows[-1][0] != simulation.time):
            self.look(simulation)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        column = list(COLUMNS).index(name)
        return np.array([row[column] for row in self.rows], dtype=float)

    def save(self, path: Path) -> None:
        """Write a CSV file with a header line of names and units."""
        header = ",".join(f"{name} [{unit}]" if unit else name for name, unit in COLUMNS.items())
        np.savetxt(
            path, np.array(self.rows, dtype=float).reshape(-1, len(COLUMNS)), "%.10g", ",", header=header, comments=""
        )
