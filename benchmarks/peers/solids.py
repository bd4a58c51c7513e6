"""A race of solids against pybullet and MuJoCo: overlap against CPU seconds, a tower of cubes and piles of dice.

    python benchmarks/peers/solids.py [--quick] [--scenes tower,cubes,dice] [--grains 100] [--python PYTHON]
                                      [--json FILE] [--plot FILE]

One core each, CPU seconds without start-up and compilation, one process for each run. Every code is free in its step
and its iterations: it runs with several, and those that no other run of it beats in both overlap and time are its
curve. All codes have the same vertices, masses, moments of inertia, friction and start, and one function of
solids_scene.py measures the states that they leave. pybullet and MuJoCo come from PyPI, in the running Python or in the
one named by --python; who is not there is named as absent.

A tower should stand: its figure is the mean overlap, and how far anything has moved. Of piles it is the mean overlap
of all pairs and walls that overlap, over ten states.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from importlib import metadata
from pathlib import Path

os.environ.update(NUMBA_NUM_THREADS="1", OMP_NUM_THREADS="1", RIGIDGRAINS_THREADS="1")

import numpy as np
from solids_scene import Scene
from workers import worker

import rigidgrains

SEED, PATIENCE = 1, 60.0
SOFT = [(0.1, 10), (0.05, 20), (0.02, 30), (0.01, 50), (0.005, 100)]  # steps and iterations of the others
NEWTON = [(dt, -number) for dt, number in SOFT]  # MuJoCo's Newton solver in place of conjugate gradients
OWN = {
    "tower": [
        ("5.0", "1e-10"), ("2.0", "1e-10"), ("1.0", "1e-10"), ("0.5", "1e-10"), ("0.5", "1e-8"), ("0.5", "1e-6"),
        ("free", "balanced"),
    ],
    "cubes": [
        ("free", "fast"), ("0.05", "fast"), ("free", "balanced"), ("0.05", "balanced"), ("0.02", "balanced"),
        ("free", "exact"), ("0.05", "exact"), ("0.02", "exact"), ("0.05", "1e-4"), ("0.1", "1e-4"),
        ("0.1", "balanced"), ("0.2", "balanced"), ("0.2", "fast"),
    ],
}  # fmt: skip
OWN["dice"] = OWN["cubes"]
INKS = {"rigidgrains": "#1b4f8a", "pybullet": "#4c8c5a", "mujoco": "#7a5b9b"}


def main() -> None:
    """Run all, print tables, and write files if asked."""
    wanted = arguments()
    print(", ".join(f"{name} {version(name)}" for name in ("rigidgrains", "pybullet", "mujoco")))
    records = []
    for name in wanted.scenes.split(","):
        scene = Scene(name, wanted.grains, SEED)
        print(f"\n{name}: CPU seconds, overlaps over the radius", flush=True)
        for code, script, settings in entries(name, wanted):
            for setting in settings:
                python = sys.executable if code == "rigidgrains" else wanted.python
                one = worker(python, script, name, wanted.grains, SEED, *setting, PATIENCE)
                if "absent" in one:
                    print(f"  {code:<12} absent: {one['absent']}")
                    break
                states = [(np.array(place), np.array(turn)) for place, turn in one.pop("states")]
                record = {"scene": name, "code": code, "setting": setting} | one | judged(scene, states)
                records.append(record)
                tell(record)
        summary([record for record in records if record["scene"] == name])
    if wanted.json:
        Path(wanted.json).write_text(json.dumps(records, indent=1) + "\n")
    if wanted.plot:
        draw(records, wanted.plot)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A race of solids against pybullet and MuJoCo")
    parser.add_argument("--quick", action="store_true", help="30 solids, two settings of each code")
    parser.add_argument("--scenes", default="tower,cubes,dice")
    parser.add_argument("--grains", type=int, default=0, help="of a pile, 100 if absent")
    parser.add_argument("--python", default=sys.executable, help="a Python that has pybullet and mujoco")
    parser.add_argument("--json", help="file for all figures")
    parser.add_argument("--plot", default="", help="file for a picture of the curves")
    wanted = parser.parse_args()
    wanted.grains = wanted.grains or (30 if wanted.quick else 100)
    return wanted


def version(name: str) -> str:
    if name == "rigidgrains":
        return rigidgrains.__version__
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "absent"


def entries(name: str, wanted: argparse.Namespace) -> list[tuple[str, str, list]]:
    """Code, script, settings."""
    own, soft, newton = OWN[name], SOFT, NEWTON
    if wanted.quick:
        own, soft, newton = own[:2], soft[1:3], newton[1:2]
    return [
        ("rigidgrains", "solids_own.py", own), ("pybullet", "solids_bullet.py", soft),
        ("mujoco", "solids_mujoco.py", soft + newton),
    ]  # fmt: skip


def judged(scene: Scene, states: list) -> dict:
    """What a run has left; infinite overlaps where it blew up."""
    if not all(np.isfinite(place).all() for place, _ in states):
        return {"mean_overlap": math.inf, "overlap_99": math.inf, "drift": math.inf}
    return scene.judge(states)


def tell(record: dict) -> None:
    drift = f", moved {record['drift']:.1e}" if record["scene"] == "tower" else ""
    part = "" if record["part"] == 1.0 else f", stopped after {record['part']:.0%}"
    verdict = f", {record['certificate']}" if "certificate" in record else ""
    print(
        f"  {record['code']:<12} {record['setting']!s:<20} {record['seconds']:7.2f} s, {record['steps']:,} steps, "
        f"{record['mean_overlap']:.1e} mean, {record['overlap_99']:.1e} 99 %{drift}{verdict}{part}",
        flush=True,
    )


def curve(records: list[dict], code: str) -> list[dict]:
    """Runs of a code that no other of it beats, from quick to slow."""
    some = sorted((r for r in records if r["code"] == code), key=lambda r: (r["seconds"], r["mean_overlap"]))
    kept: list[dict] = []
    for record in some:
        if not kept or record["mean_overlap"] < kept[-1]["mean_overlap"]:
            kept.append(record)
    return kept


def summary(records: list[dict]) -> None:
    """What rigidgrains leaves within the time of each run of the others' curves."""
    own = curve(records, "rigidgrains")
    for code in ("pybullet", "mujoco"):
        for peer in curve(records, code):
            overlap, seconds = peer["mean_overlap"], peer["seconds"]
            within = [one["mean_overlap"] for one in own if one["seconds"] <= seconds]
            same = [one["seconds"] for one in own if one["mean_overlap"] <= overlap]
            more = f"{overlap / max(within[-1], 1e-16):.3g} times the overlap" if within else "alone so quick"
            longer = f"{seconds / same[0]:.3g} times the time" if same else "alone so exact"
            print(f"  {code:<9} {seconds:7.2f} s, {overlap:.1e}: {more}, {longer} of rigidgrains")


def draw(records: list[dict], path: str) -> None:
    """Overlap against CPU seconds, a panel for each scene."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(record["scene"] for record in records))
    figure, panels = plt.subplots(1, len(names), figsize=(4.0 * len(names), 3.8), layout="constrained", squeeze=False)
    titles = {"tower": "tower of 10 cubes", "cubes": "pile of cubes", "dice": "pile of dice"}
    for name, axes in zip(names, panels[0]):
        some = [r for r in records if r["scene"] == name and math.isfinite(r["mean_overlap"])]
        for code, ink in INKS.items():
            every = [r for r in some if r["code"] == code]
            best = curve(some, code)
            axes.loglog([r["seconds"] for r in every], [r["mean_overlap"] for r in every], ".", color=ink, alpha=0.4)
            axes.loglog([r["seconds"] for r in best], [r["mean_overlap"] for r in best], "o-", color=ink, label=code)
        axes.set(xlabel="CPU seconds, one core", title=titles[name])
    panels[0][0].set_ylabel("mean overlap over radius")
    panels[0][0].legend(frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
