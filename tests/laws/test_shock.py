"""The one-contact shock law: Signorini, Coulomb, and what one contact update does to two bodies."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, inf, isfinite, sqrt

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.kernels import sweep

from rigidgrains.laws.shock import general_shock_law, shock_law

law = settings(deadline=None, derandomize=True, max_examples=80)
forces = st.floats(-1e6, 1e6, allow_nan=False)
coefficients = st.floats(0.0, 10.0)


# The sphere form on scalars


@law
@given(forces, st.floats(0.0, 1e12), coefficients)
def test_signorini_only_repulsion(r_n, r_tt, mu):
    """R_n >= 0, zero exactly when the gap stays open on its own; otherwise the force that just closes it."""
    normal, _ = shock_law(r_n, r_tt, mu)
    assert normal == (r_n if r_n > 0.0 else 0.0)


@law
@given(forces, st.tuples(forces, forces), coefficients)
def test_coulomb_cone(r_n, r_t, mu):
    """|R_t| <= mu R_n: unchanged inside the cone, on its surface outside, direction always kept."""
    normal, factor = shock_law(r_n, r_t[0] ** 2 + r_t[1] ** 2, mu)
    length, limit = hypot(*r_t), mu * max(r_n, 0.0)
    assert 0.0 <= factor <= 1.0
    if normal == 0.0:
        assert factor == 0.0
    elif length < limit * (1.0 - 1e-12):
        assert factor == 1.0
    elif length > limit * (1.0 + 1e-12) and length > 1e-150:
        assert factor * length == pytest.approx(limit, rel=1e-12)


@law
@given(forces, st.floats(0.0, 1e6), coefficients)
def test_projection_is_idempotent(r_n, r_t, mu):
    """A force that obeys the law is left alone."""
    normal, factor = shock_law(r_n, r_t * r_t, mu)
    tangential = factor * r_t
    again, second = shock_law(normal, tangential * tangential, mu)
    assert again == normal
    assert second * tangential == pytest.approx(tangential, rel=1e-12)


def test_frictionless_and_infinite_friction():
    """mu = 0 leaves no tangential force; mu = infinity always sticks."""
    assert shock_law(2.0, 9.0, 0.0) == (2.0, 0.0)
    assert shock_law(2.0, 9.0, inf) == (2.0, 1.0)


def test_border_of_the_cone_sticks():
    """At |R_t| = mu R_n the contact still sticks; just beyond it slides."""
    assert shock_law(4.0, 4.0, 0.5) == (4.0, 1.0)
    assert shock_law(4.0, 4.0 + 1e-12, 0.5)[1] < 1.0


# One update of a contact between two bodies


@dataclass
class Pair:
    """Two spheres about to touch, and the outcome of the update."""

    mass: np.ndarray
    radius: np.ndarray
    inertia: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    spin: np.ndarray
    normal: np.ndarray
    gap: float
    mu: float
    dt: float

    def __post_init__(self):
        self.m_n = 1.0 / (1.0 / self.mass).sum()  # Eq. (m-n)
        self.m_t = 1.0 / (1.0 / self.m_n + (self.radius**2 / self.inertia).sum())  # Eq. (m-t)

    def contact_velocity(self, velocity, spin):
        """Eq. (contact-veloc)."""
        l0, l1 = self.radius[0] * self.normal, -self.radius[1] * self.normal
        return velocity[1] + np.cross(spin[1], l1) - velocity[0] - np.cross(spin[0], l0)

    def update(self, guess=None):
        """Force (3,) and the new velocities and spins from one update; a guess is a force already in the velocities."""
        motion = np.empty((2, 8))
        motion[:, 0:3], motion[:, 3:6] = self.velocity, self.spin * self.radius[:, None]
        motion[:, 6], motion[:, 7] = 1.0 / self.mass, self.radius**2 / self.inertia
        geometry = np.array([[*self.normal, self.gap, self.m_n, self.m_t, self.mu, self.gap]])
        stored = np.zeros((1, 4))
        if guess is not None:
            stored[0, 0] = guess @ self.normal
            stored[0, 1:] = guess - stored[0, 0] * self.normal
            motion[:, 0:3] += np.array([[-1.0], [1.0]]) * guess * self.dt / self.mass[:, None]
            torque = np.cross(self.normal, guess)  # lever x R: -l0 x R on body 0, l1 x R on body 1
            motion[:, 3:6] -= self.dt * (self.radius**2 / self.inertia)[:, None] * torque
        sweep(np.zeros(1, np.int32), motion, np.array([[0, 1]], np.int32), geometry, stored, self.dt)
        force = stored[0, 0] * self.normal + stored[0, 1:]
        return force, motion[:, 0:3].copy(), motion[:, 3:6] / self.radius[:, None]

    def scale(self):
        """A force of the size of everything that happens here."""
        return self.m_n / self.dt * (np.abs(self.velocity).sum() + np.abs(self.spin).sum() * self.radius.max() + 1.0)


def sphere_shock(pair):
    """Eq. (sphere-shock), word for word, from the free velocity U."""
    free = pair.contact_velocity(pair.velocity, pair.spin)
    u_n = pair.normal @ free
    u_t = free - u_n * pair.normal
    if u_n * pair.dt + pair.gap > 0.0:
        return np.zeros(3), "no contact"
    r_n = -pair.m_n / pair.dt * (pair.gap / pair.dt + u_n)
    r_t = -pair.m_t / pair.dt * u_t
    length = np.linalg.norm(r_t)
    if length > pair.mu * r_n:
        return r_n * pair.normal + pair.mu * r_n * r_t / length, "sliding"
    return r_n * pair.normal + r_t, "sticking"


def vectors(bound):
    return st.tuples(*[st.floats(-bound, bound)] * 3).map(np.array)


open_gaps = st.floats(0.0, 0.05)


@st.composite
def pairs(draw, gaps=open_gaps):
    """Two spheres with random masses, radii, moments of inertia, motion, normal, gap and friction."""
    normal = draw(vectors(1.0).filter(lambda n: np.linalg.norm(n) > 0.1))
    normal = normal / np.linalg.norm(normal)
    sizes = st.tuples(st.floats(0.1, 10.0), st.floats(0.1, 10.0)).map(np.array)
    mass, radius, gap = draw(sizes), draw(sizes), draw(gaps)
    inertia = draw(st.floats(0.2, 0.9)) * mass * radius**2
    origin = draw(vectors(5.0))
    position = np.array([origin, origin + (radius.sum() + gap) * normal])
    velocity = np.array([draw(vectors(5.0)), draw(vectors(5.0))])
    spin = np.array([draw(vectors(5.0)), draw(vectors(5.0))])
    mu = draw(st.sampled_from([0.0, 0.1, 0.5, 2.0, 1e3]))
    return Pair(mass, radius, inertia, position, velocity, spin, normal, gap, mu, draw(st.floats(1e-3, 1e-1)))


@law
@given(pairs())
def test_update_is_the_sphere_scheme(pair):
    """One update gives the force of Eq. (sphere-shock)."""
    expected, _ = sphere_shock(pair)
    force, _, _ = pair.update()
    np.testing.assert_allclose(force, expected, atol=1e-10 * pair.scale())


@law
@given(pairs(), vectors(10.0))
def test_update_forgets_the_old_force(pair, guess):
    """A force carried over changes nothing for a lone contact: it is contained in V and taken out again."""
    force, velocity, spin = pair.update()
    again, velocity_again, spin_again = pair.update(guess)
    size = pair.scale() + np.abs(guess).sum()
    np.testing.assert_allclose(again, force, atol=1e-9 * size)
    np.testing.assert_allclose(velocity_again, velocity, atol=1e-9 * size * pair.dt / pair.mass.min())
    np.testing.assert_allclose(spin_again, spin, atol=1e-9 * size * pair.dt * (pair.radius / pair.inertia).max())


@law
@given(pairs())
def test_momentum_and_angular_momentum(pair):
    """Action and reaction: momentum is kept; angular momentum too, but for the couple g n x R_t of an open gap."""
    force, velocity, spin = pair.update()

    def momentum(v):
        return pair.mass @ v

    def angular_momentum(v, w):
        return pair.mass @ np.cross(pair.position, v) + pair.inertia @ w

    size = pair.scale() * pair.dt
    np.testing.assert_allclose(momentum(velocity), momentum(pair.velocity), atol=1e-11 * size)
    np.testing.assert_allclose(pair.mass[1] * (velocity[1] - pair.velocity[1]), force * pair.dt, atol=1e-11 * size)
    change = angular_momentum(velocity, spin) - angular_momentum(pair.velocity, pair.spin)
    couple = pair.gap * np.cross(pair.normal, force) * pair.dt
    np.testing.assert_allclose(change, couple, atol=1e-10 * size * 20.0)


@law
@given(pairs())
def test_energy_is_never_created(pair):
    """With g_pos the shock law is dissipative."""

    def energy(v, w):
        return 0.5 * (pair.mass @ (v**2).sum(axis=1) + pair.inertia @ (w**2).sum(axis=1))

    _, velocity, spin = pair.update()
    before = energy(pair.velocity, pair.spin)
    assert energy(velocity, spin) <= before + 1e-11 * (before + 1.0)


@law
@given(pairs(gaps=st.floats(-0.05, -1e-3)))
def test_negative_gap_pushes_apart(pair):
    """With g an overlap is closed within the step: V_n = -g/dt, and no slower."""
    _, velocity, spin = pair.update()
    v_n = pair.normal @ pair.contact_velocity(velocity, spin)
    assert v_n * pair.dt + pair.gap >= -1e-11


@law
@given(pairs())
def test_signorini_after_the_update(pair):
    """The predicted gap g + V_n dt and R_n are both >= 0, and one of them is zero."""
    force, velocity, spin = pair.update()
    r_n = force @ pair.normal
    gap = pair.gap + pair.dt * pair.normal @ pair.contact_velocity(velocity, spin)
    assert r_n >= -1e-12 * pair.scale()
    assert gap >= -1e-12
    if r_n > 1e-9 * pair.scale():
        assert gap == pytest.approx(0.0, abs=1e-12)
    if gap > 1e-9:
        assert np.abs(force).max() == pytest.approx(0.0, abs=1e-12 * pair.scale())


@law
@given(pairs())
def test_coulomb_after_the_update(pair):
    """Sticking: V_t = 0. Sliding: |R_t| = mu R_n against V_t."""
    _, state = sphere_shock(pair)
    force, velocity, spin = pair.update()
    r_n = force @ pair.normal
    r_t = force - r_n * pair.normal
    v = pair.contact_velocity(velocity, spin)
    v_t = v - (v @ pair.normal) * pair.normal
    length, limit = np.linalg.norm(r_t), pair.mu * r_n
    assume(abs(length - limit) > 1e-9 * pair.scale() or state == "sliding")
    assert length <= limit + 1e-10 * pair.scale()
    speed = pair.scale() * pair.dt / pair.m_t
    if state == "sticking":
        np.testing.assert_allclose(v_t, 0.0, atol=1e-11 * speed)
    elif state == "sliding":
        assert length == pytest.approx(limit, abs=1e-10 * pair.scale())
        assert v_t @ r_t <= 1e-10 * speed * pair.scale()
        np.testing.assert_allclose(np.cross(v_t, r_t), 0.0, atol=1e-10 * speed * pair.scale())


# The general form


def matrix(w):
    return np.array([[w[0], w[1], w[2]], [w[1], w[3], w[4]], [w[2], w[4], w[5]]])


@st.composite
def coupled(draw):
    """A symmetric positive definite M_c^-1 of modest condition, as the six numbers of the general law."""
    entries = np.array(draw(st.lists(st.floats(-1.0, 1.0), min_size=9, max_size=9))).reshape(3, 3)
    full = entries @ entries.T + draw(st.floats(0.1, 1.0)) * np.eye(3)
    return (full[0, 0], full[0, 1], full[0, 2], full[1, 1], full[1, 2], full[2, 2])


speeds = st.tuples(*[st.floats(-3.0, 3.0)] * 3)
gaps = st.floats(0.0, 0.1)


@law
@given(gaps, speeds, st.floats(0.1, 10.0), st.floats(0.1, 10.0), st.sampled_from([0.1, 0.4, 2.0]))
def test_general_law_equals_sphere_law_without_coupling(gap, u, m_n, m_t, mu):
    """For M_c^-1 = diag(1/m_n, 1/m_t, 1/m_t) both laws give the same force."""
    dt = 0.05
    general = general_shock_law(gap, u, (1.0 / m_n, 0.0, 0.0, 1.0 / m_t, 0.0, 1.0 / m_t), mu, dt)
    r_1, r_2 = -m_t / dt * u[1], -m_t / dt * u[2]
    r_n, factor = shock_law(-m_n / dt * (gap / dt + u[0]), r_1 * r_1 + r_2 * r_2, mu)
    np.testing.assert_allclose(general, (r_n, factor * r_1, factor * r_2), rtol=1e-9, atol=1e-9)


@law
@given(gaps, speeds, coupled(), st.sampled_from([0.05, 0.3, 1.0, 5.0]))
def test_general_law_signorini_coulomb(gap, u, w, mu):
    """For any coupled M_c: Signorini, the cone, and friction against the slip."""
    dt = 0.05
    force = np.array(general_shock_law(gap, u, w, mu, dt))
    v = np.array(u) + matrix(w) @ force * dt  # Eq. (discr-contact-accel2)
    size = np.linalg.norm(force) + 1.0
    if gap / dt + u[0] >= 0.0:
        assert not force.any()
        return
    assert force[0] > 0.0
    assert v[0] + gap / dt == pytest.approx(0.0, abs=1e-9 * size)
    r_t, v_t = force[1:], v[1:]
    length, limit = np.linalg.norm(r_t), mu * force[0]
    assert length <= limit + 1e-9 * size
    if length < limit - 1e-8 * size:
        np.testing.assert_allclose(v_t, 0.0, atol=1e-9 * size)
    else:
        assert v_t @ r_t <= 1e-9 * size**2
        assert abs(v_t[0] * r_t[1] - v_t[1] * r_t[0]) <= 1e-9 * size**2


@law
@given(gaps, st.floats(0.1, 10.0), st.tuples(forces, forces), coupled())
def test_sticking_uses_the_full_matrix(gap, r_n, r_t, w):
    """Eq. (noslipRnew): R = -M_c [(g/dt + U_n) n + U_t]/dt when friction allows it; here U is made from R."""
    dt = 0.05
    expected = np.array([r_n, r_t[0] * 1e-5, r_t[1] * 1e-5])
    u = -matrix(w) @ expected * dt - np.array([gap / dt, 0.0, 0.0])
    assume(gap / dt + u[0] < -1e-6)
    mu = 1.01 * np.linalg.norm(expected[1:]) / r_n + 1e-6
    np.testing.assert_allclose(general_shock_law(gap, tuple(u), w, mu, dt), expected, rtol=1e-8, atol=1e-8)


def test_coupling_makes_friction_from_a_normal_push():
    """A contact pushed along n alone: with coupling, sticking needs R_t = -(w_nt/w_tt) R_n, and R_n grows for it."""
    w_nn, w_nt, w_tt, dt = 2.0, 0.6, 1.5, 0.1
    w = (w_nn, w_nt, 0.0, w_tt, 0.0, w_tt)
    r_n, r_1, r_2 = general_shock_law(0.0, (-1.0, 0.0, 0.0), w, 1.0, dt)
    assert r_n == pytest.approx(1.0 / dt / (w_nn - w_nt**2 / w_tt), rel=1e-12)
    assert r_1 == pytest.approx(-w_nt / w_tt * r_n, rel=1e-12)
    assert r_2 == 0.0


def test_sliding_with_coupling_recomputes_the_normal_force():
    """Plane problem: R_1 = -mu R_n against V_1 > 0, so w_nn R_n + w_nt R_1 = -U_n/dt gives R_n in closed form."""
    w_nn, w_nt, w_tt, mu, dt = 2.0, 0.6, 1.5, 0.2, 0.1
    r_n, r_1, _ = general_shock_law(0.0, (-1.0, 5.0, 0.0), (w_nn, w_nt, 0.0, w_tt, 0.0, w_tt), mu, dt)
    assert r_n == pytest.approx(1.0 / dt / (w_nn - mu * w_nt), rel=1e-9)
    assert r_1 == pytest.approx(-mu * r_n, rel=1e-9)
    assert r_n != pytest.approx(1.0 / dt / w_nn, rel=1e-3)  # what a law without coupling would say


@law
@given(gaps, speeds, coupled(), st.sampled_from([0.0, 1e-12]))
def test_frictionless_limit_of_the_general_law(gap, u, w, mu):
    """Without friction R = -(U_n + g/dt)/(w_nn dt) along n, whatever the coupling."""
    dt = 0.05
    r_n, r_1, r_2 = general_shock_law(gap, u, w, mu, dt)
    if gap / dt + u[0] >= 0.0:
        assert (r_n, r_1, r_2) == (0.0, 0.0, 0.0)
        return
    assert isfinite(r_n)
    assert r_n == pytest.approx(-(gap / dt + u[0]) / dt / w[0], rel=1e-9)
    assert sqrt(r_1**2 + r_2**2) <= 1e-9 * r_n
