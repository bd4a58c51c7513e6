"""Contact laws beyond plain friction: each writes into the contact rows what the shock law is to see.

Without any the list of laws is empty, and nothing here is called.
"""

from __future__ import annotations

from ..model.law import Law
from ..runtime.registry import Registry
from .cohesion import Cohesion
from .friction import SpeedFriction, StaticFriction
from .restitution import Restitution
from .rolling import Rolling
from .rows import Rows

__all__ = ["LAWS", "Cohesion", "Law", "Restitution", "Rolling", "Rows", "SpeedFriction", "StaticFriction"]

# By the names that files use, in the order in which a scene lets them act; laws of the user's own need none. Names of
# data sets are made of these, law_NAME_COEFFICIENT: they stay when a class gets another name.
LAWS: Registry[Law] = Registry(
    "contact law",
    {
        "StaticFriction": StaticFriction,
        "SpeedFriction": SpeedFriction,
        "Cohesion": Cohesion,
        "Restitution": Restitution,
        "Rolling": Rolling,
    },
)
