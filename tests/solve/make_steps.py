"""Make the steps circling.npz and repelling.npz, on which sweeps are hard put to it: `python make_steps.py [FOLDER]`.

repelling : 25 disks (`pressed` of benchmarks/solvers/problems.py, seed 1, friction 0.5) between a base that moves
            sideways and a piston, both of friction 3; a step that 20,000 sweeps do not solve
circling  : 150 disks of the gallery's biaxial test, seed 0, after 1078 steps; a step that extrapolated sweeps circle
            unless they are given less of it

Both were found in searches for steps that the solver of their day (commit d93f5c2) did not solve. The systems can be
made anew: radii and masses are those of the files to the bit. The steps cannot: sheared grains move chaotically, and
any change of the solver leads to another packing of the same grains within some hundred steps. That is why the files
are kept. This script tells what is the same, looks for the first step of each kind that the present solver meets, and
writes it as circling-anew.npz or repelling-anew.npz; it replaces neither file.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from rigidgrains import Scene
from rigidgrains.contacts.problem import ContactProblem
from rigidgrains.gallery import scene_text
from rigidgrains.model.walls import Drive
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.solve import restarts
from rigidgrains.solve.accelerated import AcceleratedSweeps
from rigidgrains.solve.criteria import FixedSweeps, MomentumCriterion
from rigidgrains.solve.sweeps import Sweeps

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "benchmarks" / "solvers"))

from problems import FIELDS, clone, pressed, raised  # noqa: E402

ALONE = AcceleratedSweeps(fallback=0, criterion=MomentumCriterion())


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for name, steps, hard in (("repelling", repelling(), repels), ("circling", circling(), circles)):
        for number, problem in steps:
            if number == 0:
                compare(name, problem)
            elif hard(problem):
                np.savez_compressed(folder / f"{name}-anew.npz", **{field: getattr(problem, field) for field in FIELDS})
                print(f"{name}: step {number} is such a step, written to {folder / f'{name}-anew.npz'}")
                break
        else:
            print(f"{name}: the present solver meets no such step; the recipe stands, the file that is kept has one")


def repelling() -> Iterator[tuple[int, ContactProblem]]:
    """Steps of 25 disks that are sheared between rough walls."""
    simulation = pressed(2, 25, 0.5, 1)
    bodies = simulation.bodies
    kinds = len(bodies.friction)
    friction = np.full((kinds + 1, kinds + 1), 3.0)
    friction[:kinds, :kinds] = bodies.friction
    bodies.friction = friction
    base = next(wall for wall in bodies.walls if wall.normal[1] > 0.999)
    base.material = bodies.walls[-1].material = kinds
    base.drive = Drive(velocity=np.array([0.01, 0.0, 0.0]))
    simulation.solver = Sweeps(order="symmetric", criterion=FixedSweeps(200))
    yield from problems_of(simulation, 1500)


def circling() -> Iterator[tuple[int, ContactProblem]]:
    """Steps of a biaxial test, solved by extrapolated sweeps alone."""
    words = tomllib.loads(scene_text("biaxial"))
    del words["solver"]
    yield from problems_of(Simulation(Scene.model_validate(words), solver=ALONE), 1500)


def problems_of(simulation: Simulation, most: int) -> Iterator[tuple[int, ContactProblem]]:
    """The problem before the first step, as number 0, and those of all steps that sweeps did not solve."""
    yield 0, clone(raised(simulation, 0.0))
    for number in range(1, most + 1):
        velocity = simulation.bodies.motion.copy()
        problem = clone(raised(simulation, 0.0))
        simulation.bodies.motion[:] = velocity
        simulation.step()
        if not simulation.last_solve.converged or not ALONE.solve(clone(problem), np.random.default_rng(0)).converged:
            yield number, problem


def repels(problem: ContactProblem) -> bool:
    """Whether neither random sweeps nor extrapolated ones solve it."""
    plain = Sweeps(criterion=MomentumCriterion(), max_sweeps=20_000)
    return not any(solver.solve(clone(problem), np.random.default_rng(0)).converged for solver in (plain, ALONE))


def circles(problem: ContactProblem) -> bool:
    """Whether sweeps whose extrapolation is never lowered miss it with most orders, and others with none."""
    orders, usual = range(6), restarts.STALL
    solved = [ALONE.solve(clone(problem), np.random.default_rng(order)).converged for order in orders]
    try:
        restarts.STALL = np.inf
        kept = [ALONE.solve(clone(problem), np.random.default_rng(order)).converged for order in orders]
    finally:
        restarts.STALL = usual
    return all(solved) and sum(kept) < 4


def compare(name: str, problem: ContactProblem) -> None:
    """Tell how far the system is that of the file which is kept."""
    with np.load(HERE / f"{name}.npz") as file:
        n = len(file["radius"])
        same = {
            "radii": np.array_equal(file["radius"], problem.radius),
            "masses": np.array_equal(file["motion"][:, 6:8], problem.motion[:, 6:8]),
            "positions": np.array_equal(file["position"], problem.position),
        }
    print(
        f"{name}: {n} grains;", ", ".join(f"{what} {'the same' if is_so else 'differ'}" for what, is_so in same.items())
    )


if __name__ == "__main__":
    main()
