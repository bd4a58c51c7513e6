"""Contact points in 2D, held against distances computed the long way, and against what must not matter."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from rigidgrains.shapes.flat_manifold import SPAN, flat_manifolds

SQUARE = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
TOLERANCE = 1e-12


def with_normals(cores):
    """Rows of `sides` of cores (n, k, 2)."""
    along = np.roll(cores, -1, axis=1) - cores
    normal = np.stack([along[..., 1], -along[..., 0]], axis=-1)
    if cores.shape[1] > 1:
        normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    return np.concatenate([cores, normal], axis=-1).reshape(-1, 4)


def manifolds(a, b, offset, radius_a=0.0, radius_b=0.0, margin=np.inf):
    """Counts (n,), points (n, 2, 5) and ids (n, 2, 2) of pairs of cores (n, k, 2)."""
    n, ka, kb = len(a), a.shape[1], b.shape[1]
    start = np.concatenate([ka * np.arange(n), ka * n + kb * np.arange(n + 1)])
    pairs = np.stack([np.arange(n), n + np.arange(n)], axis=1)
    radius = np.repeat([radius_a, radius_b], n).astype(float)
    points, ids, counts = np.full((2 * n, 5), np.nan), np.full(2 * n, -1), np.zeros(n, np.int64)
    sides = np.vstack([with_normals(a), with_normals(b)])
    flat_manifolds(sides, start, radius, pairs, np.array(offset, float), margin, points, ids, counts)
    return counts, points.reshape(n, 2, 5), np.stack([ids // SPAN, ids % SPAN], axis=1).reshape(n, 2, 2)


def turned(core, angle):
    c, s = np.cos(angle), np.sin(angle)
    return core @ np.moveaxis(np.array([[c, s], [-s, c]]), (0, 1), (-2, -1))


def convex(rng, n, k):
    """n random convex cores of k vertices, counterclockwise: points of a stretched circle."""
    angle = 2.0 * np.pi / k * (np.arange(k) + rng.uniform(0.0, 0.8, (n, k)))
    core = np.stack([np.cos(angle), rng.uniform(0.3, 1.0, (n, 1)) * np.sin(angle)], axis=-1)
    return turned(core, rng.uniform(0.0, 7.0, n))


def around(rng, n, low, high):
    """Offsets (n, 2) in all directions, lengths between two."""
    angle, far = rng.uniform(0.0, 2.0 * np.pi, n), rng.uniform(low, high, n)
    return np.stack([far * np.cos(angle), far * np.sin(angle)], axis=1)


def to_segments(points, core):
    """Least distance of points (n, m, 2) from the sides of cores (n, k, 2)."""
    start, along = core[:, None], (np.roll(core, -1, axis=1) - core)[:, None]
    away = points[:, :, None] - start
    length = np.maximum((along**2).sum(axis=-1), 1e-300)
    share = np.clip((away * along).sum(axis=-1) / length, 0.0, 1.0)
    return np.linalg.norm(away - share[..., None] * along, axis=-1).min(axis=(1, 2))


def separation(a, b):
    """Greatest separation of two cores along a normal of a side: less than 0 where they overlap."""
    normals = [with_normals(core).reshape(len(core), -1, 4)[..., 2:] for core in (a, b) if core.shape[1] > 1]
    normal = np.concatenate([normals[0], *(-other for other in normals[1:])], axis=1)
    if a.shape[1] == 1:
        normal = -normal
    return ((normal @ b.swapaxes(1, 2)).min(axis=2) - (normal @ a.swapaxes(1, 2)).max(axis=2)).max(axis=1)


def true_distance(a, b):
    """Signed distance of cores of which one at least has three vertices."""
    apart = separation(a, b)
    return np.where(apart > 0.0, np.minimum(to_segments(a, b), to_segments(b, a)), apart)


def check_geometry(a, b, points, counts, radius_a, radius_b):
    """Normals separate best; each point has a place of both cores at its ends; the least gap is that of the pair."""
    for k in range(2):
        some = counts > k
        point, normal, gap = points[some, k, :2], points[some, k, 2:4], points[some, k, 4]
        assert np.abs(np.linalg.norm(normal, axis=1) - 1.0).max(initial=0.0) < TOLERANCE
        on_a = point - (radius_a + 0.5 * gap)[:, None] * normal
        on_b = point + (radius_b + 0.5 * gap)[:, None] * normal
        assert to_segments_each(on_a, a[some]).max(initial=0.0) < TOLERANCE
        assert to_segments_each(on_b, b[some]).max(initial=0.0) < TOLERANCE
    normal = points[:, 0, 2:4, None]
    apart = (b @ normal).min(axis=(1, 2)) - (a @ normal).max(axis=(1, 2))
    least = np.nanmin(points[..., 4], axis=1)
    assert np.abs(apart - radius_a - radius_b - least).max() < TOLERANCE


def to_segments_each(point, core):
    return to_segments(point[:, None], core) if len(point) else np.zeros(0)


@pytest.mark.parametrize(("ka", "kb"), [(3, 3), (4, 4), (5, 5), (3, 8), (2, 5), (5, 2), (1, 6), (6, 1), (12, 4)])
def test_gaps_are_true_distances(ka, kb):
    rng, n = np.random.default_rng(10 * ka + kb), 8000
    a, b = convex(rng, n, ka), convex(rng, n, kb)
    offset = around(rng, n, 0.2, 2.5)
    counts, points, _ = manifolds(a, b, offset, 0.1, 0.05)
    assert (counts >= 1).all()
    there = b + offset[:, None]
    assert np.abs(np.nanmin(points[..., 4], axis=1) + 0.15 - true_distance(a, there)).max() < TOLERANCE
    check_geometry(a, there, points, counts, 0.1, 0.05)


def nearly_parallel(rng, n, ka, kb):
    """Regular polygons, a side of one opposite a side of the other: angles and gaps from 1 down to rounding, or 0."""
    size_a, size_b = rng.uniform(0.5, 1.0, n), rng.uniform(0.5, 1.0, n)
    tiny = lambda: rng.choice([-1.0, 0.0, 1.0], n) * 10.0 ** rng.uniform(-17.0, -0.5, n)  # noqa: E731
    base = [2.0 * np.pi * np.arange(k) / k + np.pi / k for k in (ka, kb)]
    a, b = (np.stack([np.cos(angle), np.sin(angle)], axis=1) for angle in base)
    heading, tilt = rng.uniform(0.0, 7.0, n), tiny()
    apart = size_a * np.cos(np.pi / ka) + size_b * np.cos(np.pi / kb) + tiny()
    beside = np.where(rng.random(n) < 0.3, tiny(), rng.uniform(-1.0, 1.0, n))
    c, s = np.cos(heading), np.sin(heading)
    offset = np.stack([c * apart - s * beside, s * apart + c * beside], axis=1)
    a = turned(size_a[:, None, None] * a, heading)
    return a, turned(size_b[:, None, None] * b, heading + np.pi + tilt), offset, tilt


@pytest.mark.parametrize(("ka", "kb"), [(4, 4), (5, 5), (3, 4), (8, 8), (4, 7)])
def test_nearly_parallel_sides(ka, kb):
    """Distances are exact there too, and sides parallel to 1e-6 with a common extent touch at two points."""
    rng, n = np.random.default_rng(ka + kb), 8000
    a, b, offset, tilt = nearly_parallel(rng, n, ka, kb)
    counts, points, _ = manifolds(a, b, offset, 0.0, 0.1)
    there = b + offset[:, None]
    assert np.abs(np.nanmin(points[..., 4], axis=1) + 0.1 - true_distance(a, there)).max() < TOLERANCE
    check_geometry(a, there, points, counts, 0.0, 0.1)
    normal = points[:, 0, 2:4]
    tangent = np.stack([-normal[:, 1], normal[:, 0]], axis=1)
    (low_a, high_a), (low_b, high_b) = (facing_extent(a, normal, tangent), facing_extent(there, -normal, tangent))
    common = np.minimum(high_a, high_b) - np.maximum(low_a, low_b)
    parallel = (np.abs(tilt) < 1e-6) & (np.nanmin(points[..., 4], axis=1) > -0.2) & (common > 1e-5)
    assert parallel.sum() > 1000
    assert (counts[parallel] == 2).all()
    wide = np.linalg.norm(points[parallel, 1, :2] - points[parallel, 0, :2], axis=1)
    assert np.abs(wide - common[parallel]).max() < 1e-5


def facing_extent(core, normal, tangent):
    """Ends along the tangent of the vertices that lie farthest along the normal, to 1e-5."""
    up, along = (core @ normal[..., None])[..., 0], (core @ tangent[..., None])[..., 0]
    far = up > up.max(axis=1, keepdims=True) - 1e-5
    return np.where(far, along, np.inf).min(axis=1), np.where(far, along, -np.inf).max(axis=1)


def test_segments():
    """Capsules in all positions; also in one line, where the sides tell nothing of the distance."""
    rng, n = np.random.default_rng(3), 8000
    a, b, offset = convex(rng, n, 2), convex(rng, n, 2), around(rng, n, 0.1, 3.0)
    crossing = separation(a, b + offset[:, None]) <= 0.0
    counts, points, _ = manifolds(a, b, offset, 0.2, 0.3)
    there = b + offset[:, None]
    assert np.abs(np.nanmin(points[..., 4], axis=1) + 0.5 - true_distance(a, there)).max() < TOLERANCE
    assert 100 < crossing.sum() < n - 100
    check_geometry(a, there, points, counts, 0.2, 0.3)
    line = np.array([[[-1.0, 0.0], [1.0, 0.0]]])
    heading = rng.uniform(0.0, 7.0, 500)
    ahead = np.stack([np.cos(heading), np.sin(heading)], axis=1)
    one = turned(np.repeat(line, 500, axis=0), heading)
    counts, points, _ = manifolds(one, one, 2.7 * ahead, 0.2, 0.3)
    assert (counts == 1).all()
    assert np.abs(points[:, 0, 4] - 0.2).max() < TOLERANCE
    assert np.abs(points[:, 0, 2:4] - ahead).max() < TOLERANCE
    counts, points, _ = manifolds(one, one, 0.5 * ahead, 0.2, 0.3)
    assert np.abs(np.nanmin(points[..., 4], axis=1) + 0.5).max() < TOLERANCE


def test_points():
    """Two disks, and two in one place, where any normal is right."""
    point = np.zeros((2, 1, 2))
    counts, points, ids = manifolds(point, point, [[0.3, 0.4], [0.0, 0.0]], 0.1, 0.2)
    assert counts.tolist() == [1, 1]
    assert points[0, 0] == pytest.approx([0.6 * 0.2, 0.8 * 0.2, 0.6, 0.8, 0.2], abs=1e-15)
    assert points[1, 0, 4] == -0.1 - 0.2
    assert np.linalg.norm(points[1, 0, 2:4]) == 1.0
    assert ids[:, 0].tolist() == [[0, 0], [0, 0]]


def test_overlap_is_the_least_way_out():
    """The distance of the origin from the boundary of the Minkowski difference, by Qhull."""
    rng, n = np.random.default_rng(5), 400
    a, b, offset = convex(rng, n, 5), convex(rng, n, 4), around(rng, n, 0.0, 0.5)
    _, points, _ = manifolds(a, b, offset)
    for k in range(n):
        hull = ConvexHull((b[k] + offset[k] - a[k][:, None]).reshape(-1, 2))
        if (hull.equations[:, 2] < 0.0).all():
            assert np.nanmin(points[k, :, 4]) == pytest.approx(hull.equations[:, 2].max(), abs=TOLERANCE)


def test_swapped_bodies():
    """The normal turns around; points, gaps and ids stay, ids with their halves swapped."""
    rng, n = np.random.default_rng(6), 4000
    for a, b, offset in ((convex(rng, n, 5), convex(rng, n, 4), around(rng, n, 0.5, 2.2)), *parallel_pairs(rng, n)):
        counts, points, ids = manifolds(a, b, offset, 0.1, 0.2, margin=0.3)
        again, others, swapped = manifolds(b, a, -offset, 0.2, 0.1, margin=0.3)
        assert np.array_equal(counts, again)
        others[..., :2] += offset[:, None]
        others[..., 2:4] *= -1.0
        for k in np.flatnonzero(counts):
            mine = {tuple(i): p for i, p in zip(ids[k, : counts[k]].tolist(), points[k])}
            theirs = {(j, i): p for (i, j), p in zip(swapped[k, : counts[k]].tolist(), others[k])}
            assert mine.keys() == theirs.keys()
            assert all(np.abs(mine[i] - theirs[i]).max() < 1e-11 for i in mine)


def parallel_pairs(rng, n):
    a, b, offset, tilt = nearly_parallel(rng, n, 4, 5)
    some = np.abs(tilt) < 1e-12  # there the two bodies tie, and either may lend its side
    yield a[some], b[some], offset[some]


def test_turning_and_shifting_all_changes_nothing():
    rng, n = np.random.default_rng(7), 4000
    a, b, offset, angle = convex(rng, n, 5), convex(rng, n, 3), around(rng, n, 0.5, 2.2), rng.uniform(0.0, 7.0, n)
    counts, points, ids = manifolds(a, b, offset, 0.1, 0.2, margin=0.3)
    shift = rng.uniform(-1.0, 1.0, (n, 1, 2))  # centres elsewhere in the bodies
    a_turned, b_turned = turned(a - shift, angle), turned(b + shift, angle)
    offset_turned = turned((offset - 2.0 * shift[:, 0])[:, None], angle)[:, 0]
    again, others, same = manifolds(a_turned, b_turned, offset_turned, 0.1, 0.2, margin=0.3)
    assert np.array_equal(counts, again)
    assert np.array_equal(ids, same)
    back = np.concatenate([turned(others[..., k : k + 2], -angle) for k in (0, 2)] + [others[..., 4:]], axis=-1)
    back[..., :2] += shift
    assert np.nanmax(np.abs(back - points)) < TOLERANCE


def test_ids_do_not_know_the_reference():
    """A square on a square, tilted a little either way: the side of one or of the other is the reference."""
    tilt = np.array([-1e-3, -1e-9, 0.0, 1e-9, 1e-3])
    lower, upper = np.repeat(SQUARE[None], 5, axis=0), turned(np.repeat(0.8 * SQUARE[None], 5, axis=0), tilt)
    found = []
    for shift in (-0.3, 0.0, 0.3):  # a corner of the lower one above, or of the upper one below
        counts, _, ids = manifolds(lower, upper, np.repeat([[shift, 0.9]], 5, axis=0), margin=0.1)
        assert (counts == 2).all()
        found.append({frozenset(map(tuple, row.tolist())) for row in ids})
    assert found[0] == found[1] == found[2] == {frozenset({(2, 1), (3, 0)})}


@pytest.mark.parametrize("gap", [-1e-3, 0.0, 1e-17, 1e-9, 0.25])
@pytest.mark.parametrize("shift", [0.0, 1e-17, -1e-9, 0.25])
def test_aligned_squares_touch_at_corners(gap, shift):
    """Also where both are equally wide, or all but, and whatever the gap: two points, exactly there."""
    counts, points, _ = manifolds(SQUARE[None], SQUARE[None], [[shift, 1.0 + gap]])
    assert counts[0] == 2
    corners = [max(-0.5, -0.5 + shift), min(0.5, 0.5 + shift)]
    assert sorted(points[0, :, 0]) == pytest.approx(corners, abs=1e-16)  # the last bit
    assert points[0, :, 1] == pytest.approx(0.5 + 0.5 * gap, abs=1e-16)
    assert points[0, :, 2:4].tolist() == [[0.0, 1.0]] * 2
    assert points[0, :, 4] == pytest.approx(gap, abs=2e-16)


def test_margin():
    """Points beyond the margin are left out, one by one; the bound that remains is below the gap."""
    upper = turned(SQUARE[None], np.array([0.01]))
    offset = [[0.0, 1.1]]
    gaps = sorted(manifolds(SQUARE[None], upper, offset)[1][0, :, 4])
    assert gaps[0] < gaps[1]
    for margin, count in ((gaps[0] - 1e-6, 0), (0.5 * sum(gaps), 1), (gaps[1] + 1e-6, 2)):
        assert manifolds(SQUARE[None], upper, offset, margin=margin)[0][0] == count
