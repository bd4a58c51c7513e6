"""Grains of other shapes resumed from files, to the bit: with walls that come, cells, sorting, restitution."""

from __future__ import annotations

import numpy as np
import pytest

import rigidgrains as rg
from rigidgrains import certificate
from rigidgrains.trajectory.reader import Trajectory


def falling(dimension, **more):
    """Grains of two shapes and round ones, on the way down."""
    scene = rg.Scene(dimension=dimension, gravity=[0.0] * (dimension - 1) + [-9.81], friction=0.4)
    if dimension == 2:
        scene.add_shape("one", polygon=5, rounding=0.03)
        scene.add_shape("two", capsule=2.5)
    else:
        scene.add_shape("one", solid="cube", rounding=0.05)
        scene.add_shape("two", centres=[[0, 0, 0], [1, 0, 0]], radii=0.8)
    ball = "disk" if dimension == 2 else "sphere"
    upper = [0.1] * (dimension - 1) + [0.15]
    scene.add_grains(
        count=30, shape={"one": 1, "two": 1, ball: 1}, radius=(4e-3, 6e-3), region=([0.0] * dimension, upper), **more
    )
    return scene, [0.0] * dimension, upper


@pytest.mark.parametrize("case", ["box", "solids", "cell", "wall", "sorted", "rebound"])
def test_the_resumed_run_is_the_same(tmp_path, case):
    scene, lower, upper = falling(3 if case == "solids" else 2, **({"material": "m"} if case == "rebound" else {}))
    if case == "cell":
        scene.set_cell(lower=lower, upper=upper, periodic="x")
        scene.add_plane("floor", point=[0.0, 0.0], normal=[0.0, 1.0])
    else:
        scene.add_box(lower=lower, upper=upper, open=["top"])
    if case == "wall":
        scene.add_plane("late", point=[0.0, 0.2], normal=[0.0, -1.0], since=0.04)
    if case == "rebound":
        scene.add_material("m", restitution=0.5)
    sort = case == "sorted"
    straight = rg.Simulation(scene, dt=1e-3, sort=sort)
    straight.run(steps=120)

    path = tmp_path / "run.vtkhdf"
    first = rg.Simulation(scene, dt=1e-3, sort=sort)
    first.observe(rg.TrajectoryWriter(path), every=20)
    first.run(steps=60)
    second = rg.resume(path)
    second.run(steps=60)
    for name in ("position", "orientation", "motion", "shape", "id"):
        np.testing.assert_array_equal(
            getattr(second.bodies, name)[: second.bodies.count], getattr(straight.bodies, name)[: second.bodies.count]
        )
    np.testing.assert_array_equal(second.contacts.forces, straight.contacts.forces)
    np.testing.assert_array_equal(second.contacts.feature, straight.contacts.feature)
    frame = Trajectory(path)[-1]
    assert frame.catalogue.names == straight.bodies.catalogue.names
    assert (frame.contacts.feature[:, None] >= 0).all()
    assert "violated" not in certificate.check(frame).verdict
