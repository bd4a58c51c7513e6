"""Volume, centre and inertia of rounded parts against closed forms and quadrature."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rigidgrains.shapes.hull import make_part
from rigidgrains.shapes.mass import NOTHING, ball_sector, disk_sector, part_moments
from rigidgrains.shapes.union import chord, moments_of

R = 0.3
LENGTHS = np.array([1.0, 2.0, 3.0])
CORNERS = np.stack(np.meshgrid(*3 * [[-0.5, 0.5]]), axis=-1).reshape(-1, 3)


def rotation(seed):
    """A random proper rotation."""
    q = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    return q * np.sign(np.linalg.det(q))


def check(part, dimension, volume, centre, tensor):
    moments = part_moments(part, dimension)
    found, inertia = moments.inertia(dimension)
    assert moments.volume == pytest.approx(volume, rel=1e-13)
    assert found == pytest.approx(centre, abs=1e-12)
    assert inertia == pytest.approx(np.array(tensor), rel=1e-12, abs=1e-12)


def test_ball_and_disk():
    volume = 4.0 / 3.0 * math.pi * R**3
    check(make_part([[1, 2, 3]], dimension=3, rounding=R), 3, volume, [1, 2, 3], 0.4 * volume * R**2 * np.eye(3))
    area = math.pi * R**2
    check(make_part([[1, 2]], dimension=2, rounding=R), 2, area, [1, 2, 0], np.diag([0, 0, 0.5 * area * R**2]))


@pytest.mark.parametrize("seed", range(3))
def test_capsule(seed):
    """A cylinder and two half balls, whose centres lie 3/8 of the radius outside of its ends."""
    turn, length, centre = rotation(seed), 1.7, np.array([5.0, -3.0, 2.0])
    cylinder, ball = math.pi * R**2 * length, 4.0 / 3.0 * math.pi * R**3
    around = 0.5 * cylinder * R**2 + 0.4 * ball * R**2
    across = cylinder * (length**2 / 12.0 + 0.25 * R**2)
    across += ball * (0.4 * R**2 - (3.0 / 8.0 * R) ** 2 + (0.5 * length + 3.0 / 8.0 * R) ** 2)
    ends = centre + np.array([[-0.5 * length, 0, 0], [0.5 * length, 0, 0]]) @ turn.T
    tensor = turn @ np.diag([around, across, across]) @ turn.T
    check(make_part(ends, dimension=3, rounding=R), 3, cylinder + ball, centre, tensor)


def test_flat_capsule():
    """A rectangle and two half disks, whose centres lie 4/(3 pi) of the radius outside of its ends."""
    length, aside = 1.7, 4.0 / (3.0 * math.pi) * R
    strip, disk = 2.0 * R * length, math.pi * R**2
    inertia = strip * (length**2 + 4.0 * R**2) / 12.0
    inertia += disk * (0.5 * R**2 - aside**2 + (0.5 * length + aside) ** 2)
    part = make_part([[2.0, 1.0], [2.0, 1.0 + length]], dimension=2, rounding=R)
    check(part, 2, strip + disk, [2.0, 1.0 + 0.5 * length, 0.0], np.diag([0, 0, inertia]))


def second_of_rounded_box(k):
    """Integral of x_k^2 over a rounded cuboid, by its slices across k: in the middle rounded rectangles, and in the
    caps rectangles rounded by sqrt(R^2 - s^2), s the height above the core."""
    a, b = np.delete(LENGTHS, k)
    full = a * b + 2.0 * (a + b) * R + math.pi * R**2
    node, weight = np.polynomial.legendre.leggauss(60)
    angle, weight = 0.25 * math.pi * (node + 1.0), 0.25 * math.pi * weight
    s, r = R * np.sin(angle), R * np.cos(angle)
    slices = a * b + 2.0 * (a + b) * r + math.pi * r**2
    cap = (weight * r * slices * (0.5 * LENGTHS[k] + s) ** 2).sum()
    return full * LENGTHS[k] ** 3 / 12.0 + 2.0 * cap


@pytest.mark.parametrize("seed", range(3))
def test_rounded_box(seed):
    turn, centre = rotation(seed), np.array([3.0, 1.0, -2.0])
    a, b, c = LENGTHS
    volume = a * b * c + 2.0 * R * (a * b + b * c + c * a) + math.pi * R**2 * (a + b + c) + 4.0 / 3.0 * math.pi * R**3
    square = np.array([second_of_rounded_box(k) for k in range(3)])
    tensor = turn @ np.diag(square.sum() - square) @ turn.T
    check(make_part(centre + (LENGTHS * CORNERS) @ turn.T, dimension=3, rounding=R), 3, volume, centre, tensor)


def test_rounded_square():
    """The square, four strips and four quarter disks."""
    side, aside = 1.4, 4.0 / (3.0 * math.pi) * R
    inertia = side**4 / 6.0
    inertia += 4.0 * side * R * ((side**2 + R**2) / 12.0 + (0.5 * (side + R)) ** 2)
    quarter = 0.25 * math.pi * R**2
    inertia += 4.0 * quarter * (0.5 * R**2 - 2.0 * aside**2 + 2.0 * (0.5 * side + aside) ** 2)
    corner = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * 0.5 * side @ rotation_2(0.7) + [4, 5]
    area = side**2 + 4.0 * side * R + math.pi * R**2
    check(make_part(corner, dimension=2, rounding=R), 2, area, [4, 5, 0], np.diag([0, 0, inertia]))


def rotation_2(angle):
    return np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])


def test_tetrahedron():
    """Corner at the origin, legs a, b, c: the integral of x^2 is a^2/10 of the volume, that of xy ab/20."""
    a, b, c = LENGTHS
    moments = part_moments(make_part([[0, 0, 0], [a, 0, 0], [0, b, 0], [0, 0, c]], dimension=3), 3)
    assert moments.volume == pytest.approx(a * b * c / 6.0, rel=1e-14)
    assert moments.first == pytest.approx(LENGTHS / 4.0, rel=1e-13)
    assert moments.second == pytest.approx((np.outer(LENGTHS, LENGTHS) + np.diag(LENGTHS**2)) / 20.0, rel=1e-13)


def by_chords(part, dimension, count):
    """Moments of a part by midpoints: from its chords along so many lines, at even distances across each axis."""
    low, high = part.vertices.min(axis=0) - part.rounding, part.vertices.max(axis=0) + part.rounding
    grids = [low[k] + (high[k] - low[k]) / count * (np.arange(count) + 0.5) for k in range(dimension - 1)]
    place = np.zeros((count ** (dimension - 1), 3))
    for k, grid in enumerate(np.meshgrid(*grids, indexing="ij")):
        place[:, k] = grid.ravel()
    cell = np.prod((high - low)[: dimension - 1] / count)
    begin, end = chord(part, place, dimension - 1, dimension)
    some, up = end > begin, np.eye(3)[dimension - 1]
    begin, end, place = begin[some], end[some], place[some]
    zeroth, first, second = ((end ** (k + 1) - begin ** (k + 1)) / (k + 1) * cell for k in range(3))
    square = (place * zeroth[:, None]).T @ place + np.outer(first @ place, up) + np.outer(up, first @ place)
    return zeroth.sum(), zeroth @ place + first.sum() * up, square + second.sum() * np.outer(up, up)


@pytest.mark.parametrize("seed", range(3))
def test_irregular_hull(seed):
    """Every piece is of another size; the oracle knows none of them."""
    points = np.random.default_rng(seed).normal([1, 2, 3], 1.0, (9, 3))
    part = make_part(points, dimension=3, rounding=0.5)
    found, oracle = part_moments(part, 3), by_chords(part, 3, 300)
    for ours, theirs in zip(found, oracle):
        assert ours == pytest.approx(theirs, rel=1e-4, abs=2e-4 * oracle[0])


def test_irregular_polygon():
    angle = np.array([0.1, 0.9, 2.5, 3.0, 5.1])
    part = make_part(np.stack([1 + 2 * np.cos(angle), 2 + np.sin(angle)], axis=1), dimension=2, rounding=0.4)
    for ours, theirs in zip(part_moments(part, 2), by_chords(part, 2, 200_000)):
        assert ours == pytest.approx(theirs, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_ball_sectors_of_an_irregular_hull(seed):
    """Gauss quadrature over the triangles into which the normals of a vertex are cut, to all digits."""
    part = make_part(np.random.default_rng(seed).normal(size=(12, 3)), dimension=3, rounding=1.0)
    total = NOTHING
    for v in range(len(part.vertices)):
        found, area, first, second = ball_sector(part, part.vertices, v), 0.0, np.zeros(3), np.zeros((3, 3))
        normals = part.normals[[f for f, loop in enumerate(part.faces) if v in loop]]
        axis = normals.sum(axis=0)
        right = np.cross(axis, [0.3, 0.5, 0.7])
        up = np.cross(axis, right)
        normals = normals[
            np.argsort(np.arctan2(normals @ up / np.linalg.norm(up), normals @ right / np.linalg.norm(right)))
        ]
        for k in range(1, len(normals) - 1):
            u, weight = on_spherical_triangle(normals[0], normals[k], normals[k + 1])
            area, first, second = area + weight.sum(), first + weight @ u, second + (u * weight[:, None]).T @ u
        assert found.volume == pytest.approx(area / 3.0, abs=1e-12)
        assert found.first == pytest.approx(first / 4.0, abs=1e-12)
        assert found.second == pytest.approx(second / 5.0, abs=1e-12)
        total = total.plus(found)
    assert total.volume == pytest.approx(4.0 / 3.0 * math.pi, rel=1e-13)  # together a ball
    assert total.second == pytest.approx(4.0 / 15.0 * math.pi * np.eye(3), abs=1e-13)


@pytest.mark.parametrize("angle", [1e-3, 0.7, 2.0, math.pi])
def test_disk_sectors(angle):
    """Gauss quadrature over the angle, in a tilted plane."""
    across, along, axis = rotation(5).T
    node, weight = np.polynomial.legendre.leggauss(40)
    phi, weight = 0.5 * angle * (node + 1.0), 0.5 * angle * weight
    u = np.cos(phi)[:, None] * across + np.sin(phi)[:, None] * along
    found = disk_sector(u_at(across, along, 0.0), u_at(across, along, angle), axis, R)
    assert found.volume == pytest.approx(0.5 * R**2 * angle, rel=1e-12)
    assert found.first == pytest.approx(R**3 / 3.0 * (weight @ u), abs=1e-14)
    assert found.second == pytest.approx(R**4 / 4.0 * (u * weight[:, None]).T @ u, abs=1e-14)


def u_at(across, along, angle):
    return math.cos(angle) * across + math.sin(angle) * along


def on_spherical_triangle(a, b, c):
    """Gauss points and weights: points of the flat triangle, thrown onto the sphere, in pieces for sharp corners."""
    node, weight = np.polynomial.legendre.leggauss(24)
    node, weight = 0.5 * (node + 1.0), 0.5 * weight
    x, y = np.meshgrid(node, node, indexing="ij")
    places, weights = [], []
    for p, q, r in quartered(a, b, c, 2):
        flat = p + x[..., None] * (q - p) + (x * y)[..., None] * (r - q)
        far = np.linalg.norm(flat, axis=-1)
        places.append((flat / far[..., None]).reshape(-1, 3))
        weights.append((np.outer(weight * node, weight) * abs(np.linalg.det([p, q, r])) / far**3).ravel())
    return np.concatenate(places), np.concatenate(weights)


def quartered(a, b, c, times):
    if times == 0:
        return [(a, b, c)]
    d, e, f = ((x + y) / np.linalg.norm(x + y) for x, y in ((a, b), (b, c), (c, a)))
    return [t for some in ((a, d, f), (d, b, e), (f, e, c), (d, e, f)) for t in quartered(*some, times - 1)]


def test_two_spheres_count_their_lens_once():
    """The lens of two unit spheres at a distance d has the volume pi (2 - d)^2 (d^2 + 4 d)/(12 d)."""
    for d in (0.5, 1.0, 1.9):
        parts = [make_part([[x, 0, 0]], dimension=3, rounding=1.0) for x in (0.0, d)]
        lens = math.pi * (2.0 - d) ** 2 * (d**2 + 4.0 * d) / (12.0 * d)
        found = moments_of(parts, 3, "union")
        assert found.volume == pytest.approx(8.0 / 3.0 * math.pi - lens, abs=2e-5 * lens)
        assert found.first == pytest.approx([0.5 * d * found.volume, 0, 0], abs=1e-5)
        assert moments_of(parts, 3, "parts").volume == pytest.approx(8.0 / 3.0 * math.pi, rel=1e-14)


def test_two_disks_count_their_lens_once():
    """Two circular segments of the angle 2 acos(d/2)."""
    d = 1.2
    parts = [make_part([[0, y]], dimension=2, rounding=1.0) for y in (0.0, d)]
    lens = 2.0 * math.acos(0.5 * d) - 0.5 * d * math.sqrt(4.0 - d**2)
    assert moments_of(parts, 2, "union").volume == pytest.approx(2.0 * math.pi - lens, rel=1e-8)


@pytest.mark.parametrize("dimension", [2, 3])
def test_crossing_boxes(dimension):
    """A cross of three bars, and what is common to all three, count once."""
    corners = np.unique(2.0 * CORNERS[:, :dimension], axis=0)
    corners = corners[[0, 2, 3, 1]] if dimension == 2 else corners
    bars = [corners * (1.0 + 2.0 * np.eye(dimension)[k]) for k in range(dimension)]
    found = moments_of([make_part(bar, dimension=dimension) for bar in bars], dimension, "union")
    cube = 2.0**dimension
    assert found.volume == pytest.approx(cube * (1.0 + 2.0 * dimension), rel=1e-12)
    # a cube at the origin and one at distance 2 on each half axis
    each = cube / 3.0
    assert found.second == pytest.approx(
        np.eye(3)[:, :dimension] @ np.eye(3)[:dimension] * (each * (1.0 + 2.0 * dimension) + 2.0 * cube * 4.0),
        rel=1e-12,
        abs=1e-12,
    )


def test_parts_that_only_touch_are_exact():
    parts = [make_part([[x, 0, 0]], dimension=3, rounding=1.0) for x in (0.0, 2.0)]
    ball = 4.0 / 3.0 * math.pi
    _, inertia = moments_of(parts, 3, "union").inertia(3)
    assert np.diag(inertia) == pytest.approx(2.0 * ball * np.array([0.4, 1.4, 1.4]), rel=1e-13)
