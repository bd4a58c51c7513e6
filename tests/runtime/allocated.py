"""Memory that single steps of dense packings ask for, per grain; run as a program of its own, see test_memory.py.

Python's tracemalloc knows of numpy's arrays. Those that kernels make are seen too if Numba is told to use Python's
allocator before it has made any.
"""

from __future__ import annotations

import json
import sys
import tracemalloc
from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
from numba.core.runtime import _nrt_python

_nrt_python.memsys_use_cpython_allocator()

from support.builders import plane  # noqa: E402

from rigidgrains import Simulation  # noqa: E402
from rigidgrains.app.bench import dense_bodies  # noqa: E402
from rigidgrains.model.bodies import Bodies  # noqa: E402
from rigidgrains.runtime import memory, threads  # noqa: E402
from rigidgrains.runtime.compiled import allocating  # noqa: E402
from rigidgrains.solve.accelerated import AcceleratedSweeps  # noqa: E402
from rigidgrains.solve.criteria import FixedSweeps, MomentumCriterion  # noqa: E402
from rigidgrains.solve.sweeps import Sweeps  # noqa: E402

GRAINS = 20_000
PLAIN = Sweeps(order="coloured", criterion=FixedSweeps(5))
ACCELERATED = AcceleratedSweeps(criterion=MomentumCriterion(), max_sweeps=5)


@allocating
def numbers(n):
    """n numbers that a kernel makes and forgets."""
    return np.zeros(n).sum()


def packing() -> Bodies:
    """On a floor, pressed by a piston, in motion: lists are made anew every few steps."""
    dense = dense_bodies(GRAINS)
    lowest, highest = dense.position.min(axis=0) - dense.radius[0], dense.position.max(axis=0) + dense.radius[0]
    walls = [plane(lowest, [0, 0, 1.0], "floor"), plane(highest, [0, 0, -1.0], "piston", mass=100.0, load=50.0)]
    return Bodies.assemble(
        dimension=3, position=dense.position, radius=dense.radius, density=1.0 / (4.0 / 3.0 * np.pi * dense.radius**3),
        velocity=dense.velocity, friction=0.3, walls=walls,
    )  # fmt: skip


def asked(steps: int, more: Callable[[], Any] = lambda: None, solver: Sweeps = PLAIN) -> dict[str, list[float]]:
    """Peak above the beginning of each step (bytes per grain), of those that keep their lists and those that do not.

    steps : how many, after as many that are not watched; more : done in the middle of each step as well
    """
    simulation, found = Simulation(packing(), dt=0.02, solver=copy(solver)), {"kept": [], "made": []}
    usual = simulation.solver.solve
    simulation.solver.solve = lambda *what: (more(), usual(*what))[1]
    simulation.run(steps=steps)
    tracemalloc.start()
    for _ in range(steps):
        before, builds = tracemalloc.get_traced_memory()[0], simulation.neighbours.builds
        tracemalloc.reset_peak()
        simulation.step()
        peak = tracemalloc.get_traced_memory()[1] - before
        found["kept" if simulation.neighbours.builds == builds else "made"].append(peak / GRAINS)
    tracemalloc.stop()
    return found


if __name__ == "__main__":
    threads.set_threads(1)
    memory.LARGE = sys.maxsize  # mappings are not traced
    threads.PART = 2048  # what a part of a loop takes for itself does not depend on the number of grains
    more = {"array": lambda: np.zeros(GRAINS), "kernel": lambda: numbers(GRAINS)}
    quiet = {"plain": asked(30), "accelerated": asked(30, solver=ACCELERATED)}
    print(json.dumps(quiet | {name: asked(2, task) for name, task in more.items()}))
