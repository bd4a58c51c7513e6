"""The flat table: numbers that count from its start, whole surfaces, bounding spheres around all."""

from __future__ import annotations

import numpy as np
import pytest

from rigidgrains.shapes import build
from rigidgrains.shapes.flat_manifold import N_X, N_Y, P_X, P_Y, place_part
from rigidgrains.shapes.table import LEFT, RIGHT, ShapeTable, bounding_sphere, make_table


@pytest.fixture(scope="module")
def shapes():
    rng = np.random.default_rng(4)
    bars = [[[0, 0, 0], [0, 0, 2]], [[0, 0, 0], [0, 2, 0]]]
    return [
        build.solid("dodecahedron", rounding=0.1),
        build.capsule(2.0, dimension=3),
        build.several(bars, dimension=3, rounding=0.2),
        build.vertices(rng.normal(size=(15, 3))),
        build.polygon(5),
        build.capsule(2.0, dimension=2),
        build.clump([[0, 0], [1, 0]], [1.0, 0.5]),
    ]


@pytest.fixture(scope="module")
def table(shapes) -> ShapeTable:
    return make_table(shapes)


def test_all_arrays_are_for_kernels(table):
    for name, array in table._asdict().items():
        assert array.flags.c_contiguous, name
        assert array.dtype in (np.int64, np.float64), name


def test_parts_stand_in_order(table, shapes):
    parts = [part for shape in shapes for part in shape.parts]
    assert np.diff(table.part_start).tolist() == [len(shape.parts) for shape in shapes]
    for p, part in enumerate(parts):
        assert np.array_equal(table.vertices[table.vertex_start[p] : table.vertex_start[p + 1]], part.vertices)
        assert table.radius[p] == part.rounding
    assert len(table.radius) == len(table.bound) == len(parts) == table.part_start[-1]
    for start, filled in (("vertex", table.vertices), ("face", table.face_normals), ("edge", table.edges)):
        assert getattr(table, f"{start}_start")[-1] == len(filled)
    assert table.loop_start[-1] == len(table.loops)


def test_surfaces_are_closed_and_face_outward(table):
    """Euler; vertices of a part lie below all its faces and on those they belong to; edges join two faces."""
    for p in range(len(table.radius)):
        inside = slice(table.vertex_start[p], table.vertex_start[p + 1])
        faces = range(table.face_start[p], table.face_start[p + 1])
        edges = table.edges[table.edge_start[p] : table.edge_start[p + 1]]
        loops = {f: table.loops[table.loop_start[f] : table.loop_start[f + 1]].tolist() for f in faces}
        if len(edges) > 1:
            assert inside.stop - inside.start - len(edges) + len(faces) == 2
        for f, loop in loops.items():
            height = (table.vertices[inside] - table.vertices[loop[0]]) @ table.face_normals[f]
            assert height.max() < 1e-9
            assert set(loop) == set((inside.start + np.flatnonzero(height > -1e-9)).tolist())
        for tail, head, left, right in edges.tolist():
            for face, a, b in ((left, tail, head), (right, head, tail)):
                if face >= 0:
                    loop = loops[face]
                    assert loop[(loop.index(a) + 1) % len(loop)] == b


def test_thin_parts(table):
    """A segment has one edge without faces in 3D, and two opposite sides in 2D; a point nothing."""
    segment = table.edges[table.edge_start[1] : table.edge_start[2]]
    assert segment[:, [LEFT, RIGHT]].tolist() == [[-1, -1]]
    flat = table.part_start[5]
    normals = table.face_normals[table.face_start[flat] : table.face_start[flat + 1]]
    assert normals.tolist() == [[0, -1, 0], [0, 1, 0]]
    assert table.edge_start[flat] == table.edge_start[flat + 1]
    point = table.part_start[6]
    assert table.face_start[point] == table.face_start[point + 1]


def test_bounds_enclose(table):
    for p, (centre, bound, r) in enumerate(zip(table.centre, table.bound, table.radius)):
        away = np.linalg.norm(table.vertices[table.vertex_start[p] : table.vertex_start[p + 1]] - centre, axis=1)
        assert bound == pytest.approx(away.max() + r, abs=1e-12)


def test_bounds_are_small():
    """The sphere around a regular figure is its own; around a flat triangle that of its longest side."""
    assert bounding_sphere(build.polygon(5, size="as drawn").parts[0])[1] == pytest.approx(1.0, abs=1e-12)
    assert bounding_sphere(build.solid("icosahedron", size="as drawn").parts[0])[1] == pytest.approx(1.0, abs=1e-12)
    obtuse = build.vertices([[-1, 0], [1, 0], [0.1, 0.2]], size="as drawn").parts[0]
    assert 1.0 <= bounding_sphere(obtuse)[1] < 1.002


def test_parts_are_placed(table, shapes):
    """Turned and scaled vertices and normals in the rows asked for, no other."""
    sides = np.full((8, 4), np.nan)
    place_part(table, table.part_start[4], np.cos(0.3), np.sin(0.3), 2.0, sides, 2)
    turn = np.array([[np.cos(0.3), np.sin(0.3)], [-np.sin(0.3), np.cos(0.3)]])
    [part] = shapes[4].parts
    assert sides[2:7, [P_X, P_Y]] == pytest.approx(2.0 * part.vertices[:, :2] @ turn)
    assert sides[2:7, [N_X, N_Y]] == pytest.approx(part.normals[:, :2] @ turn)
    assert np.isnan(sides[[0, 1, 7]]).all()
    point = np.zeros((1, 4))
    place_part(table, table.part_start[6], 0.0, 1.0, 1.0, point, 0)
    assert point[0, [N_X, N_Y]].tolist() == [0.0, 0.0]
