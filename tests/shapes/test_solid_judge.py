"""Gaps of solids, boxes and capsules held against coal, an independent library, and where both differ against proofs.

Apart, a gap is proved by the room along n, which no distance falls below, and by the distance of two points of the
parts, which none exceeds. coal itself gives up on some touching pairs (it answers exactly 0), and is off by up to 1e-7
for nearly parallel capsules.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from rigidgrains.shapes.core import Shape
from rigidgrains.shapes.hull import make_part
from rigidgrains.shapes.placed import make_workspace, most_points
from rigidgrains.shapes.solid_manifold import GAP, find_points
from rigidgrains.shapes.solids import SIGNS, SOLIDS, platonic
from rigidgrains.shapes.table import make_table

coal = pytest.importorskip("coal", reason="coal, the judge of distances, is not installed: pip install coal")

BOXES = [make_part(0.5 * SIGNS * sides, dimension=3) for sides in ([1.0, 1.4, 0.6], [1.5, 1.5, 0.2])]
CAPSULES = [make_part([[0, 0, -h], [0, 0, h]], dimension=3, rounding=r) for h, r in ((0.6, 0.3), (0.9, 0.1))]
PARTS = [make_part(platonic(name), dimension=3) for name in SOLIDS] + BOXES + CAPSULES
TABLE = make_table([Shape(3, (part,), 1.0, np.ones(3), np.zeros(3), np.eye(3), 1.0) for part in PARTS])
WORK, ROOM = make_workspace(TABLE), most_points(TABLE)
SIZE = TABLE.bound[:, None] + TABLE.bound
APART, OVERLAPPING = 1e-12, 1e-7  # what coal and we agree to, over the size of the pair; EPA reaches no more


def as_coal(part):
    if len(part.vertices) == 2:
        return coal.Capsule(part.rounding, np.ptp(part.vertices[:, 2]))
    corners, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    corners.extend(part.vertices)
    for face in part.faces:
        triangles.extend(coal.Triangle(face[0], face[k], face[k + 1]) for k in range(1, len(face) - 1))
    return coal.Convex(corners, triangles)


def judged(parts, x, turn_a, turn_b):
    """Signed distances (m,) by coal."""
    request = coal.DistanceRequest()
    request.gjk_tolerance, request.gjk_max_iterations = 1e-15, 500
    request.epa_tolerance, request.epa_max_iterations = 1e-12, 300
    shapes, m_a, m_b = [as_coal(part) for part in PARTS], turn_a.as_matrix(), turn_b.as_matrix()
    return np.array([
        coal.distance(shapes[a], coal.Transform3s(m_a[k], np.zeros(3)), shapes[b], coal.Transform3s(m_b[k], x[k]),
                      request, coal.DistanceResult())
        for k, (a, b) in enumerate(parts)
    ])  # fmt: skip


def nearest(parts, x, turn_a, turn_b):
    """The point of each pair with the least gap (m, 7); every pair has one."""
    count = len(parts)
    position, orientation = np.zeros((2 * count, 3)), np.zeros((2 * count, 4))
    position[1::2] = x
    orientation[::2], orientation[1::2] = (np.roll(turn.as_quat(), 1, axis=1) for turn in (turn_a, turn_b))
    points, features, start = np.zeros((count * ROOM, 7)), np.zeros(count * ROOM, np.int64), np.zeros(count + 1, int)
    pairs, none = np.arange(2 * count).reshape(count, 2), np.zeros((count, 3))
    find_points(
        pairs, parts, none, TABLE, position, orientation, np.ones(2 * count), 10.0, WORK, start, points, features
    )
    assert (np.diff(start) > 0).all()
    assert np.isfinite(points[: start[-1]]).all()
    return np.array([
        points[first + np.argmin(points[first:last, GAP])] for first, last in itertools.pairwise(start)
    ])  # fmt: skip


def poses(count, seed):
    """Pairs at random: half nearly parallel, by 1e-12 to 1e-1, and half of those apart moved to +-1e-14 to +-1e-3."""
    rng = np.random.default_rng(seed)
    parts, x = rng.integers(len(PARTS), size=(count, 2)), rng.normal(size=(count, 3))
    x *= rng.uniform(0.3, 2.4, (count, 1)) / np.linalg.norm(x, axis=1, keepdims=True)
    turn_a, turn_b = Rotation.random(count, rng=rng), Rotation.random(count, rng=rng)
    little = rng.normal(size=(count, 3))
    little *= 10.0 ** rng.uniform(-12, -1, (count, 1)) / np.linalg.norm(little, axis=1, keepdims=True)
    parallel = (Rotation.from_rotvec(little) * turn_a).as_quat()
    turn_b = Rotation.from_quat(np.where(rng.random((count, 1)) < 0.5, parallel, turn_b.as_quat()))
    found = nearest(parts, x, turn_a, turn_b)
    gap = 10.0 ** rng.uniform(-14, -3, count) * rng.choice([-1, 1], count)
    moved = (rng.random(count) < 0.5) & (found[:, GAP] > 0.0)
    return parts, x - np.where(moved, found[:, GAP] - gap, 0.0)[:, None] * found[:, 3:6], turn_a, turn_b


def segment_distance(p, a, q, b):
    """Distance of segments p + s a, q + t b, in the precision of what is given."""
    r, aa, bb, ab = p - q, a @ a, b @ b, a @ b
    ra, rb, down = a @ r, b @ r, aa * bb - ab * ab
    best = np.inf
    for s in ([min(max((ab * rb - ra * bb) / down, 0), 1)] if down > 0 else []) + [0, 1]:
        t = min(max((ab * s + rb) / bb, 0), 1)
        s = min(max((ab * t - ra) / aa, 0), 1)
        best = min(best, np.sqrt(((r + s * a - t * b) ** 2).sum()))
    return best


def feature_distance(part_a, part_b, v_a, v_b):
    """Distance of two cores that are apart by all their features, in extended precision."""
    v_a, v_b = v_a.astype(np.longdouble), v_b.astype(np.longdouble)
    best = min(
        segment_distance(v_a[e[0]], v_a[e[1]] - v_a[e[0]], v_b[f[0]], v_b[f[1]] - v_b[f[0]])
        for e in part_a.edges
        for f in part_b.edges
    )
    for part, own, others in ((part_a, v_a, v_b), (part_b, v_b, v_a)):
        for face in part.faces:
            corner = own[list(face)]
            n = np.cross(corner[1] - corner[0], corner[2] - corner[0])
            inward = np.cross(n, np.roll(corner, -1, axis=0) - corner)
            for v in others:
                high = n @ (v - corner[0]) / np.sqrt(n @ n)
                if high > 0 and ((v - corner) * inward).sum(axis=1).min() >= 0:
                    best = min(best, high)
    return float(best)


def axis_depth(part_a, part_b, v_a, v_b):
    """The largest room along any normal of a face or of two edges: minus the depth of cores that overlap."""
    e, f = ([v[b] - v[a] for a, b, *_ in p.edges] for p, v in ((part_a, v_a), (part_b, v_b)))
    normals = [
        np.cross(v[list(face)] - v[face[0]], np.roll(v[list(face)] - v[face[0]], -1, axis=0)).sum(axis=0)
        for p, v in ((part_a, v_a), (part_b, v_b))
        for face in p.faces
    ]
    axes = np.concatenate([np.cross(np.array(e)[:, None], np.array(f)).reshape(-1, 3), np.reshape(normals, (-1, 3))])
    long = np.linalg.norm(axes, axis=1)
    axes = axes[long > 1e-13] / long[long > 1e-13, None]
    a, b = v_a @ axes.T, v_b @ axes.T
    return max((b.min(axis=0) - a.max(axis=0)).max(), (a.min(axis=0) - b.max(axis=0)).max())


def held_against_coal(count, seed):
    parts, x, turn_a, turn_b = poses(count, seed)
    found, gap = nearest(parts, x, turn_a, turn_b), judged(parts, x, turn_a, turn_b)
    assert np.abs(np.linalg.norm(found[:, 3:6], axis=1) - 1.0).max() < 1e-14
    rounding = TABLE.radius[parts].sum(axis=1)
    cores, size = found[:, GAP] + rounding, SIZE[parts[:, 0], parts[:, 1]]
    room = np.empty(count)
    differ = np.flatnonzero(~(np.abs(found[:, GAP] - gap) <= np.where(cores > 0.0, APART, OVERLAPPING) * size))
    doubtful = set(differ)
    for k in range(count):
        v_a, v_b = turn_a[k].apply(PARTS[parts[k, 0]].vertices), turn_b[k].apply(PARTS[parts[k, 1]].vertices) + x[k]
        room[k] = (v_b @ found[k, 3:6]).min() - (v_a @ found[k, 3:6]).max()
        if k in doubtful:
            true = axis_depth if cores[k] <= 0.0 else feature_distance
            assert abs(true(PARTS[parts[k, 0]], PARTS[parts[k, 1]], v_a, v_b) - cores[k]) <= APART * size[k]
    assert (np.abs(room - cores) <= APART * size)[cores <= 0.0].all()  # the depth is that along n
    assert len(differ) < 0.02 * count
    assert 0.3 * count < (gap > 0.0).sum() < 0.6 * count


def test_gaps_agree_with_coal():
    held_against_coal(4000, 1)


@pytest.mark.slow
def test_gaps_of_many_pairs_agree_with_coal():
    held_against_coal(100_000, 2)
