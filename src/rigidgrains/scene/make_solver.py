"""From the `[solver]` table of a scene to a solver."""

from __future__ import annotations

from typing import Any

from ..solve.criteria import Criterion
from ..solve.names import CRITERIA, METHODS, NAMED_ORDERS
from ..solve.orders import Order
from ..solve.sweeps import Sweeps
from .settings import Solver


def make_solver(settings: Solver) -> Sweeps:
    """The solver that a scene asks for."""
    own: dict[str, dict[str, Any]] = {
        "relaxed": {"omega": settings.omega},
        "accelerated": {"associated": settings.associated, "fallback": settings.fallback},
        "second-order": {"warm": settings.warm},
    }
    return METHODS[settings.method](
        order=_order(settings),
        criterion=_criterion(settings),
        max_sweeps=settings.max_sweeps,
        gap=settings.gap,
        slack=settings.slack,
        sleep=settings.sleep,
        **own.get(settings.method, {}),
    )


def _order(settings: Solver) -> Order:
    own: dict[str, dict[str, Any]] = {"ordered": {"axis": settings.axis}, "random_blocks": {"block": settings.block}}
    return NAMED_ORDERS[settings.order](**own.get(settings.order, {}))


def _criterion(settings: Solver) -> Criterion:
    epsilon = settings.epsilon
    own: dict[str, tuple[Any, ...]] = {
        "fixed": (settings.sweeps,),
        "rigid": (settings.rigidity,),
        "momentum": (epsilon, settings.residual, settings.contact),
        "local": (epsilon, settings.delta),
    }
    criterion: Criterion = CRITERIA[settings.criterion](*own.get(settings.criterion, (epsilon,)))
    return criterion
