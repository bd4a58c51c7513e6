"""Random close packing: rigid grains compressed in a periodic cell at constant pressure, with and without friction.

python validation/packing.py [--quick] [--json FILE] [--figure FILE]

Grains of diameter and mass 1 begin as a gas that elastic collisions have mixed, and are compressed from rest by a
pressure of 1 until they are at rest again.
Without friction equal spheres should reach phi = 0.639 +- 0.004 with z = 6.00 +- 0.05 contacts a grain, rattlers taken
out; with mu = 0.3 phi = 0.593 +- 0.006 and z = 4.5 +- 0.2 (Agnolin & Roux, Phys. Rev. E 76 (2007) 061302). Disks of
sizes 1:1.4 should have phi = 0.84 and z = 4 (O'Hern et al., Phys. Rev. E 68 (2003) 011306).
"""

from __future__ import annotations

import math
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from report import Result, gauge, settings

import rigidgrains as rg
from rigidgrains import measure

DT = 0.05  # while grains come to rest: with steps ten times as long friction holds them 1 % earlier
QUIET, REST = 1e-5, 1e-7  # mean square of the velocities from which steps are as long as they can be, and at the end
MOST = 10_000  # steps
GAS = {2: 0.4, 3: 0.45}  # packing fraction before compression
DENSITY = {2: 4.0 / math.pi, 3: 6.0 / math.pi}  # mass 1 for diameter 1
SHAKEN = 20.0  # time, at a velocity of 1
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
    grains: int = 1000


CASES = (
    Case("spheres, mu = 0", 3, 0.0, (0.639, 0.004), (6.0, 0.05), grains=4000),
    Case("spheres, mu = 0.3", 3, 0.3, (0.593, 0.006), (4.5, 0.2)),
    Case("disks 1:1.4, mu = 0", 2, 0.0, (0.84, 0.005), (4.0, 0.05), 1.4),
)


def main() -> None:
    """Make all packings, compare with the published numbers, and draw one of each if asked."""
    options = settings(__doc__)
    seeds = 2 if options.quick else 3
    tasks = [(case, 300 if options.quick else case.grains, seed) for case in CASES for seed in range(1, seeds + 1)]
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
            simulation.solver = solver(1e-3, 1e-6)
            simulation.solver.gap = "g"  # what overlap there is makes contacts that need not be
        if simulation.steps > MOST:
            raise SystemExit(f"{case.name}, seed {seed}: not at rest by t = {simulation.time:g}")
    frame = measure.of(simulation)
    found = measure.coordination(frame, share=FEW)
    pressure = float(measure.stress(frame).pressure)
    return Packing(measure.packing_fraction(frame), found.z, found.rattlers, pressure, simulation.steps)


def prepare(case: Case, grains: int, seed: int) -> rg.Simulation:
    """A gas in a cell under pressure, its grains at rest."""
    gas = shaken(case, grains, seed)
    side = [gas.cell.vectors[k, k] for k in range(case.dimension)]
    scene = rg.Scene(
        dimension=case.dimension,
        friction=case.friction,
        cell={"lower": [0] * case.dimension, "upper": side, "pressure": 1.0},
    )
    position = gas.position[:, : case.dimension]
    scene.add_grains(positions=position, radii=gas.radius, density=DENSITY[case.dimension])
    begin = solver(1e-3, 1e-6) if case.friction > 0.0 else solver(1e-2, 1e-4)  # what slides early stays so
    return rg.Simulation(scene, dt=DT, seed=seed, solver=begin)


def solver(momentum_error: float, residual: float) -> rg.AcceleratedSweeps:
    """Accelerated sweeps to both."""
    return rg.AcceleratedSweeps(accuracy="exact", criterion=rg.MomentumCriterion(momentum_error, residual=residual))


def shaken(case: Case, grains: int, seed: int) -> rg.Bodies:
    """A gas of elastic grains without friction: a lattice, shaken until nothing is left of it.

    Compressed as it is, a lattice makes crystals: a third of 2000 spheres, and phi = 0.65.
    """
    radii = (0.5, 0.5 * case.ratio) if case.ratio > 1.0 else (0.5,)
    each = sum(volume(case.dimension, radius) for radius in radii) / len(radii)
    side = (grains * each / GAS[case.dimension]) ** (1.0 / case.dimension)
    cell = {"lower": [0] * case.dimension, "upper": [side] * case.dimension}
    scene = rg.Scene(dimension=case.dimension, friction=0.0, cell=cell)
    scene.add_material("elastic", friction=0.0, restitution=1.0)
    for radius in radii:
        scene.add_grains(
            count=grains // len(radii), radius=radius, density=DENSITY[case.dimension], material="elastic",
            placement="random" if len(radii) > 1 else "lattice",
        )  # fmt: skip
    simulation = rg.Simulation(scene, dt=0.02, seed=seed, solver=rg.Sweeps(criterion=rg.LocalCriterion(1e-6)))
    velocity = simulation.bodies.velocity[:, : case.dimension]
    velocity[:] = np.random.default_rng(seed).normal(size=velocity.shape)
    simulation.run(until=SHAKEN)
    return simulation.bodies


def volume(dimension: int, radius: float) -> float:
    """Of a disk or a sphere."""
    return math.pi * radius**2 if dimension == 2 else 4.0 / 3.0 * math.pi * radius**3


def at_rest(simulation: rg.Simulation, square: float) -> bool:
    """True when the packing carries the pressure and the mean square of the velocities is small."""
    bodies = simulation.bodies
    pressure = simulation.contacts.count and float(measure.stress(simulation).pressure)
    return abs(pressure - 1.0) < 1e-3 and float((bodies.velocity**2).sum(axis=1).mean()) < square


if __name__ == "__main__":
    main()
