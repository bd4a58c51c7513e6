"""How many sweeps does slow flow need? Steps by several bounds, each from the same states of a run by `exact`.

python validation/slow_flow.py [--scenes shear2d,shear3d,faster3d,wall] [--bounds 4,8,16] [--first 1] [--seeds 4]
                               [--quick]

A run by `exact` is left every so often: `balanced` as it is, and with one bound and the criterion of faster flow for
all steps, go on from there for 40 steps, and so does `exact`. Contacts are counted in the last 20 of them. Grains move
by little meanwhile, so that differences are those of forces, and a few seeds show 1 %. On these scenes, with seeds 1 to
18, the rule of slow flow in solve/accuracy.py was chosen; levels.py judges it on others.
"""

from __future__ import annotations

import argparse
import copy
import math
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from level_scenes import DENSITY, FRICTION, RADII, begin, contacts_of
from solver_histories import wall_of

import rigidgrains as rg
from rigidgrains.model.walls import Drive
from rigidgrains.runtime.copies import altered
from rigidgrains.solve.accuracy import LEVELS, Accuracy
from rigidgrains.solve.sweeps import SolveReport

STEPS, APART, BRANCHES = 40, 40, 6  # steps of a branch, steps to the next, branches of a run


class Solver(rg.AcceleratedSweeps):
    """By a level that is not among those of the package."""

    level = LEVELS["balanced"]

    def for_step(self, last: SolveReport, part: float = 1.0) -> rg.AcceleratedSweeps:
        return altered(self, **self.level.settings(last, part))


def shear(seed: int, grains: int, dimension: int, rate: float, dt: float) -> rg.Simulation:
    """Simple shear at constant pressure in a cell, after a strain of 0.2; mean diameter, mean mass and pressure 1."""
    disks = dimension == 2
    side = (grains * math.pi * (1.0133 / 4.0 / 0.78 if disks else 1.04 / 6.0 / 0.58)) ** (1.0 / dimension)
    scene = rg.Scene(dimension=dimension, friction=0.4)
    scene.set_cell(lower=(0,) * dimension, upper=(side,) * dimension, rate={"xy": rate}, stress={"yy": 1.0})
    scene.add_grains(count=grains, radius=RADII, density=DENSITY if disks else 6.0 / math.pi / 1.04)
    return begin(scene, dt, seed, 0.2 / rate)


def wall(seed: int, grains: int) -> rg.Simulation:
    """A wall is pushed into a bed of disks under gravity, by 0.3 d so far."""
    wide, push = 25.0, 0.01
    scene = rg.Scene(dimension=2, gravity=(0, -1), friction=FRICTION)
    region = ((0, 0), (wide, 1.3 * grains / wide))
    scene.add_grains(count=grains, radius=RADII, density=1.0, region=region, placement="dense")
    scene.add_plane("floor", point=(0, 0), normal=(0, 1))
    scene.add_plane("left", point=(0, 0), normal=(1, 0))
    scene.add_plane("right", point=(wide, 0), normal=(-1, 0))
    simulation = begin(scene, 0.06, seed, 15.0)
    pushed = simulation.bodies.walls[wall_of(simulation, "left")]
    pushed.drive = Drive(velocity=np.array([push, 0.0, 0.0]))
    simulation.run(until=simulation.time + 0.3 / push)
    return simulation


SCENES = {
    "shear2d": lambda seed, quick: shear(seed, 40 if quick else 150, 2, 0.003, 0.15),
    "shear3d": lambda seed, quick: shear(seed, 60 if quick else 250, 3, 0.005, 0.12),
    "faster3d": lambda seed, quick: shear(seed, 60 if quick else 250, 3, 0.012, 0.12),
    "wall": lambda seed, quick: wall(seed, 50 if quick else 250),
}


def main() -> None:
    """Run the scenes and print a table for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", default=",".join(SCENES), help="some of " + ", ".join(SCENES))
    parser.add_argument("--bounds", default="4,8,16", help="sweeps over L/d at most, inf for none")
    parser.add_argument("--first", type=int, default=1, help="first seed")
    parser.add_argument("--seeds", type=int, default=4, help="how many")
    parser.add_argument("--quick", action="store_true", help="small, one seed and branch, to see that it runs")
    asked = parser.parse_args()
    rg.set_threads(1)
    default = LEVELS["balanced"]
    levels = {"balanced": default}
    levels |= {f"{bound} L/d": replace(default, reach=float(bound), slow=None) for bound in asked.bounds.split(",")}
    seeds = range(asked.first, asked.first + (1 if asked.quick else asked.seeds))
    for name in asked.scenes.split(","):
        for line in table(name, compare(name, levels, seeds, asked.quick)):
            print(line, flush=True)


def compare(name: str, levels: dict[str, Accuracy], seeds: range, quick: bool) -> dict[str, np.ndarray]:
    """(branches, 4) for each level: z, sliding, sweeps a step, CPU seconds a step."""
    rows: dict[str, list[tuple[float, ...]]] = {label: [] for label in ("exact", *levels)}
    for seed in seeds:
        simulation = SCENES[name](seed, quick)
        simulation.solver = rg.AcceleratedSweeps(accuracy="exact")
        simulation.run(steps=10 if quick else 60)
        for _ in range(1 if quick else BRANCHES):
            start = copy.deepcopy(simulation)
            rows["exact"].append(follow(simulation))
            for label, level in levels.items():
                branch = copy.deepcopy(start)
                branch.solver = Solver()
                branch.solver.level = level
                rows[label].append(follow(branch))
            simulation.run(steps=1 if quick else APART)
    return {label: np.array(found) for label, found in rows.items()}


def follow(simulation: rg.Simulation) -> tuple[float, ...]:
    """One branch: means of contacts in its last half, sweeps and CPU seconds a step."""
    seen, sweeps, begun = [], 0, time.process_time()
    for step in range(STEPS):
        simulation.step()
        sweeps += simulation.last_solve.sweeps
        if step >= STEPS // 2 and step % 2 == 0:
            seen.append(contacts_of(simulation))
    z, sliding = (float(np.mean([figures[key] for figures in seen])) for key in ("z", "sliding"))
    return z, sliding, sweeps / STEPS, (time.process_time() - begun) / STEPS


def table(name: str, found: dict[str, np.ndarray]) -> Iterator[str]:
    """Lines of text; errors are standard errors over branches."""
    exact = found.pop("exact")
    mean = exact.mean(axis=0)
    yield f"{name}, {len(exact)} branches: exact z {mean[0]:.3f}, sliding {mean[1]:.4f}, {mean[2]:.0f} sweeps a step"
    for label, rows in found.items():
        apart = 100.0 * (rows - exact)[:, :2] / mean[:2]
        error = apart.std(axis=0, ddof=1) / math.sqrt(len(rows)) if len(rows) > 1 else np.full(2, math.inf)
        (z, sliding), (of_z, of_sliding) = apart.mean(axis=0), error
        cost = rows.mean(axis=0)
        yield (
            f"  {label:9s} z {z:+.2f} ± {of_z:.2f} %, sliding {sliding:+.2f} ± {of_sliding:.2f} %, "
            f"{cost[2]:.0f} sweeps, {1e3 * cost[3]:.2f} ms a step (exact {1e3 * mean[3]:.2f})"
        )


if __name__ == "__main__":
    main()
