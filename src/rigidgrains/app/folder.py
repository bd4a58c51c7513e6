"""The folder of a run: its name, what is kept in it beside the trajectory, and whether it can be written."""

from __future__ import annotations

import filecmp
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..files.outputs import whole

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation

REPORT, PICTURE, PLOT = "report.json", "packing.png", "history.png"
SCENE, PROBLEMS = "scene.toml", "problems"  # a copy, and the folder for contact problems


def choose_folder(scene: Path, output: Path | None) -> Path:
    """The folder asked for, or one named after the scene that is not there yet."""
    folder, number = output or Path(scene.stem), 1
    while output is None and folder.exists():
        number += 1
        folder = Path(f"{scene.stem}-{number}")
    return folder


def make_folder(folder: Path) -> None:
    """Make it, if it is not there, and see whether files can be made in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as problem:
        raise ValueError(
            f"output folder {folder} cannot be used: {problem.strerror}; choose another with --output"
        ) from None


def saved_problems(folder: Path) -> list[Path]:
    """Contact problems that a run has left there; files of other names are somebody else's."""
    return [path for path in sorted((folder / PROBLEMS).glob("step-*.hdf5")) if path.stem[len("step-") :].isdigit()]


def clear(paths: Iterable[Path]) -> None:
    """Remove what an earlier run has left: it would be taken for results of the next."""
    for path in paths:
        try:
            path.unlink(missing_ok=True)
        except OSError as problem:
            told = f"{path} cannot be replaced: {problem.strerror}; remove it, or choose another folder with --output"
            raise ValueError(told) from None


def reported_step(report: Path, history: Mapping[str, NDArray[np.float64]], last: Mapping[str, object]) -> int | None:
    """The step of which a report tells; None if there is none, or one that is not of the run with this history.

    It is, if the history, or the last report in the file, has that step with the same time and kinetic energy, to the
    bit: a run that was interrupted has no row of that step.
    """
    try:
        told = json.loads(report.read_text(encoding="utf-8"))
        step, time, energy = (told[name] for name in ("steps", "time", "kinetic_energy"))
    except (OSError, ValueError, TypeError, KeyError):
        return None
    same = (history["step"] == step) & (history["time"] == time) & (history["kinetic_energy"] == energy)
    own = [last.get(name) for name in ("steps", "time", "kinetic_energy")] == [step, time, energy]
    return int(step) if own or same.any() else None


def copies_of(path: Path, folder: Path, files: list[Path], text: str) -> dict[Path, Path]:
    """The scene, and the files of grains beside it, are kept with the results, to be run again from there.

    text : of the scene as it is run
    Returns the source of each copy to make; those that are there already need none.
    """
    kept = folder / SCENE
    there = kept.is_file() and kept.read_bytes().decode("utf-8-sig", "replace") == text
    copies = {}
    for file in files:
        beside = Path(os.path.relpath(file, path.parent))
        if ".." not in beside.parts:
            copies[folder / beside] = file
    needed = {
        target: source
        for target, source in copies.items()
        if not (target.is_file() and filecmp.cmp(source, target, shallow=False))
    }
    return needed if there else {kept: path, **needed}


def save_results(simulation: Simulation, path: Path, names: list[str], *, colour: str) -> None:
    """Write the report and draw the pictures that are named, beside the trajectory.

    Old pictures go first: whenever a run is killed, those beside a report are of the same state.
    """
    folder = path.parent
    for name in names:
        if name != REPORT:
            (folder / name).unlink(missing_ok=True)
    if REPORT in names:
        with whole(folder / REPORT) as part:
            part.write_text(simulation.report().to_json() + "\n", encoding="utf-8")
    if PICTURE in names:
        from ..view.packing import draw_packing

        draw_packing(simulation, folder / PICTURE, colour=colour)
    if PLOT in names:
        from ..trajectory.reader import Trajectory
        from ..view.series import draw_history

        with Trajectory(path) as trajectory:
            draw_history(trajectory, folder / PLOT)


def problem_saver(folder: Path) -> Callable[[Simulation], None]:
    """Writes the contact problem of a step in the FCLIB format; steps without contacts have none."""
    from ..fclib import save_problem

    def save(simulation: Simulation) -> None:
        if simulation.contacts.count:
            save_problem(simulation, folder / f"step-{simulation.steps:06d}.hdf5", force=True)

    return save
