"""Pages in a real browser."""

from __future__ import annotations

import shutil
import time
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking"]


def open_page(browser: Any, address: str, **options: Any) -> Any:
    """A page that keeps what went wrong in `page.complaints`."""
    page = browser.new_page(**{"viewport": {"width": 900, "height": 700}, **options})
    page.complaints = []
    page.on("console", lambda message: page.complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda problem: page.complaints.append(str(problem)))
    page.on("request", lambda request: page.complaints.append(request.url) if request.url.startswith("http") else None)
    page.goto(address)
    page.wait_for_selector("body.ready", timeout=20_000)
    return page


def wait_for(page: Any, expression: str, seconds: float = 10.0) -> None:
    """Until an expression holds; the page's own policy forbids Playwright to wait inside it."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(20)
