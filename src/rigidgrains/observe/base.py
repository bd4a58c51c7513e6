"""Observers and their triggers, and how a run is stopped."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from ..arguments import is_number

if TYPE_CHECKING:
    from ..simulation import Simulation


class StopRun(Exception):
    """Raised by an observer to end the run; the text says why."""


class Observer:
    """Looks at a simulation; subclass it, or pass any function of the simulation to `Simulation.observe`."""

    def start(self, simulation: Simulation, steps: int) -> None:
        """Before the first of so many steps."""

    def look(self, simulation: Simulation) -> None:
        """After a step on which the trigger fires."""

    def finish(self, simulation: Simulation) -> None:
        """After the last step, also when the run failed."""

    def state(self) -> dict[str, Any]:
        """What must be remembered so that a resumed run goes on alike; numbers and text."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Take up what was remembered."""


class _Function(Observer):
    """A plain function as observer."""

    def __init__(self, function: Callable[[Simulation], Any]) -> None:
        self.look = function  # type: ignore[method-assign,assignment]


class Trigger:
    """Fires an observer after every so many steps, or after the first step beyond each multiple of an interval (s)."""

    def __init__(
        self, observer: Observer | Callable[[Simulation], Any], every: int, interval: float | None = None
    ) -> None:
        if isinstance(observer, type):
            raise TypeError(f"{observer.__name__} is a class; observe with one that is made: {observer.__name__}(...)")
        if not isinstance(observer, Observer) and not callable(observer):
            raise TypeError(
                f"{observer!r} cannot look at a simulation; give an Observer, or a function of the simulation"
            )
        if not is_number(every, whole=True) or every < 1:
            raise ValueError(f"every = {every!r} is no interval; observe after every 1 step or more, a whole number")
        if interval is not None and not (is_number(interval) and 0.0 < interval < math.inf):
            raise ValueError(f"interval = {interval!r} is no time between looks; give a positive number of seconds")
        self.observer = observer if isinstance(observer, Observer) else _Function(observer)
        self.every, self.interval = every, interval

    def after_step(self, simulation: Simulation) -> None:
        if self._due(simulation):
            self.observer.look(simulation)

    def _due(self, simulation: Simulation) -> bool:
        if self.interval is None:
            return simulation.steps % self.every == 0
        now = simulation.time / self.interval + 1e-9  # a step that ends on a multiple counts, however it was rounded
        return math.floor(now) > math.floor(now - simulation.dt / self.interval)


class Interrupt:
    """Turns the first Ctrl-C, or a polite request to terminate, into a question that is answered between two steps.

    A second one raises at once. Signals reach the main thread alone: runs in other threads are not asked.
    """

    def __init__(self) -> None:
        self._signal: int | None = None

    @property
    def asked(self) -> bool:
        return self._signal is not None

    def __enter__(self) -> Interrupt:
        self._main = threading.current_thread() is threading.main_thread()
        if self._main:
            self._previous = {number: signal.signal(number, self._ask) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        if self._main:
            for number, handler in self._previous.items():
                signal.signal(number, handler)

    def answer(self) -> None:
        """Raise what Python would have raised at once, if anybody has asked: now everything is safe."""
        if self._signal is not None:
            _raise(self._signal)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            _raise(number)
        self._signal = number


def _raise(number: int) -> NoReturn:
    """KeyboardInterrupt for Ctrl-C; the exit code of shells for other signals."""
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)
