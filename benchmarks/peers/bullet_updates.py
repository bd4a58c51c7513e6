"""Worker: contact updates per second of Bullet, sequential impulses, on a packing of spheres. JSON goes to stdout.

    python benchmarks/peers/bullet_updates.py PACKING.npz

One step with few and one with many iterations, each from the same state; their difference is the cost of iterations
alone. An update is one normal and two friction rows of one contact point. Spheres are plain rigid bodies (maximal
coordinates): as the multibodies that pybullet makes by default they take three times as long for an iteration, and far
longer for the rest of a step.
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

FEW, MANY, REPEATS = 10, 1010, 3


def main(path: str) -> dict:
    given = np.load(path)
    best = {}
    for iterations in (FEW, MANY):
        runs = [step(given, iterations) for _ in range(REPEATS)]
        best[iterations], contacts = min(seconds for seconds, _ in runs), runs[0][1]
    return {"contacts": contacts, "updates_per_second": contacts * (MANY - FEW) / (best[MANY] - best[FEW])}


def step(given, iterations: int) -> tuple[float, int]:
    """CPU seconds of one step, and the contacts it had."""
    client = pybullet.connect(pybullet.DIRECT)
    pybullet.setPhysicsEngineParameter(
        fixedTimeStep=float(given["dt"]), numSolverIterations=iterations, numSubSteps=1,
        deterministicOverlappingPairs=0, solverResidualThreshold=0.0,
    )  # fmt: skip
    radius = float(given["radius"])
    shape = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=radius)
    for place, velocity, spin in zip(given["position"], given["velocity"], given["spin"]):
        body = pybullet.createMultiBody(1.0, shape, basePosition=place.tolist(), useMaximalCoordinates=1)
        pybullet.resetBaseVelocity(body, velocity.tolist(), spin.tolist())
        pybullet.changeDynamics(
            body, -1, lateralFriction=math.sqrt(float(given["mu"])), linearDamping=0.0, angularDamping=0.0
        )
    start = time.process_time()
    pybullet.stepSimulation()
    seconds = time.process_time() - start
    contacts = sum(point[8] < 0.0 for point in pybullet.getContactPoints())  # a long list has empty rows in it
    pybullet.disconnect(client)
    return seconds, contacts


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
