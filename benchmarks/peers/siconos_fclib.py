"""Time to a residual of 1e-4 and 1e-6 against Siconos' NSGS, on the same packing in the same run, one core each.

    .venv/bin/python benchmarks/peers/siconos_fclib.py [--json]

Packings of about 2800 contacts, solved from zero forces: the squeezed lattice of `rigidgrains bench`, and spheres
pressed by a piston, with several frictions, whose forces must find their way through. The residual is FCLIB's natural
map over |q|, for both in the same units, with W divided by its mean W_nn and q by its mean square. Siconos comes from
Debian (`apt-get install python3-siconos`), runs in the system's own Python with each one-contact solver named below,
and its fastest run counts; it is stopped after 60 times our time. Seconds are those of the processor on both sides; of
ours the median of five runs counts. Its solvers are not made for mu = 0. Without it this script says so. Exit code 1 if
a bar is missed.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.update(NUMBA_NUM_THREADS="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import time

import numpy as np

import rigidgrains
from rigidgrains import integrate
from rigidgrains.bench import dense_problem
from rigidgrains.contacts import ContactProblem
from rigidgrains.fclib import impulses, local_problem, solve_problem
from rigidgrains.fclib.sweeps import residuals
from rigidgrains.solve.accelerated import AcceleratedSweeps
from rigidgrains.solve.criteria import FixedSweeps
from rigidgrains.solve.general import BlockRows

TOLERANCES = (1e-4, 1e-6)
LOCALS = ("NSN", "QUARTIC_NU")
BAR = 50.0
REPEATS = 5
MOST = 4_000  # sweeps
PATIENCE = 60.0  # times our time


def main(as_json: bool) -> bool:
    """All packings; whether every bar is met."""
    packings = {"lattice, mu = 0.3": dense_problem(1190)[1]}
    packings |= {f"pressed, mu = {mu}": pressed_problem(mu) for mu in (0.05, 0.1, 0.3)}
    records = {}
    for name, problem in packings.items():
        records[name] = compare(problem)
        if not as_json:
            tell(name, records[name])
    if as_json:
        print(json.dumps(records))
    return all(ratio >= BAR for record in records.values() for ratio in record["ratio"].values())


def pressed_problem(mu: float) -> ContactProblem:
    """The next step of 1150 spheres in a box under a piston, after 0.15 s of compression without gravity."""
    side = 0.02
    scene = rigidgrains.Scene(dimension=3, gravity=(0, 0, 0), friction=mu)
    scene.add_grains(
        count=1150, radius=(0.9e-3, 1.1e-3), density=2500, region=((0, 0, 0), (side, side, 1.9 * side)), seed=1
    )
    for axis in range(3):
        normal = np.eye(3)[axis]
        scene.add_plane(f"lower {'xyz'[axis]}", point=(0, 0, 0), normal=tuple(normal))
        if axis < 2:
            scene.add_plane(f"upper {'xyz'[axis]}", point=tuple(side * normal), normal=tuple(-normal))
    scene.add_piston("lid", point=(0, 0, 2 * side), normal=(0, 0, -1), mass=0.02, load=1.0)
    solver = rigidgrains.Sweeps(order="symmetric", criterion=FixedSweeps(50))
    simulation = rigidgrains.Simulation(scene, dt=1e-4, solver=solver)
    simulation.run(steps=1500)
    bodies, contacts, dt = simulation.bodies, simulation.contacts, simulation.dt
    integrate.free_velocity(bodies, simulation.time, dt)
    simulation.neighbours.refresh(bodies, dt)
    contacts.gather(bodies, simulation.neighbours, dt, gap="g_pos")
    return contacts.problem(bodies, dt)


def compare(problem: ContactProblem) -> dict:
    """Measure us, the peer and us again on one problem."""
    with tempfile.TemporaryDirectory() as folder:
        packing = Path(folder) / "packing.npz"
        export(problem, packing)
        first = measure(problem)
        patience = [PATIENCE * one["seconds"] for one in first.values()]
        peers = [run_peer(packing, local, patience) for local in LOCALS]
        again = measure(problem)
    ours = {key: min(first[key], again[key], key=lambda one: one["seconds"]) for key in first}
    ratio = {}
    for key, one in ours.items():
        reached = [peer["reached"][key] for peer in peers if "reached" in peer]
        if reached and one["converged"]:  # what the peer did not reach counts with the time that it spent
            ratio[key] = min(other["seconds"] for other in reached) / one["seconds"]
    return {"contacts": problem.count, "rigidgrains": ours, "blocks": blocks(problem), "siconos": peers, "ratio": ratio}


def export(problem: ContactProblem, path: Path) -> None:
    """What the peer needs, scaled to order one because the tolerances of its one-contact solvers are absolute."""
    stated = local_problem(problem, dimension=3)
    rows = BlockRows.of(stated.W, stated.q, stated.mu, 3)
    block, q = rows.block / rows.own[:, 0].mean(), rows.q / np.sqrt(np.mean(rows.q**2))
    np.savez(path, start=rows.start, column=rows.column, block=block, q=q, mu=rows.mu)


def measure(problem: ContactProblem) -> dict:
    """Accelerated sweeps of the engine: the fewest sweeps that reach each residual, and the median time for as many."""
    stated = local_problem(problem)
    rows = BlockRows.of(stated.W, stated.q, stated.mu, 3)
    free = problem.motion.copy()

    def solve(sweeps: int) -> tuple[float, float]:
        problem.motion[:], problem.forces[:] = free, 0.0
        solver = AcceleratedSweeps(order="coloured", criterion=FixedSweeps(sweeps))
        start = time.process_time()
        solver.solve(problem, np.random.default_rng(0))
        seconds = time.process_time() - start
        residual = residuals(rows, impulses(problem, 3))[1]
        return seconds, residual

    reached, sweeps = {}, 10
    for tolerance in TOLERANCES:
        while solve(sweeps)[1] > tolerance and sweeps < MOST:
            sweeps += max(5, sweeps // 20)
        seconds, residual = sorted(solve(sweeps) for _ in range(REPEATS))[REPEATS // 2]
        reached[f"{tolerance:g}"] = {
            "seconds": seconds, "sweeps": sweeps, "residual": residual, "converged": residual <= tolerance
        }  # fmt: skip
    problem.motion[:], problem.forces[:] = free, 0.0
    return reached


def blocks(problem: ContactProblem) -> dict:
    """The same by accelerated sweeps over the blocks of W, as `rigidgrains solve` does."""
    stated = local_problem(problem)
    found = {tolerance: solve_problem(stated, solver="accelerated", tolerance=tolerance) for tolerance in TOLERANCES}
    return {
        f"{tolerance:g}": {
            "seconds": one.seconds, "sweeps": one.iterations,
            "residual": one.scaled_residual, "converged": one.converged,
        }
        for tolerance, one in found.items()
    }  # fmt: skip


def run_peer(packing: Path, local: str, seconds: list[float]) -> dict:
    """The worker in the first Python that has Siconos."""
    worker = Path(__file__).with_name("siconos_fclib_worker.py")
    arrays = dict(np.load(packing)) | {"tolerances": np.array(TOLERANCES), "seconds": seconds, "local": local}
    np.savez(packing, **arrays)
    answer = {"absent": "no python3 found"}
    for python in dict.fromkeys(filter(None, (shutil.which("python3", path="/usr/bin"), shutil.which("python3")))):
        done = subprocess.run([python, worker, packing], capture_output=True, text=True)
        try:
            answer = json.loads(done.stdout.strip().splitlines()[-1])
        except (ValueError, IndexError):
            answer = {"absent": (done.stderr.strip() or "the worker failed").splitlines()[-1]}
        if "absent" not in answer:
            break
    return answer


def tell(name: str, record: dict) -> None:
    """Times and ratios in words."""
    print(f"{name}: {record['contacts']:,} contacts, from zero forces, one core")
    rows = [("rigidgrains, accelerated sweeps", record["rigidgrains"]), ("rigidgrains, blocks of W", record["blocks"])]
    for peer in record["siconos"]:
        if "absent" in peer:
            print(f"  siconos is absent: {peer['absent']}; on Debian: apt-get install python3-siconos")
            break
        rows.append((f"siconos {peer['version']}, {peer['local']}", peer["reached"]))
    for who, reached in rows:
        for key, one in reached.items():
            figures = f"{one['seconds']:8.4f} s, {one['sweeps']:6d} sweeps, residual {one['residual']:.1e}"
            print(f"  {who:<34} to {key:<7} {figures}{'' if one['converged'] else '  (not reached)'}")
    for key, ratio in record["ratio"].items():
        known = any(peer["reached"][key]["converged"] for peer in record["siconos"])
        print(f"  siconos over rigidgrains, residual {key}: {'' if known else 'more than '}{ratio:.0f} (bar {BAR:.0f})")
    for key in record["rigidgrains"].keys() - record["ratio"].keys():
        print(f"  residual {key}: no ratio")


if __name__ == "__main__":
    sys.exit(not main("--json" in sys.argv))
