"""The histories of solver_statistics.py: compression, slow shear and an avalanche, in two and three dimensions.

Grains with radii between 1/3 and 2/3, friction 0.3; mean diameter, mean mass and time step are 1.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

import rigidgrains as rg
from rigidgrains.model.walls import Drive
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.solve.accelerated import AcceleratedSweeps
from rigidgrains.solve.criteria import FixedSweeps, MomentumCriterion
from rigidgrains.solve.sweeps import Sweeps
from rigidgrains.solve.virtual_power import momentum_error

Array = NDArray[np.float64]

PRESSURE, FRICTION, ROUGH, GRAVITY = 0.01, 0.3, 0.5, 1e-4


@dataclass(frozen=True)
class Bed:
    """How many grains there are, in which dimension."""

    dimension: int
    grains: int

    @property
    def volume(self) -> float:
        """Mean volume, or area, of a grain."""
        return math.pi * 7.0 / 27.0 if self.dimension == 2 else 4.0 / 3.0 * math.pi * 15.0 / 108.0

    @property
    def filled(self) -> float:
        """Volume, or area, of the grains with the room around them at the start."""
        return self.grains * self.volume / (0.7 if self.dimension == 2 else 0.45)

    @property
    def width(self) -> float:
        return float(self.filled ** (1.0 / self.dimension))

    @property
    def crossing(self) -> int:
        """(L/d)^2 sweeps: information crosses the packing."""
        return round(self.grains ** (2.0 / self.dimension))

    @property
    def up(self) -> Array:
        return np.eye(self.dimension)[-1]


@dataclass
class Tape:
    """What one history gave: figures, and the cost of its steps."""

    figures: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    sweeps: float = 0.0
    unconverged: int = 0
    errors: list[float] = field(default_factory=list)  # momentum error, every tenth step


def compression(bed: Bed, seed: int, name: str, *, steps: int = 300) -> Tape:
    """A loose start is pressed by a piston until it rests: what the packing is in the end."""
    simulation = Simulation(pressing(bed, seed), dt=1.0, solver=solver(name, bed), seed=seed)
    tape = Tape()
    for _ in range(steps // 10):
        run(simulation, 10, tape)
    tape.figures = {**state(simulation, bed), **walls(simulation)}
    return tape


def shear(bed: Bed, seed: int, name: str) -> Tape:
    """The packing between a base that moves sideways and the piston, of friction 0.5: means over the second half."""
    simulation = Simulation(pressing(bed, seed), dt=1.0, solver=AcceleratedSweeps(accuracy="exact"), seed=seed)
    for _ in range(200):
        simulation.step()
    simulation.solver = solver(name, bed)
    bodies = simulation.bodies
    base = wall_of(simulation, "base")
    bodies.walls[base].drive = Drive(velocity=np.array([0.01, 0.0, 0.0]))
    tape, rows = Tape(), []
    for _ in range(25):
        run(simulation, 10, tape)
    for _ in range(25):
        run(simulation, 10, tape)
        force = force_on(simulation, base)
        rows.append({**state(simulation, bed), "shear stress / pressure": force[0] / force[bed.dimension - 1]})
    tape.figures = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
    return tape


def avalanche(bed: Bed, seed: int, name: str) -> Tape:
    """A layer at rest in a long box whose gravity is tilted at once by 25 degrees: it slides towards one wall."""
    n, d = bed.grains, bed.dimension
    shape = np.array([6.0, 1.0] if d == 2 else [6.0, 2.0, 1.0])
    upper = shape * float(bed.filled / shape.prod()) ** (1.0 / d)
    scene = rg.Scene(dimension=d, friction=0.5, gravity=-GRAVITY * bed.up)
    scene.add_grains(
        count=n, radius=(1 / 3, 2 / 3), density=1 / bed.volume, region=(np.zeros(d), upper), placement="dense",
        seed=seed,
    )  # fmt: skip
    scene.add_box(lower=np.zeros(d), upper=upper + 3.0 * upper[-1] * bed.up, open=["top"])
    simulation = Simulation(scene, dt=1.0, solver=AcceleratedSweeps(accuracy="exact"), seed=seed)
    for _ in range(300):
        simulation.step()
    bodies = simulation.bodies
    mass = 1.0 / bodies.motion[:n, 6]
    start = mass @ bodies.position[:n] / mass.sum()
    simulation.solver = solver(name, bed)
    angle = math.radians(25.0)
    tilted = np.zeros(3)
    tilted[0], tilted[d - 1] = GRAVITY * math.sin(angle), -GRAVITY * math.cos(angle)
    bodies.gravity = tilted
    tape, energy, sliding = Tape(), [], []
    for _ in range(100):
        run(simulation, 10, tape)
        energy.append(0.5 * float(mass @ (bodies.motion[:n, :3] ** 2).sum(axis=1)) / (mass.sum() * GRAVITY))
        sliding.append(state(simulation, bed)["sliding fraction"])
    shift = mass @ bodies.position[:n] / mass.sum() - start
    far = next(w for w, wall in enumerate(bodies.walls) if np.allclose(wall.normal, (-1.0, 0.0, 0.0)))
    tape.figures = {
        "run-out of the centre of mass": float(shift[0]),
        "peak kinetic energy / m g d": max(energy),
        "sliding fraction in flow": float(np.mean(sliding[20:60])),
        "force on the wall / weight": float(np.linalg.norm(force_on(simulation, far))) / (mass.sum() * GRAVITY),
        **{f"{key}, at the end": value for key, value in state(simulation, bed).items() if key != "packing fraction"},
    }
    return tape


HISTORIES = {"compression": compression, "shear": shear, "avalanche": avalanche}


# Scenes and solvers


def pressing(bed: Bed, seed: int) -> rg.Scene:
    """Loose grains in a box without gravity, under a piston; base and piston are rough, the sides smooth."""
    d, width = bed.dimension, bed.width
    scene = rg.Scene(dimension=d, friction=FRICTION)
    scene.add_grains(
        count=bed.grains, radius=(1 / 3, 2 / 3), density=1 / bed.volume, region=(np.zeros(d), np.full(d, width)),
        placement="dense", seed=seed,
    )  # fmt: skip
    scene.add_plane("base", point=np.zeros(d), normal=bed.up, friction=ROUGH)
    for axis, (near, far) in enumerate([("left", "right"), ("front", "back")][: d - 1]):
        across = np.eye(d)[axis]
        scene.add_plane(near, point=np.zeros(d), normal=across, friction=0.0)
        scene.add_plane(far, point=width * across, normal=-across, friction=0.0)
    area = width ** (d - 1)
    scene.add_piston("lid", point=width * bed.up, normal=-bed.up, mass=area, load=PRESSURE * area, friction=ROUGH)
    return scene


def solver(name: str, bed: Bed) -> Sweeps:
    """Random: the paper's, with N_I = (L/d)^2 sweeps, or so many times as many: "random 4". Accelerated: to a momentum
    error of 1 %, its default, or another: "accelerated 1e-3".

    Local: random sweeps with their own criterion, the local one.
    """
    method, _, number = name.partition(" ")
    if method == "local":
        return Sweeps()
    if method == "random":
        return Sweeps(criterion=FixedSweeps(round(float(number or 1.0) * bed.crossing)))
    return AcceleratedSweeps(accuracy="exact", criterion=MomentumCriterion(float(number or 1e-2)))


def at_rest(bed: Bed, seed: int) -> Simulation:
    """A pressed packing, brought to rest by a tight criterion."""
    simulation = Simulation(pressing(bed, seed), dt=1.0, solver=AcceleratedSweeps(accuracy="exact"), seed=seed)
    rest(simulation, 300)
    simulation.solver = AcceleratedSweeps(accuracy="exact", criterion=MomentumCriterion(1e-6, residual=1e-6))
    rest(simulation, 60)
    return simulation


def rest(simulation: Simulation, steps: int) -> None:
    """Steps that lose 2 % of all velocities each, and the rest of them in the end."""
    for _ in range(steps):
        simulation.step()
        simulation.bodies.motion[:, :6] *= 0.98
    simulation.bodies.motion[:, :6] = 0.0


def run(simulation: Simulation, steps: int, tape: Tape) -> None:
    """Steps with their cost."""
    begin = time.process_time()
    for _ in range(steps):
        simulation.step()
        tape.sweeps += simulation.last_solve.sweeps
        tape.unconverged += not simulation.last_solve.converged
    tape.seconds += time.process_time() - begin
    tape.errors.append(momentum_error(simulation.contacts.problem(simulation.bodies, 1.0)))


# Measurements, on plain arrays


def state(simulation: Simulation, bed: Bed) -> dict[str, float]:
    """Packing fraction, coordination number, force distribution and mobilised friction of the present state."""
    bodies, contacts = simulation.bodies, simulation.contacts
    n, forces = bodies.count, contacts.forces
    carrying = forces[:, 0] > 1e-3 * forces[forces[:, 0] > 0.0, 0].mean()
    inside = carrying & (contacts.pairs[:, 1] < n)
    degree = np.bincount(contacts.pairs[carrying, 0], minlength=n) + np.bincount(contacts.pairs[inside, 1], minlength=n)
    bearing = degree[:n] >= 2
    f = forces[inside, 0] / forces[inside, 0].mean()
    figures = {
        "coordination number": float(degree[:n][bearing].mean()),
        "rattlers": float(1.0 - bearing.mean()),
        "force distribution <f^2>": float((f**2).mean()),
        "force distribution <f^3>": float((f**3).mean()),
        "sliding fraction": mobilised(forces[inside], float(contacts.geometry[inside, 6].max())),
    }
    lid = bodies.walls[-1]
    if lid.guided:
        d = bed.dimension
        solid = (math.pi if d == 2 else 4.0 / 3.0 * math.pi) * float((bodies.radius**d).sum())
        figures = {"packing fraction": solid / (bed.width ** (d - 1) * float(lid.shape.point[d - 1])), **figures}
    return figures


def mobilised(forces: Array, mu: float = FRICTION) -> float:
    """Share of the contacts that carry anything whose friction is used up to 99 %."""
    carrying = forces[:, 0] > 1e-3 * forces[:, 0].mean()
    tangential = np.linalg.norm(forces[carrying, 1:], axis=1)
    return float((tangential > 0.99 * mu * forces[carrying, 0]).mean())


def walls(simulation: Simulation) -> dict[str, float]:
    """Forces on side and base over the load."""
    bodies, found = simulation.bodies, {}
    for name, number in (("side", wall_of(simulation, "right")), ("base", wall_of(simulation, "base"))):
        force = -float(force_on(simulation, number) @ bodies.walls[number].normal)
        found[f"{name} stress / load"] = force / bodies.walls[-1].load
    return found


def force_on(simulation: Simulation, wall: int) -> Array:
    """(3,) the force of the grains on a wall in the last step."""
    rows = simulation.contacts.wall_rows[wall]
    total: Array = simulation.contacts.force[rows].sum(axis=0)
    return total


def wall_of(simulation: Simulation, name: str) -> int:
    """The number of the wall of that name."""
    return [wall.name for wall in simulation.bodies.walls].index(name)
