"""The default in a race: plain scenes, without a word about solver or time step, against plain scripts of LAMMPS.

    python benchmarks/peers/default.py [--scenes column,drum,silo2d,silo3d,heap,shear] [--sizes 1000,8000,64000]
                                       [--accuracy fast] [--exact] [--seeds 3] [--quick] [--json FILE]

One core, CPU seconds without start-up and compilation, all figures from one run; what takes less than five seconds is
run three times by either code, and the quickest counts. Scenes of up to 1000 grains are run with three seeds. The
stiffness of LAMMPS is found by a search: a run with soft springs, then runs until the mean overlap is that of
rigidgrains within a tenth. Its step is t_c/10, and t_c/8 beside it. Physical results have standard errors over seeds
where there are several, else over time (means of five blocks) or the sides of a heap. With --exact rigidgrains runs
scenes of up to 4000 grains at accuracy "exact" too; with several seeds the difference has its 95 % interval, paired.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import plain_lammps
from plain_scenes import COLUMNS, SCENES
from scipy.special import stdtrit
from workers import quickest, worker

CODES = {"rigidgrains": "rigidgrains", "exact": "exact", "lammps": "LAMMPS t_c/10", "lammps_8": "LAMMPS t_c/8"}
QUICK = 200  # grains of a quick column
SEED, SEEDS, MOST_SEEDS = 101, 3, 1000  # the first seed, how many there are, and grains up to which they are all run
MOST_EXACT = 4000  # grains up to which "exact" is run: larger columns take hours


def main() -> None:
    wanted = arguments()
    records = []
    for name, grains, seeds in cases(wanted):
        print(f"{name}, {grains:,} grains ...", file=sys.stderr, flush=True)
        records.append(race(wanted, name, grains, seeds))
    for line in tell(records):
        print(line)
    if wanted.json:
        whole = {"machine": machine(), "accuracy": wanted.accuracy or "default", "races": records}
        Path(wanted.json).write_text(json.dumps(plain(whole), indent=1) + "\n")


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Plain scenes against LAMMPS")
    parser.add_argument("--scenes", default=",".join(SCENES), help="some of " + ", ".join(SCENES) + "; silo is both")
    parser.add_argument("--sizes", default="", help="grains of the columns, 1000,8000,64000 if absent")
    parser.add_argument("--seeds", type=int, default=0, help="how many; three up to 1000 grains, else one, if absent")
    parser.add_argument("--accuracy", choices=("fast", "balanced", "exact"), help="default if absent")
    parser.add_argument("--exact", action="store_true", help="compare results with those of accuracy exact, same seeds")
    parser.add_argument("--quick", action="store_true", help="small and short scenes, to see that all of it works")
    parser.add_argument("--json", help="file for all figures")
    wanted = parser.parse_args(words)
    wanted.scenes = wanted.scenes.replace("silo,", "silo2d,silo3d,").split(",")
    if wanted.scenes[-1] == "silo":
        wanted.scenes[-1:] = ["silo2d", "silo3d"]
    for name in wanted.scenes:
        if name not in SCENES:
            parser.error(f"scene {name!r} is unknown; choose some of {', '.join(SCENES)}")
    wanted.sizes = [int(n) for n in wanted.sizes.split(",") if n] or ([QUICK] if wanted.quick else list(COLUMNS))
    return wanted


def cases(wanted: argparse.Namespace) -> Iterator[tuple[str, int, list[int]]]:
    """Scene, number of grains, seeds."""
    for name in wanted.scenes:
        kind = SCENES[name]
        sizes = wanted.sizes if name == "column" else [kind.few if wanted.quick else kind.size]
        for grains in sizes:
            several = SEEDS if grains <= MOST_SEEDS and not wanted.quick else 1
            yield name, grains, [SEED + i for i in range(wanted.seeds or several)]


def race(wanted: argparse.Namespace, name: str, grains: int, seeds: list[int]) -> dict[str, Any]:
    """One scene by all codes; a list of runs for each, by seed."""
    scenes = [SCENES[name](grains, seed, short=wanted.quick) for seed in seeds]
    record: dict[str, Any] = {"scene": name, "label": scenes[0].label, "grains": grains, "seeds": seeds, "codes": {}}
    codes = record["codes"]
    fair = (lambda task: task()) if wanted.quick else quickest
    level = ["--accuracy", wanted.accuracy] if wanted.accuracy else []
    short = ["--short"] if wanted.quick else []

    def own(*words: str) -> list[dict]:
        call = partial(worker, sys.executable, "plain_own.py", name, grains)
        return [fair(partial(call, seed, *words, *short)) for seed in seeds]

    codes["rigidgrains"] = own(*level)
    if wanted.exact and grains <= MOST_EXACT:
        codes["exact"] = own("--accuracy", "exact")
    failed = [one["absent"] for one in codes["rigidgrains"] if "absent" in one]
    if failed or shutil.which(plain_lammps.PROGRAM) is None:
        record["absent"] = failed[0] if failed else plain_lammps.ABSENT
        return record
    try:
        found = plain_lammps.find(scenes[0], codes["rigidgrains"][0]["mean_overlap"])
        record["search"], record["found"], stiffness = found["search"], found["found"], found["stiffness"]
        for code, part in (("lammps", 10.0), ("lammps_8", 8.0)):
            tasks = [partial(plain_lammps.run, scene, stiffness, part) for scene in scenes]
            if code == "lammps":
                tasks[0] = after(found, tasks[0])
            codes[code] = [fair(task) for task in tasks]
    except RuntimeError as reason:
        record["absent"] = str(reason)
    return record


def after(known: dict, task: Callable[[], dict]) -> Callable[[], dict]:
    """A task whose first run has been made."""
    kept = [known]
    return lambda: kept.pop() if kept else task()


def tell(records: list[dict]) -> Iterator[str]:
    """The table: cost, then what is left, then physical results."""
    yield "\nCPU seconds on one core, means over seeds; overlaps over the mean radius, imbalance over m g\n"
    head = ("scene", "code", "CPU s", "over ours", "steps", "sweeps", "overlap", "99 %", "imbalance", "certificate")
    yield from rows([head, *(row for record in records for row in cost_rows(record))])
    for record in records:
        if "absent" in record:
            yield f"{record['label']}, LAMMPS: {record['absent']}"
        if not record.get("found", True):
            yield f"{record['label']}: no stiffness of LAMMPS found that leaves the same overlap"
    yield "\nPhysical results, with standard errors; z and sliding in flow depend on the length of a step\n"
    present = [code for code in CODES if any(code in record["codes"] for record in records)]
    head = ("scene", "result", *(CODES[code] for code in present), "ours - exact" if "exact" in present else "")
    yield from rows([head, *(row for record in records for row in result_rows(record, present))])


def cost_rows(record: dict) -> Iterator[tuple[str, ...]]:
    codes = {code: runs for code, runs in record["codes"].items() if not any("absent" in run for run in runs)}
    for code, runs in codes.items():
        mean = {
            key: float(np.mean([run[key] for run in runs]))
            for key in ("seconds", "steps", "sweeps", "mean_overlap", "overlap_99", "imbalance")
            if key in runs[0]
        }
        ratio = mean["seconds"] / np.mean([run["seconds"] for run in codes["rigidgrains"]])
        verdicts = sorted({run["certificate"] for run in runs if "certificate" in run})
        yield (
            record["label"], CODES[code], f"{mean['seconds']:.2f}", f"{ratio:.2f}", f"{mean['steps']:,.0f}",
            f"{mean['sweeps']:.0f}" if "sweeps" in mean else "", f"{mean['mean_overlap']:.1e}",
            f"{mean['overlap_99']:.1e}", f"{mean['imbalance']:.1e}" if "imbalance" in mean else "",
            "; ".join(verdicts),
        )  # fmt: skip


def result_rows(record: dict, present: list[str]) -> Iterator[tuple[str, ...]]:
    runs = {code: [run for run in ran if "results" in run] for code, ran in record["codes"].items()}
    names = list(dict.fromkeys(name for ran in runs.values() for run in ran for name in run["results"]))
    for name in names:
        means = {code: over_seeds([run["results"].get(name) for run in ran]) for code, ran in runs.items()}
        yield (record["label"], name, *(written(means.get(code)) for code in present), paired(runs, name))


def over_seeds(values: list[Any]) -> tuple[float, float | None] | None:
    """Mean and standard error: over seeds where there are several, else that of the only one."""
    values = [tuple(value) for value in values if value is not None and value[0] is not None]
    if len(values) < 2:
        return values[0] if values else None
    means = [value[0] for value in values]
    return float(np.mean(means)), float(np.std(means, ddof=1) / math.sqrt(len(means)))


def paired(runs: dict[str, list[dict]], name: str) -> str:
    """Difference to "exact" of the same seeds over its mean, with its 95 % interval."""
    both = [
        (a["results"].get(name), b["results"].get(name)) for a, b in zip(runs["rigidgrains"], runs.get("exact", []))
    ]
    pairs = np.array([(a[0], b[0]) for a, b in both if a and b], dtype=float)
    if len(pairs) < 2 or not pairs[:, 1].mean():
        return ""
    part = (pairs[:, 0] - pairs[:, 1]) / abs(pairs[:, 1].mean())
    half = stdtrit(len(part) - 1, 0.975) * part.std(ddof=1) / math.sqrt(len(part))
    return f"{part.mean():+.1%} ± {half:.1%}"


def written(value: tuple[float, float | None] | None) -> str:
    if value is None or math.isnan(value[0]):
        return "-"
    return f"{value[0]:.4g}" + ("" if value[1] is None else f" ± {value[1]:.2g}")


def rows(table: list[tuple[str, ...]]) -> Iterator[str]:
    """Lines with columns as wide as they need."""
    widths = [max(map(len, column)) for column in zip(*table)]
    for row in table:
        yield "  ".join(word.ljust(width) for word, width in zip(row, widths)).rstrip()


def plain(value: Any) -> Any:
    """For JSON: no number that it does not know."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def machine() -> dict[str, Any]:
    """Processor and versions."""
    names = [line.split(":")[1].strip() for line in cpu_lines() if line.startswith("model name")]
    told = {"processor": names[0] if names else platform.processor(), "cores": os.cpu_count()}
    if shutil.which(plain_lammps.PROGRAM):
        version = subprocess.run([plain_lammps.PROGRAM, "-h"], capture_output=True, text=True).stdout.strip()
        told["lammps"] = version.splitlines()[0] if version else "unknown"
    return told | {"python": platform.python_version(), "load": os.getloadavg()[0]}


def cpu_lines() -> list[str]:
    file = Path("/proc/cpuinfo")
    return file.read_text().splitlines() if file.exists() else []


if __name__ == "__main__":
    main()
