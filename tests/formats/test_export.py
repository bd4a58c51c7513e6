"""Other programs' files: what is exported is read back by independent readers, and by our own import."""

from __future__ import annotations

import errno
import os
import sys
import xml.etree.ElementTree as ElementTree

import ase.io
import gsd.hoomd
import numpy as np
import pytest
import vtk
from support.exports import CSV, FORMATS, SETTINGS, STATE
from vtk.util.numpy_support import vtk_to_numpy

import rigidgrains as rg
from rigidgrains import formats
from rigidgrains.formats import FormatError, FrameError, export, read_state


@pytest.mark.parametrize("kind", SETTINGS)
@pytest.mark.parametrize("to", ["gsd", "lammps", "extxyz", "csv"])
@pytest.mark.parametrize("dimension", [2, 3])
def test_what_is_exported_can_be_imported(runs, tmp_path, dimension, to, kind):
    """To the bit; GSD is single precision by its schema."""
    with rg.Trajectory(runs[dimension, kind]) as run:
        path = export(run, to, tmp_path / f"state.{to}", 1)
        state, frame = read_state(path), run[1]
        assert state.dimension == dimension
        for name in STATE:
            stored = getattr(frame, name)
            if to == "gsd" and name != "spin":
                stored = stored.astype(np.float32)
            assert np.array_equal(getattr(state, name), stored), name
        assert to == "gsd" or np.array_equal(state.ids, frame.id + (to == "lammps"))


@pytest.mark.parametrize("to", ["gsd", "lammps", "extxyz"])
def test_every_frame_is_there(run, tmp_path, to):
    path = export(run, to, tmp_path / "all")
    assert len(run) == 4
    for index, frame in enumerate(run):
        assert read_state(path, index).frame == index
        assert read_state(path, index).position == pytest.approx(frame.position, rel=1e-6, abs=1e-9)
    assert read_state(path).frame == read_state(path, -1).frame == 3
    with pytest.raises(FrameError, match=r"there is no frame 4; it has 4, 0 to 3"):
        read_state(path, 4)
    with pytest.raises(FrameError, match=r"there is no frame -5; it has 4"):
        read_state(path, -5)


def test_our_own_trajectory_is_a_state_too(run):
    state, frame = read_state(run.path), run[-1]
    assert (state.dimension, state.frame, state.dt) == (run.dimension, 3, 2e-4)
    assert all(np.array_equal(getattr(state, name), getattr(frame, name)) for name in STATE)


def test_gsd_holds_the_hoomd_schema(run, tmp_path):
    path = export(run, "gsd", tmp_path / "run.gsd")
    with gsd.hoomd.open(str(path)) as file:
        assert len(file) == len(run)
        for frame, stored in zip(run, file):
            grains, contacts = stored.particles, frame.contacts
            assert stored.configuration.step == frame.step
            assert stored.configuration.dimensions == frame.dimension
            assert stored.log["time"][0] == frame.time
            half = 0.5 * stored.configuration.box[: frame.dimension]
            reach = np.abs(grains.position[:, : frame.dimension]).max(axis=0)
            assert (reach < half).all()
            assert not grains.image.any()
            assert grains.types == ["material0", "material1"]
            assert np.array_equal(grains.typeid, frame.material)
            assert grains.diameter == pytest.approx(2.0 * frame.radius)
            assert np.array_equal(stored.log["particles/load"], frame.load)
            bonded = (contacts.status > 0) & (contacts.pair[:, 1] < len(frame))
            assert bonded.sum() == stored.bonds.N
            assert np.array_equal(stored.bonds.group, contacts.pair[bonded])
            assert np.array_equal(stored.bonds.typeid, contacts.status[bonded] - 1)
            assert stored.log["bonds/force"] == pytest.approx(np.linalg.norm(contacts.force[bonded], axis=1))
        assert stored.bonds.N > 5
        assert stored.bonds.types == ["sticking", "sliding"]
        spin_from(grains, run[-1])


def spin_from(grains, frame):
    """HOOMD's angular momentum p = 2 q (0, L) gives back the spin: L = q* p / 2 in the frame of the grain."""
    inertia = (0.5 if frame.dimension == 2 else 0.4) * frame.mass * frame.radius**2
    assert grains.moment_inertia[:, 2] == pytest.approx(inertia)
    for p, q, i, spin in zip(grains.angmom, grains.orientation, inertia, frame.spin):
        local = 0.5 * multiply(q * [1, -1, -1, -1], p) / i
        assert multiply(multiply(q, local), q * [1, -1, -1, -1])[1:] == pytest.approx(spin, rel=1e-4, abs=1e-3)


def multiply(a, b):
    """Product of two quaternions (w, x, y, z)."""
    w = a[0] * b[0] - a[1:] @ b[1:]
    return np.array([w, *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))], dtype=float)


def test_ase_reads_the_lammps_dump(run, tmp_path):
    export(run, "lammps", tmp_path / "run.dump")
    images = ase.io.read(tmp_path / "run.dump", index=":", format="lammps-dump-text")
    assert len(images) == len(run)
    for frame, atoms in zip(run, images):
        assert np.array_equal(atoms.positions, frame.position)
        assert np.array_equal(atoms.arrays["type"], frame.material + 1)
        assert not atoms.pbc.any()


def test_contacts_are_a_local_dump(run, tmp_path):
    export(run, "lammps", tmp_path / "run.dump", "last")
    frame = run[-1]
    contacts, n = frame.contacts, len(frame)
    lines = (tmp_path / "run-contacts.dump").read_text().splitlines()
    assert lines[4:6] == ["ITEM: NUMBER OF ENTRIES", str(len(contacts))]
    names = lines[10].split()[2:]
    assert names[:6] == ["index", "id1", "id2", "x", "y", "z"]
    table = dict(zip(names, np.array([line.split() for line in lines[11:]], dtype=float).T))
    pair = contacts.pair
    assert np.array_equal(table["id1"], pair[:, 0] + 1)
    assert np.array_equal(table["id2"], np.where(pair[:, 1] < n, pair[:, 1] + 1, n - 1 - pair[:, 1]))
    assert -3 in table["id2"]
    assert np.array_equal(np.stack([table[k] for k in "xyz"], axis=1), contacts.point)
    assert np.array_equal(np.stack([table[f"force_{k}"] for k in "xyz"], axis=1), contacts.force)
    assert np.array_equal(table["gap"], contacts.gap)
    assert np.array_equal(table["status"], contacts.status)
    assert table["normal_force"] == pytest.approx(contacts.normal_force)
    total = np.hypot(table["normal_force"], table["tangential_force"])
    assert total == pytest.approx(np.linalg.norm(contacts.force, axis=1))


def test_ase_reads_extended_xyz(run, tmp_path):
    export(run, "extxyz", tmp_path / "run.extxyz")
    images = ase.io.read(tmp_path / "run.extxyz", index=":")
    for frame, atoms in zip(run, images, strict=True):
        assert np.array_equal(atoms.positions, frame.position)
        for name, column in (
            ("radius", "radius"),
            ("velocity", "velo"),
            ("spin", "spin"),
            ("load", "load"),
            ("id", "id"),
        ):
            assert np.array_equal(atoms.arrays[column], getattr(frame, name)), name
        turned = atoms.arrays["angle" if run.dimension == 2 else "quaternion"]
        assert np.array_equal(turned, frame.orientation)
        assert (atoms.info["Time"], atoms.info["step"]) == (frame.time, frame.step)
        assert not atoms.pbc.any()
    points = ase.io.read(tmp_path / "run-contacts.extxyz", index=-1)
    assert np.array_equal(points.positions, frame.contacts.point)
    assert np.array_equal(points.arrays["gap"], frame.contacts.gap)


def test_csv_is_read_by_numpy(run, tmp_path):
    folder = export(run, "csv", tmp_path / "tables")
    assert sorted(os.listdir(folder)) == sorted(
        [f"{kind}-00000{k}.csv" for kind in ("grains", "contacts") for k in range(4)] + ["history.csv"]
    )
    frame = run[2]
    grains = np.loadtxt(folder / "grains-000002.csv", delimiter=",", skiprows=1)
    names = (folder / "grains-000002.csv").read_text().splitlines()[0].split(",")
    assert names[2:7] == ["x [m]", "y [m]", "z [m]", "radius [m]", "mass [kg]"]
    assert np.array_equal(grains[:, 2:5], frame.position)
    assert np.array_equal(grains[:, names.index("load [N]")], frame.load)
    words = [line.split(",") for line in (folder / "contacts-000002.csv").read_text().splitlines()]
    assert np.array_equal(np.array([row[2:5] for row in words[1:]], dtype=float), frame.contacts.point)
    walls = [wall.name for wall in frame.walls]
    expected = ["" if j < len(frame) else walls[j - len(frame)] for j in frame.contacts.pair[:, 1]]
    assert [row[-1] for row in words[1:]] == expected


def test_history_has_all_columns_with_units(run, tmp_path):
    folder = export(run, "csv", tmp_path / "tables")
    names = (folder / "history.csv").read_text().splitlines()[0].split(",")
    table = np.loadtxt(folder / "history.csv", delimiter=",", skiprows=1)
    assert "time [s]" in names
    assert "kinetic_energy [J]" in names
    history = run.history
    for name, column in history.items():
        if name != "wall_force":
            [place] = [k for k, title in enumerate(names) if title.split(" [")[0] == name]
            assert np.array_equal(table[:, place], column, equal_nan=True)
    assert np.array_equal(table[:, names.index("bottom_y [N]")], history["wall_force"][:, -1, 1])
    assert len(names) == len(history) - 1 + 3 * len(run[-1].walls)


def read_vtu(path):
    reader = vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


@pytest.mark.parametrize("kind", ["double", "single"])
@pytest.mark.parametrize("dimension", [2, 3])
def test_vtk_reads_the_grids(runs, tmp_path, dimension, kind):
    with rg.Trajectory(runs[dimension, kind]) as run:
        folder = export(run, "vtu", tmp_path / "grids")
        for frame in run:
            grains = read_vtu(folder / f"grains-{frame.index:06d}.vtu")
            assert np.array_equal(vtk_to_numpy(grains.GetPoints().GetData()), frame.position)
            assert grains.GetNumberOfCells() == len(frame)
            for name in (
                "radius",
                "velocity",
                "spin",
                "orientation",
                "mass",
                "load",
                "contact_number",
                "material",
                "id",
            ):
                assert np.array_equal(vtk_to_numpy(grains.GetPointData().GetArray(name)), getattr(frame, name)), name
            assert grains.GetFieldData().GetArray("TimeValue").GetValue(0) == frame.time
            contacts = read_vtu(folder / f"contacts-{frame.index:06d}.vtu")
            assert contacts.GetNumberOfPoints() == len(frame.contacts)
            for name in ("normal", "gap", "force", "status"):
                stored = vtk_to_numpy(contacts.GetPointData().GetArray(name))
                assert np.array_equal(stored, getattr(frame.contacts, name)), name
        steps = ElementTree.parse(folder / "grains.pvd").getroot().findall("./Collection/DataSet")
        assert [float(step.get("timestep")) for step in steps] == run.times.tolist()
        assert all((folder / step.get("file")).exists() for step in steps)


def test_files_without_contacts_make_no_contacts(runs, tmp_path):
    for to in FORMATS:
        export(runs[2, "grains"], to, tmp_path / f"run.{to}", 1)
    assert sorted(os.listdir(tmp_path)) == sorted(f"run.{to}" for to in FORMATS)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("missing.vtkhdf", "--to", "gsd"), "missing.vtkhdf: no such file"),
        ((".", "--to", "gsd"), "this is a folder"),
        (("a.csv", "--to", "gsd"), "this is no trajectory"),
        (("RUN", "--to", "lamps"), "format 'lamps' is unknown; did you mean lammps?"),
        (("RUN", "--to", "csv", "--frame", "4"), "there is no frame 4; it has 4, 0 to 3"),
        (("RUN", "--to", "csv", "--frame", "soon"), "--frame soon is no frame; give a number or last or all"),
        (("RUN", "--to", "lammps", "--output", "a.csv"), "a.csv exists and is left alone"),
        (("RUN", "--to", "lammps", "--output", "a.csv/b"), "there is no folder a.csv"),
        (("RUN", "--to", "lammps", "--output", "."), "folder"),
        (("RUN", "--to", "csv", "--output", "a.csv", "--force"), "this is a file, and a folder is to be made"),
        (("RUN", "--to", "csv", "--output", "x" * 300), "cannot be written: File name too long"),
        (("RUN", "--to", "gsd", "--output", "RUN", "--force"), "this is the file to be read"),
    ],
)
def test_bad_exports_end_with_exit_code_2(cli, runs, tmp_path, words, says):
    (tmp_path / "a.csv").write_text(CSV)
    words = [str(runs[2, "double"]) if word == "RUN" else word for word in words]
    assert says in cli("export", *words, check=2)
    assert os.listdir(tmp_path) == ["a.csv"]
    assert (tmp_path / "a.csv").read_text() == CSV


def test_exports_stand_beside_the_trajectory_and_are_never_overwritten_unasked(cli, runs, tmp_path):
    file = tmp_path / "run.vtkhdf"
    file.write_bytes(runs[2, "double"].read_bytes())
    for to in FORMATS:
        cli("export", file, "--to", to)
        assert "exists and is left alone" in cli("export", file, "--to", to, check=2)
    assert {path.name for path in tmp_path.iterdir()} == {
        "run-contacts.dump", "run-contacts.extxyz", "run-csv", "run-vtu", "run.dump", "run.extxyz", "run.gsd",
        "run.vtkhdf",
    }  # fmt: skip
    (tmp_path / "run-csv" / "grains-000009.csv").write_text("of an earlier, longer run")
    (tmp_path / "run-csv" / "notes.txt").write_text("mine")
    cli("export", file, "--to", "csv", "--force")
    left = os.listdir(tmp_path / "run-csv")
    assert "notes.txt" in left
    assert "grains-000009.csv" not in left
    assert "grains-000003.csv" in left


@pytest.mark.parametrize("to", FORMATS)
def test_a_write_that_fails_leaves_what_was_there(runs, tmp_path, monkeypatch, to):
    def full(*words, **more):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    room = formats.FORMATS[to].room
    for name in ("lines", "save", "_frame"):
        if hasattr(room, name):
            monkeypatch.setattr(room, name, full)
    (tmp_path / "out").write_text("kept")
    with pytest.raises(FormatError, match="out: cannot be written: No space left on device"):
        export(runs[2, "double"], to, tmp_path / "out", "last", force=True)
    assert os.listdir(tmp_path) == ["out"]
    assert (tmp_path / "out").read_text() == "kept"


def test_without_gsd_the_remedy_is_told(cli, runs, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "gsd.hoomd", None)
    told = cli("export", runs[2, "double"], "--to", "gsd", "--output", "a.gsd", check=2)
    assert "pip install 'rigidgrains[formats]'" in told
    assert not os.listdir(tmp_path)
