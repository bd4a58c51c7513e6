"""Contact laws beyond plain friction: each writes into the contact rows what the shock law is to see.

Without any the list of laws is empty, and nothing here is called.
"""

from __future__ import annotations

from .base import Law, Rows
from .friction import SpeedFriction, StaticFriction

__all__ = ["Law", "Rows", "SpeedFriction", "StaticFriction"]
