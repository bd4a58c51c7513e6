"""Worker: the settling column by rigidgrains; CPU seconds of the run on one core. JSON goes to stdout.

python benchmarks/peers/column_own.py GRAINS BOUND
"""

import json
import os
import sys
import time

os.environ.update(NUMBA_NUM_THREADS="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", RIGIDGRAINS_THREADS="1")

import numpy as np
from column import MU, Column

import rigidgrains as rg

# By the bound on the mean overlap: sweeps a step, longest step, slack
SETTINGS = {6e-3: (8, 0.12, 3e-3), 1e-3: (10, 0.1, 1e-3)}
DEEPER = {8000: 0, 64_000: 6}  # more sweeps for higher columns


def simulation(grains: int, bound: float) -> tuple[Column, rg.Simulation]:
    column = Column(grains)
    scene = rg.Scene(dimension=3, gravity=(0, 0, -1), friction=MU)
    scene.add_grains(positions=column.position, radii=column.radius, density=1.0)
    scene.add_box(lower=(0, 0, 0), upper=(column.width, column.width, column.height + 5), open=["top"])
    sweeps, longest, slack = SETTINGS[bound]
    more = next(deeper for size, deeper in DEEPER.items() if grains <= size)
    solver = rg.RelaxedSweeps(order="ordered", criterion=rg.FixedSweeps(sweeps + more), gap=0.3, slack=slack)
    return column, rg.Simulation(scene, dt=rg.AutoStep(travel=1.0, longest=longest), solver=solver)


def main(grains: int, bound: float) -> dict:
    simulation(100, bound)[1].run(steps=150)  # compile first
    column, run = simulation(grains, bound)
    start = time.process_time()
    report = run.run(until=column.time)
    seconds = time.process_time() - start
    bodies = run.bodies
    acceleration = (bodies.velocity - run.motion_before[:grains, :3]) / run.dt
    left = column.judge(bodies.position, np.array(bodies.velocity), acceleration)
    return {"seconds": seconds, "steps": report.steps, "sweeps": report.sweeps_mean, "updates": report.updates, **left}


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), float(sys.argv[2]))))
