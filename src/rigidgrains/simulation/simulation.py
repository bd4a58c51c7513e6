"""A simulation: a scene in motion, its observers, runs and reports."""

from __future__ import annotations

import math
import time as clock
import warnings
from contextlib import ExitStack
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..model.bodies import Bodies
from ..model.columns import V_S
from ..model.scalars import Scalars
from ..model.user_force import ASKED, UserForce, add_user_force, function_name
from ..runtime.arguments import check_end, check_scene
from ..runtime.compiled import compile_ahead, compile_seconds
from ..solve.choose import choose_solver, level_of, with_accuracy
from ..solve.sweeps import Sweeps
from .report import Report
from .stepper import Stepper
from .tally import INTERRUPTED
from .timestep import AutoStep
from .triggers import OBSERVERS, Interrupt, Observer, StopRun, Trigger

Array = NDArray[np.float64]


class Description(Protocol):
    """What a simulation asks of a scene."""

    @property
    def dimension(self) -> int: ...
    @property
    def run(self) -> Any: ...
    @property
    def solver(self) -> Any: ...
    def build(self, seed: int | None = None) -> Bodies: ...
    def make_solver(self) -> Sweeps: ...


class Simulation(Stepper):
    """A scene in motion.

    scene  : a Scene, or Bodies that are ready
    dt     : s, or "auto" for steps by the level of accuracy, or an AutoStep; default `run.dt` of the scene, or "auto"
    solver : one that is made, or a name, "accelerated" for instance; default `[solver]` of the scene
    accuracy : "fast", "balanced" or "exact", of accelerated sweeps that are not made yet; see solve/accuracy.py
    seed   : of the one random generator, default `run.seed` of the scene; same seed, same bits
    sort   : number grains anew along a curve in large systems, see sorting.py; default `run.sort` of the scene, or no
    """

    def __init__(
        self,
        scene: Description | Bodies,
        *,
        dt: float | str | AutoStep | None = None,
        solver: Sweeps | str | None = None,
        accuracy: str | None = None,
        seed: int | None = None,
        sort: bool | None = None,
    ) -> None:
        if getattr(scene, "shape", None) if not isinstance(scene, Bodies) else scene.catalogue is not None:
            compile_ahead("flat_lever" if scene.dimension == 2 else "lever")
        else:
            compile_ahead()
        if isinstance(scene, Bodies):
            bodies, solver = scene, with_accuracy(choose_solver("accelerated" if solver is None else solver), accuracy)
            dt = "auto" if dt is None else dt
        else:
            check_scene(scene)
            kept = {name: getattr(scene.solver, name) for name in ("gap", "slack") if scene.solver.given(name)}
            solver = scene.make_solver() if solver is None else choose_solver(solver, **kept)
            solver = with_accuracy(solver, accuracy)
            bodies = scene.build(seed=seed)
            dt = scene.run.time_step(level_of(solver)) if dt is None else dt
            seed = scene.run.seed if seed is None else seed
            sort = scene.run.sort if sort is None else sort
        super().__init__(bodies, solver, dt=dt, seed=seed, sort=sort)
        self._triggers: list[Trigger] = []
        self._kept_states: dict[str, list[Any]] = {}

    @property
    def scalars(self) -> Scalars:
        """Numbers of the user for each grain by name; `scalars["dye"] = values` makes one."""
        return Scalars(self.bodies)

    def observe(self, observer: Observer | Any, *, every: int = 1, interval: float | None = None) -> Simulation:
        """Call an observer (or any function of the simulation) after every so many steps.

        A text that it returns ends the run, as its reason; None lets the run go on.
        interval : s, in place of every: after the first step that reaches each multiple of it
        """
        trigger = Trigger(observer, every, interval)
        for name, kept in self._kept_states.items():
            if kept and OBSERVERS.means(name, trigger.observer):
                trigger.observer.restore(kept.pop(0))
                break
        self._triggers.append(trigger)
        return self

    def add_force(
        self, function: Any, *, name: str | None = None, grains: str | None = None, timescale: float | None = None
    ) -> Simulation:
        """Let a function of positions, velocities and time push grains, before the run; see docs/forces.md.

        function : asked in each step for forces (m, d) N, or (forces, torques); its arguments are named after what it
                   needs: position, velocity, spin, orientation, radius, mass, material, id, time, dt
        name     : in files and messages, default its own; grains : the group that it acts on, default all
        timescale : s, in which the force on a grain changes; dt = "auto" takes a twentieth at most
        """
        one = UserForce(function_name(function) if name is None else name, function, grains, timescale)
        add_user_force(self.bodies, one, self.time, self.dt or ASKED)
        return self

    def observer_states(self) -> dict[str, list[Any]]:
        """What the observers have to remember, by their names in files; those of one name in their order."""
        states: dict[str, list[Any]] = {}
        for trigger in self._triggers:
            if state := trigger.kept():
                states.setdefault(OBSERVERS.word_of(trigger.observer), []).append(state)
        return states

    def restore_step(self, whole: bool, motion_before: Array, observers: dict[str, list[Any]]) -> None:
        """Take up what was kept of the last step and of observers that will be added again."""
        self.whole, self._kept, self._kept_states = whole, motion_before[:, V_S].copy(), dict(observers)

    def run(self, *, until: float | None = None, steps: int | None = None) -> Report:
        """Step until a time (s), for a number of steps, or until an observer says stop; returns the report.

        A run in stages ends with the last of them, and needs no other end.

        Ctrl-C ends the run after the step in hand and raises KeyboardInterrupt when all observers have finished and
        files are closed; SIGTERM raises SystemExit(143). A second one raises at once. A time that has passed is told
        by a warning, and no step is taken.
        """
        if until is None and steps is None and self.stages is not None and not self.stages.over:
            until = self.time + self.stages.left(self.time, self.dt)
        if steps is None and (until is None or (until == math.inf and self.stages is not None)):
            told = "run() needs an end: until = a time in seconds, or steps = a number"
            raise ValueError(told + ("" if self.stages is None else "; the last stage has none, or is over"))
        check_end(until, steps)
        if until is not None and until < self.time - self.dt:
            warnings.warn(
                f"until = {until:g} s is past, the simulation is at t = {self.time:g} s: no step is taken; give a "
                "later time, or steps = a number",
                stacklevel=2,
            )
        with Interrupt() as interrupt:
            self.advance(until=until, steps=steps, interrupt=interrupt)
        interrupt.answer()
        return self.report()

    def advance(self, *, until: float | None, steps: int | None, interrupt: Interrupt) -> None:
        """What `run` does, for those who answer interruptions themselves; every observer is finished, come what may."""
        end = self.last_step(until=until, steps=steps)
        expected = end - self.steps
        if self.auto is not None:  # it ends on time, however many steps that takes
            end, self.until = self.last_step(until=None, steps=steps), math.inf if until is None else until
        started, compiled = clock.perf_counter(), compile_seconds()
        self.tally.stopped = ""
        begun: list[Observer] = []
        try:
            for trigger in self._triggers:
                answer = trigger.observer.start(self, int(expected))
                begun.append(trigger.observer)
                trigger.obey(answer)
            while self.steps < end and self.until - self.time > 1e-9 * self.dt:
                if interrupt.asked:
                    self.tally.stopped = INTERRUPTED
                    break
                self.step()
                for trigger in self._triggers:
                    trigger.after_step(self)
                if self.stages is not None and self.stages.ended and self.stages.over:
                    self.tally.stopped = f"all stages are over; {self.stages.now.name}: {self.stages.past[-1].how}"
                    break
        except StopRun as reason:
            self.tally.stopped = str(reason) or "an observer ended the run"
        except (KeyboardInterrupt, SystemExit):
            self.tally.stopped = INTERRUPTED
            raise
        finally:
            self.until = math.inf
            compiling = compile_seconds() - compiled
            self.tally.seconds += clock.perf_counter() - started - compiling
            self.tally.compiling += compiling
            with ExitStack() as farewell:  # every observer is finished, whatever happens to another
                for observer in reversed(begun):
                    farewell.callback(observer.finish, self)

    def last_step(self, *, until: float | None, steps: int | None) -> float:
        """Number of the step at which a run would end; with dt = "auto", if steps stay as long as the last."""
        end = math.inf if steps is None else self.steps + steps
        if until is not None:
            end = min(end, self.steps + max(0, math.ceil((until - self.time) / self.dt - 1e-9)))
        return end

    def report(self) -> Report:
        """Figures of the run so far."""
        return Report.of(self)

    def show(self, **look: Any) -> Any:
        """In a notebook: a picture of the present state beside its figures; options as those of `draw_packing`."""
        from ..view.notebook import show_simulation

        return show_simulation(self, **look)

    def _repr_html_(self) -> str:
        from ..view.notebook import simulation_html

        return simulation_html(self)
