"""How far some work has come: a bar on a terminal, a line that changes in a notebook, else a line each half minute.

First come the share that is done and the time that is left, then details, as many as the line has room for.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

WIDTH = 20  # characters of the bar, and no more than a quarter of the line
SILENCE = 30.0  # s, between two lines where there is no terminal
REFRESH = 0.2  # s, after which a bar is drawn anew
WINDOW = 30.0  # s, over which the pace is taken that tells the time left


class Bar:
    """One line about one work; `with Bar("search") as bar: bar.tell(0.5, "7 of 14")`.

    console : where it is shown; default: standard error
    now     : the clock (s)
    """

    def __init__(
        self, name: str = "", *, console: Console | None = None, now: Callable[[], float] = time.monotonic
    ) -> None:
        console = Console(stderr=True, highlight=False) if console is None else console
        self._name, self._now = name, now
        self._share = 0.0
        self._details: tuple[str, ...] = ()
        self._begun, self._drawn = now(), -math.inf
        self._past = deque([(self._begun, 0.0)])
        self._face: Terminal | Notebook | Log
        if console.is_jupyter:
            self._face = Notebook(self)
        elif console.is_terminal and not console.is_dumb_terminal:
            self._face = Terminal(self, console)
        else:
            self._face = Log(self, console)

    def __enter__(self) -> Bar:
        self._face.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._face.draw()
        self._face.stop()

    def tell(self, share: float, *details: str) -> None:
        """A share of the work is done, 0 to 1; details, the most telling first."""
        now = self._now()
        self._share, self._details = min(max(share, 0.0), 1.0), details
        if now - self._past[-1][0] >= 1.0:
            self._past.append((now, self._share))
            while now - self._past[1][0] >= WINDOW:
                self._past.popleft()
        if now - self._drawn >= REFRESH:
            self._drawn = now
            self._face.draw()

    @property
    def share(self) -> float:
        return self._share

    def line(self, width: float = math.inf) -> str:
        """Name, per cent, time left, and details until the width (characters) is full."""
        text = f"{self._name + '  ' if self._name else ''}{math.floor(100.0 * self._share):3d} %  {self._time()}"
        for detail in self._details:
            if len(text) + 2 + len(detail) > width:
                break
            text += f"  {detail}"
        return text

    def _time(self) -> str:
        """The time left at the pace of the last half minute, or the time that it took."""
        now = self._now()
        if self._share >= 1.0:
            return f"{_clock(now - self._begun)} taken"
        then, had = self._past[0]
        if not self._share > had:
            return "-:--:-- left"
        return f"{_clock((1.0 - self._share) * (now - then) / (self._share - had))} left"


class Terminal:
    """A bar that is drawn over again in its place."""

    def __init__(self, bar: Bar, console: Console) -> None:
        self._bar, self._console = bar, console
        self._live = Live(console=console, auto_refresh=False, get_renderable=self._render)

    def start(self) -> None:
        self._live.start(refresh=True)

    def draw(self) -> None:
        self._live.refresh()

    def stop(self) -> None:
        self._live.stop()

    def _render(self) -> Table:
        width = min(WIDTH, self._console.width // 4)
        grid = Table.grid(padding=(0, 1, 0, 0))
        grid.add_column(width=width)
        grid.add_column(no_wrap=True)
        line = self._bar.line(self._console.width - width - 1)
        grid.add_row(ProgressBar(total=1.0, completed=self._bar.share, width=width), Text(line))
        return grid


class Notebook:
    """A line of text that changes; needs no widgets."""

    def __init__(self, bar: Bar) -> None:
        self._bar = bar

    def start(self) -> None:
        from IPython.display import display

        self._handle: Any = display(self._text(), raw=True, display_id=True)

    def draw(self) -> None:
        self._handle.update(self._text(), raw=True)

    def stop(self) -> None:
        """The last line stays."""

    def _text(self) -> dict[str, str]:
        full = math.floor(WIDTH * self._bar.share)
        return {"text/plain": f"{'█' * full}{'░' * (WIDTH - full)} {self._bar.line()}"}


class Log:
    """A line each half minute, also while nothing is told; nothing of what takes less."""

    def __init__(self, bar: Bar, console: Console) -> None:
        self._bar, self._console = bar, console
        self._ended = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self.say_until, args=(self._ended.wait,), daemon=True).start()

    def say_until(self, ended: Callable[[float], bool]) -> None:
        """Print a line whenever so many seconds have passed and the work has not ended."""
        while not ended(SILENCE):
            self._console.print(Text(self._bar.line()), soft_wrap=True)

    def draw(self) -> None:
        """Lines come by the clock."""

    def stop(self) -> None:
        self._ended.set()


def _clock(seconds: float) -> str:
    """0:01:23"""
    minutes, rest = divmod(math.ceil(seconds - 1e-6), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
