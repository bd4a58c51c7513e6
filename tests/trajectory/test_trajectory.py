"""The file of a run: what is written is what VTK and we read; refusals are clear."""

from __future__ import annotations

import os
import shutil
import stat

import h5py
import numpy as np
import pytest
from support.builders import cloud, triangular
from support.scenes import drum

import rigidgrains as rg
from rigidgrains.trajectory import layout, store
from rigidgrains.trajectory.errors import TrajectoryError
from rigidgrains.trajectory.frame import STATUS
from rigidgrains.trajectory.repair import repair


@pytest.fixture(scope="module", params=["2D piston", "3D drum", "free"])
def written(request, tmp_path_factory):
    """A trajectory and the states it was written from."""
    path = tmp_path_factory.mktemp("written") / "run.vtkhdf"
    world = {
        "2D piston": lambda: rg.Simulation(triangular(5, 6, mu=0.3, g=10.0), dt=1e-2),
        "3D drum": drum,
        "free": lambda: rg.Simulation(cloud(9), dt=1e-2),
    }
    simulation = world[request.param]()
    states = []
    history = rg.History()
    simulation.observe(history, every=5)
    simulation.observe(rg.TrajectoryWriter(path, history=history), every=20)
    simulation.observe(lambda now: states.append(rg.Frame.of(now)), every=20)
    first = rg.Frame.of(simulation)
    simulation.run(steps=100)
    return path, [first, *states], history


GRAINS = (
    "position", "orientation", "velocity", "spin", "velocity_before", "spin_before", "radius", "mass", "id", "material",
    "load", "contact_number", "external_force", "gravity", "friction", "wall_velocity", "wall_force",
)  # fmt: skip
CONTACTS = ("pair", "point", "normal", "gap", "force", "status")


def test_what_is_read_is_what_was_there(written):
    path, states, history = written
    with rg.Trajectory(path) as trajectory:
        assert len(trajectory) == len(states) == 6
        assert trajectory.steps.tolist() == [0, 20, 40, 60, 80, 100]
        for frame, state in zip(trajectory, states):
            for name in GRAINS:
                assert np.array_equal(getattr(frame, name), getattr(state, name)), name
            for name in CONTACTS:
                assert np.array_equal(getattr(frame.contacts, name), getattr(state.contacts, name)), name
            for ours, theirs in zip(frame.walls, state.walls, strict=True):
                assert np.array_equal(ours.shape.point, theirs.shape.point)
                assert ours.name == theirs.name
            assert {**frame.figures, "wall_table": 0} == {**state.figures, "wall_table": 0}
        for name in ("time", "sweeps", "kinetic_energy", "residual", "diffusion_length"):
            assert np.array_equal(trajectory.history[name], history[name])
        assert trajectory.history["wall_force"].shape == (20, len(states[0].walls), 3)


def test_vtk_reads_every_field_of_every_frame(written):
    """VTK's own reader, also through the link to the contacts."""
    vtk = pytest.importorskip("vtk")
    from vtk.util.numpy_support import vtk_to_numpy

    path, states, _ = written
    for file, group in ((path, "VTKHDF"), (store.contacts_link(path), "contacts")):
        reader = vtk.vtkHDFReader()
        assert reader.CanReadFile(str(file))
        reader.SetFileName(str(file))
        reader.UpdateInformation()
        assert reader.GetNumberOfSteps() == len(states)
        for step, state in enumerate(states):
            reader.SetStep(step)
            reader.Update()
            found = reader.GetOutputDataObject(0)
            source = state if group == "VTKHDF" else state.contacts
            expected = source.position if group == "VTKHDF" else source.point
            assert found.GetNumberOfPoints() == len(expected)
            if not len(expected):
                continue
            assert np.array_equal(vtk_to_numpy(found.GetPoints().GetData()), expected)
            with h5py.File(path) as plain:
                names = list(plain[f"{group}/PointData"])
            assert set(names) >= ({"velocity", "spin", "radius", "load"} if group == "VTKHDF" else {"pair", "force"})
            for name in names:
                assert np.array_equal(vtk_to_numpy(found.GetPointData().GetArray(name)), getattr(source, name)), name
            if group == "VTKHDF":
                for name, value in state.figures.items():
                    assert vtk_to_numpy(found.GetFieldData().GetArray(name))[0] == value, name


def test_a_law_holds_in_the_file(written):
    """Momentum of all grains between the beginning and the end of a step, from the stored arrays alone."""
    path, _, _ = written
    frame = rg.Trajectory(path)[-1]
    change = (frame.mass[:, None] * (frame.velocity - frame.velocity_before)).sum(axis=0)
    outside = frame.contacts.pair[:, 1] >= len(frame)
    push = frame.mass.sum() * frame.gravity - frame.contacts.force[outside].sum(axis=0)
    assert change == pytest.approx(frame.dt * push, abs=1e-12)
    assert frame.wall_force.sum(axis=0) == pytest.approx(frame.contacts.force[outside].sum(axis=0), abs=1e-12)
    assert {STATUS[k] for k in np.unique(frame.contacts.status)} <= {"open", "sticking", "sliding"}
    assert np.all((frame.contacts.normal_force > 0) == (frame.contacts.status > 0))


def test_lookup_slices_and_refusals(written):
    path, states, _ = written
    trajectory = rg.Trajectory(path)
    dt = trajectory[0].dt
    assert trajectory.at(39 * dt).index == 2
    assert trajectory.at(-1.0).index == 0
    assert [frame.index for frame in trajectory[-2:]] == [4, 5]
    assert [frame.index for frame in trajectory[::2]] == [0, 2, 4]
    assert trajectory[-1].index == 5
    assert trajectory.array("position").shape == (6, len(states[0]), 3)
    assert np.array_equal(trajectory.figures("step"), trajectory.steps)
    with pytest.raises(TrajectoryError, match=r"no frame 6; it has 6, 0 to 5"):
        trajectory[6]
    with pytest.raises(TrajectoryError, match="no figure is called 'heat'"):
        trajectory.figures("heat")


def test_xarray_has_names_for_everything(written):
    pytest.importorskip("xarray")
    path, states, _ = written
    data = rg.Trajectory(path).to_xarray()
    assert data.position.dims == ("frame", "grain", "component")
    assert np.array_equal(data.velocity.values[-1], states[-1].velocity)
    assert np.array_equal(data.time.values, [state.time for state in states])


def test_a_running_simulation_can_be_read(tmp_path):
    simulation = rg.Simulation(triangular(3, 4), dt=1e-2)
    seen = []

    def look(now: rg.Simulation) -> None:
        with rg.Trajectory(tmp_path / "run.vtkhdf") as trajectory:
            seen.append((len(trajectory), trajectory[-1].step))
        following.refresh()
        assert len(following) == seen[-1][0]

    simulation.observe(rg.TrajectoryWriter(tmp_path / "run.vtkhdf"), every=2)
    simulation.run(steps=2)
    following = rg.Trajectory(tmp_path / "run.vtkhdf")
    simulation.observe(look, every=2)
    simulation.run(steps=6)
    assert seen == [(3, 4), (4, 6), (5, 8)]


def test_single_precision_and_grains_alone_are_smaller(tmp_path):
    sizes = {}
    for name, options in {"full": {}, "single": {"precision": "single"}, "grains": {"contacts": False}}.items():
        simulation = rg.Simulation(cloud(2000), dt=1e-2)
        path = tmp_path / f"{name}.vtkhdf"
        simulation.observe(rg.TrajectoryWriter(path, **options), every=1)
        simulation.run(steps=3)
        with rg.Trajectory(path) as trajectory:
            exact = simulation.bodies.position
            assert np.allclose(trajectory[-1].position, exact, rtol=0, atol=1e-6 * np.abs(exact).max())
            assert trajectory.has_contacts == (name != "grains")
        with h5py.File(path) as file:
            sizes[name] = _frames(file)
    assert sizes["single"] < 0.6 * sizes["full"]
    assert sizes["grains"] < 0.7 * sizes["full"]


def _frames(file: h5py.File) -> int:
    """Bytes of the arrays over points."""
    groups = [file[group]["PointData"] for group in ("VTKHDF", "contacts") if group in file]
    return sum(array.id.get_storage_size() for group in groups for array in group.values())


def test_what_rarely_changes_is_written_when_it_does(tmp_path):
    """Masses: as they were, with one number changed, and back again; resumed in between."""
    simulation = rg.Simulation(triangular(3, 4, mu=0.3, g=10.0), dt=1e-3)
    path, mass = tmp_path / "run.vtkhdf", []
    for resumed in (False, True):
        writer = rg.TrajectoryWriter(path, resume=resumed)
        writer.start(simulation, 2)
        for factor in (2.0, 1.0) if resumed else (1.0,):
            simulation.bodies.mass[3] *= factor
            simulation.step()
            mass.append(simulation.bodies.mass.copy())
            writer.look(simulation)
            simulation.bodies.mass[3] /= factor
        writer.finish(simulation)
    with rg.Trajectory(path) as trajectory:
        assert len(trajectory) == 4
        for frame, expected in zip(list(trajectory)[1:], mass):
            np.testing.assert_array_equal(frame.mass, expected)
    with h5py.File(path) as file:
        assert len(file["VTKHDF/PointData/mass"]) == 3 * simulation.bodies.count  # not in frames that keep it
        assert len(file["VTKHDF/PointData/radius"]) == simulation.bodies.count


def test_size_is_that_of_the_arrays(tmp_path):
    """Overhead per frame is small, and compression helps."""
    sizes = {}
    for compression in (None, "gzip"):
        simulation = rg.Simulation(cloud(3000), dt=1e-3)
        path = tmp_path / f"{compression}.vtkhdf"
        writer = rg.TrajectoryWriter(path, compression=compression)
        simulation.observe(writer, every=1)
        simulation.run(steps=20)
        sizes[compression] = path.stat().st_size
        with rg.Trajectory(path) as trajectory:
            raw = sum(
                3000 * (24 + 32 + 24 + 24 + 24 + 24 + 8 + 4) + len(frame.contacts) * (24 + 8 + 24 + 8 + 24 + 1)
                for frame in trajectory
            )
    assert raw < sizes[None] < 1.25 * raw + 2e6
    assert sizes["gzip"] < 0.9 * sizes[None]


def test_nothing_is_overwritten_without_force(tmp_path):
    path = tmp_path / "run.vtkhdf"
    simulation = rg.Simulation(triangular(2, 2), dt=1e-2)
    simulation.observe(rg.TrajectoryWriter(path))
    simulation.run(steps=2)
    with pytest.raises(rg.OutputError, match="exists and is left alone"):
        rg.TrajectoryWriter(path)
    other = rg.Simulation(triangular(2, 2), dt=1e-2)
    other.observe(rg.TrajectoryWriter(path, force=True))
    other.run(steps=4)
    assert len(rg.Trajectory(path)) == 5
    assert sorted(file.name for file in tmp_path.iterdir()) == ["run-contacts.vtkhdf", "run.vtkhdf"]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda path: None, "no such file"),
        (lambda path: path.mkdir(), "this is a folder"),
        (lambda path: path.write_bytes(b""), "no trajectory"),
        (lambda path: path.write_text("x = 1\n" * 100), "no trajectory"),
        (lambda path: h5py.File(path, "w").close(), "no trajectory of rigidgrains"),
    ],
)
def test_other_files_are_refused(tmp_path, make, says):
    path = tmp_path / "other.vtkhdf"
    make(path)
    for use in (rg.Trajectory, rg.resume):
        with pytest.raises(TrajectoryError, match=says):
            use(path)


def test_a_newer_format_is_refused(written, tmp_path):
    path = tmp_path / "newer.vtkhdf"
    shutil.copy(written[0], path)
    with h5py.File(path, "r+") as file:
        file.attrs["format_version"] = layout.FORMAT_VERSION + 1
    with pytest.raises(TrajectoryError, match="format version 2 is newer than 1"):
        rg.Trajectory(path)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(written, tmp_path):
    path = tmp_path / "locked.vtkhdf"
    shutil.copy(written[0], path)
    path.chmod(0)
    with pytest.raises(TrajectoryError, match="check its permissions"):
        rg.Trajectory(path)
    path.chmod(stat.S_IRUSR)


@pytest.mark.parametrize(
    ("name", "says"),
    [("run.h5", "ends in .vtkhdf"), ("nowhere/run.vtkhdf", "there is no folder"), ("", "this is a folder")],
)
def test_names_at_which_nothing_can_be_written(tmp_path, name, says):
    with pytest.raises(TrajectoryError, match=says):
        rg.TrajectoryWriter(tmp_path / name)


def test_a_truncated_file_is_told_and_repaired(written, tmp_path):
    path = tmp_path / "cut.vtkhdf"
    whole = written[0].read_bytes()
    cut = whole[: len(whole) - 20_000]
    path.write_bytes(cut)
    with pytest.raises(TrajectoryError, match=r"damaged: it ends too early; rigidgrains repair .*cut.vtkhdf"):
        rg.Trajectory(path)
    found = repair(path)
    assert found.frames >= 1
    assert found.frames + len(found.lost) == 6
    with rg.Trajectory(found.path) as trajectory:
        for frame in trajectory:
            assert np.array_equal(frame.position, written[1][frame.index].position)
            assert np.array_equal(frame.contacts.force, written[1][frame.index].contacts.force)
    assert path.read_bytes() == cut
    with pytest.raises(rg.OutputError, match="exists and is left alone"):
        repair(path)


def test_a_repair_replaces_nothing_that_is_in_the_way(written, tmp_path):
    """Neither a file of its name nor one where the link to the contacts will be."""
    path = tmp_path / "run.vtkhdf"
    path.write_bytes(written[0].read_bytes())
    stranger = tmp_path / "run-repaired-contacts.vtkhdf"
    stranger.write_text("mine")
    with pytest.raises(rg.OutputError, match=r"run-repaired-contacts\.vtkhdf"):
        repair(path)
    assert stranger.read_text() == "mine"
    assert not (tmp_path / "run-repaired.vtkhdf").exists()


def test_a_flipped_bit_costs_one_frame(written, tmp_path):
    """The position of one grain in one frame is found in the file and changed."""
    path = tmp_path / "flipped.vtkhdf"
    content = bytearray(written[0].read_bytes())
    place = content.find(written[1][3].position.tobytes()[:24])
    content[place + 5] ^= 4
    path.write_bytes(content)
    found = repair(path)
    assert found.lost == [3]
    assert found.checkpoint
    assert rg.Trajectory(found.path).steps.tolist() == [0, 20, 40, 80, 100]
    assert rg.resume(found.path).steps == 100
