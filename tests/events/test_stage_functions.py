"""Python functions in stages: no file keeps them, so a resumed run asks for those that act and those to come."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.stages import DT, G, resting

import rigidgrains as rg


def swing(t):
    return -G * math.cos(t)


def push(t):
    return 3.0 + t


def drive(t):
    return 0.01 * math.sin(30.0 * t)


def staged() -> rg.Scene:
    scene = resting()
    scene.gravity = (0, swing)
    scene.add_grains(name="ball", positions=[(3.0, 1.5)], radius=0.3)
    scene.add_piston("lid", point=(0, 2.5), normal=(0, -1), mass=1.0, load=push)
    scene.add_plane("side", point=(9, 0), normal=(-1, 0))
    scene.add_motion("pull", grains="ball", velocity=(0, 0))
    scene.add_stage("wait", until=0.1)
    scene.add_stage(
        "press", until=0.1, gravity=(0, lambda t: 0.5 * swing(t)), piston={"lid": {"load": lambda t: 9.0 * push(t)}},
        motion={"pull": {"velocity": (drive, 0)}}, plane={"side": {"velocity": (drive, 0), "rotation": drive}},
    )  # fmt: skip
    scene.add_stage("hold", until=0.1, piston={"lid": {"velocity": drive}})
    return scene


FUNCTIONS = {
    "gravity": (0, swing),
    "lid.load": push,
    "stage.press.gravity": (0, lambda t: 0.5 * swing(t)),
    "stage.press.lid.load": lambda t: 9.0 * push(t),
    "stage.press.pull.velocity": (drive, 0),
    "stage.press.side.velocity": (drive, 0),
    "stage.press.side.rotation": drive,
    "stage.hold.lid.velocity": drive,
}
PRESSING = {name for name in FUNCTIONS if name.startswith("stage.press")}
NEEDED = {
    5: set(FUNCTIONS),
    10: set(FUNCTIONS),  # the next stage begins with the next step
    15: {*PRESSING, "stage.hold.lid.velocity"},
    25: (PRESSING - {"stage.press.lid.load"}) | {"stage.hold.lid.velocity"},
}


@pytest.mark.parametrize("steps", sorted(NEEDED))
def test_functions_of_stages_are_asked_for_and_put_back(tmp_path, steps):
    """The same functions do wherever the run was interrupted; before, it ended where the next stage began."""
    path, straight = tmp_path / "run.vtkhdf", rg.Simulation(staged())
    straight.run()
    torn = rg.Simulation(staged()).observe(rg.TrajectoryWriter(path), every=100)
    torn.run(steps=steps)
    with pytest.raises(rg.TrajectoryError) as told:
        rg.resume(path)
    assert {name for name in FUNCTIONS if f"'{name}': ..." in str(told.value)} == NEEDED[steps]
    again = rg.resume(path, functions=FUNCTIONS)
    again.observe(rg.TrajectoryWriter(path, resume=True), every=100)
    again.run()
    assert np.array_equal(again.bodies.motion, straight.bodies.motion)
    assert again.report().stages == straight.report().stages
    assert rg.resume(path, functions=FUNCTIONS).steps == 30
    with pytest.raises(ValueError, match=r"no function was lost at 'stage.on.gravity'; lost are"):
        rg.resume(path, functions={"stage.on.gravity": (0, swing)})


def test_functions_of_a_cell_in_stages(tmp_path):
    scene = rg.Scene(dimension=2, run={"dt": DT})
    scene.set_cell(lower=(0, 0), upper=(5, 5))
    scene.add_grains(positions=[(1, 1), (3, 3)], radius=0.4)
    scene.add_stage("wait", until=0.1)
    scene.add_stage("shear", until=0.1, cell={"rate": {"xy": lambda t: math.sin(9.0 * t)}})
    path, straight = tmp_path / "run.vtkhdf", rg.Simulation(scene)
    straight.run()
    rg.Simulation(scene).observe(rg.TrajectoryWriter(path), every=100).run(steps=5)
    with pytest.raises(rg.TrajectoryError, match=r"functions={'stage.shear.cell.rate.xy': ...}"):
        rg.resume(path)
    again = rg.resume(path, functions={"stage.shear.cell.rate.xy": lambda t: math.sin(9.0 * t)})
    again.run()
    assert np.array_equal(again.bodies.cell.vectors, straight.bodies.cell.vectors)
    assert again.bodies.cell.vectors[1, 0] != 0.0
