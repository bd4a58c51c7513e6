"""The default solver against the random sweep of the paper, over the first steps of gallery scenes.

python benchmarks/solvers/gallery.py [--steps 1500] [SCENE ...]

Both are given the same scene and gap policy. Every twentieth step is looked at: the momentum error, and the worst
contact as a certificate measures it.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from rigidgrains.gallery import scene_text
from rigidgrains.scene import load_scene
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.solve.residual import worst_contact
from rigidgrains.solve.virtual_power import momentum_error

SCENES = ("column", "vibrated", "piston", "pile", "deposit", "silo", "biaxial", "collapse", "shear", "drum")
LOOK = 20
COLUMNS = ("scene", "solver", "grains", "steps", "sweeps", "cpu_ms", "not_converged", "error", "worst_error", "contact")


def main() -> None:
    """Run each scene with both solvers and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenes", nargs="*", metavar="SCENE", default=SCENES)
    parser.add_argument("--steps", type=int, default=1500)
    asked = parser.parse_args()
    for method in ("sweeps", "accelerated"):
        followed(SCENES[0], method, 20)  # compiled
    print(*COLUMNS, sep="\t")
    for name in asked.scenes:
        for method in ("sweeps", "accelerated"):
            row = followed(name, method, asked.steps)
            print(*(f"{value:.3g}" if isinstance(value, float) else value for value in row), sep="\t", flush=True)


def followed(name: str, method: str, steps: int) -> tuple[Any, ...]:
    """One scene by one solver: its row of the table. CPU time and sweeps are means per step."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.toml"
        path.write_text(scene_text(name))
        simulation = Simulation(load_scene(path), solver=method)
    spent, sweeps, failed = 0.0, 0, 0
    errors, worst = [0.0], 0.0
    for step in range(1, steps + 1):
        begin = time.process_time()
        simulation.step()
        spent += time.process_time() - begin
        sweeps += simulation.last_solve.sweeps
        failed += not simulation.last_solve.converged
        if step % LOOK == 0:
            problem = simulation.contacts.problem(simulation.bodies, simulation.dt)
            errors.append(momentum_error(problem))
            worst = max(worst, worst_contact(problem))
    grains = simulation.bodies.count
    return (name, method, grains, steps, sweeps / steps, 1e3 * spent / steps, failed, float(np.median(errors)),
            max(errors), worst)  # fmt: skip


if __name__ == "__main__":
    main()
