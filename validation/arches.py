"""How often do arches stop a silo, by how long a step may be? Disks run out through an opening a little too narrow.

python validation/arches.py [--seeds 60] [--opening 4.5] [--grains 600] [--processes 2] [--runs FILE] [--quick]

600 disks, radii uniform in [0.4, 0.6], friction 0.5, settle in a silo 16 diameters wide; at t = 15 √(d/g) the gate
goes. A silo that nothing leaves for 6 √(d/g), with 30 % of the grains in it, has an arch. Each row has steps of
`balanced` with other bounds: on how far a body falls from rest in a step, a dt² over the mean diameter, and on how far
pairs come closer, over the smallest radius. Arches for each 100 grains that left, with standard errors by counting. The
second row is the default.
"""

from __future__ import annotations

import math

from kept import Run, perform, settings

import rigidgrains as rg

FIRST = 301
WIDE, GATE, PATIENCE, FULL = 16.0, 15.0, 6.0, 0.3
STEPS = {"0.01, 0.1": (0.01, 0.1), "0.0025, 0.1 (default)": (0.0025, 0.1), "0.0006, 0.05": (0.0006, 0.05)}


class UntilArch:
    """Observer: ends the run where an arch stands, or the silo is nearly empty; inside : grains that have not left."""

    def __init__(self, grains: int) -> None:
        self.grains = self.inside = grains
        self.last = GATE

    def __call__(self, simulation: rg.Simulation) -> str | None:
        inside = int((simulation.bodies.position[:, 1] > 0.0).sum())
        if inside < self.inside and simulation.time > GATE:
            self.last = simulation.time
        self.inside = inside
        if simulation.time - self.last > PATIENCE:
            return "an arch stands"
        return "nearly empty" if inside < FULL * self.grains else None


def silo(seed: int, opening: float, grains: int) -> rg.Scene:
    """A flat bottom with an opening, closed by a gate at first."""
    half, height = 0.5 * WIDE, 1.4 * grains / WIDE + 2.0
    floor = half - 0.5 * opening
    scene = rg.Scene(dimension=2, gravity=(0, -1), friction=0.5, run={"seed": seed})
    scene.add_grains(count=grains, radius=(0.4, 0.6), density=1.0, region=((-half, 0), (half, height)))
    for name, side in (("left", -1.0), ("right", 1.0)):
        scene.add_plane(name, point=(side * half, 0), normal=(-side, 0))
        scene.add_plane(f"{name} floor", point=(side * (half - 0.5 * floor), 0), normal=(0, 1), size=floor)
    scene.add_plane("gate", point=(0, 0), normal=(0, 1), size=opening, until=GATE)
    scene.add_outlet("drain", point=(0, -3), normal=(0, 1))
    return scene


def simulate(seed: int, opening: float, grains: int, steps: str) -> Run:
    """One silo, until an arch stands or most have left."""
    drop, travel = STEPS[steps]
    simulation = rg.Simulation(silo(seed, opening, grains), dt=rg.AutoStep(travel, drop=drop))
    watch = UntilArch(grains)
    simulation.observe(watch)
    report = simulation.run(until=GATE + 40.0 * grains / opening)
    return {"left": grains - watch.inside, "arch": watch.inside >= FULL * grains, "count": report.steps}


def main() -> None:
    """Run what is missing and print a line for each bound."""
    asked = settings(__doc__, grains=600, seeds=60, opening=4.5)
    seeds = range(FIRST, FIRST + asked.seeds)
    tasks = [{"seed": seed, "opening": asked.opening, "grains": asked.grains, "steps": steps}
             for seed in seeds for steps in STEPS]  # fmt: skip
    runs = perform(simulate, tasks, asked)
    for steps in STEPS:
        some = [run for run in runs if run["steps"] == steps]
        arches, left, count = (sum(run[name] for run in some) for name in ("arch", "left", "count"))
        rate, error = 100.0 * arches / left, 100.0 * math.sqrt(max(arches, 1)) / left
        print(f"{steps}: {arches} arches in {len(some)} silos, {rate:.2f} ± {error:.2f} for each 100 grains;",
              f"{count / len(some):.0f} steps")  # fmt: skip


if __name__ == "__main__":
    main()
