"""The folder of a run: its name, what is kept in it beside the trajectory, and whether it can be written."""

from __future__ import annotations

import filecmp
import os
import tempfile
from pathlib import Path

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


def copies_of(path: Path, folder: Path, files: list[Path]) -> dict[Path, Path]:
    """The scene, and the files of grains beside it, are kept with the results, to be run again from there.

    Returns the source of each copy to make; those that are there already need none.
    """
    copies = {folder / SCENE: path}
    for file in files:
        beside = Path(os.path.relpath(file, path.parent))
        if ".." not in beside.parts:
            copies[folder / beside] = file
    return {
        target: source
        for target, source in copies.items()
        if not (target.is_file() and filecmp.cmp(source, target, shallow=False))
    }
