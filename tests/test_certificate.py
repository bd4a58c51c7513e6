"""The certificate: real steps pass, every tampering is caught and named."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import h5py
import numpy as np
import pytest
from builders import UP, chain, cloud, column, floor, grains, settle, triangular

from rigidgrains import Frame, Simulation, Sweeps, Trajectory, TrajectoryWriter
from rigidgrains.certificate import check, check_file, summary, surfaces
from rigidgrains.certificate.overlap import near_pairs
from rigidgrains.certificate.verdict import ceiling
from rigidgrains.detect.shapes import Cylinder, Plane, Plate
from rigidgrains.solve.criteria import FixedSweeps, LocalCriterion
from rigidgrains.walls import Drive, Wall, rotation_matrix

Z = np.array([0.0, 0.0, 1.0])


def drum(dimension):
    """Grains at the bottom of a turning drum."""
    shape = Cylinder(np.zeros(3), Z, 4.0, True, math.inf)
    angle = np.deg2rad([-130.0, -90.0, -50.0])
    position = 3.0 * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    walls = [Wall("drum", shape, drive=Drive(spin=0.7 * Z))]
    return grains(position, 1.0, dimension=dimension, friction=0.4, gravity=[0, -10, 0], walls=walls)


def shaker(dimension):
    """A column on a floor that swings to and fro and up and down."""
    bodies = column(4, dimension=dimension, friction=0.5)
    bodies.walls[0].drive = Drive(amplitude=np.array([0.05, 0.02, 0.0]), frequency=3.0, phase=0.4)
    return bodies


def paddle(dimension):
    """Grains fall on a plate that turns about a point beside it."""
    shape = Plate(np.array([0.0, -0.2, 0.0]), UP, np.array([1.0, 0.0, 0.0]), (4.0, 0.0 if dimension == 2 else 4.0))
    turning = Drive(spin=0.3 * Z, about=np.array([1.0, 0.0, 0.0]), velocity=np.array([0.1, 0.2, 0.0]))
    walls = [Wall("paddle", shape, drive=turning)]
    return grains([[-1.5, 0.9, 0], [0.6, 1.0, 0]], dimension=dimension, friction=0.3, gravity=[0, -10, 0], walls=walls)


def rod(dimension):
    """A grain that rolls over a rod under a force of its own."""
    shape = Cylinder(np.array([0.0, -1.0, 0.0]), Z, 1.0, False, math.inf if dimension == 2 else 3.0)
    push = [[0.5, 0.0, 0.0]]
    walls = [Wall("rod", shape, drive=Drive(spin=2.0 * Z))]
    return grains(
        [[0.1, 1.0, 0]],
        dimension=dimension,
        friction=0.3,
        gravity=[0, -10, 0],
        force=push,
        walls=walls,
        spin=[[0, 0, 1]],
    )


WORLDS = {
    "piston": lambda d: triangular(3, 3, mu=0.3, g=5.0),
    "smooth": lambda d: triangular(3, 3, mu=0.0, g=5.0),
    "drum": drum,
    "shaker": shaker,
    "paddle": paddle,
    "rod": rod,
    "cloud": lambda d: cloud(30, dimension=d, mu=0.3),
}
FLAT = {"piston", "smooth"}


def pressed():
    """A frame with sticking, sliding and open contacts, walls and a piston."""
    return Frame.of(settle(triangular(3, 3, mu=0.3, g=5.0), steps=3))


def broken(frame, **rest):
    return {check.name for check in check(frame, **rest).failed}


# Real steps


@pytest.mark.parametrize("gap", ["g_pos", "g"])
@pytest.mark.parametrize(
    ("world", "dimension"), [(name, d) for name in WORLDS for d in (2, 3) if d == 2 or name not in FLAT]
)
def test_real_steps_are_certified(world, dimension, gap):
    """Every step that was solved to rounding is certified to much better than asked for."""
    simulation = Simulation(
        WORLDS[world](dimension), dt=0.005, solver=Sweeps(criterion=LocalCriterion(1e-10), max_sweeps=50_000, gap=gap)
    )
    for _ in range(25):
        simulation.step()
        certificate = check(Frame.of(simulation))
        assert certificate.passed, str(certificate)
    assert certificate.verdict.startswith("certified")
    assert certificate.accuracy < 1e-7
    assert not certificate.unchecked


def test_the_default_criterion_is_accepted():
    """The tolerance is made for a local criterion of 1e-3, in collisions and under load."""
    for bodies in (triangular(5, 5, mu=0.4, g=5.0), cloud(60, mu=0.4)):
        simulation = Simulation(bodies, dt=0.01)
        for _ in range(15):
            simulation.step()
            certificate = check(Frame.of(simulation))
            assert certificate.passed, str(certificate)


def test_few_sweeps_are_not_settled():
    """A chain that is pushed at one end and solved with two sweeps keeps momentum and energy, and misses Signorini."""
    simulation = Simulation(chain(20), dt=0.1, solver=Sweeps(criterion=FixedSweeps(2)))
    simulation.step()
    certificate = check(Frame.of(simulation))
    assert {check.kind for check in certificate.failed} == {"sweeps"}
    assert certificate.verdict.startswith("not settled: signorini")
    assert certificate["signorini"].worst.startswith("contact")
    assert check(Frame.of(simulation), tolerance=1.0).passed


def test_the_start_is_held_against_what_it_has():
    """No step led to the first frame: state and overlap only."""
    certificate = check(Frame.of(Simulation(column(3), dt=0.01)))
    assert certificate.passed
    assert "no step led to this frame" in certificate.unchecked[0]
    assert "in order" in certificate.verdict


def test_energy_of_a_sliding_grain():
    """A belt of speed u drags a grain by mu m g and works mu m g u dt; slip wastes what the grain does not get."""
    u, mu, dt = 2.0, 0.3, 0.01
    belt = floor(drive=Drive(velocity=np.array([u, 0.0, 0.0])))
    bodies = grains([[0, 1, 0]], gravity=[0, -10, 0], friction=mu, walls=[belt])
    energy = check(Frame.of(settle(bodies, dt=dt))).energy
    push, gain = mu * 10.0 * dt, (mu * 10.0 * dt) ** 2 * 0.5 * 3.5  # dp; dp^2/2 (1/m + r^2/I)
    assert energy["work of walls"] == pytest.approx(push * u)
    assert energy["change of kinetic energy"] == pytest.approx(gain)
    assert energy["dissipated at contacts"] + energy["dissipated in shocks"] == pytest.approx(push * u - gain)


# Tampering


def tamper_force(frame):
    """All of one contact force."""
    c = int(np.argmax(frame.contacts.normal_force))
    frame.contacts.force[c] *= 1.0 + 1e-6
    return f"{c}"


def tamper_component(frame):
    """One component by little."""
    frame.contacts.force[2, 0] += 1e-6
    return ""


def tamper_velocity(frame):
    frame.velocity[4, 1] += 1e-7
    return "grain 4"


def tamper_spin(frame):
    frame.spin[4, 2] += 1e-7
    return "grain 4"


def tamper_position(frame):
    frame.position[4, 0] += 1e-7
    return "grain 4"


def tamper_friction(frame):
    frame.friction[:] = 0.01
    return "mu = 0.01"


def remove_contact(frame):
    contacts = frame.contacts
    kept = np.arange(len(contacts)) != int(np.argmax(contacts.normal_force))
    contacts._count -= 1
    for name in ("pair", "point", "normal", "gap", "force", "status"):
        setattr(contacts, name, getattr(contacts, name)[kept])
    return ""


def pull(frame):
    c = int(np.argmax(frame.contacts.normal_force))
    frame.contacts.force[c] *= -1.0
    return f"contact {c} of"


def swap_pair(frame):
    frame.contacts.pair[0] = frame.contacts.pair[0, ::-1].copy()
    return "contact 0 of"


def double_contact(frame):
    frame.contacts.pair[1] = frame.contacts.pair[0]
    return "listed twice"


def tamper_status(frame):
    c = int(np.flatnonzero(frame.contacts.status == 1)[0])
    frame.contacts.status[c] = 2
    return f"contact {c} of"


def tamper_gap(frame):
    frame.contacts.gap[3] += 1e-6
    return "contact 3 of"


def tamper_normal(frame):
    frame.contacts.normal[3] = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]]) @ frame.contacts.normal[3]
    return "contact 3 of"


def tamper_load(frame):
    frame.load[5] *= 1.001
    return "load of grain 5"


def tamper_energy(frame):
    frame.figures["kinetic_energy"] += 1.0
    return "kinetic_energy"


def tamper_mass(frame):
    frame.mass[4] *= 1.001
    return "grain 4"


def lose_a_number(frame):
    frame.velocity[4, 1] = math.nan
    return "velocity of row 4"


def move_piston(frame):
    frame.wall_velocity[3, 1] += 1e-6
    return "wall 'piston'"


def drive_floor(frame):
    frame.wall_velocity[0, 1] += 1e-6
    return "wall 'floor'"


TAMPERING = {
    tamper_force: "momentum",
    tamper_component: "momentum",
    tamper_velocity: "momentum",
    tamper_spin: "angular momentum",
    tamper_position: "geometry",
    tamper_friction: "coulomb cone",
    remove_contact: "momentum",
    pull: "normal force",
    swap_pair: "geometry",
    double_contact: "contact list",
    tamper_status: "status",
    tamper_gap: "geometry",
    tamper_normal: "geometry",
    tamper_load: "figures",
    tamper_energy: "figures",
    tamper_mass: "momentum",
    lose_a_number: "state",
    move_piston: "pistons",
    drive_floor: "walls",
}


@pytest.mark.parametrize("tamper", TAMPERING, ids=lambda tamper: tamper.__name__)
def test_tampering_is_caught_and_named(tamper):
    """Whatever is changed in a frame breaks a law, and the law says where."""
    frame = pressed()
    assert check(frame).passed
    frame = pressed()
    place = tamper(frame)
    certificate = check(frame)
    assert not certificate.passed
    assert certificate.verdict.startswith("violated")
    assert TAMPERING[tamper] in {check.name for check in certificate.failed}
    assert place in certificate[TAMPERING[tamper]].worst


def test_a_pair_that_was_overlooked():
    """Two grains that run into each other without being a contact are named, though no force is wrong."""
    bodies = grains([[0, 0, 0], [5, 0, 0]], velocity=[[1, 0, 0], [0, 0, 0]])
    frame = Frame.of(settle(bodies))
    assert len(frame.contacts) == 0
    frame.position[0, 0] = 3.2
    certificate = check(frame)
    assert {check.name for check in certificate.failed} == {"overlap", "missing contacts"}
    assert "grain 0 and grain 1 overlap by 0.2 m" in certificate["missing contacts"].worst


def test_a_grain_behind_a_wall():
    """Every grain is held against every wall, not only those on the list."""
    frame = Frame.of(settle(grains([[0, 5, 0]], walls=[floor()])))
    frame.position[0, 1] = 0.9
    assert "grain 0 and wall 'floor' overlap by 0.1 m" in check(frame)["missing contacts"].worst


def test_energy_cannot_come_from_friction():
    """A tangential force along the slip is inside the cone but gives energy."""
    bodies = grains([[0, 1, 0]], gravity=[0, -10, 0], friction=0.3, velocity=[[1, 0, 0]], walls=[floor()])
    frame = Frame.of(settle(bodies))
    frame.contacts.force[0, 0] *= -1.0
    assert {"friction", "dissipation"} <= broken(frame)


def test_overlaps_that_are_taken_back_give_energy():
    """Policy g pushes overlapping grains apart: said in a note, not held against the contact."""
    bodies = grains([[0, 0, 0], [1.9, 0, 0]])
    certificate = check(Frame.of(settle(bodies, gap="g")))
    assert certificate["dissipation"].passed
    assert "taken back" in certificate.notes[0]
    assert certificate.energy["change of kinetic energy"] > 0.0


# Its own geometry


@pytest.mark.parametrize(
    "shape",
    [
        Plane(np.array([0.1, -0.2, 0.3]), np.array([0.6, 0.0, 0.8])),
        Plate(np.array([0.1, -0.2, 0.3]), np.array([0.6, 0.0, 0.8]), np.array([0.8, 0.0, -0.6]), (1.5, 0.7)),
        Cylinder(np.array([0.1, -0.2, 0.3]), np.array([0.6, 0.0, 0.8]), 1.3, True, math.inf),
        Cylinder(np.array([0.1, -0.2, 0.3]), np.array([0.6, 0.0, 0.8]), 1.3, True, 1.1),
        Cylinder(np.array([0.1, -0.2, 0.3]), np.array([0.6, 0.0, 0.8]), 1.3, False, 1.1),
        Cylinder(np.array([0.1, -0.2, 0.3]), np.array([0.6, 0.0, 0.8]), 1.3, False, math.inf),
    ],
    ids=["plane", "plate", "drum", "tube", "rod", "endless rod"],
)
def test_surfaces_agree_with_the_engine(shape):
    """Two texts for one surface: gaps and normals of random grains are equal."""
    rng = np.random.default_rng(1)
    position, radius = 4.0 * rng.normal(size=(2000, 3)), rng.uniform(0.1, 0.5, 2000)
    gap, normal = shape.gaps(np.arange(2000, dtype=np.int32), position, radius)
    mine, direction, _ = surfaces.gaps(Wall("wall", shape), position, radius)
    np.testing.assert_allclose(mine, gap, atol=1e-13)
    np.testing.assert_allclose(direction, normal, atol=1e-12)


def test_walls_go_back_where_they_came_from():
    """A wall that is moved on and back by a step is where it was, also when it turns about a point."""
    shape = Plate(np.array([1.0, 2.0, 0.5]), np.array([0.6, 0.0, 0.8]), np.array([0.8, 0.0, -0.6]), (1.0, 1.0))
    velocity, spin = np.array([0.3, -0.2, 0.1]), np.array([0.5, 1.0, -2.0])
    for about in (None, np.array([0.2, 0.1, -0.3])):
        wall = Wall("plate", shape, drive=Drive(spin=spin, about=about))
        back = surfaces.moved_back(wall.ahead(velocity, 0.1), velocity, 0.1)
        np.testing.assert_allclose(back.shape.point, shape.point, atol=1e-14)
        np.testing.assert_allclose(back.shape.normal, shape.normal, atol=1e-14)
    np.testing.assert_allclose(surfaces.rotation(spin), rotation_matrix(spin), atol=1e-15)


def test_pairs_of_all_sizes_are_found():
    """Radii over three decades: the trees find every overlap that a comparison of all pairs finds."""
    rng = np.random.default_rng(3)
    radius = 10.0 ** rng.uniform(-3, 0, 400)
    position = rng.uniform(0, 6, (400, 3))
    i, j = np.triu_indices(400, 1)
    overlapping = np.linalg.norm(position[i] - position[j], axis=1) < radius[i] + radius[j]
    found = {tuple(sorted(pair)) for pair in near_pairs(position, radius).tolist()}
    assert overlapping.sum() > 10
    assert {(a, b) for a, b in zip(i[overlapping].tolist(), j[overlapping].tolist())} <= found


def test_what_can_be_promised():
    """One digit, rounded up."""
    assert [ceiling(x) for x in (0.0, 2.34e-4, 3e-5, 0.97)] == ["0", "3e-04", "3e-05", "1e+00"]


# Files


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Files of one run: double, single, grains only."""
    folder = tmp_path_factory.mktemp("files")
    solver = Sweeps(criterion=LocalCriterion(1e-8))
    simulation = Simulation(triangular(3, 3, mu=0.3, g=5.0), dt=0.01, solver=solver)
    for name, options in (("double", {}), ("single", {"precision": "single"}), ("grains", {"contacts": False})):
        simulation.observe(TrajectoryWriter(folder / f"{name}.vtkhdf", **options), every=2)
    simulation.run(steps=6)
    return folder


def copy(written, tmp_path, name="double"):
    path = tmp_path / f"{name}.vtkhdf"
    path.write_bytes((written / f"{name}.vtkhdf").read_bytes())
    return path


def command(*words):
    return subprocess.run(
        [sys.executable, "-m", "rigidgrains", "check", *map(str, words)], capture_output=True, text=True
    )


def test_files_are_certified(written):
    """All frames, in double and single precision; grains alone are held against what they have."""
    certificates = list(check_file(written / "double.vtkhdf"))
    assert [certificate.step for certificate in certificates] == [0, 2, 4, 6]
    assert all(certificate.passed for certificate in certificates), summary(certificates)
    assert "3 frames certified to" in summary(certificates)
    single = list(check_file(written / "single.vtkhdf"))
    assert all(certificate.passed for certificate in single), str(single[-1])
    assert "single precision" in str(single[-1])
    bare = list(check_file(written / "grains.vtkhdf"))
    assert all(certificate.passed for certificate in bare), str(bare[-1])
    assert "holds no contacts" in bare[-1].unchecked[0]


@pytest.mark.parametrize("name", ["double", "single"])
def test_one_force_in_a_file(written, tmp_path, name):
    """One force changed by a thousandth is caught by the checksum and by the momentum of its grains, and named."""
    path = copy(written, tmp_path, name)
    with h5py.File(path, "r+", locking=False) as file:
        rows = file["contacts/PointData/force"]
        c = int(np.argmax(np.abs(rows[-1 * len(Trajectory(path)[-1].contacts) :, 1])))
        row = len(rows) - len(Trajectory(path)[-1].contacts) + c
        rows[row] = rows[row] * 1.001
    certificates = list(check_file(path))
    assert [certificate.passed for certificate in certificates] == [True, True, True, False]
    assert {"checksum", "momentum"} <= {check.name for check in certificates[-1].failed}


def test_the_checksum_alone(written, tmp_path):
    """What no law speaks of is still covered: orientations."""
    path = copy(written, tmp_path)
    with h5py.File(path, "r+", locking=False) as file:
        file["VTKHDF/PointData/orientation"][-1] += 0.5
    assert [check.name for check in list(check_file(path))[-1].failed] == ["checksum"]


def test_command(written, tmp_path):
    """0 for certified, 1 for violated, with all laws for one frame and JSON on demand."""
    done = command(written / "double.vtkhdf")
    assert done.returncode == 0, done.stderr
    assert "3 frames certified to" in done.stdout
    path = copy(written, tmp_path)
    with h5py.File(path, "r+", locking=False) as file:
        file["VTKHDF/PointData/velocity"][-1, 0] += 1e-3
    done = command(path, "--frame", "last", "--json")
    assert done.returncode == 1
    told = json.loads(done.stdout)
    assert not told["passed"]
    assert {"momentum", "checksum"} <= {check["name"] for check in told["frames"][0]["checks"] if not check["passed"]}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["missing.vtkhdf"], "no such file"),
        (["."], "folder"),
        ([__file__], "no trajectory"),
        (["double.vtkhdf", "--frame", "99"], "no frame 99"),
        (["double.vtkhdf", "--frame", "first"], "is no frame"),
        (["double.vtkhdf", "--tolerance", "0"], "--tolerance"),
    ],
)
def test_bad_input(written, words, told, capsys, monkeypatch):
    """One clear line and exit code 2."""
    from rigidgrains.cli import app

    monkeypatch.chdir(written)
    with pytest.raises(SystemExit) as end:
        app(["check", *words], exit_on_error=False)
    assert end.value.code == 2
    assert told in " ".join(capsys.readouterr().err.split())
