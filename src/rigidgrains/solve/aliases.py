"""Earlier names that scenes, files and command lines may still use."""

from __future__ import annotations

ALIASES = {"referee": "second-order"}  # of methods
