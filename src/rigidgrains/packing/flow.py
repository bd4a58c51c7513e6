"""Velocities in a cell that deforms: those about the flow are kept, and the flow is added at the new places."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..model import deforming
from .sample import Sample


def with_flow(sample: Sample) -> Sample:
    """Velocities that go with the present places, from those about the flow, as trajectory/cell_table.py has them."""
    grains, tables, cell = sample.grains, sample.tables, sample.cell
    if cell is None or not sample.flows:
        return sample
    now, before = grains["peculiar_velocity"], grains["peculiar_velocity_before"]
    rate, dt = tables["cell_rate"], sample.figures["dt"]
    there = grains["position"] - cell.origin
    if sample.whole:
        there = (there - dt * now) @ np.linalg.inv(np.eye(3) + dt * rate).T
    return replace(
        sample,
        grains=grains
        | {
            "velocity": deforming.velocities(grains["position"], now, rate, cell.origin),
            "velocity_before": deforming.velocities(there, before, tables["cell_rate_before"], np.zeros(3)),
        },
    )
