"""Measurements on grains of other shapes against closed forms, and against what walls and accelerations tell."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from support.builders import RIGHT, UP, exact, floor, plane, settle
from support.shaped import cube, mixture, periodic, shaped, stack, thrown

from rigidgrains import Simulation, measure
from rigidgrains.shapes import build

TURN = {2: lambda angle: angle, 3: lambda angle: (math.cos(0.5 * angle), 0.0, 0.0, math.sin(0.5 * angle))}


def still(shape, dimension, angles=(0.0,), **rest):
    """Grains of one shape as drawn, ten metres from each other, turned about z."""
    position = 10.0 * np.arange(len(angles))[:, None] * RIGHT
    turned = np.array([TURN[dimension](angle) for angle in angles])
    return measure.of(
        Simulation(shaped(position, {"one": shape}, dimension=dimension, orientation=turned, **rest), dt=0.01)
    )


def test_energy_of_turning():
    """I of a cuboid is m (b^2 + c^2)/12; of a rectangle that about z, whatever its angle."""
    spin = np.array([[0.3, -0.2, 0.5]])
    frame = still(build.box([1.0, 2.0, 3.0]), 3, spin=spin)
    assert measure.energy(frame).rotation == pytest.approx(0.5 * 6.0 / 12.0 * (13 * 0.09 + 10 * 0.04 + 5 * 0.25))
    frame = still(build.box([1.0, 2.0, 3.0]), 3, [0.5 * math.pi], spin=spin)  # x of the grain along y
    assert measure.energy(frame).rotation == pytest.approx(0.5 * 6.0 / 12.0 * (10 * 0.09 + 13 * 0.04 + 5 * 0.25))
    frame = still(build.box([1.0, 2.0]), 2, [0.7], spin=[[0.0, 0.0, 3.0]])
    assert measure.energy(frame).rotation == pytest.approx(0.5 * 2.0 / 12.0 * 5.0 * 9.0)


@pytest.mark.parametrize("dimension", [2, 3])
def test_stress_and_energy_of_a_crowd(dimension):
    """Walls and accelerations give the contact stress, and all energy is accounted for, at every step."""
    walls = [floor(), plane([-2, 0, 0], RIGHT, "left"), plane([0, 7.5, 0], -UP, "lid", mass=3.0, load=20.0)]
    bodies = thrown(dimension, 9 if dimension == 2 else 8, walls=walls, gravity=[0.5, -9, 0])
    bodies.position[:, 1] += 1.5
    simulation = Simulation(bodies, dt=0.01, solver=exact())
    met = 0
    for _ in range(25):
        simulation.step()
        frame = measure.of(simulation)
        contact = measure.stress(frame, volume=1.0).contact
        scale = np.abs(contact).max() + float(frame.mass.sum()) * 100.0
        assert measure.boundary_stress(frame, volume=1.0) == pytest.approx(contact, abs=1e-11 * scale)
        budget, energy = measure.energy_budget(frame), measure.energy(frame)
        assert abs(budget.error) < 1e-11 * (energy.kinetic + abs(budget.gravity))
        assert energy.kinetic == pytest.approx(frame.figures["kinetic_energy"], rel=1e-12)
        met += len(frame.contacts) > 0
    assert met > 10
    each = measure.grain_stress(frame)
    assert np.einsum("n,nab->ab", each.volume, each.contact) == pytest.approx(contact, abs=1e-11 * scale)


@pytest.mark.parametrize("dimension", [2, 3])
def test_stress_through_faces_of_a_cell(dimension):
    simulation = Simulation(periodic(dimension), dt=0.01, solver=exact())
    across = 0
    for _ in range(30):
        simulation.step()
        frame = measure.of(simulation)
        contact = measure.stress(frame).contact
        assert measure.boundary_stress(frame) == pytest.approx(contact, abs=1e-10 * (np.abs(contact).max() + 10.0))
        across += int((frame.contacts.image.any(axis=1) & (frame.contacts.normal_force > 0.0)).sum())
    assert across > 0


@pytest.mark.parametrize("dimension", [2, 3])
def test_contacts_of_a_stack(dimension):
    """Two blocks on a floor: two contacts, one of two grains; with two points each in 2D, four in 3D."""
    frame = measure.of(settle(stack(dimension, push=0.0)))
    corners = {2: 2, 3: 4}[dimension]
    found = measure.coordination(frame)
    assert (found.z, found.z_grains, found.z_all, found.contacts) == (1.5, 1.0, 1.5, 2)
    assert found.z_points == 1.5 * corners
    assert found.rattlers == 0.0
    kinds = measure.contact_kinds(frame)
    assert (kinds.contacts, kinds.points, kinds.side, kinds.carried) == (1, corners, 1.0, 1.0)
    assert kinds.face == (1.0 if dimension == 3 else 0.0)
    assert measure.contact_kinds(frame, walls=True).points == 2 * corners
    assert measure.fabric(frame, walls=True) == pytest.approx(np.diag(UP[:dimension]))
    weight = 10.0 * 1.0
    assert measure.force_distribution(frame).mean == pytest.approx(weight)  # of the contact, not of its points
    assert measure.networks(frame, volume=1.0).strong.share == 0.5


def test_a_corner_on_a_side_is_one_point():
    """A square that stands on its corner between two walls of a groove, and one that lies on it."""
    slope = math.sqrt(0.5)
    walls = [plane([0, 0, 0], [slope, slope, 0], "left"), plane([0, 0, 0], [-slope, slope, 0], "right")]
    groove = shaped([[0, 1.0, 0]], {"block": cube(2)}, dimension=2, gravity=[0, -10, 0], walls=walls,
                    orientation=np.array([0.0]))  # fmt: skip
    frame = measure.of(settle(groove))
    kinds = measure.contact_kinds(frame, walls=True)
    assert (kinds.contacts, kinds.points, kinds.side) == (2, 2, 0.0)


def test_order_in_the_plane():
    rods, square = build.box([1.0, 3.0]), build.box([1.0, 1.0])
    found = measure.orientation_order(still(rods, 2, [0.3, 0.3, 0.3 + math.pi]))
    assert found.order == pytest.approx(1.0)
    assert abs(found.director @ [-math.sin(0.3), math.cos(0.3)]) == pytest.approx(1.0)  # long along y as drawn
    assert found.grains == 3
    assert measure.orientation_order(still(rods, 2, [0.3, 0.3 + math.pi / 2])).order == pytest.approx(0.0, abs=1e-12)
    angles = [0.0, 0.2]
    assert measure.orientation_order(still(rods, 2, angles)).order == pytest.approx(math.cos(0.2))
    quarter = still(square, 2, [0.1, 0.1 + math.pi / 2])
    assert measure.orientation_order(quarter).grains == 0  # a square has no long axis
    four = measure.orientation_order(quarter, fold=4)
    assert four.order == pytest.approx(1.0)
    assert math.atan2(four.director[1], four.director[0]) == pytest.approx(0.1)
    with pytest.raises(ValueError, match="fold = 0"):
        measure.orientation_order(quarter, fold=0)


def test_order_in_space():
    rod = build.capsule(3.0, dimension=3)
    turns = np.array([[1, 0, 0, 0], [math.sqrt(0.5), 0, 0, math.sqrt(0.5)], [math.sqrt(0.5), 0, math.sqrt(0.5), 0]])
    position = 10.0 * np.arange(3)[:, None] * RIGHT

    def frame(orientation):
        return measure.of(Simulation(shaped(position, {"rod": rod}, dimension=3, orientation=orientation), dt=0.01))

    assert measure.orientation_order(frame(turns)).order == pytest.approx(0.0, abs=1e-12)  # along x, y and z
    alike = measure.orientation_order(frame(turns[[1, 1, 1]]))
    assert alike.order == pytest.approx(1.0)
    assert abs(alike.director @ UP) == pytest.approx(1.0)
    assert alike.tensor == pytest.approx(np.diag([-0.5, 1.0, -0.5]))
    balls = measure.orientation_order(still(build.capsule(1.0, dimension=3), 3))
    assert (balls.order, balls.grains) == (0.0, 0)


def inside(frame, lower, upper):
    return float(measure.volumes_inside(frame, measure.Box(lower, upper)).sum())


def test_sharp_shapes_are_cut_exactly():
    half = math.sqrt(0.5)
    frame = still(build.box([1.0, 1.0]), 2, [math.pi / 4])
    assert inside(frame, [0.5, -1], [1, 1]) == pytest.approx((half - 0.5) ** 2, rel=1e-12)
    assert inside(frame, [0, 0], [1, 1]) == pytest.approx(0.25, rel=1e-12)
    assert inside(frame, [0, 0], [0.2, 0.2]) == pytest.approx(0.04, rel=1e-12)  # the box lies in the grain
    assert inside(frame, [0.4, 0.4], [1, 1]) == 0.0  # within its extents, beyond its side
    frame = still(build.box([1.0, 1.0, 1.0]), 3, [math.pi / 4])
    assert inside(frame, [0.5, -1, -1], [1, 1, 1]) == pytest.approx((half - 0.5) ** 2, rel=1e-12)
    assert inside(frame, [0, 0, 0.25], [1, 1, 1]) == pytest.approx(0.25 * 0.25, rel=1e-12)
    octahedron = still(build.solid("octahedron"), 3)
    assert inside(octahedron, [0, 0, 0], [2, 2, 2]) == pytest.approx(1.0 / 6.0, rel=1e-12)


def test_rounded_shapes_are_cut():
    """Half of a capsule exactly; its cap is a segment of a circle, or of a sphere."""
    for dimension, cap in ((2, 0.25 * (math.acos(0.2) - 0.2 * math.sqrt(0.96))), (3, math.pi * 0.4**2 * 1.1 / 3.0)):
        rod = build.capsule(2.0, dimension=dimension)
        frame = still(rod, dimension)
        high = [5.0] * dimension
        total = float(measure.volumes_inside(frame, measure.Box([-5.0] * dimension, high)).sum())
        assert total == pytest.approx(1.0 + math.pi / 4 if dimension == 2 else 5.0 / 12.0 * math.pi, rel=1e-12)
        assert inside(frame, [0.0] + [-5.0] * (dimension - 1), high) == pytest.approx(total / 2, rel=1e-4)
        assert inside(frame, [0.6] + [-5.0] * (dimension - 1), high) == pytest.approx(
            cap, abs=(1e-5, 2e-3)[dimension - 2]
        )


@pytest.mark.parametrize("dimension", [2, 3])
def test_slabs_add_up(dimension):
    """The parts of every kind of shape in slabs are its volume; disks and spheres are cut exactly."""
    simulation = Simulation(thrown(dimension, 5), dt=0.01)
    frame = measure.of(simulation)
    whole = (math.pi if dimension == 2 else 4.0 / 3.0 * math.pi) * frame.radius**dimension
    edges = np.linspace(-4.0, 12.0, 9)
    parts = sum(
        measure.volumes_inside(frame, measure.Box([a] + [-9.0] * (dimension - 1), [b] + [99.0] * (dimension - 1)))
        for a, b in pairwise(edges)
    )
    assert parts == pytest.approx(whole, rel=1e-9)
    assert set(mixture(dimension)) == set(frame.catalogue.names)


def test_the_room_of_a_stack():
    """The enclosure ends where blocks end; the packing fraction counts their areas."""
    frame = measure.of(Simulation(stack(2), dt=0.01))
    room = measure.enclosure(frame)
    assert list(room.lower) == pytest.approx([-0.5, 0.0])
    assert list(room.upper) == pytest.approx([0.6, 2.0])
    assert measure.packing_fraction(frame, box=room) == pytest.approx(2.0 / 2.2, rel=1e-12)
    _, packing = measure.packing_profile(frame, "y", 4)
    assert packing == pytest.approx(1.0 / 1.1, rel=1e-12)
    assert measure.profile(frame, "y", 4).packing == pytest.approx(packing)
