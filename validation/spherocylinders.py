"""Random packings of rods with round ends: where is the packing fraction largest?

python validation/spherocylinders.py [--grains 200] [--seeds 4] [--quick] [--processes N] [--runs FILE] [--figure FILE]

Rods of length L between the centres of their ends and of diameter D, without friction and at random in a periodic
cube, grow by small steps until they jam. In each step of growth the contacts push them apart, again and again and from
rest, until the overlaps that it made are gone; a step that does not succeed is taken back and halved. The end is where
grains cannot grow by 1e-4 any more. Published: the largest packing fraction is 0.721 +- 0.001, at L/D = 0.45 +- 0.05
(Imaz Gonzalez et al., J. Phys. Chem. B 127 (2023) 6814); spheres have 0.64, older ways to pack rods gave 0.69 to 0.70.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from kept import Run, perform, settings, verdict
from report import gauge, spread

import rigidgrains as rg
from rigidgrains import measure
from rigidgrains.detect.neighbours import Neighbours
from rigidgrains.solve.criteria import OverlapCriterion

RATIOS = (0.0, 0.2, 0.35, 0.45, 0.55, 0.7, 1.2)  # L/D
PUBLISHED = 0.45, 0.721
DILUTE, DENSE = 0.25, 0.55  # packing fraction at the start, and from which growth is slow
FAST, SLOW, LEAST = 0.01, 3e-3, 1e-4  # steps of growth
PATIENCE = 100  # steps of time for each; with 20 they jam earlier, by 0.01 for the shortest rods
SOLVER = {"accuracy": "exact", "gap": 0.5, "max_sweeps": 400, "fallback": 0}


def main() -> None:
    """Pack all, print a table, and draw if asked."""
    options = settings(__doc__, grains=200, seeds=4)
    tasks = [
        {"ratio": ratio, "grains": options.grains, "patience": PATIENCE, "seed": seed}
        for seed in range(1, options.seeds + 1) for ratio in RATIOS
    ]  # fmt: skip
    runs = perform(packed, tasks, options)
    rows = [(ratio, *gauge([run["phi"] for run in runs if run["ratio"] == ratio])) for ratio in RATIOS]
    print("\n| L/D | packing fraction |\n|---|---|")
    for ratio, phi, error in rows:
        print(f"| {ratio:g} | {spread(phi, error)} |")
    print(f"largest at L/D = {spread(*largest(rows))}, by a cubic through all but spheres")
    if options.figure:
        draw(rows, options.figure)


def largest(rows: Sequence[tuple[float, float, float]]) -> tuple[float, float]:
    """L/D where a cubic through the rods has its maximum, with the error that those of the packing fractions cause."""
    ratio, phi, error = np.array([row for row in rows if row[0] > 0.0]).T
    random, grid = np.random.default_rng(1), np.linspace(ratio.min(), ratio.max(), 2001)
    samples = phi + error * random.normal(size=(500, len(phi)))
    peaks = [grid[np.polyval(np.polyfit(ratio, sample, 3), grid).argmax()] for sample in samples]
    return float(np.mean(peaks)), float(np.std(peaks))


def packed(ratio: float, grains: int, patience: int, seed: int) -> Run:
    """A packing that has grown until it is jammed."""
    simulation, begun = start(ratio, grains, seed), time.process_time()
    growth = FAST
    relax(simulation, LEAST, patience)
    while growth > LEAST:
        bodies = simulation.bodies
        kept = [array.copy() for array in states(bodies)]
        bodies.radius *= 1.0 + growth
        simulation.neighbours = Neighbours()
        if relax(simulation, 0.3 * growth, patience):
            most = FAST if measure.packing_fraction(simulation) < DENSE else SLOW
            growth = min(1.3 * growth, most)
        else:
            for array, before in zip(states(bodies), kept):
                array[:] = before
            simulation.neighbours = Neighbours()
            growth *= 0.5
    simulation.solver.gap = "g_pos"  # a last step at rest, to look at what there is
    relax(simulation, 1.0, patience)
    return {
        "phi": measure.packing_fraction(simulation), "overlap": float(simulation.contacts.deepest / bodies.radius[0]),
        "order": measure.orientation_order(simulation).order if ratio else 0.0, "verdict": verdict(simulation),
        "steps": simulation.steps, "seconds": time.process_time() - begun,
    }  # fmt: skip


def start(ratio: float, grains: int, seed: int) -> rg.Simulation:
    """Rods at random places, turned at random; a step is a unit of time, which has no meaning here."""
    side = (grains * 4.0 / 3.0 * math.pi / DILUTE) ** (1.0 / 3.0)
    scene = rg.Scene(dimension=3, friction=0.0, cell={"lower": [0.0] * 3, "upper": [side] * 3})
    scene.add_shape("rod", capsule=1.0 + ratio)
    shape = {"shape": "rod"} if ratio else {}
    scene.add_grains(count=grains, radius=1.0, placement="dense", **shape)
    solver = rg.AcceleratedSweeps(criterion=OverlapCriterion(1e-5), **SOLVER)
    return rg.Simulation(scene, dt=1.0, seed=seed, solver=solver)


def relax(simulation: rg.Simulation, least: float, patience: int) -> bool:
    """Push grains apart from rest until the deepest overlap is below `least` radii; whether that has succeeded."""
    bodies = simulation.bodies
    for _ in range(patience):
        bodies.motion[: bodies.count, :6] = 0.0
        simulation.step()
        if simulation.contacts.deepest < least * bodies.radius[0]:
            return True
    return False


def states(bodies: rg.Bodies) -> tuple[np.ndarray, ...]:
    """What a step of growth changes."""
    return bodies.position, bodies.orientation, bodies.radius, bodies.image


def draw(rows: list[tuple[float, float, float]], path: Path) -> None:
    """Packing fraction against L/D, with the published maximum."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    ratio, phi, error = np.array(rows).T
    (at, about), blue, gold = largest(rows), "#1b4f8a", "#c79a2b"
    axes.axvspan(PUBLISHED[0] - 0.05, PUBLISHED[0] + 0.05, color=gold, alpha=0.25, lw=0)
    axes.plot(*PUBLISHED, "D", color=gold, label="maximum, Imaz González et al. 2023")
    axes.errorbar(ratio, phi, error, fmt="o-", color=blue, capsize=3, label="rigidgrains, with standard errors")
    above = phi.max() + 0.005
    axes.errorbar(at, above, xerr=about, fmt="|", color=blue, capsize=3)
    beside = (at + about, above), (8, 0)
    axes.annotate("our maximum, by a cubic", *beside, textcoords="offset points", va="center", color=blue)
    axes.set(xlabel="L/D", ylabel="packing fraction", title="Random packings of rods with round ends, no friction")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="lower right")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
