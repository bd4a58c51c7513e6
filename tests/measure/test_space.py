"""Cut volumes, packing and coordination against closed forms, quadrature and counting."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders import RIGHT, UP, column, floor, plane, settle, triangular
from support.frames import CUBIC, FCC, FCC_SITES, FEW, INF, SQUARE, TRIANGULAR, box2, box3, lattice, pressed, still

from rigidgrains import Simulation, measure
from rigidgrains.model.shapes import Cylinder
from rigidgrains.model.walls import Wall


def test_volumes_of_simple_cuts():
    sphere, disk = 4.0 / 3.0 * math.pi, math.pi
    assert box3([-2] * 3, [2] * 3) == pytest.approx(sphere, rel=1e-15)
    assert box3([0, -2, -2], [2] * 3) == pytest.approx(sphere / 2, rel=1e-14)
    assert box3([0, 0, -2], [2] * 3) == pytest.approx(sphere / 4, rel=1e-14)
    assert box3([0, 0, 0], [2] * 3) == pytest.approx(sphere / 8, rel=1e-14)
    assert box3([0.6, -INF, -INF], [INF] * 3) == pytest.approx(math.pi * 0.4**2 * (3.0 - 0.4) / 3.0, rel=1e-14)  # cap
    for h in (1e-3, 0.1, 0.9):  # a quarter of a slab
        assert box3([0, 0, 0], [2, h, 2]) == pytest.approx(math.pi / 4.0 * (h - h**3 / 3.0), abs=1e-15)
    assert box3([-0.5] * 3, [0.5] * 3) == 1.0  # the box is in the sphere
    assert box3([0.6, 0.6, 0.6], [2] * 3) == 0.0  # beyond its surface, though not beyond its faces
    assert box3([1, 2, 3], [2, 3, 4], centre=[1, 2, 3], r=1e-3) == pytest.approx(sphere / 8 * 1e-9, rel=1e-14)
    assert box2([0, 0], [2, 2]) == pytest.approx(disk / 4, rel=1e-15)
    segment = math.acos(0.3) - 0.3 * math.sqrt(1.0 - 0.09)
    assert box2([0.3, -2], [2, 2]) == pytest.approx(segment, rel=1e-14)
    assert box2([-INF, -INF], [-0.3, INF]) == pytest.approx(segment, rel=1e-14)
    # a square whose corners stick out: the disk less four segments
    assert box2([-0.8, -0.8], [0.8, 0.8]) == pytest.approx(disk - 4 * (math.acos(0.8) - 0.8 * 0.6), rel=1e-14)
    # a cube with faces at 0.8 and edges beyond the sphere: the sphere less six caps
    assert box3([-0.8] * 3, [0.8] * 3) == pytest.approx(sphere - 6 * math.pi * 0.04 * 2.8 / 3.0, rel=1e-14)


def integral(function, ends):
    """Gauss-Legendre between kinks; t = a + (b - a) sin^2 makes a square root at an end smooth."""
    at, weight = np.polynomial.legendre.leggauss(48)
    angle, total = 0.25 * math.pi * (at + 1.0), 0.0
    for a, b in pairwise(ends):
        values = [function(a + (b - a) * math.sin(t) ** 2) for t in angle]
        total += (b - a) * 0.25 * math.pi * float(weight * np.sin(2.0 * angle) @ values)
    return total


def between(side, reach):
    """Angles from one end of a side to the other, by way of those at which a disk of radius cos(t) reaches so far."""
    low, high = (math.asin(min(max(end, -1.0), 1.0)) for end in side)
    kinks = sorted(s * math.acos(r) for r in reach for s in (1, -1) if r < 1.0)
    return [low, *(k for k in kinks if low < k < high), high]


SIDE = st.tuples(st.floats(-1.3, 1.3), st.floats(0.05, 2.0)).map(lambda side: (side[0], side[0] + side[1]))


@FEW
@given(x=SIDE, y=SIDE)
def test_disks_against_quadrature(x, y):
    """Chords of the disk, clipped by the rectangle and added up over x = sin(t)."""

    def chord(t):
        h = math.cos(t)
        return max(min(h, y[1]) - max(-h, y[0]), 0.0) * h

    ends = between(x, [abs(b) for b in y])
    expected = integral(chord, ends)
    assert box2([x[0], y[0]], [x[1], y[1]]) == pytest.approx(expected, abs=1e-10)


@FEW
@given(x=SIDE, y=SIDE, z=SIDE)
def test_spheres_against_quadrature(x, y, z):
    """Disks in a rectangle, added up over the height z = sin(t)."""

    def area(t):
        r = math.cos(t)
        return box2([x[0], y[0]], [x[1], y[1]], r=r) * r if r > 0.0 else 0.0

    ends = between(z, [abs(b) for b in (*x, *y)] + [math.hypot(a, b) for a in x for b in y])
    expected = integral(area, ends)
    assert box3([x[0], y[0], z[0]], [x[1], y[1], z[1]]) == pytest.approx(expected, abs=1e-10)


@FEW
@given(cut=st.tuples(*[st.floats(-1.0, 1.0)] * 3), x=SIDE, y=SIDE, z=SIDE)
def test_parts_add_up(cut, x, y, z):
    """Eight parts of a box, and eight parts of all space, hold as much of the sphere as the whole: 1e-14."""
    for sides, whole in (((x, y, z), None), (((-INF, INF),) * 3, 4.0 / 3.0 * math.pi)):
        parts = [[(low, min(max(c, low), high)), (min(max(c, low), high), high)] for c, (low, high) in zip(cut, sides)]
        volume = sum(
            box3([p[0] for p in part], [p[1] for p in part])
            for part in ((a, b, c) for a in parts[0] for b in parts[1] for c in parts[2])
        )
        whole = box3([s[0] for s in sides], [s[1] for s in sides]) if whole is None else whole
        assert volume == pytest.approx(whole, abs=5e-14)


def test_corner_against_monte_carlo():
    point = np.random.default_rng(0).random((400_000, 3)) * [1.1, 0.9, 1.0] + [-0.2, 0.1, -0.9]
    share = ((point**2).sum(axis=1) < 1.0).mean()
    room = 1.1 * 0.9 * 1.0
    error = room * math.sqrt(share * (1.0 - share) / len(point))
    assert abs(box3([-0.2, 0.1, -0.9], [0.9, 1.0, 0.1]) - share * room) < 4.0 * error


@FEW
@given(shift=st.tuples(*[st.floats(-1.0, 1.0)] * 3))
def test_packing_of_a_lattice_cell(shift):
    """A unit cell holds the same share wherever it stands, though it cuts grains at faces, edges and corners."""
    for basis, sites, cell, dimension, phi in (
        (TRIANGULAR, ((0, 0, 0),), [2.0, 2.0 * math.sqrt(3.0)], 2, math.pi / (2.0 * math.sqrt(3.0))),
        (CUBIC, ((0, 0, 0),), [2.0] * 3, 3, math.pi / 6.0),
        (FCC, FCC_SITES, [2.0 * math.sqrt(2.0)] * 3, 3, math.pi / (3.0 * math.sqrt(2.0))),
    ):
        frame = still(lattice(basis, 3, sites), dimension=dimension)
        low = np.array(shift[:dimension])
        box = measure.Box(low, low + cell)
        assert measure.packing_fraction(frame, box=box) == pytest.approx(phi, abs=1e-13)
        edges, profile = measure.packing_profile(frame, "y", 7, box=box)
        assert profile @ np.diff(edges) / cell[1] == pytest.approx(phi, abs=1e-13)


def test_packing_within_walls():
    bodies = triangular(4, 5)  # 5 + 4 + 5 + 4 unit disks
    frame = measure.of(Simulation(bodies, dt=0.01))
    room = 10.0 * (2.0 + 3.0 * math.sqrt(3.0))
    assert measure.hull_volume(frame) == pytest.approx(room, rel=1e-12)
    assert measure.packing_fraction(frame) == pytest.approx(18.0 * math.pi / room, rel=1e-12)
    np.testing.assert_allclose(measure.enclosure(frame).upper, [10.0, 2.0 + 3.0 * math.sqrt(3.0)], rtol=1e-15)
    edges, phi = measure.packing_profile(frame, "y", 13)
    assert phi @ np.diff(edges) * 10.0 == pytest.approx(18.0 * math.pi, rel=1e-13)


def test_hulls():
    slant = np.array([-1.0, -1.0, 0.0]) / math.sqrt(2.0)
    wedge = [floor(), plane([0, 0, 0], RIGHT, "left"), plane([6, 0, 0], slant, "slant")]
    assert measure.hull_volume(still([2, 2, 0], dimension=2, walls=wedge)) == pytest.approx(18.0)
    axis = np.array([0.0, 0.0, 1.0])
    drum = Wall("drum", Cylinder(np.zeros(3), axis, 5.0, True, INF))
    assert measure.hull_volume(still([0, 0, 0], dimension=2, walls=[drum])) == pytest.approx(25.0 * math.pi)
    ends = [plane([0, 0, -2], axis, "back"), plane([0, 0, 2], -axis, "front")]
    assert measure.hull_volume(still([0, 0, 0], walls=[drum, *ends])) == pytest.approx(100.0 * math.pi)
    for walls in ([], [floor()], [floor(), plane([0, 9, 0], -UP, "roof"), plane([0, 0, 0], RIGHT, "left")], [drum]):
        with pytest.raises(ValueError, match="side open"):
            measure.hull_volume(still([2, 2, 0], walls=walls))
    with pytest.raises(ValueError, match="simple formula"):
        measure.hull_volume(
            still([9, 0, 0], dimension=2, walls=[Wall("rod", Cylinder(np.zeros(3), axis, 5.0, False, 1))])
        )
    with pytest.raises(ValueError, match="swap"):
        measure.Box([0, 1], [1, 0])
    with pytest.raises(ValueError, match="cannot cut 3D"):
        measure.packing_fraction(still([0, 0, 0]), box=measure.Box([0, 0], [1, 1]))


def test_coordination_of_a_flower_with_a_tail():
    """Six disks around one, each with three contacts; a tail of four falls off disk by disk."""
    ring = [[2.0 * math.cos(a), 2.0 * math.sin(a), 0.0] for a in np.arange(6) * math.pi / 3.0]
    tail = [[2.0 * k, 0.0, 0.0] for k in range(2, 6)]
    far = [[50.0, 0.0, 0.0]]
    for mu in (0.0, 0.5):
        found = measure.coordination(pressed([[0, 0, 0], *ring, *tail, *far], dimension=2, mu=mu))
        assert found.z == found.z_grains == 24.0 / 7.0
        assert found.z_all == 2.0 * 16.0 / 12.0
        assert found.rattlers == pytest.approx(5.0 / 12.0)
        assert found.backbone.tolist() == [True] * 7 + [False] * 5
        assert found.contacts == 12
    assert measure.coordination(pressed(ring, dimension=2)).z == 0.0  # two contacts each: held by friction alone
    assert measure.coordination(pressed(ring, dimension=2, mu=0.1)).z == 2.0


def test_coordination_of_lattices():
    """Five sites a side. Square and cubic lattices with free corners need friction; a rhombus loses two corners."""
    assert measure.coordination(pressed(lattice(SQUARE, 2), dimension=2, mu=0.1)).z == 2.0 * 40.0 / 25.0
    assert measure.coordination(pressed(lattice(SQUARE, 2), dimension=2)).rattlers == 1.0
    assert measure.coordination(pressed(lattice(CUBIC, 2), mu=0.1)).z == 2.0 * 300.0 / 125.0
    assert measure.coordination(pressed(lattice(CUBIC, 2))).rattlers == 1.0
    rhombus = measure.coordination(pressed(lattice(TRIANGULAR, 2), dimension=2))
    assert rhombus.z_all == 2.0 * 56.0 / 25.0
    assert rhombus.z == 2.0 * 52.0 / 23.0
    dense = pressed(lattice(FCC, 1, FCC_SITES))
    middle = np.flatnonzero(np.linalg.norm(dense.position, axis=1) < 1e-9)[0]
    assert measure.coordination(dense).backbone[middle]
    assert (dense.contacts.pair == middle).sum() == 12


def test_coordination_counts_walls():
    simulation = settle(column(5, radius=0.5))
    found = measure.coordination(simulation, least=1)
    assert found.z == 9.0 / 5.0
    assert found.z_grains == 8.0 / 5.0
    assert found.rattlers == 0.0
    assert measure.coordination(simulation).rattlers == 1.0  # nothing holds the topmost from above
    # a force of 1 among forces of mean 3 is no contact if half the mean is asked for
    assert measure.coordination(simulation, least=1, share=0.5).contacts == 4
