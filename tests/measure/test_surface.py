"""Free surface and angle of repose: heaps and slopes whose surface is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.frames import still

from rigidgrains import measure


def pile(rows):
    """A triangle of touching disks, whose flanks lean by 60 degrees."""
    at = [(2.0 * k + y, math.sqrt(3.0) * y, 0.0) for y in range(rows) for k in range(rows - y)]
    return still(at, dimension=2)


def cone(angle, *, n=60, radius=0.2):
    """Small spheres whose highest points lie on a cone about (1, 2)."""
    rng = np.random.default_rng(4)
    away, turn = 10.0 * np.sqrt(rng.random(n * n)), 2.0 * np.pi * rng.random(n * n)
    z = math.tan(math.radians(angle)) * (10.0 - away)
    return still(np.column_stack([1.0 + away * np.cos(turn), 2.0 + away * np.sin(turn), z]), radius)


def test_the_surface_is_exact_in_each_column():
    """A disk of radius 1 at 0 and a higher one at 3: columns of width 1/2 see the disk at their nearest point."""
    found = measure.free_surface(still([[0, 0, 0], [3, 1, 0]], dimension=2), width=0.5, up=(0, 1))
    x = found.at[:, 0]
    assert x.tolist() == pytest.approx([-0.75, -0.25, 0.25, 0.75, 2.25, 2.75, 3.25, 3.75])
    near = np.clip(np.where(x < 1.0, 0.0, 3.0), x - 0.25, x + 0.25)
    expected = np.where(x < 1.0, 0.0, 1.0) + np.sqrt(1.0 - (near - np.where(x < 1.0, 0.0, 3.0)) ** 2)
    assert found.height == pytest.approx(expected)


@pytest.mark.parametrize("turn", [0.0, 25.0, 140.0])
def test_what_is_up_may_point_anywhere(turn):
    """A row of disks, seen in a frame that is turned with gravity."""
    a = math.radians(turn)
    along, up = np.array([math.cos(a), math.sin(a), 0.0]), np.array([-math.sin(a), math.cos(a), 0.0])
    frame = still([2.0 * k * along for k in range(6)], dimension=2)
    found = measure.free_surface(frame, up=up[:2])
    assert found.height == pytest.approx(np.ones(6))
    slope = still([2.0 * k * (math.cos(0.3) * along + math.sin(0.3) * up) for k in range(40)], dimension=2)
    fit = measure.repose(slope, kind="slope", ends=(0.25, 0.75), up=up[:2], width=2.0 * math.cos(0.3))
    assert fit.angle == pytest.approx(math.degrees(0.3), abs=1e-6)


def test_the_flanks_of_a_triangle_of_disks_lean_by_sixty_degrees():
    found = measure.repose(pile(24), up=(0, 1), width=1.0)
    assert (found.left, found.right) == (pytest.approx(60.0, abs=0.5), pytest.approx(60.0, abs=0.5))
    assert found.left == pytest.approx(found.right, abs=1e-9)
    assert found.angle == pytest.approx(0.5 * (found.left + found.right))
    assert found.peak == pytest.approx([23.0])
    assert found.error < 1.0


def test_a_lopsided_heap_has_two_angles():
    left, right = math.tan(math.radians(20.0)), math.tan(math.radians(35.0))
    x = np.arange(-40.0, 25.0)
    z = np.where(x < 0.0, left * (x + 40.0), left * 40.0 - right * x)
    frame = still(np.column_stack([x, z, 0.0 * x])[z > 0.0], 0.3, dimension=2)
    found = measure.repose(frame, up=(0, 1), width=1.0)
    assert (found.left, found.right) == (pytest.approx(20.0, abs=0.3), pytest.approx(35.0, abs=0.6))


@pytest.mark.parametrize("angle", [12.0, 28.0])
def test_a_cone_of_spheres(angle):
    found = measure.repose(cone(angle), up=(0, 0, 1), width=0.8)
    assert found.angle == pytest.approx(angle, abs=1.0)
    assert found.peak == pytest.approx([1.0, 2.0], abs=0.15)


def test_a_slope_in_three_dimensions_may_face_any_way():
    x, y = (a.ravel() for a in np.meshgrid(np.arange(20.0), np.arange(20.0)))
    z = math.tan(math.radians(24.0)) * (0.6 * x + 0.8 * y)
    frame = still(np.column_stack([x, y, z]), 0.5)
    found = measure.repose(frame, kind="slope", ends=(0.2, 0.8), up=(0, 0, 1), width=1.0)
    assert found.angle == pytest.approx(24.0, abs=1e-6)


def test_grains_that_fly_are_no_surface():
    push = np.array([1.0, 0.0, 0.0])
    frame = still([[0, 0, 0], [2, 0, 0], [1, 9, 0]], dimension=2, links=[(0, 1, push, push)])
    assert measure.free_surface(frame, up=(0, 1)).height.max() == pytest.approx(1.0)
    assert measure.free_surface(frame, up=(0, 1), touching=False).height.max() == pytest.approx(10.0)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"kind": "hill"}, "it is 'heap' or 'slope'"),
        ({"ends": (0.9, 0.2)}, "give two numbers between 0 and 1"),
        ({"width": -1.0}, "width = -1.0 is no width"),
        ({"width": 1e-9}, "makes more than 10,000,000 columns; give a wider one"),
        ({"up": None}, "give a direction"),
        ({"up": (0, 0, 1)}, "is no direction in 2D"),
        ({"width": 100.0}, r"the surface is flat|too few for a flank"),
    ],
)
def test_bad_words(words, message):
    with pytest.raises(ValueError, match=message):
        measure.repose(pile(8), **{"up": (0, 1), **words})
