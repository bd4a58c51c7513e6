"""History: time series of a run, one row per look."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..model.turning import turned_back
from ..runtime.memory import Workspace
from ..simulation import figures as measured
from ..simulation.rigidity import rigidity
from ..simulation.tally import INTERRUPTED
from ..simulation.triggers import Observer
from ..solve.residual import residual
from ..solve.virtual_power import momentum_error

if TYPE_CHECKING:
    from ..model.bodies import Bodies
    from ..simulation.simulation import Simulation

COLUMNS = {
    "step": "",
    "time": "s",
    "dt": "s",
    "sweeps": "",
    "updates": "",
    "converged": "",
    "contacts": "",
    "mean_force": "N",
    "residual": "",
    "momentum_error": "",
    "kinetic_energy": "J",
    "potential_energy": "J",
    "mean_overlap": "mean radii",
    "max_overlap": "mean radii",
    "diffusion_length": "m",
    "sound_velocity": "m/s",
    "critical_wave_length": "m",
    "stiffness": "N/m",
    "viscosity": "N s/m",
    "cluster": "grains",
    "cluster_extent": "m",
    "grains": "",
    "entered": "grains",
    "left": "grains",
    "mass_left": "kg",
}
OF_CELL = {
    "volume": "m^3, m^2 in 2D",
    "packing_fraction": "",
    "pressure": "Pa, N/m in 2D",
    "shear_stress": "Pa, N/m in 2D",
}


def columns(bodies: Bodies) -> list[str]:
    """Names of the quantities that are recorded: those of OF_CELL in a periodic cell only, springs if there are any."""
    springs = ["spring_energy", *(f"{spring.name}.force" for spring in bodies.springs)] if bodies.springs else []
    return [*COLUMNS, *(OF_CELL if bodies.cell is not None else ()), *springs]


def figures(simulation: Simulation) -> dict[str, float]:
    """The quantities of `columns` at the present step."""
    bodies, contacts, solve = simulation.bodies, simulation.contacts, simulation.last_solve
    overlap = measured.overlaps(bodies, contacts)
    overlap /= bodies.mean_radius
    # nothing is kept for the next time
    problem = replace(contacts.problem(bodies, simulation.dt), motion=turned_back(bodies), work=Workspace())
    meter = rigidity(simulation)
    cell = measured.cell_figures(bodies, contacts)
    return {
        "step": simulation.steps,
        "time": simulation.time,
        "dt": simulation.dt,
        "sweeps": solve.sweeps,
        "updates": solve.updates,
        "converged": math.nan if solve.converged is None else solve.converged,
        "contacts": len(overlap),
        "mean_force": solve.mean_force,
        "residual": residual(problem),
        "momentum_error": momentum_error(problem),
        "kinetic_energy": measured.kinetic_energy(bodies),
        "potential_energy": measured.potential_energy(bodies),
        "mean_overlap": float(overlap.mean()) if len(overlap) else 0.0,
        "max_overlap": float(overlap.max()) if len(overlap) else 0.0,
        "diffusion_length": meter.diffusion_length,
        "sound_velocity": meter.sound_velocity,
        "critical_wave_length": meter.critical_wave_length,
        "stiffness": meter.stiffness,
        "viscosity": meter.viscosity,
        "cluster": meter.cluster,
        "cluster_extent": meter.extent,
        "grains": bodies.count,
        **streams(bodies),
        **{name: cell[name] for name in OF_CELL if name in cell},
        **_springs(simulation),
    }


def _springs(simulation: Simulation) -> dict[str, float]:
    """Energy of all springs (J), and the force of each in the last step (N)."""
    springs = simulation.bodies.springs
    if not springs:
        return {}
    energy = measured.spring_energy(simulation.bodies, simulation.time)
    return {"spring_energy": energy} | {f"{spring.name}.force": spring.force for spring in springs}


def streams(bodies: Bodies) -> dict[str, float]:
    """Grains that have entered for the first time so far, that have left, and their mass (kg)."""
    inflows, outlets = ([], []) if bodies.events is None else (bodies.events.inflows, bodies.events.outlets)
    return {
        "entered": sum(inflow.made for inflow in inflows),
        "left": sum(outlet.count for outlet in outlets),
        "mass_left": sum(outlet.mass for outlet in outlets),
    }


class History(Observer):
    """Records time, sweeps, contacts, residual, energies, overlap and rigidity; `history["time"]` is a column.

    `converged` is 1 or 0, and NaN in steps of which that was not asked.
    In a periodic cell also its volume, packing fraction, pressure and shear stress xy, compression positive.

    names      : of the columns
    wall_force : force of the grains on each wall (walls, 3) in N, one entry per row; zero for walls that are not there
    wall_names : the walls of the scene
    by_momentum : whether rigidity is judged by the momentum error, as in the report, or by the diffusion length
    """

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
        """The last step is always recorded, unless it is only an interruption: a run that goes on has no such row."""
        if simulation.tally.stopped == INTERRUPTED:
            return
        if simulation.steps and (not self.rows or self.rows[-1][0] != simulation.steps):
            self.look(simulation)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        column = self.names.index(name)
        return np.array([row[column] for row in self.rows], dtype=float)
