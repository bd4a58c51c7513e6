"""What threads save: whole steps of a dense packing, and each stage of them, on one thread and on several.

python benchmarks/threads.py [--sizes 1000,10000,20000,200000,1000000] [--threads 1,2,4,8,16] [--output threads.json]

All numbers of threads make the same steps, to the bit: the time of each step is the best of some rounds in turn, and
these are added up. Beside them a plain copy of as many bytes as the packing of a million has, on as many threads.
Solvers: 20 plain sweeps by colours, 20 accelerated ones, and what a scene gets that says nothing.
"""

from __future__ import annotations

import argparse
import copy
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rigidgrains.app import about, bench
from rigidgrains.app.bench_step import DT, SWEEPS
from rigidgrains.detect import candidates
from rigidgrains.detect.neighbours import Neighbours
from rigidgrains.runtime.board import copy as copy_numbers
from rigidgrains.runtime.threads import get_threads, only, spread
from rigidgrains.simulation import integrate
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.solve.accelerated import AcceleratedSweeps
from rigidgrains.solve.criteria import FixedSweeps
from rigidgrains.solve.extrapolated import Extrapolated
from rigidgrains.solve.orders import Coloured
from rigidgrains.solve.sweeps import Sweeps

SIZES = (1000, 10_000, 20_000, 200_000, 1_000_000)
THREADS = (1, 2, 4, 8, 16)
COPY = 560_000_000  # bytes
SOLVERS: dict[str, Callable[[], Sweeps]] = {
    "plain": lambda: Sweeps(order="coloured", criterion=FixedSweeps(SWEEPS)),
    "accelerated": lambda: AcceleratedSweeps(criterion=FixedSweeps(SWEEPS)),
    "default": AcceleratedSweeps,
}
STAGES: dict[str, tuple[Any, str]] = {
    "lists": (Neighbours, "_build"),
    "refresh": (Neighbours, "refresh"),
    "widen": (Neighbours, "widen"),
    "candidates": (candidates, "find_candidates"),
    "missed": (candidates, "missed_pairs"),
    "free": (integrate, "free_velocity"),
    "move": (integrate, "move"),
    "solve": (Sweeps, "solve"),
    "accelerated solve": (AcceleratedSweeps, "solve"),
    "sweeps": (Extrapolated, "sweeps"),
    "plain sweeps": (Coloured, "sweeps"),
}


class Stages(dict[str, float]):
    """Seconds by stage; those of stages within others are counted twice, and taken off at the end."""

    def watch(self, thing: Any, name: str, stage: str) -> None:
        inner = getattr(thing, name)

        def watched(*args: Any, **options: Any) -> Any:
            begun = time.perf_counter()
            try:
                return inner(*args, **options)
            finally:
                self[stage] = self.get(stage, 0.0) + time.perf_counter() - begun

        setattr(thing, name, watched)

    def told(self, whole: float, steps: int) -> dict[str, float]:
        """ms a step of each, the rest included."""
        s = {name: 1e3 * self.get(name, 0.0) / steps for name in (*STAGES, "gather")}
        sweeps = s["sweeps"] + s["plain sweeps"]
        solve = s["accelerated solve"] or s["solve"]
        found = {
            "lists": s["lists"],
            "skins": s["refresh"] + s["widen"] - s["lists"],
            "candidates": s["candidates"],
            "gather": s["gather"],
            "sweeps": sweeps,
            "solve": solve - sweeps,
            "missed": s["missed"] - s["widen"],
            "motion": s["free"] + s["move"],
        }
        found["rest"] = 1e3 * whole / steps - sum(found.values())
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--threads", default=",".join(map(str, THREADS)))
    parser.add_argument("--solvers", default=",".join(SOLVERS))
    parser.add_argument("--seconds", type=float, default=12.0, help="for each size and solver on one thread, about")
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    numbers = [int(k) for k in given.threads.split(",") if int(k) <= get_threads()]
    stages = Stages()
    for stage, (thing, name) in STAGES.items():
        stages.watch(thing, name, stage)
    found: dict[str, Any] = {"machine": dict(about.versions()), "copy": copies(numbers), "steps": []}
    print("copy", {k: f"x{found['copy'][1] / s:.2f}" for k, s in found["copy"].items()}, flush=True)
    for name in given.solvers.split(","):
        for number in numbers[:2]:
            with only(number):
                timed(bench.dense_bodies(20_000), SOLVERS[name](), stages, 2)  # compile first
    for grains in map(int, given.sizes.split(",")):
        bodies = bench.dense_bodies(grains)
        for name in given.solvers.split(","):
            rows = measure(bodies, SOLVERS[name], numbers, stages, given.seconds)
            for row in rows:
                found["steps"].append({"solver": name, "grains": grains, **row})
                print(told(name, grains, row), flush=True)
    if given.output is not None:
        given.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def measure(
    bodies: Any, solver: Callable[[], Sweeps], numbers: list[int], stages: Stages, seconds: float
) -> list[dict[str, Any]]:
    """Time of the same steps on each number of threads, in turn; and of their stages, in the round that was best."""
    steps = 10 if bodies.count <= 300_000 else 4
    best: dict[int, Any] = {}
    spent = begun = 0.0
    rounds = 0
    while rounds < 1 or (rounds < 7 and spent < seconds):
        for number in numbers:
            with only(number):
                begun = time.perf_counter()
                times, parts = timed(bodies, solver(), stages, steps)
            spent += time.perf_counter() - begun if number == 1 else 0.0
            if number in best:
                before, kept = best[number]
                parts = parts if times.sum() < before.sum() else kept
                times = np.minimum(times, before)
            best[number] = times, parts
        rounds += 1
    one = best[numbers[0]][0].sum()
    return [
        {
            "threads": number, "ms": 1e3 * float(times.mean()), "gain": float(one / times.sum()), "stages": parts,
            "rounds": rounds,
        }
        for number, (times, parts) in best.items()
    ]  # fmt: skip


def timed(bodies: Any, solver: Sweeps, stages: Stages, steps: int) -> tuple[Any, dict[str, float]]:
    """Seconds of each step after the first two, and ms a step of their stages."""
    simulation = Simulation(copy.deepcopy(bodies), dt=DT, solver=solver, seed=1)
    for _ in range(2):
        simulation.step()
    stages.watch(simulation.contacts, "gather", "gather")
    stages.clear()
    times = np.empty(steps)
    for k in range(steps):
        begun = time.perf_counter()
        simulation.step()
        times[k] = time.perf_counter() - begun
    return times, stages.told(float(times.sum()), steps)


def copies(numbers: list[int]) -> dict[int, float]:
    """Seconds of a plain copy, which the memory alone bounds."""
    rows = np.ones((COPY // 64, 8))
    to = np.zeros_like(rows)
    best = dict.fromkeys(numbers, np.inf)
    for _ in range(5):
        for number in numbers:
            with only(number):
                begun = time.perf_counter()
                spread(copy_numbers, rows.size, rows.reshape(-1), to.reshape(-1))
                best[number] = min(best[number], time.perf_counter() - begun)
    return best


def told(name: str, grains: int, row: dict[str, Any]) -> str:
    """A line of the table."""
    stages = ", ".join(f"{stage} {ms:.2f}" for stage, ms in row["stages"].items())
    return f"{name} {grains} x {row['threads']}: {row['ms']:.2f} ms (x{row['gain']:.2f}); {stages}"


if __name__ == "__main__":
    main()
