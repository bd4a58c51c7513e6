"""Worker: the settling column by YADE, run by YADE itself. JSON goes to a file, since YADE greets on stdout.

    yade -x -n -j1 benchmarks/peers/column_yade_worker.py STATE.npz ANSWER.json

The state gives position (n, 3), radius (n,), width, mu, collision time, restitution, verlet, dt and steps. The first
step, which sorts from scratch, is not timed.
"""

import json
import math
import sys
import time

import numpy as np
from yade import config, utils, wrapper


def main(path: str, answer: str) -> None:
    given = dict(np.load(path))
    grains, collision, restitution = len(given["radius"]), float(given["collision"]), float(given["restitution"])
    scene = wrapper.Omega()
    material = wrapper.ViscElMat(
        tc=collision, en=restitution, et=restitution, frictionAngle=math.atan(given["mu"]), density=1.0
    )
    scene.materials.append(material)
    for place, r in zip(given["position"].tolist(), given["radius"].tolist()):
        scene.bodies.append(utils.sphere(place, r, material=material))
    for axis, place in ((0, 0.0), (0, float(given["width"])), (1, 0.0), (1, float(given["width"])), (2, 0.0)):
        scene.bodies.append(utils.wall(place, axis, material=material))
    bounds = [wrapper.Bo1_Sphere_Aabb(), wrapper.Bo1_Wall_Aabb()]
    scene.engines = [
        wrapper.ForceResetter(),
        wrapper.InsertionSortCollider(bounds, verletDist=float(given["verlet"]), targetInterv=0),
        wrapper.InteractionLoop(
            [wrapper.Ig2_Sphere_Sphere_ScGeom(), wrapper.Ig2_Wall_Sphere_ScGeom()],
            [wrapper.Ip2_ViscElMat_ViscElMat_ViscElPhys()],
            [wrapper.Law2_ScGeom_ViscElPhys_Basic()],
        ),
        wrapper.NewtonIntegrator(gravity=(0, 0, -1), damping=0.0),
    ]
    scene.dt = float(given["dt"])
    scene.run(1, True)
    start = time.process_time()
    scene.run(int(given["steps"]) - 1, True)
    seconds = time.process_time() - start
    states = [scene.bodies[i].state for i in range(grains)]
    force = np.array([scene.forces.f(i) for i in range(grains)])
    record = {
        "seconds": seconds,
        "position": [list(state.pos) for state in states],
        "velocity": [list(state.vel) for state in states],
        "acceleration": (force / np.array([state.mass for state in states])[:, None] + [0.0, 0.0, -1.0]).tolist(),
        "version": config.version,
    }
    with open(answer, "w") as file:
        json.dump(record, file)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
