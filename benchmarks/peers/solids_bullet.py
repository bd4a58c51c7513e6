"""Worker: a scene of solids_scene.py by Bullet's sequential impulses (pybullet), as hulls. JSON goes to stdout.

    python benchmarks/peers/solids_bullet.py SCENE GRAINS SEED DT ITERATIONS PATIENCE

Solids and walls are plain rigid bodies (maximal coordinates), which are faster than the multibodies of the default.
After PATIENCE seconds of CPU time it stops, and the part that is left counts at the same rate.
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
from solids_scene import LOOKS, MU, SOLIDS, Scene

MARGIN = 1e-3  # of hulls, Bullet's default: added outside of them, so the hull is made smaller and faces are in place


def main(name: str, grains: int, seed: int, dt: float, iterations: int, patience: float) -> dict:
    scene = Scene(name, grains, seed)
    pybullet.connect(pybullet.DIRECT)
    pybullet.setGravity(0, 0, -1)
    pybullet.setPhysicsEngineParameter(
        fixedTimeStep=dt, numSolverIterations=iterations, numSubSteps=1, deterministicOverlappingPairs=0,
        enableFileCaching=0, contactSlop=0.0, erp=0.6, contactERP=0.6, restitutionVelocityThreshold=10.0,
    )  # fmt: skip
    surface = {"lateralFriction": math.sqrt(MU), "restitution": 0.0, "linearDamping": 0.0, "angularDamping": 0.0}
    for normal, point in scene.walls():
        shape = pybullet.createCollisionShape(pybullet.GEOM_PLANE, planeNormal=normal)
        wall = pybullet.createMultiBody(0, shape, basePosition=point, useMaximalCoordinates=1)
        pybullet.changeDynamics(wall, -1, **surface)
    bodies = []
    for solid, place, turn in zip(scene.names, scene.position, scene.quaternion):
        body = SOLIDS[solid]
        corners = ((1.0 - MARGIN / body.inner) * body.vertices).tolist()
        shape = pybullet.createCollisionShape(pybullet.GEOM_MESH, vertices=corners)
        number = pybullet.createMultiBody(
            1.0, shape, basePosition=place.tolist(), baseOrientation=np.roll(turn, -1).tolist(), useMaximalCoordinates=1
        )
        pybullet.changeDynamics(number, -1, mass=1.0, localInertiaDiagonal=[body.inertia] * 3, **surface)
        bodies.append(number)
    steps = math.ceil(scene.time / dt)
    looks = [round(steps * (k + 1) / LOOKS) for k in range(LOOKS)]
    states, seconds, made = [], 0.0, 0
    for look in looks:
        begun = time.process_time()
        while made < look and time.process_time() - begun + seconds <= patience:
            pybullet.stepSimulation()
            made += 1
        seconds += time.process_time() - begun
        found = [pybullet.getBasePositionAndOrientation(body) for body in bodies]
        states.append([[place for place, _ in found], [(turn[3], *turn[:3]) for _, turn in found]])
        if made < look:
            break
    return {"seconds": seconds * steps / made, "part": made / steps, "steps": steps, "states": states}


if __name__ == "__main__":
    words = sys.argv[1:]
    print(json.dumps(main(words[0], *map(int, words[1:3]), float(words[3]), int(words[4]), float(words[5]))))
