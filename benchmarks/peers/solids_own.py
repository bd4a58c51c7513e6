"""Worker: a scene of solids_scene.py by rigidgrains; CPU seconds on one core. JSON goes to stdout.

    python benchmarks/peers/solids_own.py SCENE GRAINS SEED DT ACCURACY PATIENCE

DT : a number, or "free" for what the accuracy chooses; ACCURACY : a level, or a residual to which every step is solved.
Start-up and compilation are not counted.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from typing import Any

os.environ.update(NUMBA_NUM_THREADS="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", RIGIDGRAINS_THREADS="1")

import numpy as np
from solids_scene import LOOKS, MU, RADIUS, SOLIDS, Scene

import rigidgrains as rg
from rigidgrains.certificate import check
from rigidgrains.solve.accuracy import LEVELS
from rigidgrains.trajectory.frame import Frame


def simulation_of(scene: Scene, dt: str, accuracy: str) -> tuple[rg.Simulation, np.ndarray]:
    """The simulation, and the numbers (n,) in the scene of its grains."""
    given: dict[str, Any] = {"accuracy": accuracy}
    if accuracy not in LEVELS:
        given = {"accuracy": "exact", "criterion": "residual", "epsilon": float(accuracy)}
    made = rg.Scene(dimension=3, gravity=(0, 0, -1), friction=MU, solver=given)
    order: list[int] = []
    for name in dict.fromkeys(scene.names):
        some = [k for k, own in enumerate(scene.names) if own == name]
        made.add_shape(name, vertices=SOLIDS[name].vertices.tolist())
        made.add_grains(
            shape=name, radius=RADIUS, density=6.0 / math.pi, positions=scene.position[some].tolist(),
            quaternions=scene.quaternion[some].tolist(),
        )  # fmt: skip
        order += some
    for k, (normal, point) in enumerate(scene.walls()):
        made.add_plane(f"wall {k}", point=point, normal=normal)
    step: dict[str, Any] = {} if dt == "free" else {"dt": float(dt)}
    return rg.Simulation(made, **step), np.array(order)


def main(name: str, grains: int, seed: int, dt: str, accuracy: str, patience: float) -> dict:
    first, _ = simulation_of(Scene(name, 8, seed), dt, accuracy)
    first.run(until=3.0)  # compile
    scene = Scene(name, grains, seed)
    simulation, order = simulation_of(scene, dt, accuracy)
    bodies = simulation.bodies
    back = np.argsort(order)
    # solids are kept in axes of their own: what turns these into those of the drawing
    own = product(conjugate(bodies.orientation), scene.quaternion[order])
    states, seconds = [], 0.0
    for k in range(LOOKS):
        begun = time.process_time()
        report = simulation.run(until=scene.time * (k + 1) / LOOKS)
        seconds += time.process_time() - begun - report.compile_seconds
        states.append([bodies.position[back].tolist(), product(bodies.orientation, own)[back].tolist()])
        if seconds > patience:
            break
    part = simulation.time / scene.time
    return {
        "seconds": seconds / min(part, 1.0), "part": min(part, 1.0), "steps": simulation.steps, "states": states,
        "sweeps": report.sweeps_mean, "certificate": check(Frame.of(simulation)).verdict,
    }  # fmt: skip


def conjugate(q: np.ndarray) -> np.ndarray:
    return q * [1.0, -1.0, -1.0, -1.0]


def product(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Of quaternions (n, 4), w x y z."""
    w, v = p[:, :1], p[:, 1:]
    s, u = q[:, :1], q[:, 1:]
    return np.hstack([w * s - (v * u).sum(axis=1, keepdims=True), w * u + s * v + np.cross(v, u)])


if __name__ == "__main__":
    words = sys.argv[1:]
    print(json.dumps(main(words[0], *map(int, words[1:3]), words[3], words[4], float(words[5]))))
