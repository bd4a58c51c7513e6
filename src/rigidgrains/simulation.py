"""The corridor: one time step calls the rooms in the order of the method."""

from __future__ import annotations

import math
import time as clock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import integrate
from .bodies import Bodies, top_speed
from .contacts import Contacts
from .detect.neighbours import Neighbours
from .observe.base import Interrupt, Observer, StopRun, Trigger
from .observe.report import Report, Tally
from .solve.settings import make_solver
from .solve.sweeps import SolveReport, Sweeps

if TYPE_CHECKING:
    from .scene import Scene

Array = NDArray[np.float64]

RUNAWAY = 10.0  # times the fastest speed that a step could account for


class DivergenceError(ArithmeticError):
    """A step gave velocities that are not finite or run away. The simulation still holds the last good state."""


class Simulation:
    """A scene in motion.

    scene  : a Scene, or Bodies that are ready
    dt     : s, default `run.dt` of the scene
    solver : default `[solver]` of the scene
    seed   : of the one random generator, default `run.seed` of the scene; same seed, same bits
    """

    def __init__(
        self, scene: Scene | Bodies, *, dt: float | None = None, solver: Sweeps | None = None, seed: int | None = None
    ) -> None:
        if isinstance(scene, Bodies):
            self.bodies = scene
        else:
            self.bodies = scene.build(seed=seed)
            dt = scene.run.dt if dt is None else dt
            seed = scene.run.seed if seed is None else seed
            solver = make_solver(scene.solver) if solver is None else solver
        if dt is None or not (math.isfinite(dt) and dt > 0.0):
            raise ValueError(f"dt = {dt} is no time step; give a positive number of seconds, dt = 1e-4 for instance")
        if self.bodies.count == 0:
            raise ValueError("there are 0 grains to simulate; add some")
        self.dt = dt
        self.solver = solver or Sweeps()
        self.seed = seed or 0
        self.rng = np.random.default_rng(self.seed)
        self.steps = 0
        self.neighbours = Neighbours()
        self.contacts = Contacts()
        self.last_solve = SolveReport(sweeps=0, updates=0, converged=True, mean_force=0.0)
        self.tally = Tally()
        self._triggers: list[Trigger] = []
        self._kept = np.empty((0, 8))

    @property
    def time(self) -> float:
        """s, the present time: whole steps, without rounding that adds up."""
        return self.steps * self.dt

    def step(self) -> None:
        """Advance by dt.

        1. Free velocity: what external forces and walls do on their own.
        2. Neighbours: who may touch whom; lists are reused while nobody left the skin.
        3. Contacts: gaps, normals, masses, carried-over forces.
        4. Solve: sweeps of the shock law find the contact forces and the new velocities.
        5. Move: positions and orientations with the new velocities.
        """
        bodies, dt = self.bodies, self.dt
        self._keep_velocities()
        integrate.free_velocity(bodies, self.time, dt)
        self.neighbours.refresh(bodies, dt)
        self.contacts.gather(bodies, self.neighbours, dt, gap=self.solver.gap)
        bound = RUNAWAY * (top_speed(bodies.motion) + bodies.radius.max() / dt)
        self.last_solve = self.solver.solve(self.contacts.problem(bodies, dt), self.rng)
        top = top_speed(bodies.motion)
        if not top <= bound < math.inf:
            bodies.motion[: len(self._kept)] = self._kept
            self.contacts.forget()
            raise DivergenceError(self._divergence(top))
        displacement = integrate.move(bodies, dt)
        self.steps += 1
        self.tally.add(self.last_solve, displacement)

    def observe(self, observer: Observer | Any, *, every: int = 1) -> Simulation:
        """Call an observer (or any function of the simulation) after every so many steps."""
        self._triggers.append(Trigger(observer, every))
        return self

    def run(self, *, until: float | None = None, steps: int | None = None) -> Report:
        """Step until a time (s), for a number of steps, or until an observer says stop; returns the report.

        Ctrl-C ends the run after the step in hand; a second Ctrl-C at once.
        """
        if until is None and steps is None:
            raise ValueError("run() needs an end: until = a time in seconds, or steps = a number")
        for name, end_of_run in (("until", until), ("steps", steps)):
            if end_of_run is not None and not 0 <= end_of_run < math.inf:
                raise ValueError(f"{name} = {end_of_run} is no end of a run; give a finite number that is not negative")
        end = math.inf if steps is None else self.steps + steps
        if until is not None:
            end = min(end, self.steps + max(0, math.ceil((until - self.time) / self.dt - 1e-9)))
        started = clock.perf_counter()
        self.tally.stopped = ""
        for trigger in self._triggers:
            trigger.observer.start(self, int(end) - self.steps)
        try:
            with Interrupt() as interrupt:
                while self.steps < end and not interrupt.asked:
                    self.step()
                    for trigger in self._triggers:
                        trigger.after_step(self)
            if interrupt.asked:
                self.tally.stopped = "interrupted"
        except StopRun as reason:
            self.tally.stopped = str(reason)
        finally:
            self.tally.seconds += clock.perf_counter() - started
            for trigger in self._triggers:
                trigger.observer.finish(self)
        return self.report()

    def report(self) -> Report:
        """Figures of the run so far."""
        return Report.of(self)

    def _keep_velocities(self) -> None:
        """Remember the last good velocities; positions do not change until a step is known to be good."""
        if self._kept.shape != self.bodies.motion.shape:
            self._kept = np.empty_like(self.bodies.motion)
        self._kept[:] = self.bodies.motion

    def _divergence(self, top: float) -> str:
        order = type(self.solver.order).__name__
        return (
            f"step {self.steps + 1} at t = {self.time:.6g} s diverged: speeds of {top:.3g} m/s after "
            f"{self.last_solve.sweeps} sweeps (order {order}). The state before that step is kept. "
            "Use a sequential order, a smaller dt, or gap = 'g_pos'."
        )
