"""What is shown while a study runs: a table of the runs in hand, how many are done, the rate and the time left."""

from __future__ import annotations

import math
import time as clock
from collections import Counter, deque
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table

SHOWN = 16  # rows
SILENCE = 30.0  # s, between two lines where there is no terminal
WINDOW = 120.0  # s, over which the rate is taken


class Watcher:
    """Is told how a study goes on; this one shows nothing."""

    def begin(self, total: int, before: int, chosen: int) -> None:
        """So many runs in all, so many that had ended before, so many to do."""

    def started(self, label: str) -> None:
        """A run begins, or goes on."""

    def progress(self, label: str, share: float) -> None:
        """How much of a run is done, 0 to 1."""

    def ended(self, label: str, state: str) -> None:
        """A run has come to a state."""

    def stopping(self) -> None:
        """The study was asked to stop; runs in hand come to a checkpoint."""

    def end(self) -> None:
        """Nothing more will come."""


class LiveTable(Watcher):
    """Shows the study on a terminal, or a line now and then where there is none."""

    def __init__(self, console: Console, *, now: Callable[[], float] = clock.monotonic) -> None:
        self._console, self._now = console, now
        self._running: dict[str, tuple[float, float]] = {}  # when it began, share
        self._over: set[str] = set()
        self._counts: Counter[str] = Counter()
        self._past: deque[float] = deque()
        self._stopping = False
        self._drawn = -math.inf
        self._live: Live | None = None

    def begin(self, total: int, before: int, chosen: int) -> None:
        self._total, self._before, self._chosen, self._begun = total, before, chosen, self._now()
        self._drawn = self._begun
        if self._console.is_terminal and not self._console.is_dumb_terminal:
            from rich.live import Live

            self._live = Live(get_renderable=self.table, console=self._console, refresh_per_second=4, transient=True)
            self._live.start()

    def started(self, label: str) -> None:
        self.progress(label, 0.0)

    def progress(self, label: str, share: float) -> None:
        if label in self._over:  # a word that was on its way
            return
        self._running[label] = (self._running.get(label, (self._now(), 0.0))[0], share)
        self._log()

    def ended(self, label: str, state: str) -> None:
        self._over.add(label)
        self._running.pop(label, None)
        self._counts[state] += 1
        self._past.append(self._now())
        self._log()

    def stopping(self) -> None:
        self._stopping = True
        if self._live is None:
            self._console.print("stopping: runs in hand come to a checkpoint; Ctrl-C again stops at once")

    def end(self) -> None:
        if self._live is not None:
            self._live.stop()

    def line(self) -> str:
        """Done, failed, rate and time left."""
        now, ended = self._now(), sum(self._counts.values())
        done = self._before + ended - self._counts["begun"]
        text = f"{done} of {self._total} runs done"
        if wrong := self._counts["failed"] + self._counts["unmeasured"]:
            text += f", {wrong} of them failed"
        while len(self._past) > 1 and now - self._past[0] > WINDOW:
            self._past.popleft()
        recent = [then for then in self._past if now - then <= WINDOW]
        span = min(WINDOW, now - self._begun)
        if self._stopping:
            return f"{text}; stopping, Ctrl-C again stops at once"
        if not recent or span <= 0.0:
            return text
        rate = len(recent) / span
        return f"{text}, {60.0 * rate:.3g} a minute, {_clock((self._chosen - ended) / rate)} left"

    def table(self) -> Table:
        """The runs in hand, and the line."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, caption=self.line(), caption_justify="left", caption_style="bold")
        for name in ("run", "", "", "time"):
            table.add_column(name, no_wrap=True)
        running = sorted(self._running.copy().items(), key=lambda one: one[1][0])  # others change it meanwhile
        for label, (began, share) in running[:SHOWN]:
            bar = ProgressBar(total=1.0, completed=share, width=24)
            table.add_row(Text(label[:60]), bar, f"{math.floor(100 * share):3d} %", _clock(self._now() - began))
        if len(running) > SHOWN:
            table.add_row(f"and {len(running) - SHOWN} more")
        return table

    def _log(self) -> None:
        """A line for a log file."""
        if self._live is None and self._now() - self._drawn >= SILENCE:
            self._drawn = self._now()
            self._console.print(self.line(), soft_wrap=True)


def _clock(seconds: float) -> str:
    """0:01:23"""
    minutes, rest = divmod(math.ceil(max(seconds, 0.0)), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
