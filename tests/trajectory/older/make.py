"""Makes the files that later versions have to open: `python tests/trajectory/older/make.py`, once for each release.

Small runs with much of what a file can hold: materials, laws, walls that move, inflow and outlet in `disks`, shapes in
a periodic cell in `shapes`.
"""

from __future__ import annotations

import lzma
import tempfile
from pathlib import Path

import rigidgrains as rg
from rigidgrains.app.runner import run_scene

HERE = Path(__file__).parent
OUTPUT = "[output]\nevery = 5\nframe_every = 10\npicture = false\nplot = false\n"

DISKS = """
dimension = 2
gravity = [0, -9.81]
friction = 0.4
[[material]]
name = "sticky"
friction = 0.4
static_friction = 0.6
cohesion = 1e-3
rolling = 1e-4
[[grains]]
name = "bed"
count = 24
radius = [1.5e-3, 2.2e-3]
region = [[0, 0.002], [0.03, 0.03]]
material = "sticky"
[[grains]]
name = "plain"
positions = [[0.015, 0.036]]
radius = 2e-3
[[plane]]
name = "left"
point = [0, 0]
normal = [1, 0]
[[plane]]
name = "right"
point = [0.03, 0]
normal = [-1, 0]
oscillation = { amplitude = [1e-4, 0], frequency = 20.0 }
[[plane]]
name = "floor"
point = [0.011, 0]
normal = [0, 1]
size = 0.022
[[piston]]
name = "lid"
point = [0, 0.06]
normal = [0, -1]
mass = 0.05
load = 0.2
[[inflow]]
name = "rain"
region = [[0.004, 0.042], [0.026, 0.05]]
velocity = [0, -0.5]
radius = [1.5e-3, 2.2e-3]
rate = 200.0
[[outlet]]
name = "drain"
point = [0, -0.01]
normal = [0, 1]
[run]
dt = 5e-4
steps = 40
seed = 5
"""

SHAPES = """
dimension = 2
friction = 0.3
[cell]
lower = [0, 0]
upper = [0.04, 0.04]
[[shape]]
name = "pentagon"
polygon = 5
rounding = 0.1
[[grains]]
count = 20
shape = "pentagon"
radius = [3e-3, 4e-3]
velocity = [0.05, -0.02]
[run]
dt = 1e-3
steps = 40
seed = 2
"""


def make() -> None:
    for name, text in {"disks": DISKS, "shapes": SHAPES}.items():
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "run.toml").write_text(text + OUTPUT)
            made = run_scene(Path(folder) / "run.toml", output=Path(folder) / "run", progress=False)
            packed = lzma.compress(Path(made.trajectory).read_bytes())  # most of a small file is room to grow
            (HERE / f"{name}-{rg.__version__}.vtkhdf.xz").write_bytes(packed)


if __name__ == "__main__":
    make()
