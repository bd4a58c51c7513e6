"""Make the frozen test problems, see frozen.py. Done once, by the engine of commit 62956eb; not to be repeated.

python benchmarks/solvers/make_frozen.py choosing|judging [KIND ...]

The engine follows each history with accelerated sweeps to 1 % and the fallback solver (shear: 1000 sweeps at most).
Some steps are copied before they are solved: with the forces carried over from the step before, and velocities that
only loads have changed. Each kind and seed is kept in `build/` until all are there. Seeds are 1001, 1002, ... for
choosing, 2001, ... for judging.
"""

from __future__ import annotations

import math
import pickle
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from frozen import Frozen, rows_of, store, thawed
from problems import box, pressed, raised

import rigidgrains as rg
from rigidgrains.contacts.problem import ContactProblem
from rigidgrains.gallery import scene_text
from rigidgrains.model.walls import Drive
from rigidgrains.scene import load_scene
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.solve.accelerated import AcceleratedSweeps

FOLDER = Path(__file__).parent / "build"
Steps = dict[int, ContactProblem]


class Recorder(AcceleratedSweeps):
    """Accelerated sweeps that copy some problems before they solve them."""

    def follow(self, simulation: Simulation, steps: list[int]) -> Steps:
        """The problems of these steps of a simulation."""
        found: Steps = {}
        self.found = None
        for step in range(max(steps) + 1):
            self.found = {} if step in steps else None
            simulation.step()
            if self.found is not None:
                found[step] = self.found[0]
        return found

    def solve(self, problem, rng):
        if self.found == {} and problem.count:
            own = {name: getattr(problem, name) for name in ("motion", "pairs", "geometry", "forces", "extra")}
            own = {name: None if table is None else table.copy() for name, table in own.items()}
            self.found[0] = ContactProblem(
                **own, dt=problem.dt, position=problem.position.copy(), radius=problem.radius.copy()
            )
        return super().solve(problem, rng)


def followed(scene: rg.Scene, seed: int, steps: list[int], dt: float | None = None) -> Steps:
    solver = Recorder()
    solver.found = None
    return solver.follow(Simulation(scene, dt=dt, seed=seed, solver=solver), steps)


def gallery(name: str, seed: int, steps: list[int], **changes: str) -> Steps:
    """A scene of the gallery, with some of its lines changed."""
    text = scene_text(name)
    for key, value in changes.items():
        lines = text.split("\n")
        at = next(k for k, line in enumerate(lines) if line.startswith(f"{key} ="))
        lines[at] = f"{key} = {value}"
        text = "\n".join(lines)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.toml"
        path.write_text(text)
        return followed(load_scene(path), seed, steps)


def static(dimension: int, n: int) -> Callable[[int], Steps]:
    """A packing at rest under a piston, mu = 0.3; its load is raised by 1 %."""
    return lambda seed: {0: raised(pressed(dimension, n, 0.3, seed), 0.01)}


def shear(dimension: int, n: int, rough: float, steps: list[int]) -> Callable[[int], Steps]:
    """Grains between a base that moves sideways and a piston, both of friction `rough`."""

    def make(seed: int) -> Steps:
        simulation = pressed(dimension, n, 0.3, seed)
        bodies = simulation.bodies
        kinds = len(bodies.friction)
        friction = np.full((kinds + 1, kinds + 1), rough)
        friction[:kinds, :kinds] = bodies.friction
        bodies.friction = friction
        base = next(wall for wall in bodies.walls if wall.normal[dimension - 1] > 0.999)
        base.material = bodies.walls[-1].material = kinds
        base.drive = Drive(velocity=np.array([0.01, 0.0, 0.0]))
        simulation.solver = Recorder(max_sweeps=1000)
        simulation.solver.found = None
        return simulation.solver.follow(simulation, steps)

    return make


def heavy(mass: float) -> Callable[[int], Steps]:
    """150 disks onto which a piston of so many grains' mass falls by its weight; units as in problems.py."""

    def make(seed: int) -> Steps:
        scene = box(2, 150, 0.3, seed, piston=False)
        scene.gravity = (0.0, -1e-4)
        width = float(scene.grains[0].region[1][0])
        scene.add_piston("piston", point=(0.0, width + 0.3), normal=(0.0, -1.0), mass=mass, load=0.0)
        return followed(scene, seed, [100, 130, 160], dt=1.0)

    return make


def wedge(seed: int) -> Steps:
    """200 disks driven into a wedge of rough walls at 18 degrees from the vertical."""
    tilt, mean = math.radians(18.0), math.pi * 7.0 / 27.0
    scene = rg.Scene(dimension=2, friction=0.5)
    scene.add_grains(count=200, radius=(1 / 3, 2 / 3), density=1.0 / mean, region=((-5.5, 20.0), (5.5, 45.0)),
                     velocity=(0.0, -0.05), seed=seed)  # fmt: skip
    for name, side in (("left", 1.0), ("right", -1.0)):
        scene.add_plane(name, point=(0.0, 0.0), normal=(side * math.cos(tilt), math.sin(tilt)), friction=1.0)
    scene.gravity = (0.0, -1e-4)
    return followed(scene, seed, [300, 500, 700], dt=1.0)


def pour(seed: int) -> Steps:
    """200 spheres of three sizes fall into a box."""
    scene = rg.Scene(dimension=3, friction=0.5, gravity=(0.0, 0.0, -9.81))
    radius = {"values": [1.5e-3, 2.0e-3, 3.0e-3], "shares": [0.5, 0.3, 0.2], "by": "number"}
    scene.add_grains(count=200, radius=radius, density=2600.0, region=((0, 0, 0), (0.03, 0.03, 0.09)), seed=seed)
    scene.add_box(lower=(0, 0, 0), upper=(0.03, 0.03, 0.12), open=["top"])
    return followed(scene, seed, [900, 1200, 1500], dt=1e-4)


KINDS: dict[str, tuple[Callable[[int], Steps], int, int]] = {  # how many seeds for choosing, for judging
    "static 2D 250": (static(2, 250), 6, 12),
    "static 2D 1000": (static(2, 1000), 2, 5),
    "static 3D 250": (static(3, 250), 6, 12),
    "static 3D 1000": (static(3, 1000), 2, 5),
    "static 3D 4000": (static(3, 4000), 0, 1),
    "shear 2D": (shear(2, 300, 0.5, [200, 300]), 4, 10),
    "shear 3D": (shear(3, 300, 0.5, [200, 300]), 4, 8),
    "rough walls": (shear(2, 300, 5.0, [200, 300]), 4, 10),
    "biaxial": (lambda seed: gallery("biaxial", seed, [150, 300, 600, 900, 1200, 1499]), 4, 10),
    "drum": (lambda seed: gallery("drum", seed, [1000, 1200, 1400], count="300", radius="[1.7e-3, 2.5e-3]",
                                  dt="2e-4"), 4, 10),
    "pour": (pour, 4, 10),
    "piston": (lambda seed: gallery("piston", seed, [1200, 1600, 2400], count="250",
                                    radius="[1.6e-3, 3.2e-3]", dt="7e-5"), 4, 10),
    "collapse": (lambda seed: gallery("collapse", seed, [600, 700, 800, 1000]), 4, 10),
    "silo": (lambda seed: gallery("silo", seed, [700, 1100, 1300]), 4, 10),
    "heavy 1e3": (heavy(1e3), 4, 10),
    "heavy 1e5": (heavy(1e5), 4, 10),
    "wedge": (wedge, 4, 10),
}  # fmt: skip


def main() -> None:
    name, kinds = sys.argv[1], sys.argv[2:] or list(KINDS)
    FOLDER.mkdir(exist_ok=True)
    problems = []
    for kind in kinds:
        make, *counts = KINDS[kind]
        first, count = {"choosing": (1001, counts[0]), "judging": (2001, counts[1])}[name]
        for seed in range(first, first + count):
            file = FOLDER / f"{kind} {seed}.pickle"
            if not file.exists():
                begin = time.process_time()
                steps = make(seed)
                file.write_bytes(pickle.dumps(steps))
                sizes = ", ".join(f"{step}: {p.count}" for step, p in steps.items())
                print(f"{kind}, seed {seed}: {time.process_time() - begin:.1f} s, contacts {sizes}", flush=True)
            for step, p in pickle.loads(file.read_bytes()).items():
                check(p)
                problems.append(Frozen(kind, seed, step, p))
    if not sys.argv[2:]:
        store(name, problems)


def check(problem: ContactProblem) -> None:
    """Raise if what is stored would be another problem."""
    rows, pairs = rows_of(problem)
    read = thawed({key: table.astype(np.float64) for key, table in rows.items()}, pairs.astype(np.int32), problem.dt)
    for name in ("motion", "geometry", "forces", "position", "radius", "extra"):
        ours, theirs = getattr(read, name), getattr(problem, name)
        if theirs is not None:
            size = np.abs(theirs).max(axis=0, initial=0.0, where=np.isfinite(theirs))
            np.testing.assert_allclose(ours / (size + 1e-300), theirs / (size + 1e-300), rtol=4e-5, atol=4e-5)


if __name__ == "__main__":
    main()
