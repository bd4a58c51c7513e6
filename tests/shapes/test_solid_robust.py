"""Contact points where geometry degenerates: aligned to rounding, coincident, in one plane, of very unlike size."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from scipy.spatial.transform import Rotation

from rigidgrains.shapes.clip import FEATURE
from rigidgrains.shapes.core import Shape
from rigidgrains.shapes.hull import make_part
from rigidgrains.shapes.placed import make_workspace, most_points
from rigidgrains.shapes.solid_manifold import GAP, find_points
from rigidgrains.shapes.solids import SIGNS, platonic
from rigidgrains.shapes.table import make_table

R = 0.2
PARTS = {
    "cube": make_part(0.5 * SIGNS, dimension=3),
    "rounded": make_part(0.45 * SIGNS, dimension=3, rounding=0.05),
    "sphere": make_part([[0, 0, 0]], dimension=3, rounding=R),
    "capsule": make_part([[-0.5, 0, 0], [0.5, 0, 0]], dimension=3, rounding=R),
    "tetrahedron": make_part(platonic("tetrahedron"), dimension=3),
    "dodecahedron": make_part(platonic("dodecahedron"), dimension=3),
}
NAMES = list(PARTS)
TABLE = make_table([Shape(3, (part,), 1.0, np.ones(3), np.zeros(3), np.eye(3), 1.0) for part in PARTS.values()])
WORK, ROOM = make_workspace(TABLE), most_points(TABLE)
SAME, UP, ZERO = Rotation.identity(), np.array([0.0, 0.0, 1.0]), np.zeros(3)


def contact(a, b, x, turn_a=SAME, turn_b=SAME, *, scale=(1.0, 1.0), margin=0.01):
    """Points (k, 7) and sorted codes of two parts, the first at the origin; finite, with unit normals."""
    points, features, start = np.zeros((ROOM, 7)), np.zeros(ROOM, np.int64), np.zeros(2, np.int64)
    orientation = np.array([np.roll(turn.as_quat(), 1) for turn in (turn_a, turn_b)])
    pairs, parts = np.array([[0, 1]]), np.array([[NAMES.index(a), NAMES.index(b)]])
    where = TABLE, np.array([ZERO, x], float), orientation, np.array(scale), margin, WORK
    count = find_points(pairs, parts, np.zeros((1, 3)), *where, start, points, features)
    points = points[:count]
    assert np.isfinite(points).all()
    assert np.abs(np.linalg.norm(points[:, 3:6], axis=1) - 1.0).max(initial=0.0) < 1e-14
    return points, sorted((int(f) // FEATURE, int(f) % FEATURE) for f in features[:count])


@pytest.mark.parametrize("name", ["cube", "rounded"])
@pytest.mark.parametrize("aside", [(0.0, 0.0), (0.3, 0.2), (0.3, 0.0), (1e-9, 0.0)])
@pytest.mark.parametrize("gap", [0.0, 1e-9, -1e-9])
def test_features_are_the_same_for_perturbations_of_rounding_size(name, aside, gap):
    rng, frame = np.random.default_rng(1), Rotation.random(rng=2)
    rest = contact(name, name, frame.apply([*aside, 1.0 + gap]), frame, frame)[1]
    assert len(rest) == len(set(rest)) == 4
    for _ in range(1000):
        little = 1e-13 * rng.uniform(-1.0, 1.0, (2, 3))
        x, turn = frame.apply([*aside, 1.0 + gap] + little[0]), frame * Rotation.from_rotvec(little[1])
        points, codes = contact(name, name, x, frame, turn)
        assert codes == rest
        assert np.abs(points[:, GAP] - gap).max() < 1e-12
        assert contact(name, name, -x, turn, frame)[1] == sorted((b, a) for a, b in codes)


@pytest.mark.parametrize("tilt", [1e-12, 1e-9, 1e-7, 1e-5, 1e-3])
def test_nearly_parallel_parts_can_be_swapped(tilt):
    rng = np.random.default_rng(3)
    for _ in range(300):
        frame, name = Rotation.random(rng=rng), rng.choice(["cube", "rounded"])
        x = frame.apply([*rng.uniform(-0.6, 0.6, 2), 1.0 + 1e-3 * rng.uniform(-1.0, 1.0)])
        turn = Rotation.from_rotvec(tilt * rng.normal(size=3)) * frame
        points, codes = contact(name, name, x, frame, turn)
        back, swapped = contact(name, name, -x, turn, frame)
        assert codes == sorted((b, a) for a, b in swapped)
        np.testing.assert_allclose(np.sort(points[:, GAP]), np.sort(back[:, GAP]), atol=1e-12)


@pytest.mark.parametrize("tilt", [1e-7, 1e-5, 1e-4])
def test_the_nearest_of_twins_takes_their_place(tilt):
    """The least gap is the room along n, though corners that lie side by side are one."""
    rng = np.random.default_rng(6)
    for _ in range(300):
        frame = Rotation.random(rng=rng)
        x = frame.apply([*rng.uniform(-3e-4, 3e-4, 2), 1.001])
        turn = frame * Rotation.from_rotvec([*tilt * rng.normal(size=2), rng.uniform(-5e-4, 5e-4)])
        points, codes = contact("cube", "cube", x, frame, turn)
        assert 4 <= len(points) == len(set(codes)) <= 5
        apart = pdist(points[:, :3])
        assert apart.min() > 0.99e-3 * apart.max()  # as clip.TWIN has it
        n, v = points[0, 3:6], PARTS["cube"].vertices
        room = ((turn.apply(v) + x) @ n).min() - (frame.apply(v) @ n).max()
        assert points[:, GAP].min() == pytest.approx(room, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_identical_poses(name):
    """The depth is twice the distance of the centre to the nearest face, and roundings come on top."""
    part, turn = PARTS[name], Rotation.random(rng=4)
    inner = min((n @ part.vertices[face[0]] for face, n in zip(part.faces, part.normals)), default=0.0)
    if name == "tetrahedron":  # opposite edges are nearer than a vertex is to its face
        inner = 0.5 * np.linalg.norm(part.vertices[0] + part.vertices[1])
    points, _ = contact(name, name, ZERO, turn, turn)
    assert points[:, GAP].min() == pytest.approx(-2.0 * (inner + part.rounding), abs=1e-12)


@pytest.mark.parametrize("x", [[0.1, 0.2, 0.5], [0.5, 0.1, 0.5], [0.5, 0.5, 0.5]])
def test_a_centre_in_a_face_an_edge_or_a_vertex(x):
    points, _ = contact("cube", "sphere", x)
    np.testing.assert_allclose(points[:, [0, 1, 2]] + 0.5 * R * points[:, 3:6], [x], atol=R)
    assert points[:, GAP] == pytest.approx([-R], abs=1e-12)


@pytest.mark.parametrize(
    ("x", "turn", "count"),
    [
        (ZERO, Rotation.from_euler("z", np.pi / 2), 1),  # cores cross
        ([0.2, 0.3, 0.0], Rotation.from_euler("z", np.pi / 2), 1),
        ([0.5, 0.0, 0.0], Rotation.from_euler("z", np.pi / 2), 1),  # an end on the other core
        ([1.0, 0.0, 0.0], SAME, 1),  # end to end
        ([0.4, 0.0, 0.0], SAME, 2),  # in one line
        ([0.4, 0.0, 0.0], Rotation.from_euler("z", np.pi), 2),
    ],
)
def test_capsules_whose_cores_meet(x, turn, count):
    points, _ = contact("capsule", "capsule", x, turn_b=turn)
    assert points[:, GAP] == pytest.approx([-2.0 * R] * count, abs=1e-12)
    assert (np.abs(points[:, 0] - np.clip(x[0], 0.0, 0.5)) < 0.5 + 1e-12).all()


def test_a_core_that_pierces_a_face():
    points, _ = contact("cube", "capsule", [0.0, 0.1, 0.9], turn_b=Rotation.from_euler("y", np.pi / 2))
    np.testing.assert_allclose(points[np.argmin(points[:, GAP])][3:], [0, 0, 1, -0.1 - R], atol=1e-12)


def test_a_small_cube_on_a_large_one():
    for gap in (1e-6, 1e-12, 0.0, -1e-6):
        points, codes = contact("cube", "cube", [0.3, 0.2, 0.5005 + gap], scale=(1.0, 1e-3))
        assert len(points) == len(set(codes)) == 4
        assert points[:, GAP] == pytest.approx([gap] * 4, abs=1e-12)
    points, _ = contact("sphere", "cube", (R + 5e-4) * UP, scale=(1.0, 1e-3))
    assert points[:, GAP] == pytest.approx([0.0], abs=1e-12)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_the_unit_of_length_does_not_matter(scale):
    rng = np.random.default_rng(5)
    for _ in range(500):
        a, b = rng.choice(NAMES, 2)
        turn_a, turn_b = Rotation.random(2, rng=rng)
        x = rng.normal(size=3)
        x *= rng.uniform(0.4, 1.5) / np.linalg.norm(x)
        points, codes = contact(a, b, x, turn_a, turn_b)
        scaled, same = contact(a, b, scale * x, turn_a, turn_b, scale=(scale, scale), margin=0.01 * scale)
        assert same == codes
        np.testing.assert_allclose(np.sort(scaled[:, GAP]) / scale, np.sort(points[:, GAP]), atol=1e-12)


@pytest.mark.parametrize("aside", [-1e-12, -1e-15, -1e-17, 0.0, 1e-17, 1e-15])
@pytest.mark.parametrize("angle", [-30.0, -45.0, -80.0])
def test_a_rod_across_a_corner_of_a_face_has_points_of_different_names(angle, aside):
    """It is cut twice at one place: once on the way there, once on the way back."""
    turn = Rotation.from_euler("z", angle, degrees=True)
    way, out = turn.apply([1.0, 0.0, 0.0]), turn.apply([0.0, 1.0, 0.0])
    for along in (0.0, 0.1, -0.23):
        place = np.array([0.5, 0.5, 0.705]) + along * way + aside * out
        for pair in (("cube", "capsule", place, SAME, turn), ("capsule", "cube", -place, turn, SAME)):
            points, features = contact(*pair)
            assert 1 <= len(points) == len(set(features))
            assert points[:, GAP].min() == pytest.approx(0.005, abs=1e-12)


@pytest.mark.parametrize("short", [6e-4, 8e-4, 9e-4, 1.2e-3])
def test_a_corner_that_is_just_cut_off_leaves_points_of_different_names(short):
    """The ends of so short a side are near the same corner, and only one of them may be called by it."""
    centre = np.sqrt(0.5) - short / np.sqrt(2.0) - 0.5
    place = np.array([centre / np.sqrt(2.0), centre / np.sqrt(2.0), 1.0])
    _, features = contact("cube", "cube", place, SAME, Rotation.from_euler("z", 45.0, degrees=True))
    assert len(features) == len(set(features))
