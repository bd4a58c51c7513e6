"""The contact laws beyond plain friction by the names that files use; laws of the user's own need none.

Names of data sets are made of these, law_NAME_COEFFICIENT: they stay when a class gets another name.
"""

from __future__ import annotations

from ..model.law import Law
from ..runtime.registry import Registry
from .cohesion import Cohesion
from .friction import SpeedFriction, StaticFriction
from .restitution import Restitution
from .rolling import Rolling

LAWS: Registry[Law] = Registry(
    "contact law",
    {
        "Cohesion": Cohesion,
        "Restitution": Restitution,
        "Rolling": Rolling,
        "SpeedFriction": SpeedFriction,
        "StaticFriction": StaticFriction,
    },
)
