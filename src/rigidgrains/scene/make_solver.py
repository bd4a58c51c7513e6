"""From the `[solver]` table of a scene to a solver: whatever a class has and the table knows goes by the same name."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from ..solve.accuracy import LEVEL
from ..solve.criteria import Criterion
from ..solve.names import CRITERIA, METHODS, NAMED_ORDERS
from ..solve.orders import Order
from ..solve.sweeps import Sweeps
from .settings import Solver

KEYS = {"criterion": ("criterion", "epsilon", "residual", "contact")}  # keys that make a setting the user's own
NAMES = {"safety": "rigidity"}  # of a field in the table, where it has another one there


def make_solver(settings: Solver) -> Sweeps:
    """The solver that a scene asks for."""
    order: Order = NAMED_ORDERS[settings.order](**_own(NAMED_ORDERS[settings.order], settings))
    criterion: Criterion = CRITERIA[settings.criterion](**_own(CRITERIA[settings.criterion], settings))
    own = _own(METHODS[settings.method], settings)
    if settings.method == "accelerated":
        own["own"] = tuple(name for name in LEVEL if any(settings.given(key) for key in KEYS.get(name, (name,))))
    return METHODS[settings.method](**own | {"order": order, "criterion": criterion})


def _own(kind: Any, settings: Solver) -> dict[str, Any]:
    """What the table has for the fields of a class."""
    names = [field.name for field in fields(kind)] if is_dataclass(kind) else []
    keys = {name: NAMES.get(name, name) for name in names}
    return {name: getattr(settings, key) for name, key in keys.items() if key in Solver.model_fields}
