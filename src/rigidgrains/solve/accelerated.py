"""Accelerated sweeps: information crosses a packing of L/d grains in about L/d sweeps; plain sweeps take (L/d)^2.

Between sweeps forces and velocities are extrapolated in the direction they have taken, after Nesterov. The sweeps
between two restarts must all have the same order of colours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ..contacts.problem import ContactProblem
from ..model.bodies import restore_motion
from ..runtime.arguments import is_number
from ..runtime.copies import altered
from .accuracy import DEFAULT, LEVEL, LEVELS
from .aliases import SETTINGS, with_earlier_names
from .criteria import Criterion, MomentumCriterion, RigidSweeps, looks_at_state
from .extent import loaded_extent
from .extrapolated import Extrapolated
from .mass_ratio import burden, crossing
from .measures import measure
from .orders import Coloured, Order
from .pace import Pace
from .residual import missing_overlap
from .sweeps import SolveReport, Sweeps
from .virtual_power import momentum_error

Array = NDArray[np.float64]

GROSS, AGAIN = 1e-3, 3  # mean radii of overlap that no step leaves by what is missing, if as many sweeps again can help
LEAST = 4  # sweeps that a step may make however small the packing
AFFORDABLE, PATIENT = 2000, 5000  # candidates up to which steps fall back unasked, where so many sweeps may be made
WORK = 200_000  # candidates times iterations of a fallback that nobody asked for: some seconds, whatever the size


@with_earlier_names(SETTINGS)
@dataclass
class AcceleratedSweeps(Sweeps):
    """Extrapolated sweeps. What is hard for them is reported, and solved by plain sweeps as far as these get.

    order   : "coloured"; another one does not converge, or is slower
    associated : begin with the associated law, which finds forces that carry a packing at rest, where none are carried
              over; see associated.py. By colours, and with a criterion that looks at the state
    fallback : candidates up to which the second-order method takes over a step that sweeps do not solve, see
              fallback.py; 0 for none. With a criterion that looks at the state, for plain friction. None for AFFORDABLE
              ones, for so much WORK unless bodies are heavy, and none where max_sweeps bounds the work of a step to
              less than PATIENT sweeps
    accuracy : "fast", "balanced" or "exact", see accuracy.py: what the steps of a simulation are asked. Settings that
              are given besides win over those of the level, each by itself: the criterion, max_sweeps, gap and slack
    reach   : sweeps of a step at most, times those of `crossing`
    own     : names of the settings that win; by default those that are given
    still   : whether this is the solver of a step before which grains were still; None for no step, but a problem on
              its own, which is solved by the settings as they stand
    Criteria as for Sweeps, without RigidSweeps, which counts plain sweeps.
    """

    order: str | Order = "coloured"
    criterion: Criterion = field(default_factory=MomentumCriterion)
    associated: bool = False
    fallback: int | None = None
    accuracy: str = DEFAULT
    reach: float = math.inf
    own: tuple[str, ...] | None = None
    still: bool | None = None

    name: ClassVar[str] = "accelerated sweeps"
    plain: ClassVar[bool] = False
    tables: ClassVar[int] = 2
    _given = tuple[str, ...]()

    def __new__(cls, *values: Any, **settings: Any) -> AcceleratedSweeps:
        made = super().__new__(cls)
        given = {*list(cls.__dataclass_fields__)[: len(values)], *settings}
        made._given = tuple(name for name in LEVEL if name in given)
        return made

    def __setattr__(self, name: str, value: Any) -> None:
        """A setting that is changed later is the user's own as well."""
        super().__setattr__(name, value)
        if name in LEVEL and self.__dict__.get("own") is not None and name not in (own := self.own or ()):
            self.own = (*own, name)

    def __post_init__(self, rigidity: float | None) -> None:
        super().__post_init__(rigidity)
        self.own = self._given if self.own is None else tuple(self.own)
        if self.accuracy not in LEVELS:
            raise ValueError(f"accuracy = {self.accuracy!r} is unknown; choose one of {', '.join(LEVELS)}")
        if not (is_number(self.reach) and self.reach > 0.0) and self.reach != math.inf:
            raise ValueError(f"reach = {self.reach!r} is no number of sweeps over L/d; give a positive one, 4 say")
        if not isinstance(self.order, Coloured):
            name = type(self.order).__name__
            raise ValueError(f"order {name} is not known to extrapolated sweeps; leave it out, or take 'coloured'")
        if self.fallback is None:
            return
        if not is_number(self.fallback, whole=True) or self.fallback < 0:
            raise ValueError(f"fallback = {self.fallback!r} is no number of contacts; give one such as 2000, or 0")
        if self.fallback and LEVELS[self.accuracy].carries:
            raise ValueError(
                f"fallback = {self.fallback} takes over steps that sweeps do not solve, and accuracy = "
                f"{self.accuracy!r} carries them over; take accuracy = 'exact'"
            )
        self.fallback = int(self.fallback)

    def solve(self, problem: ContactProblem, rng: Generator) -> SolveReport:
        if isinstance(self.criterion, RigidSweeps):
            raise ValueError("rigidity counts plain sweeps; give AcceleratedSweeps a MomentumCriterion, or use Sweeps")
        for name in ("associated", "fallback"):
            if getattr(self, name) and (self.sleep or not looks_at_state(self.criterion)):
                raise ValueError(f"{name} needs looks at the state; take a MomentumCriterion, and sleep = False")
        if self.still is None:
            return super().solve(problem, rng)
        found = self._solve_within(problem, rng)
        if found.travel < math.inf:
            return altered(found, still=self.still)
        seen = measure(problem)  # criteria of sweeps do not look
        return altered(found, still=self.still, travel=seen.travel, fastest=seen.fastest)

    def _solve_within(self, problem: ContactProblem, rng: Generator) -> SolveReport:
        """Within the sweeps that L/d and heavy bodies allow; what is left of a step that needs more is carried over."""
        most = self.max_sweeps
        if self.reach < math.inf and problem.count:
            length = crossing(problem, burden(problem), loaded_extent(problem))
            most = min(most, PATIENT - 1, max(LEAST, math.ceil(self.reach * length)))
        solver = altered(self, max_sweeps=most)
        found = super(AcceleratedSweeps, solver).solve(problem, rng)
        for _ in range(AGAIN):
            if not self._failed(found) or missing_overlap(problem) <= GROSS * problem.mean_radius:
                break
            assert problem.free is not None
            restore_motion(problem.motion, problem.free)
            found = super(AcceleratedSweeps, solver).solve(problem, rng).after(found)
        if not self._failed(found):
            return found
        why, error = f"carried over after {found.sweeps} sweeps", found.momentum_error
        error = error if math.isfinite(error) else momentum_error(problem)
        return altered(found, converged=None, carried=True, momentum_error=error, why=why)

    def _failed(self, found: SolveReport) -> bool:
        """Whether the bound ended the sweeps, and something may be left to the next step."""
        return LEVELS[self.accuracy].carries and found.converged is False and math.isfinite(found.mean_force)

    def for_step(self, last: SolveReport, part: float = 1.0) -> AcceleratedSweeps:
        """With what the level of accuracy asks of grains that move, or are still."""
        level = LEVELS[self.accuracy].settings(last, part)
        if "max_sweeps" in (own := self.own or ()):
            level["reach"] = math.inf
        return altered(self, **{name: value for name, value in level.items() if name not in own})

    def _pace(self, order: Order, problem: ContactProblem) -> Pace:
        assert isinstance(order, Coloured)
        most = self.fallback
        if most is None:
            looks = looks_at_state(self.criterion) and not self.sleep
            most = AFFORDABLE if looks and self.max_sweeps >= PATIENT else 0
        may = problem.extra is None and problem.count <= most and problem.slides
        unasked = math.inf if self.fallback is not None else max(1, WORK // max(1, problem.count))
        return Extrapolated(
            order, problem, associated=self.associated, patient=most > 0 or self.max_sweeps >= PATIENT,
            fallback=unasked if may else 0,
        )  # fmt: skip
