"""Between a run and its viewers: the newest frame, the rows of the plots, and what the viewers ask for.

The run hands over and goes on. A viewer says when it is ready for a frame and gets the newest one then; frames that
came in between are dropped. A viewer that reads slowly, or not at all, keeps nobody waiting.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.websockets import WebSocket

MOST_VIEWERS = 8
BREATH = 0.02  # s between two words of a viewer
ROWS = 2000  # of the plots; then every other is dropped


class Feed:
    """What run and viewers share: the run calls `publish` and `tell` and reads the fields, viewers come to `serve`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._viewers: set[_Viewer] = set()
        self._packet, self._serial = b"", 0
        self._rows: list[list[float | None]] = []
        self._thinned = 0
        self.state = "running"
        self.wish = threading.Event()  # set when a viewer asks for something
        self.asked = ""  # "", "pause" or "stop"
        self.seconds = 0.0  # of work that the server's thread has done
        self.alone_since = time.monotonic()

    @property
    def viewers(self) -> int:
        return len(self._viewers)

    @property
    def hungry(self) -> bool:
        """True when a viewer is ready for a frame."""
        return any(viewer.ready for viewer in tuple(self._viewers))

    @property
    def served(self) -> bool:
        """True when every viewer was sent the newest frame."""
        return all(viewer.serial == self._serial for viewer in tuple(self._viewers))

    def publish(self, packet: bytes | None, row: list[float | None]) -> None:
        """Hand over the newest frame and a row for the plots."""
        with self._lock:
            if packet is not None:
                self._packet, self._serial = packet, self._serial + 1
            self._rows.append(row)
            if len(self._rows) > ROWS:
                self._rows, self._thinned = self._rows[::2], self._thinned + 1
        self._wake()

    def tell(self, state: str) -> None:
        """Say that the run is running, paused or ended."""
        self.state = state
        self._wake()

    def _wake(self) -> None:
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # the server has gone
                loop.call_soon_threadsafe(self._ring)

    def _ring(self) -> None:
        for viewer in self._viewers:
            viewer.news.set()

    async def serve(self, socket: WebSocket) -> None:
        """Talk to one viewer until it goes."""
        self._loop = asyncio.get_running_loop()
        if len(self._viewers) >= MOST_VIEWERS:
            await socket.close(1013)
            return
        await socket.accept()
        self.seconds = self.seconds or time.thread_time()
        viewer = _Viewer()
        self._viewers.add(viewer)
        sending = asyncio.create_task(self._send(socket, viewer))
        try:
            while True:
                self._hear(viewer, await socket.receive_text())
                await asyncio.sleep(BREATH)
        except Exception:  # gone, or talks nonsense
            pass
        finally:
            sending.cancel()
            self._viewers.discard(viewer)
            self.alone_since = time.monotonic()
            with suppress(Exception):
                await socket.close()

    def _hear(self, viewer: _Viewer, text: str) -> None:
        words = json.loads(text)
        if words.get("ready"):
            viewer.ready = True
            viewer.news.set()
        if words.get("do") in ("pause", "resume", "stop"):
            self.asked = "" if words["do"] == "resume" else words["do"]
            self.wish.set()

    async def _send(self, socket: WebSocket, viewer: _Viewer) -> None:
        with suppress(Exception):
            while True:
                await viewer.news.wait()
                viewer.news.clear()
                with self._lock:
                    packet, serial = self._packet, self._serial
                    again = viewer.thinned != self._thinned
                    rows = self._rows[0 if again else viewer.rows :]
                    viewer.thinned, viewer.rows = self._thinned, len(self._rows)
                if rows:
                    await socket.send_text(json.dumps({"again": again, "rows": rows}))
                if (viewer.ready or self.state == "ended") and serial > viewer.serial:  # the last one is for all
                    viewer.ready, viewer.serial = False, serial
                    await socket.send_bytes(packet)
                if viewer.state != self.state:
                    viewer.state = self.state
                    await socket.send_text(json.dumps({"state": self.state}))
                self.seconds = time.thread_time()


class _Viewer:
    """One page: is it ready for a frame, and what has it been told."""

    def __init__(self) -> None:
        self.news = asyncio.Event()
        self.ready = False
        self.serial = 0
        self.rows = self.thinned = 0
        self.state = ""
