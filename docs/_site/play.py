"""Run gallery scenes for the site: python play.py FOLDER NAME ... writes FOLDER/NAME/packing.png and page.html."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import rigidgrains as rg
from rigidgrains import gallery

FRAMES, BYTES = 80, 3_000_000  # in a page, about
SCENES = Path(gallery.__file__).parent


def mark(name: str) -> str:
    """Of what a scene looks like: kept beside it when it has been run."""
    return hashlib.sha256((SCENES / f"{name}.toml").read_bytes() + Path(__file__).read_bytes()).hexdigest()


def play(name: str, folder: Path) -> None:
    """The whole scene, a picture of its end, and a page of frames that follow each other evenly."""
    scene_file = SCENES / f"{name}.toml"
    scene = rg.load_scene(scene_file)
    simulation = rg.Simulation(scene)
    path, page, until = folder / "run.vtkhdf", folder / "page.html", scene.run.until
    writer = rg.TrajectoryWriter(path, scene=scene_file.read_text(encoding="utf-8"))
    if until is None:
        simulation.observe(writer, every=max(1, scene.run.steps // FRAMES))
        simulation.run(steps=scene.run.steps)
    else:
        simulation.observe(writer, interval=until / FRAMES)
        simulation.run(until=until)
    rg.draw_packing(simulation, folder / "packing.png", size=900)
    with rg.Trajectory(path) as trajectory:
        every = 1
        rg.write_page(trajectory, page)
        while page.stat().st_size > BYTES and every < FRAMES:
            every *= 2
            rg.write_page(trajectory, page, every=every, force=True)
    for made in folder.glob("run*.vtkhdf"):
        made.unlink()


if __name__ == "__main__":
    for one in sys.argv[2:]:
        place = Path(sys.argv[1]) / one
        place.mkdir(parents=True, exist_ok=True)
        play(one, place)
        (place / "mark").write_text(mark(one), encoding="utf-8")
