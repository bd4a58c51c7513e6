"""Worker: the settling column by MuJoCo; CPU seconds of the run. JSON goes to stdout.

    python benchmarks/peers/column_mujoco.py STATE.npz DT ITERATIONS PATIENCE

Contacts are as stiff as the step allows (solref = 2 dt), friction cones elliptic, line searches short. After PATIENCE
seconds of CPU time it stops, and says which part of the time T it has come through.
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

from column_state import load

SCENE = """<mujoco>
<option timestep="{dt}" gravity="0 0 -1" cone="elliptic" solver="{solver}" iterations="{iterations}"
 ls_iterations="4"/>
<size memory="8G"/>
<default><geom friction="0.5 0 0" condim="3" solref="{stiff} 1" solimp="0.999 0.9999 0.0001"/></default>
<worldbody>
<geom type="plane" size="0 0 1"/>
<geom type="plane" size="0 0 1" zaxis="1 0 0"/>
<geom type="plane" size="0 0 1" zaxis="-1 0 0" pos="{width} 0 0"/>
<geom type="plane" size="0 0 1" zaxis="0 1 0"/>
<geom type="plane" size="0 0 1" zaxis="0 -1 0" pos="0 {width} 0"/>
{grains}
</worldbody></mujoco>"""
GRAIN = '<body pos="{0} {1} {2}"><freejoint/><geom type="sphere" size="{3}" density="1"/></body>'


def main(path: str, dt: float, iterations: int, patience: float) -> dict:
    state = load(path)
    grains = "\n".join(GRAIN.format(*place, r) for place, r in zip(state["position"], state["radius"]))
    model = mujoco.MjModel.from_xml_string(
        SCENE.format(dt=dt, solver="CG", iterations=iterations, stiff=2.0 * dt, width=state["width"], grains=grains)
    )
    data = mujoco.MjData(model)
    steps = math.ceil(state["time"] / dt)
    start, made = time.process_time(), 0
    while made < steps and time.process_time() - start <= patience:
        mujoco.mj_step(model, data)
        made += 1
    seconds = time.process_time() - start
    n = len(state["radius"])
    return {
        "seconds": seconds, "steps": made, "part": made / steps, "dt": dt, "iterations": iterations,
        "position": data.qpos.reshape(n, 7)[:, :3].tolist(), "velocity": data.qvel.reshape(n, 6)[:, :3].tolist(),
        "version": mujoco.__version__,
    }  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))))
