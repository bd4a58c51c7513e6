"""Plain against accelerated sweeps over the test set: ratios measured in one run, as a table and as JSON.

python benchmarks/solvers/run.py [--grains MOST] [--json FILE] [PART ...]     parts: growth chain piston shear set

Problems are made on the first run and kept in `build/`; packings of 16,000 and 64,000 grains take long to make.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import os
import platform
import time
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from certificate import certify
from problems import clone, diluted, impact, piston_step, pressed, pressed_chain, settle, shake, shear, tilt

import rigidgrains
from rigidgrains.contacts.problem import ContactProblem
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.solve.accelerated import AcceleratedSweeps
from rigidgrains.solve.criteria import FixedSweeps, MomentumCriterion, ResidualCriterion
from rigidgrains.solve.sweeps import SolveReport, Sweeps

PACKINGS = {250: 8, 1000: 4, 4000: 4, 16_000: 4, 64_000: 1}  # how many of each size
PLAIN = ("symmetric", "coloured", "random_blocks")  # the quickest plain sweeps; the best of them counts


def main() -> None:
    """Run the parts asked for and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help="growth, chain, piston, shear or set; all if absent")
    parser.add_argument("--grains", type=int, default=16_000, help="most grains in a packing, up to 64,000")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    asked = parser.parse_args()
    warm_up()
    parts = {"growth": lambda: growth(asked.grains), "chain": chain, "piston": piston, "shear": flow, "set": whole}
    found: dict[str, Any] = {
        "version": rigidgrains.__version__,
        "machine": f"{os.cpu_count()} cores, {platform.machine()}",
    }
    for name in asked.parts or parts:
        found[name] = rows = list(parts[name]())
        print(f"\n{name}")
        for row in rows:
            print("  " + "  ".join(f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
                                   for key, value in row.items()))  # fmt: skip
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1, default=float) + "\n")


def growth(most: int) -> Iterator[dict[str, Any]]:
    """Sweeps to a momentum error of 1 % from a cold start, mu = 0.3, against n; and CPU time at n = 4000.

    Small packings differ from each other, so more of them are averaged (geometrically), two orders of colours for each.
    associated : whether the solver is told that they carry their load
    """
    sizes = [n for n in PACKINGS if n <= most]
    for (dimension, bar, faster), associated in product(((2, 0.5, 25.0), (3, 0.3, 8.0)), (False, True)):
        sweeps = []
        for n in sizes:
            problems = [clone(piston_step(dimension, n, 0.3, seed), cold=True) for seed in range(PACKINGS[n])]
            solver = AcceleratedSweeps(accuracy="exact", max_sweeps=20_000, associated=associated)
            runs = [timed(solver, problem, seed) for problem in problems for seed in range(2)]
            sweeps.append(math.exp(np.mean([math.log(report.sweeps) for report, _ in runs])))
            mean = float(np.mean([seconds for _, seconds in runs]))
            counts = [report.sweeps for report, _ in runs]
            row: dict[str, Any] = {
                "dimension": dimension, "associated": associated, "n": n, "packings": len(problems),
                "contacts": problems[0].count, "sweeps": sweeps[-1],
                "least": min(counts), "most": max(counts), "cpu_ms": 1e3 * mean,
                "converged": all(report.converged for report, _ in runs),
            }  # fmt: skip
            if n == 4000:
                plain = {order: [timed(plain_sweeps(order), problem) for problem in problems] for order in PLAIN}
                cost = {order: float(np.mean([seconds for _, seconds in plain[order]])) for order in PLAIN}
                best = min(PLAIN, key=lambda order: cost[order])
                row |= {"plain": best, "plain_sweeps": float(np.mean([report.sweeps for report, _ in plain[best]])),
                        "plain_cpu_ms": 1e3 * cost[best], "ratio": cost[best] / mean, "bar": faster,
                        "met": cost[best] / mean >= faster}  # fmt: skip
            yield row
        for upto in sizes[2:]:
            some = [n for n in sizes if n <= upto]
            slope = float(np.polyfit(np.log(some), np.log(sweeps[: len(some)]), 1)[0])
            yield {
                "dimension": dimension,
                "associated": associated,
                "upto": upto,
                "exponent": slope,
                "bar": bar,
                "met": slope <= bar,
            }


def chain() -> Iterator[dict[str, Any]]:
    """A pressed chain of 200 spheres: CPU time to forces right to 1e-6."""
    problem = pressed_chain(200)
    reached = {}
    plain = {order: partial(Sweeps, order=order) for order in ("symmetric", "coloured")}
    for name, make in (plain | {"accelerated": AcceleratedSweeps}).items():
        for epsilon in 10.0 ** -np.arange(5.0, 16.0, 0.5):
            solved = clone(problem)
            solver = make(criterion=ResidualCriterion(epsilon), max_sweeps=1_000_000)
            report, seconds = timed(solver, solved, keep=True)
            error = float(np.abs(1e4 * solved.forces[:, 0] - 1.0).max())
            if error <= 1e-6:
                break
        reached[name] = seconds
        yield {"solver": name, "sweeps": report.sweeps, "cpu_ms": 1e3 * seconds, "force_error": error}
    ratio = min(reached[order] for order in plain) / reached["accelerated"]
    yield {"ratio": ratio, "bar": 50.0, "met": ratio >= 50.0}


def piston() -> Iterator[dict[str, Any]]:
    """1000 disks, mu = 0.05, the load raised by 1 %: 60 steps of either solver. Lengths in dF dt^2/M."""
    packing = pressed(2, 1000, 0.05, 0)
    load, mass = packing.bodies.walls[-1].load, packing.bodies.walls[-1].mass
    packing.solver = AcceleratedSweeps(accuracy="exact", criterion=MomentumCriterion(1e-6, residual=1e-6))
    for factor in (1.02, 1.0):  # tried beforehand: what is measured is a wave, not a collapse
        packing.bodies.walls[-1].load = factor * load
        settle(packing, 40, 0.0)
        packing.bodies.motion[:, :6] = 0.0
    layers = int(height(packing) ** 2)
    cases = {
        "random": Sweeps(criterion=FixedSweeps(layers)),
        "symmetric": Sweeps(order="symmetric", criterion=FixedSweeps(layers)),
        "coloured": Sweeps(order="coloured", criterion=FixedSweeps(layers)),
        "accelerated": AcceleratedSweeps(accuracy="exact", criterion=MomentumCriterion(1e-4)),
    }
    seconds = {}
    for name, solver in cases.items():
        simulation = copy.deepcopy(packing)
        simulation.solver = solver
        simulation.bodies.walls[-1].load = 1.01 * load
        y, sweeps = [height(simulation)], []
        begin = time.process_time()
        for _ in range(60):
            simulation.step()
            y.append(height(simulation))
            sweeps.append(simulation.last_solve.sweeps)
        seconds[name] = time.process_time() - begin
        path = (np.array(y) - y[0]) * mass / (0.01 * load)
        yield {"solver": name, "sweeps_first": sweeps[0], "sweeps_later": float(np.mean(sweeps[1:])),
               "cpu_ms": 1e3 * seconds[name], "travel": float(np.abs(path).max()),
               "rebound": float(path[1:].max() - path[1:].min())}  # fmt: skip
        travel = float(np.abs(path).max())
    for plain in ("random", "symmetric", "coloured"):
        ratio = seconds[plain] / seconds["accelerated"]
        yield {"plain": plain, "ratio": ratio, "bar": 20.0, "met": bool(ratio >= 20.0 and travel < 0.3)}


def flow() -> Iterator[dict[str, Any]]:
    """Steps of a slow shear flow of three packings: sweeps to a residual of 1e-5, warm and cold."""
    rows = []
    for seed in range(3):
        for step in range(3):
            for cold in (False, True):
                start = clone(shear(1000, step, seed=seed), cold=cold)
                criterion = ResidualCriterion(1e-5)
                fast, _ = timed(AcceleratedSweeps(criterion=criterion), start)
                slow, _ = timed(Sweeps(order="symmetric", criterion=criterion, max_sweeps=30_000), start)
                row = {"packing": seed, "step": step, "cold": cold, "sweeps": fast.sweeps, "plain": slow.sweeps,
                       "plain_converged": slow.converged, "bar": 1000,
                       "met": bool(fast.converged and fast.sweeps <= 1000)}  # fmt: skip
                rows.append(row)
                yield row
    kept = sum(row["met"] for row in rows)
    yield {"met_by": f"{kept} of {len(rows)}", "median": float(np.median([row["sweeps"] for row in rows])),
           "median_plain": float(np.median([row["plain"] for row in rows])), "met": kept == len(rows)}  # fmt: skip


def whole() -> Iterator[dict[str, Any]]:
    """Every problem of the set: what the solver says against what the certificate finds."""
    wrong = 0
    for name, problem in the_set():
        for order in ("coloured", "symmetric", "associated"):
            if order == "associated" and problem.forces.any():
                continue  # it makes a difference where no forces are carried over
            solved, free = clone(problem), problem.motion
            kind = {"associated": True} if order == "associated" else {"order": order}
            report = AcceleratedSweeps(**kind, max_sweeps=20_000).solve(solved, np.random.default_rng(0))
            truth = certify(free, solved)
            right = truth["residual"] <= 1.01e-3 and truth["momentum_error"] <= 1.01e-2
            lawful = truth["cone"] <= 1e-12 and truth["velocity"] <= 1e-9
            wrong += report.converged and not (right and lawful)
            yield {"problem": name, "order": order, "sweeps": report.sweeps, "restarts": report.restarts,
                   "converged": report.converged, **truth}  # fmt: skip
    yield {"false_converged": wrong, "bar": 0, "met": wrong == 0}


def the_set() -> Iterator[tuple[str, ContactProblem]]:
    """All loads, frictions and starts."""
    for dimension in (2, 3):
        for mu in (0.0, 0.05, 0.3, 0.5):
            for load in (piston_step, tilt, shake):
                problem = load(dimension, 1000, mu)
                for cold in (False, True):
                    yield (
                        f"{load.__name__} {dimension}D mu {mu:g} {'cold' if cold else 'warm'}",
                        clone(problem, cold=cold),
                    )
    for cold in (False, True):
        yield f"impact {'cold' if cold else 'warm'}", clone(impact(1000), cold=cold)
        for rough in (0.5, 5.0):
            name = f"shear, walls of mu {rough:g}, {'cold' if cold else 'warm'}"
            yield name, clone(shear(1000, rough=rough), cold=cold)
    for dimension in (2, 3):
        for mu in (0.0, 0.3):
            yield f"diluted lattice {dimension}D mu {mu:g}", diluted(dimension, mu)
    yield "chain of 200", pressed_chain(200)


def plain_sweeps(order: str) -> Sweeps:
    return Sweeps(order=order, criterion=MomentumCriterion(), max_sweeps=200_000)


def timed(solver: Sweeps, problem: ContactProblem, seed: int = 0, *, keep: bool = False) -> tuple[SolveReport, float]:
    """The report and the CPU seconds of a solve from the given start; keep: leave the solution in the problem."""
    problem = problem if keep else clone(problem)
    begin = time.process_time()
    report = solver.solve(problem, np.random.default_rng(seed))
    return report, time.process_time() - begin


def height(simulation: Simulation) -> float:
    return float(simulation.bodies.walls[-1].shape.point[1])


def warm_up() -> None:
    """Compile everything once."""
    for order in PLAIN:
        timed(plain_sweeps(order), pressed_chain(5))
    timed(AcceleratedSweeps(accuracy="exact"), pressed_chain(5))


if __name__ == "__main__":
    main()
