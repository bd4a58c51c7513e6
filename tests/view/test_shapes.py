"""Pictures of grains of other shapes: outlines and silhouettes of the right area, in the right place."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.transforms import Affine2D
from support.builders import grains
from support.pictures import pixels, probe, still
from support.shaped_frames import FLAT, SOLID, shaped

from rigidgrains import Frame, draw_packing
from rigidgrains.model.bodies import Bodies
from rigidgrains.model.cell import Cell
from rigidgrains.shapes import build
from rigidgrains.shapes.catalogue import Catalogue
from rigidgrains.shapes.surface import surface
from rigidgrains.trajectory.frame import Contacts
from rigidgrains.view.camera import Camera
from rigidgrains.view.caster import Solids, cast
from rigidgrains.view.extent import box_around
from rigidgrains.view.images import shown
from rigidgrains.view.network import network, strong_force
from rigidgrains.view.shape_paths import ShapeCollection, mark_reach, shape_path
from rigidgrains.view.shape_pieces import shape_pieces

EMPTY = np.zeros((0, 3))


# 2D


def path_area(path) -> float:
    """Holes count negative; curves in a hundred pieces each."""
    total = 0.0
    for loop in path.interpolated(1).to_polygons(closed_only=True):
        total += 0.5 * float((loop[:-1, 0] * loop[1:, 1] - loop[1:, 0] * loop[:-1, 1]).sum())
    return total


@pytest.mark.parametrize("name", FLAT)
def test_a_drawn_path_has_the_area_of_its_shape(name):
    """Without a scale curves are cut coarsely: a large path is cut finely."""
    path = shape_path(FLAT[name])
    large = path.transformed(Affine2D().scale(1e4))
    assert path_area(large) == pytest.approx(1e8 * math.pi, rel=1e-3)


@pytest.mark.parametrize("name", FLAT)
def test_pixels_of_a_grain_cover_its_area(name):
    """Grain and ground differ; each pixel counts by how far it is from the ground."""
    frame = still(shaped({name: FLAT[name]}, radius=1.2))
    figure = draw_packing(frame, colour="id", forces=False, size=1200)
    image, axes = pixels(figure), figure.axes[0]
    left, bottom, right, top = axes.get_window_extent().extents
    inside = image[len(image) - int(top) : len(image) - int(bottom), int(left) : int(right)]
    grain = np.array([0.267, 0.005, 0.329])  # the lowest colour of viridis
    cover = ((1.0 - inside) @ (1.0 - grain) / ((1.0 - grain) @ (1.0 - grain))).clip(0.0, 1.1).sum()
    scale = axes.transData.transform([[0.0, 0.0], [1.0, 0.0]])
    area = cover / (scale[1, 0] - scale[0, 0]) ** 2
    assert area == pytest.approx(math.pi * 1.2**2, rel=0.02)  # with the rim's half width


def test_a_polygon_is_drawn_where_and_as_it_is_turned():
    """Just within and just beyond each corner and the middle of each side, for three sizes and turns."""
    turn, radius = np.array([0.0, 0.5, 2.0]), np.array([1.0, 1.5, 2.0])
    shape = build.polygon(5)
    bodies = Bodies.assemble(
        dimension=2, position=np.array([[0, 0, 0], [6, 1, 0], [12, -1, 0]], float), radius=radius, density=1.0,
        catalogue=Catalogue.of({"pentagon": shape}), orientation=turn,
    )  # fmt: skip
    pixel_at = probe(draw_packing(still(bodies), colour="radius", forces=False))
    corner = shape.parts[0].vertices[:, :2]
    for k in range(3):
        c, s = math.cos(turn[k]), math.sin(turn[k])
        placed = radius[k] * corner @ np.array([[c, s], [-s, c]])
        inner = pixel_at(bodies.position[k])
        assert inner.min() < 0.6
        for point in (*placed, *(0.5 * (placed + np.roll(placed, 1, axis=0)))):
            assert pixel_at(bodies.position[k, :2] + 0.95 * point) == pytest.approx(inner, abs=0.01)
            assert pixel_at(bodies.position[k, :2] + 1.05 * point) == pytest.approx(np.ones(3), abs=0.01)


def test_a_hole_shows_the_ground():
    frame = still(shaped({"ring": FLAT["ring"]}))
    assert probe(draw_packing(frame, colour="id", forces=False))([0.0, 0.0]) == pytest.approx(np.ones(3))


def test_disks_of_a_catalogue_cover_the_same_pixels_as_disks():
    position, radius = [[0, 0, 0], [4, 1, 0], [9, 3, 0]], [1.0, 1.5, 2.0]
    plain = still(grains(position, radius, dimension=2))
    mixed = still(
        Bodies.assemble(
            dimension=2, position=np.array(position, float), radius=np.array(radius), density=1.0,
            catalogue=Catalogue.of({"disk": FLAT["disk"]}),
        )
    )  # fmt: skip
    images = [pixels(draw_packing(frame, colour="id", forces=False)) for frame in (plain, mixed)]
    assert np.abs(images[0] - images[1]).max() < 0.05


def test_marks_end_at_the_rim_and_turn_with_the_grain():
    square = FLAT["square"]
    half = 0.5 * math.sqrt(math.pi)  # side of the square of area pi
    catalogue = Catalogue.of({"box": build.box([1.0, 1.0]), "diamond": square, "disk": FLAT["disk"]})
    assert mark_reach(catalogue) == pytest.approx([half, math.sqrt(2.0) * half, 1.0], rel=2e-3)
    frame = still(shaped(FLAT))
    axes = draw_packing(frame, colour="rotation", forces=False).axes[0]
    (spokes,) = (c for c in axes.collections if c.get_gid() == "spokes")
    way = np.array([line[1] - line[0] for line in spokes.get_segments()])
    reach = frame.radius * mark_reach(frame.catalogue)[frame.shape]
    angle = frame.orientation
    assert way == pytest.approx(reach[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), abs=1e-12)


@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_vector_pictures_are_drawn_too(tmp_path, kind):
    path = tmp_path / f"shapes.{kind}"
    draw_packing(still(shaped(FLAT)), path, colour="radius", forces=False)
    first = path.read_bytes()
    assert len(first) > 5000
    draw_packing(still(shaped(FLAT)), path, colour="radius", forces=False)
    assert path.read_bytes() == first


def test_the_view_ends_where_the_grains_do():
    bodies = shaped({"capsule": FLAT["capsule"]}, radius=1.0, orientation=np.array([0.5 * math.pi]))
    box = box_around([still(bodies)])
    part = FLAT["capsule"].parts[0]
    long = float(part.vertices[:, 0].max()) + part.rounding
    assert box.high == pytest.approx([part.rounding, long, 0.0])
    assert box.low == pytest.approx([-part.rounding, -long, 0.0])


def in_cell() -> Bodies:
    """A long capsule across the face x = 0 of a cell, centre inside."""
    cell = Cell(np.diag([10.0, 10.0, 1.0]), np.zeros(3), np.array([True, True, False]))
    return shaped(
        {"capsule": FLAT["capsule"]}, radius=1.0, orientation=np.zeros(1), cell=cell,
    )  # fmt: skip


def test_images_are_drawn_of_all_that_reach_into_the_cell():
    bodies = in_cell()
    bodies.position[0] = [1.5, 5.0, 0.0]  # farther from the face than a radius, nearer than its half length
    seen = shown(still(bodies))
    assert seen.pale.tolist() == [False, True]
    assert seen.position[1] == pytest.approx([11.5, 5.0, 0.0])


# Forces


def touching(frame: Frame, pair, point, normal, force) -> Frame:
    arrays = {
        "PointData/pair": np.array(pair, np.int32), "Points": np.array(point, float),
        "PointData/normal": np.array(normal, float), "PointData/gap": np.zeros(len(pair)),
        "PointData/force": np.array(force, float), "PointData/status": np.ones(len(pair), np.uint8),
    }  # fmt: skip
    frame.contacts = Contacts(arrays.__getitem__, len(pair))
    return frame


def test_forces_run_from_centre_to_point_to_centre():
    bodies = shaped({name: FLAT[name] for name in ("square", "pentagon")}, apart=2.0)
    x = np.array([1.0, 0.0, 0.0])
    points = [[1.0, 0.4, 0.0], [1.0, -0.4, 0.0], [-1.0, 0.1, 0.0]]
    frame = touching(still(bodies), [[0, 1], [0, 1], [0, 2]], points, [x, x, -x], [3.0 * x, 1.0 * x, -2.0 * x])
    net = network(frame)
    assert net.force == pytest.approx([3.0, 1.0, 2.0])
    assert net.at_wall.tolist() == [False, False, True]
    assert net.start == pytest.approx(np.zeros((3, 3)))
    assert net.end == pytest.approx(np.array([[2.0, 0, 0], [2.0, 0, 0], points[2]]))
    assert net.via[:2] == pytest.approx(np.array(points[:2]))
    assert strong_force([frame]) == pytest.approx(3.0, rel=0.01)
    axes = draw_packing(frame, forces=True).axes[0]
    (lines,) = (c for c in axes.collections if isinstance(c, LineCollection) and c.get_gid() == "forces")
    assert np.array(lines.get_linewidths()) / lines.get_linewidths()[0] == pytest.approx([1.0, 1 / 3, 2 / 3], rel=0.01)
    assert lines.get_segments()[0] == pytest.approx(np.array([[0.0, 0.0], [1.0, 0.4], [2.0, 0.0]]))


def test_a_force_through_a_face_ends_at_the_point_on_both_sides():
    cell = Cell(np.diag([10.0, 10.0, 1.0]), np.zeros(3), np.array([True, True, False]))
    bodies = shaped({name: FLAT[name] for name in ("square", "pentagon")}, cell=cell)
    bodies.position[:, :2] = [[9.2, 5.0], [0.8, 5.0]]
    frame = still(bodies)
    x = np.array([1.0, 0.0, 0.0])
    touching(frame, [[0, 1]], [[10.0, 5.3, 0.0]], [x], [x])
    frame.contacts.image = np.array([[1, 0, 0]], np.int8)
    net = network(frame)
    assert net.start == pytest.approx(np.array([[9.2, 5.0, 0.0], [0.8, 5.0, 0.0]]))
    assert net.end == pytest.approx(np.array([[10.0, 5.3, 0.0], [0.0, 5.3, 0.0]]))


# 3D


def seen_area(shape, turn, step=0.004) -> float:
    """m^2, of what is seen of a black grain of radius 1 from along z: pixels that a ray of it meets."""
    reach = 2.2
    pieces = shape_pieces(
        Catalogue.of({"one": shape}), np.zeros(1, np.int32), np.zeros((1, 3)), np.ones(1), np.array([turn], float),
        np.zeros((1, 3)), Camera(np.eye(3)),
    )  # fmt: skip
    solids = Solids(EMPTY, np.zeros(0), EMPTY, EMPTY, EMPTY, np.zeros(0), EMPTY, [], pieces)
    side = round(2.0 * reach / step)
    image = cast(solids, np.array([-reach, -reach]), step, side, side, grain=1.0, haze=0.0)
    return float((image < 0.999).any(axis=2).sum()) * step**2


FACE_ON = [1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("rounding", [0.0, 0.1, 0.4])
def test_the_silhouette_of_a_cube_along_an_axis(rounding):
    shape = build.box([1.0, 1.0, 1.0], rounding=rounding)
    side, r = shape.scale, shape.parts[0].rounding
    exact = side**2 + 4.0 * side * r + math.pi * r**2
    assert seen_area(shape, FACE_ON) == pytest.approx(exact, rel=5e-3)


def test_the_silhouette_of_a_cube_along_its_diagonal_is_a_hexagon():
    axis = np.cross([1.0, 1.0, 1.0], [0.0, 0.0, 1.0]) / math.sqrt(2.0)
    half = 0.5 * math.acos(1.0 / math.sqrt(3.0))
    shape = build.box([1.0, 1.0, 1.0])
    area = seen_area(shape, [math.cos(half), *(math.sin(half) * axis)])
    assert area == pytest.approx(math.sqrt(3.0) * shape.scale**2, rel=5e-3)


def test_silhouettes_of_capsules_from_the_side_and_from_the_end():
    part = SOLID["capsule"].parts[0]
    long, r = 2.0 * float(part.vertices[:, 0].max()), part.rounding
    assert seen_area(SOLID["capsule"], FACE_ON) == pytest.approx(2.0 * long * r + math.pi * r**2, rel=5e-3)
    end_on = [math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0]
    assert seen_area(SOLID["capsule"], end_on) == pytest.approx(math.pi * r**2, rel=1e-2)


@pytest.mark.parametrize("name", [name for name in SOLID if name not in ("sphere", "dimer")])
def test_silhouettes_have_the_mean_area_that_cauchy_says(name):
    """The mean over all directions is a quarter of the surface, for convex bodies; from 12 directions to 3 %."""
    mesh = surface(SOLID[name], fine=96)
    a, b, c = (mesh.points[mesh.triangles[:, k]] for k in range(3))
    exact = 0.125 * float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())
    golden, found = (1.0 + math.sqrt(5.0)) / 2.0, []
    for i in range(12):  # from points spread over a hemisphere, z turned to each of them
        height = (i + 0.5) / 12
        angle = 2.0 * math.pi * i / golden
        to = np.array([math.sqrt(1 - height**2) * math.cos(angle), math.sqrt(1 - height**2) * math.sin(angle), height])
        axis = np.cross(to, [0.0, 0.0, 1.0])
        half = 0.5 * math.acos(height)
        turn = [math.cos(half), *(math.sin(half) * axis / np.linalg.norm(axis))]
        found.append(seen_area(SOLID[name], turn, step=0.011))
    assert np.mean(found) == pytest.approx(exact, rel=0.03)


def test_faces_edges_and_corners_are_lit_by_their_normals():
    """Seen along an axis the rounded cube is as bright in the middle as a sphere that faces the eye."""
    catalogue = Catalogue.of({"cube": build.box([1.0, 1.0, 1.0], rounding=0.3), "sphere": SOLID["sphere"]})
    bodies = Bodies.assemble(
        dimension=3, position=np.array([[0.0, 0, 0], [5.0, 0, 0]]), radius=np.ones(2), density=1.0,
        catalogue=catalogue, shape=np.array([0, 1], np.int32),
    )  # fmt: skip
    pixel_at = probe(draw_packing(still(bodies), colour="radius", view="top"))
    assert pixel_at([0.0, 0.0]) == pytest.approx(pixel_at([5.0, 0.0]), abs=0.02)
    half = float(catalogue.shapes[0].parts[0].vertices.max())
    flat = [pixel_at([x, y]) for x in (-0.8 * half, 0.8 * half) for y in (-0.8 * half, 0.8 * half)]
    assert np.ptp(flat, axis=0) == pytest.approx(np.zeros(3), abs=0.02)  # one plane, one tone
    rim = half + 0.7 * catalogue.shapes[0].parts[0].rounding
    assert pixel_at([-rim, 0.0]).sum() > pixel_at([rim, 0.0]).sum() + 0.2  # the light comes from the left


def test_the_nearer_face_hides_the_farther_grain():
    bodies = shaped({name: SOLID[name] for name in ("sharp", "dodecahedron", "capsule")}, radius=1.0)
    bodies.position[:] = [[0, -3, 0], [0, 0, 0], [0, 3, 0]]
    pixel_at = probe(draw_packing(still(bodies), colour="id", view="front"))
    found = pixel_at([0.0, 0.0])
    assert found[2] > found[0] > found[1]  # violet, the lowest colour: grain 0


def test_spheres_of_a_catalogue_have_the_bytes_of_spheres(tmp_path):
    """Also those in a scene that has other shapes somewhere."""
    position = np.array([[0.0, 0, 0], [1.5, 0.5, 0.2], [0.4, 1.4, 1.0]])
    radius = np.array([1.0, 0.8, 0.9])
    plain = Bodies.assemble(dimension=3, position=position, radius=radius, density=1.0)
    catalogue = Catalogue.of({"cube": SOLID["cube"], "sphere": SOLID["sphere"]})
    mixed = Bodies.assemble(
        dimension=3, position=position, radius=radius, density=1.0, catalogue=catalogue, shape=np.ones(3, np.int32)
    )
    for name, bodies in (("plain", plain), ("mixed", mixed)):
        draw_packing(still(bodies), tmp_path / f"{name}.png", colour="id", size=400)
    assert (tmp_path / "plain.png").read_bytes() == (tmp_path / "mixed.png").read_bytes()


def test_spheres_compile_nothing_of_shapes():
    code = """
import numpy as np
from rigidgrains import Frame, Simulation, draw_packing
from rigidgrains.model.bodies import Bodies
from rigidgrains.view import caster
bodies = Bodies.assemble(dimension=3, position=np.zeros((1, 3)), radius=np.ones(1), density=1.0)
draw_packing(Frame.of(Simulation(bodies, dt=1e-3)), size=200)
print(len(caster._spheres.signatures), len(caster._faces.signatures))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "0"]


def test_forces_shrink_grains_of_all_shapes_to_beads():
    bodies = shaped({name: SOLID[name] for name in ("sharp", "capsule")}, apart=2.5, radius=1.0)
    x = np.array([1.0, 0.0, 0.0])
    frame = touching(still(bodies), [[0, 1]], [[1.2, 0.0, 0.6]], [x], [x])
    pixel_at = probe(draw_packing(frame, colour="id", forces=True, view="front"))
    assert pixel_at([0.0, -0.7]) == pytest.approx(np.ones(3))
    tube = pixel_at([1.2, 0.6])  # where it bends
    assert tube[0] > 1.5 * tube[1]
    assert pixel_at([1.25, 0.0]) == pytest.approx(np.ones(3))


def test_a_collection_knows_as_many_paths_as_grains():
    catalogue = Catalogue.of(FLAT)
    collection = ShapeCollection(catalogue, np.array([0, 2, 2]), np.ones(3), np.zeros(3), offsets=np.zeros((3, 2)))
    paths = collection.get_paths()
    assert len(paths) == 3
    assert paths[1] is paths[2]
