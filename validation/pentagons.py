"""Pentagons against disks in a biaxial test: strength, and what carries it.

python validation/pentagons.py [--grains 400] [--seeds 4] [--quick] [--processes N] [--runs FILE]

Grains of radii 1 +- 20 % between smooth walls, mu = 0.4, no gravity: the lid comes down at a constant rate, the side
walls press with a constant stress, I = 2e-3. Means over strains of 20 to 35 %, where the strength no longer depends on
how the sample was made. Azema, Radjai, Peyroux & Saussine (Phys. Rev. E 76 (2007) 011301) find by contact dynamics that
pentagons have a lower anisotropy of contact orientations than disks, a higher one of forces, and are stronger; strong
force chains run through contacts side on side.
"""

from __future__ import annotations

import math
import time

import numpy as np
from kept import Run, perform, settings, verdict
from report import gauge, spread

import rigidgrains as rg
from rigidgrains import measure
from rigidgrains.measure.links import links

KINDS = ("disk", "pentagon")
FRICTION, STRESS, RATE = 0.4, 100.0, 0.02
DT, EVERY = 0.01, 10
STEADY, END = 0.2, 0.35  # strain
LOOSE = 0.65  # packing fraction at the start
FIGURES = {
    "strength": "q/p = (s1 - s2)/(s1 + s2)", "a_c": "anisotropy of contact orientations", "a_n": "of normal forces",
    "a_t": "of tangential forces", "phi": "packing fraction", "side": "share of contacts side on side",
    "side_strong": "of strong contacts (above the mean force)", "side_weak": "of weak contacts",
    "carried": "share of all normal forces",
}  # fmt: skip


def main() -> None:
    """Run all, and print a table."""
    options = settings(__doc__, grains=400, seeds=4)
    tasks = [
        {"kind": kind, "grains": options.grains, "seed": seed} for seed in range(1, options.seeds + 1) for kind in KINDS
    ]
    runs = perform(sheared, tasks, options)
    print("\n| | disks | pentagons |\n|---|---|---|")
    for name, meaning in FIGURES.items():
        of = [spread(*gauge([run[name] for run in runs if run["kind"] == kind])) for kind in KINDS]
        print(f"| {meaning} | {of[0]} | {of[1]} |")


def sheared(kind: str, grains: int, seed: int) -> Run:
    """Means of a sample in steady shear."""
    simulation, begun = biaxial(kind, grains, seed), time.process_time()
    simulation.run(until=STEADY / RATE)
    rows: list[dict[str, float]] = []
    while simulation.time < END / RATE:
        simulation.step()
        if simulation.steps % EVERY == 0:
            rows.append(seen(simulation))
    means = {name: float(np.mean([row[name] for row in rows])) for name in FIGURES}
    return means | {
        "verdict": verdict(simulation), "steps": simulation.steps, "sweeps": simulation.report().sweeps_mean,
        "seconds": time.process_time() - begun,
    }  # fmt: skip


def biaxial(kind: str, grains: int, seed: int) -> rg.Simulation:
    """A sample half as high again as wide, its lid about to move."""
    width = math.sqrt(grains * math.pi / 4.0 / (1.6 * LOOSE))
    height = 1.6 * width
    scene = rg.Scene(dimension=2, friction=FRICTION)
    scene.add_shape("pentagon", polygon=5)
    scene.add_grains(
        count=grains, radius=(0.4, 0.6), density=4.0 / math.pi, region=((0, 0), (width, height)), shape=kind,
        placement="dense",
    )  # fmt: skip
    scene.add_plane("bottom", point=(0, 0), normal=(0, 1), friction=0.0)
    side = {"friction": 0.0, "mass": 50.0, "stress": STRESS, "between": ["bottom", "top"]}
    scene.add_piston("left", point=(0, 0), normal=(1, 0), **side)
    scene.add_piston("right", point=(width, 0), normal=(-1, 0), **side)
    scene.add_piston("top", point=(0, height), normal=(0, -1), friction=0.0, velocity=RATE * height)
    return rg.Simulation(scene, dt=DT, seed=seed)


def seen(simulation: rg.Simulation) -> dict[str, float]:
    """One state; strong contacts carry more than the mean normal force."""
    frame = measure.of(simulation)
    stress, shares = measure.stress(frame), measure.anisotropy(frame)
    found = links(frame, walls=False).joined()
    side, strong = found.points >= 2, found.r_n > found.r_n.mean()
    low, high = sorted(stress.principal)
    return {
        "strength": (high - low) / (high + low), "a_c": shares.a_c, "a_n": shares.a_n, "a_t": shares.a_t,
        "phi": measure.packing_fraction(frame), "side": float(side.mean()), "side_strong": float(side[strong].mean()),
        "side_weak": float(side[~strong].mean()), "carried": float(found.r_n[side].sum() / found.r_n.sum()),
    }  # fmt: skip


if __name__ == "__main__":
    main()
