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
from vtk.util.numpy_support import vtk_to_numpy

import rigidgrains as rg
from rigidgrains import formats
from rigidgrains.cli import app
from rigidgrains.formats import FormatError, FrameError, export, read_state
from rigidgrains.scene import Scene, SceneError, load_scene

FORMATS = ("gsd", "lammps", "extxyz", "csv", "vtu")
SETTINGS = {"double": {}, "single": {"precision": "single"}, "grains": {"contacts": False}}
STATE = ("position", "radius", "velocity", "spin", "mass")
DUMP = """ITEM: TIMESTEP
0
ITEM: NUMBER OF ATOMS
2
ITEM: BOX BOUNDS ff ff ff
0 1
0 1
-0.5 0.5
ITEM: ATOMS id type x y z radius
2 1 0.5 0.25 0 0.1
1 1 0.25 0.75 0 0.2
"""
XYZ = """2
Properties=species:S:1:pos:R:3:radius:R:1
X 0.5 0.25 0 0.1
X 0.25 0.75 0 0.2
"""
CSV = "x [m],y [m],radius [m]\n0.5,0.25,0.1\n0.25,0.75,0.2\n"


def simulate(path, dimension, **settings):
    """Two dozen grains of two materials fall into a box."""
    scene = Scene(dimension=dimension, gravity=(0,) * (dimension - 1) + (-9.81,), run={"dt": 2e-4})
    scene.add_material("glass", friction=0.3)
    spin = 3.0 if dimension == 2 else (1, 2, 3)
    region = ((0,) * dimension, (0.012,) * dimension)
    scene.add_grains(count=24, radius=(0.9e-3, 1.1e-3), region=region, velocity=(-0.2,) * dimension, spin=spin)
    last = (0.006,) * (dimension - 1) + (0.02,)
    scene.add_grains(positions=[last], radius=1.5e-3, material="glass", density=5000)
    scene.add_box(lower=(0,) * dimension, upper=(0.012,) * (dimension - 1) + (0.03,), open=["top"])
    simulation, history = rg.Simulation(scene), rg.History()
    simulation.observe(history, every=10)
    simulation.observe(rg.TrajectoryWriter(path, history=history, **settings), every=40)
    simulation.run(steps=100)
    return path


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return {
        (dimension, kind): simulate(folder / f"{kind}{dimension}.vtkhdf", dimension, **settings)
        for dimension in (2, 3)
        for kind, settings in SETTINGS.items()
    }


@pytest.fixture(params=[2, 3], ids=["2D", "3D"])
def run(request, runs):
    with rg.Trajectory(runs[request.param, "double"]) as trajectory:
        yield trajectory


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    """Call a command in an empty folder; returns what it said."""
    monkeypatch.chdir(tmp_path)

    def call(*words, check=0):
        code = 0
        try:
            app([*map(str, words)], exit_on_error=False, result_action="return_value")
        except SystemExit as end:
            code = end.code
        said = capsys.readouterr()
        assert code == check, said.out + said.err
        return " ".join((said.out + said.err).split())

    return call


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


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("to", ["vtkhdf", "lammps", "extxyz", "csv", "gsd"])
def test_the_run_goes_on_from_an_import(cli, runs, tmp_path, dimension, to):
    """The last state, exported and imported, is a scene that runs; its grains are those of the file."""
    file = runs[dimension, "double"]
    if to != "vtkhdf":
        cli("export", file, "--to", to, "--frame", "last", "--output", f"state.{to}")
        file = f"state.{to}"
    cli("import", file, "--output", "scene.toml")
    scene = load_scene(tmp_path / "scene.toml")
    simulation, frame = rg.Simulation(scene), rg.Trajectory(runs[dimension, "double"])[-1]
    assert simulation.bodies.dimension == dimension
    for name in STATE:
        assert getattr(simulation.bodies, name) == pytest.approx(getattr(frame, name), rel=1e-6, abs=1e-8), name
    before = simulation.bodies.position.copy()
    simulation.run(steps=5)
    assert 0.0 < np.abs(simulation.bodies.position - before).max() < 1e-3
    assert simulation.report().max_overlap < 0.05


@pytest.mark.parametrize(("name", "text"), [("a.dump", DUMP), ("a.xyz", XYZ), ("a.csv", CSV)])
def test_python_and_toml_name_a_file_alike(tmp_path, monkeypatch, name, text):
    """Relative to the scene in TOML, to the working folder in Python; densities as for other grains."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / name).write_text(text)
    (tmp_path / "deep" / "scene.toml").write_text(f'[[grains]]\nname = "sand"\nfile = "{name}"\ndensity = 1000\n')
    monkeypatch.chdir(tmp_path)
    bodies = load_scene("deep/scene.toml").build()
    scene = Scene(dimension=2)
    scene.add_grains(name="sand", file=tmp_path / "deep" / name, density=1000)
    scene.add_force(grains="sand", index=1, force=(1, 0))
    assert np.array_equal(scene.build().position, bodies.position)
    order = [1, 0] if name == "a.dump" else [0, 1]  # by ids, where there are any
    assert np.array_equal(bodies.position, np.array([[0.5, 0.25, 0], [0.25, 0.75, 0]])[order])
    assert bodies.mass == pytest.approx(1000 * np.pi * np.array([0.1, 0.2])[order] ** 2)
    with pytest.raises(SceneError, match="numbered from 0 to 1"):
        Scene(
            grains=[{"name": "sand", "file": f"deep/{name}"}], force=[{"grains": "sand", "index": 2, "force": [0, 1]}]
        )


def test_masses_velocities_and_spins_of_the_file_hold_unless_others_are_given(tmp_path):
    path = tmp_path / "state.csv"
    path.write_text("x,y,z,radius,mass,vx,vy,vz,spin_z\n0,0,0,1,7,1,2,0,3\n")
    bodies = Scene(grains=[{"file": path}]).build()
    assert bodies.mass == pytest.approx([7])
    assert bodies.velocity == pytest.approx(np.array([[1, 2, 0]]))
    assert bodies.spin == pytest.approx(np.array([[0, 0, 3]]))
    bodies = Scene(dimension=3, grains=[{"file": path, "density": 1, "velocity": [0, 0, 5], "spin": [1, 0, 0]}]).build()
    assert bodies.mass == pytest.approx([4 / 3 * np.pi])
    assert bodies.velocity == pytest.approx(np.array([[0, 0, 5]]))
    assert bodies.spin == pytest.approx(np.array([[1, 0, 0]]))


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("radius;x;y\n0.5;1;2\n", [1, 2, 0]),
        ("# made by hand\n#x\ty\tz\tdiameter\n1\t2\t3\t1\n", [1, 2, 3]),
        ("\ufeffX (m) , Y (m) , Radius (m)\n\n1, 2, 0.5\n", [1, 2, 0]),
        ("x y z r\n1 2 3 0.5\n", [1, 2, 3]),
    ],
)
def test_tables_of_many_hands_are_read(tmp_path, text, position):
    (tmp_path / "state.csv").write_text(text, encoding="utf-8")
    state = read_state(tmp_path / "state.csv")
    assert np.array_equal(state.position, [position])
    assert np.array_equal(state.radius, [0.5])


def test_dimension_is_told_by_z_and_by_the_user(cli, tmp_path):
    (tmp_path / "flat.csv").write_text("x,y,z,radius\n0,0,0.5,0.1\n1,0,0.5,0.1\n")
    (tmp_path / "deep.csv").write_text("x,y,z,radius\n0,0,0,0.1\n1,0,0.5,0.1\n")
    (tmp_path / "rising.csv").write_text("x,y,z,radius,vz\n0,0,0,0.1,1\n")
    assert read_state(tmp_path / "flat.csv").dimension == 2
    assert read_state(tmp_path / "deep.csv").dimension == 3
    assert read_state(tmp_path / "rising.csv").dimension == 3
    cli("import", "flat.csv")
    assert not load_scene("flat.toml").build().position[:, 2].any()
    cli("import", "flat.csv", "--dimension", 3, "--force")
    assert np.array_equal(load_scene("flat.toml").build().position[:, 2], [0.5, 0.5])
    assert "is not flat, its z run from 0 to 0.5 m; set dimension = 3" in cli(
        "import", "deep.csv", "--dimension", 2, check=2
    )
    assert "its grains move along z" in cli("import", "rising.csv", "--dimension", 2, check=2)


def pair_of(tmp_path, distance):
    (tmp_path / "pair.csv").write_text(f"x,y,radius\n0,0,1\n{distance},0,2\n")
    return tmp_path / "pair.csv"


def test_small_overlaps_are_taken_over_and_gross_ones_refused(tmp_path):
    assert Scene(grains=[{"file": pair_of(tmp_path, 2.96)}]).build().count == 2
    file = pair_of(tmp_path, 2.8)
    with pytest.raises(SceneError) as caught:
        Scene(grains=[{"file": file}]).build()
    told = "grains[0].file[0]: this grain and grains[0].file[1] overlap by 0.2 of the smaller radius"
    assert told in str(caught.value)
    assert "start with the overlap: overlap = 0.2" in str(caught.value)
    assert Scene(grains=[{"file": file, "overlap": 0.21}]).build().count == 2
    floor = {"name": "floor", "point": [0, -1.5], "normal": [0, 1]}
    with pytest.raises(SceneError, match=r"file\[1\]: this grain overlaps wall 'floor' by 0.25 of its radius"):
        Scene(grains=[{"file": pair_of(tmp_path, 3)}], plane=[floor]).build()
    assert Scene(grains=[{"file": file, "overlap": 0.25}], plane=[floor]).build().count == 2
    with pytest.raises(SceneError, match=r"grains\[1\]\.positions\[0\].*overlap by 1 of the smaller radius; move them"):
        Scene(grains=[{"file": file, "overlap": 0.25}, {"positions": [[9, 0], [10, 0]], "radius": 1}]).build()


def test_an_overlap_that_was_imported_does_not_grow(tmp_path):
    """Two grains pressed together by their velocities: g_pos lets the overlap stand."""
    (tmp_path / "pair.csv").write_text("x,y,radius,vx\n0,0,1,1\n1.96,0,1,-1\n")
    simulation = rg.Simulation(Scene(grains=[{"file": tmp_path / "pair.csv"}]), dt=1e-3)
    simulation.run(steps=20)
    assert np.diff(simulation.bodies.position[:, 0])[0] == pytest.approx(1.96, abs=1e-9)


BAD = [
    ("a.csv", None, "no such file"),
    ("a.csv", "", "has no column x"),
    ("a.csv", CSV.replace("0.75", "abc"), "line 3: y [m] = 'abc', and must be a number"),
    ("a.csv", CSV.replace(",0.75", ""), "line 3: has 2 columns instead of 3"),
    ("a.csv", CSV.replace("0.75", "nan"), "line 3: y = nan, and must be a finite number"),
    ("a.csv", CSV.replace("0.2\n", "0\n"), "line 3: radius = 0, and must be greater than zero"),
    ("a.csv", CSV.replace("radius", "size"), "has no column radius or diameter"),
    ("a.csv", CSV.replace("radius [m]", "radius [mm]"), "'radius [mm]': other units than SI"),
    ("a.csv", "x,y,radius\n", "has no grains"),
    ("a.csv", b"x,y\xff\n", "not a text file"),
    ("a.csv", "id,x,y,radius\n1,0,0,1\n1,5,0,1\n", "id 1 is given to two grains"),
    ("a.csv", "id,x,y,radius\n1.5,0,0,1\n", "line 2: id = 1.5, and must be a whole number"),
    ("a.dump", DUMP.replace("ATOMS\n2", "ATOMS\n3"), "ends after 2 of its 3 grains; choose an earlier frame"),
    ("a.dump", DUMP.replace("ATOMS\n2", "ATOMS\n1"), "line 11: the frame has more rows than its 1 grains"),
    ("a.dump", DUMP.replace("ATOMS\n2", "ATOMS\ntwo"), "line 4: 'two' should be the number of grains"),
    ("a.dump", DUMP.replace("x y z", "xs ys zs"), "scaled coordinates"),
    ("a.dump", DUMP.replace("ATOMS", "ENTRIES"), "dump of contacts"),
    ("a.dump", DUMP.replace("0.25 0.75 0 0.2", "0.25 inf 0 0.2"), "line 11: y = inf"),
    ("a.dump", "ITEM: TIMESTEP\n0\n", "there is no frame last; it has no frame"),
    ("a.xyz", XYZ.replace(":radius:R:1", ""), "line 3: has 5 columns instead of 4"),
    ("a.xyz", XYZ.replace("Properties=", "nothing "), "line 2: must say Properties="),
    ("a.xyz", XYZ.replace("2\nP", "3\nP"), "ends after 2 of its 3 grains"),
    ("a.xyz", XYZ + "more\n", "line 5: 'more' should be the number of grains"),
    ("a.bin", b"\0\1\2", "no state of grains can be read from it"),
    ("a.vtkhdf", b"\x89HDF\r\n\x1a\n and no more", "is damaged"),
    ("a.gsd", b"\xdf\x65" * 4 + b"\0" * 300, "cannot be read"),
]


@pytest.mark.parametrize(("name", "content", "says"), BAD, ids=[f"{name}-{k}" for k, (name, _, _) in enumerate(BAD)])
def test_bad_files_are_told_in_one_line(cli, tmp_path, name, content, says):
    """By import, and as a mistake of the scene, at the line of the key."""
    if content is not None:
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert says in cli("import", name, check=2)
    assert not (tmp_path / "a.toml").exists()
    (tmp_path / "scene.toml").write_text(f'dimension = 2\n[[grains]]\nfile = "{name}"\n')
    with pytest.raises(SceneError) as caught:
        load_scene(tmp_path / "scene.toml")
    [problem] = caught.value.problems
    assert (problem.place, problem.line) in (("grains[0].file", 3), ("grains[0].frame", 2))
    assert says in " ".join(str(problem).split())


@pytest.mark.parametrize(
    ("words", "place", "says"),
    [
        ({"count": 3}, "count", "has no meaning with file"),
        ({"region": [[0, 0], [1, 1]]}, "region", "has no meaning with file"),
        ({"positions": [[0, 0]]}, "positions", "has no meaning with file"),
        ({"radii": [1.0]}, "radii", "has no meaning with file"),
        ({"radius": 1.0}, "radius", "has no meaning with file"),
        ({"seed": 1}, "seed", "has no meaning with file"),
        ({"frame": 2}, "frame", "there is no frame 2; it has 1, 0 to 0"),
        ({"frame": "first"}, "frame", "must be a whole number or 'last'"),
        ({"frame": 1.5}, "frame", "must be a whole number"),
        ({"overlap": 2}, "overlap", "must lie between 0 and 1"),
        ({"file": 7}, "file", "must be the path of a file"),
        ({"file": "."}, "file", "this is a folder"),
        ({"velocity": [[0, 1]] * 3}, "velocity", "needs one value for each of the 2 grains"),
        ({"file": None, "count": 1, "radius": 1, "region": [[0, 0], [3, 3]], "frame": 1}, "frame", "belongs to file"),
    ],
)
def test_keys_that_do_not_go_with_a_file(tmp_path, words, place, says):
    (tmp_path / "a.csv").write_text(CSV)
    with pytest.raises(SceneError) as caught:
        Scene(grains=[{"file": str(tmp_path / "a.csv"), **words}])
    assert [problem.place for problem in caught.value.problems] == [f"grains[0].{place}"]
    assert says in str(caught.value)


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


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--frame", "soon"), "--frame soon is no frame"),
        (("--frame", "1"), "there is no frame 1; it has 1"),
        (("--density", "-1"), "--density -1.0 cannot be; give a positive number"),
        (("--density", "nan"), "--density nan"),
        (("--dimension", "4"), "--dimension 4 cannot be; give 2 or 3"),
        (("--overlap", "2"), "--overlap 2.0 cannot be"),
        (("--output", "there.toml"), "there.toml exists and is left alone"),
        (("--output", "a.csv", "--force"), "this is the file to be read"),
        (("--output", "no/scene.toml"), "there is no folder no"),
    ],
)
def test_bad_imports_end_with_exit_code_2(cli, tmp_path, words, says):
    (tmp_path / "a.csv").write_text(CSV)
    (tmp_path / "there.toml").write_text("kept")
    assert says in cli("import", "a.csv", *words, check=2)
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "there.toml"]
    assert (tmp_path / "there.toml").read_text() == "kept"


def test_import_refuses_gross_overlaps_or_writes_what_is_allowed(cli, tmp_path):
    pair_of(tmp_path, 2.8)
    assert "overlap = 0.2" in cli("import", "pair.csv", check=2)
    cli("import", "pair.csv", "--overlap", 0.3)
    assert "overlap = 0.3" in (tmp_path / "pair.toml").read_text()
    assert load_scene("pair.toml").build().count == 2


def test_the_chosen_frame_is_written_into_the_scene(cli, run, tmp_path):
    export(run, "lammps", tmp_path / "run.dump")
    for frame, index in (("0", 0), ("2", 2), ("last", 3), ("-3", 1)):
        cli("import", "run.dump", f"--frame={frame}", "--force")
        assert f"frame = {index}\n" in (tmp_path / "run.toml").read_text()
        assert np.array_equal(load_scene("run.toml").build().radius, run[index].radius)
        assert load_scene("run.toml").build().position == pytest.approx(run[index].position)


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
