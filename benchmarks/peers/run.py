"""Races against other codes: the settling column, contact updates per second, time to a residual, memory per grain.

The race against LAMMPS, with more scenes, is default.py.

    python benchmarks/peers/run.py [--quick] [--sizes 1000,8000] [--only column,updates,residual,memory]
                                   [--bound 1e-3] [--codes liggghts,yade,pybullet,mujoco]
                                   [--python PYTHON] [--json FILE] [--plot FILE]

One core each, CPU seconds, each ratio from one run. Our column is the plain scene of default.py; the other codes may
leave a mean overlap of --bound, which is more than ours leaves. LIGGGHTS, YADE and Siconos come from Debian (`apt-get
install liggghts yade python3-siconos`), pybullet and MuJoCo from PyPI, in the running Python or in the one named by
--python. Who is not there is named as absent. Columns that take less than five seconds are run three times by every
code, and the quickest counts.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

os.environ.update(NUMBA_NUM_THREADS="1", OMP_NUM_THREADS="1", RIGIDGRAINS_THREADS="1")

import column_liggghts
import column_yade
import numpy as np
import plain_lammps
import siconos_fclib
import siconos_nsgs
from column import Column
from workers import quickest, worker

from rigidgrains.app import bench
from rigidgrains.contacts.problem import ContactProblem
from rigidgrains.solve.orders import ORDERS

SEED = 1  # of the column
# Step and iterations that keep the mean overlap of 1000 grains below 1e-3
WORKERS = {"pybullet": ("column_bullet.py", 0.03, 28), "mujoco": ("column_mujoco.py", 0.03, 28)}
PATIENCE = 120.0  # CPU seconds until they are stopped
MANY = 8000  # grains up to which the slower codes run
SWEEPS, REPEATS = 50, 5
CONTACTS = {3_000: 1_190, 20_000: 7_800, 70_000: 26_700}  # contacts of how many grains of the dense packing


def main() -> None:
    wanted = arguments()
    races = {"column": column_race, "updates": updates_race, "residual": residual_race, "memory": memory_race}
    records = {name: races[name](wanted) for name in wanted.only.split(",")}
    if wanted.json:
        Path(wanted.json).write_text(json.dumps(records, indent=1) + "\n")
    if wanted.plot and "column" in records:
        from plot import draw

        draw(records["column"], wanted.plot)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Races against other codes")
    parser.add_argument("--quick", action="store_true", help="1000 grains, one size of packing")
    parser.add_argument("--sizes", default="", help="grains of the columns, 1000,8000 if absent")
    parser.add_argument("--bound", type=float, default=1e-3, help="on the mean overlap of the others, over the radius")
    parser.add_argument("--codes", default="liggghts,yade,pybullet,mujoco", help="who races in the columns")
    parser.add_argument("--only", default="column,updates,residual,memory")
    parser.add_argument("--python", default=sys.executable, help="a Python that has pybullet and mujoco")
    parser.add_argument("--json", help="file for all figures")
    parser.add_argument("--plot", default="", help="file for a picture of the column race")
    wanted = parser.parse_args()
    wanted.sizes = [int(n) for n in wanted.sizes.split(",") if n] or ([1000] if wanted.quick else [1000, 8000])
    return wanted


def column_race(wanted: argparse.Namespace) -> list[dict]:
    """Each code settles the same column; ratios of CPU seconds."""
    records = []
    for grains in wanted.sizes:
        ours = quickest(partial(worker, sys.executable, "plain_own.py", "column", grains, SEED))
        print(f"\n{grains:,} grains: CPU seconds, and over those of rigidgrains")
        tell("rigidgrains", ours, ours)
        record = {"grains": grains, "bound": wanted.bound, "rigidgrains": ours}
        for name, task in peers(wanted, grains).items():
            record[name] = quickest(task)
            tell(name, record[name], ours)
        records.append(record)
    return records


def peers(wanted: argparse.Namespace, grains: int) -> dict[str, Callable[[], dict]]:
    """Who races: the slower codes on small columns alone."""
    tasks: dict[str, Callable[[], dict]] = {"liggghts": partial(column_liggghts.run, grains, wanted.bound)}
    if grains <= MANY:
        tasks["yade"] = partial(column_yade.run, grains, wanted.bound)
        tasks |= {name: partial(settle, wanted.python, name, grains) for name in WORKERS}
    return {name: task for name, task in tasks.items() if name in wanted.codes.split(",")}


def settle(python: str, name: str, grains: int) -> dict:
    """A column by a code of another Python; what it has not come through counts at the rate of the rest."""
    script, dt, iterations = WORKERS[name]
    column = Column(grains, SEED)
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "state.npz"
        np.savez(
            state, position=column.position, radius=column.radius, width=column.width, height=column.height,
            time=column.time,
        )  # fmt: skip
        record = worker(python, script, state, dt, iterations, PATIENCE)
    if "absent" in record:
        return record
    left = column.judge(np.array(record.pop("position")), np.array(record.pop("velocity")))
    return record | left | {"seconds": record["seconds"] / record["part"]}


def tell(name: str, one: dict, ours: dict) -> None:
    if "absent" in one:
        print(f"  {name:<12} absent: {one['absent']}")
        return
    more = "".join(f", {key} {one[key]:.1e}" for key in ("energy", "imbalance") if key in one)
    ended = "" if one.get("part", 1.0) == 1.0 else f", stopped after {one['part']:.0%}"
    print(
        f"  {name:<12} {one['seconds']:9.2f} s {one['seconds'] / ours['seconds']:7.1f}, {one['steps']:,} steps, "
        f"overlap {one['mean_overlap']:.1e} mean, {one['overlap_99']:.1e} 99 %{more}{ended}",
        flush=True,
    )


def updates_race(wanted: argparse.Namespace) -> list[dict]:
    """Contact updates per second on dense packings, against Siconos' best exact one-contact solver and Bullet."""
    records = []
    for grains in list(CONTACTS.values())[: 1 if wanted.quick else 3]:
        bodies, problem = bench.dense_problem(grains)
        with tempfile.TemporaryDirectory() as folder:
            packing, spheres = Path(folder) / "packing.npz", Path(folder) / "spheres.npz"
            siconos_nsgs.export(problem, packing)
            np.savez(
                spheres, position=bodies.position, velocity=bodies.velocity, spin=bodies.spin,
                radius=bodies.radius[0] * 1.0005, mu=0.3, dt=problem.dt,
            )  # fmt: skip
            ours = own_rate(bench.dense_problem(grains, coloured=True)[1])
            peers = {"siconos": siconos_nsgs.run_peer(packing)}
            peers["bullet"] = worker(wanted.python, "bullet_updates.py", spheres)
        rates = {
            "siconos": peers["siconos"].get("best", 0.0), "bullet": peers["bullet"].get("updates_per_second", 0.0)
        }  # fmt: skip
        print(f"\n{problem.count:,} contacts: {ours / 1e6:.1f} million contact updates per second")
        for name, rate in rates.items():
            if not rate:
                print(f"  {name:<12} absent: {peers[name].get('absent')}")
            else:
                print(f"  {name:<12} {rate / 1e6:.2f}, {ours / rate:.1f} times slower")
        records.append({"contacts": problem.count, "rigidgrains": ours, **peers})
    return records


def own_rate(problem: ContactProblem) -> float:
    """Contact updates per CPU second, as the peers are measured: the best of several runs of many sweeps."""
    order, rng, best = ORDERS["coloured"](), np.random.default_rng(0), np.inf
    order.begin(problem)
    for _ in range(REPEATS):
        start = time.process_time()
        for _ in range(SWEEPS):
            order.sweep(problem, rng)
        best = min(best, time.process_time() - start)
    return problem.count * SWEEPS / best


def residual_race(wanted: argparse.Namespace) -> dict:
    """Time to a residual against Siconos: siconos_fclib.py."""
    print("\nTime to a residual of 1e-4 and 1e-6 against Siconos' NSGS")
    record = worker(sys.executable, "siconos_fclib.py", "--json")
    if "absent" in record:
        print(f"  {record['absent']}")
        return record
    for name, one in record.items():
        siconos_fclib.tell(name, one)
    return record


def memory_race(wanted: argparse.Namespace) -> dict:
    """Bytes per grain at the peak, contacts included, against what LAMMPS says of itself."""
    record = {"rigidgrains": bench.bytes_per_grain(100_000), "lammps": plain_lammps.bytes_per_grain(64_000)}
    print("\nBytes per grain")
    for name, one in record.items():
        print(f"  {name:<12} {'absent' if one is None else f'{one:.0f}'}")
    return record


if __name__ == "__main__":
    main()
