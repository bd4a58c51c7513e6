"""Follows a file that a run is writing: the page grows with it."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...trajectory.errors import TrajectoryError
from ...trajectory.reader import Trajectory
from ..page.species_words import Species
from ..page.summary import thinned, title_of
from .browser import open_privately
from .packet import live_head, live_packet
from .server import Server

if TYPE_CHECKING:
    from starlette.websockets import WebSocket

PAUSE = 0.5  # s between two looks at the file


def follow(
    trajectory: Trajectory,
    *,
    port: int = 0,
    show: bool = True,
    tell: Callable[[str], Any] = print,
    until: threading.Event | None = None,
) -> None:
    """Serve a page of a file until Ctrl-C (or until an event); frames are read when a viewer asks for them."""
    file = _File(trajectory)
    server = Server(file.head, file.serve, port=port)
    server.start()
    lead: Path | None = None
    try:
        lead = open_privately(server.address) if show else None
        tell(server.address)
        end = until or threading.Event()
        while not end.wait(0.5):
            pass
    except KeyboardInterrupt:
        pass
    finally:
        server.stop()
        file.close()
        if lead is not None:
            lead.unlink(missing_ok=True)


class _File:
    """The trajectory, read by one thread only."""

    def __init__(self, trajectory: Trajectory) -> None:
        self._trajectory = trajectory
        first = trajectory[0]
        self._origin = first.position.mean(axis=0)
        species = Species()
        species.add(first)
        self._head = live_head(
            title_of(trajectory), trajectory.dimension, first.gravity, "file", trajectory.has_contacts, first.catalogue,
            len(first), species.words(),
        )  # fmt: skip
        self._reader = ThreadPoolExecutor(1, "trajectory")
        self._seen = self._stamp()

    def head(self) -> dict[str, Any]:
        return self._head

    def close(self) -> None:
        self._reader.shutdown(cancel_futures=True)
        self._trajectory.close()

    async def serve(self, socket: WebSocket) -> None:
        """Talk to one viewer: tell it of new frames, send those it asks for."""
        await socket.accept()
        telling = asyncio.create_task(self._tell(socket))
        try:
            while True:
                words = json.loads(await socket.receive_text())
                if isinstance(words.get("frame"), int):
                    await socket.send_bytes(await self._read(self._packet, words["frame"]))
        except Exception:  # gone, or talks nonsense
            pass
        finally:
            telling.cancel()
            with suppress(Exception):
                await socket.close()

    async def _tell(self, socket: WebSocket) -> None:
        told = 0
        with suppress(Exception):
            while True:
                news = await self._read(self._news)
                if len(news["times"]) != told:
                    told = len(news["times"])
                    await socket.send_text(json.dumps(news))
                await asyncio.sleep(PAUSE)

    async def _read(self, function: Callable[..., Any], *words: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._reader, function, *words)

    def _packet(self, index: int) -> bytes:
        frame = self._trajectory[index]
        return live_packet(frame, self._origin)

    def _news(self) -> dict[str, Any]:
        """Times and series as they are now; the file is opened again when it has changed."""
        stamp = self._stamp()
        if stamp != self._seen:
            with suppress(TrajectoryError):  # met within a commit: next time
                self._trajectory.refresh()
                self._seen = stamp
        state = "ended" if self._trajectory.report else "running"
        times = [float(time) for time in self._trajectory.times]
        return {"times": times, "series": thinned(self._trajectory.history), "state": state}

    def _stamp(self) -> tuple[int, int]:
        stat = self._trajectory.path.stat()
        return stat.st_mtime_ns, stat.st_size
