"""The matrices of one contact: H, M, M_c, and the contact rows that stand for them."""

from __future__ import annotations

import numpy as np
import pytest
from support.builders import UP, floor, grains, plane, prepare
from support.kernels import apply_forces, sweep

from rigidgrains.model.shapes import Cylinder
from rigidgrains.model.walls import Drive, Wall
from rigidgrains.simulation import integrate

DT = 0.01
Z = np.array([0.0, 0.0, 1.0])


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def cross_matrix(l):  # noqa: E741  (the paper's letter)
    """(l x): the matrix that takes the cross product with l."""
    return np.array([[0.0, -l[2], l[1]], [l[2], 0.0, -l[0]], [-l[1], l[0], 0.0]])


def h_matrix(l0, l1):
    """H (12, 3): from the contact force to forces and torques on both bodies, Eq. (RgRcon)."""
    return np.vstack([-np.eye(3), -cross_matrix(l0), np.eye(3), cross_matrix(l1)])


def inverse_mass(m0, i0, m1, i1):
    """M^-1 (12, 12), Eq. (generalized-M), for spherical moments of inertia."""
    return np.diag(np.repeat([1.0 / m0, 1.0 / i0, 1.0 / m1, 1.0 / i1], 3))


def unit(v):
    return v / np.linalg.norm(v)


def engine_velocity(problem, c=0):
    """V of a contact as the kernel sees it: R changes by -M_c V/dt where nothing clips it."""
    geometry, forces = problem.geometry.copy(), np.zeros((problem.count, 4))
    n, m_n, m_t = geometry[c, :3], geometry[c, 4], geometry[c, 5]
    geometry[c, 3], geometry[c, 6] = 0.0, np.inf
    forces[c, 0] = 100.0 * m_n / problem.dt  # keeps R_n positive
    before = forces[c].copy()
    sweep(np.array([c], np.int32), problem.motion.copy(), problem.pairs, geometry, forces, problem.dt)
    change = before - forces[c]
    return problem.dt * (change[0] / m_n * n + change[1:] / m_t)


def engine_response(problem, force, c=0):
    """Change of V when a contact force (3,) acts over the step: M_c^-1 R dt, by the kernel's own scatter."""
    before = engine_velocity(problem, c)
    n = problem.geometry[c, :3]
    forces = np.zeros((problem.count, 4))
    forces[c, 0] = force @ n
    forces[c, 1:] = force - forces[c, 0] * n
    apply_forces(problem.motion, problem.pairs, problem.geometry, forces, problem.dt)
    return engine_velocity(problem, c) - before


def test_h_carries_force_to_the_bodies_and_velocity_to_the_contact(rng):
    """R = H R_c is Eq. (generalized-R); V_c = H^T V is Eq. (contact-veloc)."""
    l0, l1, force, v0, w0, v1, w1 = rng.normal(size=(7, 3))
    h = h_matrix(l0, l1)
    expected = np.concatenate([-force, -np.cross(l0, force), force, np.cross(l1, force)])
    np.testing.assert_allclose(h @ force, expected, atol=1e-14)
    contact = v1 + np.cross(w1, l1) - (v0 + np.cross(w0, l0))
    np.testing.assert_allclose(h.T @ np.concatenate([v0, w0, v1, w1]), contact, atol=1e-14)


def test_power_identity(rng):
    """V.R of the bodies is V_c.R_c of the contact: constraint forces do the work of the contact alone."""
    l0, l1, force = rng.normal(size=(3, 3))
    generalized = rng.normal(size=12)
    h = h_matrix(l0, l1)
    assert generalized @ (h @ force) == pytest.approx((h.T @ generalized) @ force, rel=1e-13)


def test_closed_form_of_the_inverse_mass(rng):
    """Eq. (invM2) is Eq. (invM1), for any levers."""
    for _ in range(10):
        l0, l1 = rng.normal(size=(2, 3))
        m0, i0, m1, i1 = rng.uniform(0.1, 5.0, 4)
        h = h_matrix(l0, l1)
        full = h.T @ inverse_mass(m0, i0, m1, i1) @ h
        closed = (1.0 / m0 + 1.0 / m1 + l0 @ l0 / i0 + l1 @ l1 / i1) * np.eye(3)
        closed -= np.outer(l0, l0) / i0 + np.outer(l1, l1) / i1
        np.testing.assert_allclose(full, closed, rtol=1e-12, atol=1e-13)


def test_levers_along_the_normal_do_not_couple(rng):
    """Eq. (MinvR): with both levers along n, M_c^-1 is 1/m_n along n and 1/m_t across."""
    n = unit(rng.normal(size=3))
    m0, i0, m1, i1, r0, r1 = rng.uniform(0.1, 5.0, 6)
    h = h_matrix(r0 * n, -r1 * n)
    full = h.T @ inverse_mass(m0, i0, m1, i1) @ h
    w_n = 1.0 / m0 + 1.0 / m1
    w_t = w_n + r0**2 / i0 + r1**2 / i1
    np.testing.assert_allclose(full, w_t * np.eye(3) + (w_n - w_t) * np.outer(n, n), rtol=1e-12, atol=1e-12)


def test_an_offset_lever_couples():
    """A lever (l_n, l_t) beside the normal couples by w_nt = -l_n l_t / I."""
    l_n, l_t, i0 = 0.8, 0.3, 0.5
    h = h_matrix(np.array([l_n, l_t, 0.0]), np.array([-1.0, 0.0, 0.0]))
    full = h.T @ inverse_mass(1.0, i0, 2.0, 0.8) @ h
    assert full[0, 1] == pytest.approx(-l_n * l_t / i0, rel=1e-13)
    assert full[0, 0] == pytest.approx(1.0 + 0.5 + l_t**2 / i0, rel=1e-13)


@pytest.mark.parametrize("dimension", [2, 3])
def test_rows_of_two_grains(rng, dimension):
    """m_n, m_t, contact velocity and response of a grain pair against H and M written out."""
    n = unit(np.array([1.0, 2.0, 0.0 if dimension == 2 else -0.5]))
    r, m = np.array([0.7, 1.4]), np.array([1.3, 0.4])
    inertia = (0.5 if dimension == 2 else 0.4) * m * r**2
    v, w = rng.normal(size=(2, 2, 3)) * 0.1
    if dimension == 2:
        v[:, 2], w[:, :2] = 0.0, 0.0
    bodies = grains([[0, 0, 0], r.sum() * n], r, m, dimension=dimension, velocity=v, spin=w)
    problem = prepare(bodies, DT)
    assert problem.count == 1
    i, j = problem.pairs[0]
    n = n if i == 0 else -n
    np.testing.assert_allclose(problem.geometry[0, :3], n, atol=1e-14)
    h = h_matrix(r[i] * n, -r[j] * n)
    full = h.T @ inverse_mass(m[i], inertia[i], m[j], inertia[j]) @ h
    m_n, m_t = problem.geometry[0, 4:6]
    across = np.cross(n, Z) if dimension == 2 else unit(np.cross(n, UP))
    assert 1.0 / m_n == pytest.approx(n @ full @ n, rel=1e-12)
    assert 1.0 / m_t == pytest.approx(across @ full @ across, rel=1e-12)
    expected = h.T @ np.concatenate([v[i], w[i], v[j], w[j]])
    np.testing.assert_allclose(engine_velocity(problem), expected, atol=1e-11)
    force = 2.0 * n + 3.0 * across
    np.testing.assert_allclose(engine_response(problem, force), full @ force * DT, atol=1e-11)


def test_free_velocity_and_gap_prediction():
    """U = V + H^T M^-1 F dt, Eq. (discr-free-veloc); g changes by V_n dt, Eq. (gap-change)."""
    gap, force = 0.2, np.array([[3.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    v = np.array([[0.5, 0.0, 0.0], [-0.25, 0.0, 0.0]])
    bodies = grains([[0, 0, 0], [2 + gap, 0, 0]], 1.0, [2.0, 4.0], velocity=v, force=force, gravity=[0, -9, 0])
    dt = 0.5
    problem = prepare(bodies, dt)
    u_n = -0.75 + (-0.25 - 1.5) * dt
    np.testing.assert_allclose(engine_velocity(problem), [u_n, 0.0, 0.0], atol=1e-12)
    assert problem.geometry[0, 7] == pytest.approx(gap, rel=1e-12)
    integrate.move(bodies, dt)
    assert bodies.position[1, 0] - bodies.position[0, 0] - 2.0 == pytest.approx(gap + u_n * dt, rel=1e-12)


@pytest.mark.parametrize(("dimension", "k"), [(2, 2.0), (3, 2.5)])
def test_rows_of_a_plane(dimension, k):
    """Against a fixed plane: m_n = m and 1/m_t = 1/m + r^2/I, with no term of the wall."""
    problem = prepare(grains([[0, 1, 0]], 1.0, 3.0, dimension=dimension, walls=[floor()]), DT)
    np.testing.assert_allclose(problem.geometry[0, :3], [0, -1, 0])
    assert problem.geometry[0, 4] == pytest.approx(3.0)
    assert problem.geometry[0, 5] == pytest.approx(3.0 / (1.0 + k))


def test_rows_of_a_piston():
    """A piston gives way along its normal only: 1/m_n = 1/m + 1/M, and m_t as for a fixed plane."""
    piston = plane([0, 0, 0], UP, "piston", mass=5.0)
    problem = prepare(grains([[0, 1, 0]], 1.0, 3.0, walls=[piston]), DT)
    full = np.diag([1 / 3 + 2.5 / 3, 1 / 3 + 1 / 5, 1 / 3 + 2.5 / 3])
    assert problem.geometry[0, 4] == pytest.approx(1.0 / full[1, 1])
    assert problem.geometry[0, 5] == pytest.approx(1.0 / full[0, 0])
    for force in np.eye(3):
        np.testing.assert_allclose(engine_response(problem, force), full @ force * DT, atol=1e-13)


def test_two_contacts_of_a_piston_do_not_couple_sideways():
    """Friction of one grain on the piston leaves the sideways contact velocity of another alone."""
    piston = plane([0, 0, 0], UP, "piston", mass=5.0)
    problem = prepare(grains([[0, 1, 0], [5, 1, 0]], 1.0, 3.0, walls=[piston]), DT)
    before = engine_velocity(problem, 1)
    engine_response(problem, np.array([7.0, 11.0, -4.0]), 0)
    np.testing.assert_allclose(engine_velocity(problem, 1) - before, [0.0, 11.0 / 5.0 * DT, 0.0], atol=1e-13)


@pytest.mark.parametrize("inside", [True, False])
def test_drum_is_a_body_with_a_signed_lever(rng, inside):
    """V from the turning surface equals v1 - v0 - (lever0 w0 + lever1 w1) x n; for a drum felt inside it is -R."""
    big, r, turn = 4.0, 0.5, np.array([0.0, 0.0, 1.7])
    v, w = rng.normal(size=(2, 3)) * 0.1
    direction = np.array([0.6, -0.8, 0.0])
    centre = (big - r if inside else big + r) * direction
    drive = Drive(spin=turn, velocity=np.array([0.05, 0.0, 0.02]))
    drum = Wall("drum", Cylinder(np.zeros(3), Z, big, inside, np.inf), drive=drive)
    problem = prepare(grains([centre], r, 2.0, velocity=v, spin=w, walls=[drum]), DT)
    n = direction if inside else -direction
    np.testing.assert_allclose(problem.geometry[0, :3], n, atol=1e-14)
    lever = -big if inside else big
    expected = drive.velocity - v - np.cross(r * w + lever * turn, n)
    np.testing.assert_allclose(engine_velocity(problem), expected, atol=1e-11)
    assert problem.geometry[0, 4] == pytest.approx(2.0)  # I = infinity, m = infinity
    assert problem.geometry[0, 5] == pytest.approx(2.0 / 3.5)


def test_each_element_of_a_drum_moves_with_its_place():
    """Several contacts of one drum: each surface element has the velocity spin x radius of its own place."""
    big, r, turn = 4.0, 0.5, 2.0
    angle = np.array([0.1, 1.3, 2.9, 4.4])
    direction = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    drum = Wall("drum", Cylinder(np.zeros(3), Z, big, True, np.inf), drive=Drive(spin=turn * Z))
    problem = prepare(grains((big - r) * direction, r, 1.0, walls=[drum]), DT)
    assert problem.count == 4
    for c in range(4):
        i = problem.pairs[c, 0]
        np.testing.assert_allclose(engine_velocity(problem, c), turn * big * np.cross(Z, direction[i]), atol=1e-11)
