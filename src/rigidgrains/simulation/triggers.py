"""Observers and their triggers, and how a run is stopped."""

from __future__ import annotations

import inspect
import json
import math
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from ..runtime.arguments import is_number
from ..runtime.registry import Registry
from ..runtime.signals import STOPPING

if TYPE_CHECKING:
    from .simulation import Simulation

OURS = __name__.partition(".")[0] + "."  # modules of observers that are known to keep what files can hold


class StopRun(Exception):
    """Raised by an observer to end the run; the text says why."""


class Observer:
    """Looks at a simulation; subclass it, or pass any function of the simulation to `Simulation.observe`.

    A text that `start` or `look` returns ends the run and is the reason in the report; None lets it go on.
    ends : True to look after the last step of each stage, too
    """

    ends = False

    def start(self, simulation: Simulation, steps: int) -> str | None:
        """Before the first of so many steps."""
        return None

    def look(self, simulation: Simulation) -> str | None:
        """After a step on which the trigger fires."""
        return None

    def finish(self, simulation: Simulation) -> None:
        """After the last step, also when the run failed."""

    def state(self) -> dict[str, Any]:
        """What must be remembered so that a resumed run goes on alike: numbers, texts, lists and dictionaries."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Take up what was remembered."""


OBSERVERS: Registry[Observer] = Registry("observer")  # those of which a file keeps something


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
        self._name = _name(observer)
        for method in (self.observer.start, self.observer.look):
            _check_runs(method, self._name)

    def after_step(self, simulation: Simulation) -> None:
        """Let the observer look if its time has come."""
        stages = simulation.stages
        if self._due(simulation) or (self.observer.ends and stages is not None and stages.ended):
            self.obey(self.observer.look(simulation))

    def obey(self, answer: Any) -> None:
        """End the run if the observer said why, go on if it said nothing; anything else could mean either."""
        if answer is None:
            return
        if isinstance(answer, str) and answer.strip():
            raise StopRun(str(answer))
        if inspect.iscoroutine(answer):
            answer.close()  # nobody will await it
        raise TypeError(
            f"observer {self._name} returned {answer!r}; return a text, the reason for the report, to end the run, "
            "or None to go on"
        )

    def kept(self) -> dict[str, Any]:
        """What the observer has to remember; raises TypeError for what a file cannot keep."""
        state = self.observer.state()
        if type(self.observer).__module__.startswith(OURS):
            return state
        try:
            json.dumps(state)
        except (TypeError, ValueError) as problem:
            raise TypeError(
                f"observer {self._name}: state() cannot be kept in a file ({problem}); return numbers, texts, lists "
                "and dictionaries of them, array.tolist() for an array"
            ) from None
        return state

    def _due(self, simulation: Simulation) -> bool:
        if self.interval is None:
            return simulation.steps % self.every == 0
        now = simulation.time / self.interval + 1e-9  # a step that ends on a multiple counts, however it was rounded
        return math.floor(now) > math.floor(now - simulation.dt / self.interval)


def _check_runs(method: Callable[..., Any], name: str) -> None:
    """Raise for functions of which a call runs nothing."""
    for called in (method, type(method).__call__):
        if inspect.isgeneratorfunction(called) or inspect.isasyncgenfunction(called):
            raise TypeError(f"observer {name} has a yield in it, so that a call runs nothing of it; return instead")
        if inspect.iscoroutinefunction(called):
            raise TypeError(f"observer {name} is async, and nothing awaits it; observe with a plain function")


def _name(observer: Any) -> str:
    """A function by its name, anything else by that of its class."""
    return str(getattr(observer, "__qualname__", type(observer).__qualname__))


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
            self._previous = {number: signal.signal(number, self._ask) for number in STOPPING}
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
