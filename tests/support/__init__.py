"""What tests share: small worlds, scenes, frames made by hand, commands, a browser, and what is compared."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
