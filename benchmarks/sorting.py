"""What the numbering of grains costs, and what sorting them costs: ratios from one run, steps taken in turn.

python benchmarks/sorting.py [10000 30000 100000 300000] [--steps 9]

The packing is that of `rigidgrains bench`, numbered along the curve; as that was before grains were displaced at random
by one or three diameters (standard deviation of each component); and at random. Steps have 20 sweeps by colours, on one
thread; costs are processor seconds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from rigidgrains.app.bench import dense_bodies
from rigidgrains.runtime.threads import only
from rigidgrains.simulation import sorting
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.solve.criteria import FixedSweeps
from rigidgrains.solve.sweeps import Sweeps

MIXED = {"curve": 0.0, "one diameter": 1.0, "three": 3.0, "random": np.inf}


def numbered(grains: int, mixed: float) -> Simulation:
    """A packing whose numbers are those along a curve of grains displaced by so many diameters."""
    bodies, rng = dense_bodies(grains), np.random.default_rng(0)
    away = 2.0 * bodies.mean_radius * mixed * rng.normal(size=bodies.position.shape) if 0.0 < mixed < np.inf else 0.0
    rows = sorting.along_curve(replace(bodies, position=bodies.position + away))
    rows = rng.permutation(grains) if mixed == np.inf else rows
    sorting.renumber_bodies(bodies, sorting.numbers(rows), rows)
    solver = Sweeps(order="coloured", criterion=FixedSweeps(20))
    simulation = Simulation(bodies, dt=0.02, solver=solver, seed=1, sort=False)
    simulation.run(steps=2)
    return simulation


def seconds(task: Callable[[], Any]) -> float:
    begun = time.process_time()
    task()
    return time.process_time() - begun


def race(grains: int, steps: int) -> dict[str, float]:
    """Steps over those along the curve; a look and a sort over one of these; how far apart neighbours are in memory."""
    runs = {name: numbered(grains, mixed) for name, mixed in MIXED.items()}
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(steps):
        for name, run in runs.items():
            taken[name].append(seconds(run.step))
    cost = {name: float(np.median(some)) for name, some in taken.items()}
    found = {name: some / cost["curve"] for name, some in cost.items()}
    everyone, worst = np.arange(grains), runs["random"]
    found |= {f"apart, {name}": sorting.distance(run.neighbours.pairs, everyone) for name, run in runs.items()}

    def look() -> None:
        for rows in (everyone, sorting.along_curve(worst.bodies)):
            sorting.distance(worst.neighbours.pairs, rows)

    def renumber(rows: Any) -> None:
        sorting.renumber(worst.bodies, worst.neighbours, worst.contacts, rows)

    renumber(everyone)  # compiles
    found["look"] = seconds(look) / cost["curve"]
    rows = sorting.along_curve(worst.bodies)
    found["sort"] = seconds(lambda: renumber(rows)) / cost["curve"]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grains", nargs="*", type=int, default=[10_000, 30_000, 100_000, 300_000])
    parser.add_argument("--steps", type=int, default=9)
    asked = parser.parse_args()
    with only(1):
        for grains in asked.grains:
            told = ", ".join(f"{name} {value:.3g}" for name, value in race(grains, asked.steps).items())
            print(f"{grains:,} grains: {told}", flush=True)


if __name__ == "__main__":
    main()
