"""Deflation: extrapolation leaves out oscillating directions, which it would feed where contacts slide.

Where contacts slide the sweep is an unsymmetric map. A complex pair of its eigenvalues, often on a few dozen contacts,
grows under an extrapolation that all others can bear. While it does it dominates what sweeps change: two differences
between changes a few sweeps apart span it, without the steady change of the slow modes that need it. Forces are
extrapolated without their part along these two: to the pair it is as if sweeps were plain.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contacts.problem import ContactProblem
from ..runtime.compiled import kernel
from ..runtime.memory import Workspace
from .kernels.factory import kernels_for

Array = NDArray[np.float64]
Index = NDArray[np.int64]

EVERY = 4  # sweeps between changes that are kept
KEPT = 3  # changes
APART = 0.8  # cosine between changes below which their difference is more than noise
SHARE = 0.8  # of the differences: what the contacts hold to which they are cut
TIMES = 2  # that directions are found and left out; then all begins anew
INDEPENDENT = 0.05  # of a difference: what others must not explain


class Deflation:
    """The deflated directions, which extrapolation leaves out: forces on some contacts.

    rows       : (k,) the contacts
    directions : (m, k, columns) N, of length one and at right angles, with the weights 1/m_n and 1/m_t
    work       : where changes are kept
    """

    rows: Index
    directions: Array
    _weight: Array  # of the rows
    _less: Array  # what is taken out
    _own: tuple[Any, ...] | None  # rows of the problem

    def __init__(self, work: Workspace) -> None:
        self._work = work
        self.forget()

    def forget(self) -> None:
        """No directions."""
        self.rows, self.directions = np.empty(0, np.int64), np.empty((0, 0, 0))
        self._found = 0
        self.begin_anew()

    def begin_anew(self) -> None:
        """No changes so far."""
        self._changes: list[Array] = []
        self._slot = 0

    def remember(self, sweeps: int, now: Array, start: Array) -> None:
        """Keep now and then what a sweep has changed."""
        if sweeps % EVERY == 0:
            room = self._work.take(f"change {self._slot} {now.shape[1]}", *now.shape)
            self._changes = [*self._changes[1 - KEPT :], np.subtract(now, start, out=room)]
            self._slot = (self._slot + 1) % KEPT

    def find_directions(self, now: Array, start: Array, weight: Array) -> bool:
        """Find directions to be left out from now on; returns whether there are any."""
        if self._found == TIMES:
            self.forget()
            return False
        differences = self._differences(now - start, weight)
        if len(differences) < 2:
            return False
        held = (weight * (differences[0] ** 2 + differences[1] ** 2)).sum(axis=1)
        if not held.any():
            return False
        order = np.argsort(-held, kind="stable")
        rows = np.sort(order[: 1 + np.searchsorted(np.cumsum(held[order]), SHARE * held.sum())])
        self._add(rows, np.stack([d[rows] for d in differences]), weight)
        self._found += 1
        self.begin_anew()
        return True

    def measure(self, beta: float, forces: Array, last: Array) -> None:
        """Measure by what forces would be extrapolated along the directions; `last` is where they were before."""
        project(beta, self.rows, self.directions, self._weight, forces, last, self._less)

    def take_out(self, problem: ContactProblem, start: Array) -> None:
        """Take that out of the forces, in the problem and where the sweep starts, and out of the velocities."""
        p = problem
        subtract(self.rows, self._less, p.forces, start)
        motion, pairs, geometry, extra, cell, _ = p.arrays
        if self._own is None:
            self._own = pairs[self.rows], geometry[self.rows], extra[self.rows], cell
        kernels_for(p).apply_forces(motion, *self._own, self._less, p.dt)

    def _differences(self, now: Array, weight: Array) -> list[Array]:
        """Between this change, an older one that points elsewhere, and again an older one."""
        found: list[Array] = []
        older = self._changes[::-1]
        while older and len(found) < 2:
            at = next((k for k, before in enumerate(older) if _cosine(now, before, weight) < APART), len(older) - 1)
            found.append(now - older[at])
            now, older = older[at], older[at + 1 :]
        return found

    def _add(self, rows: Index, more: Array, weight: Array) -> None:
        """Directions on more rows: the old ones, and what the differences on the new rows have beside them."""
        together, kept = np.union1d(self.rows, rows), len(self.directions)
        spread = np.zeros((kept + len(more), len(together), more.shape[2]))
        if kept:
            spread[:kept, np.searchsorted(together, self.rows)] = self.directions
        spread[kept:, np.searchsorted(together, rows)] = more
        self.rows, self._weight = together, weight[together]
        root = np.sqrt(self._weight)
        chosen: list[Array] = []
        for direction in (spread * root).reshape(len(spread), -1):
            rest = direction.copy()
            for _ in range(2):
                for other in chosen:
                    rest -= (rest * other).sum() * other
            if (size := math.sqrt((rest**2).sum())) > INDEPENDENT * math.sqrt((direction**2).sum()):
                chosen.append(rest / size)
        self.directions = np.stack(chosen).reshape(-1, *root.shape) / root
        self._less, self._own = np.empty_like(root), None


def _cosine(a: Array, b: Array, weight: Array) -> float:
    """Between two changes."""
    size = math.sqrt(float((weight * a * a).sum()) * float((weight * b * b).sum()))
    return float((weight * a * b).sum()) / size if size > 0.0 else 0.0


@kernel
def project(beta, rows, directions, weight, forces, last, less):
    """-beta times the part of the step from last to forces along the directions, on the rows."""
    less[:] = 0.0
    for direction in directions:
        along = 0.0
        for k in range(rows.size):
            for a in range(less.shape[1]):
                along += weight[k, a] * direction[k, a] * (forces[rows[k], a] - last[rows[k], a])
        for k in range(rows.size):
            for a in range(less.shape[1]):
                less[k, a] -= beta * along * direction[k, a]


@kernel
def subtract(rows, less, forces, start):
    """Forces with what is taken out, twice."""
    for k in range(rows.size):
        for a in range(less.shape[1]):
            forces[rows[k], a] += less[k, a]
            start[rows[k], a] += less[k, a]
