"""A scene of plain_scenes.py by LAMMPS, as a script that a user would write: linear springs with history, one process.

The step is a tenth (or an eighth) of the collision time t_c of two mean grains, the restitution 0.3, tangential springs
2/7 as stiff, as gran/hooke/history has them by default. Grains start where those of rigidgrains start. CPU seconds are
those of the process (user and system) without start-up, and without the output of samples.

What LAMMPS 29 Sep 2021 does not have, and how it is done here:
- a wall that is guided under a load: the lid of the shear cell is a region that moves with a tracer particle, which has
  the mass and feels the load and the force of the grains (fix addforce);
- plates without thickness: blocks of 0.01 d;
- a source of grains of several sizes at a fixed rate: the heap is of equal spheres, which fix deposit makes.
"""

from __future__ import annotations

import math
import os
import re
import resource
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from plain_measures import SLIDES, State, contact_results, overlap_figures
from plain_scene import ROUGH, PlainScene, Start
from plain_scenes import MU, SettlingColumn

PROGRAM = "lmp"
ABSENT = "lammps is not installed; on Debian: apt-get install lammps"
RESTITUTION, SKIN = 0.3, 0.3
SOFTER = 8.0  # by which springs are softer in the first run of a search
NEAR, TRIES = 0.1, 5  # how near the overlap must come to the one asked for; runs until a search ends

HEAD = """units lj
dimension {dimension}
atom_style sphere
atom_modify map array
boundary {boundary}
newton off
comm_modify vel yes
{grains}
group grains type 1
group tracer type 2
neighbor {skin} bin
neigh_modify delay 0 every 1 check yes exclude type 1 2
pair_style gran/hooke/history {law}
pair_coeff * *
fix move grains nve/sphere {disc}
{weight}
"""
SAMPLES = """compute touch grains pair/local force p4 cutoff radius
dump grains grains custom {every} {folder}/grains id radius x y z vx vy vz fx fy fz
dump_modify grains sort id format float %.15g
dump touch grains local {every} {folder}/touch c_touch[1] c_touch[2]
dump_modify touch format float %.15g
"""


def find(scene: PlainScene, overlap: float) -> dict:
    """A run at t_c/10 whose mean overlap is as asked for, within a tenth, and the search that led to its stiffness."""
    records, stiffness = [], scene.stiffness(overlap) / SOFTER

    def off(record: dict) -> float:
        return abs(record["mean_overlap"] / overlap - 1.0)

    for _ in range(TRIES):
        records.append(run(scene, stiffness))
        if off(records[-1]) <= NEAR or not records[-1]["mean_overlap"]:
            break
        stiffness = better(records, overlap)
    best = min(records, key=off)
    search = [{name: one[name] for name in ("stiffness", "mean_overlap", "seconds")} for one in records]
    return best | {"search": search, "found": off(best) <= NEAR}


def better(tried: list[dict], overlap: float) -> float:
    """The stiffness that should leave the overlap, which is a power of it: the inverse, if nothing else is known.

    The power is taken from the soft run and the stiff ones after it, over all of which samples of a flow are averaged.
    """
    known = [(math.log(one["stiffness"]), math.log(one["mean_overlap"])) for one in tried]
    (soft, left), others = known[0], known[1:] or known
    power = -1.0
    if len(known) > 1:
        slopes = [(y - left) / (x - soft) for x, y in others if abs(x - soft) > 0.1]
        power = min(max(float(np.mean(slopes)), -1.5), -0.5) if slopes else -1.0
    return math.exp(float(np.mean([x + (math.log(overlap) - y) / power for x, y in others])))


def run(scene: PlainScene, stiffness: float, part: float = 10.0) -> dict:
    """Run a scene to its end, in steps of t_c/part: what it took, and what it left."""
    start = scene.start()
    radius = start.radius if len(start.radius) else np.array([0.5])
    collision = math.pi / math.sqrt(stiffness / (0.5 * float(masses(radius, scene.dimension).mean())))
    steps = max(round(scene.unit * part / collision), 1)
    if scene.unit == scene.interval:  # forces on walls are averaged over every tenth step
        steps = 10 * max(round(steps / 10), 1)
    dt = scene.unit / steps
    every = round(scene.interval / dt)
    with tempfile.TemporaryDirectory() as folder:
        words = script(scene, start, Path(folder), stiffness, collision, dt, steps)
        begin, *_ = execute(words + "run 0\n", folder)
        spent, output, _ = execute(words + stages(scene, folder, dt, every), folder)
        states, force = samples(scene, Path(folder), dt)
    end = states[-1]
    overlap = np.concatenate([scene.overlaps(state) for state in states])
    record = {
        "seconds": spent - begin - output, "output": output, "steps": round(scene.until / dt), "stiffness": stiffness,
        "dt": dt, "part": part, **overlap_figures(overlap),
        "results": scene.results(states) | contact_results(states),
    }  # fmt: skip
    if scene.at_rest:
        acceleration = force / masses(end.radius, scene.dimension)[:, None]
        record["imbalance"] = float(np.linalg.norm(acceleration, axis=1).mean())
    return record


def masses(radius: np.ndarray, dimension: int) -> np.ndarray:
    """Of spheres or disks of density 1."""
    return 4.0 / 3.0 * math.pi * radius**3 if dimension == 3 else math.pi * radius**2


def script(
    scene: PlainScene, start: Start, folder: Path, stiffness: float, collision: float, dt: float, steps: int
) -> str:
    """All lines up to the first run."""
    damp = -2.0 * math.log(RESTITUTION) / collision
    law, rough = (f"{stiffness} NULL {damp} NULL {mu} 1" for mu in (MU, ROUGH))
    if len(start.radius):
        write_data(folder / "data", scene, start)
        grains = f"read_data {folder}/data"
    else:
        bounds = " ".join(f"{low} {high}" for low, high in scene.box)
        grains = f"region all block {bounds}\ncreate_box 2 all"
    flat = scene.dimension == 2
    down = "0 -1 0" if flat else "0 0 -1"
    weight = f"fix weight grains gravity 1.0 vector {down}" if "gravity" in scene.words else ""
    head = HEAD.format(
        dimension=scene.dimension, boundary=scene.boundary, grains=grains, skin=SKIN, law=law,
        disc="disc" if flat else "", weight=weight,
    )  # fmt: skip
    walls = scene.walls(f"hooke/history {law}", f"hooke/history {rough}", steps)
    plane = "fix flat all enforce2d\n" if flat else ""
    return f"{head}{walls}{plane}timestep {dt:.17g}\nthermo 1000000000\nthermo_modify lost ignore\n"


def stages(scene: PlainScene, folder: str, dt: float, every: int) -> str:
    """The runs: until a gate opens, until the first sample, until the end."""
    opens, line = scene.opening()
    lines, done = "", 0
    for until, then in sorted([(opens, line), (scene.begin, SAMPLES.format(every=every, folder=folder))]):
        steps = round(until / dt)
        lines += f"run {steps - done}\n" * (steps > done) + then + "\n"
        done = steps
        if hasattr(scene, "tracer") and until == scene.begin:
            lines += f"fix push all ave/time 10 {every // 10} {every} c_push[1] c_push[2] file {folder}/push\n"
            lines += f"fix sunk all ave/time {every} 1 {every} v_sunk file {folder}/sunk\n"
    return lines + f"run {round(scene.until / dt) - done}\n"


def write_data(path: Path, scene: PlainScene, start: Start) -> None:
    """Grains, and the tracer as the last of them; densities are such that disks have the mass of disks."""
    density = masses(start.radius, scene.dimension) / masses(start.radius, 3)
    tracer = getattr(scene, "tracer", None)
    lines = [f"{scene.name}\n\n{len(start.radius) + (tracer is not None)} atoms\n2 atom types\n"]
    lines += [f"{low:.15g} {high:.15g} {axis}lo {axis}hi" for axis, (low, high) in zip("xyz", scene.box)]
    lines.append("\nAtoms\n")
    for i, (at, r, rho) in enumerate(zip(start.position, start.radius, density), start=1):
        lines.append(f"{i} 1 {2.0 * r:.15g} {rho:.15g} " + " ".join(f"{x:.15g}" for x in at))
    if tracer is not None:
        x, y, z, mass = tracer
        lines.append(f"{len(start.radius) + 1} 2 1.0 {mass / (math.pi / 6.0):.15g} {x} {y} {z}")
    path.write_text("\n".join(lines) + "\n")


def execute(words: str, folder: str) -> tuple[float, float, float]:
    """CPU seconds of one run, those of its output among them, and bytes that it says it has allocated."""
    file, log = Path(folder) / "in", Path(folder) / "log"
    file.write_text(words)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [shutil.which(PROGRAM) or PROGRAM, "-in", str(file), "-log", str(log), "-screen", "none"],
        env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, cwd=folder,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = log.read_text()
    if done.returncode:
        raise RuntimeError(f"LAMMPS failed: {told[-500:]} {done.stderr[-500:]}")
    output = sum(  # in seconds of the clock, of which the processor worked a part
        float(seconds) * float(share) / 100.0
        for share, seconds in re.findall(r"([0-9.]+)% CPU use.*?\nOutput *\| *[0-9.e+-]+ *\| *([0-9.e+-]+)", told, re.S)
    )
    memory = [float(size) for size in re.findall(r"memory allocation .*= *([0-9.]+)", told)]
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, output, max(memory, default=0.0) * 2**20


def samples(scene: PlainScene, folder: Path, dt: float) -> tuple[list[State], np.ndarray]:
    """The states, and the forces (n, 3) on the grains of the last."""
    grains, touching = frames(folder / "grains", 11), frames(folder / "touch", 2)
    pushes = columns(folder / "push") if hasattr(scene, "tracer") else {}
    sunk = columns(folder / "sunk") if hasattr(scene, "tracer") else {}
    states, force = [], np.empty((0, 3))
    for step, rows in grains.items():
        if step * dt <= scene.begin + 0.5 * scene.interval:
            continue
        normal, held = np.abs(touching[step]).T
        slides = held >= SLIDES * MU * normal
        state = State(step * dt, rows[:, 2:5], rows[:, 5:8], rows[:, 1], len(normal), int(slides.sum()))
        force = rows[:, 8:11]
        if pushes:
            x, z = pushes[step]  # on the grains
            state.push, state.lid = (-x, -z), scene.words["piston"][0]["point"][2] + sunk[step][0]
        states.append(state)
    return states, force


def frames(path: Path, width: int) -> dict[int, np.ndarray]:
    """Frames of a dump by their step, (rows, width)."""
    found = {}
    for text in path.read_text().split("ITEM: TIMESTEP\n")[1:]:
        step, rest = text.split("\n", 1)
        rows = rest.split("\n", 7)[7] if "BOX BOUNDS" in rest else ""
        found[int(step)] = np.array(rows.split(), dtype=float).reshape(-1, width)
    return found


def columns(path: Path) -> dict[int, list[float]]:
    """What fix ave/time wrote, by step."""
    rows = [line.split() for line in path.read_text().splitlines() if not line.startswith("#")]
    return {int(row[0]): [float(value) for value in row[1:]] for row in rows}


def bytes_per_grain(grains: int) -> float | None:
    """What LAMMPS says it has allocated for the column at its start."""
    if shutil.which(PROGRAM) is None:
        return None
    scene = SettlingColumn(grains, 101)
    with tempfile.TemporaryDirectory() as folder:
        words = script(scene, scene.start(), Path(folder), 1e4, 0.01, 1e-3, 1)
        return execute(words + "run 0\n", folder)[2] / grains
