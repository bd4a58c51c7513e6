"""Time to a residual of 1e-4 and 1e-6 against Siconos' NSGS, on the same packing in the same run, one core each.

    .venv/bin/python benchmarks/peers/siconos_fclib.py [--json]

Packings of about 2800 contacts with mu = 0.3, made by the engine and solved from zero forces: dense spheres that have
come to rest under a piston, and the squeezed lattice of `rigidgrains bench`. The residual is FCLIB's natural map over
|q|, for both in the same units, with W divided by its mean W_nn and q by its mean square. Siconos comes from Debian
(`apt-get install python3-siconos`), runs in the system's own Python with each one-contact solver named below, and its
fastest run counts; it is stopped after 100 times our time. Seconds are those of the processor on both sides; of ours
the median of five runs counts. Without it this script says so. Exit code 1 if a bar is missed. It takes some ten
minutes.
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

from rigidgrains.app.bench import dense_problem
from rigidgrains.contacts.problem import ContactProblem
from rigidgrains.fclib import impulses, local_problem
from rigidgrains.solve.accelerated import AcceleratedSweeps
from rigidgrains.solve.criteria import FixedSweeps
from rigidgrains.solve.matrix.general import BlockRows
from rigidgrains.solve.matrix.sweeps import residuals

sys.path.insert(0, str(Path(__file__).parents[1] / "solvers"))

from problems import clone, settled

TOLERANCES = (1e-4, 1e-6)
LOCALS = ("NSN", "QUARTIC_NU")
BAR = 50.0
REPEATS = 5
MOST = 20_000  # sweeps
PATIENCE = 100.0  # times our time


def main(as_json: bool) -> bool:
    """All packings; whether every bar is met."""
    packings = {f"settled, packing {seed}": clone(settled(930, 0.3, seed), cold=True) for seed in range(2)}
    packings["lattice"] = dense_problem(1190)[1]
    records = {}
    for name, problem in packings.items():
        records[name] = compare(problem)
        if not as_json:
            tell(name, records[name])
    if as_json:
        print(json.dumps(records))
    present = [record for record in records.values() if any("reached" in peer for peer in record["siconos"])]
    return all(record["ratio"].get(f"{tolerance:g}", 0.0) >= BAR for record in present for tolerance in TOLERANCES)


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
        reached = [peer["reached"][key] for peer in peers if key in peer.get("reached", {})]
        if reached and one["converged"]:  # what the peer did not reach counts with the time that it spent
            ratio[key] = min(other["seconds"] for other in reached) / one["seconds"]
    return {"contacts": problem.count, "rigidgrains": ours, "siconos": peers, "ratio": ratio}


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
    rows = [("rigidgrains, accelerated sweeps", record["rigidgrains"])]
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
        known = any(peer["reached"].get(key, {}).get("converged") for peer in record["siconos"])
        print(f"  siconos over rigidgrains, residual {key}: {'' if known else 'more than '}{ratio:.0f} (bar {BAR:.0f})")
    for key in record["rigidgrains"].keys() - record["ratio"].keys():
        print(f"  residual {key}: no ratio")


if __name__ == "__main__":
    sys.exit(not main("--json" in sys.argv))
