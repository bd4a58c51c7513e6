"""Grains of other shapes in other programs' files: surfaces, types and spheres, read back by independent readers."""

from __future__ import annotations

import math

import gsd.hoomd
import numpy as np
import pytest
import vtk
from support.shaped_frames import FLAT, SOLID, shaped, still_file
from vtk.util.numpy_support import vtk_to_numpy

import rigidgrains as rg
from rigidgrains.formats import FormatError, export, gsd_shapes, stl, surfaces
from rigidgrains.model.bodies import Bodies
from rigidgrains.shapes.catalogue import Catalogue
from rigidgrains.shapes.mesh_file import read_vertices
from rigidgrains.shapes.poses import matrices


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shapes")
    spin = np.array([[0.3, -0.2, 0.5]])
    still_file(folder / "flat.vtkhdf", shaped(FLAT, spin=np.array([[0.0, 0.0, 0.7]])), frames=2)
    still_file(folder / "solid.vtkhdf", shaped(SOLID, spin=spin), frames=2)
    return {2: folder / "flat.vtkhdf", 3: folder / "solid.vtkhdf"}


@pytest.fixture
def flat(files):
    with rg.Trajectory(files[2]) as run:
        yield run


@pytest.fixture
def solid(files):
    with rg.Trajectory(files[3]) as run:
        yield run


def triangles(path) -> np.ndarray:
    """(t, 3, 3) m, of a binary STL file."""
    data = path.read_bytes()
    count = int.from_bytes(data[80:84], "little")
    assert len(data) == 84 + 50 * count
    return np.frombuffer(data[84:], stl.TRIANGLE)["corners"].astype(float)


def volume(corners: np.ndarray) -> float:
    """By the divergence theorem."""
    a, b, c = np.moveaxis(corners, 1, 0)
    return float((a * np.cross(b, c)).sum()) / 6.0


def vtk_grid(path):
    reader = vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


def part_volume(shape) -> float:
    """m^3 at radius 1; of parts that overlap each counts whole."""
    if len(shape.parts) == 1:
        return shape.volume
    return sum(4.0 / 3.0 * math.pi * part.rounding**3 for part in shape.parts)


# Surfaces


def test_stl_holds_the_volume_of_the_grains_the_better_the_finer(solid, tmp_path, monkeypatch):
    frame = solid[-1]
    exact = sum(part_volume(frame.catalogue.shapes[k]) * r**3 for k, r in zip(frame.shape, frame.radius))
    missing = []
    for fine in (16, 32, 64):
        monkeypatch.setattr(surfaces, "FINENESS", ((100, fine),))
        path = export(solid, "stl", tmp_path / f"grains{fine}.stl", "last")
        missing.append(1.0 - volume(triangles(path)) / exact)
    assert 0.0 < missing[2] < 0.005
    assert missing[0] / missing[1] == pytest.approx(4.0, rel=0.15)
    assert missing[1] / missing[2] == pytest.approx(4.0, rel=0.15)


def test_stl_grains_are_where_they_are_and_turned_as_they_are(solid, tmp_path):
    """The sharp cube has its own eight corners in the file."""
    frame = solid[-1]
    corners = triangles(export(solid, "stl", tmp_path / "grains.stl", "last")).reshape(-1, 3)
    k = list(SOLID).index("sharp")
    turn = matrices(frame.orientation[k : k + 1])[0]
    for vertex in SOLID["sharp"].parts[0].vertices:
        place = frame.position[k] + frame.radius[k] * turn @ vertex
        assert np.linalg.norm(corners - place, axis=1).min() < 1e-5


def test_obj_has_an_object_for_each_grain(solid, tmp_path):
    path = export(solid, "obj", tmp_path / "grains.obj", "last")
    lines = path.read_text().splitlines()
    assert [line for line in lines if line.startswith("o ")] == [f"o grain-{k}" for k in solid[-1].id]
    assert [line[2:] for line in lines if line.startswith("g ")] == list(SOLID)
    points = np.array([line.split()[1:] for line in lines if line.startswith("v ")], float)
    faces = np.array([line.split()[1:] for line in lines if line.startswith("f ")], int) - 1
    stl_volume = volume(triangles(export(solid, "stl", tmp_path / "grains.stl", "last")))
    assert volume(points[faces]) == pytest.approx(stl_volume, rel=1e-5)
    assert np.sort(read_vertices(path), axis=0) == pytest.approx(np.sort(np.unique(points, axis=0), axis=0))


@pytest.mark.parametrize("to", ["stl", "obj"])
def test_all_frames_make_a_folder_and_spheres_have_surfaces_too(tmp_path, to):
    bodies = Bodies.assemble(dimension=3, position=np.array([[0.0, 0, 0], [3, 0, 0]]), radius=np.ones(2), density=1.0)
    still_file(tmp_path / "balls.vtkhdf", bodies, frames=3)
    folder = export(tmp_path / "balls.vtkhdf", to)
    assert sorted(path.name for path in folder.iterdir()) == [f"grains-{k:06d}.{to}" for k in range(3)]
    if to == "stl":
        assert volume(triangles(folder / "grains-000002.stl")) == pytest.approx(8.0 / 3.0 * math.pi, rel=0.05)


@pytest.mark.parametrize("to", ["stl", "obj"])
def test_flat_grains_have_no_solid_surface(flat, tmp_path, to):
    with pytest.raises(FormatError, match="flat grains have no solid surface; export 2D as vtu or gsd"):
        export(flat, to, tmp_path / f"grains.{to}", "last")
    assert not list(tmp_path.iterdir())


def test_paraview_gets_surfaces_with_the_data_of_their_grains(solid, tmp_path):
    export(solid, "vtu", tmp_path / "all")
    assert {"surfaces.pvd", "surfaces-000000.vtu", "surfaces-000001.vtu"} <= {
        p.name for p in (tmp_path / "all").iterdir()
    }
    grid, frame = vtk_grid(tmp_path / "all" / "surfaces-000001.vtu"), solid[1]
    points = vtk_to_numpy(grid.GetPoints().GetData()).astype(float)
    cells = vtk_to_numpy(grid.GetCells().GetConnectivityArray()).reshape(-1, 3)
    owner = vtk_to_numpy(grid.GetCellData().GetArray("id"))
    for k, (name, shape) in enumerate(SOLID.items()):
        own = points[cells[owner == frame.id[k]]] - frame.position[k]
        assert volume(own) == pytest.approx(part_volume(shape) * frame.radius[k] ** 3, rel=0.06), name
        reach = frame.radius[k] * frame.catalogue.bound[k]
        assert np.linalg.norm(own, axis=2).max() == pytest.approx(reach, rel=0.01)
    assert np.array_equal(vtk_to_numpy(grid.GetCellData().GetArray("shape")), frame.shape[owner])
    assert grid.GetCellType(0) == vtk.VTK_TRIANGLE
    velocity = vtk_to_numpy(grid.GetCellData().GetArray("velocity"))
    assert velocity == pytest.approx(frame.velocity[owner], abs=1e-6)


def test_paraview_gets_flat_polygons(flat, tmp_path):
    export(flat, "vtu", tmp_path / "one.vtu", "last")
    grid, frame = vtk_grid(tmp_path / "one-surfaces.vtu"), flat[-1]
    assert grid.GetCellType(0) == vtk.VTK_POLYGON
    points = vtk_to_numpy(grid.GetPoints().GetData()).astype(float)
    ends, all_corners = grid.GetCells().GetOffsetsArray(), grid.GetCells().GetConnectivityArray()
    loops = np.split(vtk_to_numpy(all_corners), vtk_to_numpy(ends)[1:-1])
    owner = vtk_to_numpy(grid.GetCellData().GetArray("id"))
    for name in ("pentagon", "square", "capsule", "disk"):
        k = list(FLAT).index(name)
        (loop,) = (points[loops[c]] - frame.position[k] for c in np.flatnonzero(owner == k))
        area = 0.5 * np.cross(loop, np.roll(loop, -1, axis=0))[:, 2].sum()
        assert area == pytest.approx(math.pi * frame.radius[k] ** 2, rel=5e-3)
    assert (owner == list(FLAT).index("ring")).sum() == 8  # a polygon for each part, convex


def test_surfaces_of_an_earlier_export_do_not_stay(solid, tmp_path):
    export(solid, "vtu", tmp_path / "all")
    old = tmp_path / "all" / "surfaces-000009.vtu"
    old.write_text("")
    export(solid, "vtu", tmp_path / "all", force=True)
    assert not old.exists()


# GSD


def test_gsd_has_the_shape_of_every_grain(solid, tmp_path):
    path = export(solid, "gsd", tmp_path / "grains.gsd")
    with gsd.hoomd.open(str(path)) as file:
        frame, grains = solid[-1], file[-1].particles
        shapes = [grains.type_shapes[k] for k in grains.typeid]
    kinds = dict.fromkeys(SOLID, "ConvexPolyhedron") | {"capsule": "Mesh", "sphere": "Sphere", "dimer": "SphereUnion"}
    assert [shape["type"] for shape in shapes] == [kinds[name] for name in SOLID]
    for k, (name, shape) in enumerate(SOLID.items()):
        part, radius = shape.parts[0], float(frame.radius[k])
        if kinds[name] == "ConvexPolyhedron":
            assert np.array(shapes[k]["vertices"]) == pytest.approx(radius * part.vertices, rel=1e-12)
            assert shapes[k]["rounding_radius"] == pytest.approx(radius * part.rounding, rel=1e-12)
        elif name == "sphere":
            assert shapes[k] == {"type": "Sphere", "diameter": 2.0 * radius}
        elif name == "dimer":
            assert shapes[k]["diameters"] == pytest.approx([2.0 * radius * one.rounding for one in shape.parts])
            assert np.array(shapes[k]["centers"]) == pytest.approx(
                radius * np.array([p.vertices[0] for p in shape.parts])
            )
        else:
            corners = np.array(shapes[k]["vertices"])[np.array(shapes[k]["indices"])]
            assert volume(corners) == pytest.approx(shape.volume * radius**3, rel=0.06)
    assert len({grains.types[k] for k in grains.typeid}) == len(SOLID)


def test_gsd_has_flat_shapes(flat, tmp_path):
    with gsd.hoomd.open(str(export(flat, "gsd", tmp_path / "grains.gsd", "last"))) as file:
        grains = file[0].particles
        shapes = dict(zip(FLAT, (grains.type_shapes[k] for k in grains.typeid)))
    radius = dict(zip(FLAT, flat[-1].radius))
    part = FLAT["pentagon"].parts[0]
    assert np.array(shapes["pentagon"]["vertices"]) == pytest.approx(radius["pentagon"] * part.vertices[:, :2])
    assert shapes["pentagon"]["rounding_radius"] == pytest.approx(radius["pentagon"] * part.rounding)
    assert {name: shapes[name]["type"] for name in ("disk", "ring", "cross")} == {
        "disk": "Sphere", "ring": "SphereUnion", "cross": "Polygon",
    }  # fmt: skip
    x, y = np.array(shapes["cross"]["vertices"]).T
    area = 0.5 * float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum())
    assert area == pytest.approx(math.pi * radius["cross"] ** 2, rel=0.02)


def test_gsd_has_the_principal_moments_and_the_angular_momentum(solid, tmp_path):
    """L = sum of I_a (w . a) a over the axes a of the grain; HOOMD keeps 2 q (0, L in the frame of the grain)."""
    with gsd.hoomd.open(str(export(solid, "gsd", tmp_path / "grains.gsd", "last"))) as file:
        grains = file[0].particles
    frame, k = solid[-1], list(SOLID).index("brick")
    exact = frame.mass[k] * frame.radius[k] ** 2 * SOLID["brick"].inertia / SOLID["brick"].volume
    assert grains.moment_inertia[k] == pytest.approx(exact, rel=1e-5)
    axes = matrices(frame.orientation[k : k + 1])[0].T
    momentum = sum(exact[a] * (frame.spin[k] @ axes[a]) * axes[a] for a in range(3))
    w, v = grains.orientation[k, 0].astype(float), grains.orientation[k, 1:].astype(float)
    p = grains.angmom[k].astype(float)
    own = 0.5 * (w * p[1:] - p[0] * v - np.cross(v, p[1:]))  # vector part of q* p / 2
    assert matrices(frame.orientation[k : k + 1])[0] @ own == pytest.approx(momentum, rel=1e-4)


def test_gsd_rounds_sizes_where_there_are_too_many_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(gsd_shapes, "MOST", 10)
    rng, n = np.random.default_rng(2), 40
    position = np.zeros((n, 3))
    position[:, 0] = 5.0 * np.arange(n)
    bodies = Bodies.assemble(
        dimension=2, position=position, radius=rng.uniform(0.95, 1.05, n), density=1.0,
        catalogue=Catalogue.of({"square": FLAT["square"]}),
    )  # fmt: skip
    still_file(tmp_path / "run.vtkhdf", bodies)
    notes: list[str] = []
    with rg.Trajectory(tmp_path / "run.vtkhdf") as run:
        path, radius = export(run, "gsd", note=notes.append), run[0].radius
    assert len(notes) == 1
    assert notes[0].startswith("40 sizes of grains are too many types for GSD")
    with gsd.hoomd.open(str(path)) as file:
        grains = file[0].particles
    assert len(grains.types) <= 12
    drawn = [np.linalg.norm(grains.type_shapes[k]["vertices"][0]) for k in grains.typeid]
    true = radius * np.linalg.norm(FLAT["square"].parts[0].vertices[0])
    assert drawn == pytest.approx(true, rel=0.0051)
    assert max(abs(drawn / true - 1.0)) > 1e-4


def test_gsd_of_round_grains_has_types_of_materials_alone(tmp_path):
    bodies = Bodies.assemble(dimension=3, position=np.zeros((1, 3)), radius=np.ones(1), density=1.0)
    still_file(tmp_path / "run.vtkhdf", bodies)
    with gsd.hoomd.open(str(export(tmp_path / "run.vtkhdf", "gsd"))) as file:
        assert file[0].particles.types == ["material0"]
        assert file[0].particles.type_shapes == [{}]


# Tables


def test_lammps_gets_the_spheres_of_clumps_as_molecules(solid, tmp_path):
    notes: list[str] = []
    path, frame = export(solid, "lammps", tmp_path / "grains.dump", "last", note=notes.append), solid[-1]
    others = len(SOLID) - 2
    assert notes == [f"{others} grains are neither spheres nor clumps of spheres: LAMMPS gets spheres of equal volume"]
    lines = path.read_text().splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("ITEM: ATOMS"))
    names = lines[start].split()[2:]
    table = np.array([line.split() for line in lines[start + 1 :]], float)
    column = dict(zip(names, table.T))
    k = list(SOLID).index("dimer")
    assert column["id"].tolist() == list(range(1, len(SOLID) + 2))
    assert column["mol"].tolist() == [*range(1, k + 1), k + 1, k + 1]
    two = column["mol"] == k + 1
    parts = SOLID["dimer"].parts
    assert column["radius"][two] == pytest.approx([frame.radius[k] * part.rounding for part in parts])
    place = np.column_stack([column[axis] for axis in "xyz"])[two]
    turn = matrices(frame.orientation[k : k + 1])[0]
    away = frame.radius[k] * np.array([turn @ part.vertices[0] for part in parts])
    assert place == pytest.approx(frame.position[k] + away)
    drift = np.column_stack([column["v" + axis] for axis in "xyz"])[two]
    assert drift == pytest.approx(frame.velocity[k] + np.cross(frame.spin[k], away), abs=1e-12)
    assert column["mass"][two].sum() == pytest.approx(frame.mass[k])
    cube = column["mol"] == 1
    assert column["radius"][cube] == pytest.approx(frame.radius[:1])
    assert np.array_equal(place.shape, (2, 3))


def test_without_a_listener_a_note_is_a_warning(solid, tmp_path):
    with pytest.warns(UserWarning, match="LAMMPS gets spheres of equal volume"):
        export(solid, "lammps", tmp_path / "grains.dump", "last")


@pytest.mark.parametrize("to", ["csv", "extxyz"])
def test_tables_have_the_number_of_the_shape(solid, tmp_path, to):
    path = export(solid, to, tmp_path / f"grains.{to}", "last")
    lines = path.read_text().splitlines()
    if to == "csv":
        k = lines[0].split(",").index("shape")
        assert [int(line.split(",")[k]) for line in lines[1:]] == solid[-1].shape.tolist()
    else:
        assert ":shape:I:1" in lines[1]


def test_the_command_says_what_a_format_cannot_hold(cli, files):
    said = cli("export", files[3], "--to", "lammps", "--frame", "last", "--output", "out.dump")
    assert "note 6 grains are neither spheres nor clumps of spheres" in said
    said = cli("export", files[3], "--to", "stl", "--frame", "last", "--output", "out.stl")
    assert "note" not in said
    assert "shapes 1 cube, 1 sharp" in cli("info", files[3])
