"""Do accelerated sweeps tell the same physics as the random sweeps of the paper? Histories of both, side by side.

python validation/solver_statistics.py [--dimension 3] [--quick] [--local] [--processes N] [--json FILE]
    [--figures FOLDER] [--closer]

Each history of solver_histories.py is run from the same start by both solvers for several seeds; means come with their
standard error over the seeds. Random sweeps make N_I = (L/d)^2 sweeps a step, accelerated ones as many as their
criterion asks for. With --closer, shear alone: both solvers at several accuracies, to see where their figures go.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import os
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from report import gauge
from solver_histories import HISTORIES, Bed, Tape, at_rest, compression, mobilised, rest, shear

import rigidgrains as rg
from rigidgrains.contacts.problem import ContactProblem
from rigidgrains.detect.candidates import find_candidates
from rigidgrains.simulation import integrate
from rigidgrains.solve.accelerated import AcceleratedSweeps
from rigidgrains.solve.criteria import FixedSweeps, MomentumCriterion, ResidualCriterion
from rigidgrains.solve.sweeps import Sweeps

Array = NDArray[np.float64]

NAMES = ("random", "accelerated")
CLOSER = ("random", "random 3", "random 10", "local", "accelerated", "accelerated 1e-3")
SIZES = {2: (300, 6), 3: (2000, 12)}  # grains and seeds
QUICK = {2: (100, 2), 3: (200, 2)}
GRAINS = {2: "disks", 3: "spheres"}


def main() -> None:
    """Run all histories, print a table, and write figures if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dimension", type=int, choices=(2, 3), default=2, help="disks or spheres")
    parser.add_argument("--quick", action="store_true", help="fewer grains and two seeds, to see that it runs")
    parser.add_argument("--local", action="store_true", help="random sweeps with their own criterion, not (L/d)^2")
    parser.add_argument("--closer", action="store_true", help="shear only, by both solvers at several accuracies")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="runs at a time")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--figures", type=Path, help="draw into this folder")
    asked = parser.parse_args()
    if asked.figures:
        asked.figures.mkdir(parents=True, exist_ok=True)
    grains, seeds = (QUICK if asked.quick else SIZES)[asked.dimension]
    bed = Bed(asked.dimension, grains)
    for name in NAMES:
        compression(Bed(asked.dimension, 100), 0, name, steps=10)  # compile
    if asked.closer:
        go_closer(bed, seeds, asked)
        return
    found: dict[str, Any] = {"dimension": asked.dimension, "grains": grains, "seeds": seeds}
    who = ("local" if asked.local else "random", "accelerated")
    with ProcessPoolExecutor(asked.processes, initializer=rg.set_threads, initargs=(1,)) as pool:
        runs = {
            title: {name: [pool.submit(history, bed, seed, one) for seed in range(seeds)]
                    for name, one in zip(NAMES, who)}
            for title, history in HISTORIES.items()
        }  # fmt: skip
        answers = [pool.submit(indeterminacy, bed, seed) for seed in range(seeds)]
        path = pool.submit(sudden_load, bed)
        for title, tapes in runs.items():
            found[title] = compare({name: [tape.result() for tape in each] for name, each in tapes.items()})
            show(title, found[title])
        found["indeterminacy"] = over_packings([answer.result() for answer in answers])
        found["piston"] = path.result()
    print("\nindeterminacy: one step at rest, solved again and again from cold")
    for key, value in found["indeterminacy"].items():
        print(f"  {key:36s} {value:.4g}")
    print("\nsudden piston load, lengths in dF dt^2/M")
    for name, row in found["piston"].items():
        print(f"  {name:22s} travel {row['travel']:8.4f}  rebound {row['rebound']:8.4f}  CPU {row['seconds']:.2f} s")
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1) + "\n")
    if asked.figures:
        draw(found, asked.figures)


def go_closer(bed: Bed, seeds: int, asked: argparse.Namespace) -> None:
    """Slow shear by each solver at each accuracy: means and standard errors."""
    with ProcessPoolExecutor(asked.processes, initializer=rg.set_threads, initargs=(1,)) as pool:
        runs = {name: [pool.submit(shear, bed, seed, name) for seed in range(seeds)] for name in reversed(CLOSER)}
        tapes = {name: [run.result() for run in runs[name]] for name in CLOSER}
    found = {}
    for name, each in tapes.items():
        figures = {key: gauge([tape.figures[key] for tape in each]) for key in each[0].figures}
        error = float(np.median([e for tape in each for e in tape.errors]))
        found[name] = {"figures": figures, "momentum error": error, "seconds": sum(tape.seconds for tape in each)}
        print(f"\n{name}: momentum error {error:.2g}, CPU {found[name]['seconds']:.0f} s")
        for key, (value, spread) in figures.items():
            print(f"  {key:30s} {value:9.4f} +- {spread:.4f}")
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1) + "\n")
    if asked.figures:
        draw_closer(found, f"{seeds} seeds of {bed.grains} {GRAINS[bed.dimension]}", asked.figures)


def sudden_load(bed: Bed) -> dict[str, dict[str, Any]]:
    """A packing at rest whose load rises by 1 % at once: the path of the piston over 60 steps, in dF dt^2/M."""
    packing, along = at_rest(bed, 0), bed.dimension - 1
    lid = packing.bodies.walls[-1]
    load, mass = lid.load, lid.mass
    for factor in (1.02, 1.0):  # tried beforehand: what is measured is a wave, not a collapse
        lid.load = factor * load
        rest(packing, 40)
    paths = {}
    for title, solve in {
        "random, N_I = 10": Sweeps(criterion=FixedSweeps(10)),
        "random, N_I = (L/d)^2": Sweeps(criterion=FixedSweeps(bed.crossing)),
        "accelerated": AcceleratedSweeps(accuracy="exact", criterion=MomentumCriterion(1e-4)),
    }.items():
        simulation = copy.deepcopy(packing)
        simulation.solver = solve
        simulation.bodies.walls[-1].load = 1.01 * load
        y, begin = [float(simulation.bodies.walls[-1].shape.point[along])], time.process_time()
        for _ in range(60):
            simulation.step()
            y.append(float(simulation.bodies.walls[-1].shape.point[along]))
        path = (np.array(y) - y[0]) * mass / (0.01 * load)
        paths[title] = {"path": path.tolist(), "travel": float(np.abs(path).max()),
                        "rebound": float(path[-1] - path.min()), "seconds": time.process_time() - begin}  # fmt: skip
    return paths


def indeterminacy(bed: Bed, seed: int) -> dict[str, float]:
    """One step at rest, solved from cold with six random orders by each solver to a residual of 1e-6.

    All answers obey all laws; how far they differ, contact by contact, is the freedom the laws leave. Lengths of force
    vectors over the mean normal force. Where too few answers are found there is no word of their spread.
    """
    problem = step_at_rest(bed, seed)
    grains = problem.pairs[:, 1] < bed.grains
    answers, row = [], {}
    for name, solve in zip(NAMES, (Sweeps(max_sweeps=50_000), AcceleratedSweeps(accuracy="exact", max_sweeps=20_000))):
        solve.criterion = ResidualCriterion(1e-6)
        tries = [cold_forces(solve, problem, k) for k in range(6)]
        solved = [forces[grains] for forces, converged in tries if converged]
        row[f"not solved, {name}"] = float(len(tries) - len(solved))
        answers.append(np.array(solved))
    if min(map(len, answers)) < 3:
        return row
    one, two = answers
    mean = float(one[..., 0].mean())
    apart = one.mean(axis=0) - two.mean(axis=0)
    return row | {
        "spread, random": scatter(one) / mean,
        "spread, accelerated": scatter(two) / mean,
        "distance of their means": float(np.sqrt((apart**2).sum(axis=1).mean())) / mean,
        "ratio of summed normal forces": float(two[..., 0].mean()) / mean,
        "mobilised, random": float(np.mean([mobilised(forces) for forces in one])),
        "mobilised, accelerated": float(np.mean([mobilised(forces) for forces in two])),
    }


def over_packings(rows: list[dict[str, float]]) -> dict[str, float]:
    """Means over the packings that have enough answers; sums of what was not solved in so many sweeps."""
    whole = [row for row in rows if "spread, random" in row]
    return {
        "packings": len(whole),
        **{key: float(np.mean([row[key] for row in whole])) for key in (whole[0] if whole else ()) if "not" not in key},
        "not solved in 50,000 random sweeps": sum(row["not solved, random"] for row in rows),
        "not solved in 20,000 accelerated": sum(row["not solved, accelerated"] for row in rows),
    }


def step_at_rest(bed: Bed, seed: int) -> ContactProblem:
    """The contact problem of the next step of a packing at rest."""
    packing = at_rest(bed, seed)
    bodies = packing.bodies
    integrate.free_velocity(bodies, packing.time, packing.dt)
    packing.neighbours.refresh(bodies, packing.dt)
    candidates = find_candidates(bodies, packing.neighbours, packing.dt)
    packing.contacts.gather(bodies, packing.neighbours, candidates, packing.dt, gap="g_pos")
    return packing.contacts.problem(bodies, packing.dt)


def cold_forces(solve: Sweeps, problem: ContactProblem, seed: int) -> tuple[Array, bool]:
    """(c, 4) the forces found from none, and whether they solve the step."""
    trial = copy.deepcopy(problem)
    trial.forces[:] = 0.0
    report = solve.solve(trial, np.random.default_rng(seed))
    return trial.forces, report.converged


def scatter(answers: Array) -> float:
    """Root mean square over contacts of the spread of |R| between answers (answer, contact, 4)."""
    return float(np.sqrt(answers.var(axis=0, ddof=1).sum(axis=1).mean()))


# Comparison and pictures


def compare(tapes: dict[str, list[Tape]]) -> dict[str, Any]:
    """Mean and standard error of each figure for both solvers; the ratio of CPU times."""
    rows = {}
    for key in tapes["random"][0].figures:
        values = {name: np.array([tape.figures[key] for tape in tapes[name]]) for name in NAMES}
        row: dict[str, float] = {}
        for name in NAMES:
            row[name] = float(values[name].mean())
            row[f"{name} error"] = float(values[name].std(ddof=1) / math.sqrt(len(values[name])))
        apart = row["accelerated"] - row["random"]
        row["sigmas"] = apart / max(math.hypot(row["random error"], row["accelerated error"]), 1e-15)
        rows[key] = row
    cpu = {name: sum(tape.seconds for tape in tapes[name]) for name in NAMES}
    return {
        "figures": rows,
        "cpu seconds": cpu,
        "cpu ratio": cpu["random"] / cpu["accelerated"],
        "sweeps": {name: sum(tape.sweeps for tape in tapes[name]) for name in NAMES},
        "momentum error": {name: float(np.median([e for tape in tapes[name] for e in tape.errors])) for name in NAMES},
        "unconverged": sum(tape.unconverged for tape in tapes["accelerated"]),
    }


def show(title: str, found: dict[str, Any]) -> None:
    cpu, error = found["cpu seconds"], found["momentum error"]
    print(f"\n{title}: CPU {cpu['random']:.1f} s and {cpu['accelerated']:.1f} s, ratio {found['cpu ratio']:.1f}; "
          f"median momentum error {error['random']:.2g} and {error['accelerated']:.2g}; "
          f"{found['unconverged']} accelerated steps not converged")  # fmt: skip
    for key, row in found["figures"].items():
        print(f"  {key:44s} {row['random']:9.4f} +- {row['random error']:.4f}   "
              f"{row['accelerated']:9.4f} +- {row['accelerated error']:.4f}   {row['sigmas']:+.1f} sigma")  # fmt: skip


def draw(found: dict[str, Any], folder: Path) -> None:
    """The piston's path, and the difference of every figure between the solvers."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    kind, end = GRAINS[found["dimension"]], "" if found["dimension"] == 2 else "-3d"
    plt.rcParams.update({"font.size": 13, "axes.spines.top": False, "axes.spines.right": False})
    colours, words = ("#c0392b", "#2e8b57", "#1f5fa8"), ("random, 10 sweeps", "random, $(L/d)^2$ sweeps", "accelerated")
    figure, axes = plt.subplots(figsize=(9.0, 5.0), layout="constrained")
    for row, word, colour in zip(found["piston"].values(), words, colours):
        axes.plot(row["path"], color=colour, lw=2.4, label=f"{word}: {row['seconds']:.2f} s")
    axes.set(xlabel="time steps after the load rose by 1 %", ylabel=r"path of the piston / $(\Delta F\,\Delta t^2/M)$")
    axes.set_title("A sudden load: rigid grains do not swing", loc="left")
    axes.legend(frameon=False, title="CPU time of these 60 steps", alignment="left", loc="center right",
                bbox_to_anchor=(1.0, 0.8))  # fmt: skip
    figure.savefig(folder / f"solvers-piston{end}.png", dpi=150)
    titles = ("compression", "shear", "avalanche")
    most = max(abs(row["sigmas"]) for title in titles for row in found[title]["figures"].values())
    figure, panels = plt.subplots(1, 3, figsize=(16.0, 5.2), layout="constrained")
    for axes, title, colour in zip(panels, titles, ("#1f5fa8", "#c0392b", "#2e8b57")):
        rows = found[title]["figures"]
        axes.axvspan(-2.0, 2.0, color="0.93", zorder=0)
        axes.axvline(0.0, color="0.6", lw=1.0, zorder=1)
        for place, row in enumerate(rows.values()):
            axes.errorbar(row["sigmas"], -place, xerr=1.0, fmt="o", ms=8, color=colour, capsize=4, lw=2.0)
        axes.set_yticks([-k for k in range(len(rows))], [_label(key) for key in rows])
        axes.set(xlim=(-max(4.0, most + 1.5), max(4.0, most + 1.5)), xlabel="difference / standard error")
        axes.set_title(f"{title}, {1.0 / found[title]['cpu ratio']:.2f} of the CPU time", loc="right")
    figure.suptitle(f"Accelerated minus random sweeps: {found['seeds']} seeds of {found['grains']} {kind}", fontsize=16)
    figure.savefig(folder / f"solvers-statistics{end}.png", dpi=150)


def draw_closer(found: dict[str, Any], of: str, folder: Path) -> None:
    """Where the figures go as the solvers become more accurate."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"font.size": 13, "axes.spines.top": False, "axes.spines.right": False})
    most = found["accelerated"]["seconds"]
    figure, panels = plt.subplots(1, 2, figsize=(13.0, 5.2), layout="constrained")
    for axes, key in zip(panels, ("coordination number", "sliding fraction")):
        for method, colour, words in (
            ("random", "#c0392b", r"random, $(L/d)^2$ sweeps, $\times$3, $\times$10"),
            ("local", "#e08a1e", "random, local criterion of 1e-3"),
            ("accelerated", "#1f5fa8", "accelerated, to 1e-2 and 1e-3"),
        ):
            rows = [row for name, row in found.items() if name.split()[0] == method]
            x, y = [row["momentum error"] for row in rows], [row["figures"][key][0] for row in rows]
            spread = [row["figures"][key][1] for row in rows]
            axes.errorbar(x, y, yerr=spread, fmt="o-", ms=8, lw=2.0, capsize=4, color=colour, label=words)
            above = (method == "accelerated") == (key == "sliding fraction")
            for row, here, there in zip(rows, x, y):
                axes.annotate(f"{row['seconds'] / most:.1f}", (here, there), (8, 8 if above else -18),
                              textcoords="offset points", color=colour)  # fmt: skip
        axes.set(xscale="log", xlabel="median momentum error of a step", title=key, xlim=(0.12, 5e-4))
    panels[0].legend(frameon=False, loc="upper right")
    figure.suptitle(f"Slow shear, {of}; numbers: CPU time over that of accelerated sweeps", fontsize=15)
    figure.savefig(folder / "solvers-closer.png", dpi=150)


def _label(key: str) -> str:
    """The name of a figure as it is drawn."""
    for power in "23":
        key = key.replace(f"force distribution <f^{power}>", rf"$\langle f^{power}\rangle$ of forces")
    return key


if __name__ == "__main__":
    main()
