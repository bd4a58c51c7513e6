"""Progress: a bar on the terminal with the figures that matter while one waits."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from .base import Observer

if TYPE_CHECKING:
    from ..simulation import Simulation


class Progress(Observer):
    """A progress bar with simulated time, sweeps of the last step, contacts, speed and remaining time."""

    def start(self, simulation: Simulation, steps: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn("t = {task.fields[time]:.4g} s"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TextColumn("{task.fields[sweeps]} sweeps, {task.fields[contacts]} candidates{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self._first = simulation.steps
        self._task = self._bar.add_task("run", total=steps, time=simulation.time, sweeps=0, contacts=0, rate="")
        self._seen = time.perf_counter(), simulation.steps, simulation.tally.updates
        self._bar.start()

    def look(self, simulation: Simulation) -> None:
        if math.isfinite(simulation.until):  # how many steps dt = "auto" will take is only known at the end
            to_come = math.ceil(max(0.0, simulation.until - simulation.time) / simulation.dt - 1e-9)
            self._bar.update(self._task, total=simulation.steps - self._first + to_come)
        self._bar.update(
            self._task,
            completed=simulation.steps - self._first,
            time=simulation.time,
            sweeps=simulation.last_solve.sweeps,
            contacts=simulation.contacts.count,
            **self._rate(simulation),
        )

    def _rate(self, simulation: Simulation) -> dict[str, Any]:
        """Steps and contact updates per second since the last look; nothing if no step was made."""
        now = time.perf_counter(), simulation.steps, simulation.tally.updates
        seconds, steps, updates = (new - old for new, old in zip(now, self._seen))
        if not steps:
            return {}
        self._seen = now
        return {"rate": f", {steps / seconds:.3g} steps/s, {updates / seconds / 1e6:.3g} M updates/s"}

    def finish(self, simulation: Simulation) -> None:
        self.look(simulation)
        self._bar.stop()
        del self._bar  # it holds a lock, which nobody could copy
