"""From a scene file to a folder of results: what `rigidgrains run` does."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .observe.history import History
from .observe.measure import loads
from .observe.progress import Progress
from .observe.report import Report
from .observe.stop import StopWhenStatic
from .scene import load_scene
from .scene.settings import Output
from .simulation import DivergenceError, Simulation
from .solve.criteria import RigidSweeps


class RunFailed(RuntimeError):
    """The run could not go on; what it had found is saved."""


@dataclass
class Outcome:
    """What a run left behind."""

    report: Report
    folder: Path


def run_scene(
    path: Path,
    *,
    until: float | None = None,
    steps: int | None = None,
    seed: int | None = None,
    output: Path | None = None,
    rigid: float | None = None,
    progress: bool = True,
) -> Outcome:
    """Run a scene file to its end and save everything; raises SceneError or ValueError before the first step."""
    scene = load_scene(path)
    if until is None and steps is None:
        until, steps = scene.run.until, scene.run.steps
    for name, value in (("until", until), ("steps", steps)):
        if value is not None and not value > 0:
            raise ValueError(f"--{name} {value} is no end of a run; give a positive number")
    if until is None and steps is None:
        raise ValueError(f"{path} does not say when to stop; add until = ... (s) to [run], or pass --until or --steps")
    if scene.run.dt is None:
        raise ValueError(f"{path} gives no time step; add dt = ... (s) to [run]")
    simulation = Simulation(scene, seed=seed)
    if rigid is not None:
        simulation.solver.criterion = RigidSweeps(rigid)
    folder = _make_folder(path, output)
    history = History()
    simulation.observe(history, every=scene.output.every)
    if progress:
        simulation.observe(Progress(), every=5)
    if scene.run.stop_speed is not None:
        simulation.observe(StopWhenStatic(scene.run.stop_speed))
    if not (folder / "scene.toml").exists() or not path.samefile(folder / "scene.toml"):
        shutil.copyfile(path, folder / "scene.toml")
    try:
        simulation.run(until=until, steps=steps)
    except DivergenceError as failure:
        _save(simulation, history, folder, scene.output)
        raise RunFailed(f"{failure} Saved in {folder}/.") from None
    except BaseException:  # whatever stops a run, what it has found is kept
        _save(simulation, history, folder, scene.output)
        raise
    return Outcome(_save(simulation, history, folder, scene.output), folder)


def _save(simulation: Simulation, history: History, folder: Path, output: Output) -> Report:
    try:
        return save(simulation, history, folder, output)
    except OSError as problem:
        reason = problem.strerror or problem
        told = f"results cannot be written to {folder}/: {reason}; the run had come to {simulation.time:g} s"
        raise RunFailed(told) from None


def save(simulation: Simulation, history: History, folder: Path, output: Output) -> Report:
    """Write report, history, final state and pictures: what is smallest and says most comes first."""
    report = simulation.report()
    (folder / "report.json").write_text(report.to_json() + "\n", encoding="utf-8")
    history.save(folder / "history.csv")
    save_state(simulation, folder / "state.npz")
    if output.picture:
        from .view.packing import draw_packing

        draw_packing(simulation, folder / "packing.png", colour=output.colour)
    if output.plot and len(history):
        from .view.series import draw_history

        draw_history(history, folder / "history.png")
    for name, written in (("packing.png", output.picture), ("history.png", output.plot and len(history))):
        if not written:  # a picture of an earlier run would be taken for one of this
            (folder / name).unlink(missing_ok=True)
    return report


def save_state(simulation: Simulation, path: Path) -> None:
    """Grains, walls and contacts of the last step as plain arrays; contact_wall is -1 between grains."""
    bodies, contacts = simulation.bodies, simulation.contacts
    wall = np.full(contacts.count, -1)
    for w, rows in enumerate(contacts.wall_rows):
        wall[rows] = w
    part = path.with_suffix(".part.npz")  # an earlier state stays until this one is whole
    np.savez(
        part,
        time=simulation.time,
        position=bodies.position,
        orientation=bodies.orientation,
        velocity=bodies.velocity,
        spin=bodies.spin,
        radius=bodies.radius,
        mass=bodies.mass,
        load=loads(bodies, contacts),
        wall_name=np.array([wall.name for wall in bodies.walls], dtype=str),
        wall_point=np.array([wall.shape.point for wall in bodies.walls]).reshape(-1, 3),
        wall_velocity=bodies.motion[bodies.count : bodies.count + len(bodies.walls), 0:3],
        contact_pair=contacts.pairs,
        contact_wall=wall,
        contact_normal=contacts.normal,
        contact_gap=contacts.gap,
        contact_force=contacts.force,
    )
    part.replace(path)


def _make_folder(scene: Path, output: Path | None) -> Path:
    """The folder asked for, or a new one named after the scene: results of an earlier run are never overwritten."""
    folder, number = output or Path(scene.stem), 1
    while output is None and folder.exists():
        number += 1
        folder = Path(f"{scene.stem}-{number}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".writable").touch()
        (folder / ".writable").unlink()
    except OSError as problem:
        raise ValueError(
            f"output folder {folder} cannot be used: {problem.strerror}; choose another with --output"
        ) from None
    return folder
