"""Packings whose forces diffuse (item 46): random ones and crystals, in 2D and 3D, under a piston, periodic sideways.

Units: mean diameter, mean mass and time step are 1. No gravity. A slab of grains amid a packing at rest is pushed, one
step of N_I random sweeps is made, and the momentum dF dt has spread: its variance along the vertical has grown by
2 q N_I if forces diffuse. The same step without the push, with the same random numbers, is subtracted.
"""

from __future__ import annotations

import copy
import math

import numpy as np
from numpy.typing import NDArray

from ..model.bodies import Bodies
from ..model.cell import Cell
from ..model.columns import V_S
from ..model.shapes import Plane
from ..model.walls import Wall
from ..simulation.simulation import Simulation
from ..solve.accelerated import AcceleratedSweeps
from ..solve.criteria import FixedSweeps, LocalCriterion
from ..solve.sweeps import Sweeps
from .relaxation import network_of

Array = NDArray[np.float64]

PRESSURE, PUSH = 0.01, 1e-8  # load of the piston per area, push per mass of a slab: so small that no contact opens
FRICTION = 0.05  # as in the paper's 2D simulation
SITE = 1.36  # of the lattice from which random packings start, in which the largest grain has room
CLOSING, SETTLING = 8, 1000  # steps per diameter of height in which grains are brought together; most steps to rest
DENSE = {2: 1.0, 3: 1.03}  # grains per volume d^2 or d^3 of a random packing, roughly
WIDE = 1.01  # spacing of grains within the layers of a crystal: they touch those above and below alone


def random_packing(dimension: int, across: int, height: int, seed: int) -> Simulation:
    """Disks or spheres with radii uniform in [r_min, 2 r_min], pressed from a loose state to about this height."""
    rng, up = np.random.default_rng(seed), dimension - 1
    along = int(across / SITE)
    rows = round(DENSE[dimension] * height * (across / along) ** up)
    grains = rows * along**up
    site = np.stack(np.unravel_index(np.arange(grains), (*[along] * up, rows)), axis=1)
    radius = rng.uniform(1.0 / 3.0, 2.0 / 3.0, grains)
    position = np.zeros((grains, 3))
    spacing = np.array([across / along] * up + [SITE])
    position[:, :dimension] = spacing * (site + 0.5)
    position[:, :dimension] += (0.5 * SITE - radius[:, None]) * rng.uniform(-0.95, 0.95, (grains, dimension))
    bodies = boxed(dimension, position, radius, float(across), rows * SITE, FRICTION)
    simulation = Simulation(bodies, dt=1.0, solver=Sweeps(criterion=FixedSweeps(60)), seed=seed)
    rate, motion = (1.0 - 1.02 * height / (rows * SITE)) / (CLOSING * height), bodies.motion
    motion[:grains, up] = -rate * bodies.position[:, up]  # as a whole: a piston alone would take long
    motion[grains + 1, up] = -rate * rows * SITE
    simulation.run(steps=CLOSING * height)
    simulation.solver = AcceleratedSweeps(accuracy="exact")
    bodies.walls[1].load *= 0.1 * height  # else tall packings would take long to settle
    for step in range(SETTLING):
        simulation.step()
        motion[:, V_S] *= 0.98  # without gravity rattlers would never stop
        if step > 50 and abs(motion[grains + 1, up]) < 1e-5:
            break
    return relaxed(simulation)


def crystal(dimension: int, across: int, layers: int) -> Simulation:
    """A chain, a triangular or an fcc lattice, grains of a layer not quite touching."""
    up = dimension - 1
    rise = math.sqrt(1.0 - up * (0.5 * WIDE) ** 2)
    places = np.stack(np.meshgrid(*[np.arange(across)] * up, indexing="ij"), axis=-1).reshape(-1, up)
    position = np.zeros((layers * len(places), 3))
    for layer in range(layers):
        rows = slice(layer * len(places), (layer + 1) * len(places))
        position[rows, :up] = WIDE * (places + 0.25 + 0.5 * (layer % 2))
        position[rows, up] = 0.5 + rise * layer
    radius = np.full(len(position), 0.5)
    bodies = boxed(dimension, position, radius, WIDE * across, 1.0 + rise * (layers - 1), 0.0)
    return relaxed(Simulation(bodies, dt=1.0, accuracy="exact"))


def boxed(dimension: int, position: Array, radius: Array, across: float, height: float, friction: float) -> Bodies:
    """Grains between a base and a piston of the mass of a layer, periodic sideways."""
    up, axes = dimension - 1, np.eye(3)
    area = across**up
    walls = [
        Wall("base", Plane(np.zeros(3), axes[up])),
        Wall("piston", Plane(height * axes[up], -axes[up]), mass=area, load=PRESSURE * area),
    ]
    sides = np.array([across] * up + [2.0 * height] + [1.0] * (2 - up))
    cell = Cell(np.diag(sides), periodic=np.arange(3) < up)
    volume = math.pi * radius**2 if dimension == 2 else 4.0 / 3.0 * math.pi * radius**3
    return Bodies.assemble(
        dimension=dimension, position=position, radius=radius, density=len(radius) / float(volume.sum()),
        friction=friction, force=np.zeros_like(position), walls=walls, cell=cell,
    )  # fmt: skip


def relaxed(simulation: Simulation) -> Simulation:
    """At rest, with forces that carry the load."""
    simulation.solver = Sweeps(criterion=LocalCriterion(1e-5), max_sweeps=10_000)
    for _ in range(3):
        simulation.bodies.motion[:, V_S] = 0.0
        simulation.step()
    simulation.bodies.motion[:, V_S] = 0.0
    return simulation


def height(packing: Simulation) -> float:
    """Of the piston above the base (d)."""
    return float(packing.bodies.walls[1].shape.point[packing.bodies.dimension - 1])


def spread(packing: Simulation, sweeps: int, place: float, seed: int) -> tuple[float, Array]:
    """Push the slab of grains at a height; how much the variance of the momentum has grown (d^2), and the momentum.

    The momentum of each grain is over dF dt.
    """
    up, mass = packing.bodies.dimension - 1, packing.bodies.mass
    slab, weight = slab_at(packing, place)
    velocities = []
    for push in (0.0, PUSH):
        simulation = copy.deepcopy(packing)
        simulation.rng, simulation.solver = np.random.default_rng(seed), Sweeps(criterion=FixedSweeps(sweeps))
        simulation.bodies.force[slab, up] = -push * mass[slab]
        simulation.step()
        velocities.append(simulation.bodies.velocity[:, up].copy())
    momentum = mass * (velocities[0] - velocities[1]) / (PUSH * mass[slab].sum())
    return grown(packing, momentum, weight), momentum


def expected_spread(packing: Simulation, sweeps: int, place: float, seed: int) -> float:
    """The same growth by sweeps over the network of contacts that share no code with the engine."""
    bodies, up = packing.bodies, packing.bodies.dimension - 1
    slab, weight = slab_at(packing, place)
    network = network_of(packing, piston=1)
    network.velocity[: bodies.count][slab, up] = 1.0 / bodies.mass[slab].sum()
    network.relax(network.random(sweeps, seed))
    return grown(packing, network.momentum(up, bodies.count), weight)


def slab_at(packing: Simulation, place: float) -> tuple[NDArray[np.bool_], Array]:
    """Grains of the slab at a height, and the share of each grain in its mass."""
    z, mass = packing.bodies.position[:, packing.bodies.dimension - 1], packing.bodies.mass
    slab = np.abs(z - z[np.argmin(np.abs(z - place))]) < 0.5
    return slab, np.where(slab, mass, 0.0) / mass[slab].sum()


def grown(packing: Simulation, momentum: Array, weight: Array) -> float:
    """Growth of the variance of the momentum along the vertical."""
    z = packing.bodies.position[:, packing.bodies.dimension - 1]
    return float((momentum - weight) @ (z - float(weight @ z)) ** 2)
