"""Who may enter: only a browser on this machine that was given the address, and only from the page itself.

The address holds a random token, which keeps other users of the machine out. The Host header must name this server,
which keeps out pages whose name was bound to this machine afterwards (DNS rebinding). The Origin header, where there is
one, must be the page's own, which keeps out other pages; a websocket must have one.
"""

from __future__ import annotations

import secrets
from typing import Any

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class Guard:
    """Lets a request pass without its token, or answers 403."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app, self._token = app, token
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or not self._may_enter(scope):
            await _refuse(scope, receive, send)
            return
        path = "/" + scope["path"].split("/", 2)[2]
        await self._app({**scope, "path": path, "raw_path": path.encode()}, receive, send)

    def _may_enter(self, scope: Scope) -> bool:
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        host, origin = headers.get("host", []), headers.get("origin", [])
        if len(host) != 1 or host[0].lower() not in self._hosts:
            return False
        if origin != [f"http://{host[0].lower()}"] and (origin or scope["type"] == "websocket"):
            return False
        parts = scope["path"].split("/", 2)
        return len(parts) == 3 and secrets.compare_digest(parts[1].encode(), self._token.encode())


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        closing: dict[str, Any] = {"type": "websocket.close", "code": 1008}
        await send(closing)
    elif scope["type"] == "http":
        await PlainTextResponse("not here\n", status_code=403)(scope, receive, send)
