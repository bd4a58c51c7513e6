"""The factory of loops: every loop over contacts, compiled for each kind of contact."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contacts.problem import ContactProblem
from ...model.columns import FLAT_LEVERS
from ...runtime.compiled import inlined, kernel, part, specialise
from ...runtime.threads import together, worth
from . import coloured, extrapolated, measures, sweeps
from .kinds import CELL, FLAT_LEVER, FRICTION, LEVER, TORQUE, Kind

Array = NDArray[np.float64]

SHARE = 2048  # contacts that a thread takes at least: with less, meetings cost more than it saves


class Kernels(SimpleNamespace):
    """Loops over contacts of one kind, by the names of their texts in the modules beside this one."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Kernels:
        """There is one of each kind: copies of problems share them."""
        return self


@cache
def make_kernels(kind: Kind) -> Kernels:
    """All loops for a kind of contact; they are compiled when they are first called, and cached."""
    given = kind.given()
    made: dict[str, Any] = {}
    for module in (sweeps, coloured, extrapolated, measures):
        for text in module.TEXTS:
            compile_it = inlined if text in module.INLINED else part if text in module.PARTS else kernel
            made[text.__name__] = specialise(text, kind.name, given | made, compile_it)
    return Kernels(**made)


def kind_of(problem: ContactProblem) -> Kind:
    """By the columns that its contacts have."""
    if problem.levers is not None:
        return FLAT_LEVER if problem.levers.shape[1] == FLAT_LEVERS else LEVER
    if problem.extra is not None:
        return TORQUE
    return FRICTION if problem.branch is None else CELL


def kernels_for(problem: ContactProblem) -> Kernels:
    """The loops that a problem needs."""
    if problem.loops is None:
        problem.loops = make_kernels(kind_of(problem))
    found: Kernels = problem.loops
    return found


def apply_forces(problem: ContactProblem) -> None:
    """Bring the velocities up to date with the carried forces, in the order of the rows."""
    by = problem.colouring
    if by is None:
        kernels_for(problem).apply_forces(*problem.arrays, problem.dt)
        return
    what = by.start, by.alone, *problem.arrays, problem.dt
    together(kernels_for(problem).coloured_forces, worth(problem.count, SHARE), *what)


def without_forces(problem: ContactProblem) -> Array:
    """(bodies, 8) the velocities that bodies would have without their contact forces."""
    bare = problem.copy()
    bare.forces *= -1.0
    apply_forces(bare)
    return bare.motion


def worth_sweeps(contacts: int, sweeps: int, share: int = SHARE) -> int:
    """How many threads are worth waking for some sweeps."""
    most = contacts // max(share, 1)
    return 1 if most <= 1 else min(worth(contacts * sweeps), most)
