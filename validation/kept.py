"""Runs of a validation that are kept as lines of a file: what stands there is not run again."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import rigidgrains as rg
from rigidgrains.certificate import check
from rigidgrains.trajectory.frame import Frame

Run = dict[str, Any]


class Options(argparse.Namespace):
    """grains, seeds : size of a run, and how many; processes : at a time; runs, figure : files; opening : of a silo"""

    grains: int
    opening: float
    seeds: int
    processes: int
    runs: Path | None
    figure: Path | None


def settings(about: str | None, *, grains: int, seeds: int, opening: float | None = None) -> Options:
    """The options of such a validation; --quick is a fifth of the grains, and two seeds. With an opening, its width."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grains", type=int, help=f"of a run; {grains} if absent")
    parser.add_argument("--seeds", type=int, help=f"how many, from 1 on; {seeds} if absent")
    parser.add_argument("--quick", action="store_true", help="a fifth of the grains and two seeds, to see that it runs")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="runs at a time")
    parser.add_argument("--runs", type=Path, help="file that keeps every run; those in it are not run again")
    parser.add_argument("--figure", type=Path, help="draw into this file")
    if opening is not None:
        parser.add_argument("--opening", type=float, default=opening, help=f"in mean diameters; {opening} if absent")
    asked = parser.parse_args(namespace=Options())
    asked.grains = asked.grains or (grains // 5 if asked.quick else grains)
    asked.seeds = asked.seeds or (2 if asked.quick else seeds)
    return asked


def perform(simulate: Callable[..., Run], tasks: Sequence[Run], options: Options) -> list[Run]:
    """All runs, each the words of its task and what `simulate` made of them, in the order of the tasks."""
    path = options.runs
    kept = [json.loads(line) for line in path.open()] if path and path.exists() else []
    done = {json.dumps(task): run for task in tasks for run in kept if task.items() <= run.items()}
    with ProcessPoolExecutor(options.processes, initializer=rg.set_threads, initargs=(1,)) as pool:
        waiting = {pool.submit(simulate, **task): task for task in tasks if json.dumps(task) not in done}
        for future in as_completed(waiting):
            task = waiting[future]
            run = done[json.dumps(task)] = task | future.result()
            print(", ".join(f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
                            for name, value in run.items()), flush=True)  # fmt: skip
            if path:
                with path.open("a") as file:
                    file.write(json.dumps(run) + "\n")
    return [done[json.dumps(task)] for task in tasks]


def verdict(simulation: rg.Simulation) -> str:
    """What the certificate says of the last state."""
    return check(Frame.of(simulation)).verdict
