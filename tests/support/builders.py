"""Small worlds for the tests: grains with given masses, floors, columns, chains, packings."""

from __future__ import annotations

from typing import Any

import numpy as np

from rigidgrains import Observer
from rigidgrains.contacts.contacts import Contacts
from rigidgrains.contacts.problem import ContactProblem
from rigidgrains.detect.candidates import find_candidates
from rigidgrains.detect.neighbours import Neighbours
from rigidgrains.model.bodies import Bodies
from rigidgrains.model.shapes import Plane
from rigidgrains.model.walls import Drive, Wall
from rigidgrains.simulation import integrate
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.solve.criteria import LocalCriterion
from rigidgrains.solve.sweeps import Sweeps

UP = np.array([0.0, 1.0, 0.0])
RIGHT = np.array([1.0, 0.0, 0.0])


def exact(**settings: Any) -> Sweeps:
    """A solver that stops only when the forces have settled to rounding."""
    return Sweeps(criterion=LocalCriterion(epsilon=1e-12), max_sweeps=100_000, **settings)


def grains(position: Any, radius: Any = 1.0, mass: Any = 1.0, *, dimension: int = 3, **rest: Any) -> Bodies:
    """Grains of given mass at positions of three components."""
    position = np.array(position, dtype=float).reshape(-1, 3)
    radius = np.full(len(position), radius, dtype=float)
    volume = np.pi * radius**2 if dimension == 2 else 4.0 / 3.0 * np.pi * radius**3
    return Bodies.assemble(dimension=dimension, position=position, radius=radius, density=mass / volume, **rest)


def plane(point: Any, normal: Any, name: str = "floor", **rest: Any) -> Wall:
    """A plane wall; rest goes to Wall."""
    return Wall(name, Plane(np.array(point, dtype=float), np.array(normal, dtype=float)), **rest)


def floor(**rest: Any) -> Wall:
    """A fixed floor at y = 0."""
    return plane([0.0, 0.0, 0.0], UP, **rest)


def belt(velocity: Any) -> Wall:
    """A floor at y = 0 that moves at constant velocity."""
    return floor(drive=Drive(velocity=np.array(velocity, dtype=float)))


def column(n: int, *, radius: Any = 1.0, mass: Any = 1.0, g: float = 10.0, **rest: Any) -> Bodies:
    """n touching grains upright on a floor; grain 0 is the lowest."""
    radius = np.full(n, radius, dtype=float)
    top = np.cumsum(2.0 * radius)
    position = np.zeros((n, 3))
    position[:, 1] = top - radius
    walls = [floor(), *rest.pop("walls", [])]
    return grains(position, radius, mass, gravity=[0.0, -g, 0.0], walls=walls, **rest)


def chain(n: int, *, force: float = 1.0, mass: float = 1.0) -> Bodies:
    """n touching disks of diameter 1 along x against a wall at x = 0; the rightmost is pressed to the left."""
    position = np.zeros((n, 3))
    position[:, 0] = 0.5 + np.arange(n)
    push = np.zeros((n, 3))
    push[-1, 0] = -force
    return grains(position, 0.5, mass, dimension=2, force=push, walls=[plane([0, 0, 0], RIGHT, "wall")])


def triangular(rows: int, columns: int, *, mu: float = 0.0, load: float = 10.0, g: float = 0.0) -> Bodies:
    """Touching unit disks on a triangular lattice in a box, under a piston that carries a load."""
    height = np.sqrt(3.0)
    position = [
        [1.0 + 2.0 * k + (row % 2), 1.0 + height * row, 0.0] for row in range(rows) for k in range(columns - row % 2)
    ]
    top = 2.0 + height * (rows - 1)
    walls = [
        floor(),
        plane([0, 0, 0], RIGHT, "left"),
        plane([2.0 * columns, 0, 0], -RIGHT, "right"),
        plane([0, top, 0], -UP, "piston", mass=5.0, load=load),
    ]
    return grains(position, 1.0, 1.0, dimension=2, friction=mu, gravity=[0.0, -g, 0.0], walls=walls)


def cloud(n: int, *, seed: int = 0, mu: float = 0.3, dimension: int = 3, speed: float = 1.0) -> Bodies:
    """Free grains of mixed sizes that fly at random towards each other, with random spins."""
    rng = np.random.default_rng(seed)
    side = int(np.ceil(n ** (1.0 / dimension)))
    axes = [np.arange(side)] * dimension + [np.zeros(1)] * (3 - dimension)
    lattice = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)[:n] * 2.2
    lattice = lattice - lattice.mean(axis=0)
    velocity, spin = rng.normal(size=(n, 3)) * speed - 0.5 * speed * lattice, rng.normal(size=(n, 3)) * speed
    if dimension == 2:
        velocity[:, 2] = 0.0
        spin[:, :2] = 0.0
    return grains(
        lattice, rng.uniform(0.5, 1.0, n), rng.uniform(0.5, 2.0, n), dimension=dimension, velocity=velocity, spin=spin,
        friction=mu,
    )  # fmt: skip


def prepare(bodies: Bodies, dt: float, *, gap: str = "g_pos") -> ContactProblem:
    """The contact problem of a first step: free velocities, neighbours, contacts; no force yet."""
    integrate.free_velocity(bodies, 0.0, dt)
    neighbours, contacts = Neighbours(), Contacts()
    neighbours.refresh(bodies, dt)
    contacts.gather(bodies, neighbours, find_candidates(bodies, neighbours, dt), dt, gap=gap)
    return contacts.problem(bodies, dt)


def settle(bodies: Bodies, dt: float = 1e-2, steps: int = 1, **settings: Any) -> Simulation:
    """Some steps solved to rounding."""
    simulation = Simulation(bodies, dt=dt, solver=exact(**settings))
    for _ in range(steps):
        simulation.step()
    return simulation


class Counter(Observer):
    """Keeps what it was told."""

    def __init__(self):
        self.log = []

    def start(self, simulation, steps):
        self.log.append(("start", simulation.steps, steps))

    def look(self, simulation):
        self.log.append(("look", simulation.steps))

    def finish(self, simulation):
        self.log.append(("finish", simulation.steps))
