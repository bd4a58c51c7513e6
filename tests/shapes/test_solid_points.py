"""Contact points of solid parts: closed forms, and laws that any two parts obey."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from rigidgrains.shapes.clip import FEATURE
from rigidgrains.shapes.core import Shape
from rigidgrains.shapes.hull import make_part
from rigidgrains.shapes.placed import make_workspace, most_points
from rigidgrains.shapes.solid_manifold import GAP, find_points
from rigidgrains.shapes.table import make_table

CUBE = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
PRISM = [[0.3 * np.cos(a), 0.3 * np.sin(a), z] for a in (0.0, 2.1, 4.2) for z in (-0.15, 0.15)]
GOLD = (1 + 5**0.5) / 2
STONE = [q for a in (-0.3, 0.3) for b in (-0.3 * GOLD, 0.3 * GOLD) for q in ([0, a, b], [a, b, 0], [b, 0, a])]
PARTS = {
    "cube": make_part(CUBE, dimension=3),
    "rounded": make_part(0.9 * CUBE, dimension=3, rounding=0.05),
    "sphere": make_part([[0, 0, 0]], dimension=3, rounding=0.5),
    "capsule": make_part([[-0.5, 0, 0], [0.5, 0, 0]], dimension=3, rounding=0.2),
    "prism": make_part(PRISM, dimension=3),
    "stone": make_part(STONE, dimension=3, rounding=0.02),
}
NAMES = list(PARTS)
TABLE = make_table([Shape(3, (p,), 1.0, np.ones(3), np.zeros(3), np.eye(3), 1.0) for p in PARTS.values()])
WORK = make_workspace(TABLE)
SAME = Rotation.identity()
Z = np.array([0.0, 0.0, 1.0])


def turned(axis, angle):
    return Rotation.from_euler(axis, angle)


def contact(a, b, x, r_a=SAME, r_b=SAME, *, margin=0.01, origin=(0.0, 0.0, 0.0), room=None):
    """Points (k, 7) and features (k,) of two parts, the first at the origin."""
    room = most_points(TABLE) if room is None else room
    points, features, start = np.zeros((room, 7)), np.zeros(room, np.int64), np.zeros(2, np.int64)
    position = np.array([origin, np.add(origin, x)], float)
    orientation = np.array([np.roll(r.as_quat(), 1) for r in (r_a, r_b)])
    pairs, parts = np.array([[0, 1]]), np.array([[NAMES.index(a), NAMES.index(b)]])
    where = TABLE, position, orientation, np.ones(2), margin, WORK
    count = find_points(pairs, parts, np.zeros((1, 3)), *where, start, points, features)
    assert start[1] == count
    return points[:count], features[:count]


def codes(features):
    return sorted((int(f) // FEATURE, int(f) % FEATURE) for f in features)


def ordered(points):
    return points[np.lexsort(np.round(points[:, :3], 6).T)]


@pytest.mark.parametrize("name", ["cube", "rounded"])
def test_a_cube_on_a_cube_has_four_corners(name):
    points, features = contact(name, name, [0.0, 0.0, 1.0])
    half = 0.5 - PARTS[name].rounding
    assert len(points) == 4
    assert len(set(features)) == 4
    np.testing.assert_allclose(np.abs(points[:, :2]), half, atol=1e-14)
    np.testing.assert_allclose(points[:, 2:], [[0.5, 0.0, 0.0, 1.0, 0.0]] * 4, atol=1e-14)


def test_a_cube_turned_by_45_degrees_has_eight_corners():
    points, features = contact("cube", "cube", Z, r_b=turned("z", np.pi / 4))
    assert len(points) == len(set(features)) == 8
    np.testing.assert_allclose(np.sort(np.abs(points[:, :2]), axis=1), [[0.5 * (2**0.5 - 1), 0.5]] * 8, atol=1e-14)


def test_a_prism_stands_on_three_corners():
    points, features = contact("cube", "prism", [0.0, 0.0, 0.65])
    assert len(points) == 3
    assert all(code_a == 0 for code_a, _ in codes(features))


@pytest.mark.parametrize("name", ["cube", "rounded"])
@pytest.mark.parametrize("tilt", [0.0, 1e-15, 1e-12, 1e-9, 1e-6])
def test_small_motions_keep_corners_and_features(name, tilt):
    _, at_rest = contact(name, name, Z)
    points, features = contact(
        name, name, [tilt, -tilt, 1.0 + tilt], r_b=Rotation.from_rotvec([tilt, 0.5 * tilt, tilt])
    )
    assert len(points) == 4
    assert codes(features) == codes(at_rest)


def test_an_edge_on_a_face_has_two_points():
    points, _ = contact("cube", "cube", [0.0, 0.0, 0.5 + 0.5**0.5], r_b=turned("x", np.pi / 4))
    np.testing.assert_allclose(ordered(points)[:, :3], [[-0.5, 0, 0.5], [0.5, 0, 0.5]], atol=1e-14)


def test_crossing_edges_have_one_point():
    points, features = contact("cube", "cube", [0, 0, 2**0.5 - 1e-3], turned("x", np.pi / 4), turned("y", np.pi / 4))
    np.testing.assert_allclose(points, [[0, 0, 0.5**0.5 - 5e-4, 0, 0, 1, -1e-3]], atol=1e-14)
    assert min(codes(features)[0]) > 4096


def test_spheres():
    x = np.array([0.3, -0.8, 0.6])
    points, _ = contact("sphere", "sphere", x, margin=1.0)
    d = np.linalg.norm(x)
    np.testing.assert_allclose(points, [[*(0.5 * x), *(x / d), d - 1.0]], atol=1e-15)
    assert len(contact("sphere", "sphere", [0.0, 0.0, 0.0])[0]) == 1


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-9])
def test_parallel_capsules_have_two_points(angle):
    points, _ = contact("capsule", "capsule", [0.2, 0.0, 0.401], r_b=turned("z", angle))
    np.testing.assert_allclose(
        ordered(points)[:, [0, 1, 2, 6]], [[-0.3, 0, 0.2005, 1e-3], [0.5, 0, 0.2005, 1e-3]], atol=1e-9
    )


def test_crossing_capsules_have_one_point():
    points, _ = contact("capsule", "capsule", [0.2, 0.1, 0.39], r_b=turned("z", np.pi / 2))
    np.testing.assert_allclose(points, [[0.2, 0.0, 0.195, 0, 0, 1, -0.01]], atol=1e-14)


def test_a_capsule_on_a_box_has_two_points():
    points, _ = contact("cube", "capsule", [0.2, 0.1, 0.705])
    np.testing.assert_allclose(
        ordered(points)[:, [0, 1, 2, 6]], [[-0.3, 0.1, 0.5025, 5e-3], [0.5, 0.1, 0.5025, 5e-3]], atol=1e-14
    )


def random_pairs(count, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        x = rng.normal(size=3)
        yield (*rng.choice(NAMES, 2), rng.uniform(0.5, 1.3) * x / np.linalg.norm(x), *Rotation.random(2, rng=rng))


def test_swapped_parts_have_the_same_points():
    seen = 0
    for a, b, x, r_a, r_b in random_pairs(2000, 1):
        points, features = contact(a, b, x, r_a, r_b)
        back, swapped = contact(b, a, -x, r_b, r_a, origin=x)
        assert len(points) == len(back)
        assert codes(features) == sorted((j, i) for i, j in codes(swapped))
        if len(points):
            there, here = ordered(points), ordered(back)
            np.testing.assert_allclose(there[:, :3], here[:, :3], atol=1e-9)
            np.testing.assert_allclose(there[:, 3:6], -here[:, 3:6], atol=1e-9)
            np.testing.assert_allclose(there[:, GAP], here[:, GAP], atol=1e-12)
            seen += 1
    assert seen > 500


def test_a_rigid_motion_moves_the_points():
    turn, origin = Rotation.random(rng=5), np.array([3.0, -2.0, 5.0])
    for a, b, x, r_a, r_b in random_pairs(500, 2):
        points, features = contact(a, b, x, r_a, r_b)
        moved, same = contact(a, b, turn.apply(x), turn * r_a, turn * r_b, origin=origin)
        assert codes(features) == codes(same)
        if len(points):
            by_feature, by_same = np.argsort(features), np.argsort(same)
            np.testing.assert_allclose(turn.apply(points[by_feature, :3]) + origin, moved[by_same, :3], atol=1e-9)
            np.testing.assert_allclose(points[by_feature, GAP], moved[by_same, GAP], atol=1e-12)


def test_more_points_than_room_are_counted_and_not_written():
    position = np.array([[0.0, 0, 0], [0, 0, 1]])
    points, features, start = np.full((3, 7), 9.0), np.zeros(3, np.int64), np.zeros(2, np.int64)
    quarter = np.array([np.roll(r.as_quat(), 1) for r in (SAME, turned("z", np.pi / 4))])
    where = TABLE, position, quarter, np.ones(2), 0.01, WORK
    none = np.zeros((1, 2), np.int64)
    assert find_points(np.array([[0, 1]]), none, np.zeros((1, 3)), *where, start, points, features) == 8
    assert (points[:, GAP] < 1e-12).all()
