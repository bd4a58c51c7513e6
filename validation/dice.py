"""Random packings of dice, the five Platonic solids with rounded edges: as loose and as dense as gravity makes them.

python validation/dice.py [--grains 200] [--seeds 6] [--quick] [--processes N] [--runs FILE] [--figure FILE]

Dice in a cell that is periodic sideways sink through a viscous medium, turned at random, and come to rest on a floor,
at the speed that they reach in a fall of half a radius: the loose state, as of a fluidised bed when the flow is turned
off.
Then the bed is shaken, with the same friction: 24 times all dice are thrown up and get random velocities and spins
besides, each time a little less, and come to rest again. Packing fractions are those of a slice away from floor and
surface. Amplitude and number of shakes were chosen with one bed of tetrahedra (seed 101), the other solids had no say.
Published, of plastic dice that were fluidised or vibrated: Baker & Kudrolli, Phys. Rev. E 82 (2010) 061304 (+- 0.01).
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

PUBLISHED = {
    "tetrahedron": (0.51, 0.64), "cube": (0.54, 0.67), "octahedron": (0.52, 0.64), "dodecahedron": (0.51, 0.63),
    "icosahedron": (0.50, 0.59),
}  # fmt: skip
STATES = ("loose", "dense")
FRICTION = 0.4
ROUNDING = 0.1  # over the radius of the sphere of equal volume: 1 mm for a cube of 16 mm
DRAG = 1.0  # g = r = 1: speeds of sinking of 1
SHAKES, REST = 24, 4.0  # number, time until the next at first
THROW, RANDOM = 1.0, 0.5  # speed upwards and standard deviation of each component at first
REMOVE = {"gap": 0.1, "slack": 5e-4}  # in the end, what overlaps the blows have left
DILUTE, BED = 0.25, 0.55  # packing fractions, for the size of the cell
FLOOR, SURFACE = 2.5, 1.5  # away from both, in radii


def main() -> None:
    """Pack all, print a table, and draw if asked."""
    options = settings(__doc__, grains=200, seeds=6)
    tasks = [
        {"solid": solid, "grains": options.grains, "seed": seed}
        for seed in range(1, options.seeds + 1) for solid in PUBLISHED
    ]  # fmt: skip
    runs = perform(packed, tasks, options)
    found = {
        (solid, state): gauge([run[state] for run in runs if run["solid"] == solid])
        for solid in PUBLISHED for state in STATES
    }  # fmt: skip
    print("\n| | loose | published | dense | published |\n|---|---|---|---|---|")
    for solid, (loose, dense) in PUBLISHED.items():
        own = [spread(*found[solid, state]) for state in STATES]
        print(f"| {solid} | {own[0]} | {loose} | {own[1]} | {dense} |")
    if options.figure:
        draw(found, options.figure)


def packed(solid: str, grains: int, seed: int) -> Run:
    """The loose and the dense state."""
    simulation, begun = start(solid, grains, seed), time.process_time()
    settle(simulation, DRAG)
    loose = packing(simulation)
    first = verdict(simulation)
    shake(simulation, np.random.default_rng(seed))
    simulation.solver = rg.AcceleratedSweeps(**REMOVE)
    settle(simulation, 0.0)
    return {
        "loose": loose, "dense": packing(simulation), "verdict_loose": first, "verdict_dense": verdict(simulation),
        "deepest": float(simulation.contacts.deepest), "steps": simulation.steps,
        "seconds": time.process_time() - begun,
    }  # fmt: skip


def start(solid: str, grains: int, seed: int) -> rg.Simulation:
    """Dice at random in a tall cell, turned at random."""
    volume = grains * 4.0 / 3.0 * math.pi
    side = (volume / (1.5 * BED)) ** (1.0 / 3.0)
    height = volume / DILUTE / side**2
    cell = {"lower": [0.0] * 3, "upper": [side, side, 2.0 * height], "periodic": "xy"}
    scene = rg.Scene(dimension=3, friction=FRICTION, gravity=(0, 0, -1), cell=cell)
    scene.add_shape("die", solid=solid, rounding=ROUNDING)
    scene.add_grains(count=grains, shape="die", radius=1.0, placement="dense", region=((0, 0, 0), (side, side, height)))
    scene.add_plane("floor", point=(0, 0, 0), normal=(0, 0, 1))
    return rg.Simulation(scene, seed=seed)


def settle(simulation: rg.Simulation, drag: float) -> None:
    """Until dice are at rest, in a medium that takes `drag` of each momentum in a unit of time."""
    bodies, slow = simulation.bodies, 0
    while slow < 20:
        bodies.motion[: bodies.count, :6] /= 1.0 + drag * simulation.dt
        simulation.step()
        slow = slow + 1 if float((bodies.velocity**2).sum(axis=1).mean()) < 1e-6 else 0


def shake(simulation: rg.Simulation, random: np.random.Generator) -> None:
    """Throw all dice up, with random velocities and spins besides, and let them fall, ever more gently."""
    bodies = simulation.bodies
    for amplitude in 1.0 - np.arange(SHAKES) / SHAKES:
        bodies.velocity[:, 2] += THROW * amplitude
        bodies.motion[: bodies.count, :6] += RANDOM * amplitude * random.normal(size=(bodies.count, 6))
        simulation.run(until=simulation.time + REST * amplitude)


def packing(simulation: rg.Simulation) -> float:
    """Packing fraction between floor and surface."""
    top = float(np.quantile(simulation.bodies.position[:, 2], 0.9)) - SURFACE
    side = simulation.bodies.cell.vectors[0, 0]
    return measure.packing_fraction(simulation, box=measure.Box((0.0, 0.0, FLOOR), (side, side, top)))


def draw(found: dict[tuple[str, str], tuple[float, float]], path: Path) -> None:
    """Packing fractions of all solids, ours and the published ones."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.2, 4.0), layout="constrained")
    place = np.arange(len(PUBLISHED))
    for k, (state, ink) in enumerate(zip(STATES, ("#1b4f8a", "#a8442a"))):
        for x, both in zip(place, PUBLISHED.values()):  # what counts as agreement
            axes.fill_between([x - 0.3, x + 0.3], both[k] - 0.02, both[k] + 0.02, color=ink, alpha=0.13, lw=0)
        published = [both[k] for both in PUBLISHED.values()]
        axes.errorbar(
            place - 0.12, published, 0.01, fmt="D", mfc="white", color=ink, capsize=3, label=f"{state}, experiment"
        )
        own = np.array([found[solid, state] for solid in PUBLISHED])
        axes.errorbar(place + 0.12, own[:, 0], own[:, 1], fmt="o", color=ink, capsize=3, label=f"{state}, rigidgrains")
    axes.set(xticks=place, xticklabels=list(PUBLISHED), ylabel="packing fraction", ylim=(0.46, 0.75))
    axes.set_title("Platonic dice; experiment: Baker & Kudrolli 2010, bands ± 0.02")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper center", ncols=2)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
