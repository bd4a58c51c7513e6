"""Builders: known figures of known shapes, frames of their own, and errors that help."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest

from rigidgrains.shapes import build
from rigidgrains.shapes.hull import make_part
from rigidgrains.shapes.mass import part_moments

SQUARE = [[0, 0], [1, 0], [1, 1], [0, 1]]
CUBE = [[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]
SEGMENT = [[-1, 0, 0], [1, 0, 0]]
QUADS = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
TRIANGLES = [(quad[0], quad[k], quad[k + 1]) for quad in QUADS for k in (1, 2)]


@pytest.mark.parametrize(
    ("shape", "dimension"),
    [
        (lambda: build.polygon(5, rounding=0.1), 2),
        (lambda: build.box([1, 2]), 2),
        (lambda: build.box([1, 2, 3], rounding=0.2), 3),
        (lambda: build.capsule(1.4, dimension=2), 2),
        (lambda: build.capsule(3.0, dimension=3), 3),
        (lambda: build.solid("icosahedron", rounding=0.02), 3),
        (lambda: build.vertices(np.random.default_rng(1).normal(size=(20, 3)), rounding=0.1), 3),
    ],
)
def test_frames_are_central_and_principal(shape, dimension):
    """Moments of the parts as they stand: the volume of the unit ball or disk, centre 0, inertia diagonal."""
    made = shape()
    [part] = made.parts
    moments = part_moments(part, dimension)
    centre, tensor = moments.inertia(dimension)
    assert moments.volume == pytest.approx({2: math.pi, 3: 4.0 / 3.0 * math.pi}[dimension], rel=1e-12)
    assert made.volume == pytest.approx(moments.volume, rel=1e-12)
    assert centre == pytest.approx(np.zeros(3), abs=1e-13)
    assert tensor == pytest.approx(np.diag(made.inertia), abs=1e-12)
    assert np.linalg.det(made.axes) == pytest.approx(1.0)


def test_drawing_and_frame():
    """Vertices of a turned box lead back to the drawing by origin, axes and scale."""
    c, s = math.cos(0.3), math.sin(0.3)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    drawn = [5, 6, 7] + (np.array(CUBE) * [1, 2, 4]) @ turn.T
    shape = build.vertices(drawn)
    [part] = shape.parts
    assert shape.scale == pytest.approx((4.0 / 3.0 * math.pi / 8.0) ** (1.0 / 3.0))
    assert part.vertices / shape.scale @ shape.axes + shape.origin == pytest.approx(drawn, abs=1e-12)
    assert np.sort(np.ptp(part.vertices, axis=0)) == pytest.approx(shape.scale * np.array([1, 2, 4]))
    assert (part.normals * part.vertices[[loop[0] for loop in part.faces]]).sum(axis=1).min() > 0.0


@pytest.mark.parametrize(
    ("name", "corners", "edges", "faces", "sides"),
    [
        ("tetrahedron", 4, 6, 4, 3),
        ("cube", 8, 12, 6, 4),
        ("octahedron", 6, 12, 8, 3),
        ("dodecahedron", 20, 30, 12, 5),
        ("icosahedron", 12, 30, 20, 3),
    ],
)
def test_solids(name, corners, edges, faces, sides):
    shape = build.solid(name, size="as drawn")
    [part] = shape.parts
    assert (len(part.vertices), len(part.edges), len(part.faces)) == (corners, edges, faces)
    assert {len(loop) for loop in part.faces} == {sides}
    assert np.linalg.norm(part.vertices, axis=1) == pytest.approx(np.ones(corners))
    lengths = [np.linalg.norm(part.vertices[v] - part.vertices[w]) for v, w, *_ in part.edges]
    assert lengths == pytest.approx([lengths[0]] * edges)
    assert shape.inertia == pytest.approx([shape.inertia[0]] * 3)  # a ball's ellipsoid: all axes are principal
    assert np.array_equal(shape.axes, np.eye(3))


def test_volumes_as_drawn():
    assert build.solid("octahedron", size="as drawn").volume == pytest.approx(4.0 / 3.0)
    assert build.polygon(6, size="as drawn").volume == pytest.approx(1.5 * math.sqrt(3.0))
    assert build.capsule(3.0, dimension=2, size="as drawn").volume == pytest.approx(2.0 + math.pi / 4.0)
    assert build.capsule(1.0, dimension=3, size="as drawn").volume == pytest.approx(math.pi / 6.0)


def test_clump_of_three():
    """Disks side by side: the parallel axis theorem."""
    shape = build.clump([[0, 0], [2, 0], [4, 0]], 1.0, size="as drawn")
    assert shape.volume == pytest.approx(3.0 * math.pi)
    assert shape.origin == pytest.approx([2, 0, 0])
    assert shape.inertia[2] == pytest.approx(math.pi * (3 * 0.5 + 2 * 4.0))


def test_hexapod_keeps_its_axes():
    """By symmetry all moments are equal; quadrature must not turn it."""
    cores = [np.roll(SEGMENT, k, axis=1) for k in range(3)]
    shape = build.several(cores, dimension=3, rounding=0.2)
    assert np.array_equal(shape.axes, np.eye(3))
    assert shape.origin == pytest.approx(np.zeros(3), abs=1e-9)
    assert shape.inertia == pytest.approx([shape.inertia[0]] * 3, rel=1e-5)
    counted = build.several(cores, dimension=3, rounding=0.2, size="as drawn", mass="parts")
    assert counted.volume == pytest.approx(3.0 * (math.pi * 0.04 * 2.0 + 4.0 / 3.0 * math.pi * 0.008))


def text_stl():
    facets = "".join(
        "facet normal 0 0 0\nouter loop\n"
        + "".join("vertex {} {} {}\n".format(*CUBE[v]) for v in triangle)
        + "endloop\nendfacet\n"
        for triangle in TRIANGLES
    )
    return f"solid cube\n{facets}endsolid cube\n".encode()


def binary_stl():
    """Begins with `solid`, as some programs write it; numbers that single precision rounds."""
    records = b"".join(
        struct.pack("<12fH", 0, 0, 0, *(0.1 + 0.7 * c for v in triangle for c in CUBE[v]), 0) for triangle in TRIANGLES
    )
    return b"solid".ljust(80) + struct.pack("<I", len(TRIANGLES)) + records


def obj():
    corners = "".join("v {} {} {}\n".format(*point) for point in CUBE)
    return ("# a cube\n" + corners + "vn 0 0 1\nf 1 2 3\n").encode()


@pytest.mark.parametrize(
    ("name", "data", "side"), [("a.stl", text_stl(), 1.0), ("b.STL", binary_stl(), 0.7), ("c.obj", obj(), 1.0)]
)
def test_files(tmp_path, name, data, side):
    (tmp_path / name).write_bytes(data)
    shape = build.hull_of_file(tmp_path / name, size="as drawn")
    assert shape.volume == pytest.approx(side**3, rel=1e-6)
    assert (len(shape.parts[0].vertices), len(shape.parts[0].faces)) == (8, 6)


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("empty.stl", b"", "damaged"),
        ("empty.obj", b"", "no vertices"),
        ("cut.stl", binary_stl()[:-7], "no vertices"),
        ("words.stl", b"once upon a time", "damaged"),
        ("letters.obj", b"v a b c\n", "damaged"),
        ("short.obj", b"v 0 0\n", "damaged"),
        ("nan.obj", b"v nan 0 0\n", "not finite"),
        ("flat.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\n", "one plane"),
        ("cube.ply", b"ply", r"\.stl or \.obj"),
    ],
)
def test_files_that_are_no_use(tmp_path, name, data, words):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ValueError, match=words) as error:
        build.hull_of_file(tmp_path / name)
    assert name in str(error.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ValueError, match="cannot be read"):
        build.hull_of_file(tmp_path / "none.stl")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: build.vertices([[0, 0], [1, 1], [2, 2]]), "on one line"),
        (lambda: build.vertices([[0, 0, 0], [1, 1, 1], [2, 2, 2], [3, 3, 3]]), "on one line"),
        (lambda: build.vertices([[0, 0, 5], [1, 0, 5], [0, 1, 5], [1, 1, 5]]), "in one plane"),
        (lambda: build.vertices([[1, 1]] * 4), "give each point once"),
        (lambda: build.vertices(SQUARE[::-1]), "clockwise"),
        (lambda: build.vertices([[0, 0], [1, 1], [1, 0], [0, 1]]), "sides 0 and 2 of a polygon cross"),
        (
            lambda: build.vertices([[math.cos(4 * math.pi * k / 5), math.sin(4 * math.pi * k / 5)] for k in range(5)]),
            "cross",
        ),
        (lambda: build.vertices([[0, 0], [2, 0], [0.5, 0.5], [0, 2]]), "not convex at vertex 2.*`parts`"),
        (lambda: build.vertices([[0, 2], [0.5, 0.5], [2, 0], [0, 0]]), "not convex at vertex 1.*`parts`"),
        (lambda: build.vertices(CUBE[:3]), "3 vertices make no solid"),
        (lambda: build.vertices([[0, 0], [1, 0]]), "no volume"),
        (lambda: build.vertices([[0, 0, 0]]), "no volume"),
        (lambda: build.vertices([]), "shape"),
        (lambda: build.vertices([[0, 0], [1]]), "rows of"),
        (lambda: build.vertices(SQUARE, rounding=-0.1), r"rounding = -0\.1"),
        (lambda: build.vertices(SQUARE, rounding=math.nan), "rounding = nan"),
        (lambda: build.vertices([[0, 0], [1, math.nan], [1, 1]]), "vertex 1"),
        (lambda: build.vertices([[0, 0], [1, 0], [1, math.inf]]), "vertex 2"),
        (lambda: build.polygon(2), "3 or more"),
        (lambda: build.box([1, 0]), "positive lengths"),
        (lambda: build.box([1, 2, 3, 4]), "two or three"),
        (lambda: build.capsule(0.9, dimension=2), "1 \\(round\\) or more"),
        (lambda: build.solid("ikosaeder"), "tetrahedron, cube, octahedron, dodecahedron, icosahedron"),
        (lambda: build.clump([[0, 0], [2.1, 0]], 1.0), "part 1 does not touch"),
        (lambda: build.clump([[0, 0], [1.0, 0]], 0.0), "no volume"),
        (lambda: build.clump([[0, 0], [1.0, 0]], [1.0, 2.0, 3.0]), "3 radii for 2 centres"),
        (lambda: build.clump([[0, 0], [1.0, 0]], 1.0, mass="sum"), "union"),
        (lambda: build.polygon(5, size="small"), "as drawn"),
        (lambda: build.several([SQUARE, [[1.1, 0], [2, 0], [2, 1]]], dimension=2), "part 1 does not touch"),
        (lambda: build.several([], dimension=2), "without parts"),
    ],
)
def test_errors_help(make, words):
    with pytest.raises(ValueError, match=words) as error:
        make()
    assert "; " in str(error.value)  # the remedy


def test_flat_corners_and_inner_points_are_left_out():
    """Points in the middle of sides, faces and solids are no vertices."""
    part = make_part([[0, 0], [1, 0], [2, 0], [2, 2], [1, 2], [0, 2], [0, 1]], dimension=2)
    assert part.vertices[:, :2].tolist() == [[0, 0], [2, 0], [2, 2], [0, 2]]
    grid = np.stack(np.meshgrid(*3 * [[0.0, 1.0, 2.0]]), axis=-1).reshape(-1, 3)
    part = make_part(grid, dimension=3)
    assert (len(part.vertices), len(part.edges), len(part.faces)) == (8, 12, 6)


def test_nearly_coplanar_corners_are_left_out():
    """Middles of edges and faces that rounding in a file has moved outward."""
    grid = np.stack(np.meshgrid(*3 * [[-1.0, 0.0, 1.0]]), axis=-1).reshape(-1, 3)
    moved = grid * (1.0 + 1e-8 * (np.abs(grid).sum(axis=1, keepdims=True) < 3.0))
    assert len(make_part(moved, dimension=3).vertices) > 8
    part = make_part(moved, dimension=3, coplanar=1e-6)
    assert (len(part.vertices), len(part.edges), len(part.faces)) == (8, 12, 6)


@pytest.mark.parametrize("seed", range(4))
def test_axes_have_signs_of_their_own(seed):
    """Right-handed, and the largest component of the first two is positive."""
    axes = build.vertices(np.random.default_rng(seed).normal(size=(10, 3))).axes
    assert axes @ axes.T == pytest.approx(np.eye(3), abs=1e-14)
    assert np.linalg.det(axes) == pytest.approx(1.0)
    assert all(axis[np.abs(axis).argmax()] > 0.0 for axis in axes[:2])


def test_touching_parts_are_accepted():
    """An L of two boxes with a common side; cores with a rounding that just meet."""
    assert build.several(
        [SQUARE, [[1, 0], [2, 0], [2, 3], [1, 3]]], dimension=2, size="as drawn"
    ).volume == pytest.approx(4)
    ends = [np.add(SEGMENT, [0, y, 0]) for y in (0.0, 0.4)]
    assert len(build.several(ends, dimension=3, rounding=0.2).parts) == 2
