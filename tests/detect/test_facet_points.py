"""Grains with sides and faces at plates, rods, tubes and funnels: exact cases, a second geometry, what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.shaped import cube, mixture, shaped
from support.shapes import bodies_of, strict

from rigidgrains import Frame, Simulation
from rigidgrains.certificate import check
from rigidgrains.certificate.cores import signed_distance
from rigidgrains.certificate.couples import cores_of
from rigidgrains.certificate.facets import cores_at, parts_of
from rigidgrains.certificate.grains import WITHIN
from rigidgrains.certificate.state import State
from rigidgrains.detect.facet_points import facet_points, facet_speeds, or_nearest, wall_gaps
from rigidgrains.detect.point_columns import AT_LEVER, AT_SINK, AT_V
from rigidgrains.detect.search import Reach
from rigidgrains.model.columns import V
from rigidgrains.model.shapes import Cone, Cylinder, Plate
from rigidgrains.model.walls import Drive, Wall
from rigidgrains.shapes import build
from rigidgrains.simulation.figures import overlaps

X, Y, Z = np.eye(3)
NOWHERE = np.zeros(3)
SURFACES = {
    2: {
        "plate": Plate(NOWHERE, Y, X, (0.8, 1.0)),
        "rod": Cylinder(NOWHERE, Z, 0.7, False, math.inf),
    },
    3: {
        "plate": Plate(NOWHERE, Z, X, (0.8, 0.5)),
        "endless rod": Cylinder(NOWHERE, X, 0.7, False, math.inf),
        "rod": Cylinder(NOWHERE, Z, 0.6, False, 0.8),
        "tube": Cylinder(NOWHERE, Z, 1.6, True, 0.8),
        "funnel": Cone(NOWHERE, Z, (0.9, 1.8), 0.8),
        "tip": Cone(NOWHERE, Z, (1.2, 0.0), 0.8),
    },
}
ALL = [(dimension, name) for dimension, names in SURFACES.items() for name in names]


def scattered(surface, dimension, count=40, seed=3):
    """Grains of all shapes around a wall, some in it."""
    rng = np.random.default_rng(seed)
    turned = rng.normal(size=(count, 4)) if dimension == 3 else rng.uniform(0.0, 6.0, count)
    if dimension == 3:
        turned /= np.linalg.norm(turned, axis=1)[:, None]
    position = rng.uniform(-1.5, 1.5, (count, 3)) * ([1, 1, 0] if dimension == 2 else 1)
    shapes = mixture(dimension)
    return shaped(
        position, shapes, np.arange(count) % len(shapes), dimension=dimension, drawn=False, orientation=turned,
        radius=rng.uniform(0.2, 0.4, count), walls=[Wall("wall", surface)],
    )  # fmt: skip


@pytest.mark.parametrize(("dimension", "name"), ALL)
def test_gaps_are_those_of_a_second_geometry(dimension, name):
    """The least gap of a grain is the least of its parts and all facets, by plain enumeration."""
    surface = SURFACES[dimension][name]
    bodies = scattered(surface, dimension)
    n, still = bodies.count, np.zeros((bodies.count, 3))
    found = facet_points(bodies, 0, np.arange(n, dtype=np.int32), still, 0.0, Reach(np.full(n, 0.3), np.zeros(n), 0, 1))
    least = np.full(n, np.inf)
    np.minimum.at(least, found.owner, found.gap)
    simulation = Simulation(bodies, dt=1e-9)
    state = State(Frame.of(simulation))
    part, count = parts_of(surface, dimension, float(bodies.bound.max()))
    seen = 0
    for i in np.flatnonzero(bodies.catalogue.sided[bodies.shape]):
        row = np.array([i])
        best = np.inf
        for p in range(len(state.shapes.parts[bodies.shape[i]])):
            a = cores_of(state.shapes, row, p, state.shapes.after)
            for number in range(count):
                b = cores_at(state.walls[0], part, number, bodies.position[row], dimension)
                best = min(best, float((signed_distance(a, b) - a.radius - b.radius)[0]))
        if best > 0.3:
            assert not np.isfinite(least[i])
        elif best > 0.0 or count == 1:  # where sheets cross a grain the depth along each is another
            assert least[i] == pytest.approx(best, abs=1e-9)
            seen += 1
        else:
            assert least[i] < 0.0
            seen += 1
    assert seen > 4
    inside = wall_gaps(bodies, surface)
    np.testing.assert_allclose(inside[least < 0.0], least[least < 0.0], atol=1e-12)


@pytest.mark.parametrize(("dimension", "name"), ALL)
def test_motion_around_it_is_certified(dimension, name):
    """Thrown at the wall, which turns about an axis of its own and drifts: steps are certified."""
    drive = Drive(spin=0.3 * (Z if dimension == 2 else X + Y), velocity=0.2 * X)
    bodies = scattered(SURFACES[dimension][name], dimension)
    clear = np.flatnonzero(wall_gaps(bodies, bodies.walls[0].shape) > 0.0)
    apart = np.linalg.norm(bodies.position[:, None] - bodies.position, axis=2) > 0.9
    away = [k for k in clear if apart[k, clear[clear < k]].all()]
    shapes = mixture(dimension)
    position = bodies.position[away]
    thrown = shaped(
        position, shapes, bodies.shape[away], dimension=dimension, drawn=False, radius=bodies.radius[away],
        orientation=bodies.orientation[away], velocity=-3.0 * position, friction=0.4,
        walls=[Wall("wall", SURFACES[dimension][name], drive=drive)],
    )  # fmt: skip
    simulation, met = Simulation(thrown, dt=0.01, solver=strict(1e-10)), 0
    for k in range(30):
        simulation.step()
        frame = Frame.of(simulation)
        if k % 6 == 5:
            certificate = check(frame)
            beyond = {law.name for law in certificate.checks if not law.passed} - {"overlap"}  # blows at large steps
            assert not beyond, str(certificate)
        contacts = frame.contacts
        facing = (contacts.feature >= WITHIN) & (contacts.pair[:, 1] == len(frame))
        met += int((facing & (contacts.normal_force > 0.0)).sum())
    assert met > 0


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_block_stands_on_a_plate_that_reaches_beyond_its_centre_and_tips_off_a_shorter_one(dimension):
    up = np.eye(3)[dimension - 1]
    for beyond, tips in ((1e-3, False), (-1e-3, True)):
        half = 0.3
        plate = Plate((beyond - half) * X, up, X, (half, 0.3))
        bodies = bodies_of(build.box([1.0] * dimension), [0.5 * up], walls=[Wall("plate", plate)])
        simulation = Simulation(bodies, dt=5e-3, solver=strict())
        for _ in range(60):
            simulation.step()
        assert (abs(bodies.position[0] - 0.5 * up).max() > 1e-4) == tips
        if not tips:
            assert simulation.contacts.count == (2 if dimension == 2 else 4)
            lowest = simulation.contacts.forces[:, 0]
            # moments about the middle: forces at both ends of what lies on the plate
            ends = bodies.position[0, 0] + simulation.contacts.lever[:, 0]
            assert float(lowest @ ends) == pytest.approx(0.0, abs=1e-6)
            assert float(lowest.sum()) == pytest.approx(9.81, rel=1e-6)


def test_a_bar_on_a_round_rod_rocks_or_falls():
    """A bar of thickness h on a cylinder of radius R is stable where h < 2 R."""
    for height, stable in ((0.6, True), (1.6, False)):
        rod = Wall("rod", Cylinder(NOWHERE, Z, 0.5, False, math.inf))
        lean = 1e-3
        up = np.array([-math.sin(lean), math.cos(lean), 0.0])
        along = np.array([math.cos(lean), math.sin(lean), 0.0])
        place = 0.5 * up + 0.5 * lean * along + 0.5 * height * up
        bodies = bodies_of(build.box([4.0, height]), [place], [lean], walls=[rod], friction=2.0)
        simulation = Simulation(bodies, dt=1e-2, solver=strict())
        simulation.run(until=1.5)
        assert (abs(bodies.orientation[0]) < 1.5 * lean) == stable


def test_a_ball_among_other_shapes_feels_the_round_wall_and_not_its_facets():
    """A sphere on the axis of a funnel rests where a circle of its own touches the cone, exactly."""
    shapes = {"ball": build.capsule(1.0, dimension=3), "cube": cube(3)}
    surface = Cone(NOWHERE, Z, (0.1, 1.0), 1.0)
    slope = math.atan2(0.9, 2.0)
    # along the axis: rho(z) cos(slope) = r with rho(z) = 0.55 + 0.45 z
    height = (0.4 / math.cos(slope) - 0.55) / 0.45
    bodies = shaped(
        [[0.0, 0.0, height], [5.0, 0.0, 5.0]], shapes, [0, 1], dimension=3, drawn=False, radius=np.array([0.4, 0.1]),
        walls=[Wall("funnel", surface)],
    )  # fmt: skip
    assert wall_gaps(bodies, surface)[0] == pytest.approx(0.0, abs=1e-12)


def test_nothing_is_felt_at_edges_between_facets():
    """A sharp block slides without friction down the inside of a long tube: nothing takes from its speed."""
    tube = Wall("tube", Cylinder(NOWHERE, X, 2.0, True, 50.0))
    shape = build.box([0.6, 0.2, 0.2])
    bodies = bodies_of(
        shape, [[0.0, 0.0, -1.89]], walls=[tube], friction=0.0, gravity=[0.0, 0.0, -9.81],
        velocity=np.array([[1.0, 0.0, 0.0]]),
    )  # fmt: skip
    simulation = Simulation(bodies, dt=5e-3, solver=strict(1e-10))
    simulation.run(steps=60)
    assert bodies.velocity[0, 0] == pytest.approx(1.0, abs=1e-9)
    assert simulation.contacts.count >= 2
    assert float(overlaps(bodies, simulation.contacts).max(initial=0.0)) < 1e-6


@pytest.mark.parametrize(("beside", "kept"), [(47, True), (46, False), (45, False), (44, False), (43, True)])
def test_what_is_felt_far_away_says_nothing_about_a_place(beside, kept):
    """One corner of a part at facet 45, which lets it out aside; another corner is felt at a facet near or far."""
    felt, facet, gap = np.array([False, True]), np.array([45, beside]), np.array([-0.1, -0.2])
    found = or_nearest(felt, np.zeros(2, np.int64), facet, 60, gap)
    assert found.tolist() == [kept, True]


def test_of_what_nobody_feels_the_nearest_stays():
    """Facets 59 and 0 are side by side; a second part is far away."""
    felt, part = np.zeros(4, np.bool_), np.array([0, 0, 0, 1])
    found = or_nearest(felt, part, np.array([59, 0, 30, 0]), 60, np.array([-0.1, -0.2, 0.3, 0.1]))
    assert found.tolist() == [False, True, True, True]


@pytest.mark.parametrize(("dimension", "name"), [(2, "rod"), (3, "rod")])
def test_points_at_a_wall_that_turns_move_and_sink_in_as_its_surface_does(dimension, name):
    """A point that glides along a side that turns sinks in by (w x n) . V dt^2: a side of the grain, or a facet."""
    surface = SURFACES[dimension][name]
    bodies, dt, turn = scattered(surface, dimension), 0.01, np.array([0.0, 0.0, 1.3])
    n = bodies.count
    rng, flat = np.random.default_rng(2), np.array([1.0, 1.0, dimension - 2.0])
    bodies.walls[0].drive.spin = turn
    bodies.walls[0].drive.about = np.array([0.2, 0.1, 0.0])  # not its axis: it does not turn in itself
    bodies.motion[:n, V] = rng.normal(size=(n, 3)) * flat
    bodies.motion[n, V] = np.array([0.3, -0.2, 0.1]) * flat
    spin = rng.normal(size=(n, 3)) * (1.0 if dimension == 3 else np.array([0.0, 0.0, 1.0]))
    grains = np.flatnonzero(bodies.catalogue.sided[bodies.shape]).astype(np.int32)

    def surface_velocity(points):
        return bodies.motion[n, V] + np.cross(turn, points - bodies.walls[0].drive.about)

    wanted = np.linalg.norm(bodies.velocity[grains] - surface_velocity(bodies.position[grains]), axis=1)
    np.testing.assert_allclose(facet_speeds(bodies, 0, grains), wanted + 1.3 * bodies.bound[grains], rtol=1e-12)
    found = facet_points(bodies, 0, np.arange(n, dtype=np.int32), spin, dt, Reach(np.full(n, 0.3), np.zeros(n), 0, 1))
    lever, normal = found.rows[:, AT_LEVER], found.normal
    at = bodies.position[found.owner] + lever + found.gap[:, None] * normal
    np.testing.assert_allclose(found.rows[:, AT_V], surface_velocity(at), atol=1e-13)
    passing = surface_velocity(at) - bodies.velocity[found.owner] - np.cross(spin[found.owner], lever)
    own, other = (dt**2 * (np.cross(w, normal) * passing).sum(axis=1) for w in (spin[found.owner], turn))
    sink = found.rows[:, AT_SINK]
    assert (sink <= 0.0).all()
    assert (sink < 0.0).sum() > 2
    either = np.isclose(sink, own, rtol=1e-9, atol=0.0) | np.isclose(sink, other, rtol=1e-9, atol=0.0)
    assert (either | (sink == 0.0)).all()
