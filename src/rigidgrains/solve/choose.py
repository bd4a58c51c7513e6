"""The solver that a simulation is given: one that is made, or the name of a method."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..model.bodies import Bodies
from .accelerated import AcceleratedSweeps
from .accuracy import DEFAULT, LEVELS, Accuracy
from .aliases import current
from .names import METHODS
from .second_order import SecondOrder
from .sweeps import Sweeps


def choose_solver(solver: Sweeps | str, **settings: Any) -> Sweeps:
    """Make of it what finds the forces. A name takes the defaults of its method, and the settings given besides."""
    if isinstance(solver, str):
        method = current(solver)
        if method not in METHODS:
            raise ValueError(
                f"solver = {solver!r} is unknown; choose one of {', '.join(METHODS)}, or make one: Sweeps()"
            )
        return METHODS[method](**settings)
    if isinstance(solver, type) or not hasattr(solver, "solve"):
        given = f"{solver.__name__}, a class," if isinstance(solver, type) else repr(solver)
        names = ", ".join(repr(name) for name in METHODS)
        raise TypeError(f"solver = {given} finds no forces; give one that is made, such as Sweeps(), or {names}")
    return solver


def with_accuracy(solver: Sweeps, accuracy: str | None) -> Sweeps:
    """The solver at another level of accuracy, if one is given."""
    if accuracy is None:
        return solver
    if not isinstance(solver, AcceleratedSweeps):
        name = getattr(solver, "name", type(solver).__name__)
        raise ValueError(f"accuracy = {accuracy!r} is a level of accelerated sweeps, not of {name}; remove one of them")
    return replace(solver, accuracy=accuracy)


def level_of(solver: Sweeps) -> Accuracy:
    """The level of accuracy of a solver; the default one of those that have none."""
    return LEVELS[getattr(solver, "accuracy", DEFAULT)]


def check_solver(solver: Sweeps, bodies: Bodies) -> None:
    """Raise ValueError if this method does not know what there is in the scene."""
    if isinstance(solver, SecondOrder):
        solver.check(bodies)
