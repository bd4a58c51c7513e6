"""Contact updates per second against Siconos' NSGS solver, on the same packing in the same run, one core each.

    .venv/bin/python benchmarks/peers/siconos_nsgs.py [GRAINS] [--json]

Siconos comes from Debian (`apt-get install python3-siconos`) and runs in the system's own Python; without it this
script says so. The packing is the one of `rigidgrains bench`. Siconos is measured by `siconos_worker.py` with each of
its one-contact solvers; the ratio is taken against the fastest that satisfies Coulomb's law.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.update(NUMBA_NUM_THREADS="1", OMP_NUM_THREADS="1", RIGIDGRAINS_THREADS="1")

import numpy as np

from rigidgrains.app.bench import dense_problem, sweep_seconds
from rigidgrains.contacts.problem import ContactProblem

SWEEPS = 50


def main(grains: int, as_json: bool) -> None:
    """Measure us, then the peer, then us again; take the better of ours and print the ratios."""
    _, problem = dense_problem(grains)
    with tempfile.TemporaryDirectory() as folder:
        packing = Path(folder) / "packing.npz"
        export(problem, packing)
        ours = our_rates(grains)
        peer = run_peer(packing)
    record = {"grains": grains, "contacts": problem.count, "rigidgrains": ours, "siconos": peer}
    if "best" in peer:
        record["ratio"] = {order: rate / peer["best"] for order, rate in ours.items()}
    if as_json:
        print(json.dumps(record))
        return
    print(f"{problem.count:,} contacts of {grains:,} spheres, one core, million contact updates per second")
    for order, rate in ours.items():
        print(f"  rigidgrains, {order:<37} {rate / 1e6:6.1f}")
    if "absent" in peer:
        print(f"  siconos is absent: {peer['absent']}; on Debian: apt-get install python3-siconos")
        return
    for name, rate in sorted(peer["updates_per_second"].items(), key=lambda item: -item[1]):
        note = "" if peer["residual"][name] < 2.0 * min(peer["residual"].values()) else "  (does not converge)"
        print(f"  siconos {peer['version']}, {name:<35} {rate / 1e6:6.1f}{note}")
    print("  ratio to its best: " + ", ".join(f"{ratio:.1f} {order}" for order, ratio in record["ratio"].items()))


def our_rates(grains: int) -> dict[str, float]:
    """Updates per second of each order, on the packing with rows as that order likes them."""
    rates = {}
    for order in ("coloured", "ordered", "random"):
        _, problem = dense_problem(grains, coloured=order == "coloured")
        rates[order] = problem.count / sweep_seconds(problem, order, 20)
    return rates


def export(problem: ContactProblem, path: Path) -> None:
    """What the peer needs: geometry, masses and free velocities."""
    np.savez(
        path,
        pairs=problem.pairs,
        normal=problem.geometry[:, 0:3],
        gap_over_dt=problem.geometry[:, 3] / problem.dt,
        mu=problem.geometry[:, 6],
        inverse_mass=problem.motion[:, 6],
        inverse_spin=problem.motion[:, 7],
        velocity=problem.motion[:, 0:3],
        surface_spin=problem.motion[:, 3:6],
        dt=problem.dt,
        sweeps=SWEEPS,
    )


def run_peer(packing: Path) -> dict:
    """The worker in the first Python that has Siconos."""
    worker = Path(__file__).with_name("siconos_worker.py")
    answer = {"absent": "no python3 found"}
    for python in dict.fromkeys(filter(None, (shutil.which("python3", path="/usr/bin"), shutil.which("python3")))):
        done = subprocess.run([python, worker, packing], capture_output=True, text=True)
        if done.returncode:
            answer = {"absent": done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "the worker failed"}
            continue
        answer = json.loads(done.stdout)
        if "absent" not in answer:
            break
    return answer


if __name__ == "__main__":
    numbers = [word for word in sys.argv[1:] if not word.startswith("-")]
    main(int(float(numbers[0])) if numbers else 10_000, "--json" in sys.argv)
