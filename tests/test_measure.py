"""Measurements against lattices, columns, gases and other states of which the answer is known."""

from __future__ import annotations

import json
import math
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from builders import RIGHT, UP, cloud, column, floor, grains, plane, settle, triangular
from hypothesis import given, settings
from hypothesis import strategies as st

from rigidgrains import Frame, Simulation, Trajectory, TrajectoryWriter, measure, resume
from rigidgrains.detect.shapes import Cylinder
from rigidgrains.measure.cut import disk_in_box, sphere_in_box
from rigidgrains.trajectory import wall_table
from rigidgrains.trajectory.frame import Contacts
from rigidgrains.walls import Drive, Wall

FEW = settings(max_examples=40, deadline=None)
INF = math.inf


def still(position, radius=1.0, *, dimension=3, links=(), mu=0.0, walls=(), velocity=0.0, mass=1.0, time=0.0):
    """A frame made by hand. links : rows (i, j, normal, force on j) of touching bodies."""
    position = np.array(position, dtype=float).reshape(-1, 3)
    n, c = len(position), len(links)
    zeros = np.zeros((n, 3))
    data = {
        "Points": position,
        "PointData/radius": np.full(n, radius, dtype=float),
        "PointData/mass": np.full(n, mass, dtype=float),
        "PointData/velocity": zeros + velocity,
        "PointData/velocity_before": zeros + velocity,
        "PointData/spin": zeros,
        "PointData/external_force": zeros,
        "FieldData/gravity": np.zeros((1, 3)),
        "FieldData/friction": np.array([[mu]]),
        "FieldData/wall_velocity": np.zeros((len(walls), 3)),
    }
    bodies = grains(position, radius, mass, dimension=dimension, walls=list(walls))
    data |= {f"FieldData/{name}": array for name, array in wall_table.placement(bodies).items()}
    normal = np.array([link[2] for link in links], dtype=float).reshape(c, 3)
    force = np.array([link[3] for link in links], dtype=float).reshape(c, 3)
    r_n = (normal * force).sum(axis=1)
    slides = np.linalg.norm(force - r_n[:, None] * normal, axis=1) >= (1.0 - 1e-9) * mu * r_n
    contacts = {
        "PointData/pair": np.array([link[:2] for link in links], dtype=np.int32).reshape(c, 2),
        "PointData/normal": normal,
        "PointData/force": force,
        "PointData/gap": np.zeros(c),
        "PointData/status": np.where(slides, 2, 1),
    }
    figures = {"step": 0.0, "time": time, "dt": 0.1, "whole": 1.0}
    text = wall_table.describe(list(walls))
    return Frame(0, dimension, data.__getitem__, figures, Contacts(contacts.__getitem__, c), text)


def pressed(position, radius=1.0, force=1.0, **rest):
    """A frame in which all grains that touch press on each other."""
    position = np.array(position, dtype=float).reshape(-1, 3)
    away = position[None] - position[:, None]
    distance = np.linalg.norm(away, axis=2)
    i, j = np.nonzero(np.triu((distance < 2.0 * radius * (1.0 + 1e-9)) & (distance > 0.0)))
    normal = away[i, j] / distance[i, j, None]
    return still(position, radius, links=[(a, b, n, force * n) for a, b, n in zip(i, j, normal)], **rest)


def fan(normal, force, dimension):
    """Contacts of given normals and forces, each between two grains of its own."""
    links = [(2 * k, 2 * k + 1, n, f) for k, (n, f) in enumerate(zip(normal, force))]
    return still(np.zeros((2 * len(links), 3)), dimension=dimension, links=links)


def lattice(basis, cells, sites=((0.0, 0.0, 0.0),)):
    """Sites of a lattice around the origin."""
    steps = [np.arange(-cells, cells + 1) if np.any(vector) else np.zeros(1) for vector in basis]
    index = np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, 3)
    return np.concatenate([(index + np.array(site)) @ np.array(basis, dtype=float) for site in sites])


TRIANGULAR = [[2.0, 0.0, 0.0], [1.0, math.sqrt(3.0), 0.0], [0.0, 0.0, 0.0]]
SQUARE = [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]]
CUBIC = 2.0 * np.eye(3)
FCC = 2.0 * math.sqrt(2.0) * np.eye(3)
FCC_SITES = ((0, 0, 0), (0.5, 0.5, 0), (0.5, 0, 0.5), (0, 0.5, 0.5))


def box3(low, high, centre=(0.0, 0.0, 0.0), r=1.0):
    return sphere_in_box(np.array(centre, float), float(r), np.array(low, float), np.array(high, float))


def box2(low, high, centre=(0.0, 0.0, 0.0), r=1.0):
    low, high = np.append(low, -INF).astype(float), np.append(high, INF).astype(float)
    return disk_in_box(np.array(centre, float), float(r), low, high)


# --- cut volumes


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


# --- packing


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


# --- coordination


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


# --- stress


UNIFORM = pressed(lattice(CUBIC, 3), force=5.0)


def test_stress_of_a_column():
    """The k-th contact from the top carries k m g, over branches of 2 r and at last r: sum r m g n^2."""
    n, r, m, g = 6, 0.5, 2.0, 10.0
    for dimension in (2, 3):
        simulation = settle(column(n, radius=r, mass=m, g=g, dimension=dimension))
        sigma = measure.stress(simulation, volume=7.0)
        expected = np.zeros((dimension, dimension))
        expected[1, 1] = r * m * g * n**2 / 7.0
        np.testing.assert_allclose(sigma.contact, expected, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(sigma.kinetic, 0.0, atol=1e-12)
        assert sigma.pressure == pytest.approx(expected[1, 1] / dimension)
        np.testing.assert_allclose(np.abs(sigma.directions[0]), np.eye(dimension)[1], atol=1e-12)
        each = measure.grain_stress(simulation)
        k = n - np.arange(n)
        np.testing.assert_allclose(each.contact[:, 1, 1] * each.volume, r * m * g * (2 * k - 1), rtol=1e-9)
        np.testing.assert_allclose(np.tensordot(each.volume, each.contact, 1) / 7.0, sigma.contact, rtol=1e-12)


def cube(load, n=3):
    """Rough spheres on a cubic lattice between three smooth planes and three smooth pistons."""
    position = 2.0 * np.stack(np.meshgrid(*[np.arange(n)] * 3, indexing="ij"), axis=-1).reshape(-1, 3) + 1.0
    walls = []
    for a, axis in enumerate(np.eye(3)):
        walls.append(plane([0, 0, 0], axis, f"fixed{a}", material=1))
        walls.append(plane(2.0 * n * axis, -axis, f"piston{a}", mass=3.0, load=load[a], material=1))
    return grains(position, walls=walls, friction=[[0.3, 0.0], [0.0, 0.0]])


def test_stress_against_wall_forces():
    """A box under pistons at rest: contact stress = force on each wall over its area, to 1e-6."""
    load = [36.0, 72.0, 18.0]
    simulation = settle(cube(load), steps=2)
    sigma, force = measure.stress(simulation).total, measure.of(simulation).wall_force
    np.testing.assert_allclose(np.diag(sigma), np.array(load) / 36.0, rtol=1e-6)
    for a in range(3):
        np.testing.assert_allclose(force[2 * a + 1, a] / 36.0, sigma[a, a], rtol=1e-6)
        np.testing.assert_allclose(-force[2 * a, a] / 36.0, sigma[a, a], rtol=1e-6)
    np.testing.assert_allclose(measure.boundary_stress(simulation), sigma, atol=1e-9)


@FEW
@given(shift=st.tuples(*[st.floats(-1.0, 1.0)] * 3))
def test_stress_of_a_lattice_cell(shift):
    """Three contacts of force f and length 2 in a cell of 2^3, wherever it is cut: f/4 each way."""
    low = np.array(shift)
    sigma = measure.stress(UNIFORM, box=measure.Box(low, low + 2.0))
    np.testing.assert_allclose(sigma.total, np.eye(3) * 5.0 / 4.0, atol=1e-12)
    assert sigma.pressure == pytest.approx(1.25)
    assert sigma.deviator == pytest.approx(0.0, abs=1e-12)


def test_principal_stresses():
    """Given ones, turned: they come back in falling order with their directions."""
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    given_ = np.array([2.0, 7.0, 4.0])
    sigma = measure.Stress(turn @ np.diag(given_) @ turn.T, np.zeros((3, 3)), 1.0)
    np.testing.assert_allclose(sigma.principal, [7.0, 4.0, 2.0], rtol=1e-12)
    for direction, axis in zip(sigma.directions, (1, 2, 0)):
        assert abs(direction @ turn[:, axis]) == pytest.approx(1.0)
    s = given_ - given_.mean()
    assert sigma.deviator == pytest.approx(math.sqrt(1.5 * (s @ s)))
    triaxial = measure.Stress(np.diag([1.0, 4.0, 1.0]), np.zeros((3, 3)), 1.0)
    assert (triaxial.pressure, triaxial.deviator) == pytest.approx((2.0, 3.0))


def test_stress_under_a_piston_in_the_plane():
    """Smooth walls: load over width, and wall forces over their areas. Rough ones: their friction at its places too."""
    height = 2.0 + 3.0 * math.sqrt(3.0)
    simulation = settle(triangular(4, 5, load=20.0), steps=3)
    sigma, force = measure.stress(simulation), measure.of(simulation).wall_force
    assert sigma.contact[1, 1] == pytest.approx(20.0 / 10.0, rel=1e-6)
    assert sigma.contact[1, 1] == pytest.approx(force[3, 1] / 10.0, rel=1e-6)
    assert sigma.contact[0, 0] == pytest.approx(force[2, 0] / height, rel=1e-6)
    s_1, s_2 = sigma.principal
    assert sigma.deviator == pytest.approx(0.5 * (s_1 - s_2))
    assert sigma.pressure == pytest.approx(0.5 * (s_1 + s_2))
    simulation = settle(triangular(4, 5, mu=0.3, load=20.0, g=1.0), steps=3)
    inside = measure.stress(simulation).contact
    np.testing.assert_allclose(measure.boundary_stress(simulation), inside, rtol=1e-9, atol=1e-10)


def falling(dimension, seed=3):
    """A crowd of grains with spins that meet each other and a moving floor, under gravity."""
    bodies = cloud(40, dimension=dimension, mu=0.4, seed=seed, speed=3.0)
    bodies.position *= 0.8
    low = float((bodies.position[:, 1] - bodies.radius).min())
    walls = [plane([0, low, 0], UP, "floor", drive=Drive(velocity=np.array([1.0, 12.0, 0.0])))]
    return grains(
        bodies.position, bodies.radius, bodies.mass, dimension=dimension, velocity=bodies.velocity.copy(),
        spin=bodies.spin, friction=0.4, gravity=[0.5, -9.0, 0.0], walls=walls,
        force=np.random.default_rng(seed).normal(size=(40, 3)) * ([1, 1, 0] if dimension == 2 else 1),
    )  # fmt: skip


@cache
def tumult(dimension):
    """Frames of such a crowd, after each of a few steps."""
    simulation = Simulation(falling(dimension), dt=0.02)
    frames = [measure.of(simulation)]
    for _ in range(4):
        simulation.step()
        frames.append(measure.of(simulation))
    return frames


@pytest.mark.parametrize("dimension", [2, 3])
def test_stress_from_outside_in_motion(dimension):
    """Walls, weights and accelerations give the contact stress at every step, to rounding."""
    for frame in tumult(dimension)[1:]:
        inside, outside = measure.stress(frame, volume=1.0).contact, measure.boundary_stress(frame, volume=1.0)
        scale = float(np.abs(frame.contacts.force).sum())
        assert scale > 10.0
        np.testing.assert_allclose(outside, inside, atol=1e-9 * scale)


def test_kinetic_stress_of_a_gas():
    """Grains with velocities +-(a, b, c) have m N v v/V, and what moves with the flow has none."""
    v = np.array([3.0, -1.0, 2.0])
    velocity = np.array([v, -v, v, -v])
    frame = still(np.arange(12).reshape(4, 3), velocity=velocity + 7.0 * RIGHT, mass=0.5)
    np.testing.assert_allclose(measure.stress(frame, volume=8.0).kinetic, 0.5 * 4 * np.outer(v, v) / 8.0, rtol=1e-14)
    assert measure.stress(frame, volume=8.0).pressure == pytest.approx(0.5 * 4 * 14.0 / 3.0 / 8.0)
    moving = measure.stress(frame, volume=8.0, flow=frame.velocity)
    np.testing.assert_array_equal(moving.kinetic, 0.0)
    assert measure.grain_stress(frame).kinetic.shape == (4, 3, 3)


# --- fabric and anisotropy


def test_fabric_of_lattices():
    for basis, dimension in ((TRIANGULAR, 2), (SQUARE, 2), (CUBIC, 3)):
        # contacts of one grain with all its neighbours: every direction of the lattice once or twice
        sites = lattice(basis, 1)
        near = sites[np.abs(np.linalg.norm(sites, axis=1) - 2.0) < 1e-9]
        links = [(0, k, x / 2.0, x) for k, x in enumerate(near, start=1)]
        frame = still([[0, 0, 0], *near], dimension=dimension, links=links)
        np.testing.assert_allclose(measure.fabric(frame), np.eye(dimension) / dimension, atol=1e-15)
    chain = pressed([[2.0 * k, 0, 0] for k in range(5)], dimension=2)
    np.testing.assert_allclose(measure.fabric(chain), np.diag([1.0, 0.0]), atol=1e-15)
    np.testing.assert_array_equal(measure.fabric(still([0, 0, 0])), np.zeros((3, 3)))


def test_random_normals_are_isotropic():
    rng, n = np.random.default_rng(1), 20_000
    normal = rng.normal(size=(n, 3))
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    frame = fan(normal, normal, 3)
    # variance of n_x^2 is 1/5 - 1/9, of n_x n_y 1/15
    np.testing.assert_allclose(measure.fabric(frame), np.eye(3) / 3.0, atol=5.0 * math.sqrt(4.0 / 45.0 / n))
    flat = measure.orientation_histogram(frame, 10)
    np.testing.assert_allclose(flat.density, 1.0, atol=5.0 * math.sqrt(9.0 / n))
    assert flat.density @ np.diff(flat.edges) == pytest.approx(1.0)


def test_histogram_of_directions_in_the_plane():
    angle = np.deg2rad([1.0, 2.0, 91.0, 181.0, 359.0, 180.0])  # 181 is 1, 359 is 179, 180 is 0
    normal = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    found = measure.orientation_histogram(fan(normal, normal, 2), 18)
    count = np.rint(found.density * 6 * np.diff(found.edges)).astype(int)
    assert count[1:9].sum() + count[10:17].sum() == 0
    assert count[0] + count[17] == 5
    assert count[9] == 1


A_C, A_N, A_T, F = 0.3, 0.4, 0.2, 5.0


def test_anisotropies_in_the_plane():
    """Orientations at equal steps of their distribution, forces by the formulas: the three numbers come back."""
    share = (np.arange(4000) + 0.5) / 4000
    theta = 2.0 * np.pi * share
    for _ in range(30):  # the distribution function is (theta + a_c/2 sin 2 theta)/(2 pi)
        theta -= (theta + 0.5 * A_C * np.sin(2 * theta) - 2 * np.pi * share) / (1.0 + A_C * np.cos(2 * theta))
    turned = theta + 0.7
    zero = np.zeros_like(theta)
    n = np.stack([np.cos(turned), np.sin(turned), zero], axis=1)
    t = np.stack([-np.sin(turned), np.cos(turned), zero], axis=1)
    force = F * ((1.0 + A_N * np.cos(2 * theta))[:, None] * n - A_T * np.sin(2 * theta)[:, None] * t)
    found = measure.anisotropy(fan(n, force, 2))
    np.testing.assert_allclose([found.a_c, found.a_n, found.a_t, found.mean_force], [A_C, A_N, A_T, F], rtol=1e-5)
    assert abs(found.direction @ [math.cos(0.7), math.sin(0.7)]) == pytest.approx(1.0)
    across = measure.anisotropy(fan(n, force, 2), along=[-math.sin(0.7), math.cos(0.7)])
    assert across.a_c == pytest.approx(-A_C, rel=1e-5)
    assert found.deviator_over_pressure == pytest.approx(0.45, rel=1e-5)


def test_anisotropies_in_space():
    share = (np.arange(2000) + 0.5) / 2000
    c = 2.0 * share - 1.0  # the distribution function of the cosine is (1 + c + a_c (c^3 - c))/2
    for _ in range(30):
        c -= (1 + c + A_C * (c**3 - c) - 2 * share) / (1 + A_C * (3 * c**2 - 1))
    c, phi = (array.ravel() for array in np.meshgrid(c, np.arange(5) * 2.0 * np.pi / 5))
    s = np.sqrt(1 - c * c)
    n = np.stack([s * np.cos(phi), c, s * np.sin(phi)], axis=1)
    t = np.stack([c * np.cos(phi), -s, c * np.sin(phi)], axis=1)
    force = F * ((1.0 + A_N * (3 * c**2 - 1))[:, None] * n - A_T * (2 * s * c)[:, None] * t)
    found = measure.anisotropy(fan(n, force, 3))
    np.testing.assert_allclose([found.a_c, found.a_n, found.a_t, found.mean_force], [A_C, A_N, A_T, F], rtol=1e-5)
    assert abs(found.direction[1]) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="no direction"):
        measure.anisotropy(fan(n, force, 3), along=[0, 0, 0])


# --- forces


def test_networks_share_the_stress():
    """Forces 1, 1, 1, 5 along x: the mean is 2, one contact is strong and carries 5/8 of the pressure."""
    x = np.array([1.0, 0.0, 0.0])
    frame = fan([x] * 4, [x, x, x + 0.3 * UP, 5.0 * x], 2)
    found = measure.networks(frame, volume=2.0)
    assert (found.strong.share, found.weak.share) == (0.25, 0.75)
    assert (found.strong.pressure, found.weak.pressure) == (0.625, 0.375)
    both = found.strong.stress + found.weak.stress
    np.testing.assert_allclose(both, measure.stress(frame, volume=2.0).contact, rtol=1e-14)
    assert found.strong.stress[0, 0] == 5.0 * 2.0 / 2.0
    np.testing.assert_array_equal(found.weak.fabric, np.diag([1.0, 0.0]))
    forces = measure.force_distribution(frame, [0.0, 1.0, 2.0])
    assert (forces.mean, forces.weak) == (2.0, 0.75)
    np.testing.assert_allclose(forces.density, [0.75, 0.0])
    assert forces.tail == pytest.approx(1.0 / 1.5)


def test_exponential_forces():
    """Quantiles of exp(-f): beta = 1, and 1 - 1/e of the contacts are weak."""
    share = (np.arange(5000) + 0.5) / 5000
    x = np.array([1.0, 0.0, 0.0])
    found = measure.force_distribution(fan([x] * 5000, -np.log(share)[:, None] * x, 2), 12, highest=3.0)
    assert found.tail == pytest.approx(1.0, rel=2e-3)
    assert found.weak == pytest.approx(1.0 - 1.0 / math.e, abs=1e-3)
    exact = (np.exp(-found.edges[:-1]) - np.exp(-found.edges[1:])) / np.diff(found.edges)
    np.testing.assert_allclose(found.density, exact, rtol=1e-2)


def test_sliding_fraction():
    """On a slope a disk that slips is a sliding contact, one that rolls is not; without friction all slide."""
    for mu, slope, sliding in ((0.1, 0.8, 1.0), (0.9, 0.3, 0.0), (0.0, 0.3, 1.0)):
        bodies = grains(
            [0, 1, 0],
            dimension=2,
            friction=mu,
            walls=[floor()],
            gravity=[10 * math.sin(slope), -10 * math.cos(slope), 0],
        )
        assert measure.sliding_fraction(settle(bodies, steps=3)) == sliding
    assert measure.sliding_fraction(still([0, 0, 0])) == 0.0


# --- flow


@FEW
@given(bins=st.integers(1, 9), rate=st.floats(-5.0, 5.0), seed=st.integers(0, 99))
def test_a_linear_flow_is_cold(bins, rate, seed):
    """Simple shear, uniform drift and expansion: no temperature, whatever the bins, and the shear rate is found."""
    rng = np.random.default_rng(seed)
    position = rng.random((60, 3)) * 10.0
    velocity = np.stack([rate * position[:, 1] + 4.0, -2.0 * position[:, 1], 1.0 + 0.0 * position[:, 1]], axis=1)
    frame = still(position, 0.2, velocity=velocity, mass=rng.random(60) + 0.5)
    flow = measure.mean_flow(frame, "y", bins)
    np.testing.assert_allclose(flow, velocity, atol=1e-11)
    assert measure.temperature(frame, flow=flow) < 1e-20
    assert measure.shear_rate(frame) == pytest.approx(rate, abs=1e-12)
    found = measure.profile(frame, "y", bins)
    np.testing.assert_allclose(found.temperature[np.isfinite(found.temperature)], 0.0, atol=1e-20)
    np.testing.assert_allclose(found.stress, 0.0, atol=1e-18)


@pytest.mark.parametrize("dimension", [2, 3])
def test_temperature_of_an_ideal_gas(dimension):
    """Velocities of variance T about a shear flow; the estimate scatters by T sqrt(2/(d N))."""
    rng, n, heat = np.random.default_rng(2), 20_000, 0.7
    position, velocity = rng.random((n, 3)) * 50.0, rng.normal(size=(n, 3)) * math.sqrt(heat)
    if dimension == 2:
        position[:, 2] = velocity[:, 2] = 0.0
    frame = still(position, 0.1, dimension=dimension, velocity=velocity + 3.0 * position[:, 1:2] * [1.0, 0.0, 0.0])
    bins = 10
    found = measure.temperature(frame, flow=measure.mean_flow(frame, "y", bins))
    assert abs(found / (1.0 - 2.0 * bins / n) - heat) < 4.0 * heat * math.sqrt(2.0 / (dimension * n))
    each = measure.profile(frame, "y", bins).temperature
    np.testing.assert_allclose(each, heat, atol=5.0 * heat * math.sqrt(2.0 * bins / (dimension * n)))
    assert measure.temperature(still([[0, 0, 0], [9, 0, 0]], velocity=[[1, 0, 0], [-1, 0, 0]])) == pytest.approx(1 / 3)


def test_profile_by_slabs():
    """Layers at known velocities: a slab within a layer has its velocity, one astride the mean, by volume."""
    position = [[2.0 * x + 1.0, 2.0 * y + 1.0, 0.0] for y in range(3) for x in range(4)]
    speed = np.repeat([0.0, 1.0, 5.0], 4)
    frame = still(position, dimension=2, velocity=speed[:, None] * [1.0, 0.0, 0.0])
    found = measure.profile(frame, "y", np.array([0.0, 2.0, 3.0, 5.0, 6.0, 7.0]))
    np.testing.assert_allclose(found.packing, [math.pi / 4] * 4 + [0.0], rtol=1e-14)
    np.testing.assert_allclose(found.velocity[:, 0], [0.0, 1.0, 3.0, 5.0, np.nan], rtol=1e-13)
    with pytest.raises(ValueError, match="rising"):
        measure.profile(frame, "y", np.array([1.0, 0.0]))
    with pytest.raises(ValueError, match="no axis in 2D"):
        measure.profile(frame, "z")
    with pytest.raises(ValueError, match="1 or more"):
        measure.packing_profile(frame, "y", 0)


def test_stress_profile_of_a_column():
    """Slabs of one grain each, in a column of unit width: the stress of that grain over the slab."""
    n, m, g = 5, 2.0, 10.0
    simulation = settle(column(n, radius=0.5, mass=m, g=g, dimension=2))
    found = measure.profile(simulation, "y", np.arange(n + 1.0))
    k = n - np.arange(n)
    np.testing.assert_allclose(found.stress[:, 1, 1], 0.5 * m * g * (2 * k - 1), rtol=1e-7)


def test_inertial_number():
    """I = rate d sqrt(rho/P): d = 2, mass 1 on area pi, P = 4, rate 3."""
    position = [[3.0 * x, 3.0 * y, 0.0] for x in range(3) for y in range(3)]
    frame = still(position, dimension=2, velocity=[[3.0 * p[1], 0.0, 0.0] for p in position])
    found = measure.inertial_number(frame, pressure=4.0)
    assert found == pytest.approx(3.0 * 2.0 * math.sqrt(1.0 / math.pi / 4.0))
    assert measure.inertial_number(frame, pressure=4.0, rate=-6.0) == pytest.approx(2.0 * found)
    simulation = settle(cube([36.0, 72.0, 18.0]))
    expected = 2.0 * math.sqrt(3.0 / (4.0 * math.pi) / 2.0)  # the piston along y presses with 72/36
    assert measure.inertial_number(simulation, rate=1.0) == pytest.approx(expected, rel=1e-6)


# --- energy


@pytest.mark.parametrize("dimension", [2, 3])
def test_energy_closes_in_tumult(dimension):
    """Change of kinetic energy = work - dissipation to rounding; works are what the potential energy loses."""
    frames = tumult(dimension)
    assert any(measure.energy_budget(frame).walls for frame in frames)
    for last, frame in pairwise(frames):
        found, before, now = measure.energy_budget(frame), measure.energy(last), measure.energy(frame)
        scale = now.kinetic + before.kinetic + abs(found.work) + found.shocks
        assert abs(found.error) < 1e-12 * scale
        assert found.kinetic == pytest.approx(now.kinetic - before.kinetic, abs=1e-12 * scale)
        assert found.gravity + found.forces == pytest.approx(before.potential - now.potential, abs=1e-11 * scale)
        assert found.dissipated > 0.0
        assert now.total - before.total == pytest.approx(found.walls - found.dissipated, abs=1e-11 * scale)
    whole = measure.total_budget(frames)
    change = measure.energy(frames[-1]).kinetic - measure.energy(frames[0]).kinetic
    assert whole.kinetic == pytest.approx(change, rel=1e-12)
    assert whole.work - whole.dissipated == pytest.approx(change, rel=1e-12)
    assert whole.dt == pytest.approx(0.08)
    with pytest.raises(ValueError, match="no frame of step 1"):
        measure.total_budget(frames[::2])


def test_energy_of_pistons_and_drums():
    simulation = Simulation(triangular(3, 4, mu=0.3, load=20.0, g=2.0), dt=0.01)
    simulation.bodies.velocity[:, 0] = 1.0
    turning = Wall(
        "drum",
        Cylinder(np.zeros(3), np.array([0.0, 0.0, 1.0]), 5.0, True, INF),
        drive=Drive(spin=np.array([0.0, 0.0, 2.0])),
    )
    drum = grains([0, -4, 0], dimension=2, friction=0.5, gravity=[0, -10, 0], walls=[turning])
    for run in (simulation, Simulation(drum, dt=0.01)):
        for _ in range(5):
            last = measure.energy(run)
            run.step()
            found, now = measure.energy_budget(run), measure.energy(run)
            scale = now.kinetic + last.kinetic + abs(found.work) + found.shocks + abs(found.contacts)
            assert abs(found.error) < 1e-12 * scale
            assert now.potential - last.potential == pytest.approx(-found.gravity - found.loads, abs=1e-12)
    assert found.walls > 0.0  # the drum drags the disk along


def test_energy_of_free_fall_and_of_a_blow():
    m, g, dt = 2.0, 10.0, 0.1
    run = Simulation(grains([0, 9, 0], mass=m, gravity=[0, -g, 0]), dt=dt)
    assert measure.energy_budget(run).work == 0.0
    run.step()
    found = measure.energy_budget(run)
    assert found.shocks == pytest.approx(0.5 * m * (g * dt) ** 2)
    assert found.gravity == pytest.approx(m * g * (g * dt) * dt)
    assert found.power["gravity"] == pytest.approx(m * g * g * dt)
    assert measure.energy(run).potential == pytest.approx(m * g * (9.0 - g * dt * dt))
    # two equal grains head on: all of m v^2 is lost, half of it in the jumps of the velocities
    blow = settle(grains([[-1, 0, 0], [1, 0, 0]], mass=m, velocity=[[3, 0, 0], [-3, 0, 0]]))
    found = measure.energy_budget(blow)
    assert found.kinetic == pytest.approx(-m * 9.0)
    assert found.dissipated == pytest.approx(m * 9.0)


def test_energy_of_sliding():
    """A disk that slides on the floor loses mu m g times the way of its surface."""
    m, g, mu, v, dt = 2.0, 10.0, 0.2, 3.0, 0.01
    run = settle(
        grains([0, 1, 0], mass=m, dimension=2, velocity=[[v, 0, 0]], friction=mu, gravity=[0, -g, 0], walls=[floor()]),
        dt,
    )
    slip = v - 3.0 * mu * g * dt  # v - mu g dt less what the spin has gained, 2 mu g dt
    assert measure.energy_budget(run).contacts == pytest.approx(mu * m * g * slip * dt)
    energy = measure.energy(run)
    assert energy.rotation == pytest.approx(0.5 * 0.5 * m * (2.0 * mu * g * dt) ** 2)
    assert energy.translation == pytest.approx(0.5 * m * (v - mu * g * dt) ** 2)


# --- space and time


@pytest.mark.parametrize("dimension", [2, 3])
def test_pair_correlation_of_random_points(dimension):
    """g = 1 at every distance, even where most of a shell is outside of the box."""
    rng, n = np.random.default_rng(4), 1500
    size = np.array([10.0, 6.0, 4.0][:dimension])
    position = np.zeros((n, 3))
    position[:, :dimension] = rng.random((n, dimension)) * size
    box = measure.Box(np.zeros(dimension), size)
    found = measure.pair_correlation(still(position, 0.01, dimension=dimension), reach=5.0, bins=8, box=box)
    # pairs that share a point are correlated through the edges: add their part of the scatter to the counting error
    error = 1.0 / np.sqrt(found.pairs) + 1.0 / math.sqrt(n)
    assert np.all(np.abs(found.g - 1.0) < 4.0 * error)


def test_pair_correlation_of_a_square_lattice():
    """L x L sites: 2 L (L - 1) nearest and 2 (L - 1)^2 second nearest pairs, nothing between."""
    side = 8
    position = [[x, y, 0.0] for x in range(side) for y in range(side)]
    box = measure.Box([-0.5, -0.5], [side - 0.5, side - 0.5])
    found = measure.pair_correlation(still(position, 0.5, dimension=2), reach=1.5, bins=15, box=box)
    np.testing.assert_array_equal(np.flatnonzero(found.pairs), [10, 14])
    assert found.pairs[10] == 2 * side * (side - 1)
    assert found.pairs[14] == 2 * (side - 1) ** 2
    with pytest.raises(ValueError, match="larger"):
        measure.pair_correlation(still([0, 0, 0]), reach=1.0)
    with pytest.raises(ValueError, match="no distance"):
        measure.pair_correlation(still([0, 0, 0]), reach=-1.0)


def test_mean_squared_displacement():
    """Straight flight: v^2 t^2; with the drift taken out only what is relative to it."""
    v = np.array([[3.0, 0.0, 4.0], [-1.0, 0.0, 0.0]])
    frames = [still(v * 0.5 * k, 0.1, time=0.5 * k) for k in range(6)]
    found = measure.mean_squared_displacement(frames)
    np.testing.assert_allclose(found.time, 0.5 * np.arange(6))
    np.testing.assert_allclose(found.squared, 0.5 * (25.0 + 1.0) * found.time**2, atol=1e-12)
    np.testing.assert_allclose(found.axes.sum(axis=1), found.squared)
    relative = measure.mean_squared_displacement(frames, drift=False, lags=3)
    np.testing.assert_allclose(relative.squared, (2.0**2 + 2.0**2) * relative.time**2, atol=1e-12)
    uneven = [frames[0], frames[1], frames[4]]
    with pytest.raises(ValueError, match="equal intervals"):
        measure.mean_squared_displacement(uneven)
    first = measure.mean_squared_displacement(uneven, origins="first")
    np.testing.assert_allclose(first.squared, 13.0 * first.time**2)
    with pytest.raises(ValueError, match="'all' or 'first'"):
        measure.mean_squared_displacement(frames, origins="none")


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.9])
def test_blocking_of_an_autoregressive_series(memory):
    """x' = a x + noise: the variance of the mean is s^2/N ((1 + a)/(1 - a)) up to terms of order 1/N^2."""
    n, rng = 2**16, np.random.default_rng(5)
    noise, x = rng.normal(size=n), np.empty(n)
    last = rng.normal() / math.sqrt(1.0 - memory**2)
    for k in range(n):
        last = x[k] = memory * last + noise[k]
    mean, error, blocks = measure.blocking(x)
    exact = math.sqrt((1.0 + memory) / (1.0 - memory) / (1.0 - memory**2) / n)
    scatter = blocks[np.argmin(np.abs(blocks[:, 1] - error)), 2]
    assert abs(error - exact) < 4.0 * scatter
    assert abs(mean) < 4.0 * exact
    assert measure.blocking(x).settled
    np.testing.assert_array_equal(blocks[:, 0], 2.0 ** np.arange(16))


def test_blocking_at_its_limits():
    assert measure.blocking([2.0, 2.0, 2.0])[:2] == (2.0, 0.0)
    drift = measure.blocking(np.arange(64.0))
    assert not drift.settled
    assert drift.error == drift.blocks[:, 1].max()
    with pytest.raises(ValueError, match="2 or more"):
        measure.blocking([1.0])


# --- over time


def height(frame):
    return frame.position[:, 1].max()


def test_measure_over_a_run_and_its_file(tmp_path):
    """The observer and the file give the same rows; a resumed run goes on with the rows it had."""
    path = tmp_path / "run.vtkhdf"
    pick = {"sigma": lambda frame: measure.stress(frame, volume=1.0)}

    def watch(simulation):
        record = measure.Measure(height, measure.coordination, measure.energy_budget, **pick)
        simulation.observe(record, every=2)
        return record

    simulation = Simulation(falling(2), dt=0.02)
    record = watch(simulation)
    simulation.observe(TrajectoryWriter(path), every=2)
    simulation.run(steps=5)
    assert record["step"].tolist() == [2, 4, 5]  # the last one too
    assert record["coordination.backbone"].shape == (3, 40)
    assert record["sigma.contact"].shape == (3, 2, 2)
    np.testing.assert_allclose(record["time"], [0.04, 0.08, 0.1])
    with Trajectory(path) as trajectory:
        again = measure.over([frame for frame in trajectory if frame.step], height, measure.coordination, **pick)
    for name in again.names:
        np.testing.assert_array_equal(again[name], record[name])
    resumed = resume(path)
    went_on = watch(resumed)
    assert went_on.names == record.names
    for name in record.names:
        kept = went_on[name]
        assert kept.dtype == record[name].dtype
        np.testing.assert_array_equal(kept, record[name])
    resumed.run(steps=1)
    assert went_on["step"].tolist() == [2, 4, 5, 6]
    assert went_on.blocking("height").blocks.shape == (2, 3)


def test_measure_speaks_up():
    with pytest.raises(ValueError, match="keyword"):
        measure.Measure(lambda frame: 0.0)
    with pytest.raises(ValueError, match="two columns"):
        measure.Measure(height, height=measure.temperature)
    record = measure.Measure(height)
    with pytest.raises(KeyError, match="none yet"):
        record["height"]
    record.add(still([0, 4, 0]))
    assert record["height"].tolist() == [4.0]
    state = json.loads(json.dumps(record.state()))
    with pytest.raises(ValueError, match="same functions"):
        measure.Measure(measure.temperature).restore(state)
    with pytest.raises(TypeError, match="words gave str"):
        measure.over([still([0, 0, 0])], words=lambda frame: "none")


def test_single_precision_and_no_contacts(tmp_path):
    """Files in single precision are measured in double; without contacts, what needs none still works."""
    path = tmp_path / "grains.vtkhdf"
    simulation = Simulation(falling(3), dt=0.02)
    simulation.observe(TrajectoryWriter(path, contacts=False, precision="single"))
    simulation.run(steps=1)
    with Trajectory(path) as trajectory:
        frame = trajectory[-1]
        assert measure.temperature(frame) == pytest.approx(measure.temperature(simulation), rel=1e-5)
        assert np.isfinite(measure.profile(frame, "y", 3).packing).all()
        with pytest.raises(ValueError, match="without contacts"):
            measure.coordination(frame)
