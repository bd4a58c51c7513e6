"""Opens an address in the browser without telling it to the other users of the machine."""

from __future__ import annotations

import tempfile
import webbrowser
from html import escape
from pathlib import Path


def open_privately(address: str) -> Path:
    """Open a file that only this user can read and that leads on: arguments of programs can be read by all."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", prefix="live-", suffix=".html", delete=False) as file:
        lead = f'<meta http-equiv="refresh" content="0; url={escape(address)}">'
        file.write(f"<!doctype html>{lead}<title>live view</title>")
    webbrowser.open(Path(file.name).as_uri())
    return Path(file.name)
