"""What a periodic cell costs against walls, and what laws cost that are not used: ratios from one run, taken in turn.

python benchmarks/cells.py [--largest 70000] [--steps 12] [--before FOLDER] [--json FILE]

The packing is that of `rigidgrains bench` on whole cubes of its lattice, so that it fits a cell as well as a box of
walls. Grains get new random velocities before every step, the same in all runs: they collide with their neighbours and
stay dense. Steps have 20 sweeps, on one thread; costs are processor seconds. Detection is lists, candidates, contact
rows, and the search for pairs that the new motion calls for. FOLDER is the src of an older version: its sweep is timed
against the present one in turn.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rigidgrains as rg
from rigidgrains.app.bench import RADIUS, dense_bodies
from rigidgrains.app.bench_step import watch
from rigidgrains.detect import candidates
from rigidgrains.detect.neighbours import Neighbours
from rigidgrains.model.bodies import Bodies
from rigidgrains.model.cell import Cell
from rigidgrains.model.shapes import Plane
from rigidgrains.model.walls import Wall
from rigidgrains.runtime.threads import only

CUBES = (10, 20, 36)  # along a side: 1400, 11,200 and 65,318 grains
SWEEPS = 20
DT, SPEED = 0.02, 0.6
RATE = 0.05  # of a cell that is sheared
PRESSURE = 6.0  # about what collisions at that speed carry
SWEEP = """
import time
time.perf_counter = time.process_time  # others may keep this machine busy
from rigidgrains.app.bench import dense_problem, sweep_seconds
_, problem = dense_problem(10_000)
print(sweep_seconds(problem, "ordered", 60) / problem.count)
"""

Make = Callable[[int], rg.Simulation]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=70_000, help="grains at most")
    parser.add_argument("--steps", type=int, default=12, help="steps timed of each")
    parser.add_argument("--before", type=Path, help="src of an older version")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    sizes = [cubes for cubes in CUBES if grains_of(cubes) <= given.largest]
    found: dict[str, Any] = {"cells": [], "laws": []}
    cells: dict[str, Make] = {"walls": in_walls, "cell": in_cell, "sheared": sheared, "under pressure": pressed}
    laws: dict[str, Make] = {"plain friction": plain, "laws of materials that no grain has": unused, "rolling": rolling}
    with only(1):
        for name, makes, which in (("cells", cells, sizes), ("laws", laws, sizes[:1])):
            for cubes in which:
                found[name] += race(makes, cubes, given.steps)
    if given.before:
        found["sweep over an older version"] = against(given.before)
        print(f"a sweep, over that of the older version: {found['sweep over an older version']:.3f}")
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def race(makes: dict[str, Make], cubes: int, steps: int) -> list[dict[str, Any]]:
    """Cost of a step and of its detection, over those of the first; all take their steps in turn."""
    runs = {name: Watched(make(cubes)) for name, make in makes.items()}
    for k in range(2 + steps):
        for run in runs.values():
            run.step(k, counted=k >= 2)
    first, rows, lists = next(iter(runs.values())), [], one_list(runs)
    print(f"\n{grains_of(cubes):>6,} {'grains':29}  detection  one list    step   contacts  lists per step")
    for name, run in runs.items():
        row = {"name": name, "grains": grains_of(cubes), "detection": run.detection / first.detection,
               "list": lists[name], "step": run.whole / first.whole,
               "contacts": run.simulation.contacts.count, "lists": run.lists / steps}  # fmt: skip
        print(f"{name:36}  {row['detection']:9.2f}  {row['list']:8.2f}  {row['step']:6.2f}  {row['contacts']:9,}"
              f"  {row['lists']:14.2f}")  # fmt: skip
        rows.append(row)
    return rows


class Watched:
    """A simulation that keeps the time of its detection and of whole steps (s), and counts the lists it makes."""

    def __init__(self, simulation: rg.Simulation) -> None:
        self.simulation, self.spent = simulation, dict[str, float]()
        self.detection, self.whole, self.lists = 0.0, 0.0, 0
        watch(simulation.neighbours, "refresh", self.spent)
        watch(simulation.contacts, "gather", self.spent)

    def step(self, seed: int, *, counted: bool) -> None:
        """A step from new random velocities, without drift."""
        bodies = self.simulation.bodies
        bodies.velocity[:] = np.random.default_rng(seed).normal(0.0, SPEED, (bodies.count, 3))
        bodies.velocity[:] -= bodies.velocity.mean(axis=0)
        before, builds, begun = sum(self.spent.values()), self.simulation.neighbours.builds, time.process_time()
        functions, own = (candidates.find_candidates, candidates.missed_pairs), dict[str, float]()
        for name in ("find_candidates", "missed_pairs"):
            watch(candidates, name, own)
        self.simulation.step()
        candidates.find_candidates, candidates.missed_pairs = functions
        if counted:
            self.whole += time.process_time() - begun
            self.detection += sum(self.spent.values()) - before + sum(own.values())
            self.lists += self.simulation.neighbours.builds - builds


def one_list(runs: dict[str, Watched]) -> dict[str, float]:
    """Cost of making neighbour lists for the present states, over that of the first; the best of several, in turn."""
    best = dict.fromkeys(runs, math.inf)
    for _ in range(7):
        for name, run in runs.items():
            begun = time.process_time()
            Neighbours().refresh(run.simulation.bodies, DT)
            best[name] = min(best[name], time.process_time() - begun)
    first = next(iter(best.values()))
    return {name: seconds / first for name, seconds in best.items()}


def grains_of(cubes: int) -> int:
    """On at most 70 % of the sites."""
    return int(0.7 * 2 * cubes**3)


def packing(cubes: int, *, walls: list[Wall] | None = None, cell: Cell | None = None) -> rg.Simulation:
    """Spheres on 70 % of the sites of so many cubes along each side."""
    dense = dense_bodies(grains_of(cubes))
    bodies = Bodies.assemble(
        dimension=3, position=dense.position, radius=dense.radius, density=1.0, friction=0.3, walls=walls, cell=cell
    )
    return simulated(bodies)


def simulated(what: Any) -> rg.Simulation:
    return rg.Simulation(what, dt=DT, solver=rg.Sweeps(criterion=rg.FixedSweeps(SWEEPS)), seed=1)


def in_walls(cubes: int) -> rg.Simulation:
    low, high = -RADIUS, 2.0 * cubes - 1.0 + RADIUS
    walls = []
    for axis, name in enumerate("xyz"):
        for at, way in ((low, 1.0), (high, -1.0)):
            point, normal = np.zeros(3), np.zeros(3)
            point[axis], normal[axis] = at, way
            walls.append(Wall(f"{name}{at:.0f}", Plane(point, normal)))
    return packing(cubes, walls=walls)


def around(cubes: int, **control: Any) -> Cell:
    return Cell(2.0 * cubes * np.eye(3), origin=np.full(3, -0.5), **control)


def in_cell(cubes: int) -> rg.Simulation:
    return packing(cubes, cell=around(cubes))


def sheared(cubes: int) -> rg.Simulation:
    rate = np.zeros((3, 3))
    rate[0, 1] = RATE
    return packing(cubes, cell=around(cubes, rate=rate))


def pressed(cubes: int) -> rg.Simulation:
    eye = np.eye(3)
    return packing(cubes, cell=around(cubes, free=eye > 0.0, stress=PRESSURE * eye, isotropic=True))


def plain(cubes: int) -> rg.Simulation:
    return described(cubes)


def unused(cubes: int) -> rg.Simulation:
    """Materials of which nothing is made, with all laws there are."""
    return described(cubes, other=True)


def rolling(cubes: int) -> rg.Simulation:
    return described(cubes, rolling=0.1)


def described(cubes: int, *, other: bool = False, **law: float) -> rg.Simulation:
    """The packing as a scene, in a cell."""
    lower, upper = [-0.5] * 3, [2.0 * cubes - 0.5] * 3
    scene = rg.Scene(dimension=3, friction=0.3, cell={"lower": lower, "upper": upper})
    scene.add_material("grain", friction=0.3, **law)
    if other:
        scene.add_material("other", friction=0.5, static_friction=0.6, cohesion=1.0, restitution=0.5, rolling=0.1)
    dense = dense_bodies(grains_of(cubes))
    scene.add_grains(positions=dense.position.tolist(), radius=float(dense.radius[0]), density=1.0, material="grain")
    return simulated(scene)


def against(before: Path, rounds: int = 5) -> float:
    """Time of a contact update by plain friction over that of an older version; the best of several, in turn."""
    best = {"now": math.inf, "before": math.inf}
    now = Path(rg.__file__).parents[1]
    for folder in (now, before):
        child(folder)  # compile first
    for _ in range(rounds):
        best["now"] = min(best["now"], child(now))
        best["before"] = min(best["before"], child(before))
    return best["now"] / best["before"]


def child(folder: Path) -> float:
    place = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run([sys.executable, "-c", SWEEP], capture_output=True, text=True, check=True, env=place)
    return float(done.stdout)


if __name__ == "__main__":
    main()
