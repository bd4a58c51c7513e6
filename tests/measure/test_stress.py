"""Stress against walls and from outside, fabric, anisotropies and force networks of known worlds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders import RIGHT, UP, column, floor, grains, settle, triangular
from support.frames import CUBIC, FEW, SQUARE, TRIANGULAR, cube, fan, lattice, pressed, still, tumult

from rigidgrains import measure

UNIFORM = pressed(lattice(CUBIC, 3), force=5.0)


def test_stress_of_a_column():
    """The k-th contact from the top carries k m g, over branches of 2 r and at last r: sum r m g n^2."""
    n, r, m, g = 6, 0.5, 2.0, 10.0
    for dimension in (2, 3):
        simulation = settle(column(n, radius=r, mass=m, g=g, dimension=dimension))
        sigma = measure.stress(simulation, volume=7.0)
        expected = np.zeros((dimension, dimension))
        expected[1, 1] = r * m * g * n**2 / 7.0
        np.testing.assert_allclose(sigma.contact, expected, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(sigma.kinetic, 0.0, atol=1e-12)
        assert sigma.pressure == pytest.approx(expected[1, 1] / dimension)
        np.testing.assert_allclose(np.abs(sigma.directions[0]), np.eye(dimension)[1], atol=1e-12)
        each = measure.grain_stress(simulation)
        k = n - np.arange(n)
        np.testing.assert_allclose(each.contact[:, 1, 1] * each.volume, r * m * g * (2 * k - 1), rtol=1e-9)
        np.testing.assert_allclose(np.tensordot(each.volume, each.contact, 1) / 7.0, sigma.contact, rtol=1e-12)


def test_stress_against_wall_forces():
    """A box under pistons at rest: contact stress = force on each wall over its area, to 1e-6."""
    load = [36.0, 72.0, 18.0]
    simulation = settle(cube(load), steps=2)
    sigma, force = measure.stress(simulation).total, measure.of(simulation).wall_force
    np.testing.assert_allclose(np.diag(sigma), np.array(load) / 36.0, rtol=1e-6)
    for a in range(3):
        np.testing.assert_allclose(force[2 * a + 1, a] / 36.0, sigma[a, a], rtol=1e-6)
        np.testing.assert_allclose(-force[2 * a, a] / 36.0, sigma[a, a], rtol=1e-6)
    np.testing.assert_allclose(measure.boundary_stress(simulation), sigma, atol=1e-9)


@FEW
@given(shift=st.tuples(*[st.floats(-1.0, 1.0)] * 3))
def test_stress_of_a_lattice_cell(shift):
    """Three contacts of force f and length 2 in a cell of 2^3, wherever it is cut: f/4 each way."""
    low = np.array(shift)
    sigma = measure.stress(UNIFORM, box=measure.Box(low, low + 2.0))
    np.testing.assert_allclose(sigma.total, np.eye(3) * 5.0 / 4.0, atol=1e-12)
    assert sigma.pressure == pytest.approx(1.25)
    assert sigma.deviator == pytest.approx(0.0, abs=1e-12)


def test_principal_stresses():
    """Given ones, turned: they come back in falling order with their directions."""
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    given_ = np.array([2.0, 7.0, 4.0])
    sigma = measure.Stress(turn @ np.diag(given_) @ turn.T, np.zeros((3, 3)), 1.0)
    np.testing.assert_allclose(sigma.principal, [7.0, 4.0, 2.0], rtol=1e-12)
    for direction, axis in zip(sigma.directions, (1, 2, 0)):
        assert abs(direction @ turn[:, axis]) == pytest.approx(1.0)
    s = given_ - given_.mean()
    assert sigma.deviator == pytest.approx(math.sqrt(1.5 * (s @ s)))
    triaxial = measure.Stress(np.diag([1.0, 4.0, 1.0]), np.zeros((3, 3)), 1.0)
    assert (triaxial.pressure, triaxial.deviator) == pytest.approx((2.0, 3.0))


def test_stress_under_a_piston_in_the_plane():
    """Smooth walls: load over width, and wall forces over their areas. Rough ones: their friction at its places too."""
    height = 2.0 + 3.0 * math.sqrt(3.0)
    simulation = settle(triangular(4, 5, load=20.0), steps=3)
    sigma, force = measure.stress(simulation), measure.of(simulation).wall_force
    assert sigma.contact[1, 1] == pytest.approx(20.0 / 10.0, rel=1e-6)
    assert sigma.contact[1, 1] == pytest.approx(force[3, 1] / 10.0, rel=1e-6)
    assert sigma.contact[0, 0] == pytest.approx(force[2, 0] / height, rel=1e-6)
    s_1, s_2 = sigma.principal
    assert sigma.deviator == pytest.approx(0.5 * (s_1 - s_2))
    assert sigma.pressure == pytest.approx(0.5 * (s_1 + s_2))
    simulation = settle(triangular(4, 5, mu=0.3, load=20.0, g=1.0), steps=3)
    inside = measure.stress(simulation).contact
    np.testing.assert_allclose(measure.boundary_stress(simulation), inside, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("dimension", [2, 3])
def test_stress_from_outside_in_motion(dimension):
    """Walls, weights and accelerations give the contact stress at every step, to rounding."""
    for frame in tumult(dimension)[1:]:
        inside, outside = measure.stress(frame, volume=1.0).contact, measure.boundary_stress(frame, volume=1.0)
        scale = float(np.abs(frame.contacts.force).sum())
        assert scale > 10.0
        np.testing.assert_allclose(outside, inside, atol=1e-9 * scale)


def test_kinetic_stress_of_a_gas():
    """Grains with velocities +-(a, b, c) have m N v v/V, and what moves with the flow has none."""
    v = np.array([3.0, -1.0, 2.0])
    velocity = np.array([v, -v, v, -v])
    frame = still(np.arange(12).reshape(4, 3), velocity=velocity + 7.0 * RIGHT, mass=0.5)
    np.testing.assert_allclose(measure.stress(frame, volume=8.0).kinetic, 0.5 * 4 * np.outer(v, v) / 8.0, rtol=1e-14)
    assert measure.stress(frame, volume=8.0).pressure == pytest.approx(0.5 * 4 * 14.0 / 3.0 / 8.0)
    moving = measure.stress(frame, volume=8.0, flow=frame.velocity)
    np.testing.assert_array_equal(moving.kinetic, 0.0)
    assert measure.grain_stress(frame).kinetic.shape == (4, 3, 3)


def test_fabric_of_lattices():
    for basis, dimension in ((TRIANGULAR, 2), (SQUARE, 2), (CUBIC, 3)):
        # contacts of one grain with all its neighbours: every direction of the lattice once or twice
        sites = lattice(basis, 1)
        near = sites[np.abs(np.linalg.norm(sites, axis=1) - 2.0) < 1e-9]
        links = [(0, k, x / 2.0, x) for k, x in enumerate(near, start=1)]
        frame = still([[0, 0, 0], *near], dimension=dimension, links=links)
        np.testing.assert_allclose(measure.fabric(frame), np.eye(dimension) / dimension, atol=1e-15)
    chain = pressed([[2.0 * k, 0, 0] for k in range(5)], dimension=2)
    np.testing.assert_allclose(measure.fabric(chain), np.diag([1.0, 0.0]), atol=1e-15)
    np.testing.assert_array_equal(measure.fabric(still([0, 0, 0])), np.zeros((3, 3)))


def test_random_normals_are_isotropic():
    rng, n = np.random.default_rng(1), 20_000
    normal = rng.normal(size=(n, 3))
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    frame = fan(normal, normal, 3)
    # variance of n_x^2 is 1/5 - 1/9, of n_x n_y 1/15
    np.testing.assert_allclose(measure.fabric(frame), np.eye(3) / 3.0, atol=5.0 * math.sqrt(4.0 / 45.0 / n))
    flat = measure.orientation_histogram(frame, 10)
    np.testing.assert_allclose(flat.density, 1.0, atol=5.0 * math.sqrt(9.0 / n))
    assert flat.density @ np.diff(flat.edges) == pytest.approx(1.0)


def test_histogram_of_directions_in_the_plane():
    angle = np.deg2rad([1.0, 2.0, 91.0, 181.0, 359.0, 180.0])  # 181 is 1, 359 is 179, 180 is 0
    normal = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    found = measure.orientation_histogram(fan(normal, normal, 2), 18)
    count = np.rint(found.density * 6 * np.diff(found.edges)).astype(int)
    assert count[1:9].sum() + count[10:17].sum() == 0
    assert count[0] + count[17] == 5
    assert count[9] == 1


A_C, A_N, A_T, F = 0.3, 0.4, 0.2, 5.0


def test_anisotropies_in_the_plane():
    """Orientations at equal steps of their distribution, forces by the formulas: the three numbers come back."""
    share = (np.arange(4000) + 0.5) / 4000
    theta = 2.0 * np.pi * share
    for _ in range(30):  # the distribution function is (theta + a_c/2 sin 2 theta)/(2 pi)
        theta -= (theta + 0.5 * A_C * np.sin(2 * theta) - 2 * np.pi * share) / (1.0 + A_C * np.cos(2 * theta))
    turned = theta + 0.7
    zero = np.zeros_like(theta)
    n = np.stack([np.cos(turned), np.sin(turned), zero], axis=1)
    t = np.stack([-np.sin(turned), np.cos(turned), zero], axis=1)
    force = F * ((1.0 + A_N * np.cos(2 * theta))[:, None] * n - A_T * np.sin(2 * theta)[:, None] * t)
    found = measure.anisotropy(fan(n, force, 2))
    np.testing.assert_allclose([found.a_c, found.a_n, found.a_t, found.mean_force], [A_C, A_N, A_T, F], rtol=1e-5)
    assert abs(found.direction @ [math.cos(0.7), math.sin(0.7)]) == pytest.approx(1.0)
    across = measure.anisotropy(fan(n, force, 2), along=[-math.sin(0.7), math.cos(0.7)])
    assert across.a_c == pytest.approx(-A_C, rel=1e-5)
    assert found.deviator_over_pressure == pytest.approx(0.45, rel=1e-5)


def test_anisotropies_in_space():
    share = (np.arange(2000) + 0.5) / 2000
    c = 2.0 * share - 1.0  # the distribution function of the cosine is (1 + c + a_c (c^3 - c))/2
    for _ in range(30):
        c -= (1 + c + A_C * (c**3 - c) - 2 * share) / (1 + A_C * (3 * c**2 - 1))
    c, phi = (array.ravel() for array in np.meshgrid(c, np.arange(5) * 2.0 * np.pi / 5))
    s = np.sqrt(1 - c * c)
    n = np.stack([s * np.cos(phi), c, s * np.sin(phi)], axis=1)
    t = np.stack([c * np.cos(phi), -s, c * np.sin(phi)], axis=1)
    force = F * ((1.0 + A_N * (3 * c**2 - 1))[:, None] * n - A_T * (2 * s * c)[:, None] * t)
    found = measure.anisotropy(fan(n, force, 3))
    np.testing.assert_allclose([found.a_c, found.a_n, found.a_t, found.mean_force], [A_C, A_N, A_T, F], rtol=1e-5)
    assert abs(found.direction[1]) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="no direction"):
        measure.anisotropy(fan(n, force, 3), along=[0, 0, 0])


def test_networks_share_the_stress():
    """Forces 1, 1, 1, 5 along x: the mean is 2, one contact is strong and carries 5/8 of the pressure."""
    x = np.array([1.0, 0.0, 0.0])
    frame = fan([x] * 4, [x, x, x + 0.3 * UP, 5.0 * x], 2)
    found = measure.networks(frame, volume=2.0)
    assert (found.strong.share, found.weak.share) == (0.25, 0.75)
    assert (found.strong.pressure, found.weak.pressure) == (0.625, 0.375)
    both = found.strong.stress + found.weak.stress
    np.testing.assert_allclose(both, measure.stress(frame, volume=2.0).contact, rtol=1e-14)
    assert found.strong.stress[0, 0] == 5.0 * 2.0 / 2.0
    np.testing.assert_array_equal(found.weak.fabric, np.diag([1.0, 0.0]))
    forces = measure.force_distribution(frame, [0.0, 1.0, 2.0])
    assert (forces.mean, forces.weak) == (2.0, 0.75)
    np.testing.assert_allclose(forces.density, [0.75, 0.0])
    assert forces.tail == pytest.approx(1.0 / 1.5)


def test_exponential_forces():
    """Quantiles of exp(-f): beta = 1, and 1 - 1/e of the contacts are weak."""
    share = (np.arange(5000) + 0.5) / 5000
    x = np.array([1.0, 0.0, 0.0])
    found = measure.force_distribution(fan([x] * 5000, -np.log(share)[:, None] * x, 2), 12, highest=3.0)
    assert found.tail == pytest.approx(1.0, rel=2e-3)
    assert found.weak == pytest.approx(1.0 - 1.0 / math.e, abs=1e-3)
    exact = (np.exp(-found.edges[:-1]) - np.exp(-found.edges[1:])) / np.diff(found.edges)
    np.testing.assert_allclose(found.density, exact, rtol=1e-2)


def test_sliding_fraction():
    """On a slope a disk that slips is a sliding contact, one that rolls is not; without friction all slide."""
    for mu, slope, sliding in ((0.1, 0.8, 1.0), (0.9, 0.3, 0.0), (0.0, 0.3, 1.0)):
        bodies = grains(
            [0, 1, 0],
            dimension=2,
            friction=mu,
            walls=[floor()],
            gravity=[10 * math.sin(slope), -10 * math.cos(slope), 0],
        )
        assert measure.sliding_fraction(settle(bodies, steps=3)) == sliding
    assert measure.sliding_fraction(still([0, 0, 0])) == 0.0
