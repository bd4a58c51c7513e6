"""The observer that shows a run while it goes on."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...runtime.signals import STOPPING
from ...simulation.triggers import Observer, StopRun
from ...trajectory.frame import Frame
from ..page.species_words import live_words
from ..page.summary import SERIES, number
from .browser import open_privately
from .feed import Feed
from .packet import live_head, live_packet
from .server import LiveError, Server

if TYPE_CHECKING:
    from ...simulation.simulation import Simulation

RATE = 20.0  # frames a second at most
SHARE = 0.02  # of the run's time that the view may take
IDLE = 2.0  # s between rows of the plots while nobody looks
ALONE = 5.0  # s after which a paused run goes on when its last viewer has gone
LAST = 1.0  # s for viewers to take the last frame


class LiveView(Observer):
    """Shows a run in the browser: `simulation.observe(LiveView())`, on every step.

    title : of the page; port : 0 takes any that is free
    show  : open the browser; tell : is called with the address, default print

    What it costs is measured as it goes, and frames are sent less often where they cost more.
    """

    def __init__(
        self,
        *,
        title: str = "live view",
        port: int = 0,
        show: bool = True,
        tell: Callable[[str], Any] | None = None,
    ) -> None:
        self._title, self._show = title, show
        self._tell = tell or (lambda address: print(f"live view at {address}", flush=True))
        self._feed = Feed()
        self._server: Server | None = Server(self._head, self._serve, port=port)
        self._port = port
        self._simulation: Simulation | None = None
        self.spent = 0.0  # s, that looking has cost the run

    @property
    def address(self) -> str:
        """Where the page is; whoever has it can see and stop the run."""
        if self._server is None:
            raise LiveError("the live view has ended; run again")
        return self._server.address

    def start(self, simulation: Simulation, steps: int) -> None:
        self._simulation = simulation
        self._origin = simulation.bodies.position.mean(axis=0)
        self._next = self._next_row = 0.0
        self._worked = self._mean = 0.0
        self._looks = 0
        if self._server is None:
            self._feed, self._server = Feed(), Server(self._head, self._serve, port=self._port)
        self._server.start()
        self._file = open_privately(self._server.address) if self._show else None
        self._tell(self._server.address)

    def look(self, simulation: Simulation) -> None:
        """Hand over the newest state if it is wanted and due; do what a viewer asked for."""
        now = time.perf_counter()
        if now >= self._next and (self._feed.hungry or now >= self._next_row):
            self._publish(simulation, now, frame=self._feed.hungry)
        if self._feed.asked == "pause":
            self._pause(simulation)
        if self._feed.asked == "stop":
            raise StopRun("stopped in the live view")

    def finish(self, simulation: Simulation) -> None:
        """Show the last state, then close the server and give the port back."""
        server, self._server = self._server, None
        if server is None or not hasattr(self, "_next"):
            return
        try:
            self._publish(simulation, time.perf_counter(), frame=True)
            self._feed.tell("ended")
            end = time.monotonic() + LAST
            while self._feed.viewers and time.monotonic() < end and not self._feed.served:
                time.sleep(0.02)
            time.sleep(0.1 if self._feed.viewers else 0.0)
        finally:
            server.stop()
            if self._file is not None:
                self._file.unlink(missing_ok=True)

    def _publish(self, simulation: Simulation, now: float, *, frame: bool) -> None:
        begun = time.thread_time()
        state = Frame.of(simulation)
        row = [number(state.figures[name]) for name in SERIES]
        self._feed.publish(live_packet(state, self._origin) if frame else None, row)
        seconds = self._feed.seconds
        worked = seconds - self._worked if self._worked else 0.0  # what came before the first viewer was loading
        self._worked = seconds
        cost = time.thread_time() - begun + worked
        self.spent += cost
        rest = self._typical(cost) / SHARE
        self._next, self._next_row = now + max(1.0 / RATE, rest), now + max(IDLE, rest)

    def _typical(self, cost: float) -> float:
        """Mean cost (s) of the last looks. The first is left out, since it compiles; outliers count less."""
        self._looks += 1
        if self._looks == 1:
            return 0.0
        self._mean = cost if self._looks == 2 else 0.8 * self._mean + 0.2 * min(cost, 5.0 * self._mean)
        return self._mean

    def _pause(self, simulation: Simulation) -> None:
        """Wait until a viewer lets the run go on, or the last one has gone; Ctrl-C is answered at once."""
        feed = self._feed
        self._publish(simulation, time.perf_counter(), frame=True)
        feed.tell("paused")
        with _Awake(feed.wish) as awake:
            while feed.asked == "pause" and not awake.called:
                feed.wish.wait(0.2)
                feed.wish.clear()
                if not feed.viewers and time.monotonic() > feed.alone_since + ALONE:
                    feed.asked = ""
        if feed.asked != "stop":
            feed.asked = ""
        feed.tell("running")

    def _head(self) -> dict[str, Any]:
        assert self._simulation is not None
        bodies = self._simulation.bodies
        return live_head(
            self._title, bodies.dimension, np.asarray(bodies.gravity), "run", True, bodies.catalogue, bodies.count,
            live_words(bodies),
        )  # fmt: skip

    async def _serve(self, socket: Any) -> None:
        await self._feed.serve(socket)


class _Awake:
    """Hears signals while the run waits, and passes them on to whoever heard them before."""

    def __init__(self, event: threading.Event) -> None:
        self._event = event
        self.called = False

    def __enter__(self) -> _Awake:
        self._before: dict[int, Any] = {}
        if threading.current_thread() is threading.main_thread():
            for number_ in STOPPING:
                self._before[number_] = signal.signal(number_, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        for number_, handler in self._before.items():
            signal.signal(number_, handler)

    def _hear(self, number_: int, frame: Any) -> None:
        self.called = True
        self._event.set()
        before = self._before[number_]
        if callable(before):
            before(number_, frame)
