"""Does the default tell the same physics as `exact`? Levels of accuracy at the same time step, paired by their start.

python validation/levels.py [--seeds 10] [--scenes shear,silo,...] [--runs FILE] [--quick] [--json FILE]

Each scene of level_scenes.py is prepared once for each seed; from there it is run by accuracy "balanced", the default,
and by "exact", with the same fixed dt. The difference of the two, over the mean of exact, has a 95 % interval by
Student's t over the seeds. "within": the interval lies within the bar; "MISSES": it lies outside; "not decided": it
reaches over the bar, and more seeds or longer runs are needed. Seeds begin at 501: none of them has served to choose
constants of the levels. --runs keeps each run as a line of a file, and what stands there is not run again.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from level_scenes import SCENES
from scipy.special import stdtrit

import rigidgrains as rg

FIRST, SEEDS = 501, 10
LEVELS = ("balanced", "exact")
Run = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """A figure of a scene: both means, their difference and the half width of its interval over that of exact (%)."""

    scene: str
    figure: str
    seeds: int
    balanced: float
    exact: float
    difference: float
    half_width: float
    bar: float

    @property
    def verdict(self) -> str:
        if abs(self.difference) + self.half_width <= self.bar:
            return "within"
        return "MISSES" if abs(self.difference) - self.half_width > self.bar else "not decided"


def main() -> None:
    """Run what is missing, print the table, and write it if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, help=f"how many, from {FIRST} on; {SEEDS} if absent, 2 with --quick")
    parser.add_argument("--scenes", default=",".join(SCENES), help="some of " + ", ".join(SCENES))
    parser.add_argument("--runs", type=Path, help="file that keeps every run; those in it are not run again")
    parser.add_argument("--quick", action="store_true", help="smaller and much shorter, to see that it runs")
    parser.add_argument("--json", type=Path, help="write the table to this file")
    asked = parser.parse_args()
    scenes = asked.scenes.split(",")
    if unknown := [name for name in scenes if name not in SCENES]:
        parser.error(f"scene {unknown[0]!r} is unknown; choose some of {', '.join(SCENES)}")
    seeds = asked.seeds or (2 if asked.quick else SEEDS)
    rg.set_threads(1)
    kept = [json.loads(line) for line in asked.runs.open()] if asked.runs and asked.runs.exists() else []
    known = {(run["scene"], run["seed"], run["level"]): run for run in kept if run["quick"] == asked.quick}
    for seed in range(FIRST, FIRST + seeds):
        for name in scenes:
            missing = [level for level in LEVELS if (name, seed, level) not in known]
            for run in runs_of(name, seed, missing, asked.quick):
                known[name, seed, run["level"]] = run
                told(run)
                if asked.runs:
                    with asked.runs.open("a") as file:
                        file.write(json.dumps(run) + "\n")
    rows = [row for name in scenes for row in compare(name, list(known.values()))]
    print()
    for line in table(rows):
        print(line)
    if asked.json:
        asked.json.write_text(json.dumps([asdict(row) | {"verdict": row.verdict} for row in rows], indent=1) + "\n")


def runs_of(name: str, seed: int, levels: Sequence[str], quick: bool) -> Iterator[Run]:
    """One run for each level, all from the same packing."""
    if not levels:
        return
    trial = SCENES[name]
    packing = trial.prepare(seed, quick)
    before = counted(packing)
    for level in levels:
        simulation = copy.deepcopy(packing)
        simulation.solver = rg.AcceleratedSweeps(accuracy=level)
        begun = time.process_time()
        figures = trial.follow(simulation, quick)
        seconds = time.process_time() - begun
        cost = {name: number - before[name] for name, number in counted(simulation).items()}
        yield {
            "scene": name, "seed": seed, "level": level, "quick": quick, "dt": trial.dt, "figures": figures,
            "seconds": seconds, **cost,
        }  # fmt: skip


def counted(simulation: rg.Simulation) -> dict[str, int]:
    """Steps so far, by what became of them, and sweeps."""
    report = simulation.report()
    return {
        "steps": report.steps, "sweeps": round(report.sweeps_mean * report.steps), "still": report.still_steps,
        "carried": report.carried_steps, "met": report.converged_steps, "second_order": report.fallback_steps,
    }  # fmt: skip


def told(run: Run) -> None:
    """Say what a run gave, as soon as it is known."""
    figures = ", ".join(f"{name} {value:.4g}" for name, value in run["figures"].items())
    cost = f"{run['seconds']:.1f} CPU s, {run['steps']} steps of {run['sweeps'] / run['steps']:.0f} sweeps"
    print(f"{run['scene']} {run['seed']} {run['level']}: {figures}; {cost}, {run['met']} met", flush=True)


def compare(name: str, runs: Sequence[Run]) -> list[Row]:
    """The rows of a scene, over all seeds that both levels have."""
    found = {level: {run["seed"]: run["figures"] for run in runs if (run["scene"], run["level"]) == (name, level)}
             for level in LEVELS}  # fmt: skip
    seeds = sorted(found["balanced"].keys() & found["exact"].keys())
    rows = []
    for figure, bar in SCENES[name].bars.items():
        balanced, exact = (np.array([found[level][seed][figure] for seed in seeds]) for level in LEVELS)
        mean = float(exact.mean())
        difference, half_width = interval(100.0 * (balanced - exact) / mean)
        rows.append(Row(name, figure, len(seeds), float(balanced.mean()), mean, difference, half_width, bar))
    return rows


def interval(values: np.ndarray) -> tuple[float, float]:
    """Mean and half width of its 95 % interval, by Student's t; infinite for a single value."""
    n = len(values)
    if n < 2:
        return float(values.mean()), math.inf
    return float(values.mean()), float(stdtrit(n - 1, 0.975) * values.std(ddof=1) / math.sqrt(n))


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Lines of a Markdown table."""
    yield "| scene | figure | balanced | exact | difference, 95 % | bar | |"
    yield "|---|---|---|---|---|---|---|"
    for row in rows:
        apart = f"{row.difference:+.2f} ± {row.half_width:.2f} %"
        yield (
            f"| {row.scene}, {row.seeds} seeds | {row.figure} | {row.balanced:.4g} | {row.exact:.4g} | {apart} | "
            f"{row.bar:g} % | {row.verdict} |"
        )


if __name__ == "__main__":
    main()
