"""The neglected turn of the geometry within a step: against the size of grains and against the curvature of walls."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.builders import grains

from rigidgrains import Simulation
from rigidgrains.model.shapes import Cylinder
from rigidgrains.model.walls import Drive, Wall

Z = np.array([0.0, 0.0, 1.0])


def cylinder(radius, *, inside, velocity=(0.0, 0.0, 0.0), axis=Z):
    shape = Cylinder(np.zeros(3), np.array(axis, dtype=float), radius, inside, math.inf)
    return Wall("rod", shape, drive=Drive(velocity=np.array(velocity, dtype=float)))


def pressed(position, speed, wall, force, **rest):
    """A smooth disk of radius and mass 1 held against a wall, which it passes at a speed; one step of 0.01 s."""
    bodies = grains([position], 1.0, 1.0, dimension=2, velocity=[speed], force=[force], walls=[wall], **rest)
    simulation = Simulation(bodies, dt=0.01)
    simulation.step()
    assert simulation.contacts.forces[0, 0] > 0.0
    return simulation.report()


@pytest.mark.parametrize(("rod", "told"), [(0.05, True), (0.8, False), (5.0, False)])
def test_a_rod_thinner_than_the_grain_counts(rod, told):
    """A way of 0.02 radii is 0.4 radii of a rod of 0.05: told, with the rod's name; beside thicker ones it is not."""
    report = pressed([0, 1.0 + rod, 0], [2.0, 0, 0], cylinder(rod, inside=False), [0, -100.0, 0])
    assert report.max_displacement_over_radius == pytest.approx(0.02 / min(rod, 1.0), rel=1e-2)
    assert any("radii of curvature of wall 'rod'" in text and "dt below" in text for text in report.warnings) is told


def test_a_moving_rod_counts_as_well():
    """The displacement is that of one relative to the other."""
    wall = cylinder(0.05, inside=False, velocity=(2.0, 0, 0))
    assert pressed([0, 1.05, 0], [0, 0, 0], wall, [0, -100.0, 0]).max_displacement_over_radius == pytest.approx(
        0.4, rel=1e-2
    )


@pytest.mark.parametrize(("tube", "told"), [(1.05, True), (10.0, False)])
def test_a_tube_hardly_wider_than_the_grain_counts(tube, told):
    """The centre goes round on a circle of radius R - r = 0.05, and the normal turns by 0.02/0.05 within the step."""
    report = pressed([0, 1.0 - tube, 0], [2.0, 0, 0], cylinder(tube, inside=True), [0, -100.0, 0])
    assert report.max_displacement_over_radius == pytest.approx(0.02 / min(tube - 1.0, 1.0), rel=0.1)
    assert any("curvature" in text for text in report.warnings) is told


def test_a_way_along_the_axis_turns_nothing():
    """A sphere that slides along a thin rod meets the same surface at every place: only its own radius counts."""
    wall = cylinder(0.05, inside=False, axis=[1.0, 0.0, 0.0])
    bodies = grains([[0, 1.05, 0]], velocity=[[2.0, 0, 0]], force=[[0, -100.0, 0]], walls=[wall])
    simulation = Simulation(bodies, dt=0.01)
    simulation.step()
    assert simulation.report().max_displacement_over_radius == pytest.approx(0.02, rel=1e-2)


def test_a_grain_that_only_flies_by_does_not_count():
    bodies = grains([[0, 1.2, 0]], dimension=2, velocity=[[2.0, 0, 0]], walls=[cylinder(0.05, inside=False)])
    simulation = Simulation(bodies, dt=0.01)
    simulation.step()
    assert simulation.report().max_displacement_over_radius == pytest.approx(0.02)


def test_dt_auto_bounds_the_way_at_a_thin_rod():
    """|v| dt <= travel R where the gap is closed: 0.1 of 0.05 at 2 m/s."""
    bodies = grains([[0, 1.05, 0]], dimension=2, velocity=[[2.0, 0, 0]], walls=[cylinder(0.05, inside=False)])
    simulation = Simulation(bodies, dt="auto")
    simulation.step()
    assert simulation.dt == pytest.approx(0.1 * 0.05 / 2.0, rel=1e-3)
