"""Worker: the settling column by Bullet's sequential impulses (pybullet); CPU seconds of the run. JSON goes to stdout.

    python benchmarks/peers/column_bullet.py STATE.npz DT ITERATIONS PATIENCE

Spheres and walls are plain rigid bodies (maximal coordinates), which are faster than the multibodies of the default.
After PATIENCE seconds of CPU time it stops, and says which part of the time T it has come through.
"""

import json
import math
import sys
import time

try:
    import pybullet
except ImportError as reason:
    print(json.dumps({"absent": f"{reason}; pip install pybullet"}))
    sys.exit(0)

import numpy as np
from column_state import load


def main(path: str, dt: float, iterations: int, patience: float) -> dict:
    state = load(path)
    width, height, radius = state["width"], state["height"], state["radius"]
    pybullet.connect(pybullet.DIRECT)
    pybullet.setGravity(0, 0, -1)
    pybullet.setPhysicsEngineParameter(
        fixedTimeStep=dt, numSolverIterations=iterations, numSubSteps=1, deterministicOverlappingPairs=0,
        enableFileCaching=0, contactSlop=0.0, erp=0.6, contactERP=0.6, restitutionVelocityThreshold=10.0,
    )  # fmt: skip
    friction = {"lateralFriction": math.sqrt(0.5), "restitution": 0.0, "linearDamping": 0.0, "angularDamping": 0.0}
    for normal, point in (
        ([0, 0, 1], [0, 0, 0]), ([1, 0, 0], [0, 0, 0]), ([-1, 0, 0], [width, 0, 0]),
        ([0, 1, 0], [0, 0, 0]), ([0, -1, 0], [0, width, 0]),
    ):  # fmt: skip
        shape = pybullet.createCollisionShape(pybullet.GEOM_PLANE, planeNormal=normal)
        wall = pybullet.createMultiBody(0, shape, basePosition=point, useMaximalCoordinates=1)
        pybullet.changeDynamics(wall, -1, **friction)
    grains = []
    for r, place in zip(radius, state["position"]):
        shape = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=float(r))
        mass = 4.0 / 3.0 * math.pi * float(r) ** 3
        body = pybullet.createMultiBody(mass, shape, basePosition=place.tolist(), useMaximalCoordinates=1)
        pybullet.changeDynamics(body, -1, **friction)
        grains.append(body)
    steps = math.ceil(state["time"] / dt)
    start, made = time.process_time(), 0
    while made < steps and time.process_time() - start <= patience:
        pybullet.stepSimulation()
        made += 1
    seconds = time.process_time() - start
    position = np.array([pybullet.getBasePositionAndOrientation(body)[0] for body in grains])
    velocity = np.array([pybullet.getBaseVelocity(body)[0] for body in grains])
    return {
        "seconds": seconds, "steps": made, "part": made / steps, "dt": dt, "iterations": iterations, "height": height,
        "position": position.tolist(), "velocity": velocity.tolist(),
    }  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))))
