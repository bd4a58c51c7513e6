"""What is compared: a problem that solvers can be tried on, and what a trial leaves behind."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..runtime.threads import get_threads
from ..solve.sweeps import LOOK

Array = NDArray[np.float64]

SLACK = 1.01  # by which the check may exceed the tolerance: its velocities differ by rounding
SECOND_ORDER = "second-order"
MET = "criterion met"


class Sample(NamedTuple):
    """One look at a solver at work; updates are NaN for a solver that makes none."""

    sweeps: int
    updates: float
    seconds: float
    residual: float
    momentum_error: float


@dataclass(frozen=True)
class Trial:
    """What one solver did to a problem.

    sweeps    : or steps of the second-order method, each with one factorisation
    seconds   : of the processor, preparations included, the looks at it not; on several threads, of which some wait for
                others, those by the clock on the wall
    elapsed   : seconds by the clock on the wall, likewise
    residual, momentum_error : at the end, as the solver left it
    checked   : the residual by formulas that share nothing with the solver
    converged : both residuals are within the tolerance
    why       : what ended the sweeps
    curve     : the looks at it, the last with the figures above
    forces    : those found, as the problem keeps them
    """

    solver: str
    sweeps: int
    updates: float
    seconds: float
    residual: float
    momentum_error: float
    elapsed: float
    checked: float
    converged: bool
    why: str
    restarts: int
    curve: list[Sample]
    forces: Array = field(repr=False)


class Case(Protocol):
    """A problem and the solvers that can be tried on it.

    about : where it comes from, in a few words for titles
    names : solvers that work on it; default : those to compare when nobody says which
    """

    name: str
    about: str

    @property
    def count(self) -> int:
        """Number of contacts."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def default(self) -> tuple[str, ...]: ...

    def try_solver(self, name: str, *, tolerance: float, max_sweeps: int, seed: int) -> Trial:
        """Run a solver on a copy of the problem."""


class Log:
    """The looks at a solver, with clocks that stand still meanwhile.

    sweeps : made so far; the one who sweeps counts them
    """

    def __init__(self, contacts: int) -> None:
        self.sweeps = 0
        self.curve: list[Sample] = []
        self._contacts = contacts
        self._due = LOOK
        self._aside = np.zeros(2)
        self._began = _clocks()
        self._elapsed, self._alone = 0.0, get_threads() == 1

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Time that is not the solver's."""
        began = _clocks()
        yield
        self._aside += _clocks() - began

    @property
    def due(self) -> bool:
        """Whether it is time for a look: the distances between looks grow as the number of sweeps does."""
        return self.sweeps >= self._due

    def look(self, measure: Callable[[], tuple[float, float]], *, counted: bool = True) -> tuple[float, float]:
        """Measure residual and momentum error and note them; of two looks after the same sweep the later stays."""
        seconds, self._elapsed = map(float, _clocks() - self._began - self._aside)
        seconds = seconds if self._alone else self._elapsed
        with self.paused():
            residual, momentum_error = measure()
            if self.curve and self.curve[-1].sweeps == self.sweeps:
                del self.curve[-1]
            updates = float(self.sweeps * self._contacts) if counted else math.nan
            self.curve.append(Sample(self.sweeps, updates, seconds, residual, momentum_error))
            self._due = self.sweeps + max(LOOK, self.sweeps // 8)
        return residual, momentum_error

    def trial(
        self, solver: str, forces: Array, *, checked: float, tolerance: float, why: str, restarts: int = 0
    ) -> Trial:
        """The verdict, from the last look and the check."""
        last = self.curve[-1]
        converged = last.residual <= tolerance and checked <= SLACK * tolerance
        if last.residual <= tolerance and not converged:
            why = f"the check finds a residual of {checked:.2g}"
        elif not converged and why == MET:
            why = f"it ends at a residual of {last.residual:.2g}"  # its own criterion is another
        return Trial(solver, *last, self._elapsed, checked, converged, why, restarts, self.curve, forces)


def _clocks() -> Array:
    """Seconds of the processor, which other programs do not slow down, and of the clock on the wall."""
    return np.array([time.process_time(), time.perf_counter()])
