"""Pentagons against disks in a biaxial test: strength, and what carries it.

python validation/pentagons.py [--grains 400] [--seeds 4] [--quick] [--processes N] [--runs FILE] [--figure FILE]

Grains of radii 1 +- 20 % between smooth walls, mu = 0.4, no gravity: the lid comes down at a constant rate, the side
walls press with a constant stress, I = 2e-3 and 5e-4. Means over strains of 20 to 35 %, where the strength no longer
depends on how the sample was made. Azema, Radjai, Peyroux & Saussine (Phys. Rev. E 76 (2007) 011301) find by contact
dynamics that pentagons have a lower anisotropy of contact orientations than disks, a higher one of forces, and are
stronger; strong force chains run through contacts side on side.
"""

from __future__ import annotations

import math
import time
from pathlib import Path

import numpy as np
from kept import Run, perform, settings, verdict
from report import gauge, spread

import rigidgrains as rg
from rigidgrains import measure
from rigidgrains.measure.links import Links, links

KINDS = ("disk", "pentagon")
FRICTION, STRESS = 0.4, 100.0
RATES = (0.02, 0.005)  # of strain; the inertial number is a tenth of it
STEP, EVERY = 2e-4, 10  # strain
STEADY, END = 0.2, 0.35  # strain
LOOSE = 0.65  # packing fraction at the start
FIGURES = {
    "strength": "q/p = (s1 - s2)/(s1 + s2)",
    "b_c": "anisotropy of branch vectors, orientation", "b_r": "of forces along them", "b_t": "of forces across them",
    "b_l": "of their lengths", "a_c": "anisotropy of contact normals, orientation", "a_n": "of normal forces",
    "a_t": "of tangential forces", "phi": "packing fraction", "side": "share of contacts that are side on side",
    "side_weak": "of weak contacts", "side_strong": "of strong contacts (above the mean normal force)",
    "side_twice": "of contacts above twice the mean", "carried": "share of normal forces carried side on side",
}  # fmt: skip


def main() -> None:
    """Run all, and print a table."""
    options = settings(__doc__, grains=400, seeds=4)
    tasks = [
        {"kind": kind, "rate": rate, "grains": options.grains, "seed": seed}
        for seed in range(1, options.seeds + 1) for rate in RATES for kind in KINDS
    ]  # fmt: skip
    runs = perform(sheared, tasks, options)
    columns = [(kind, rate) for rate in RATES for kind in KINDS]
    found = {
        column: {name: gauge([run[name] for run in runs if (run["kind"], run["rate"]) == column]) for name in FIGURES}
        for column in columns
    }
    print("\n| | " + " | ".join(f"{kind}s, I = {0.1 * rate:g}" for kind, rate in columns) + " |\n|---|" + 4 * "---|")
    for name, meaning in FIGURES.items():
        print(f"| {meaning} | " + " | ".join(spread(*found[column][name]) for column in columns) + " |")
    if options.figure:
        draw(found, options.figure)


def sheared(kind: str, rate: float, grains: int, seed: int) -> Run:
    """Means of a sample in steady shear."""
    simulation, begun = biaxial(kind, rate, grains, seed), time.process_time()
    simulation.run(until=STEADY / rate)
    rows: list[dict[str, float]] = []
    while simulation.time < END / rate:
        simulation.step()
        if simulation.steps % EVERY == 0:
            rows.append(seen(simulation))
    means = {name: float(np.mean([row[name] for row in rows])) for name in FIGURES}
    return means | {
        "verdict": verdict(simulation), "steps": simulation.steps, "sweeps": simulation.report().sweeps_mean,
        "seconds": time.process_time() - begun,
    }  # fmt: skip


def biaxial(kind: str, rate: float, grains: int, seed: int) -> rg.Simulation:
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
    scene.add_piston("top", point=(0, height), normal=(0, -1), friction=0.0, velocity=rate * height)
    return rg.Simulation(scene, dt=STEP / rate, seed=seed)


def seen(simulation: rg.Simulation) -> dict[str, float]:
    """One state; strong contacts carry more than the mean normal force."""
    frame = measure.of(simulation)
    stress, shares = measure.stress(frame), measure.anisotropy(frame)
    found = links(frame, walls=False).joined()
    side, share = found.points >= 2, found.r_n / found.r_n.mean()
    low, high = sorted(stress.principal)
    return of_branches(found) | {
        "strength": (high - low) / (high + low), "a_c": shares.a_c, "a_n": shares.a_n, "a_t": shares.a_t,
        "phi": measure.packing_fraction(frame), "side": float(side.mean()),
        "side_weak": float(side[share <= 1.0].mean()), "side_strong": float(side[share > 1.0].mean()),
        "side_twice": float(side[share > 2.0].mean()), "carried": float(share[side].sum() / share.sum()),
    }  # fmt: skip


def of_branches(found: Links) -> dict[str, float]:
    """The same anisotropies in the frame of branch vectors, by second harmonics about the vertical."""
    x, y = found.branch[:, 0], found.branch[:, 1]
    length = np.hypot(x, y)
    cos2, sin2 = (y**2 - x**2) / length**2, -2.0 * x * y / length**2  # of the angle from the vertical, leftwards
    along = (found.force[:, 0] * x + found.force[:, 1] * y) / length
    across = -(found.force[:, 0] * y - found.force[:, 1] * x) / length
    b_c = 2.0 * float(cos2.mean())

    def anisotropy(values: np.ndarray) -> float:
        both = 2.0 * float((values * cos2).mean() / values.mean())
        return (both - b_c) / (1.0 - 0.5 * both * b_c)

    b_r = anisotropy(along)
    mean = float(along.mean()) / (1.0 + 0.5 * b_c * b_r)
    b_t = -2.0 * float((across * sin2).mean()) / mean
    return {"b_c": b_c, "b_r": b_r, "b_t": b_t, "b_l": anisotropy(length)}


def draw(found: dict[tuple[str, float], dict[str, tuple[float, float]]], path: Path) -> None:
    """Strength and anisotropies of both at the lower rate, side by side."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = {
        "strength": ("strength\nq/p", "higher"), "b_c": ("anisotropy of\nbranch vectors", "lower"),
        "a_c": ("anisotropy of\ncontact normals", "lower"), "a_n": ("anisotropy of\nnormal forces", "higher"),
        "a_t": ("anisotropy of\ntangential forces", "higher"),
    }  # fmt: skip
    figure, axes = plt.subplots(figsize=(7.6, 4.0), layout="constrained")
    place = np.arange(len(names))
    for k, (kind, ink) in enumerate(zip(KINDS, ("#1b4f8a", "#a8442a"))):
        value, error = np.array([found[kind, RATES[-1]][name] for name in names]).T
        at = place + 0.38 * (k - 0.5)
        axes.bar(at, value, 0.34, yerr=error, capsize=4, color=ink, label=f"{kind}s")
        for x, height, tip in zip(at, value, value + np.nan_to_num(error)):
            axes.annotate(f"{height:.2f}", (x, tip), (0, 3), textcoords="offset points", ha="center", fontsize=9)
    for x, (_, published) in zip(place, names.values()):
        axes.annotate(published, (x, 0.965), xycoords=("data", "axes fraction"), ha="center", va="top", color="0.35")
    axes.annotate("pentagons, published:", (-0.42, 1.01), xycoords=("data", "axes fraction"), color="0.35", fontsize=9)
    axes.set(xticks=place, xticklabels=[label for label, _ in names.values()], ylim=(0.0, 0.65))
    axes.set_title(f"Biaxial shear of {KINDS[0]}s and {KINDS[1]}s, I = {0.1 * RATES[-1]:g}, friction 0.4", pad=18)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper right", bbox_to_anchor=(1.0, 0.86))
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
