"""Images of grains in a periodic cell, for all that is measured in a box.

The box from the cell's origin with the diagonal of its vectors as edges fills space once with its images, whether the
cell leans or not: vectors are those of a sheared box. So what is found in that box is found in the cell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.cell import Cell
from .state import Array, Frame, Index, double


@dataclass(frozen=True)
class Images:
    """owner : (m,) rows of the grains; shift : (m, 3) m, by which each image is away from its grain"""

    owner: Index
    shift: Array


def cell_of(frame: Frame) -> Cell | None:
    """The periodic cell of a frame; None without one."""
    if frame.cell is None or frame.cell_periodic is None:
        return None
    return Cell(double(frame.cell), double(frame.cell_origin), frame.cell_periodic)


def bounds(frame: Frame) -> tuple[Array, Array]:
    """(3,) and (3,) m, corners of the box that stands for the cell; infinite along directions without images."""
    cell = cell_of(frame)
    if cell is None:
        return np.full(3, -np.inf), np.full(3, np.inf)
    upper = cell.origin + np.diag(cell.vectors)
    return np.where(cell.periodic, cell.origin, -np.inf), np.where(cell.periodic, upper, np.inf)


def images(position: Array, cell: Cell | None, lower: Array, upper: Array, reach: Array | float = 0.0) -> Images:
    """All images of positions (n, 3) up to `reach` (n,) m out of a box, which is finite along periodic directions.

    Along directions without images nothing is left out.
    """
    owner, shift = np.arange(len(position)), np.zeros((len(position), 3))
    if cell is None:
        return Images(owner, shift)
    reach = np.broadcast_to(reach, len(position))
    for axis in (2, 1, 0):  # a vector has no part beyond its own axis, so the axes that are done stay done
        if not cell.periodic[axis]:
            continue
        at, edge, far = position[owner, axis] + shift[:, axis], cell.vectors[axis, axis], reach[owner]
        first = np.ceil((lower[axis] - far - at) / edge).astype(np.int64)
        last = np.floor((upper[axis] + far - at) / edge).astype(np.int64)
        many = np.maximum(last - first + 1, 0)
        before = np.cumsum(many) - many
        which = np.repeat(first - before, many) + np.arange(int(many.sum()))
        owner = np.repeat(owner, many)
        shift = np.repeat(shift, many, axis=0) + which[:, None] * cell.vectors[axis]
    return Images(owner, shift)


def home(frame: Frame) -> Array:
    """(n, 3) m, positions brought into the box that stands for the cell."""
    position, cell = double(frame.position).copy(), cell_of(frame)
    for axis in (2, 1, 0):
        if cell is not None and cell.periodic[axis]:
            away = np.floor((position[:, axis] - cell.origin[axis]) / cell.vectors[axis, axis])
            position -= away[:, None] * cell.vectors[axis]
    return position


def unwrapped(frame: Frame) -> Array:
    """(n, 3) m, where grains really are after all faces they have crossed."""
    position = double(frame.position)
    return position if frame.cell is None or frame.image is None else position + frame.image @ double(frame.cell)


def velocity_gradient(frame: Frame) -> Array:
    """(3, 3) 1/s, L of the flow v = L (x - origin) with which the cell deforms; zero if it does not."""
    return np.zeros((3, 3)) if frame.cell_rate is None else double(frame.cell_rate)


def start(frame: Frame) -> Array:
    """(n, 3) m, positions at the beginning of the step, where the contacts were found."""
    rate = velocity_gradient(frame)
    if not rate.any():
        return double(frame.position) - frame.dt * double(frame.velocity)
    there = double(frame.position) - double(frame.cell_origin) - frame.dt * double(frame.peculiar_velocity)
    return double(frame.cell_origin) + _undo(rate, frame.dt, there)


def cell_before(frame: Frame) -> Array:
    """(3, 3) m, vectors of the cell at the beginning of the step."""
    return _undo(velocity_gradient(frame), frame.dt, double(frame.cell))


def pushed(frame: Frame) -> Array:
    """(n, 3) N, sum of the contact forces on each grain, as its motion in the last step tells it.

    In a cell that deforms Newton's law is m dc/dt = F - m L c for velocities c about its flow.
    """
    mass, dt = double(frame.mass)[:, None], frame.dt
    weight = mass * double(frame.gravity) + double(frame.external_force)
    c, before = double(frame.peculiar_velocity), double(frame.peculiar_velocity_before)
    if frame.cell_rate_before is None:
        return mass * (c - before) / dt - weight
    return mass * (c - _undo(rate_begun(frame), dt, before + dt * weight / mass)) / dt


def rate_begun(frame: Frame) -> Array:
    """(3, 3) 1/s, L that acts on grains in a step: that before it where a stress is prescribed, else as prescribed."""
    free = ~np.isnan(double(frame.cell_stress))
    return np.where(free, double(frame.cell_rate_before), velocity_gradient(frame))


def _undo(rate: Array, dt: float, vectors: Array) -> Array:
    """(m, 3), vectors before a step of the flow."""
    return np.asarray(np.linalg.solve(np.eye(3) + dt * rate, vectors.T).T, dtype=float)


def affine_flow(frame: Frame) -> Array:
    """(n, 3) m/s, the flow of a deforming cell at each grain; zero without one."""
    rate = velocity_gradient(frame)
    if not rate.any():
        return np.zeros((len(frame), 3))
    return np.asarray((double(frame.position) - double(frame.cell_origin)) @ rate.T)
