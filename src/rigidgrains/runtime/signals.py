"""Signals that ask a run to stop: Ctrl-C, a request to terminate, and on Windows Ctrl-Break."""

from __future__ import annotations

import signal

STOPPING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGBREAK") if hasattr(signal, name))
