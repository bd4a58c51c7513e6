"""The test set: contact problems made by the engine, saved as steps and read again.

Units: mean diameter, mean mass and time step are 1. Packings are pressed without gravity by a piston as heavy as one
layer of grains.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rigidgrains as rg
from rigidgrains.contacts.problem import ContactProblem
from rigidgrains.detect.candidates import find_candidates
from rigidgrains.model.walls import Drive
from rigidgrains.simulation import integrate
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.solve.accelerated import AcceleratedSweeps
from rigidgrains.solve.criteria import FixedSweeps, MomentumCriterion
from rigidgrains.solve.sweeps import Sweeps

FOLDER = Path(__file__).parent / "build"  # saved steps; ignored by git, made again when it is missing
PRESSURE = 0.01
FIELDS = ("motion", "pairs", "geometry", "forces", "dt", "position", "radius")


def saved(name: str, make: Callable[[], ContactProblem]) -> ContactProblem:
    """The saved problem of this name, made first if there is none."""
    FOLDER.mkdir(exist_ok=True)
    file = FOLDER / f"{name}.npz"
    if not file.exists():
        problem = make()
        np.savez_compressed(file, **{field: getattr(problem, field) for field in FIELDS})
    with np.load(file) as data:
        fields = {field: data[field] for field in FIELDS}
    return ContactProblem(**{**fields, "dt": float(fields["dt"])})


def clone(problem: ContactProblem, *, cold: bool = False) -> ContactProblem:
    """A problem that may be solved without touching the first; cold: forgetting the carried forces."""
    arrays: dict[str, Any] = {field: getattr(problem, field) for field in FIELDS}
    arrays = {field: value.copy() if isinstance(value, np.ndarray) else value for field, value in arrays.items()}
    arrays["forces"] *= not cold
    return ContactProblem(**arrays)


def piston_step(dimension: int, n: int, mu: float, seed: int = 0) -> ContactProblem:
    """A packing at rest whose load is raised by 1 %."""
    return saved(f"piston-{dimension}d-{n}-{mu:g}-{seed}", lambda: raised(pressed(dimension, n, mu, seed), 0.01))


def tilt(dimension: int, n: int, mu: float) -> ContactProblem:
    """The same packing with a body force sideways, altogether a fifth of the load."""
    problem = clone(piston_step(dimension, n, mu))
    problem.motion[:n, 0] += 0.2 * PRESSURE * n ** ((dimension - 1) / dimension) / n
    return problem


def shake(dimension: int, n: int, mu: float) -> ContactProblem:
    """The same packing on a base that jumps up, at a hundredth of a diameter per step."""
    problem = clone(piston_step(dimension, n, mu))
    downwards = problem.geometry[:, dimension - 1] < -0.999
    base = problem.pairs[downwards & (problem.pairs[:, 1] >= n), 1][0]
    problem.motion[base, dimension - 1] += 0.01
    return problem


def settled(n: int, mu: float, seed: int = 0) -> ContactProblem:
    """The next step of spheres at rest, pressed without friction, and so densely, and then with it."""

    def make() -> ContactProblem:
        simulation = pressed(3, n, 0.0, seed)
        simulation.bodies.friction[:] = mu
        simulation.solver = AcceleratedSweeps(
            accuracy="exact", criterion=MomentumCriterion(1e-4, residual=1e-6), max_sweeps=1000
        )
        settle(simulation, 60, 0.0, loss=0.5)
        simulation.bodies.motion[:, :6] = 0.0
        return raised(simulation, 0.0)

    return saved(f"settled-{n}-{mu:g}-{seed}", make)


def impact(n: int) -> ContactProblem:
    """A column of disks that falls as a whole and is met by the floor: the step in which half of it has arrived."""

    def make() -> ContactProblem:
        scene = box(2, n, 0.3, 0, piston=False)
        scene.gravity = (0.0, -1e-4)
        simulation = Simulation(scene, dt=1.0, solver=Sweeps(order="symmetric", criterion=FixedSweeps(100)))
        simulation.bodies.velocity[:, 1] = -0.05
        for _ in range(200):
            simulation.step()
            if simulation.bodies.velocity[:, 1].mean() > -0.025:
                break
        return raised(simulation, 0.0)

    return saved(f"impact-{n}", make)


def shear(n: int, step: int = 0, rough: float = 0.5, seed: int = 0) -> ContactProblem:
    """Disks between a base that moves sideways and a piston, both of friction `rough`: one of each sixty steps."""
    name = f"shear-{n}-{step}-{rough:g}-{seed}"
    return saved(name, lambda: raised(flowing(n, 400 + 60 * step, rough, seed), 0.0))


def flowing(n: int, steps: int, rough: float, seed: int) -> Simulation:
    """A packing sheared by its base for so many steps."""
    simulation = pressed(2, n, 0.3, seed)
    bodies = simulation.bodies
    kinds = len(bodies.friction)
    friction = np.full((kinds + 1, kinds + 1), rough)
    friction[:kinds, :kinds] = bodies.friction
    bodies.friction = friction
    base = next(wall for wall in bodies.walls if wall.normal[1] > 0.999)
    base.material = bodies.walls[-1].material = kinds
    base.drive = Drive(velocity=np.array([0.01, 0.0, 0.0]))
    simulation.solver = Sweeps(order="symmetric", criterion=FixedSweeps(200))
    simulation.run(steps=steps)
    return simulation


def box(dimension: int, n: int, mu: float, seed: int, *, piston: bool = True) -> rg.Scene:
    """Grains with radii uniform in [r_min, 2 r_min] in a cube, close to a packing, under a piston if asked for."""
    mean = math.pi * 7.0 / 27.0 if dimension == 2 else 4.0 / 3.0 * math.pi * 15.0 / 108.0  # area or volume of a grain
    width = (n * mean / (0.74 if dimension == 2 else 0.5)) ** (1.0 / dimension)
    lower, upper = np.zeros(dimension), np.full(dimension, width)
    scene = rg.Scene(dimension=dimension, friction=mu)
    scene.add_grains(
        count=n, radius=(1 / 3, 2 / 3), density=1.0 / mean, region=(lower, upper), placement="dense", seed=seed
    )
    scene.add_box(lower=lower, upper=upper, open=["top"])
    if piston:
        up = np.eye(dimension)[-1]
        area = width ** (dimension - 1)
        scene.add_piston("piston", point=width * up, normal=-up, mass=area, load=PRESSURE * area)
    return scene


def pressed(dimension: int, n: int, mu: float, seed: int) -> Simulation:
    """Press the grains together with soft sweeps, then let them come to rest as rigid ones.

    Without gravity rattlers would never stop, so velocities lose a share at each step. While the piston still has a
    way to go the share is d/2L: more would let a large packing creep, and no step of it would be one at rest.
    """
    order = "symmetric" if n <= 16_000 else "coloured"  # on all threads
    soft, rigid = Sweeps(order=order, criterion=FixedSweeps(50)), AcceleratedSweeps(accuracy="exact", max_sweeps=500)
    simulation = Simulation(box(dimension, n, mu, seed), dt=1.0, solver=soft, seed=seed)
    if not settle(simulation, 5000, 1e-5, loss=0.5 / n ** (1.0 / dimension)):
        raise RuntimeError(f"{n} grains in {dimension}D do not come to rest; allow more steps")
    simulation.solver = rigid
    settle(simulation, 40, 1e-7)
    simulation.bodies.motion[:, :6] = 0.0
    return simulation


def settle(simulation: Simulation, most: int, speed: float, *, loss: float = 0.02) -> bool:
    """Step until the piston has rested for ten steps, more than the turning point of a swing; whether it does."""
    quiet = 0
    for _ in range(most):
        simulation.step()
        motion = simulation.bodies.motion
        motion[:, :6] *= 1.0 - loss
        rests = np.abs(motion[-1, :3]).max() < speed and np.abs(motion[:, :3]).max() < 1e-3
        quiet = quiet + 1 if rests else 0
        if quiet == 10:
            return True
    return False


def raised(simulation: Simulation, share: float) -> ContactProblem:
    """The problem of the next step, with the load raised by a share."""
    bodies = simulation.bodies
    if share:
        bodies.walls[-1].load *= 1.0 + share
    integrate.free_velocity(bodies, simulation.time, simulation.dt)
    simulation.neighbours.refresh(bodies, simulation.dt)
    candidates = find_candidates(bodies, simulation.neighbours, simulation.dt)
    simulation.contacts.gather(bodies, simulation.neighbours, candidates, simulation.dt, gap="g_pos")
    return simulation.contacts.problem(bodies, simulation.dt)


def pressed_chain(n: int) -> ContactProblem:
    """n touching spheres against a wall; the last one is pressed with a force of 1e-4: nothing else comes near."""
    place = [[0.5 + k, 0.0, 0.0] for k in range(n)]
    scene = rg.Scene(dimension=3, friction=0.0)
    scene.add_grains(name="chain", positions=place, radius=0.5, density=6.0 / math.pi)
    scene.add_plane("wall", point=(0, 0, 0), normal=(1, 0, 0))
    scene.add_force(grains="chain", force=(-1e-4, 0.0, 0.0), index=n - 1)
    return raised(Simulation(scene, dt=1.0, accuracy="exact"), 0.0)


def diluted(dimension: int, mu: float) -> ContactProblem:
    """Layers of grains, each in the hollows of the one below, without every seventh grain; under a piston."""
    side, rise = (30, math.sqrt(0.75)) if dimension == 2 else (12, math.sqrt(0.5))
    layer = np.indices((side,) * (dimension - 1)).reshape(dimension - 1, -1).T
    height = [np.full(len(layer), k * rise) for k in range(side)]
    place = 0.5 + np.concatenate([np.column_stack([layer + 0.5 * (k % 2), height[k]]) for k in range(side)])
    place = place[np.random.default_rng(1).random(len(place)) > 1.0 / 7.0]
    up, area = np.eye(dimension)[-1], side ** (dimension - 1)
    upper = np.full(dimension, side + 0.5)
    scene = rg.Scene(dimension=dimension, friction=mu)
    scene.add_grains(positions=place, radius=0.5, density=1.0)
    scene.add_box(lower=np.zeros(dimension), upper=upper, open=["top"])
    scene.add_piston("piston", point=(1.0 + (side - 1) * rise) * up, normal=-up, mass=area, load=PRESSURE * area)
    return raised(Simulation(scene, dt=1.0, accuracy="exact"), 0.0)
