"""The cell in a file: arrays by name, for frames and checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..model import deforming as flow
from ..model.bodies import Bodies
from ..model.cell import Cell
from ..model.columns import INV_M_X, L, V

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation

Arrays = dict[str, NDArray[Any]]


def tables(bodies: Bodies) -> Arrays:
    """Arrays (k, 3) of the cell; none without a cell. A stress is not a number where none is prescribed."""
    cell = bodies.cell
    if cell is None:
        return {}
    return {
        "cell_vectors": cell.vectors.copy(),
        "cell_origin": cell.origin[None].copy(),
        "cell_periodic": cell.periodic[None].astype(np.uint8),
        "cell_rate": bodies.flow[:, L].copy(),
        "cell_stress": np.where(cell.free, cell.stress, np.nan),
    }


def motion(bodies: Bodies, before: NDArray[Any]) -> Arrays:
    """Of a cell that deforms: L before the step and mobilities; none for one that keeps still."""
    if not bodies.flows:
        return {}
    rate = before[bodies.rows - 3 : bodies.rows, L]
    return {"cell_rate_before": rate.copy(), "cell_mobility": bodies.flow[:, INV_M_X:].copy()}


def control(bodies: Bodies) -> Arrays:
    """What a checkpoint needs besides: prescribed rates, stresses and how they are prescribed."""
    cell = bodies.cell
    if cell is None:
        return {}
    return {
        "control_rate": cell.rate,
        "control_stress": cell.stress,
        "control_strain": cell.strain,
        "control_free": cell.free.astype(np.uint8),
        "control_inertia": np.array([cell.inertia, float(cell.isotropic), float(cell.moves)]),
    }


def rebuild(arrays: Arrays) -> Cell | None:
    """The cell of these arrays; None if they hold none."""
    if "cell_vectors" not in arrays:
        return None
    inertia, isotropic, moves = arrays["control_inertia"]
    cell = Cell(
        arrays["cell_vectors"], arrays["cell_origin"][0], arrays["cell_periodic"][0] > 0, arrays["control_rate"],
        arrays["control_free"] > 0, arrays["control_stress"], bool(isotropic), float(inertia),
    )  # fmt: skip
    cell.moves = bool(moves)
    cell.strain = arrays.get("control_strain", cell.strain)  # from the checkpoint on in earlier files
    return cell


def velocities(simulation: Simulation) -> tuple[NDArray[Any], NDArray[Any]]:
    """(n, 3) m/s, at the end and at the beginning of the step, with the flow of a cell that deforms."""
    bodies, before = simulation.bodies, simulation.motion_before
    cell, peculiar = bodies.cell, before[: bodies.count, V]
    if cell is None or not bodies.flows:
        return bodies.velocity, peculiar
    rate, rate_before = bodies.flow[:, L], before[bodies.rows - 3 : bodies.rows, L]
    there = bodies.position - cell.origin
    if simulation.whole:  # where grains were before the step
        there = (there - simulation.dt * bodies.velocity) @ np.linalg.inv(np.eye(3) + simulation.dt * rate).T
    return (
        flow.velocities(bodies.position, bodies.velocity, rate, cell.origin),
        flow.velocities(there, peculiar, rate_before, np.zeros(3)),
    )
