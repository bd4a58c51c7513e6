"""Grains of any shape are certified, and whatever is changed in their frames is caught and named."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.builders import exact, settle
from support.commands import called
from support.shaped import cube, drum, mixture, periodic, pressed, shaped, stack, thrown
from support.worlds import keep

from rigidgrains import AcceleratedSweeps, Frame, Simulation, Trajectory, TrajectoryWriter
from rigidgrains.certificate import catalogue, check, check_file, cores, grains
from rigidgrains.detect import points as engine
from rigidgrains.shapes import build

WORLDS = {
    "pressed": pressed,
    "rounded": lambda d: stack(d, 3, rounding=0.05),
    "thrown": lambda d: thrown(d, 9 if d == 2 else 8, gravity=[0, -5, 0]),
    "drum": drum,
    "periodic": periodic,
}


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("world", WORLDS)
def test_real_steps_are_certified(world, dimension):
    """Steps solved to rounding, with walls, pistons, drums and images: to much better than asked for."""
    simulation = Simulation(WORLDS[world](dimension), dt=0.004, solver=exact())
    met = across = 0
    for _ in range(40):
        simulation.step()
        frame = Frame.of(simulation)
        certificate = check(frame)
        assert certificate.passed, str(certificate)
        carries = frame.contacts.normal_force > 0.0
        met += int(carries.sum())
        across += 0 if frame.contacts.image is None else int((carries & frame.contacts.image.any(axis=1)).sum())
    assert met > 0
    assert across > 0 or world != "periodic"
    assert certificate.verdict.startswith("certified") or not len(simulation.contacts.forces)
    assert certificate.accuracy < 1e-6
    assert not certificate.unchecked


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("single", [False, True])
def test_files_are_certified(tmp_path, dimension, single):
    """What was written, in both precisions, by the function and by the command."""
    path = tmp_path / "stack.vtkhdf"
    simulation = Simulation(pressed(dimension), dt=0.004, solver=AcceleratedSweeps(accuracy="exact"))
    writer = TrajectoryWriter(path, precision="single" if single else "double")
    simulation.observe(writer, every=5)
    simulation.run(steps=20)
    found = list(check_file(path))
    assert all(certificate.passed for certificate in found), str(found[-1])
    assert found[-1]["shapes"].passed
    assert json.loads(called(tmp_path, "check", path, "--json").stdout)["passed"]
    with Trajectory(path) as trajectory:
        assert trajectory[-1].contacts.law("to_close") is not None


def carried(frame):
    """A contact of two grains that carries a force."""
    between = frame.contacts.pair[:, 1] < len(frame)
    return int(np.argmax(np.where(between, frame.contacts.normal_force, -1.0)))


def turn(frame, c, angle):
    x, y, z = frame.contacts.normal[c]
    frame.contacts.normal[c] = [x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle), z]


def tilt_normal(frame):
    c = carried(frame)
    turn(frame, c, 1e-3)
    return f"contact {c} of"


def tilt_all_normals(frame):
    """Of both points of a pair alike, and the force with them."""
    some = np.flatnonzero(frame.contacts.pair[:, 1] < len(frame))
    for c in some:
        turn(frame, c, 1e-3)
    return "of grain 0 and grain 1"


def tilt_at_wall(frame):
    c = int(np.flatnonzero(frame.contacts.pair[:, 1] == len(frame))[0])
    turn(frame, c, 1e-3)
    return f"contact {c} of"


def shift_point(frame):
    """Along the side, where it stays on both surfaces."""
    c = carried(frame)
    frame.contacts.point[c, 0] += 1e-3 * frame.radius[0]
    return f"contact {c} of"


def shift_into(frame):
    c = carried(frame)
    frame.contacts.point[c, 1] += 1e-3 * frame.radius[0]
    return f"contact {c} of"


def shift_at_wall(frame):
    c = int(np.flatnonzero(frame.contacts.pair[:, 1] == len(frame))[0])
    frame.contacts.point[c, 0] += 1e-3 * frame.radius[0]
    return f"contact {c} of"


def wrong_gap(frame):
    c = carried(frame)
    frame.contacts.gap[frame.contacts.pair[:, 1] == frame.contacts.pair[c, 1]] += 1e-6
    return "contact"


def wrong_lever(frame):
    """A force at another place than the one it acts at, though all of them are at corners: two points swap."""
    first, second = np.flatnonzero(frame.contacts.pair[:, 1] == len(frame))[:2]
    frame.contacts.force[[first, second]] = frame.contacts.force[[second, first]]
    return "grain 0"


def wrong_spin(frame):
    frame.spin[1, 2] += 1e-7
    return "grain 1"


def wrong_orientation(frame):
    if frame.dimension == 2:
        frame.orientation[1] += 1e-6
    else:
        frame.orientation_before[1] = [np.cos(5e-7), 0.0, 0.0, np.sin(5e-7)]
    return "contact"


def outside_of_the_cone(frame):
    c = carried(frame)
    frame.contacts.force[c, 0] += 0.6 * frame.contacts.normal_force[c]
    return f"contact {c} of"


def double_feature(frame):
    first, second = np.flatnonzero(frame.contacts.pair[:, 1] < len(frame))[:2]
    frame.contacts.feature[second] = frame.contacts.feature[first]
    return "listed twice"


def swap_features(frame):
    some = np.flatnonzero(frame.contacts.pair[:, 1] < len(frame))
    frame.contacts.feature[some[[0, -1]]] = frame.contacts.feature[some[[-1, 0]]]
    return f"contact {some[0]} of"


def swap_at_wall(frame):
    first, second = np.flatnonzero(frame.contacts.pair[:, 1] == len(frame))[:2]
    frame.contacts.feature[[first, second]] = frame.contacts.feature[[second, first]]
    return "of grain 0 and wall 'floor'"


def unknown_feature(frame):
    frame.contacts.feature[0] += 1 << 55
    return "contact 0 of"


def drop_a_corner(frame):
    c = carried(frame)
    keep(frame, np.arange(len(frame.contacts)) != c)
    return "grain"


def close_more(frame):
    """A gap that is to be closed farther than turning explains."""
    c = carried(frame)
    frame.contacts.law("to_close")[c] -= 1e-5
    return f"contact {c} of"


def unknown_shape(frame):
    frame.shape[1] = 3
    return "shape 3"


TAMPERING = {
    tilt_normal: "geometry",
    tilt_all_normals: "geometry",
    tilt_at_wall: "geometry",
    shift_point: "geometry",
    shift_into: "geometry",
    shift_at_wall: "geometry",
    wrong_gap: "geometry",
    wrong_lever: "angular momentum",
    wrong_spin: "angular momentum",
    wrong_orientation: "geometry",
    outside_of_the_cone: "coulomb cone",
    double_feature: "contact list",
    swap_features: "features",
    swap_at_wall: "geometry",
    unknown_feature: "contact list",
    drop_a_corner: "angular momentum",
    close_more: "gap to close",
    unknown_shape: "state",
}


def loaded(dimension):
    """A frame of two blocks under a piston, the upper one pushed sideways."""
    frame = Frame.of(settle(pressed(dimension), dt=0.004, steps=3))
    if dimension == 3:  # columns are read anew else
        frame.orientation_before = frame.column("orientation_before")
    return frame


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("tamper", TAMPERING, ids=lambda tamper: tamper.__name__)
def test_tampering_is_caught_and_named(tamper, dimension):
    frame = loaded(dimension)
    assert check(frame).passed
    frame = loaded(dimension)
    place = tamper(frame)
    certificate = check(frame)
    assert certificate.verdict.startswith("violated")
    assert TAMPERING[tamper] in {check.name for check in certificate.failed}, str(certificate)
    assert place in certificate[TAMPERING[tamper]].worst


def test_a_tilt_of_rounded_corners():
    """Two rounded vertices meet along their line: support functions change at second order only, points at first."""
    blocks, quarter = {"block": cube(2, 0.1)}, 0.25 * np.pi
    reach = 2.0 * (0.4 * np.sqrt(2.0) + 0.1)
    bodies = shaped([[0, 0, 0], [reach, 0, 0]], blocks, dimension=2, orientation=np.full(2, quarter),
                    velocity=[[1, 0, 0], [0, 0, 0]])  # fmt: skip
    frame = Frame.of(settle(bodies, dt=1e-3))
    assert check(frame).passed
    turn(frame, 0, 1e-3)
    assert not check(frame)["geometry"].passed


def test_a_corner_that_the_engine_has_overlooked(monkeypatch):
    """A block above a block that turns sinks in where its corner has no row, though all balances hold."""
    find = engine.search

    def lame(*what):
        pairs, image, found, feature = find(*what)
        kept = found[:, 0] > 0.0 if len(found) > 1 else np.ones(len(found), bool)
        return pairs[kept], image[kept], found[kept], feature[kept]

    def world():
        return stack(2, push=0.0)

    simulation = settle(world(), dt=0.01)
    assert check(Frame.of(simulation))["missing contacts"].passed
    monkeypatch.setattr(engine, "search", lame)
    simulation = settle(world(), dt=0.01)
    certificate = check(Frame.of(simulation))
    assert certificate["angular momentum"].passed
    assert certificate["geometry"].passed
    assert not certificate["missing contacts"].passed
    assert "grain 0 and grain 1 overlap" in certificate["missing contacts"].worst


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_pair_that_was_overlooked(dimension):
    """Found by a search of its own, by depths known from drawings; so is a vertex behind a wall."""
    bodies = stack(dimension, 2, push=0.0)
    bodies.position[1] = [0.3, 5.0, 0.0]
    frame = Frame.of(settle(bodies))
    frame.position[1, 1] = 1.5 - 0.01
    certificate = check(frame)
    assert "grain 0 and grain 1 overlap by 0.01 m and have no contact" in certificate["missing contacts"].worst
    frame = Frame.of(settle(bodies))
    frame.position[1, 1] = 0.5 - 0.02
    frame.position[1, 0] = 7.0
    assert "grain 1 and wall 'floor' overlap by 0.02 m" in check(frame)["missing contacts"].worst


def test_a_solid_that_turns_wrongly():
    """The orientation must follow the angular momentum by the midpoint rule."""
    blocks = {"block": build.box([1.0, 2.0, 3.0])}
    frame = Frame.of(settle(shaped([[0, 0, 0]], blocks, dimension=3, spin=[[1.0, 2.0, 3.0]]), steps=2))
    assert check(frame)["turning"].violation < 1e-13
    q = frame.orientation[0]
    frame.orientation[0] = np.array([q[0] - 1e-8 * q[3], q[1], q[2], q[3] + 1e-8 * q[0]])
    assert not check(frame)["turning"].passed


@pytest.mark.parametrize("dimension", [2, 3])
def test_wrong_mass_properties(dimension):
    """The moments of every kind of shape are found again; wrong ones, and cores that are not convex, are told."""
    for shape in mixture(dimension).values():
        assert catalogue._miss(catalogue._Key(shape))[0] < 1.0
    frame = loaded(dimension)
    shape = frame.catalogue.shapes[0]
    shape.inertia[2] *= 1.001
    assert "moments of inertia" in check(frame)["shapes"].worst
    frame = loaded(dimension)
    frame.catalogue.shapes[0].parts[0].vertices[0] *= 0.999
    assert not check(frame)["shapes"].passed


def placed(part, turned=None, by=(0.0, 0.0, 0.0)):
    turned = np.eye(3) if turned is None else turned
    return cores.Cores(part, (part.vertices @ turned.T + by)[None], (part.normals.reshape(-1, 3) @ turned.T)[None],
                       np.array([part.rounding]))  # fmt: skip


def test_distances_of_cores():
    """Cubes face to face, edge across edge, inside each other; points and segments."""
    block = build.box([2.0, 2.0, 2.0], size="as drawn").parts[0]
    for away, distance in (([3, 0, 0], 1.0), ([3, 3, 0], 2.0**0.5), ([3, 3, 3], 3.0**0.5), ([1.5, 0.3, 0], -0.5)):
        assert cores.signed_distance(placed(block), placed(block, by=away))[0] == pytest.approx(distance, abs=1e-14)
    about_x = np.array([[1, 0, 0], [0, 0.5**0.5, -(0.5**0.5)], [0, 0.5**0.5, 0.5**0.5]])
    about_z = np.array([[0.5**0.5, -(0.5**0.5), 0], [0.5**0.5, 0.5**0.5, 0], [0, 0, 1]])
    one, other = placed(block, about_z), placed(block, about_z @ about_x @ about_z.T, [0.0, 3.2, 0.0])
    axis = cores.deepest(one, other)[0]
    assert cores.signed_distance(one, other)[0] >= axis - 1e-14
    rod = build.capsule(2.0, dimension=3, size="as drawn").parts[0]
    assert cores.signed_distance(placed(rod), placed(rod, about_z, [0, 0, 0.7]))[0] == pytest.approx(0.7)
    assert cores.signed_distance(placed(block), placed(rod, by=[0.0, 0.0, 1.7]))[0] == pytest.approx(0.7)
    assert cores.signed_distance(placed(block), placed(rod, by=[0.0, 0.0, 0.8]))[0] == pytest.approx(-0.2)


def test_names_swap_with_their_bodies():
    name = (3 * grains.PARTS + 5) * grains.WITHIN + 7 * grains.HALF[3] + 9
    assert [int(part[0]) for part in grains.split(np.array([name]), 3)] == [3, 5, 7, 9]
    back = grains.swapped(np.array([name]), 3)
    assert [int(part[0]) for part in grains.split(back, 3)] == [5, 3, 9, 7]
