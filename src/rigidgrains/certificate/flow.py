"""A cell that deforms, with formulas of its own: its flow, its inertia, and how both change in a step.

v = c + L (x - origin). Over the step m c' = m (1 + dt L)^-1 (c + dt F/m) + dt sum of R, x' = x + dt (c' + L' (x -
origin)), and where a stress P is prescribed M (L' - L) = dt (sum of R b + sum of m c c - Omega P). Components without a
stress have the rate that is prescribed for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .verdict import Check, worst_of

if TYPE_CHECKING:
    from .links import Links
    from .state import State

Array = NDArray[np.float64]

# Columns of `cell_mobility`: 1/M of components of L on their own, of the diagonal as one, and where that acts
EACH, SWELL, ACTS = slice(0, 3), 3, 4


class Flow:
    """Of a frame; all zero without a cell that deforms.

    moves    : True when there is one; rate, before : (3, 3) 1/s, L at the end and at the beginning of the step
    free     : (3, 3) True for components with a prescribed stress (3, 3) Pa
    each     : (3, 3) 1/(kg m^2), mobility 1/M of components on their own
    swell    : 1/(kg m^2), mobility of the diagonal as one; acts : (3,) True where that moves
    """

    def __init__(self, state: State) -> None:
        frame, nothing = state.frame, np.zeros((3, 3))
        self.rate = nothing if frame.cell_rate is None else np.asarray(frame.cell_rate, dtype=float)
        mobility = frame.cell_mobility
        self.moves = mobility is not None
        self.before = self.rate if frame.cell_rate_before is None else np.asarray(frame.cell_rate_before, dtype=float)
        stress = np.full((3, 3), np.nan) if frame.cell_stress is None else np.asarray(frame.cell_stress, dtype=float)
        self.free = ~np.isnan(stress)
        self.stress = np.where(self.free, stress, 0.0)
        self.each = nothing if mobility is None else np.asarray(mobility[:, EACH], dtype=float)
        self.acts = np.zeros(3, np.bool_) if mobility is None else np.asarray(mobility[:, ACTS]) > 0.0
        self.swell = 0.0 if mobility is None or not self.acts.any() else float(mobility[self.acts, SWELL][0])

    @property
    def begun(self) -> Array:
        """(3, 3) 1/s, L with the rates of this step and without its forces."""
        return np.where(self.free, self.before, self.rate)

    @property
    def most(self) -> float:
        """1/(kg m^2), the largest mobility."""
        return max(float(self.each.max()), self.swell)

    def carried(self, velocity: Array, dt: float) -> Array:
        """(n, 3) m/s, peculiar velocities after the flow has acted on them: c' = c - dt L c'."""
        if not self.moves:
            return velocity
        return _solve(np.eye(3) + dt * self.begun, velocity)

    def back(self, places: Array, dt: float) -> Array:
        """(m, 3) m, where places relative to the origin, or vectors, were at the beginning of the step."""
        return _solve(np.eye(3) + dt * self.rate, places) if self.moves else places

    def pushed(self, moment: Array) -> Array:
        """(3, 3) 1/s, change of L by the moment (3, 3) of impulses, J s: each component by its own, or all sides."""
        return np.asarray(self.each * moment + np.diag(self.acts * self.swell * np.diag(moment)[self.acts].sum()))

    def kinetic(self, rate: Array) -> float:
        """J, of the free components at a rate (3, 3)."""
        some = self.each > 0.0
        each = float((0.5 * rate[some] ** 2 / self.each[some]).sum())
        return each + (0.5 * float(rate.diagonal()[self.acts][0]) ** 2 / self.swell if self.swell else 0.0)


def _solve(matrix: Array, vectors: Array) -> Array:
    """(m, 3), each vector before the matrix acted on it."""
    return np.asarray(np.linalg.solve(matrix, vectors.T).T, dtype=float)


def agitation(state: State) -> Array:
    """(3, 3) J, sum of m c c in the step without contacts, c being the mean of before and after the flow has acted."""
    push = state.velocity_before + state.dt * (state.gravity + state.force / state.mass[:, None])
    return np.asarray((state.mass[:, None] * 0.5 * (push + state.free_velocity)).T @ state.free_velocity)


def load(state: State) -> Array:
    """(3, 3) J, what drives the cell without contacts: sum of m c c - Omega P."""
    assert state.cell_before is not None
    return agitation(state) - abs(float(np.linalg.det(state.cell_before))) * state.flow.stress


def free_rate(state: State) -> Array:
    """(3, 3) 1/s, L at the end of the step without contact forces."""
    flow = state.flow
    return flow.begun + flow.pushed(state.dt * load(state)) if flow.moves else flow.rate


def work(links: Links) -> float:
    """J, of the cell in the step: of whoever prescribes rates and stresses, and by the flow on the grains."""
    state, flow, dt = links.state, links.state.flow, links.state.dt
    moment = links.force.T @ links.branch
    prescribed = np.where(flow.free, 0.0, flow.rate)
    by_flow = ((state.mass[:, None] * state.velocity) * (state.free_velocity @ flow.begun.T)).sum()
    by_stress = (np.where(flow.free, flow.rate, 0.0) * load(state)).sum()
    return dt * float(by_stress - by_flow - (prescribed * moment).sum())


def checks(links: Links) -> list[Check]:
    """Velocities with those of the flow, and Newton's law of the free components; none without such a cell."""
    state, flow, dt = links.state, links.state.flow, links.state.dt
    if not flow.moves or state.cell is None or state.cell_origin is None:
        return []
    frame = state.frame
    there = state.position - state.cell_origin, state.start - state.cell_origin
    full = np.asarray(frame.velocity, dtype=float), np.asarray(frame.velocity_before, dtype=float)
    miss = np.stack([
        np.abs(full[0] - state.velocity - there[0] @ flow.rate.T).max(axis=1),
        np.abs(full[1] - state.velocity_before - there[1] @ flow.before.T).max(axis=1),
    ]).max(axis=0)  # fmt: skip
    size = float(np.abs(flow.rate).max() + np.abs(flow.before).max())
    speed = np.maximum(
        state.speed[: state.n] + size * (np.abs(there[0]).max(axis=1) + state.coordinate[: state.n]), 1e-300
    )
    moment, pressed = links.force.T @ links.branch, np.abs(links.force).T @ np.abs(links.branch)
    gained, given = flow.rate - flow.begun, flow.pushed(dt * (moment + load(state)))
    weight = np.abs(agitation(state)) + abs(float(np.linalg.det(state.cell))) * np.abs(flow.stress)
    scale = np.abs(flow.rate) + np.abs(flow.begun) + np.abs(flow.pushed(dt * (pressed + weight)))
    lacks = np.where(flow.free, np.abs(gained - given) / np.where(scale > 0.0, scale, 1.0), 0.0)

    def place(i: int) -> str:
        return f"{state.grain(i)} moves at {full[0][i]} m/s, {state.velocity[i]} m/s about the flow of the cell"

    def component(k: int) -> str:
        a, b = divmod(k, 3)
        return (
            f"L_{'xyz'[a]}{'xyz'[b]} gained {gained[a, b]:.9g} 1/s where forces and stress give {given[a, b]:.9g} 1/s"
        )

    return [
        worst_of("flow", miss / speed, state.rounding, "the speeds", place),
        worst_of("cell", lacks.ravel(), state.rounding, "L + dt (R b + m c c + Omega P)/M", component),
    ]
