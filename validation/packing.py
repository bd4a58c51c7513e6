"""Random close packing: rigid grains compressed in a periodic cell at constant pressure, with and without friction.

python validation/packing.py [--quick] [--json FILE] [--figure FILE]

Grains of diameter and mass 1 begin as a dilute gas and are compressed by a pressure of 1 until they are at rest.
Without friction equal spheres should reach phi = 0.639 +- 0.004 with z = 6.00 +- 0.05 contacts a grain, rattlers taken
out; with mu = 0.3 phi = 0.593 +- 0.006 and z = 4.5 +- 0.2 (Agnolin & Roux, Phys. Rev. E 76 (2007) 061302). Disks of
sizes 1:1.4 should have phi = 0.84 and z = 4 (O'Hern et al., Phys. Rev. E 68 (2003) 011306).
"""

from __future__ import annotations

import math
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from report import Result, gauge, settings

import rigidgrains as rg
from rigidgrains import measure

DT = 0.05  # while grains come to rest: with steps ten times as long friction holds them 1 % earlier
QUIET, REST = 1e-5, 1e-7  # mean square of the velocities from which steps are as long as they can be, and at the end
MOST = 5000  # steps
FEW = 1e-3  # of the mean normal force: contacts that carry less are not counted


@dataclass(frozen=True)
class Case:
    """A kind of packing, and what is published about it."""

    name: str
    dimension: int
    friction: float
    phi: tuple[float, float]
    z: tuple[float, float]
    ratio: float = 1.0


CASES = (
    Case("spheres, mu = 0", 3, 0.0, (0.639, 0.004), (6.0, 0.05)),
    Case("spheres, mu = 0.3", 3, 0.3, (0.593, 0.006), (4.5, 0.2)),
    Case("disks 1:1.4, mu = 0", 2, 0.0, (0.84, 0.005), (4.0, 0.05), 1.4),
)


def main() -> None:
    """Make all packings, compare with the published numbers, and draw one of each if asked."""
    options = settings(__doc__)
    grains, seeds = (300, 2) if options.quick else (1000, 3)
    tasks = [(case, grains, seed) for case in CASES for seed in range(1, seeds + 1)]
    results = []
    with ProcessPoolExecutor(options.processes) as pool:
        made: list[Packing] = []
        for (case, _, seed), packing in zip(tasks, pool.map(compress, *zip(*tasks))):
            made.append(packing)
            print(f"{case.name}, seed {seed}: {packing}", flush=True)
            if len(made) == seeds:
                results += [
                    Result(f"{case.name}: phi", *gauge([one.phi for one in made]), *case.phi),
                    Result(f"{case.name}: z without rattlers", *gauge([one.z for one in made]), *case.z),
                    Result(f"{case.name}: pressure", *gauge([one.pressure for one in made]), 1.0, 1e-3),
                ]
                made = []
    options.finish(results)


@dataclass(frozen=True)
class Packing:
    """A packing at rest: packing fraction, contacts per grain of the backbone, share of rattlers, pressure, steps."""

    phi: float
    z: float
    rattlers: float
    pressure: float
    steps: int

    def __str__(self) -> str:
        return (
            f"phi = {self.phi:.4f}, z = {self.z:.3f}, rattlers {self.rattlers:.1%}, pressure {self.pressure:.4f},"
            f" {self.steps} steps"
        )


def compress(case: Case, grains: int, seed: int) -> Packing:
    """A packing, once it is at rest."""
    simulation = prepare(case, grains, seed)
    while not at_rest(simulation, REST):
        for _ in range(20):
            simulation.step()
        if simulation.auto is None and at_rest(simulation, QUIET):
            simulation.dt = "auto"
            simulation.solver.gap = "g"  # what overlap there is makes contacts that need not be
        if simulation.steps > MOST:
            raise SystemExit(f"{case.name}, seed {seed}: not at rest by t = {simulation.time:g}")
    frame = measure.of(simulation)
    found = measure.coordination(frame, share=FEW)
    pressure = float(measure.stress(frame).pressure)
    return Packing(measure.packing_fraction(frame), found.z, found.rattlers, pressure, simulation.steps)


def prepare(case: Case, grains: int, seed: int) -> rg.Simulation:
    """A dilute gas in a cell under pressure."""
    radii = (0.5, 0.5 * case.ratio)
    volume = [math.pi * r**2 if case.dimension == 2 else 4.0 / 3.0 * math.pi * r**3 for r in radii]
    side = (grains * 0.5 * sum(volume) / (0.4 if case.dimension == 2 else 0.3)) ** (1.0 / case.dimension)
    scene = rg.Scene(
        dimension=case.dimension,
        friction=case.friction,
        cell={"lower": [0] * case.dimension, "upper": [side] * case.dimension, "pressure": 1.0},
    )
    for radius in radii if case.ratio > 1.0 else radii[:1]:
        count = grains // 2 if case.ratio > 1.0 else grains
        scene.add_grains(count=count, radius=radius, density=1.0 / volume[0])
    solver = rg.AcceleratedSweeps(criterion=rg.MomentumCriterion(1e-3, residual=1e-6))
    return rg.Simulation(scene, dt=DT, seed=seed, solver=solver)


def at_rest(simulation: rg.Simulation, square: float) -> bool:
    """True when the packing carries the pressure and the mean square of the velocities is small."""
    bodies = simulation.bodies
    pressure = simulation.contacts.count and float(measure.stress(simulation).pressure)
    return abs(pressure - 1.0) < 1e-3 and float((bodies.velocity**2).sum(axis=1).mean()) < square


if __name__ == "__main__":
    main()
