"""The columns of a history: what is measured of each step that is recorded, and asked by stages."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..model.turning import turned_back
from ..runtime.memory import Workspace
from ..solve.residual import residual
from ..solve.virtual_power import momentum_error
from . import figures as measured
from .rigidity import rigidity
from .wall_figures import wall_columns, wall_figures

if TYPE_CHECKING:
    from ..contacts.contacts import Contacts
    from ..model.bodies import Bodies
    from .simulation import Simulation

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
AXES = "xyz"


def columns(bodies: Bodies) -> list[str]:
    """Names of the quantities that are recorded: of a cell, springs, stages and walls that move if there are any."""
    springs = ["spring_energy", *(f"{spring.name}.force" for spring in bodies.springs)] if bodies.springs else []
    cell = [*OF_CELL, *of_flow(bodies)] if bodies.cell is not None else []
    return [
        *COLUMNS,
        *cell,
        *springs,
        *(["stage"] if has_stages(bodies) else []),
        *wall_columns(bodies),
        *_guides(bodies),
    ]


def unit_of(name: str) -> str:
    """Unit of a column."""
    own = {"force": "N", "displacement": "m", "torque": "N m", "power": "W", "work": "J"}
    if name.startswith("stress_"):
        return OF_CELL["pressure"]
    tail = name.rpartition(".")[2].partition("_")[0]
    return (COLUMNS | OF_CELL).get(name) or (own.get(tail, "") if "." in name else "")


def value(simulation: Any, name: str) -> float:
    """One of the quantities at the present step."""
    bodies, contacts = simulation.bodies, simulation.contacts
    if name == "kinetic_energy":
        return measured.kinetic_energy(bodies)
    if name in OF_CELL or name in of_flow(bodies):
        return _cell(bodies, contacts)[name]
    if name in (guided := _guides(bodies)):
        return guided[name]
    if name in wall_columns(bodies):
        return wall_figures(bodies, contacts, simulation.dt)[name]
    return figures(simulation)[name]


def has_stages(bodies: Bodies) -> bool:
    """Whether the run goes in stages."""
    return bodies.events is not None and bodies.events.stages is not None


def of_flow(bodies: Bodies) -> list[str]:
    """Stress and strain of a cell that deforms, by components."""
    if not bodies.flows:
        return []
    assert bodies.cell is not None
    along = [axis for axis, has in zip(AXES, bodies.cell.periodic) if has]
    normal = [f"{axis}{axis}" for axis in along]
    shear = [f"{a}{b}" for k, a in enumerate(along) for b in along[k + 1 :]]
    return [*(f"stress_{name}" for name in normal), *(f"strain_{name}" for name in [*normal, *shear])]


def _cell(bodies: Bodies, contacts: Contacts) -> dict[str, float]:
    """Of a periodic cell; strains of one that deforms are added up over time, shortening positive."""
    cell = measured.cell_figures(bodies, contacts)
    out = {name: cell[name] for name in OF_CELL if name in cell}
    for name in of_flow(bodies):
        kind, _, axes = name.partition("_")
        if kind == "stress":
            out[name] = cell[name]
        elif bodies.cell is not None:
            a, b = AXES.index(axes[0]), AXES.index(axes[1])
            strain = float(bodies.cell.strain[a, b])
            out[name] = -strain if a == b else strain
    return out


def figures(simulation: Simulation) -> dict[str, float]:
    """The quantities of `columns` at the present step."""
    bodies, contacts, solve = simulation.bodies, simulation.contacts, simulation.last_solve
    overlap = measured.overlaps(bodies, contacts)
    overlap /= bodies.mean_radius
    # nothing is kept for the next time
    problem = replace(contacts.problem(bodies, simulation.dt), motion=turned_back(bodies), work=Workspace())
    meter = rigidity(simulation)
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
        **_cell(bodies, contacts),
        **_springs(simulation),
        **_stage(bodies),
        **wall_figures(bodies, contacts, simulation.dt),
        **_guides(bodies),
    }


def _guides(bodies: Bodies) -> dict[str, float]:
    """Of grains with prescribed motion: force and torque of others on them, power and work of who moves them."""
    out: dict[str, float] = {}
    for guide in bodies.guides:
        out |= {f"{guide.name}.force_{axis}": float(guide.force[k]) for k, axis in enumerate(AXES[: bodies.dimension])}
        axes = {"": 2} if bodies.dimension == 2 else {f"_{axis}": k for k, axis in enumerate(AXES)}
        out |= {f"{guide.name}.torque{axis}": float(guide.torque[k]) for axis, k in axes.items()}
        out |= {f"{guide.name}.power": guide.power, f"{guide.name}.work": guide.work}
    return out


def _stage(bodies: Bodies) -> dict[str, float]:
    """Number of the stage that the step was taken in, from 1."""
    if bodies.events is None or bodies.events.stages is None:
        return {}
    return {"stage": max(bodies.events.stages.number, 0) + 1.0}


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
