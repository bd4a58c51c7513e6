"""Worker: a scene of solids_scene.py by MuJoCo; CPU seconds of the run. JSON goes to stdout.

    python benchmarks/peers/solids_mujoco.py SCENE GRAINS SEED DT ITERATIONS PATIENCE

Cubes are boxes, other solids meshes with several contacts a pair (multiccd). Contacts are as stiff as the step allows
(solref = 2 dt), friction cones elliptic. After PATIENCE seconds of CPU time it stops, and the part that is left counts
at the same rate.
"""

import json
import math
import os
import sys
import time

os.environ.update(OMP_NUM_THREADS="1")

try:
    import mujoco
except ImportError as reason:
    print(json.dumps({"absent": f"{reason}; pip install mujoco"}))
    sys.exit(0)

from solids_scene import LOOKS, MU, SOLIDS, Scene

MODEL = """<mujoco>
<option timestep="{dt}" gravity="0 0 -1" cone="elliptic" solver="{solver}" iterations="{iterations}" ls_iterations="10">
<flag multiccd="enable"/></option>
<size memory="4G"/>
<default><geom friction="{mu} 0 0" condim="3" solref="{stiff} 1" solimp="0.999 0.9999 0.0001"/></default>
<asset>{meshes}</asset>
<worldbody>{walls}{solids}</worldbody></mujoco>"""
WALL = '<geom type="plane" size="0 0 1" zaxis="{}" pos="{}"/>'
SOLID = (
    '<body pos="{}" quat="{}"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="{i} {i} {i}"/><geom {}/></body>'
)


def main(name: str, grains: int, seed: int, dt: float, iterations: int, patience: float) -> dict:
    scene = Scene(name, grains, seed)
    meshes = "".join(f'<mesh name="{key}" vertex="{row(SOLIDS[key].vertices.ravel())}"/>' for key in set(scene.names))
    half = float(SOLIDS["cube"].vertices.max())
    geom = {key: f'type="mesh" mesh="{key}"' for key in SOLIDS} | {"cube": f'type="box" size="{half} {half} {half}"'}
    solids = "".join(
        SOLID.format(row(place), row(turn), geom[key], i=SOLIDS[key].inertia)
        for key, place, turn in zip(scene.names, scene.position, scene.quaternion)
    )
    walls = "".join(WALL.format(row(normal), row(point)) for normal, point in scene.walls())
    model = mujoco.MjModel.from_xml_string(
        MODEL.format(
            dt=dt, solver="Newton" if iterations < 0 else "CG", iterations=abs(iterations), stiff=2.0 * dt, mu=MU,
            meshes=meshes, walls=walls, solids=solids,
        )
    )  # fmt: skip
    data = mujoco.MjData(model)
    steps = math.ceil(scene.time / dt)
    looks = [round(steps * (k + 1) / LOOKS) for k in range(LOOKS)]
    states, seconds, made = [], 0.0, 0
    for look in looks:
        begun = time.process_time()
        while made < look and time.process_time() - begun + seconds <= patience:
            mujoco.mj_step(model, data)
            made += 1
        seconds += time.process_time() - begun
        found = data.qpos.reshape(-1, 7)
        states.append([found[:, :3].tolist(), found[:, 3:].tolist()])
        if made < look:
            break
    return {"seconds": seconds * steps / made, "part": made / steps, "steps": steps, "states": states}


def row(numbers) -> str:
    return " ".join(repr(float(x)) for x in numbers)


if __name__ == "__main__":
    words = sys.argv[1:]
    print(json.dumps(main(words[0], *map(int, words[1:3]), float(words[3]), int(words[4]), float(words[5]))))
