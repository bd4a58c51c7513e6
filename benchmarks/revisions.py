"""Is this revision slower than another? `python benchmarks/revisions.py BEFORE [--pairs 30] [--grains 10000]`

BEFORE is a folder with another revision, a git worktree for instance. One process for each revision holds the same
contact problems; the two are timed in turn, pair after pair, so that a machine whose speed changes is fair to both.
Where tables come to lie in memory is luck, by a tenth and more, and stays as it is in a process: so processes are
started anew several times. Per kind of contact and order: million contact updates per second of both, and the median of
the ratios with its quartiles.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
KINDS, ORDERS = ("friction", "cell", "torque"), ("coloured", "ordered", "random")

WORKER = """
import sys, time
import numpy as np
from dataclasses import replace
from rigidgrains.app.bench import dense_problem
from rigidgrains.solve.orders import ORDERS
from rigidgrains.runtime.threads import only

made = {}

def problem(kind, order, grains):
    _, p = dense_problem(grains, coloured=order == "coloured")
    p = replace(p, forces=p.forces.copy(), motion=p.motion.copy())
    if kind == "cell":
        rate = np.zeros((3, 8))
        rate[0, 1] = 0.1
        p = replace(p, branch=np.column_stack([np.full(p.count, 1.7), np.zeros(p.count)]), flow=rate)
    elif kind == "torque":
        extra = np.zeros((p.count, 14))
        extra[:, 3:8] = 0.5, 0.5, 0.5, 0.05, 0.02
        p = replace(p, extra=extra, forces=np.zeros((p.count, 7)))
    return p

with only(1):
    for line in sys.stdin:
        kind, order, grains, repeats = line.split()
        key = kind, order, grains
        if key not in made:
            p, sweep, rng = problem(kind, order, int(grains)), ORDERS[order](), np.random.default_rng(0)
            sweep.begin(p)
            sweep.sweep(p, rng)
            made[key] = p, sweep, rng
        p, sweep, rng = made[key]
        begun = time.process_time()
        for _ in range(int(repeats)):
            sweep.sweep(p, rng)
        print(p.count * int(repeats) / (time.process_time() - begun), flush=True)
"""


def start(folder: Path) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": str(folder.resolve() / "src")}
    return subprocess.Popen(
        [sys.executable, "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )


def ask(worker: subprocess.Popen[str], kind: str, order: str, grains: int, repeats: int) -> float:
    assert worker.stdin is not None
    assert worker.stdout is not None
    print(kind, order, grains, repeats, file=worker.stdin, flush=True)
    return float(worker.stdout.readline())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--starts", type=int, default=10, help="pairs of processes that share the pairs of runs")
    parser.add_argument("--grains", type=int, default=10_000)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--orders", default=",".join(ORDERS))
    asked = parser.parse_args()
    each = -(-asked.pairs // asked.starts)
    rates: dict[tuple[str, str], list[list[float]]] = {}
    for number in range(asked.starts):
        workers = start(asked.before), start(ROOT)
        for kind in asked.kinds.split(","):
            for order in asked.orders.split(","):
                rates.setdefault((kind, order), []).extend(timed(workers, kind, order, asked.grains, each, number))
        for worker in workers:
            worker.communicate()
    print(f"{'kind':10s}{'order':10s}{'before':>8s}{'now':>8s}   now over before (median of {asked.pairs}, quartiles)")
    for (kind, order), pairs in rates.items():
        found = np.array(pairs)
        low, middle, high = np.percentile(found[:, 1] / found[:, 0], (25, 50, 75))
        before, now = np.median(found, axis=0) / 1e6
        print(f"{kind:10s}{order:10s}{before:8.1f}{now:8.1f}   {middle:.3f} ({low:.3f} to {high:.3f})", flush=True)


def timed(
    workers: tuple[subprocess.Popen[str], ...], kind: str, order: str, grains: int, pairs: int, first: int
) -> list[list[float]]:
    """Updates a second before and now, pair after pair; who goes first changes."""
    what = kind, order, grains
    repeats = max(1, int(0.05 * ask(workers[0], *what, 1) / (3 * grains)))
    ask(workers[1], *what, repeats)
    found = []
    for k in range(first, first + pairs):
        turn = workers if k % 2 else workers[::-1]
        rates = [ask(worker, *what, repeats) for worker in turn]
        found.append(rates if k % 2 else rates[::-1])
    return found


if __name__ == "__main__":
    main()
