"""What a study costs beyond its runs: overhead of a run on warm workers, and throughput of 2 workers over 1.

python benchmarks/study.py [--runs 100] [--json]

Overhead: runs of one frame and a few steps, on a warm worker, against the same runs by `run_scene` in a loop.
Throughput: so many runs of about a CPU second each on 1 and on 2 workers. Measure on a quiet machine.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import rigidgrains as rg
from rigidgrains.app.runner import run_scene
from rigidgrains.runtime import threads
from rigidgrains.study.clusters import connected
from rigidgrains.study.engine import drive
from rigidgrains.study.folder import jobs_of, prepare
from rigidgrains.study.live import Watcher
from rigidgrains.study.table import write_tables

SHORT = 5  # steps of the runs that tell the overhead


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100, help="runs of a CPU second")
    parser.add_argument("--short", type=int, default=200, help="short runs")
    parser.add_argument("--steps", type=int, default=None, help="steps of a long run; default: a CPU second of them")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    figures = {**overhead(asked.short), **throughput(asked.runs, asked.steps)}
    if asked.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:<34} {value:.3f}")


def scene(steps: int) -> dict[str, Any]:
    """200 disks that fall into a box."""
    return {
        "dimension": 2, "gravity": [0, -9.81], "friction": 0.5,
        "grains": [{"count": 200, "radius": [1e-3, 2e-3], "region": [[0, 0], [0.06, 0.06]]}],
        "box": [{"lower": [0, 0], "upper": [0.06, 0.1], "open": ["top"]}],
        "run": {"dt": 2e-4, "steps": steps}, "output": {"every": 1000000, "frame_every": 1000000},
    }  # fmt: skip


def overhead(runs: int) -> dict[str, float]:
    """Seconds of a run in a study on one warm worker, less those of the same run on its own."""
    study = rg.Study(scene=scene(SHORT), replicas=runs, measure={"energy": "column:kinetic_energy"})
    with tempfile.TemporaryDirectory() as folder:
        warm, timed = Path(folder) / "warm", Path(folder) / "timed"
        for place in (warm, timed):
            prepare(study, place)
        with connected(1, None, timed, most=1) as client:
            drive(client, [job for _, job in jobs_of(study, warm)][:5], Watcher())
            jobs = [job for _, job in jobs_of(study, timed)]
            with clocks() as whole:
                drive(client, jobs, Watcher())
                write_tables(study, timed)
        scenes = []
        for k, job in enumerate(jobs):
            scenes.append(Path(folder) / f"alone-{k}" / "scene.toml")
            scenes[-1].parent.mkdir()
            scenes[-1].write_text(job.text)
        with threads.only(1):
            run_scene(scenes[0], output=scenes[0].parent, progress=False)
            with clocks() as alone:
                for path in scenes:
                    run_scene(path, output=path.parent, progress=False, force=True)
    return {
        "run in a study (ms)": 1e3 * whole["wall"] / runs,
        "the same run alone (ms)": 1e3 * alone["wall"] / runs,
        "overhead of a run (ms)": 1e3 * (whole["wall"] - alone["wall"]) / runs,
    }


def throughput(runs: int, steps: int | None) -> dict[str, float]:
    """Seconds for all runs on one worker over those on two."""
    steps = steps or calibrated()
    study = rg.Study(scene=scene(steps), replicas=runs, measure={"energy": "column:kinetic_energy"})
    seconds = {}
    for workers in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            prepare(study, Path(folder))
            jobs = [job for _, job in jobs_of(study, Path(folder))]
            with connected(workers, None, Path(folder), most=workers) as client:
                client.run(warm, steps=SHORT)
                with clocks() as whole:
                    drive(client, jobs, Watcher())
            seconds[workers] = whole["wall"]
    return {
        "steps of a long run": float(steps),
        "1 worker, seconds a run": seconds[1] / runs,
        "2 workers, seconds a run": seconds[2] / runs,
        "throughput of 2 over 1": seconds[1] / seconds[2],
    }


def warm(steps: int) -> None:
    """Load what a worker needs."""
    threads.set_threads(1)
    rg.Simulation(rg.Scene(**scene(steps))).run(steps=steps)


def calibrated() -> int:
    """Steps that take a CPU second."""
    with threads.only(1):
        simulation = rg.Simulation(rg.Scene(**scene(SHORT)))
        simulation.run(steps=20)
        begun = time.process_time()
        first = simulation.steps
        while time.process_time() - begun < 1.0:
            simulation.run(steps=20)
    return simulation.steps - first


@contextmanager
def clocks() -> Any:
    """Wall-clock seconds of what is done within."""
    told = {}
    begun = time.perf_counter()
    yield told
    told["wall"] = time.perf_counter() - begun


if __name__ == "__main__":
    os.environ.setdefault("RIGIDGRAINS_THREADS", "1")
    main()
