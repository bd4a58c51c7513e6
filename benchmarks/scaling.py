"""How the cost of a step grows with the number of grains, and how near sweeps come to what memory can deliver.

python benchmarks/scaling.py [--largest 1000000] [--minutes 20] [--output docs/images]

Writes scaling.json and the figures scaling-cost.png and scaling-roofline.png. Costs are processor seconds on one
thread. Soft steps have 20 sweeps, whatever n. Rigid steps have the sweeps that l_diff = 2 L asks of random sweeps, or
those after which accelerated sweeps meet a momentum error of 1 %. Where a step of random sweeps would take longer than
its share of the minutes, they are counted by Eq. (difflength) and one of them is timed; such points are drawn hollow.
Accelerated sweeps may take LONGER times their share, and are left out beyond it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from rigidgrains import theory
from rigidgrains.app import about, bench
from rigidgrains.app.bench_step import SWEEPS, dense_run
from rigidgrains.contacts.problem import ContactProblem
from rigidgrains.runtime.compiled import kernel
from rigidgrains.runtime.threads import get_threads, in_parts, only
from rigidgrains.solve.accelerated import AcceleratedSweeps
from rigidgrains.solve.criteria import FixedSweeps, MomentumCriterion
from rigidgrains.solve.orders import ORDERS
from rigidgrains.solve.sweeps import Sweeps

Clock = Callable[[], float]

SIZES = (1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
SAFETY = 2.0
LONGER = 30.0
PAPER = {("rigid", 2): 2.0, ("rigid", 3): 5.0 / 3.0, ("accelerated", 2): 1.5, ("accelerated", 3): 4.0 / 3.0}
TRAFFIC = 136.0  # bytes of a contact update if bodies stay in the cache: row 64, pair 8, force 32 read and 32 written
INKS = {"soft": "#2a6f97", "rigid": "#9b2226", "accelerated": "#ca6702"}
WORDS = {"soft": f"soft: {SWEEPS} sweeps", "rigid": "rigid: random sweeps", "accelerated": "rigid: accelerated sweeps"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=SIZES[-1])
    parser.add_argument("--minutes", type=float, default=20.0, help="for all rigid steps together")
    parser.add_argument("--output", type=Path, default=Path("docs/images"))
    given = parser.parse_args()
    sizes = [n for n in SIZES if n <= given.largest]
    share = 60.0 * given.minutes / (4.0 * len(sizes))
    found: dict[str, Any] = {"machine": dict(about.versions()), "cost": [], "roofline": roofline(sizes)}
    with only(1):
        for measure in (soft, rigid, accelerated):
            measure(300, 3, 10.0)  # compile first
        for dimension in (2, 3):
            for n in sizes:
                for kind, measure in (("soft", soft), ("rigid", rigid), ("accelerated", accelerated)):
                    if (point := measure(n, dimension, share)) is not None:
                        found["cost"].append({"kind": kind, "dimension": dimension, "grains": n, **point})
                        print(found["cost"][-1], flush=True)
    found["exponents"] = [
        {"kind": kind, "dimension": dimension, "fitted": exponent(points), "expected": expected(kind, dimension)}
        for dimension in (2, 3)
        for kind in INKS
        if len(points := chosen(found["cost"], kind, dimension)) > 1
    ]
    given.output.mkdir(parents=True, exist_ok=True)
    (given.output / "scaling.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    draw_cost(found, given.output / "scaling-cost.png")
    draw_roofline(found["roofline"], given.output / "scaling-roofline.png")


def soft(n: int, dimension: int, share: float) -> dict[str, Any]:
    """Whole steps with a fixed number of sweeps, the best of three."""
    simulation = dense_run(n, dimension)
    seconds = min(timed(simulation.step, time.process_time) for _ in range(3))
    return {"seconds": seconds, "sweeps": SWEEPS, "measured": True}


def rigid(n: int, dimension: int, share: float) -> dict[str, Any]:
    """Random sweeps for l_diff = 2 L."""
    bodies, problem = bench.dense_problem(n, dimension)
    extent = float(np.ptp(bodies.position, axis=0).max()) + 2.0 * float(bodies.radius[0])
    sweeps = theory.rigid_sweeps(extent, 2.0 * float(bodies.radius[0]), theory.Q["Random"], SAFETY)
    one = best_sweep(problem, "random", 3, time.process_time)
    if one * sweeps > share:
        return {"seconds": one * sweeps, "sweeps": sweeps, "measured": False}
    solver = Sweeps(order="random", criterion=FixedSweeps(sweeps))
    seconds = timed(lambda: solver.solve(problem, np.random.default_rng(0)), time.process_time)
    return {"seconds": seconds, "sweeps": sweeps, "measured": True}


def accelerated(n: int, dimension: int, share: float) -> dict[str, Any] | None:
    """Accelerated sweeps to a momentum error of 1 %; nothing if that would take longer than its share."""
    _, problem = bench.dense_problem(n, dimension, coloured=True)
    most = int(LONGER * share / best_sweep(problem, "coloured", 2, time.process_time))
    solver = AcceleratedSweeps(accuracy="exact", criterion=MomentumCriterion(1e-2), max_sweeps=max(most, 3))
    _, problem = bench.dense_problem(n, dimension, coloured=True)
    begun = time.process_time()
    report = solver.solve(problem, np.random.default_rng(0))
    seconds = time.process_time() - begun
    return {"seconds": seconds, "sweeps": report.sweeps, "measured": True} if report.converged else None


def roofline(sizes: list[int]) -> list[dict[str, Any]]:
    """Bandwidth by the triad and updates per second by colours, on one thread and on all, measured in turn."""
    found = []
    for number in sorted({1, get_threads()}):
        with only(number):
            row: dict[str, Any] = {"threads": number, "bandwidth": triad(), "updates": {}}
            for n in (n for n in sizes if n >= 10_000):
                _, problem = bench.dense_problem(n, coloured=True)
                row["updates"][str(n)] = problem.count / best_sweep(problem, "coloured", 5)
            found.append(row)
            print(row, flush=True)
    return found


def best_sweep(problem: ContactProblem, name: str, repeats: int, clock: Clock = time.perf_counter) -> float:
    """Seconds of the quickest of several sweeps."""
    order, rng = ORDERS[name](), np.random.default_rng(0)
    order.begin(problem)
    return min(timed(lambda: order.sweep(problem, rng), clock) for _ in range(repeats))


def timed(task: Callable[[], Any], clock: Clock) -> float:
    begun = clock()
    task()
    return clock() - begun


def triad(numbers: int = 16_000_000) -> float:
    """Bytes per second of a = b + s c on arrays that fit into no cache; three numbers moved for each."""
    a, b, c = np.zeros(numbers), np.ones(numbers), np.ones(numbers)
    rows = numbers // 64
    return 24.0 * 64 * rows / bench.best(lambda: in_parts(lambda i, j: _triad(i, j, a, b, c, 3.0), rows), 5)


@kernel
def _triad(first, last, a, b, c, s):
    """Some rows of 64 numbers."""
    for k in range(64 * first, 64 * last):
        a[k] = b[k] + s * c[k]


def chosen(cost: list[dict[str, Any]], kind: str, dimension: int) -> list[dict[str, Any]]:
    return [point for point in cost if point["kind"] == kind and point["dimension"] == dimension]


def expected(kind: str, dimension: int) -> float:
    """Of the paper, for random sweeps; n (L/d) for accelerated ones; n for soft steps."""
    return PAPER.get((kind, dimension), 1.0)


def exponent(points: list[dict[str, Any]]) -> float:
    """Slope of log cost over log n from 10,000 grains on, or over all if there are too few."""
    large = [point for point in points if point["grains"] >= 10_000]
    some = large if len(large) > 1 else points
    n, seconds = (np.log([point[name] for point in some]) for name in ("grains", "seconds"))
    return float(np.polyfit(n, seconds, 1)[0])


def draw_cost(found: dict[str, Any], path: Path) -> None:
    figure = Figure(figsize=(9.0, 4.2), layout="constrained")
    for axes, dimension in zip(figure.subplots(1, 2, sharey=True), (2, 3)):
        for kind, ink in INKS.items():
            points = chosen(found["cost"], kind, dimension)
            if not points:
                continue
            n, seconds = (np.array([point[name] for point in points]) for name in ("grains", "seconds"))
            measured = np.array([point["measured"] for point in points])
            slope = f", n^{exponent(points):.2f}" if len(points) > 1 else ""
            axes.loglog(n[measured], seconds[measured], "o", color=ink, label=WORDS[kind] + slope)
            axes.loglog(n[~measured], seconds[~measured], "o", color=ink, mfc="none")
            power = expected(kind, dimension)
            axes.loglog(n, seconds[-1] * (n / n[-1]) ** power, "--", color=ink, lw=0.9, label=f"n^{power:.3g}")
        axes.set_title(f"{dimension}D")
        axes.set_xlabel("grains")
        axes.legend(fontsize=7.5, frameon=False)
    figure.axes[0].set_ylabel("processor seconds per step")
    figure.savefig(path, dpi=150)


def draw_roofline(rows: list[dict[str, Any]], path: Path) -> None:
    figure = Figure(figsize=(5.6, 4.0), layout="constrained")
    axes = figure.subplots()
    for row, ink in zip(rows, INKS.values()):
        n = [int(name) for name in row["updates"]]
        word = "thread" if row["threads"] == 1 else "threads"
        axes.semilogx(n, [1e-6 * rate for rate in row["updates"].values()], "o-", color=ink,
                      label=f"{row['threads']} {word}")  # fmt: skip
        axes.axhline(1e-6 * row["bandwidth"] / TRAFFIC, color=ink, ls="--", lw=0.9,
                     label=f"memory, {1e-9 * row['bandwidth']:.1f} GB/s")  # fmt: skip
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel("grains")
    axes.set_ylabel("million contact updates per second")
    axes.legend(fontsize=8, frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
