"""The general shock law against a brute-force oracle that knows nothing of its method: it looks in every direction."""

from __future__ import annotations

import numpy as np
import pytest

from rigidgrains.laws.shock import general_shock_law, shock_law
from rigidgrains.runtime.compiled import kernel, law

shock = law(general_shock_law)
PACK = ((0, 0, 0, 1, 1, 2), (0, 1, 2, 1, 2, 2))


@kernel
def solve_all(u, w, mu, force):
    for i in range(len(u)):
        packed = (w[i, 0], w[i, 1], w[i, 2], w[i, 3], w[i, 4], w[i, 5])
        force[i, 0], force[i, 1], force[i, 2] = shock(0.0, (u[i, 0], u[i, 1], u[i, 2]), packed, mu[i], 1.0)


def solved(u, W, mu):
    force = np.empty_like(u)
    solve_all(u, np.ascontiguousarray(W[:, PACK[0], PACK[1]]), mu, force)
    return force


def random_cases(n, decades, seed=0):
    """Free velocities, W with eigenvalues over so many decades in random directions, mu from 0 to 10."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(n, 3, 3)))[0]
    W = np.einsum("nij,nj,nkj->nik", axes, 10.0 ** rng.uniform(-decades, 0.0, size=(n, 3)), axes)
    mu = np.where(rng.random(n) < 0.1, 0.0, rng.choice([1.0, 10.0], n) * rng.random(n))
    return rng.normal(size=(n, 3)), W, mu


def sliding_forces(u, W, mu, directions=240, halvings=60):
    """All sliding forces (n, directions, 3), NaN where there is none.

    Along t the force is R_n (1, mu t) with V_n = 0. It slides against t where t x V_t changes sign with V_t . t < 0.
    """
    angle = np.linspace(0.0, 2.0 * np.pi, directions + 1)

    def along(angle):
        t = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        share = W[:, None, 0, 0] + mu[:, None] * np.einsum("ni,nki->nk", W[:, 0, 1:], t)
        r_n = np.where(share > 0.0, -u[:, None, 0] / np.where(share > 0.0, share, 1.0), np.nan)
        force = np.concatenate([r_n[..., None], mu[:, None, None] * r_n[..., None] * t], axis=-1)
        v = u[:, None, 1:] + np.einsum("nij,nkj->nki", W[:, 1:], force)
        return force, t[..., 0] * v[..., 1] - t[..., 1] * v[..., 0], (t * v).sum(-1)

    grid = np.broadcast_to(angle, (len(u), directions + 1))
    _, cross, _ = along(grid)
    found = cross[:, :-1] * cross[:, 1:] <= 0.0
    low, high = grid[:, :-1].copy(), grid[:, 1:].copy()
    case, slot = np.nonzero(found)
    low, high, u, W, mu = low[case, slot], high[case, slot], u[case], W[case], mu[case]
    side = cross[case, slot]
    for _ in range(halvings):
        middle = 0.5 * (low + high)
        same = side * along(middle[:, None])[1][:, 0] > 0.0
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    force, _, slip = along(high[:, None])
    forces = np.full((*found.shape, 3), np.nan)
    forces[case, slot] = np.where(slip < 0.0, force[:, 0], np.nan)
    return forces


@pytest.mark.parametrize("seed", range(5))
def test_the_law_finds_a_force_of_the_oracle(seed):
    """1e5 cases in all: no contact, sticking and sliding, each force is one that the oracle allows."""
    u, W, mu = random_cases(20_000, decades=1.5, seed=seed)
    force = solved(u, W, mu)
    opening = u[:, 0] >= 0.0
    assert not force[opening].any()  # Eq. (positivegap)
    sticking = np.linalg.solve(W, -u[..., None])[..., 0]  # Eq. (noslipRnew)
    inside = np.linalg.norm(sticking[:, 1:], axis=1) - mu * sticking[:, 0]
    size = np.linalg.norm(sticking, axis=1)
    sticks = ~opening & (inside < -1e-9 * size)
    np.testing.assert_allclose(force[sticks], sticking[sticks], rtol=0.0, atol=1e-9 * size[sticks].max())
    slides = np.flatnonzero(~opening & (inside > 1e-9 * size))
    known = sliding_forces(u[slides], W[slides], mu[slides])
    distance = np.linalg.norm(known - force[slides, None], axis=2) / np.linalg.norm(force[slides], axis=1)[:, None]
    least = np.where(np.isnan(distance), np.inf, distance).min(axis=1)
    assert np.count_nonzero(least > 1e-9) <= 5  # two solutions within one slot of the grid escape the oracle
    assert slides.size > 5000


@pytest.mark.parametrize("decades", [0.0, 3.0, 6.0, 9.0, 12.0])
def test_conditions_hold_to_rounding_however_ill_the_matrix(decades):
    """Signorini, the cone, and friction against the slip, for conditions up to 1e12."""
    u, W, mu = random_cases(20_000, decades, seed=7)
    force = solved(u, W, mu)
    v = u + np.einsum("nij,nj->ni", W, force)
    unit = np.linalg.norm(u, axis=1) + np.linalg.norm(W, axis=(1, 2)) * np.linalg.norm(force, axis=1)
    closed = u[:, 0] < 0.0
    assert np.isfinite(force).all()
    assert (force[closed, 0] > 0.0).all()
    assert (np.abs(v[closed, 0]) <= 1e-12 * unit[closed]).all()
    r_t, v_t = np.linalg.norm(force[:, 1:], axis=1), np.linalg.norm(v[:, 1:], axis=1)
    limit = mu * force[:, 0]
    assert (r_t <= limit * (1.0 + 1e-12)).all()
    sticks = closed & (r_t < limit * (1.0 - 1e-9))
    assert (v_t[sticks] <= 1e-12 * unit[sticks]).all()
    k = closed & ~sticks & (mu > 0.0)
    along = (force[k, 1:] * v[k, 1:]).sum(1) / r_t[k]
    across = (force[k, 1] * v[k, 2] - force[k, 2] * v[k, 1]) / r_t[k]
    assert (along <= 1e-11 * unit[k]).all()
    assert (np.abs(across) <= 1e-11 * unit[k]).all()


def test_twins_are_equal():
    """The plain text and its compiled twin give the same bits."""
    u, W, mu = random_cases(300, decades=3.0, seed=3)
    packed = W[:, PACK[0], PACK[1]]
    plain = [general_shock_law(0.0, tuple(u[i]), tuple(packed[i]), mu[i], 1.0) for i in range(300)]
    np.testing.assert_array_equal(np.array(plain), solved(u, W, mu))


def test_sphere_law_is_the_law_without_coupling():
    """For M_c^-1 = diag(1/m_n, 1/m_t, 1/m_t) the general force is that of Eq. (sphere-shock)."""
    rng = np.random.default_rng(1)
    for _ in range(500):
        u, m_n, m_t, mu = rng.normal(size=3), *rng.uniform(0.1, 10.0, 2), rng.choice([0.0, 0.1, 0.5, 10.0])
        r_t = -m_t * u[1:]
        r_n, factor = shock_law(-m_n * u[0], r_t @ r_t, mu)
        general = general_shock_law(0.0, tuple(u), (1.0 / m_n, 0.0, 0.0, 1.0 / m_t, 0.0, 1.0 / m_t), mu, 1.0)
        np.testing.assert_allclose(general, (r_n, *(factor * r_t)), rtol=1e-12, atol=1e-14)


def test_singular_tangents_are_survived():
    """Rank one: only the normal moves. The force is finite, inside the cone and closes the gap."""
    r_n, r_1, r_2 = general_shock_law(0.0, (-1.0, 0.0, 0.0), (2.0, 0.0, 0.0, 1e-300, 0.0, 1e-300), 0.5, 1.0)
    assert r_n == pytest.approx(0.5)
    assert np.hypot(r_1, r_2) <= 0.5 * r_n
