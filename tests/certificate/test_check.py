"""Real steps are certified: every kind of wall, both gap policies, files and the command."""

from __future__ import annotations

import json
import math

import h5py
import numpy as np
import pytest
from support.builders import chain, cloud, column, exact, floor, grains, plane, settle, triangular
from support.commands import called
from support.worlds import FLAT, WORLDS

from rigidgrains import AcceleratedSweeps, Frame, Simulation, Sweeps, Trajectory, TrajectoryWriter
from rigidgrains.certificate import check, check_file, summary, surfaces
from rigidgrains.certificate.overlap import near_pairs
from rigidgrains.certificate.verdict import ceiling
from rigidgrains.gallery import scene_text
from rigidgrains.laws import Restitution
from rigidgrains.model.shapes import Cone, Cylinder, Plane, Plate
from rigidgrains.model.walls import Drive, Wall, rotation_matrix
from rigidgrains.scene import load_scene
from rigidgrains.solve.criteria import FixedSweeps, LocalCriterion


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


def test_a_weight_that_is_held_up_is_certified():
    """A force that almost balances the weight: what rounding leaves is measured by the two, not by their difference."""
    bodies = grains([[0, 0, 0]], 1.0, 0.7, gravity=[0, -1e6 / 3, 0], force=np.array([[0, 0.7e6 / 3 * (1 + 1e-9), 0]]))
    simulation = Simulation(bodies, dt=0.003)
    for _ in range(5):
        simulation.step()
        certificate = check(Frame.of(simulation))
        assert certificate.passed, str(certificate)
    speed = 5 * 0.003 * 1e6 / 3 * 1e-9
    assert bodies.velocity[0, 1] == pytest.approx(speed, rel=1e-5)


def test_a_collision_that_the_load_brings_about_is_certified():
    """Too slow to meet within the step but for the load of the piston: the pair rebounds by its speed before."""
    lid = plane([0, 1.01, 0], [0, -1, 0], "lid", mass=1.0, load=10.0)
    bodies = grains([[0, 0, 0]], 1.0, 1.0, velocity=[[0, 0.1, 0]], walls=[lid], laws=[Restitution(np.array([[0.5]]))])
    simulation = Simulation(bodies, dt=0.05, solver=exact())
    simulation.step()
    assert bodies.motion[1, 1] - bodies.velocity[0, 1] == pytest.approx(0.5 * 0.1)
    certificate = check(Frame.of(simulation))
    assert certificate.passed, str(certificate)


@pytest.mark.parametrize("solver", [AcceleratedSweeps(accuracy="exact"), Sweeps()])
def test_what_converges_is_certified(solver):
    """In collisions and under load: by what bounds what each contact may lack, and by a local criterion."""
    for bodies in (triangular(5, 5, mu=0.4, g=5.0), cloud(60, mu=0.4), cloud(60, mu=0.4, speed=3.0)):
        simulation = Simulation(bodies, dt=0.01, solver=solver)
        for _ in range(15):
            simulation.step()
            certificate = check(Frame.of(simulation))
            assert simulation.last_solve.converged
            assert certificate.passed, str(certificate)


def test_a_grain_that_lands_on_a_pile_is_certified_too(tmp_path):
    """Its contact is one of hundreds, in which a root mean square would lose it."""
    (tmp_path / "pile.toml").write_text(scene_text("pile"))
    simulation = Simulation(load_scene(tmp_path / "pile.toml"), accuracy="exact")
    for step in range(600):
        simulation.step()
        if step % 5 == 0:
            certificate = check(Frame.of(simulation))
            assert certificate.passed, str(certificate)
    assert len(simulation.contacts.pairs) > 300


def test_sweeps_that_are_given_are_within_what_was_asked():
    """A chain that is pushed at one end and solved with two sweeps keeps momentum and energy, and misses Signorini."""
    simulation = Simulation(chain(20), dt=0.1, solver=Sweeps(criterion=FixedSweeps(2)))
    simulation.step()
    certificate = check(Frame.of(simulation))
    assert {check.kind for check in certificate.failed} == {"sweeps"}
    assert certificate.verdict.startswith("within what was asked: signorini")
    assert "nothing was asked of its forces" in str(certificate)
    assert not certificate.violated
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


@pytest.mark.parametrize(
    "shape",
    [
        Plane(np.array([0.1, -0.2, 0.3]), np.array([0.6, 0.0, 0.8])),
        Plate(np.array([0.1, -0.2, 0.3]), np.array([0.6, 0.0, 0.8]), np.array([0.8, 0.0, -0.6]), (1.5, 0.7)),
        Cylinder(np.array([0.1, -0.2, 0.3]), np.array([0.6, 0.0, 0.8]), 1.3, True, math.inf),
        Cylinder(np.array([0.1, -0.2, 0.3]), np.array([0.6, 0.0, 0.8]), 1.3, True, 1.1),
        Cylinder(np.array([0.1, -0.2, 0.3]), np.array([0.6, 0.0, 0.8]), 1.3, False, 1.1),
        Cylinder(np.array([0.1, -0.2, 0.3]), np.array([0.6, 0.0, 0.8]), 1.3, False, math.inf),
        Cone(np.array([0.1, -0.2, 0.3]), np.array([0.6, 0.0, 0.8]), (0.4, 1.9), 1.1),
    ],
    ids=["plane", "plate", "drum", "tube", "rod", "endless rod", "cone"],
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


def test_files_are_certified(written):
    """All frames, in double and single precision; grains alone are held against what they have."""
    certificates = list(check_file(written / "double.vtkhdf"))
    assert [certificate.step for certificate in certificates] == [0, 2, 4, 6]
    assert all(certificate.passed for certificate in certificates), summary(certificates)
    assert summary(certificates).startswith("4 frames: 3 certified to")
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
    """0 for certified and for what was asked, 1 for violated, with all laws for one frame and JSON on demand."""
    assert "4 frames: 3 certified to" in called(written, "check", "double.vtkhdf").stdout
    assert "3 within what was asked" in called(written, "check", "double.vtkhdf", "--tolerance", "1e-300").stdout
    path = copy(written, tmp_path)
    with h5py.File(path, "r+", locking=False) as file:
        file["VTKHDF/PointData/velocity"][-1, 0] += 1e-3
    told = json.loads(called(tmp_path, "check", path, "--frame", "last", "--json", check=1).stdout)
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
