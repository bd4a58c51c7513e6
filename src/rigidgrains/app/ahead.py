"""Compiles what finds the forces, in a process of its own: see `compiled.compile_ahead`."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from ..contacts.problem import ContactProblem
from ..detect.colours import Colouring
from ..model.columns import FLAT_LEVERS, INV, LEVERS, M_N, M_T, MU, N_X, V_X
from ..runtime.memory import new_table
from ..solve.accelerated import AcceleratedSweeps
from ..solve.sweeps import SolveReport


def squeezed(kind: str = "friction", contacts: int = 9) -> ContactProblem:
    """A row of disks pressed from both ends, with its contacts in two colours.

    kind : friction, or lever or flat_lever for grains of other shapes, which here do not turn
    """
    levers = {"lever": new_table(contacts, LEVERS), "flat_lever": new_table(contacts, FLAT_LEVERS)}.get(kind)
    if levers is not None:
        levers.fill(0.0)
    bodies = contacts + 1
    motion = np.zeros((bodies, 8))
    motion[:, INV] = 1.0
    motion[0, V_X], motion[-1, V_X] = 1.0, -1.0
    pairs = np.stack([np.arange(contacts), np.arange(1, bodies)], axis=1).astype(np.int32)
    geometry = np.zeros((contacts, 8))
    geometry[:, N_X], geometry[:, M_N], geometry[:, M_T], geometry[:, MU] = 1.0, 0.5, 0.25, 0.3
    position = np.arange(bodies)[:, None] * np.array([1.0, 0.0, 0.0])
    even = np.concatenate([np.arange(0, contacts, 2), np.arange(1, contacts, 2)])
    sizes = np.array([(contacts + 1) // 2, contacts // 2])
    colouring = Colouring.of(np.arange(contacts, dtype=np.int32), sizes, np.zeros(2, np.bool_))
    return ContactProblem(
        motion, pairs[even], geometry, np.zeros((contacts, 4)), 0.01, position, np.full(bodies, 0.5),
        colouring=colouring, levers=levers,
    )  # fmt: skip


def main(kind: str = "friction") -> None:
    """By the default: a step in motion, and one at rest."""
    solver, last = AcceleratedSweeps(), SolveReport(sweeps=0, updates=0, converged=True, mean_force=0.0)
    for step in (last, replace(last, travel=0.0)):
        solver.for_step(step).solve(squeezed(kind), np.random.default_rng(0))


if __name__ == "__main__":
    main(*sys.argv[1:])
