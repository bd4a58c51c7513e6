"""Worker: the settling column by rigidgrains; CPU seconds of the run on one core. JSON goes to stdout.

python benchmarks/peers/column_own.py GRAINS BOUND
"""

import json
import os
import sys
import time
from functools import partial

os.environ.update(NUMBA_NUM_THREADS="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", RIGIDGRAINS_THREADS="1")

import numpy as np
from column import MU, Column

import rigidgrains as rg

# By the bound on the mean overlap: the overlap that is left alone, and sweeps a step for 1000 grains
SETTINGS = {6e-3: (4e-3, 6.5), 1e-3: (6e-4, 12)}
# Until which part of the time overlaps are removed, and until which steps stay short; then it stands
PUSHED, MOVING = 0.65, 0.72


def simulation(grains: int, bound: float) -> tuple[Column, rg.Simulation, list[tuple[float, rg.Sweeps, float]]]:
    """The column, its simulation, and the stages of the run: until when (over T), solver and longest step."""
    column = Column(grains)
    scene = rg.Scene(dimension=3, gravity=(0, 0, -1), friction=MU)
    scene.add_grains(positions=column.position, radii=column.radius, density=1.0)
    scene.add_box(lower=(0, 0, 0), upper=(column.width, column.width, column.height + 5), open=["top"])
    size = grains / 1000.0
    slack, sweeps_of_1000 = SETTINGS[bound]
    sweeps = round(sweeps_of_1000 * size**0.2)  # a higher column asks for more
    removed = 0.2 / size**0.25  # of an overlap in a step: what all layers gain together throws up the top
    method = partial(rg.AcceleratedSweeps, accuracy="exact")
    push = method(criterion=rg.FixedSweeps(sweeps), gap=removed, slack=slack)
    keep = method(criterion=rg.FixedSweeps(sweeps))
    stand = method(criterion=rg.OverlapCriterion(3e-6), max_sweeps=2 * sweeps)
    stages = [(PUSHED, push, 0.12), (MOVING, keep, 0.12), (1.0, stand, 0.2)]
    return column, rg.Simulation(scene, dt=0.1, solver=push), stages


def settle(column: Column, run: rg.Simulation, stages: list[tuple[float, rg.Sweeps, float]]) -> rg.Report:
    for until, solver, longest in stages:
        run.solver, run.dt = solver, rg.AutoStep(travel=1.0, longest=longest)
        report = run.run(until=until * column.time)
    return report


def main(grains: int, bound: float) -> dict:
    settle(*simulation(100, bound))  # compile first
    column, run, stages = simulation(grains, bound)
    start = time.process_time()
    report = settle(column, run, stages)
    seconds = time.process_time() - start
    bodies = run.bodies
    acceleration = (bodies.velocity - run.motion_before[:grains, :3]) / run.dt
    left = column.judge(bodies.position, np.array(bodies.velocity), acceleration)
    return {"seconds": seconds, "steps": report.steps, "sweeps": report.sweeps_mean, "updates": report.updates, **left}


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), float(sys.argv[2]))))
