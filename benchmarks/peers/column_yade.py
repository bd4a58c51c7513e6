"""The settling column by YADE: linear springs and dashpots with friction, one thread, CPU seconds of the run.

All pairs have the collision time of two mean grains and restitution 0.3 (ViscElMat with tc, en, et): with one stiffness
for all instead forces are less balanced in the end. Tangential springs are 2/7 as stiff, the step is a tenth of the
collision time, the stiffness as low as the bound on the mean overlap allows.
"""

import json
import math
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from column import MU, Column

RESTITUTION = 0.3
VERLET = 0.03  # by how much bounds are enlarged; more takes longer
# Measured: stiffness of two mean grains times the bound on the overlap at 1000 grains, and its exponent in their number
STIFF, EXPONENT = 10.0, 0.4


def run(grains: int, bound: float) -> dict:
    """CPU seconds without start-up, settings and what is left."""
    path = shutil.which("yade")
    if path is None:
        return {"absent": "yade is not installed; on Debian: apt-get install yade"}
    column = Column(grains)
    stiffness = STIFF / bound * (grains / 1000.0) ** EXPONENT
    reduced = 0.5 * float(column.mass.mean())
    collision = math.sqrt(reduced / stiffness * (math.pi**2 + math.log(RESTITUTION) ** 2))
    dt = collision / 10.0
    steps = math.ceil(column.time / dt)
    with tempfile.TemporaryDirectory() as folder:
        state, answer = Path(folder) / "state.npz", Path(folder) / "answer.json"
        np.savez(
            state, position=column.position, radius=column.radius, width=column.width, mu=MU, collision=collision,
            restitution=RESTITUTION, verlet=VERLET, dt=dt, steps=steps,
        )  # fmt: skip
        script = Path(__file__).with_name("column_yade_worker.py")
        done = subprocess.run(
            [path, "-x", "-n", "-j1", script, state, answer], capture_output=True, text=True, cwd=folder
        )
        if not answer.exists():
            return {"absent": f"{path} failed: {(done.stdout + done.stderr)[-500:]}"}
        record = json.loads(answer.read_text())
    left = column.judge(*(np.array(record.pop(name)) for name in ("position", "velocity", "acceleration")))
    return {**record, "steps": steps, "stiffness": stiffness, "dt": dt, **left}
