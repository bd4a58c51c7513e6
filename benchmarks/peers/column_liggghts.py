"""The settling column by LIGGGHTS: linear springs with history, one process, CPU seconds of the run.

As in plain_lammps.py the step is a tenth of the collision time of two mean grains, the restitution 0.3, tangential
springs are 2/7 as stiff; the stiffness is as low as the bound on the mean overlap allows.
"""

import math
import os
import resource
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from column import MU, Column

RESTITUTION, SKIN = 0.3, 0.3
STIFF = 10.8  # N/m times the bound on the overlap over (N/1000)^(1/3), measured

SCRIPT = """units lj
atom_style sphere
boundary f f f
newton off
communicate single vel yes
read_data {folder}/data
neighbor {skin} bin
neigh_modify delay 0 every 1 check yes
soft_particles yes
fix kn all property/global kn peratomtypepair 1 {k}
fix kt all property/global kt peratomtypepair 1 {kt}
fix gn all property/global gamman peratomtypepair 1 {damp}
fix gt all property/global gammat peratomtypepair 1 {half}
fix mu all property/global coefficientFriction peratomtypepair 1 {mu}
pair_style gran model hooke/stiffness tangential history
pair_coeff * *
fix 1 all nve/sphere
fix 2 all gravity 1.0 vector 0 0 -1
fix 3 all wall/gran model hooke/stiffness tangential history primitive type 1 xplane 0
fix 4 all wall/gran model hooke/stiffness tangential history primitive type 1 xplane {width}
fix 5 all wall/gran model hooke/stiffness tangential history primitive type 1 yplane 0
fix 6 all wall/gran model hooke/stiffness tangential history primitive type 1 yplane {width}
fix 7 all wall/gran model hooke/stiffness tangential history primitive type 1 zplane 0
timestep {dt}
thermo 1000000000
run {steps}
dump end all custom 1 {folder}/out id x y z vx vy vz fx fy fz
dump_modify end sort id format {form}
run 0
"""


def run(grains: int, bound: float) -> dict:
    """CPU seconds without start-up, settings and what is left."""
    path = shutil.which("liggghts")
    if path is None:
        return {"absent": "liggghts is not installed; on Debian: apt-get install liggghts"}
    column = Column(grains)
    stiffness = STIFF / bound * (grains / 1000.0) ** (1.0 / 3.0)
    reduced = 0.5 * float(column.mass.mean())
    collision = math.pi / math.sqrt(stiffness / reduced)
    dt = collision / 10.0
    words = {
        "k": stiffness, "kt": 2.0 / 7.0 * stiffness, "damp": -2.0 * math.log(RESTITUTION) / collision, "mu": MU,
        "half": -math.log(RESTITUTION) / collision, "width": column.width, "skin": SKIN, "dt": dt,
        "steps": math.ceil(column.time / dt), "form": '"%d ' + 9 * "%.15g " + '"',
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        write_data(Path(folder) / "data", column)
        begin = seconds(path, folder, words | {"steps": 0})
        spent = seconds(path, folder, words)
        end = np.loadtxt(Path(folder) / "out", skiprows=9)
    left = column.judge(end[:, 1:4], end[:, 4:7], end[:, 7:10] / column.mass[:, None])
    return {"seconds": spent - begin, "steps": words["steps"], "stiffness": stiffness, "dt": dt, **left}


def write_data(path: Path, column: Column) -> None:
    """The lattice in LIGGGHTS' format."""
    lines = [f"column\n\n{len(column.radius)} atoms\n1 atom types\n"]
    lines += [f"0 {column.width:.15g} {axis}lo {axis}hi" for axis in "xy"] + [f"0 {column.height + 3.0:.15g} zlo zhi"]
    lines += ["\nAtoms\n"]
    for i, (at, r) in enumerate(zip(column.position, column.radius), start=1):
        place = " ".join(f"{x:.15g}" for x in at)
        lines.append(f"{i} 1 {2.0 * r:.15g} 1.0 {place}")
    path.write_text("\n".join(lines) + "\n")


def seconds(path: str, folder: str, words: dict) -> float:
    """CPU seconds of one run."""
    file = Path(folder) / "in"
    file.write_text(SCRIPT.format(folder=folder, **words))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    arguments = [path, "-in", str(file), "-log", f"{folder}/log", "-screen", "none"]
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, cwd=folder)
    if done.returncode:
        raise RuntimeError(f"{path} failed: {(Path(folder) / 'log').read_text()[-500:]} {done.stderr[-500:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
