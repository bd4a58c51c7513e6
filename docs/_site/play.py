"""Run gallery scenes and examples for the site: python play.py FOLDER NAME ...

A scene, `drum`, leaves FOLDER/drum/packing.png and page.html; an example, `07_drum`, its picture and what it printed,
picture.png and output.txt.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import runpy
import shutil
import sys
from pathlib import Path

import rigidgrains as rg
from rigidgrains import gallery

FRAMES, BYTES = 80, 3_000_000  # in a page, about
SCENES = Path(gallery.__file__).parent
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def source(name: str) -> Path:
    program = EXAMPLES / f"{name}.py"
    return program if program.exists() else SCENES / f"{name}.toml"


def mark(name: str) -> str:
    """Of what is run, and of the page's script: kept beside the results, which stay until one of them changes."""
    script = Path(rg.__file__).parent / "view" / "page" / "page.js"
    parts = (source(name), Path(__file__), *([script] if source(name).suffix == ".toml" else []))
    return hashlib.sha256(b"".join(part.read_bytes() for part in parts)).hexdigest()


def play(name: str, folder: Path) -> None:
    """The whole scene, a picture of its end, and a page of frames that follow each other evenly."""
    scene_file = source(name)
    scene = rg.load_scene(scene_file)
    simulation = rg.Simulation(scene)
    path, page = folder / "run.vtkhdf", folder / "page.html"
    writer = rg.TrajectoryWriter(path, scene=scene_file.read_text(encoding="utf-8"))
    if scene.run.steps is not None:
        simulation.observe(writer, every=max(1, scene.run.steps // FRAMES))
    else:
        longest = scene.run.until or sum(stage.until or stage.limit for stage in scene.stage)
        simulation.observe(writer, interval=longest / FRAMES)
    simulation.run(until=scene.run.until, steps=scene.run.steps)
    rg.draw_packing(simulation, folder / "packing.png", size=900)
    with rg.Trajectory(path) as trajectory:
        every = 1
        rg.write_page(trajectory, page)
        while page.stat().st_size > BYTES and every < FRAMES:
            every *= 2
            rg.write_page(trajectory, page, every=every, force=True)
    for made in folder.glob("run*.vtkhdf"):
        made.unlink()


def run_example(name: str, folder: Path) -> None:
    """The program as it stands; its pictures and its output are kept, other files are not."""
    work = folder / "work"
    work.mkdir()
    told = (folder / "output.txt").open("w", encoding="utf-8")
    with told, contextlib.redirect_stdout(told), contextlib.chdir(work):
        runpy.run_path(str(source(name)), run_name=name)
    picture = work / f"{name[3:]}.png"
    (picture if picture.exists() else next(work.glob("*.png"))).rename(folder / "picture.png")
    shutil.rmtree(work)


if __name__ == "__main__":
    os.environ["MPLBACKEND"] = "agg"
    for one in sys.argv[2:]:
        place = Path(sys.argv[1]).resolve() / one
        place.mkdir(parents=True, exist_ok=True)
        (run_example if source(one).suffix == ".py" else play)(one, place)
        (place / "mark").write_text(mark(one), encoding="utf-8")
