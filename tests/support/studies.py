"""A scene that takes no time, with numbers that are known: a ball in free fall, and a box of grains that meet."""

from __future__ import annotations

from pathlib import Path

import rigidgrains as rg

DT, STEPS = 1e-3, 20
BALL = {
    "dimension": 2,
    "gravity": [0, -10],
    "grains": [{"name": "ball", "positions": [[0, 1]], "radius": 0.1, "density": 100}],
    "run": {"dt": DT, "steps": STEPS},
    "output": {"frame_every": 1000},
}
BOX = """
dimension = 2
gravity = [0, -9.81]

[[grains]]
name = "sand"
count = 30
radius = [0.9e-3, 1.1e-3]
region = [[0, 0], [0.02, 0.012]]

[[box]]
lower = [0, 0]
upper = [0.02, 0.03]
open = ["top"]

[run]
dt = 4e-4
steps = 200

[output]
every = 5
frame_every = 50
checkpoint_every = 10
"""
STUDY = """
title = "grains in a box"
scene = "scene.toml"
replicas = 2

[vary]
friction = [0.1, 0.5]
"grains.sand.radius" = { from = 0.8e-3, to = 1.0e-3, steps = 2 }

[measure]
z = "coordination.z_all"
energy = { of = "column:kinetic_energy", from = "50%" }
height = "own:height"
"""
OWN = """
def height(frame):
    return frame.position[:, 1].mean()
"""


def falling(**words: object) -> rg.Study:
    """A study of the ball, by default over gravity."""
    return rg.Study(**{"scene": BALL, "vary": {"gravity[1]": [-10.0, -20.0]}, **words})


def write(folder: Path, *, study: str = STUDY, scene: str = BOX) -> Path:
    """The study of the box as files; gives the study file."""
    (folder / "scene.toml").write_text(scene)
    (folder / "own.py").write_text(OWN)
    (folder / "study.toml").write_text(study)
    return folder / "study.toml"
