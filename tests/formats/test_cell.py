"""Periodic cells in other programs' files: boxes and lattices as independent readers see them, and back again."""

from __future__ import annotations

import csv

import ase.io
import gsd.hoomd
import numpy as np
import pytest
import vtk
from vtk.util.numpy_support import vtk_to_numpy

import rigidgrains as rg
from rigidgrains.formats import FormatError, export, read_state
from rigidgrains.scene import Scene, load_scene
from rigidgrains.scene.start import start_scene

CELLS = {
    "shear": (2, {"lower": [0.5, -1.0], "upper": [8.5, 6.0], "tilt": {"xy": 3.0}, "rate": {"xy": 0.8}}),
    "slot": (3, {"lower": [1.0, 0.0, -3.0], "upper": [7.0, 9.0, 2.0], "periodic": "xz", "tilt": {"xz": 1.5}}),
    "leaning": (3, {"lower": [0.0, 1.0, 2.0], "upper": [6.0, 7.0, 7.5], "tilt": {"xy": -2.0, "xz": 1.0, "yz": 2.5}}),
    "pipe": (2, {"lower": [0.0, 0.0], "upper": [6.0, 5.0], "periodic": "x"}),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder, made = tmp_path_factory.mktemp("cells"), {}
    for name, (dimension, words) in CELLS.items():
        scene = Scene(dimension=dimension, friction=0.3, cell=words, run={"dt": 5e-3})
        scene.add_grains(count=24, radius=(0.4, 0.5), placement="random", velocity=(3.0, -2.0, 1.0)[:dimension])
        simulation = rg.Simulation(scene)
        simulation.observe(rg.TrajectoryWriter(folder / f"{name}.vtkhdf"), every=100)
        simulation.run(steps=300)
        assert np.abs(simulation.bodies.image).max() > 0
        made[name] = folder / f"{name}.vtkhdf"
    return made


@pytest.fixture(params=CELLS)
def run(request, runs):
    with rg.Trajectory(runs[request.param]) as trajectory:
        yield trajectory


def real(frame):
    return frame.position + frame.image @ frame.cell


@pytest.mark.parametrize("to", ["gsd", "lammps", "extxyz", "vtkhdf"])
def test_the_cell_comes_back(run, tmp_path, to):
    """Vectors, origin and directions of every frame; grains at the same places of the cell."""
    path = run.path if to == "vtkhdf" else export(run, to, tmp_path / f"run.{to}")
    for index, frame in enumerate(run):
        state = read_state(path, index)
        assert state.cell is not None
        np.testing.assert_allclose(state.cell.vectors, frame.cell, rtol=1e-14, atol=1e-14)
        np.testing.assert_allclose(state.cell.origin, frame.cell_origin, rtol=1e-14, atol=1e-13)
        assert np.array_equal(state.cell.periodic, frame.cell_periodic)
        away = (state.position - frame.position) @ np.linalg.inv(frame.cell)
        np.testing.assert_allclose(away, np.rint(away), atol=1e-5 if to == "gsd" else 1e-12)
        assert to == "gsd" or not np.rint(away).any()


def test_ase_knows_the_box(run, tmp_path):
    """In the dump and in extended XYZ."""
    export(run, "extxyz", tmp_path / "run.extxyz")
    export(run, "lammps", tmp_path / "run.dump")
    tables = ase.io.read(tmp_path / "run.extxyz", index=":")
    dumps = ase.io.read(tmp_path / "run.dump", index=":", format="lammps-dump-text")
    for frame, atoms, dump in zip(run, tables, dumps, strict=True):
        np.testing.assert_allclose(atoms.cell.array, frame.cell, rtol=1e-15)
        assert np.array_equal(atoms.pbc, frame.cell_periodic)
        np.testing.assert_allclose(atoms.info["Origin"], frame.cell_origin)
        d = run.dimension
        np.testing.assert_allclose(dump.cell.array[:d, :d], frame.cell[:d, :d], rtol=1e-12, atol=1e-12)
        assert np.array_equal(dump.pbc, frame.cell_periodic)
        assert np.array_equal(atoms.arrays["image"], frame.image)


def test_the_dump_has_the_bounds_of_lammps(runs, tmp_path):
    """A leaning box: bounds of all corners, then the three tilts; cells crossed in ix, iy, iz."""
    with rg.Trajectory(runs["leaning"]) as run:
        export(run, "lammps", tmp_path / "run.dump", 0)
        lines = (tmp_path / "run.dump").read_text().splitlines()
    at = lines.index("ITEM: BOX BOUNDS xy xz yz pp pp pp")
    bounds = np.array([line.split() for line in lines[at + 1 : at + 4]], dtype=float)
    # x: 0 + min(0, -2, 1, -1), 6 + max(0, -2, 1, -1); y: 1 + min(0, 2.5), 7 + max(0, 2.5)
    np.testing.assert_allclose(bounds, [[-2.0, 7.0, -2.0], [1.0, 9.5, 1.0], [2.0, 7.5, 2.5]])
    assert " load ix iy iz " in f"{lines[at + 4]} "


def test_gsd_has_the_box_of_hoomd(run, tmp_path):
    """Centred, with tilt factors; all grains within, and where they really are by their images."""
    export(run, "gsd", tmp_path / "run.gsd")
    with gsd.hoomd.open(str(tmp_path / "run.gsd")) as file:
        for frame, written in zip(run, file, strict=True):
            x, y, z, xy, xz, yz = (float(number) for number in written.configuration.box)
            vectors = np.array([[x, 0, 0], [xy * y, y, 0], [xz * z, yz * z, z if run.dimension == 3 else 1.0]])
            along = frame.cell_periodic
            np.testing.assert_allclose(vectors[along][:, along], frame.cell[along][:, along], rtol=1e-6)
            share = written.particles.position @ np.linalg.inv(vectors)
            assert np.abs(share[:, : run.dimension]).max() <= 0.5 + 1e-6
            unwrapped = written.particles.position + written.particles.image @ vectors + written.log["cell_centre"]
            np.testing.assert_allclose(unwrapped, real(frame), atol=2e-5)


def test_tables_and_grids_tell_the_cell(runs, tmp_path):
    with rg.Trajectory(runs["shear"]) as run:
        export(run, "csv", tmp_path / "tables")
        with (tmp_path / "tables" / "cell.csv").open() as file:
            rows = list(csv.DictReader(file))
        assert [int(row["frame"]) for row in rows] == list(range(len(run)))
        for row, frame in zip(rows, run):
            vectors = [float(row[f"{vector}_{axis} [m]"]) for vector in "abc" for axis in "xyz"]
            assert np.array_equal(vectors, frame.cell.ravel())
        export(run, "csv", tmp_path / "one.csv", "last")
        assert (tmp_path / "one-cell.csv").read_text().count("\n") == 2
        export(run, "vtu", tmp_path / "one.vtu", "last")
        reader = vtk.vtkXMLUnstructuredGridReader()
        reader.SetFileName(str(tmp_path / "one.vtu"))
        reader.Update()
        fields, points = reader.GetOutput().GetFieldData(), reader.GetOutput().GetPointData()
        assert np.array_equal(vtk_to_numpy(fields.GetArray("cell_vectors")), run[-1].cell)
        assert np.array_equal(vtk_to_numpy(fields.GetArray("cell_periodic"))[0], [1, 1, 0])
        assert np.array_equal(vtk_to_numpy(points.GetArray("image")), run[-1].image)


@pytest.mark.parametrize("to", ["vtkhdf", "lammps", "extxyz", "gsd"])
def test_a_run_goes_on_in_the_cell(run, tmp_path, to):
    """Imported, a state is a scene with its cell, walls across what is not periodic, and no fall without end."""
    path = run.path if to == "vtkhdf" else export(run, to, tmp_path / f"state.{to}", "last")
    start_scene(path, tmp_path / "scene.toml", overlap=0.1)
    scene, frame = load_scene(tmp_path / "scene.toml"), run[-1]
    simulation = rg.Simulation(scene)
    cell = simulation.bodies.cell
    along = frame.cell_periodic
    np.testing.assert_allclose(cell.vectors[along], frame.cell[along], rtol=1e-6, atol=1e-9)
    assert np.array_equal(cell.periodic, along)
    normals = {int(np.argmax(np.abs(wall.normal))) for wall in simulation.bodies.walls}
    assert normals == {axis for axis in range(run.dimension) if not frame.cell_periodic[axis]}
    simulation.run(steps=5)
    assert simulation.report().max_overlap < 0.1


FOREIGN = """2
{} Properties=species:S:1:pos:R:3:radius:R:1
X 0.5 0.25 0.1 0.1
X 0.25 0.75 0.3 0.2
"""


@pytest.mark.parametrize(
    ("comment", "periodic"),
    [
        ('Lattice="3 0 0 0 3 0 0 0 3"', [True, True, True]),
        ('Lattice="3 0 0 1 3 0 0 0 3" pbc="T F 1"', [True, False, True]),
        ('Lattice="3 0 0 0 3 0 0 0 3" pbc="F F F"', None),
        ('Lattice="3 1 0 0 3 0 0 0 3"', None),  # turned against the axes
        ("", None),
    ],
)
def test_lattices_of_others(tmp_path, comment, periodic):
    (tmp_path / "a.xyz").write_text(FOREIGN.format(comment))
    cell = read_state(tmp_path / "a.xyz").cell
    assert (None if cell is None else cell.periodic.tolist()) == periodic


@pytest.mark.parametrize(
    ("comment", "told"),
    [
        ('Lattice="3 4 5"', r'Lattice="3 4 5" must be 9 finite numbers, in quotes; mend it'),
        ('Lattice="3 0 0 nonsense"', 'Lattice="3 0 0 nonsense" must be 9'),
        ('Lattice="3 0 0 0 3 0 0 0 nan"', "must be 9 finite"),
        ('Lattice=""', 'Lattice="" must be 9'),
        ("Lattice=3 0 0 0 3 0 0 0 3", "must be 9 finite numbers, in quotes"),
        ('Lattice="3 0 0 0 3 0 0 0 3" Origin="1 2"', 'Origin="1 2" must be 3 finite'),
        ('Lattice="3 0 0 0 3 0 0 0 3" pbc="T"', 'pbc="T" must be T or F for each of 3 sides'),
    ],
)
def test_a_lattice_that_cannot_be_read_is_told(tmp_path, comment, told):
    """A file that speaks of a cell is not read as one without."""
    (tmp_path / "a.xyz").write_text(FOREIGN.format(comment))
    with pytest.raises(FormatError, match=rf"a\.xyz: line 2: .*{told}"):
        read_state(tmp_path / "a.xyz")


def test_boxes_of_others(tmp_path):
    """HOOMD's boxes are periodic all around; a dump with bounds that cannot be read is told."""
    frame = gsd.hoomd.Frame()
    frame.particles.N, frame.particles.position = 1, [[0.1, 0.2, 0.3]]
    frame.particles.diameter, frame.configuration.box = [0.5], [4.0, 5.0, 6.0, 0.5, 0.0, 0.0]
    with gsd.hoomd.open(str(tmp_path / "a.gsd"), "w") as file:
        file.append(frame)
    cell = read_state(tmp_path / "a.gsd").cell
    np.testing.assert_allclose(cell.vectors, [[4, 0, 0], [2.5, 5, 0], [0, 0, 6]])
    np.testing.assert_allclose(cell.origin, [-3.25, -2.5, -3.0])
    dump = "ITEM: NUMBER OF ATOMS\n1\nITEM: BOX BOUNDS pp pp pp\n0 1\n0 oops\n0 1\nITEM: ATOMS x y z radius\n0 0 1 1\n"
    (tmp_path / "a.dump").write_text(dump)
    with pytest.raises(FormatError, match=r"line 4: the bounds of the box must be 2 numbers in each of 3 lines"):
        read_state(tmp_path / "a.dump")
