"""From the `[solver]` table of a scene to a solver."""

from __future__ import annotations

from typing import Any

from ..solve.criteria import (
    Criterion,
    FixedSweeps,
    GlobalCriterion,
    LocalCriterion,
    MomentumCriterion,
    OverlapCriterion,
    ResidualCriterion,
    RigidSweeps,
)
from ..solve.names import METHODS
from ..solve.orders import ORDERS, Order, Ordered, RandomBlocks
from ..solve.sweeps import Sweeps
from .settings import Solver


def make_solver(settings: Solver) -> Sweeps:
    """The solver that a scene asks for."""
    own: dict[str, dict[str, Any]] = {
        "relaxed": {"omega": settings.omega},
        "accelerated": {"hold": settings.hold, "referee": settings.referee},
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
    if settings.order == "ordered":
        return Ordered(axis=settings.axis)
    if settings.order == "random_blocks":
        return RandomBlocks(block=settings.block)
    return ORDERS[settings.order]()


def _criterion(settings: Solver) -> Criterion:
    if settings.criterion == "fixed":
        assert settings.sweeps is not None  # the scene checks it
        return FixedSweeps(settings.sweeps)
    if settings.criterion == "rigid":
        return RigidSweeps(settings.rigidity)
    if settings.criterion == "global":
        return GlobalCriterion(settings.epsilon)
    if settings.criterion == "residual":
        return ResidualCriterion(settings.epsilon)
    if settings.criterion == "momentum":
        return MomentumCriterion(settings.epsilon, settings.residual, settings.contact)
    if settings.criterion == "overlap":
        return OverlapCriterion(settings.epsilon)
    return LocalCriterion(settings.epsilon, settings.delta)
