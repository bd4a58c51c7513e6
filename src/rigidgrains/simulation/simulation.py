"""The corridor: one time step calls the rooms in the order of the method."""

from __future__ import annotations

import math
import time as clock
import warnings
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..contacts.contacts import Contacts
from ..detect.neighbours import Neighbours
from ..events.errors import StageError
from ..model.bodies import Bodies, keep_motion, top_speed
from ..model.cell import CellError
from ..model.deforming import LARGEST, strain_rate
from ..model.tables import check_tables
from ..runtime.arguments import check_end, check_scene, check_seed
from ..runtime.compiled import compile_ahead, compile_seconds
from ..runtime.memory import give_back
from ..solve.choose import check_solver, choose_solver
from ..solve.sweeps import SolveReport, Sweeps
from . import integrate
from .report import Report, Tally
from .sorting import sort_grains
from .tally import INTERRUPTED
from .timestep import AutoStep, Clock
from .triggers import Interrupt, Observer, StopRun, Trigger

if TYPE_CHECKING:
    from ..scene import Scene

Array = NDArray[np.float64]

RUNAWAY = 10.0  # times the fastest speed that a step could account for
SHORTEST = 1e-100  # s, a step below which numbers would underflow
MANY = 10_000  # grains whose preparation leaves memory behind that is worth giving back
ATTEMPTS = 5  # at one step: a blow finds new candidates layer by layer


class DivergenceError(ArithmeticError):
    """A step gave velocities that are not finite or run away. The simulation still holds the last good state."""


class Simulation:
    """A scene in motion.

    scene  : a Scene, or Bodies that are ready
    dt     : s, or "auto" or an AutoStep for steps as long as the motion allows; default `run.dt` of the scene
    solver : one that is made, or a name, "accelerated" for instance; default `[solver]` of the scene
    seed   : of the one random generator, default `run.seed` of the scene; same seed, same bits
    sort   : number grains anew along a curve in large systems, see sorting.py; default `run.sort` of the scene, or no

    `until` is the time (s) on which a run with dt = "auto" will end, inf between runs. `whole` says that bodies and
    contacts are those of a step that was taken: not before the first, nor after one that diverged. `midway` says that a
    step was broken off by something else, and the state with it.
    """

    def __init__(
        self,
        scene: Scene | Bodies,
        *,
        dt: float | str | AutoStep | None = None,
        solver: Sweeps | str | None = None,
        seed: int | None = None,
        sort: bool | None = None,
    ) -> None:
        compile_ahead()
        if isinstance(scene, Bodies):
            self.bodies = scene
            self.solver = choose_solver(solver)
        else:
            check_scene(scene)
            self.solver = choose_solver(solver, scene.solver)
            self.bodies = scene.build(seed=seed)
            dt = scene.run.time_step() if dt is None else dt
            seed = scene.run.seed if seed is None else seed
            sort = scene.run.sort if sort is None else sort
        if self.bodies.count == 0 and not (self.bodies.stage and self.bodies.stage.inflows):
            raise ValueError("there are 0 grains to simulate; add some")
        check_tables(self.bodies)
        check_solver(self.solver, self.bodies)
        self.auto: AutoStep | None = None
        self._clock = Clock(0.0)
        self._sizes: list[float] = []
        self.until, self._cut = math.inf, False
        self.dt = dt  # type: ignore[assignment]
        self.seed = 0 if seed is None else check_seed(seed)
        self.sort = bool(sort)
        self.rng = np.random.default_rng(self.seed)
        if self.bodies.count > MANY:
            give_back()
        self.neighbours = Neighbours()
        self.contacts = Contacts()
        self.last_solve = SolveReport(sweeps=0, updates=0, converged=True, mean_force=0.0)
        self.tally = Tally()
        self.whole = self.midway = False
        self._triggers: list[Trigger] = []
        self._kept_states: dict[str, list[Any]] = {}
        self._kept = np.empty((0, 6))

    @property
    def time(self) -> float:
        """s, the present time: the sum of all steps, without rounding that adds up."""
        return self._clock.time

    @property
    def steps(self) -> int:
        """Steps taken so far."""
        return self._clock.steps

    @property
    def dt(self) -> float:
        """s, the time step; it may be changed between steps, to "auto" as well. With that, the last step."""
        return self._clock.dt

    @dt.setter
    def dt(self, dt: float | str | AutoStep | None) -> None:
        if dt == "auto" or isinstance(dt, AutoStep):
            self.auto = replace(dt) if isinstance(dt, AutoStep) else AutoStep()
            self._clock.change(self.auto.trial(self.bodies))
            return
        if (
            not isinstance(dt, (int, float, np.integer, np.floating))
            or isinstance(dt, bool)
            or not SHORTEST <= dt < math.inf
        ):
            raise ValueError(
                f"dt = {dt!r} is no time step; give a positive number of seconds, dt = 1e-4 for instance, or 'auto'"
            )
        self.auto = None
        self._clock.change(float(dt))

    @property
    def step_sizes(self) -> Array:
        """(k,) s, the length of every step that was taken with dt = "auto"."""
        return np.array(self._sizes)

    @property
    def step_range(self) -> tuple[float, float] | None:
        """s, the shortest and the longest of them; None if there are none."""
        return (min(self._sizes), max(self._sizes)) if self._sizes else None

    @property
    def clock(self) -> Clock:
        """Steps and time as they are now; a copy."""
        return replace(self._clock)

    def set_clock(self, clock: Clock, auto: AutoStep | None = None, step_sizes: Array | None = None) -> None:
        """Go on from a clock that was kept, and from the adaptive time step if there was one."""
        self._clock, self.auto = replace(clock), auto
        self._sizes = [] if step_sizes is None else step_sizes.tolist()

    def step(self) -> None:
        """Advance by dt.

        0. Stage: walls and grains come and go; large systems are numbered anew when they have mixed.
        1. Free velocity: what external forces and walls do on their own.
        2. Neighbours: who may touch whom; lists are reused while nobody left the skin. dt = "auto" is chosen here.
        3. Contacts: gaps, normals, masses, carried-over forces.
        4. Solve: sweeps of the shock law find the contact forces and the new velocities.
        5. Move: positions and orientations with the new velocities.
        """
        bodies = self.bodies
        if bodies.stage is not None:
            bodies.stage.set(self)
        check_tables(bodies)
        if bodies.cell is not None:
            bodies.cell.check(float(bodies.radius.max(initial=0.0)))
        self.whole, self.midway = False, True
        sort_grains(self)
        self._keep_velocities()
        if self.auto is not None:
            self._try_step(self.auto)
        self._free_velocity()
        self._check_speed(math.inf, 0)
        try:
            self.last_solve = self._find_forces() if bodies.count else self._nobody()
        except CellError:
            self._go_back()
            self.neighbours = Neighbours()
            raise
        self.contacts.conclude()
        displacement, at = integrate.move(bodies, self.dt), ""
        if (past := integrate.past_walls(bodies, self.contacts, self.dt))[0] > displacement:
            displacement, at = past
        self._clock.steps += 1
        if self.auto is not None:
            self._sizes.append(self.dt)
        self.whole, self.midway = True, False
        self.tally.add(self.last_solve, self.contacts.count, displacement, self.contacts.deepest, self.dt, at)
        self.tally.book(self.contacts.ledger)

    def _find_forces(self) -> SolveReport:
        """Neighbours, the time step if it is to be chosen, contacts and their forces."""
        self.neighbours.refresh(self.bodies, self.dt)
        if self.auto is None:
            return self._solve_contacts()
        self._choose_step(self.auto)
        found = self._solve_contacts()
        while self.auto.too_long(self.dt, self.contacts.missed()):
            self.contacts.take_back()
            self._shorten(0.5 * self.dt)
            self.auto.wish = self.dt
            if self._given:
                self.contacts.bring_back()
            found = self._solve_contacts().after(found, given=self._given)
        return found

    @property
    def _given(self) -> bool:
        """Whether the solver makes a given number of sweeps; one of the user's own need not say."""
        told = getattr(self.solver, "told", None)
        return told is not None and told(True) is None

    def _free_velocity(self) -> None:
        """Free velocities; a course that has no value at this time ends the run, with the state before."""
        try:
            integrate.free_velocity(self.bodies, self.time, self.dt)
        except ValueError as problem:
            self._go_back()
            raise StageError(f"step {self.steps + 1} cannot begin: {problem}") from None

    def _try_step(self, auto: AutoStep) -> None:
        """The longest step to think of; the last ones of a run are cut to end on its end."""
        dt, left = auto.trial(self.bodies), self.until - self.time
        self._cut = left < 2.0 * dt
        self._clock.change(min(dt, left if left <= dt else 0.5 * left))

    def _choose_step(self, auto: AutoStep) -> None:
        """Shorten the step to what the motion allows; lists that serve a longer step serve a shorter one."""
        tried = self.dt
        allowed = auto.allowed(self.bodies, self.neighbours, self._kept, tried)
        if allowed < tried:
            self._shorten(allowed)
        if not self.time + self.dt > self.time:
            raise self._diverged(f"dt = 'auto' came down to {self.dt:.3g} s, and time stands still")
        if allowed < tried or not self._cut:
            auto.wish = self.dt

    def _shorten(self, dt: float) -> None:
        """Begin the step again, with another length."""
        self.bodies.motion[: len(self._kept), :6] = self._kept
        self._clock.change(dt)
        self._free_velocity()

    def _solve_contacts(self) -> SolveReport:
        """Gather the contacts and find their forces; again, with more candidates, if the new motion calls for them.

        Where a number of sweeps is given, Eq. (constNI), each attempt makes them from the forces of the last step: no
        step has more of them than another.
        """
        bodies, dt, speed = self.bodies, self.dt, None
        given = self._given
        spent = SolveReport(sweeps=0, updates=0, converged=False, mean_force=0.0)
        for attempt in range(ATTEMPTS):
            if attempt:
                bodies.motion[: len(self._kept), :6] = self._kept
                integrate.free_velocity(bodies, self.time, dt)
                if given:
                    self.contacts.bring_back()
            self.contacts.gather(
                bodies,
                self.neighbours,
                dt,
                gap=self.solver.gap,
                slack=self.solver.slack,
                speed=speed,
                before=self._kept,
                coloured=self.solver.coloured,
            )
            if given:
                self.contacts.keep()
            bound = RUNAWAY * (self._top_speed() + bodies.radius.max() / dt)
            found = self.solver.solve(self.contacts.problem(bodies, dt, self._kept), self.rng)
            spent = found.after(spent, given=given) if attempt else found
            self._check_speed(bound, spent.sweeps)
            speed = self.contacts.overlooked(bodies, self.neighbours, dt)
            if speed is None and self.contacts.accepted():
                return spent
        left = "a law still refuses the forces" if speed is None else "pairs that were no candidates would overlap"
        return replace(spent, converged=False, exhausted=True, why=f"{left} after {ATTEMPTS} attempts")

    def _nobody(self) -> SolveReport:
        """No grains, no contacts."""
        self.contacts = Contacts()
        return SolveReport(sweeps=0, updates=0, converged=self.solver.told(True), mean_force=0.0)

    def observe(self, observer: Observer | Any, *, every: int = 1, interval: float | None = None) -> Simulation:
        """Call an observer (or any function of the simulation) after every so many steps.

        A text that it returns ends the run, as its reason; None lets the run go on.
        interval : s, in place of every: after the first step that reaches each multiple of it
        """
        trigger = Trigger(observer, every, interval)
        if kept := self._kept_states.get(type(trigger.observer).__name__):
            trigger.observer.restore(kept.pop(0))
        self._triggers.append(trigger)
        return self

    def observer_states(self) -> dict[str, list[Any]]:
        """What the observers have to remember: by the name of their class, those of one class in their order."""
        states: dict[str, list[Any]] = {}
        for trigger in self._triggers:
            if state := trigger.kept():
                states.setdefault(type(trigger.observer).__name__, []).append(state)
        return states

    def restore_step(self, whole: bool, motion_before: Array, observers: dict[str, list[Any]]) -> None:
        """Take up what was kept of the last step and of observers that will be added again."""
        self.whole, self._kept, self._kept_states = whole, motion_before[:, :6].copy(), dict(observers)

    def run(self, *, until: float | None = None, steps: int | None = None) -> Report:
        """Step until a time (s), for a number of steps, or until an observer says stop; returns the report.

        Ctrl-C ends the run after the step in hand and raises KeyboardInterrupt when all observers have finished and
        files are closed; SIGTERM raises SystemExit(143). A second one raises at once. A time that has passed is told
        by a warning, and no step is taken.
        """
        if until is None and steps is None:
            raise ValueError("run() needs an end: until = a time in seconds, or steps = a number")
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

    @property
    def motion_before(self) -> Array:
        """(bodies, 6) v and s at the beginning of the last step; the present ones before the first."""
        return self._kept if self.whole else self.bodies.motion[:, :6]

    def _keep_velocities(self) -> None:
        """Remember the last good velocities; positions do not change until a step is known to be good."""
        if len(self._kept) != len(self.bodies.motion):
            self._kept = np.empty((len(self.bodies.motion), 6))
        keep_motion(self.bodies.motion, self._kept)

    def _go_back(self) -> None:
        """The state before the step in hand."""
        self.bodies.motion[: len(self._kept), :6] = self._kept
        self.contacts.forget()
        self.midway = False

    def _top_speed(self) -> float:
        """m/s, of any body; a cell has none."""
        bodies = self.bodies
        return top_speed(bodies.motion[: bodies.count] if bodies.flows else bodies.motion)

    def _check_speed(self, bound: float, sweeps: int) -> None:
        """Go back to the last good velocities and raise if any speed is beyond the bound or not a number."""
        top, strain = self._top_speed(), self.dt * strain_rate(self.bodies)
        if top <= bound and top < math.inf and strain < LARGEST:
            return
        cause = f"{sweeps} sweeps (order {type(self.solver.order).__name__})" if sweeps else "the external forces"
        what = f"speeds of {top:.3g} m/s" if strain < LARGEST else f"a cell strained by {strain:.3g} in one step"
        raise self._diverged(f"{what} after {cause}")

    def _diverged(self, why: str) -> DivergenceError:
        """Take up the last good state again; the error that says what went wrong."""
        self._go_back()
        return DivergenceError(
            f"step {self.steps + 1} at t = {self.time:.6g} s diverged: {why}. "
            "The state before that step is kept. Use a sequential order, a smaller dt, or gap = 'g_pos'."
        )
