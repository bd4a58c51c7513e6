"""What files cost, in sweeps: a frame, a checkpoint, reading, a certificate, measured in one run on one core.

python benchmarks/files.py [--json]
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import rigidgrains as rg
from rigidgrains.app.bench import best, dense_bodies
from rigidgrains.certificate import check
from rigidgrains.solve.kernels.factory import kernels_for

GRAINS = 107_000  # 3e5 contacts in the bench packing
MANY = 357_000  # 1e6 contacts


def main() -> None:
    figures = {"frames": frames(), "check": certificate()}
    if "--json" in sys.argv:
        print(json.dumps(figures))
        return
    for name, cost in figures["frames"].items():
        print(f"{name:<28} {cost:.2f}")
    found = figures["check"]
    print(f"{'check, seconds':<28} {found['seconds']:.1f}  for {found['contacts']:,} contacts")


def frames() -> dict[str, float]:
    """Cost of writing, over that of ten sweeps in stored order."""
    simulation = running(GRAINS)
    ten = 10.0 * one_sweep(simulation)
    out: dict[str, float] = {"contacts": simulation.contacts.count}
    kinds: dict[str, dict[str, Any]] = {
        "full frame": {}, "single precision": {"precision": "single"}, "grains only": {"contacts": False},
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        for name, options in kinds.items():
            writer = rg.TrajectoryWriter(Path(folder) / f"{name}.vtkhdf", **options)
            writer.start(simulation, 0)
            out[f"{name} / ten sweeps"] = best(partial(write, writer, simulation), 5) / ten
            if name == "full frame":
                out["checkpoint / ten sweeps"] = best(partial(writer.checkpoint, simulation), 3) / ten
            writer.finish(simulation)
        path = Path(folder) / "full frame.vtkhdf"
        for name, verify in (("reading a frame", True), ("unverified", False)):
            out[f"{name} / ten sweeps"] = best(partial(read, path, verify=verify), 5) / ten
    return out


def read(path: Path, *, verify: bool) -> None:
    """Grains and contacts of the last frame."""
    with rg.Trajectory(path, verify=verify) as trajectory:
        frame = trajectory[-1]
        for name in ("position", "orientation", "velocity", "spin", "velocity_before", "spin_before", "load"):
            getattr(frame, name)
        for name in ("pair", "point", "normal", "gap", "force", "status"):
            getattr(frame.contacts, name)


def write(writer: rg.TrajectoryWriter, simulation: rg.Simulation) -> None:
    """A frame of another step, as far as the writer knows."""
    clock = simulation.clock
    clock.steps += 1
    simulation.set_clock(clock)
    writer.look(simulation)


def certificate() -> dict[str, float]:
    """Seconds to check a frame of a million contacts, read from its file; kernels compiled before."""
    with tempfile.TemporaryDirectory() as folder:
        for grains in (1000, MANY):
            path = Path(folder) / f"{grains}.vtkhdf"
            simulation = running(grains)
            simulation.observe(rg.TrajectoryWriter(path))
            simulation.run(steps=1)
            with rg.Trajectory(path) as trajectory:
                started = time.perf_counter()
                check(trajectory[-1])
                seconds = time.perf_counter() - started
    return {"contacts": simulation.contacts.count, "seconds": seconds}


def running(grains: int) -> rg.Simulation:
    """The dense packing of the benchmarks after two steps."""
    simulation = rg.Simulation(dense_bodies(grains), dt=1e-3, solver=rg.Sweeps("ordered", rg.FixedSweeps(3)))
    simulation.run(steps=2)
    return simulation


def one_sweep(simulation: rg.Simulation) -> float:
    """Seconds of a sweep in stored order."""
    p = simulation.contacts.problem(simulation.bodies, simulation.dt)
    copied = replace(p, motion=p.motion.copy(), forces=p.forces.copy())
    sequence, loop = np.arange(p.count, dtype=np.int32), kernels_for(p).sweep
    run: Callable[[], None] = lambda: loop(sequence, *copied.arrays, p.dt)  # noqa: E731
    return best(run, 7)


if __name__ == "__main__":
    main()
