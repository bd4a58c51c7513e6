"""Walls of every shape on the page, in a real browser: the first view shows the finite ones whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from support.browser import open_page

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
    camera = page.evaluate("view.camera()")
    rims = [(r * np.cos(a), r * np.sin(a), z) for r, z in ((0.05, 0.0), (0.9, 1.0)) for a in np.linspace(0, 6, 25)]
    matrix = np.array(camera["matrix"]).reshape(4, 4).T
    seen = np.column_stack([np.array(rims) - camera["origin"], np.ones(len(rims))]) @ matrix.T
    assert np.abs(seen[:, :2] / seen[:, 3:]).max() < 1.0
