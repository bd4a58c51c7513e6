"""Files of large runs: chosen arrays, fewer frames, single precision; what is left out is told, the rest unchanged."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import rigidgrains as rg
from rigidgrains import certificate, formats, measure
from rigidgrains.model.arrays import choosable
from rigidgrains.trajectory.errors import NotInFile

BASIC = {"radius", "mass", "material", "id", "group"}


def raining() -> rg.Simulation:
    """Disks with a number of the user fall into a box, and more of them come."""
    scene = rg.Scene(dimension=2, gravity=(0, -9.81), friction=0.4, run={"dt": 1e-3, "seed": 4})
    scene.add_grains(name="bed", count=12, radius=[1e-3, 2e-3], region=[[0, 0], [0.02, 0.02]], scalars={"dye": "x"})
    scene.add_box(lower=(0, 0), upper=(0.02, 0.06), open=["top"])
    scene.add_inflow("rain", radius=1e-3, rate=200, total=5, region=[[0, 0.03], [0.02, 0.05]])
    return rg.Simulation(scene)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """All arrays, with contacts; a frame every 5 steps."""
    path, history = tmp_path_factory.mktemp("fields") / "run.vtkhdf", rg.History()
    writer = rg.TrajectoryWriter(path, history=history)
    raining().observe(history).observe(writer, every=5).run(steps=60)
    return path


def arrays_of(frame):
    return {name for name in (*BASIC, *choosable(), "velocity_before", "dye") if frame.column(name) is not None}


def test_a_run_writes_chosen_fields_and_is_resumed_to_the_bit(whole, tmp_path):
    """Also when it is torn, with inflow; the checkpoint knows all that frames do not."""
    path = tmp_path / "thin.vtkhdf"
    raining().observe(rg.TrajectoryWriter(path, fields=("velocity", "load")), every=5).run(steps=30)
    rg.resume(path).observe(rg.TrajectoryWriter(path, resume=True), every=5).run(steps=30)
    with rg.Trajectory(path) as thin, rg.Trajectory(whole) as full:
        assert thin.steps.tolist() == full.steps.tolist()
        for one, other in zip(thin, full):
            assert arrays_of(one) == BASIC | {"velocity", "load", "dye"}
            assert not one.has_contacts
            for name in (*BASIC, "position", "velocity", "load", "dye"):
                assert np.array_equal(one.column(name), other.column(name), equal_nan=True), name
        assert len(thin[-1]) > len(thin[0])  # some have come in
        with pytest.raises(NotInFile, match="no 'spin': they were written with chosen fields; choose this one too"):
            measure.energy(thin[-1])
        with pytest.raises(NotInFile, match="no 'spin'"):
            certificate.check(thin[-1])
    assert rg.draw_packing(rg.Trajectory(path)[-1]) is not None  # needs neither spins nor orientations


def test_a_trajectory_is_thinned_out(whole, tmp_path):
    """Frames that are kept are those of the run, with their certificates, and the history is whole."""
    path = formats.export(whole, "vtkhdf", every=4)
    assert path == whole.with_name("run-thin.vtkhdf")
    with rg.Trajectory(path) as thin, rg.Trajectory(whole) as full:
        assert thin.steps.tolist() == full.steps[::4].tolist()
        assert all(np.array_equal(thin.history[name], full.history[name], equal_nan=True) for name in full.history)
        for one, other in zip(thin, full[::4]):
            assert str(certificate.check(one)).splitlines()[1:] == str(certificate.check(other)).splitlines()[1:]
            assert [wall.name for wall in one.walls] == [wall.name for wall in other.walls]
        assert thin[-1].names == full[-1].names
    with pytest.raises(rg.TrajectoryError, match="no checkpoint to resume from"):
        rg.resume(path)
    small = formats.export(whole, "vtkhdf", tmp_path / "small.vtkhdf", every=4, fields=["velocity"], single=True)
    with rg.Trajectory(small) as thin, rg.Trajectory(whole) as full:
        assert arrays_of(thin[-1]) == BASIC | {"velocity", "dye"}
        for one, other in zip(thin, full[::4]):
            assert one.position.dtype == np.float32
            assert np.array_equal(one.position, other.position.astype(np.float32))
    bare = formats.export(whole, "vtkhdf", tmp_path / "bare.vtkhdf", contacts=False, compress=True)
    with rg.Trajectory(bare) as thin:
        assert "velocity_before" not in arrays_of(thin[-1])
        assert arrays_of(thin[-1]) >= {"velocity", "spin", "orientation", "load"}


@pytest.mark.parametrize("to", ["csv", "extxyz", "lammps", "vtu", "gsd"])
def test_exports_have_chosen_fields(whole, tmp_path, to):
    path = tmp_path / f"out.{to}"
    if to == "gsd":
        pytest.importorskip("gsd.hoomd")
    formats.export(whole, to, path, "last", fields=["velocity"], contacts=False)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]  # no contacts beside it
    if to == "vtu":
        head = path.read_bytes().split(b"<AppendedData")[0].decode()
        assert 'Name="velocity"' in head
        assert 'Name="load"' not in head
        return
    if to == "csv":
        names = next(csv.reader(path.open()))
        named = ["id", "material", "x [m]", "y [m]", "z [m]", "radius [m]", "mass [kg]", "vx [m/s]", "vy [m/s]"]
        assert names == [*named, "vz [m/s]", "group", "dye"]
    state, frame = formats.read_state(path), rg.Trajectory(whole)[-1]
    places = np.float32 if to == "gsd" else float
    assert np.array_equal(state.position, frame.position.astype(places))
    assert np.array_equal(state.velocity, frame.velocity.astype(places))
    assert state.spin is None or not state.spin.any()
    assert state.cell is None


def test_mistakes_are_told_together(whole, tmp_path, cli):
    said = cli("export", whole, "--to", "csv", "--fields", "velcity,x", "--single", check=2)
    for part in (
        "'velcity' to choose; did you mean 'velocity'?",
        "'x' to choose; known are velocity",
        "belong to format",
    ):
        assert part in said
    with pytest.raises(formats.FormatError, match="contacts with all fields or none"):
        formats.export(whole, "vtkhdf", tmp_path / "a.vtkhdf", fields=["load"], contacts=True)
    for given in ("velocity", 3):
        with pytest.raises(TypeError, match="is no list of names; give one"):
            rg.TrajectoryWriter(tmp_path / "a.vtkhdf", fields=given)
    with pytest.raises(ValueError, match=r"'lod' to choose; did you mean 'load'.*cannot be certified"):
        rg.TrajectoryWriter(tmp_path / "a.vtkhdf", fields=["lod"], contacts=True)
    with pytest.raises(rg.SceneError) as told:
        rg.Scene(output={"fields": ["velocity", "lode"], "contacts": True})
    assert [str(one) for one in told.value.problems] == [
        "output.fields: frames have no array of this name; did you mean 'load'?; given: 'lode'",
        "output.fields: goes with contacts = false: contacts without all arrays of their grains cannot be certified; "
        "given: ['velocity', 'lode']",
    ]


@pytest.mark.parametrize("to", ["csv", "lammps", "vtkhdf"])
def test_a_field_that_the_frames_do_not_have_is_told(whole, to, tmp_path, cli):
    """Asked for, it was left out without a word."""
    cli("export", whole, "--to", "vtkhdf", "--fields", "velocity", "-o", tmp_path / "thin.vtkhdf")
    words = ["--to", to, "--fields", "velocity,load,spin", "-o", tmp_path / f"out.{to}"]
    said = cli("export", tmp_path / "thin.vtkhdf", *words, check=2)
    assert "its frames have no 'load', 'spin': the run had none, or wrote chosen fields; leave it out" in said
    assert not (tmp_path / f"out.{to}").exists()


def test_a_scene_chooses_fields(tmp_path, cli):
    (tmp_path / "s.toml").write_text(
        "dimension = 2\n[[grains]]\npositions = [[0, 1]]\nradius = 0.5\n[run]\ndt = 0.01\nsteps = 20\n"
        '[output]\nfields = ["velocity"]\nprecision = "single"\n'
    )
    cli("run", "s.toml")
    with rg.Trajectory(tmp_path / "s" / "s.vtkhdf") as trajectory:
        assert arrays_of(trajectory[-1]) == BASIC | {"velocity"}
    assert "none: frames were written with chosen fields" in cli("info", "s/s.vtkhdf")
    assert "no 'load': they were written with chosen fields" in cli("render", "s/s.vtkhdf", "-o", "a.png", check=2)
    cli("render", "s/s.vtkhdf", "--colour", "speed", "-o", "a.png")
