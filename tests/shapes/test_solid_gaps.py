"""Gaps of solids held against bounds that prove them, and against all separating axes in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from rigidgrains.shapes.core import Shape
from rigidgrains.shapes.hull import make_part
from rigidgrains.shapes.placed import make_workspace, most_points
from rigidgrains.shapes.solid_manifold import GAP, find_points
from rigidgrains.shapes.solids import SOLIDS, platonic
from rigidgrains.shapes.table import make_table

NAMES = list(SOLIDS)
PARTS = [make_part(platonic(name), dimension=3) for name in NAMES]
TABLE = make_table([Shape(3, (part,), 1.0, np.ones(3), np.zeros(3), np.eye(3), 1.0) for part in PARTS])
WORK = make_workspace(TABLE)
ROOM = most_points(TABLE)


def poses(count, seed, *, parallel):
    """Pairs of solids at random, or nearly parallel."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        a, b = rng.integers(len(NAMES), size=2)
        turn_a, turn_b = Rotation.random(2, rng=rng)
        if parallel:
            turn_b = Rotation.from_rotvec(10.0 ** rng.uniform(-14, -3) * rng.normal(size=3)) * turn_a
        x = rng.normal(size=3)
        yield a, b, rng.uniform(0.9, 2.2) * x / np.linalg.norm(x), turn_a, turn_b


def least(a, b, x, turn_a, turn_b):
    """The point with the least gap: place, n, gap."""
    points, features, start = np.zeros((ROOM, 7)), np.zeros(ROOM, np.int64), np.zeros(2, np.int64)
    orientation = np.array([np.roll(turn.as_quat(), 1) for turn in (turn_a, turn_b)])
    count = find_points(
        np.array([[0, 1]]), np.array([[a, b]]), np.zeros((1, 3)), TABLE, np.array([np.zeros(3), x]), orientation,
        np.ones(2), 3.0, WORK, start, points, features,
    )  # fmt: skip
    assert 1 <= count <= ROOM
    return points[np.argmin(points[:count, GAP])]


def outside(part, turn, at, point):
    """By how much a point lies beyond the faces of a solid (m); below 0 inside."""
    local = turn.inv().apply(point - at)
    return max(n @ (local - part.vertices[face[0]]) for face, n in zip(part.faces, part.normals))


def support_gap(n, v_a, v_b):
    """Room between two hulls along n: no more than their distance, whatever n is."""
    return (v_b @ n).min() - (v_a @ n).max()


@pytest.mark.parametrize("parallel", [False, True])
def test_distances_are_proved(parallel):
    """Apart, the gap is the room along n, which no distance falls below, and the way between points of the solids."""
    seen, rounding = 0, 1e-12
    for a, b, x, turn_a, turn_b in poses(1500, 11, parallel=parallel):
        found = least(a, b, x, turn_a, turn_b)
        place, n, gap = found[:3], found[3:6], found[GAP]
        v_a, v_b = turn_a.apply(PARTS[a].vertices), turn_b.apply(PARTS[b].vertices) + x
        assert np.linalg.norm(n) == pytest.approx(1.0, abs=1e-14)
        if gap > 0.0:
            assert support_gap(n, v_a, v_b) == pytest.approx(gap, abs=rounding)  # lower bound
            assert outside(PARTS[a], turn_a, 0.0, place - 0.5 * gap * n) < rounding  # upper bound
            assert outside(PARTS[b], turn_b, x, place + 0.5 * gap * n) < rounding
            seen += 1
    assert 200 < seen < 1490


# Two icosahedra, parallel to 1e-11 and 4e-7 apart: GJK meets a simplex of three points in a line
IN_LINE = (
    [
        [0.4976658540911861, -1.678660545126504, -0.12930036498152012],
        [0.4976658541068341, -1.678660545054385, -0.1293003648471724],
        [0.4976658540506166, -1.678660545119853, -0.12930036493738523],
        [0.49766585351951015, -1.678660546831284, -0.12930036556680274],
    ],
    Rotation.from_quat([0.7124581321629412, -0.4698805299333918, -0.492925383655903, 0.16923434536786147]),
    Rotation.from_quat([0.7124581321648837, -0.46988052993484586, -0.49292538365101146, 0.16923434536989443]),
)


def test_a_degenerate_simplex_is_no_distance():
    """Half a gap from the place, along n, there are points of both solids: the gap is not below the distance."""
    places, turn_a, turn_b = IN_LINE
    part, number = PARTS[NAMES.index("icosahedron")], NAMES.index("icosahedron")
    for x in np.array(places):
        found = least(number, number, x, turn_a, turn_b)
        place, n, gap = found[:3], found[3:6], found[GAP]
        assert gap > 0.0
        assert outside(part, turn_a, 0.0, place - 0.5 * gap * n) < 1e-12
        assert outside(part, turn_b, x, place + 0.5 * gap * n) < 1e-12


def axes_of(a, b, turn_a, turn_b):
    """Normals of all faces, and of all pairs of edges that are not parallel."""
    edges = [turn.apply([p.vertices[e[1]] - p.vertices[e[0]] for e in p.edges])
             for p, turn in ((PARTS[a], turn_a), (PARTS[b], turn_b))]  # fmt: skip
    across = np.cross(edges[0][:, None], edges[1]).reshape(-1, 3)
    size = np.linalg.norm(across, axis=1)
    across = across[size > 1e-6] / size[size > 1e-6, None]
    return np.concatenate([turn_a.apply(PARTS[a].normals), -turn_b.apply(PARTS[b].normals), across, -across])


def test_depths_are_those_of_the_best_axis_or_of_a_face():
    """No axis has less depth; a face may be preferred where it has hardly more."""
    seen = 0
    for a, b, x, turn_a, turn_b in poses(600, 12, parallel=False):
        gap = least(a, b, x, turn_a, turn_b)[GAP]
        if gap >= 0.0:
            continue
        v_a, v_b = turn_a.apply(PARTS[a].vertices), turn_b.apply(PARTS[b].vertices) + x
        best = max(support_gap(n, v_a, v_b) for n in axes_of(a, b, turn_a, turn_b))
        assert gap <= best + 1e-9
        assert gap >= best - 0.05
        seen += 1
    assert seen > 50
