"""The server: loopback only, in a thread of its own."""

from __future__ import annotations

import secrets
import socket
import threading
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from ..page.html import fill_template

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.websockets import WebSocket

LOOPBACK = "127.0.0.1"
FAREWELL = 1  # s, for viewers to go before they are dropped


class LiveError(ValueError):
    """The live view cannot start; the text says why, and the remedy."""


class Server:
    """Serves the page and its feed at an address that nobody can guess.

    head : words of the page, asked for when it is loaded; feed : talks to one viewer over its websocket
    port : 0 takes any that is free
    """

    def __init__(
        self, head: Callable[[], dict[str, Any]], feed: Callable[[WebSocket], Awaitable[None]], *, port: int = 0
    ) -> None:
        try:
            import starlette  # noqa: F401
            import uvicorn
            import websockets  # noqa: F401
        except ImportError as missing:
            raise LiveError(f"the live view needs {missing.name}; pip install 'rigidgrains[live]'") from None
        self._socket = _listen(port)
        self.port = int(self._socket.getsockname()[1])
        self._token = secrets.token_urlsafe(24)
        config = uvicorn.Config(
            _application(head, feed, self._token, self.port),
            log_config=None,  # the address must not come to stand in a log
            log_level="critical",
            access_log=False,
            server_header=False,
            lifespan="off",
            ws="auto",
            ws_max_size=4096,
            ws_per_message_deflate=False,
            timeout_graceful_shutdown=FAREWELL,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._serve, name="live view", daemon=True)

    @property
    def address(self) -> str:
        return f"http://{LOOPBACK}:{self.port}/{self._token}/"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Say goodbye, and give the port back."""
        self._server.should_exit = True
        if self._thread.is_alive():
            self._thread.join(FAREWELL + 4)
        self._socket.close()

    def _serve(self) -> None:
        self._server.run(sockets=[self._socket])


def _listen(port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise LiveError(f"port {port} does not exist; choose one from 1024 to 65535, or 0 for any that is free")
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
        listener.listen(16)
    except OSError as problem:
        listener.close()
        raise LiveError(f"port {port} cannot be used: {problem.strerror}; choose another with --port") from None
    return listener


def _application(
    head: Callable[[], dict[str, Any]], feed: Callable[[WebSocket], Awaitable[None]], token: str, port: int
) -> Any:
    from starlette.applications import Starlette
    from starlette.responses import HTMLResponse
    from starlette.routing import Route, WebSocketRoute

    from .guard import Guard

    async def page(request: Request) -> Response:
        nonce = secrets.token_urlsafe(16)
        text = "".join(fill_template(head(), policy="", nonce=nonce))
        return HTMLResponse(text, headers=_headers(nonce, request.headers["host"]))

    routes = [Route("/", page, methods=["GET"]), WebSocketRoute("/feed", feed)]
    return Guard(Starlette(routes=routes), token, port)


def _headers(nonce: str, host: str) -> dict[str, str]:
    """Nothing but the page's own script runs, nobody frames it, and its address goes nowhere."""
    return {
        "Content-Security-Policy": f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
        f"img-src data: blob:; connect-src ws://{host}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
    }
