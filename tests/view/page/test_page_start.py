"""How the page begins, in a real browser: finite walls of every shape in view, without grains, playing if asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.browser import open_page, wait_for

import rigidgrains as rg
from rigidgrains.model.shapes import SHAPES
from rigidgrains.view.page import write_page

WIDE, HIGH = 900, 600


def test_a_page_opens_with_walls_of_every_shape(browser: Any, tmp_path: Path) -> None:
    scene = rg.Scene(dimension=3, gravity=(0, 0, -10))
    scene.add_grains(positions=[(0.3, 0, 0.5)], radius=0.02)
    scene.add_plane("floor", point=(0, 0, -0.5), normal=(0, 0, 1))
    scene.add_plane("plate", point=(0, 0, -0.2), normal=(0, 0, 1), size=(0.4, 0.4), along=(1, 0, 0))
    scene.add_cylinder("tube", point=(0, 0, -0.1), axis=(0, 0, 1), radius=0.05, length=0.1)
    scene.add_cone("funnel", point=(0, 0, 0.5), radii=(0.05, 0.9), length=1.0)
    simulation = rg.Simulation(scene, dt=1e-3)
    assert {SHAPES.word_of(wall.shape) for wall in simulation.bodies.walls} == set(SHAPES)
    path = tmp_path / "walls.vtkhdf"
    simulation.observe(rg.TrajectoryWriter(path), every=1)
    simulation.run(steps=1)
    with rg.Trajectory(path) as trajectory:
        address = write_page(trajectory, path.with_suffix(".html")).as_uri()
    page = open_page(browser, address, viewport={"width": WIDE, "height": HIGH})
    assert page.complaints == []
    page.wait_for_timeout(300)
    assert page.evaluate("view.index") == 0  # nobody has asked it to play
    camera = page.evaluate("view.camera()")
    rims = [(r * np.cos(a), r * np.sin(a), z) for r, z in ((0.05, 0.0), (0.9, 1.0)) for a in np.linspace(0, 6, 25)]
    matrix = np.array(camera["matrix"]).reshape(4, 4).T
    seen = np.column_stack([np.array(rims) - camera["origin"], np.ones(len(rims))]) @ matrix.T
    assert np.abs(seen[:, :2] / seen[:, 3:]).max() < 1.0


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_page_opens_before_the_first_grain(dimension: int, browser: Any, tmp_path: Path) -> None:
    """A heap begins as an empty table; grains that enter later are shown, and the way back is open."""
    up = (*(dimension - 1) * (0.0,), 1.0)
    scene = rg.Scene(dimension=dimension, gravity=tuple(-9.81 * x for x in up))
    scene.add_plane("table", point=(0,) * dimension, normal=up)
    low, high = (*(dimension - 1) * (-0.02,), 0.05), (*(dimension - 1) * (0.02,), 0.06)
    scene.add_inflow("spout", radius=2e-3, rate=500, total=8, velocity=tuple(-0.3 * x for x in up), region=(low, high))
    path = tmp_path / "heap.vtkhdf"
    simulation = rg.Simulation(scene, dt=1e-3)
    simulation.observe(rg.TrajectoryWriter(path), every=10)
    simulation.run(steps=40)
    with rg.Trajectory(path) as trajectory:
        counts = [len(frame.position) for frame in trajectory]
        address = write_page(trajectory, path.with_suffix(".html")).as_uri()
    assert counts[0] == 0
    assert counts[-1] == 8
    page = open_page(browser, address, viewport={"width": WIDE, "height": HIGH})
    for index in (len(counts) - 1, 0, 2):
        page.evaluate(f"view.go({index})")
        wait_for(page, f"view.index === {index}")
        assert page.evaluate("view.frame.n") == counts[index]
    assert page.complaints == []
    page.close()
    page = open_page(browser, f"{address}#play")  # as the gallery embeds it
    wait_for(page, f"view.index === {len(counts) - 1}")
    assert page.complaints == []
