"""Wall shapes: gaps and normals of planes, plates, tubes, rods and cones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree
from support.builders import RIGHT, UP

from rigidgrains.model.shapes import Cone, Cylinder, Plane, Plate

Z = np.array([0.0, 0.0, 1.0])


# Wall shapes


def gaps(shape, centres, radius):
    n = len(centres)
    return shape.gaps(np.arange(n, dtype=np.int32), np.ascontiguousarray(centres), np.full(n, radius))


def check_closest(shape, centres, radius, on_surface, samples):
    """The foot of n lies on the surface, and no sampled surface point is nearer: so it is the closest point."""
    gap, normal = gaps(shape, centres, radius)
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1.0, rtol=1e-12)
    distance = gap + radius
    assert (distance > 0.0).all()
    assert on_surface(centres + distance[:, None] * normal).all()
    nearest, _ = cKDTree(samples).query(centres)
    assert (nearest >= distance - 1e-9).all()
    assert (nearest <= distance + 0.2).all()  # the samples are dense enough to mean something


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def frame(rng):
    """A random right-handed orthonormal frame: rows a, b, c."""
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return (q * np.sign(np.linalg.det(q))).T


def test_plane_gap(rng):
    """g = (x - p).N - r, and n = -N points from the grain to the wall; behind the plane the gap is an overlap."""
    normal, point, centres = frame(rng)[0], rng.normal(size=3), rng.normal(size=(50, 3)) * 3.0
    gap, n = gaps(Plane(point, normal), centres, 0.4)
    np.testing.assert_allclose(gap, (centres - point) @ normal - 0.4, atol=1e-13)
    np.testing.assert_allclose(n, np.tile(-normal, (50, 1)), atol=1e-15)


def test_plate_gap(rng):
    """Faces, edges and corners of a plate, from both sides."""
    normal, along, across = frame(rng)
    across = np.cross(normal, along)
    point, half = rng.normal(size=3), (1.0, 0.6)
    a, b = np.meshgrid(np.linspace(-1.0, 1.0, 81), np.linspace(-0.6, 0.6, 49))
    samples = point + a.reshape(-1, 1) * along + b.reshape(-1, 1) * across
    centres = point + rng.uniform(-2.0, 2.0, (400, 3))

    def on_plate(x):
        x = x - point
        inside = (np.abs(x @ along) <= 1.0 + 1e-9) & (np.abs(x @ across) <= 0.6 + 1e-9)
        return inside & (np.abs(x @ normal) < 1e-9)

    check_closest(Plate(point, normal, along, half), centres, 0.3, on_plate, samples)


def test_plate_analytic_edge_and_corner():
    """3-4-5 and 1-2-2 triangles beside the edge and the corner."""
    plate = Plate(np.zeros(3), UP, RIGHT, (1.0, 0.5))
    gap, n = gaps(plate, np.array([[4.0, 4.0, 0.0], [0.0, -2.0, 0.2], [2.0, 2.0, 2.5]]), 1.0)
    np.testing.assert_allclose(gap, [4.0, 1.0, 2.0], atol=1e-14)
    np.testing.assert_allclose(n, [[-0.6, -0.8, 0.0], [0.0, 1.0, 0.0], [-1 / 3, -2 / 3, -2 / 3]], atol=1e-14)


def cylinder_samples(point, axis, side, radius, half, *, caps):
    other = np.cross(axis, side)
    turn, h = np.meshgrid(np.linspace(0, 2 * np.pi, 181), np.linspace(-half, half, 81))
    ring = np.cos(turn.reshape(-1, 1)) * side + np.sin(turn.reshape(-1, 1)) * other
    mantle = point + radius * ring + h.reshape(-1, 1) * axis
    if not caps:
        return mantle
    turn, rho = np.meshgrid(np.linspace(0, 2 * np.pi, 181), np.linspace(0, radius, 41))
    disc = rho.reshape(-1, 1) * (np.cos(turn.reshape(-1, 1)) * side + np.sin(turn.reshape(-1, 1)) * other)
    return np.vstack([mantle, point + disc + half * axis, point + disc - half * axis])


def test_finite_tube_is_a_shell(rng):
    """To the thin shell of an open tube from inside and beside it; beyond its ends to the rim."""
    axis, side, _ = frame(rng)
    point, radius, half = rng.normal(size=3), 2.0, 1.5
    h = rng.uniform(-2.5, 2.5, 400)
    rho = rng.uniform(0.0, 3.0, 400)
    turn = rng.uniform(0, 2 * np.pi, 400)
    ring = np.cos(turn)[:, None] * side + np.sin(turn)[:, None] * np.cross(axis, side)
    centres = point + h[:, None] * axis + rho[:, None] * ring

    def on_tube(x):
        x = x - point
        height = x @ axis
        rim = np.linalg.norm(x - height[:, None] * axis, axis=1)
        return (np.abs(rim - radius) < 1e-9) & (np.abs(height) <= half + 1e-9)

    samples = cylinder_samples(point, axis, side, radius, half, caps=False)
    check_closest(Cylinder(point, axis, radius, True, half), centres, 0.3, on_tube, samples)


@pytest.mark.parametrize("radii", [(0.7, 2.0), (2.0, 0.7), (0.0, 1.5)])
def test_a_cone_is_a_shell(rng, radii):
    """From inside and outside to the slanted line between the circles; beyond its ends to the rims."""
    axis, side, _ = frame(rng)
    point, half = rng.normal(size=3), 1.5
    centres = point + rng.uniform(-3.0, 3.0, (500, 3))
    turn, share = (grid.reshape(-1, 1) for grid in np.meshgrid(np.linspace(0, 2 * np.pi, 181), np.linspace(0, 1, 91)))
    ring = np.cos(turn) * side + np.sin(turn) * np.cross(axis, side)
    samples = point + (radii[0] + share * (radii[1] - radii[0])) * ring + (2.0 * share - 1.0) * half * axis

    def on_cone(x):
        height = (x - point) @ axis
        rho = np.linalg.norm(x - point - height[:, None] * axis, axis=1)
        wide = np.interp(height, [-half, half], radii)
        return (np.abs(rho - wide) < 1e-9) & (np.abs(height) <= half + 1e-9)

    check_closest(Cone(point, axis, radii, half), centres, 0.3, on_cone, samples)


def test_a_cone_by_a_triangle():
    """A slope of 3 in 4: 5 off its middle outside, 2 below the lower rim, and a centre on the surface itself."""
    cone = Cone(np.zeros(3), Z, (1.0, 7.0), 4.0)
    gap, n = gaps(cone, np.array([[8.0, 0.0, -3.0], [-1.0, 0.0, -6.0], [0.0, 4.0, 0.0]]), 1.0)
    np.testing.assert_allclose(gap, [4.0, 1.0, -1.0], atol=1e-14)
    np.testing.assert_allclose(n, [[-0.8, 0.0, 0.6], [0.0, 0.0, 1.0], [0.0, 0.8, -0.6]], atol=1e-14)


def test_rod_gap_outside_with_rim_and_caps(rng):
    """From outside to the side, the rim or a flat end of a rod."""
    axis, side, _ = frame(rng)
    point, radius, half = rng.normal(size=3), 1.0, 0.8
    centres = point + rng.uniform(-2.5, 2.5, (500, 3))
    height = (centres - point) @ axis
    rho = np.linalg.norm(centres - point - height[:, None] * axis, axis=1)
    centres = centres[(rho > radius + 0.01) | (np.abs(height) > half + 0.01)]

    def on_rod(x):
        x = x - point
        height = x @ axis
        rho = np.linalg.norm(x - height[:, None] * axis, axis=1)
        mantle = (np.abs(rho - radius) < 1e-9) & (np.abs(height) <= half + 1e-9)
        return mantle | ((np.abs(np.abs(height) - half) < 1e-9) & (rho <= radius + 1e-9))

    samples = cylinder_samples(point, axis, side, radius, half, caps=True)
    check_closest(Cylinder(point, axis, radius, False, half), centres, 0.3, on_rod, samples)


def test_infinite_cylinder_signs():
    """Beyond the surface the gap goes on below -r: an overlap, with the same normal."""
    tube, rod = (Cylinder(np.zeros(3), Z, 2.0, inside, np.inf) for inside in (True, False))
    gap, n = gaps(tube, np.array([[1.0, 0, 7.0], [2.5, 0, -3.0]]), 0.5)
    np.testing.assert_allclose(gap, [0.5, -1.0], atol=1e-15)
    np.testing.assert_allclose(n, [RIGHT, RIGHT], atol=1e-15)
    gap, n = gaps(rod, np.array([[3.0, 0, 7.0], [1.5, 0, -3.0]]), 0.5)
    np.testing.assert_allclose(gap, [0.5, -1.0], atol=1e-15)
    np.testing.assert_allclose(n, [-RIGHT, -RIGHT], atol=1e-15)


@pytest.mark.parametrize("inside", [True, False])
def test_grain_on_the_axis_has_a_unit_normal(inside):
    """The degenerate place has some normal across the axis, in the plane for an axis along z."""
    gap, n = gaps(Cylinder(np.zeros(3), Z, 2.0, inside, np.inf), np.zeros((1, 3)), 0.5)
    assert gap[0] == (1.5 if inside else -2.5)
    assert np.linalg.norm(n[0]) == pytest.approx(1.0)
    assert n[0, 2] == 0.0
