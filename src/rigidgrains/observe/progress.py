"""Progress: how far a run has come, with the figures that matter while one waits."""

from __future__ import annotations

import math
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

from ..simulation.triggers import Observer
from .bar import Bar

if TYPE_CHECKING:
    from rich.console import Console

    from ..simulation.simulation import Simulation


class Progress(Observer):
    """A bar with the time left, steps, simulated time, sweeps of the last step, candidates and speed.

    Where there is no terminal: a line each half minute.
    console : where it is shown; default: standard error
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = console

    def start(self, simulation: Simulation, steps: int) -> None:
        self._first, self._steps, self._rate = (simulation.steps, simulation.time), steps, ""
        self._seen = time.perf_counter(), simulation.steps, simulation.tally.updates
        self._open = ExitStack()
        self._bar = self._open.enter_context(Bar(console=self._console))

    def look(self, simulation: Simulation) -> None:
        self._measure(simulation)
        done, steps, share = simulation.steps - self._first[0], self._steps, 1.0
        now, until, stages = simulation.time, simulation.until, simulation.stages
        if stages is not None and stages.over and not stages.ended:
            stages = None
        if stages is not None:  # they may end before their limits, and the run with them
            until = min(until, now + stages.left(now, simulation.dt))
        if math.isfinite(until):  # how many steps dt = "auto" will take is only known at the end
            left = math.ceil(max(0.0, until - now) / simulation.dt - 1e-9)
            steps = done + left if math.isfinite(simulation.until) or not steps else min(steps, done + left)
        if math.isfinite(simulation.until):
            whole = until - self._first[1]
            share = (now - self._first[1]) / whole if whole > 0.0 else 1.0
        elif steps:
            share = done / steps
        self._bar.tell(
            share,
            f"{done:,}/{steps:,} steps",
            *([] if stages is None else [stages.where]),
            f"t = {now:.4g} s",
            f"{simulation.last_solve.sweeps:,} {getattr(simulation.solver, 'unit', 'sweeps').split()[0]}",
            f"{simulation.contacts.count:,} candidates",
            *([self._rate] if self._rate else []),
        )

    def _measure(self, simulation: Simulation) -> None:
        """Steps and contact updates per second since the last look, if a step was made."""
        now = time.perf_counter(), simulation.steps, simulation.tally.updates
        seconds, steps, updates = (new - old for new, old in zip(now, self._seen))
        if steps:
            self._seen, self._rate = now, f"{steps / seconds:.3g} steps/s, {updates / seconds / 1e6:.3g} M updates/s"

    def finish(self, simulation: Simulation) -> None:
        self.look(simulation)
        self._open.close()
        del self._bar, self._open  # they hold a lock, which nobody could copy
