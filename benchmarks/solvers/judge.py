"""Judge accelerated sweeps by frozen test problems: sweeps to a criterion, class by class.

python benchmarks/solvers/judge.py [--set judging] [--orders 8] [--first 0] [--json FILE] [--against FILE]
                                   [--only TEXT ...] [--rule KEY=VALUE ...]
python benchmarks/solvers/judge.py --read FILE --against FILE

A run is one problem in one random order of colours. It may take 5000 sweeps, and counts as many if they are not
enough; there is no fallback solver. With --against: the ratio of the geometric means, and of the sums, to those of an
earlier run; +- is the standard error over packings (jackknife: all steps and orders of a seed are left out at a time),
`order` the standard deviation of the ratio by the orders of colours alone. --rule changes constants of `restarts.Rule`,
for the choosing set only.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from frozen import SETS, Frozen, load

from rigidgrains.solve.accelerated import AcceleratedSweeps
from rigidgrains.solve.criteria import Criterion, MomentumCriterion, ResidualCriterion
from rigidgrains.solve.extrapolated import Extrapolated

MOST = 5000
Runs = dict[str, list[Any]]  # of a class: kind, seed, step, order, sweeps, whether it was solved, CPU s


class Class(NamedTuple):
    """What is asked of some of the problems.

    cold : without the forces that were carried over
    """

    kinds: tuple[str, ...]
    criterion: Criterion
    cold: bool = False
    chosen: Callable[[Frozen], bool] = lambda _: True


PERCENT, TIGHT = MomentumCriterion(), ResidualCriterion(1e-5)
FLOWS = 600  # step by which a biaxial test flows
OPENS = 667  # step in which the gate opens; before that all is at rest
CLASSES = {
    "static 2D 250, 1 %": Class(("static 2D 250",), PERCENT, cold=True),
    "static 2D 1000, 1 %": Class(("static 2D 1000",), PERCENT, cold=True),
    "static 3D 250, 1 %": Class(("static 3D 250",), PERCENT, cold=True),
    "static 3D 1000 to 4000, 1 %": Class(("static 3D 1000", "static 3D 4000"), PERCENT, cold=True),
    "static 2D, 1e-5": Class(("static 2D 250", "static 2D 1000"), TIGHT, cold=True),
    "static 3D, 1e-5": Class(("static 3D 250", "static 3D 1000"), TIGHT, cold=True),
    "shear 2D warm, 1e-5": Class(("shear 2D",), TIGHT),
    "shear 2D cold, 1e-5": Class(("shear 2D",), TIGHT, cold=True),
    "shear 3D warm, 1e-5": Class(("shear 3D",), TIGHT),
    "shear 3D cold, 1e-5": Class(("shear 3D",), TIGHT, cold=True),
    "walls of friction 5": Class(("rough walls",), PERCENT),
    "walls of friction 5, 1e-5": Class(("rough walls",), TIGHT),
    "biaxial, at first": Class(("biaxial",), PERCENT, chosen=lambda f: f.step < FLOWS),
    "biaxial flow": Class(("biaxial",), PERCENT, chosen=lambda f: f.step >= FLOWS),
    "drum": Class(("drum",), PERCENT),
    "pour": Class(("pour",), PERCENT),
    "piston": Class(("piston",), PERCENT),
    "collapse, before": Class(("collapse",), PERCENT, chosen=lambda f: f.step < OPENS),
    "collapse": Class(("collapse",), PERCENT, chosen=lambda f: f.step > OPENS),
    "silo": Class(("silo",), PERCENT),
    "piston of 1e3 grains": Class(("heavy 1e3",), PERCENT),
    "piston of 1e5 grains": Class(("heavy 1e5",), PERCENT),
    "wedge": Class(("wedge",), PERCENT),
}


def main() -> None:
    """Solve a set, or read what was found, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=SETS, default="judging")
    parser.add_argument("--orders", type=int, default=8, help="random orders of colours for each problem")
    parser.add_argument("--first", type=int, default=0, help="seed of the first order: other ones show the noise")
    parser.add_argument("--only", nargs="*", default=[""], metavar="TEXT", help="of the names of classes")
    parser.add_argument("--rule", nargs="*", default=[], metavar="KEY=VALUE")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--read", type=Path)
    parser.add_argument("--against", type=Path)
    asked = parser.parse_args()
    if asked.rule:
        changes = (change.split("=") for change in asked.rule)
        Extrapolated.rule = Extrapolated.rule._replace(**{key: float(value) for key, value in changes})
    orders = range(asked.first, asked.first + asked.orders)
    found = json.loads(asked.read.read_text()) if asked.read else solved(asked.set, orders, asked.only)
    if asked.json:
        asked.json.write_text(json.dumps(found) + "\n")
    other = json.loads(asked.against.read_text()) if asked.against else None
    if other is not None and other["set"] != found["set"]:
        raise SystemExit(f"{asked.against} is about the {other['set']} set; give one about {found['set']}")
    print_table(found["runs"], None if other is None else other["runs"])


def solved(name: str, orders: range, only: list[str]) -> dict[str, Any]:
    """All runs of the classes, by name."""
    problems, runs = load(name), {}
    for what in CLASSES.values():
        solve_once(next(f for f in problems if f.kind in what.kinds), what, 0)  # compiled
    for title, what in CLASSES.items():
        if not any(text in title for text in only):
            continue
        runs[title] = []
        for frozen in (f for f in problems if f.kind in what.kinds and what.chosen(f)):
            for k, order in enumerate(orders):
                runs[title].append([frozen.kind, frozen.seed, frozen.step, k, *solve_once(frozen, what, order)])
    return {"set": name, "runs": runs}


def solve_once(frozen: Frozen, what: Class, order: int) -> tuple[int, bool, float]:
    """Sweeps, whether they were enough, and CPU seconds of one run."""
    solver = AcceleratedSweeps(criterion=what.criterion, max_sweeps=MOST, fallback=0)
    problem, begin = frozen.fresh(cold=what.cold), time.process_time()
    report = solver.solve(problem, np.random.default_rng(order))
    return report.sweeps if report.converged else MOST, bool(report.converged), time.process_time() - begin


def print_table(runs: Runs, others: Runs | None) -> None:
    """A row for each class, and one for the mean of all classes."""
    titles = [title for title in runs if others is None or title in others]
    if others is None:
        print(f"{'class':28} {'runs':>5} {'mean':>7} {'most':>5} {'unsolved':>8} {'CPU s':>6}")
        for title in titles:
            sweeps, unsolved, seconds = columns(runs[title])
            mean = math.exp(np.log(sweeps).mean())
            print(f"{title:28} {len(sweeps):5} {mean:7.1f} {max(sweeps):5.0f} {unsolved:8} {sum(seconds):6.1f}")
        return
    print(f"{'class':28} {'runs':>5} {'before':>7} {'now':>7} {'most':>11} {'unsolved':>9}  ratio    +-  order   sums")
    every = []
    for title in titles:
        ours, theirs = runs[title], others[title]
        if [run[:4] for run in ours] != [run[:4] for run in theirs]:
            raise SystemExit(f"{title}: not the same runs; give both the same --set and --orders")
        (a, bad_a, _), (b, bad_b, _) = columns(ours), columns(theirs)
        ratio, error, order = compared(ours, theirs)
        every.append((math.log(ratio), error, order, bad_a, bad_b))
        means = f"{math.exp(np.log(b).mean()):7.1f} {math.exp(np.log(a).mean()):7.1f} {max(b):5.0f} {max(a):5.0f}"
        ratios = f"{ratio:5.3f} {error:5.3f}  {order:5.3f}  {a.sum() / b.sum():5.3f}"
        print(f"{title:28} {len(a):5} {means} {bad_b:4} {bad_a:4}  {ratios}")
    logs, errors, orders, bad_a, bad_b = np.array(every).T
    whole, n = math.exp(logs.mean()), len(every)
    print(f"{'mean of classes':28} {'':33} {bad_b.sum():4.0f} {bad_a.sum():4.0f}  {whole:5.3f}"
          f" {np.sqrt((errors**2).sum()) / n:5.3f}  {np.sqrt((orders**2).sum()) / n:5.3f}")  # fmt: skip


def columns(runs: list[Any]) -> tuple[Any, int, list[float]]:
    """Sweeps, the number of unsolved runs, and CPU seconds."""
    return np.array([run[4] for run in runs], float), sum(not run[5] for run in runs), [run[6] for run in runs]


def compared(ours: list[Any], theirs: list[Any]) -> tuple[float, float, float]:
    """The ratio of the geometric means, its standard error over packings, and what orders alone do to it."""
    difference = np.log([run[4] for run in ours]) - np.log([run[4] for run in theirs])
    packing = np.array([f"{run[0]} {run[1]}" for run in ours])
    names = np.unique(packing)
    without = np.array([difference[packing != name].mean() for name in names]) if len(names) > 1 else np.full(1, np.nan)
    n, ratio = len(without), math.exp(difference.mean())
    error = math.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
    variance = sum(spread(runs) for runs in (ours, theirs))
    return ratio, ratio * error, ratio * math.sqrt(variance)


def spread(runs: list[Any]) -> float:
    """The variance of the mean of log(sweeps), by orders alone."""
    each: dict[tuple[Any, ...], list[float]] = {}
    for run in runs:
        each.setdefault(tuple(run[:3]), []).append(math.log(run[4]))
    return sum(np.var(some, ddof=1) / len(some) for some in each.values() if len(some) > 1) / len(each) ** 2


if __name__ == "__main__":
    main()
