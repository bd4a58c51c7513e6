"""Pictures: written, of the right size, and true to the state."""

from __future__ import annotations

import math

import numpy as np
import pytest
from matplotlib.collections import EllipseCollection, LineCollection

from rigidgrains import History, Scene, Simulation, draw_history, draw_packing
from rigidgrains.view.spheres import cast_spheres


def settled(dimension: int) -> Simulation:
    scene = Scene(dimension=dimension, gravity=(0, -9.81) if dimension == 2 else (0, 0, -9.81))
    corner = (0.02,) * dimension
    scene.add_grains(count=40, radius=(0.8e-3, 1.2e-3), region=((0,) * dimension, corner))
    scene.add_box(lower=(0,) * dimension, upper=corner, open=["top"])
    simulation = Simulation(scene, dt=2e-4)
    simulation.run(steps=400)
    return simulation


@pytest.mark.parametrize("colour", ["load", "rotation", "speed", "radius"])
@pytest.mark.parametrize("dimension", [2, 3])
def test_a_picture_is_written(dimension, colour, tmp_path):
    path = tmp_path / "packing.png"
    draw_packing(settled(dimension), path, colour=colour)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size > 10_000


def test_disks_and_forces_are_those_of_the_state():
    simulation = settled(2)
    axes = draw_packing(simulation).axes[0]
    (disks,) = (c for c in axes.collections if isinstance(c, EllipseCollection))
    (lines,) = (c for c in axes.collections if isinstance(c, LineCollection))
    assert np.array_equal(disks.get_offsets(), simulation.bodies.position[:, :2])
    force = np.linalg.norm(simulation.contacts.force, axis=1)
    force = force[simulation.contacts.forces[:, 0] > 0]
    width = np.array(lines.get_linewidths())
    weak = force < np.quantile(force, 0.9)
    assert len(width) == len(force)
    assert width[weak] / width[weak].max() == pytest.approx(force[weak] / force[weak].max(), rel=1e-9)


def test_an_unknown_colour_names_the_known_ones():
    with pytest.raises(ValueError, match="'mood' is unknown; choose one of load"):
        draw_packing(settled(2), colour="mood")


def test_a_sphere_covers_its_disk_and_hides_what_is_behind():
    """One sphere fills pi/4 of its square; a nearer small one takes pi/4 of its own."""
    corner = np.array([1.0, 1.0])
    view = np.array([0.538986, -0.769751, 0.342020])  # towards the eye
    position = np.array([np.zeros(3), 1.5 * view])
    colour = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    image = cast_spheres(position, np.array([1.0, 0.5]), colour, -corner, corner, 400)
    assert image.shape == (400, 400, 4)
    assert image[..., 3].mean() == pytest.approx(math.pi / 4, abs=0.01)
    assert (image[..., 2] > image[..., 0]).mean() == pytest.approx(math.pi / 16, abs=0.01)


def test_the_history_is_drawn(tmp_path):
    scene = Scene(dimension=2, gravity=(0, -9.81))
    scene.add_grains(positions=[(0, 0.011)], radius=0.01)
    scene.add_plane("floor", point=(0, 0), normal=(0, 1))
    history = History()
    simulation = Simulation(scene, dt=1e-3).observe(history)
    simulation.run(steps=40)
    figure = draw_history(history, tmp_path / "history.png")
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "kinetic energy (J)", "overlap / mean radius", "sweeps per step"
    ]  # fmt: skip
    assert history["time"] == pytest.approx(1e-3 * np.arange(1, 41))
    assert len(history) == 40
