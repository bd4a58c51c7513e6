"""Sweeps of the general shock law, plain or accelerated, until a residual is small enough."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...runtime.compiled import allocating, kernel
from ..restarts import GO_ON, RESCUE, Rule, State, choose
from .general import BlockRows, natural_map

Array = NDArray[np.float64]

LOOK = 10  # sweeps between two looks at the residual


@dataclass
class Progress:
    """The best impulses (c, 3) so far, sweeps made, and (sweeps, residual) at each look."""

    r: Array
    residual: float
    sweeps: int = 0
    history: list[tuple[int, float]] = field(default_factory=list)
    reason: str = ""

    @classmethod
    def at(cls, rows: BlockRows, start: Array) -> Progress:
        """Before the first sweep."""
        found = max(residuals(rows, start))
        return cls(start.copy(), found, history=[(0, found)])

    def goes_on(self, tolerance: float, most: int) -> bool:
        """Whether there is need and leave for more sweeps; if only need, that is the reason."""
        if self.residual > tolerance and self.sweeps >= most:
            self.reason = f"not within {most} sweeps"
        return self.residual > tolerance and self.sweeps < most

    def look(self, rows: BlockRows, r: Array, most: int) -> None:
        """Count a sweep, and now and then look where it has led."""
        self.sweeps += 1
        if self.sweeps % LOOK and self.sweeps < most:
            return
        found = max(residuals(rows, r))
        self.history.append((self.sweeps, found))
        if found < self.residual:
            self.r, self.residual = r.copy(), found


def residuals(rows: BlockRows, r: Array) -> tuple[float, float]:
    """FCLIB's residual, and the same with r in units of velocity.

    FCLIB's is the natural map |r - P(r - u')| over |q|, where an impulse is compared with a velocity as if masses were
    about 1 kg. The second takes r times the mean of W_nn in its place and means the same in all units.
    """
    u = rows.velocity(r)
    scale = float(np.linalg.norm(rows.q)) or 1.0
    unit = float(rows.own[:, 0].mean()) if rows.count else 1.0
    return natural_map(r, u, rows.mu, 1.0) / scale, natural_map(r, u, rows.mu, unit) / scale


def plain_sweeps(rows: BlockRows, start: Array, tolerance: float, most: int) -> Progress:
    """Forward and backward in turn."""
    best, r, sequence = Progress.at(rows, start), start.copy(), np.arange(rows.count, dtype=np.int32)
    while best.goes_on(tolerance, most):
        rows.sweep(r, sequence)
        best.look(rows, r, most)
        sequence = sequence[::-1].copy()
    return best


def accelerated_sweeps(rows: BlockRows, start: Array, tolerance: float, most: int, seed: int = 0) -> Progress:
    """Extrapolated sweeps as in `extrapolated.py`, by the same rule; with the mass 1/W_nn, and L/d by `extent_of`.

    There are no colours: contacts stand in a random order, which is kept between restarts.
    """
    best, rng, sequence = Progress.at(rows, start), np.random.default_rng(seed), np.arange(rows.count, dtype=np.int32)
    rule, extent, x, before, kept = Rule(), extent_of(rows), start, start, start
    state = State(scale=float((rows.own[:, :1] * x * x).sum()))
    while best.goes_on(tolerance, most):
        if state.what != GO_ON:
            rng.shuffle(sequence)
        y = x + state.beta * (x - before)
        r = y.copy()
        rows.sweep(r, sequence)
        state = decide(rule, extent, state, rows.own, x, y, r)
        before, x = x, r
        if state.better:
            kept = r
        if state.what == RESCUE:
            before = x = kept
        best.look(rows, x, most)
    return best


@kernel
def decide(rule, extent, state, own, x, y, r):
    """The state after a sweep from y to r, which came after x."""
    along, change, step = 0.0, 0.0, 0.0
    for c in range(len(r)):
        for k in range(3):
            d, s = r[c, k] - y[c, k], r[c, k] - x[c, k]
            along, change, step = along + own[c, 0] * d * s, change + own[c, 0] * d * d, step + own[c, 0] * s * s
    size = math.sqrt(change) * math.sqrt(step)
    return choose(rule, extent, state, along / size if size > 0.0 else 0.0, change)


def extent_of(rows: BlockRows) -> float:
    """L/d where W alone is known: contacts along the longest of the shortest ways from one contact to another.

    Two contacts are neighbours where W couples them, that is, where a body that can move has both.
    """
    return float(longest_way(rows.start, rows.column))


@allocating
def longest_way(start, column):
    """Contacts on the way from one that is farthest from the first of its cluster to the farthest from there."""
    contacts = len(start) - 1
    ahead, steps, longest = np.empty(contacts, np.int32), np.full(contacts, -1, np.int32), 0
    again = np.full(contacts, -1, np.int32)
    for c in range(contacts):
        if steps[c] < 0:
            far = spread(c, start, column, ahead, steps)
            longest = max(longest, 1 + again[spread(far, start, column, ahead, again)])
    return longest


@kernel
def spread(first, start, column, ahead, steps):
    """Steps (c,) from the first contact to all of its cluster; returns the last one that is reached."""
    ahead[0], steps[first], end, at = first, 0, 1, 0
    while at < end:
        c = ahead[at]
        at += 1
        for k in range(start[c], start[c + 1]):
            if steps[column[k]] < 0:
                ahead[end], steps[column[k]] = column[k], steps[c] + 1
                end += 1
    return ahead[end - 1]
