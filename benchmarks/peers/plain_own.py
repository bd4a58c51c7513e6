"""Worker: a scene of plain_scenes.py by rigidgrains, as it is written; CPU seconds on one core. JSON goes to stdout.

    python benchmarks/peers/plain_own.py SCENE GRAINS SEED [--accuracy fast|balanced|exact] [--short]

Start-up and compilation are not counted, nor the time that samples take.
"""

from __future__ import annotations

import argparse
import json
import os
import time

os.environ.update(NUMBA_NUM_THREADS="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", RIGIDGRAINS_THREADS="1")

import numpy as np
from plain_measures import SLIDES, State, contact_results, overlap_figures
from plain_scene import PlainScene
from plain_scenes import MU, SCENES

import rigidgrains as rg
from rigidgrains.certificate import check
from rigidgrains.model.columns import R_T
from rigidgrains.simulation.figures import forces_on_walls
from rigidgrains.trajectory.frame import Frame


class Samples:
    """Observer: the states to be measured, and the CPU seconds that this takes."""

    def __init__(self, scene: PlainScene) -> None:
        self.scene, self.states, self.seconds = scene, [], 0.0
        self.due, self.pushed, self.since = 1, np.zeros(3), 0.0

    def __call__(self, simulation: rg.Simulation) -> None:
        begun = time.process_time()
        scene = self.scene
        if simulation.time > scene.begin:
            lid = [w for w, wall in enumerate(simulation.bodies.walls) if wall.name == "lid"]
            if lid:
                self.pushed += forces_on_walls(simulation.bodies, simulation.contacts)[lid[0]] * simulation.dt
                self.since += simulation.dt
            if simulation.time >= scene.begin + self.due * scene.interval - 1e-9:
                self.states.append(self.sample(simulation, lid))
                self.pushed, self.since = np.zeros(3), 0.0
                self.due = int((simulation.time - scene.begin) / scene.interval + 1e-9) + 1
        self.seconds += time.process_time() - begun

    def sample(self, simulation: rg.Simulation, lid: list[int]) -> State:
        bodies, contacts = simulation.bodies, simulation.contacts
        pairs = contacts.wall_rows[0].start if contacts.wall_rows else contacts.count
        normal = contacts.normal_force[:pairs]
        held = np.linalg.norm(contacts.forces[:pairs, R_T], axis=1)
        slides = (normal > 0.0) & (held >= SLIDES * MU * normal)
        state = State(
            simulation.time, np.array(bodies.position), np.array(bodies.velocity), np.array(bodies.radius),
            int((normal > 0.0).sum()), int(slides.sum()),
        )  # fmt: skip
        if lid:
            state.lid = float(bodies.walls[lid[0]].shape.point[2])
            state.push = tuple((self.pushed / self.since)[[0, 2]].tolist())
        return state


def simulate(scene: PlainScene, more: dict) -> dict:
    """Run a scene to its end: what it took, and what it left."""
    simulation, samples = rg.Simulation(scene.scene(**more)), Samples(scene)
    simulation.observe(samples)
    begun = time.process_time()
    report = simulation.run(until=scene.until)
    seconds = time.process_time() - begun - samples.seconds - report.compile_seconds
    overlap = np.concatenate([scene.overlaps(state) for state in samples.states])
    record = {
        "seconds": seconds, "compiling": report.compile_seconds, "steps": report.steps, "sweeps": report.sweeps_mean,
        "most_sweeps": report.sweeps_max, "carried_steps": report.carried_steps, "dt_range": report.dt_range,
        "warnings": report.warnings, "accuracy": report.accuracy, **overlap_figures(overlap),
        "results": scene.results(samples.states) | contact_results(samples.states),
    }  # fmt: skip
    if scene.at_rest:
        bodies = simulation.bodies
        acceleration = (bodies.velocity - simulation.motion_before[: bodies.count, :3]) / simulation.dt
        record["imbalance"] = float(np.linalg.norm(acceleration, axis=1).mean())
        record["momentum_error"] = simulation.last_solve.momentum_error
        record["certificate"] = check(Frame.of(simulation)).verdict
    return record


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("scene", choices=SCENES)
    parser.add_argument("grains", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("--accuracy")
    parser.add_argument("--short", action="store_true")
    wanted = parser.parse_args()
    more = {} if wanted.accuracy is None else {"solver": {"accuracy": wanted.accuracy}}
    kind = SCENES[wanted.scene]
    simulate(kind(kind.few, wanted.seed, short=True), more)  # compile first
    begun = time.process_time()
    scene = kind(wanted.grains, wanted.seed, short=wanted.short)
    record = simulate(scene, more)
    print(json.dumps(record | {"whole": time.process_time() - begun, "version": rg.__version__}))


if __name__ == "__main__":
    main()
