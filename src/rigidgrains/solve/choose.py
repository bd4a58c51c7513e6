"""The solver that a simulation is given: one that is made, the name of a method, or that of the scene."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .accelerated import AcceleratedSweeps
from .names import METHODS
from .second_order import SecondOrder
from .settings import make_solver
from .sweeps import Sweeps

if TYPE_CHECKING:
    from ..model.bodies import Bodies
    from ..scene import Solver


def choose_solver(solver: Sweeps | str | None, settings: Solver | None = None) -> Sweeps:
    """Make of it what finds the forces. A name takes the defaults of its method, and the gap policy of the scene."""
    if solver is None:
        return AcceleratedSweeps() if settings is None else make_solver(settings)
    if isinstance(solver, str):
        return _by_name(solver, settings)
    if isinstance(solver, type) or not hasattr(solver, "solve"):
        given = f"{solver.__name__}, a class," if isinstance(solver, type) else repr(solver)
        names = ", ".join(repr(name) for name in METHODS)
        raise TypeError(f"solver = {given} finds no forces; give one that is made, such as Sweeps(), or {names}")
    return solver


def check_solver(solver: Sweeps, bodies: Bodies) -> None:
    """Raise ValueError if this method does not know what there is in the scene."""
    if isinstance(solver, SecondOrder):
        solver.check(bodies)


def _by_name(method: str, settings: Solver | None) -> Sweeps:
    from ..scene import Solver
    from ..scene.settings import ALIASES

    method = ALIASES.get(method, method)
    if method not in METHODS:
        raise ValueError(f"solver = {method!r} is unknown; choose one of {', '.join(METHODS)}, or make one: Sweeps()")
    kept = {} if settings is None else {"gap": settings.gap, "slack": settings.slack}
    return make_solver(Solver(method=method, **kept))
