"""Lines that grow in a notebook while a run goes on; no widgets, no magic words."""

from __future__ import annotations

import time as clock
from typing import TYPE_CHECKING, Any

import numpy as np

from ..observe.history import figures
from ..runtime.arguments import is_number
from ..simulation.triggers import Observer
from .notebook_more import drawn_lines

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation

USUAL = ("kinetic_energy", "contacts", "max_overlap", "sweeps")


class LivePlot(Observer):
    """Draws figures of the history, or functions of the simulation, against time, anew each second.

    columns : names of the history; functions : by the names they shall have
    seconds : between two drawings

    >>> sim.observe(rg.LivePlot("kinetic_energy", height=lambda sim: sim.bodies.position[:, 1].max()), every=10)
    """

    def __init__(self, *columns: str, seconds: float = 1.0, **functions: Any) -> None:
        if not (is_number(seconds) and seconds >= 0.0):
            raise ValueError(f"seconds = {seconds!r} is no time between two drawings; give 0 or more")
        for name, function in functions.items():
            if not callable(function):
                raise TypeError(
                    f"{name} = {function!r} is no function of the simulation; give one, or a column by its name"
                )
        self._columns, self._functions, self._seconds = columns or (() if functions else USUAL), functions, seconds
        self._time: list[float] = []
        self._rows: dict[str, list[float]] = {name: [] for name in (*self._columns, *functions)}
        self._handle: Any = None

    def start(self, simulation: Simulation, steps: int) -> None:
        known = figures(simulation)
        if unknown := [name for name in self._columns if name not in known]:
            raise ValueError(f"{unknown[0]!r} is no figure; there are {', '.join(known)}")
        try:
            from IPython.display import HTML, display
        except ImportError:
            raise ImportError("LivePlot draws in notebooks; pip install 'rigidgrains[notebook]'") from None
        self._html, self._drawn = HTML, clock.monotonic()
        self._handle = display(HTML(self.html()), display_id=True)

    def look(self, simulation: Simulation) -> None:
        known = figures(simulation) if self._columns else {}
        self._time.append(simulation.time)
        for name in self._columns:
            self._rows[name].append(float(known[name]))
        for name, function in self._functions.items():
            self._rows[name].append(float(function(simulation)))
        if clock.monotonic() - self._drawn >= self._seconds:
            self._draw()

    def finish(self, simulation: Simulation) -> None:
        """The last drawing stays."""
        self._draw()
        self._handle = None

    def html(self) -> str:
        """The lines as they are now."""
        columns = {name: np.array(rows) for name, rows in self._rows.items()}
        title = f"t = {self._time[-1]:.4g} s" if self._time else "before the first step"
        return drawn_lines(title, np.array(self._time), columns)

    def _draw(self) -> None:
        self._drawn = clock.monotonic()
        if self._handle is not None:
            self._handle.update(self._html(self.html()))
