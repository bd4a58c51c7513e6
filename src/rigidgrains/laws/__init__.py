"""Contact laws beyond plain friction: each writes into the contact rows what the shock law is to see.

Without any the list of laws is empty, and nothing here is called.
"""

from __future__ import annotations

from ..model.law import Law
from .cohesion import Cohesion
from .friction import SpeedFriction, StaticFriction
from .restitution import Restitution
from .rolling import Rolling
from .rows import Rows

__all__ = ["Cohesion", "Law", "Restitution", "Rolling", "Rows", "SpeedFriction", "StaticFriction"]
