"""Extrapolated sweeps, after Nesterov: forces and velocities go on in the direction they have taken.

1. Extrapolate velocities and forces by beta.
2. Sweep, in the same order of colours as since the last restart.
3. Measure what the sweep has changed, and how much of that is along the step forces have taken.
4. Decide by `restarts.choose`: go on with a new beta, restart, or return to the best forces.
5. Look at the state when changes are as small as the criterion asks for, and now and then.

1 to 4 are one compiled loop, `kernels/extrapolated.py`; this is what it needs, and what comes before and after it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ..contacts.problem import ContactProblem
from ..model.bodies import keep_motion, restore_motion
from ..runtime.memory import copy_rows
from ..runtime.threads import part_of, together, worth
from .associated import AssociatedStart
from .criteria import StateCriterion, Verdict
from .extent import extent_of
from .kernels.factory import apply_forces, kernels_for, worth_sweeps
from .kernels.sums import changes
from .mass_ratio import burden, crossing
from .orders import Coloured
from .pace import Pace
from .residual import residual
from .restarts import RESCUE, Rule, State

Array = NDArray[np.float64]

CLOSING = 4  # plain sweeps after the associated law: single contacts settle at once
USUAL = 10.0  # times L/d sweeps, in which packings of equal grains are solved


class Extrapolated(Pace):
    """Sweeps from where the last ones were heading. After each the problem holds forces within the cone.

    associated : begin with the associated law, see associated.py
    patient    : may fall back on sweeps without extrapolation, where it does not do
    fallback   : ... and on so many iterations of the second-order method; more under bodies that sweeps cannot carry
    """

    order: Coloured
    rule = Rule()

    def __init__(
        self, order: Coloured, problem: ContactProblem, *, associated: bool = False, patient: bool = True,
        fallback: float = 0,
    ) -> None:  # fmt: skip
        super().__init__(order)
        self._work, self._may_begin, self._rule = problem.work, associated, self.rule[:]
        self._patient, self._iterations = patient, fallback
        self._free = self._work.take("free", len(problem.motion), 6)
        keep_motion(problem.motion, self._free)
        problem.free = self._free

    def begin(self, problem: ContactProblem, among: np.ndarray | None = None) -> None:
        super().begin(problem, among)
        p = problem
        self._forces, self._motion = self._like(p.forces, "forces"), self._like(p.motion, "motion")
        self._best = self._like(p.forces, "best forces")
        self._work.lend(f"best forces {p.forces.shape[1]}")  # nobody asks for them between steps
        by, n, size = self.order.colouring, len(p.position), part_of(p.count, 1)
        rows, self._colours = np.empty((2, by.count + 1), np.int64)
        self._colours = self._colours[:-1]
        scale = together(
            kernels_for(p).begin_sweeps, worth(p.count), size, np.empty(-(-p.count // size)), by.start, by.alone,
            by.inner, len(by.tiles), rows, self._colours, p.geometry, p.motion, p.forces, self._motion, self._forces,
            self._best,
        )  # fmt: skip
        motion, pairs, geometry, extra, cell, forces = p.arrays
        cell_b, sums = cell if p.branch is None else self._motion[n : n + 3], int(rows[-1])
        self._tables = (
            self._work.take("sums", sums, 3), self._work.take("sums before", sums, 3), by.sequence, by.start, by.alone,
            by.inner, by.tiles, by.tile, rows, pairs, geometry, extra, motion, cell, forces, self._motion, cell_b,
            self._forces, self._best, p.dt,
        )  # fmt: skip
        self._extent, self._associated, self.foresees = extent_of(p), AssociatedStart(), True
        self.state = State(scale=scale, restarts=self.restarts)

    def add_velocity(self, change: Array) -> None:
        self._free += change

    def begin_looks(self, problem: ContactProblem) -> None:
        if self._may_begin:
            self._associated.begin(problem, self._extent)
            self.foresees = False  # laws change at looks

    def sweep(self, problem: ContactProblem, rng: Generator) -> int:
        return self.sweeps(problem, rng, 1)

    def sweeps(
        self, problem: ContactProblem, rng: Generator, number: int, soon: int = 0, enough: float = -math.inf
    ) -> int:
        p, by, made, limit = problem, self.order.colouring, 0, enough * abs(enough)
        loop = kernels_for(p).extrapolated_sweeps
        while made < number:
            done, seed = self.state.sweeps, np.uint64(rng.bit_generator.random_raw())
            threads = worth_sweeps(len(by.sequence), number - made, self.order.worth)
            orders = np.empty((threads, by.count), np.int64)
            state = together(
                loop, threads, self._rule, self._extent, self.state[:], number - made, soon - made, limit, seed,
                self._colours, orders, *self._tables, self._associated.on,
            )  # fmt: skip
            self.state = State(*state)
            made += self.state.sweeps - done
            if self.state.what == RESCUE:
                self._return_to_best(p)
            elif self.state.change <= limit:
                break
        self.restarts, self.change = self.state.restarts, math.sqrt(self.state.change)
        return made

    def checked_sweep(
        self, problem: ContactProblem, rng: Generator, epsilon: float, delta: float
    ) -> tuple[int, int, float]:
        made = self.sweep(problem, rng)
        return made, *changes(self._forces, problem.forces, epsilon, delta)

    def adapt(self, problem: ContactProblem, verdict: Verdict) -> bool:
        """Change the law where the associated one has done its work."""
        if not self._associated.decide(problem, verdict, self.state.sweeps):
            return False
        copy_rows(problem.forces, self._best)
        sweeps = self.state.sweeps
        self.state = State(
            scale=self.state.scale, sweeps=sweeps, until=sweeps + CLOSING, restarts=self.state.restarts + 1
        )
        return verdict.nearly

    def plan(self, problem: ContactProblem, most: int) -> int:
        """All but the eighth that `fall_back` may take; no more where heavy bodies would take more than all."""
        if not self._patient:
            return most
        heavy = burden(problem) if self._iterations else 0.0
        self._plain = 2 * (min(math.ceil(USUAL * self._extent), most // 8) // 2)
        self.futile = heavy > self._extent and USUAL * crossing(problem, heavy) > most
        return self._plain if self.futile else most - self._plain

    def fall_back(
        self, problem: ContactProblem, rng: Generator, criterion: StateCriterion, verdict: Verdict
    ) -> tuple[int, Verdict]:
        """1. The best forces so far. 2. Sweeps without extrapolation from there. 3. The second-order method."""
        if not self._patient:
            return 0, verdict
        p = problem
        self._take_best(p)
        self.state = self.state._replace(beta=0.0, theta=1.0, until=self.state.sweeps + self._plain)
        made = self.sweeps(p, rng, self._plain)
        verdict = criterion.judge(p)
        if verdict.met or not self._iterations:
            return made, verdict
        from .fallback import MOST, solve_by_second_order  # brings what few need: sparse matrices, FCLIB

        forces, motion = p.forces.copy(), p.motion.copy()
        least = self._take_best(p)
        most = MOST if self.futile else int(min(MOST, self._iterations))
        found, self.fallback = solve_by_second_order(p, criterion, self._free, most)
        if not found.met and not residual(p) < least:
            p.forces[:], p.motion[:] = forces, motion
            return made, verdict
        copy_rows(p.forces, self._best)
        self._begin_from(p)
        return made, found

    def finish(self, problem: ContactProblem, rng: Generator, *, converged: bool) -> bool:
        """Velocities from forces; the best forces seen, if the last are worse and were not good enough."""
        if not converged and self.state.change > self.state.kept:
            self._take_best(problem)
            return True
        self._update_velocities(problem)
        return False

    def _take_best(self, problem: ContactProblem) -> float:
        """The best forces so far, if the last ones are worse; returns their residual."""
        p, last = problem, residual(problem)
        copy_rows(p.forces, self._forces)
        copy_rows(self._best, p.forces)
        self._update_velocities(p)
        best = residual(p)
        if last <= best:
            copy_rows(self._forces, p.forces)
            self._update_velocities(p)
        self._begin_from(p)
        return min(last, best)

    def _return_to_best(self, problem: ContactProblem) -> None:
        """From extrapolation that ran away."""
        self.trouble = f"{self.state.rescues} times back to the best forces"
        if self.state.rescues >= self.rule.rescues:
            self.trouble += ", then plain sweeps"
        copy_rows(self._best, problem.forces)
        self._update_velocities(problem)
        self._begin_from(problem)

    def _begin_from(self, problem: ContactProblem) -> None:
        """No step has been taken yet."""
        copy_rows(problem.forces, self._forces)
        copy_rows(problem.motion, self._motion)

    def _update_velocities(self, problem: ContactProblem) -> None:
        restore_motion(problem.motion, self._free)
        apply_forces(problem)

    def _like(self, table: Array, name: str) -> Array:
        """Room for a table of this shape."""
        return self._work.take(f"{name} {table.shape[1]}", *table.shape)
