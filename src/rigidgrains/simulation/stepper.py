"""One time step, in the order of the method."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contacts.contacts import removed_part
from ..contacts.given import take_given
from ..contacts.shaped import contacts_for
from ..detect import candidates as of_pairs
from ..detect import points as of_points
from ..detect.neighbours import Neighbours
from ..events.errors import StageError
from ..events.events import Events
from ..events.stages import Stages
from ..model.bodies import Bodies, keep_motion, restore_motion, top_speed
from ..model.cell import CellError
from ..model.columns import V_S
from ..model.deforming import LARGEST, strain_rate
from ..model.guide import book
from ..model.materials import check_tables
from ..runtime.arguments import check_seed
from ..runtime.copies import altered
from ..runtime.memory import give_back
from ..solve.accuracy import DROP, part_of_crossing
from ..solve.choose import check_solver, level_of
from ..solve.criteria import asked_by
from ..solve.sweeps import SolveReport, Sweeps
from . import figures, integrate
from .sorting import sort_grains
from .stage_end import ask_for_end
from .tally import Tally
from .timestep import AutoStep, Clock, time_to_fall

Array = NDArray[np.float64]

RUNAWAY = 10.0  # times the fastest speed that a step could account for
SHORTEST = 1e-100  # s, a step below which numbers would underflow
MANY = 10_000  # grains whose preparation leaves memory behind that is worth giving back
ATTEMPTS = 5  # at one step: a blow finds new candidates layer by layer
TURNS = 20  # more at points that turning sinks in: the most of 2300 steps of falling cubes took 10


class DivergenceError(ArithmeticError):
    """A step gave velocities that are not finite or run away. The simulation still holds the last good state."""


def check_shapes(bodies: Bodies) -> None:
    """Refuse what grains of other shapes than disks and spheres cannot do."""
    if bodies.catalogue is None:
        return
    if bodies.flows:
        raise ValueError("a cell that deforms holds disks and spheres alone; use walls or a cell that keeps still")
    for law in bodies.laws:
        if law.extended or law.attracts:
            raise ValueError(
                f"{type(law).__name__} is for disks and spheres alone; remove it, or the other shapes of grains"
            )


class Stepper:
    """Bodies, their contacts and the clock: the state of a simulation, and the step that advances it.

    `until` is the time (s) on which a run with dt = "auto" will end, inf between runs. `whole` says that bodies and
    contacts are those of a step that was taken: not before the first, nor after one that diverged. `midway` says that a
    step was broken off by something else, and the state with it.
    """

    def __init__(self, bodies: Bodies, solver: Sweeps, *, dt: Any, seed: int | None, sort: bool | None) -> None:
        self.bodies, self.solver = bodies, solver
        if bodies.scheduled and bodies.events is None:
            bodies.events = Events()
        if bodies.count == 0 and not (bodies.events and (bodies.events.inflows or bodies.events.outlets)):
            raise ValueError("there are 0 grains to simulate; add some")
        check_tables(bodies)
        check_shapes(bodies)
        check_solver(solver, bodies)
        self.auto: AutoStep | None = None
        self._clock = Clock(0.0)
        self._sizes: list[float] = []
        self.until, self._cut = math.inf, False
        self.dt = dt
        self.seed = 0 if seed is None else check_seed(seed)
        self.sort = bool(sort)
        self.rng = np.random.default_rng(self.seed)
        if bodies.count > MANY:
            give_back()
        self.neighbours = Neighbours()
        self.contacts = contacts_for(bodies)
        self.last_solve = SolveReport(sweeps=0, updates=0, converged=True, mean_force=0.0)
        self.tally = Tally()
        self.whole = self.midway = False
        self._kept, self._deepest = np.empty((0, 6)), 0.0

    def step(self) -> None:
        """Advance by dt.

        1. Events: walls and grains come and go; large systems are renumbered when they have mixed.
        2. Free velocity: what external forces and walls do on their own.
        3. Neighbour lists: who may touch whom; kept while nobody left the skin. dt = "auto" is chosen here.
        4. Candidates: pairs that may meet within the step.
        5. Contact rows: gaps, normals, masses, forces carried over (warm start); laws write into them.
        6. Solve: sweeps of the shock law find the contact forces and the new velocities.
        7. Missed pairs: if the new motion calls for more candidates, turns grains into each other, or a law refuses the
           forces, 4 to 6 again.
        8. Move: positions and orientations with the new velocities; whether the stage has ended.
        """
        self._take_events()
        self.bodies.hold_radii(True)
        try:
            self._begin()
            self._free_velocity()
            self._check_speed(math.inf, 0)
            self.last_solve = self._find_forces()
            self._move()
        finally:
            self.bodies.hold_radii(False)
            self.bodies.hold_walls(False)

    def _take_events(self) -> None:
        """1. What comes and goes, and new numbers where they pay; the tables have rows for all who are there then."""
        bodies = self.bodies
        if bodies.events is not None:
            self.neighbours = bodies.events.take_place(bodies, self.neighbours, self.contacts, self.time, self.dt)
        check_tables(bodies)
        if bodies.cell is not None:
            bodies.cell.check(float(bodies.bound.max(initial=0.0)))
        self.whole, self.midway = False, True
        if self.sort:
            sort_grains(bodies, self.neighbours, self.contacts, self.steps)

    def _begin(self) -> None:
        """Remember the last good velocities, and think of the longest step."""
        if len(self._kept) != len(self.bodies.motion):
            self._kept = np.empty((len(self.bodies.motion), 6))
        keep_motion(self.bodies.motion, self._kept)
        if self.auto is not None:
            self._try_step(self.auto)

    def _free_velocity(self) -> None:
        """2. Free velocities; a function of time that has no value at this time ends the run, with the state before."""
        try:
            integrate.free_velocity(self.bodies, self.time, self.dt)
            self.bodies.hold_walls(True)
        except ValueError as problem:
            self._go_back()
            raise StageError(f"step {self.steps + 1} cannot begin: {problem}") from problem.__cause__
        except Exception:
            self._go_back()
            raise

    def _find_forces(self) -> SolveReport:
        """3 to 7. Neighbour lists, the time step if it is to be chosen, contacts and their forces."""
        if not self.bodies.count:
            return self._nobody()
        try:
            self.neighbours.refresh(self.bodies, self.dt)
            if self.bodies.given is not None:
                take_given(self.bodies, self.neighbours, self.contacts)
            return self._attempt() if self.auto is None else self._attempt_with(self.auto)
        except CellError:
            self._go_back()
            self.neighbours = Neighbours()
            raise

    def _attempt_with(self, auto: AutoStep) -> SolveReport:
        """3 to 7 with a step as long as the motion allows, and shorter where it loses too much."""
        self._choose_step(auto)
        found = self._attempt()
        while auto.too_long(self.dt, self.contacts.laws.missed()):
            self.contacts.laws.take_back()
            self._restart(0.5 * self.dt, solved=True)
            auto.wish = self.dt
            found = self._attempt().after(found, given=self._given)
        return found

    def _attempt(self) -> SolveReport:
        """4 to 7. Candidates, contact rows, solve; again while the solution shows that contacts were missed.

        Of grains of other shapes also while points sink in because normals have turned within the step, with the same
        candidates and lower gaps to be closed; where steps remove overlaps, now or later on, this is left to them.
        Where a number of sweeps is given, Eq. (constNI), each attempt makes them from the forces of the last step: no
        step has more of them than another.
        """
        bodies, dt, speed = self.bodies, self.dt, None
        solver = self._solver_of_step()
        removes = removed_part(solver.gap) > 0.0 or (hasattr(solver, "accuracy") and level_of(solver).carries)
        most: Array | None = None
        spent: SolveReport | None = None
        missed = turns = 0
        while missed < ATTEMPTS and turns <= TURNS:
            if spent is not None:
                self._restart(dt, solved=True)
            if most is None:
                candidates = self._detect.find_candidates(bodies, self.neighbours, dt, speed, coloured=solver.coloured)
            self.contacts.gather(
                bodies, self.neighbours, candidates, dt, gap=solver.gap, slack=solver.slack, before=self._kept,
                most=most,
            )  # fmt: skip
            if self._given:
                self.contacts.keep()
            bound = RUNAWAY * (self._top_speed() + bodies.radii.most / dt)
            found = solver.solve(self.contacts.problem(bodies, dt, self._kept), self.rng)
            asked: dict[str, Any] = {"removed": removed_part(solver.gap), "slack": solver.slack}
            self._deepest = self.contacts.deepest
            asked["deepest"] = self._deepest / bodies.mean_radius
            found = altered(found, **asked | asked_by(getattr(solver, "criterion", None)))
            spent = found if spent is None else found.after(spent, given=self._given)
            self._check_speed(bound, spent.sweeps)
            speed = self._detect.missed_pairs(bodies, self.neighbours, dt, candidates)
            if speed is not None or not self.contacts.laws.accept():
                missed, most = missed + 1, None
                continue
            most = None if removes else self.contacts.sunk(bodies, dt, most)
            if most is None:
                return spent
            turns += 1
        assert spent is not None
        why = "a law still refuses the forces" if speed is None else "pairs that were no candidates would overlap"
        why = why if missed == ATTEMPTS else "grains turn into each other"
        return altered(spent, converged=False, exhausted=True, why=f"{why} after {missed + turns} attempts")

    def _solver_of_step(self) -> Any:
        """The solver, with what its accuracy asks of this step; one of the user's own as it is."""
        if not hasattr(self.solver, "for_step"):
            return self.solver
        return self.solver.for_step(self.last_solve, part_of_crossing(self.dt, time_to_fall(self.bodies, DROP)))

    def _restart(self, dt: float, *, solved: bool = False) -> None:
        """Begin the step again with this length; solved : contacts have forces of an attempt."""
        self._put_back()
        self._clock.change(dt)
        self._free_velocity()
        if solved and self._given:
            self.contacts.bring_back()

    def _move(self) -> None:
        """8. Positions and orientations; what the step has been is counted."""
        bodies, contacts = self.bodies, self.contacts
        contacts.laws.conclude()
        book(bodies, contacts, self._kept, self.dt)
        displacement, at = integrate.move(bodies, self.dt), ""
        bodies.hold_walls(False)
        if (past := integrate.past_walls(bodies, contacts, self.dt))[0] > displacement:
            displacement, at = past
        self._clock.steps += 1
        if self.auto is not None:
            self._sizes.append(self.dt)
        self.whole, self.midway = True, False
        self.tally.add(self.last_solve, contacts.count, displacement, self._deepest, self.dt, at)
        self.tally.book(contacts.laws.ledger)
        if part := self.last_solve.removed:
            self.tally.returned += figures.returned_energy(contacts, part, self.last_solve.slack * bodies.mean_radius)
        if self.stages is not None:
            ask_for_end(self.stages, self)

    def _try_step(self, auto: AutoStep) -> None:
        """The longest step to think of; the last ones of a run are cut to end on its end."""
        ends = self.until if self.stages is None else min(self.until, self.stages.latest)
        dt, left = auto.trial(self.bodies), ends - self.time
        self._cut = left < 2.0 * dt
        self._clock.change(min(dt, left if left <= dt else 0.5 * left))

    def _choose_step(self, auto: AutoStep) -> None:
        """Shorten the step to what the motion allows; lists that serve a longer step serve a shorter one."""
        tried = self.dt
        allowed = auto.allowed(self.bodies, self.neighbours, self._kept, tried)
        if allowed < tried:
            self._restart(allowed)
        if not self.time + self.dt > self.time:
            raise self._diverged(f"dt = 'auto' came down to {self.dt:.3g} s, and time stands still")
        if allowed < tried or not self._cut:
            auto.wish = self.dt

    @property
    def _detect(self) -> Any:
        """The narrow phase that the grains need."""
        return of_pairs if self.bodies.catalogue is None else of_points

    @property
    def _given(self) -> bool:
        """Whether the solver makes a given number of sweeps; one of the user's own need not say."""
        outcome = getattr(self.solver, "outcome", None)
        return outcome is not None and outcome(True) is None

    def _nobody(self) -> SolveReport:
        """No grains, no contacts."""
        self.contacts, self._deepest = contacts_for(self.bodies), 0.0
        return SolveReport(sweeps=0, updates=0, converged=self.solver.outcome(True), mean_force=0.0)

    def _put_back(self) -> None:
        """Velocities as the step found them; positions do not change until a step is known to be good."""
        restore_motion(self.bodies.motion, self._kept)

    def _go_back(self) -> None:
        """The state before the step in hand."""
        self._put_back()
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

    @property
    def stages(self) -> Stages | None:
        """What the run does one after the other; None for a run without stages."""
        return None if self.bodies.events is None else self.bodies.events.stages

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
            self.auto = replace(dt) if isinstance(dt, AutoStep) else AutoStep.of(level_of(self.solver))
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

    @property
    def motion_before(self) -> Array:
        """(bodies, 6) v and s at the beginning of the last step; the present ones before the first."""
        return self._kept if self.whole else self.bodies.motion[:, V_S]
