"""Radical Voronoi cells: lattices, two grains, and sums, in boxes, drums and periodic cells, upright and leaning."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.builders import plane
from support.frames import still

from rigidgrains import measure
from rigidgrains.model.cell import Cell

pytest.importorskip("pyvoro2")
FLAT = np.array([True, True, False])


def box(lower, upper, *, lid=True):
    """Walls around a box."""
    d = len(lower)
    walls = []
    for axis in range(d):
        for sign, corner in ((1.0, lower), (-1.0, upper)):
            if axis == 1 and sign < 0.0 and not lid:
                continue
            normal, point = np.zeros(3), np.zeros(3)
            normal[axis], point[:d] = sign, corner
            walls.append(plane(point, normal))
    return walls


def test_cells_of_lattices_are_known():
    square = np.array([(2.0 * x, 2.0 * y, 0.0) for x in range(5) for y in range(4)])
    cell = Cell(np.diag([10.0, 8.0, 1.0]), np.array([-1.0, -1.0, 0.0]), FLAT)
    found = measure.voronoi(still(square, dimension=2, cell=cell))
    assert found.volume == pytest.approx(np.full(20, 4.0), rel=1e-9)
    assert found.fraction == pytest.approx(np.full(20, math.pi / 4.0), rel=1e-9)
    assert not found.open.any()
    face_centred = np.array(
        [(x, y, z) for x in range(6) for y in range(6) for z in range(6) if (x + y + z) % 2 == 0], float
    )
    cell = Cell(np.diag([6.0] * 3), np.full(3, -0.5), np.ones(3, bool))
    frame = still(face_centred, math.sqrt(0.5), cell=cell)
    assert measure.voronoi(frame).fraction == pytest.approx(np.full(108, math.pi / math.sqrt(18.0)), rel=1e-9)


def test_hexagons_in_a_leaning_cell_have_six_neighbours():
    """Rows shifted by a radius: the cell leans by one grain in four rows."""
    n = 4
    at = np.array([(2.0 * x + y, math.sqrt(3.0) * y, 0.0) for x in range(n) for y in range(n)])
    cell = Cell(np.array([[2.0 * n, 0, 0], [n, math.sqrt(3.0) * n, 0], [0, 0, 1.0]]), np.full(3, -0.5), FLAT)
    found = measure.voronoi(still(at, dimension=2, cell=cell))
    assert found.neighbours.tolist() == [6] * n * n
    assert found.fraction == pytest.approx(np.full(n * n, math.pi / math.sqrt(12.0)), rel=1e-9)


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_border_of_two_grains_that_touch_goes_through_their_contact(dimension):
    """Radii 1 and 3 in a box: the radical plane stands at the contact, wherever the middle is."""
    at = [[1.0, 3.0, 3.0][:dimension], [5.0, 3.0, 3.0][:dimension]]
    at = [[*row, 0.0][:3] for row in at]
    walls = box([0.0, 0.0, 0.0][:dimension], [8.0, 6.0, 6.0][:dimension])
    frame = still(at, [1.0, 3.0], dimension=dimension, walls=walls)
    found = measure.voronoi(frame)
    across = 6.0 if dimension == 2 else 36.0
    assert found.volume == pytest.approx([2.0 * across, 6.0 * across], rel=1e-9)
    assert found.neighbours.tolist() == [1, 1]
    assert not found.open.any()


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("leans", [False, True])
def test_cells_fill_space_whatever_the_sizes(dimension, leans):
    rng = np.random.default_rng(3)
    vectors = np.diag([6.0, 5.0, 4.0 if dimension == 3 else 1.0])
    if leans:
        vectors[1, 0] = 2.0
    cell = Cell(vectors, np.array([1.0, -1.0, 0.0]), np.array([True, True, dimension == 3]))
    at = cell.origin + rng.random((40, 3)) @ vectors
    at[:, dimension:] = 0.0
    found = measure.voronoi(still(at, rng.uniform(0.05, 0.4, 40), dimension=dimension, cell=cell))
    volume = float(np.prod(np.diag(vectors)[:dimension]))
    assert np.nansum(found.volume) == pytest.approx(volume, rel=1e-8)


def test_cells_of_a_heap_end_at_walls_and_at_the_box_of_the_grains():
    """A low grain beside a tower: its cell reaches up to the box, far beyond what is near."""
    tower = [[1.0, 1.0 + 2.0 * k, 0.0] for k in range(14)]
    frame = still([*tower, [3.0, 1.0, 0.0]], dimension=2, walls=box([0.0, 0.0], [4.0, 30.0], lid=False))
    found = measure.voronoi(frame)
    assert found.volume.sum() == pytest.approx(4.0 * 28.0, rel=1e-9)
    assert found.open.tolist() == [False] * 13 + [True, False]


def test_a_grain_in_the_middle_of_a_drum_has_a_cell_like_it():
    """Many grains at the rim of a drum: mirror images at its tangents make a polygon close to the circle."""
    import rigidgrains as rg

    scene = rg.Scene(dimension=2)
    rim = [[9.0 * np.cos(a), 9.0 * np.sin(a)] for a in 2.0 * np.pi * np.arange(24) / 24]
    scene.add_grains(positions=[[0.0, 0.0], *rim], radius=1.0)
    scene.add_cylinder("drum", point=[0, 0], radius=10.0)
    found = measure.voronoi(measure.of(rg.Simulation(scene, dt=1e-3)))
    polygon = 24 * 100.0 * math.tan(math.pi / 24)  # of tangents
    assert found.volume.sum() == pytest.approx(polygon, rel=1e-9)
    assert found.volume[0] == pytest.approx(24 * 4.5**2 * math.tan(math.pi / 24), rel=1e-9)


def test_what_has_no_cells_is_told(monkeypatch):
    import sys

    with pytest.raises(ValueError, match="there are no grains"):
        measure.voronoi(still(np.zeros((0, 3)), dimension=2))
    monkeypatch.setitem(sys.modules, "pyvoro2", None)
    with pytest.raises(ImportError, match=r"pip install 'rigidgrains\[voronoi\]'"):
        measure.voronoi(still([[0.0, 0.0, 0.0]], dimension=2))
