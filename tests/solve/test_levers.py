"""Contacts with levers, in 2D and 3D: loops against a second implementation, the split law against the general one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rigidgrains.app.bench import dense_problem
from rigidgrains.contacts.lever_rows import fill_flat_levers, fill_levers
from rigidgrains.contacts.problem import ContactProblem
from rigidgrains.laws.shock import general_shock_law
from rigidgrains.model.columns import FLAT_LEVERS, LEVERS, M_N, M_T, MU, R_N, R_T, TO_CLOSE, N, S, V
from rigidgrains.runtime.barrier import new_meeting
from rigidgrains.runtime.simd import WIDTH
from rigidgrains.solve.kernels.factory import apply_forces, kernels_for
from rigidgrains.solve.passivity import make_passive
from rigidgrains.solve.residual import natural_map

KINDS = "flat", "solid"


def with_levers(p, kind, rng, mu):
    """The same graph of contacts between bodies of any shape: random places, orientations and inertia."""
    flat, bodies = kind == "flat", len(p.motion)
    turn = np.linalg.qr(rng.normal(size=(bodies, 3, 3)))[0]
    matrix = np.einsum("iab,ib,icb->iac", turn, rng.uniform(0.7, 3.0, (bodies, 3)), turn)  # B
    if flat:
        matrix = rng.uniform(0.7, 3.0, bodies)[:, None, None] * np.diag([0.0, 0.0, 1.0])
        p.geometry[:, 2] = 0.0
        p.geometry[:, N] /= np.linalg.norm(p.geometry[:, N], axis=1)[:, None]
        p.motion[:, [2, 3, 4]] = 0.0
    p.motion[:, 7] = p.motion[:, 6]
    p.geometry[:, MU] = rng.choice(mu, p.count)
    p.geometry[:, TO_CLOSE] = 1e-3 * rng.exponential(size=p.count)
    place, other = rng.normal(size=(2, p.count, 3)) * (np.array([1.0, 1.0, 0.0]) if flat else 1.0)
    levers = np.zeros((p.count, FLAT_LEVERS if flat else LEVERS))
    fill = fill_flat_levers if flat else fill_levers
    fill(0, p.count, bodies, p.pairs, place, other, matrix, p.motion, p.geometry, levers)
    forces = np.abs(rng.normal(size=(p.count, 4)))
    forces[:, R_T] -= np.einsum("ca,ca->c", forces[:, R_T], p.geometry[:, N])[:, None] * p.geometry[:, N]
    if flat:
        forces[:, 3] = 0.0
    return replace(p, levers=levers, forces=forces), place, other, matrix


def make(kind, grains=120, seed=3, mu=(0.0, 0.2, 0.5)):
    _, p = dense_problem(grains, coloured=True)
    return with_levers(p, kind, np.random.default_rng(seed), mu)


# A second implementation, from levers and matrices of inertia


def lever_velocity(world, c):
    p, place, other, matrix = world
    i, j = p.pairs[c]
    return (p.motion[j, V] + np.cross(matrix[j] @ p.motion[j, S], other[c])) - (
        p.motion[i, V] + np.cross(matrix[i] @ p.motion[i, S], place[c])
    )


def push(world, c, impulse):
    p, place, other, matrix = world
    i, j = p.pairs[c]
    for body, lever, sign in ((i, place[c], -1.0), (j, other[c], 1.0)):
        p.motion[body, V] += sign * p.motion[body, 6] * impulse
        p.motion[body, S] += sign * p.motion[body, 6] * matrix[body] @ np.cross(lever, impulse)


def inverse_mass(world, c):
    """(3, 3) M_c^-1 in space."""
    p, place, other, matrix = world
    out = np.zeros((3, 3))
    for body, lever in zip(p.pairs[c], (place[c], other[c])):
        across = np.array([np.cross(column, lever) for column in matrix[body].T]).T
        out += p.motion[body, 6] * (np.eye(3) + across @ across.T)
    return out


def asked(world, c):
    """The force of the split law."""
    p = world[0]
    n, w, v = p.geometry[c, N], inverse_mass(world, c), lever_velocity(world, c)
    r_n = max(0.0, p.forces[c, R_N] - (v @ n + p.geometry[c, TO_CLOSE] / p.dt) / (p.dt * (n @ w @ n)))
    v = v + p.dt * (r_n - p.forces[c, R_N]) * (w @ n)
    across = np.eye(3) - np.outer(n, n)
    largest = np.linalg.eigvalsh(across @ w @ across)[-1]
    r_t = p.forces[c, R_T] - across @ v / (p.dt * largest)
    size, bound = np.linalg.norm(r_t), p.geometry[c, MU] * r_n
    return r_n, r_t * (bound / size if size > bound else 1.0)


def strong(world, c):
    p = world[0]
    n, w = p.geometry[c, N], inverse_mass(world, c)
    coupling = (w @ n) - (n @ w @ n) * n
    return p.geometry[c, MU] * np.linalg.norm(coupling) > 0.5 * (n @ w @ n)


@pytest.mark.parametrize("kind", KINDS)
def test_masses_and_couplings_are_those_of_the_levers(kind):
    world = make(kind)
    p = world[0]
    found = p.levers[:, 6 if kind == "flat" else 21]
    for c in range(p.count):
        n, w = p.geometry[c, N], inverse_mass(world, c)
        across = np.eye(3) - np.outer(n, n)
        assert p.geometry[c, M_N] == pytest.approx(1.0 / (n @ w @ n), rel=1e-12)
        assert p.geometry[c, M_T] == pytest.approx(1.0 / np.linalg.eigvalsh(across @ w @ across)[-1], rel=1e-9)
        assert found[c] == strong(world, c)
    assert 0 < found.sum() < p.count


@pytest.mark.parametrize("kind", KINDS)
def test_a_sweep_is_that_of_the_split_law(kind):
    """Where couplings are weak."""
    found, world = make(kind, mu=(0.0, 0.05))[0], make(kind, mu=(0.0, 0.05))
    expected = world[0]
    sequence = np.random.default_rng(5).permutation(found.count).astype(np.int32)
    for _ in range(2):
        kernels_for(found).sweep(sequence, *found.arrays, found.dt, False)
        for c in sequence:
            r_n, r_t = asked(world, c)
            push(
                world,
                c,
                found.dt * ((r_n - expected.forces[c, R_N]) * expected.geometry[c, N] + r_t - expected.forces[c, R_T]),
            )
            expected.forces[c, R_N], expected.forces[c, R_T] = r_n, r_t
    assert not any(strong(world, c) for c in range(found.count))
    for name in ("forces", "motion"):
        one, other = getattr(found, name), getattr(expected, name)
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-10 * np.abs(other).max(), err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("associated", [False, True])
def test_lanes_and_colours_have_the_bits_of_single_contacts(kind, associated):
    """Strong couplings among them, which are taken one by one."""
    by_colour, single = make(kind, 400)[0], make(kind, 400)[0]
    by, loops = by_colour.colouring, kernels_for(single)
    assert (np.diff(by.start) >= WIDTH).any()
    colours = np.random.default_rng(1).permutation(by.count)
    for _ in range(3):
        what = new_meeting(), colours, by.sequence, by.start, by.alone, by.inner, by.tiles
        loops.coloured_sweep(0, 1, *what, *by_colour.arrays, by_colour.dt, associated)
        loops.sweep(by.arranged(colours), *single.arrays, single.dt, associated)
    for name in ("forces", "motion"):
        np.testing.assert_array_equal(getattr(by_colour, name), getattr(single, name), err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
def test_forces_act_and_are_asked_for_as_they_should(kind):
    p, world = make(kind, 300)[0], make(kind, 300)
    apply_forces(p)
    for c in range(p.count):
        push(world, c, p.dt * (p.forces[c, R_N] * p.geometry[c, N] + p.forces[c, R_T]))
    np.testing.assert_allclose(p.motion, world[0].motion, rtol=0.0, atol=1e-12 * np.abs(p.motion).max())
    found = natural_map(p)
    for c in range(0, p.count, 29):
        r_n, r_t = asked(world, c)
        lack = np.hypot(p.forces[c, R_N] - r_n, np.linalg.norm(p.forces[c, R_T] - r_t))
        assert found[c] == pytest.approx(lack, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_forces_give_no_energy_once_they_are_passive(kind):
    """Work of contacts over a step by kinetic energies, which levers must not spoil."""
    p = make(kind, 200)[0]
    p.geometry[:, TO_CLOSE] = 0.0
    free = p.motion.copy()
    apply_forces(p)
    assert make_passive(p) < 1.0
    mass = 1.0 / p.motion[:, 6]
    assert (mass * (p.motion[:, :6] ** 2).sum(axis=1)).sum() <= (mass * (free[:, :6] ** 2).sum(axis=1)).sum() * (
        1.0 + 1e-12
    )


def single_contacts(kind, count, mu, seed):
    """Pairs of bodies of any shape with one contact each, that approach."""
    rng = np.random.default_rng(seed)
    motion = np.zeros((2 * count, 8))
    motion[:, :6] = rng.normal(size=(2 * count, 6))
    motion[:, 6] = rng.uniform(0.2, 5.0, 2 * count)
    normal = rng.normal(size=(count, 3))
    geometry = np.zeros((count, 8))
    geometry[:, N] = normal / np.linalg.norm(normal, axis=1)[:, None]
    pairs = np.arange(2 * count, dtype=np.int32).reshape(-1, 2)
    p = ContactProblem(motion, pairs, geometry, np.zeros((count, 4)), 1.0, np.zeros((2 * count, 3)), np.ones(2 * count))
    world = with_levers(p, kind, rng, mu)
    world[0].forces[:] = 0.0
    return world


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mu", [(0.1, 0.5, 1.0), (3.0, 10.0), (np.inf,)])
def test_a_contact_alone_ends_at_the_answer_of_the_general_law(kind, mu):
    """Also where normal and tangential motion are coupled so strongly that the split law alone would not end."""
    world = single_contacts(kind, 1000, mu, 7)
    p = world[0]
    free, sequence = p.motion.copy(), np.arange(p.count, dtype=np.int32)
    for _ in range(1500):  # a tangential block of unlike eigenvalues takes its time
        kernels_for(p).sweep(sequence, *p.arrays, p.dt, False)
    size = 1.0 + np.linalg.norm(p.forces, axis=1)
    assert (natural_map(p) / size).max() < 1e-9
    closed = 0
    for c in range(0, p.count, 7):
        n, w, coefficient = p.geometry[c, N], inverse_mass(world, c), p.geometry[c, MU]
        v, r_n, r_t = lever_velocity(world, c), p.forces[c, R_N], p.forces[c, R_T]
        v_n, scale = v @ n + p.geometry[c, TO_CLOSE] / p.dt, np.abs(free[p.pairs[c], :6]).max() * 10.0
        v_t = v - (v @ n) * n
        assert r_n >= 0.0
        assert v_n >= -1e-8 * scale  # Signorini
        assert min(r_n / size[c], abs(v_n) / scale) < 1e-8
        if r_n > 0.0:
            closed += 1
            slides = np.linalg.norm(v_t) > 1e-7 * scale
            assert np.linalg.norm(r_t) <= coefficient * r_n * (1.0 + 1e-9) + 1e-9 * size[c]
            if slides:  # Coulomb
                np.testing.assert_allclose(r_t, -coefficient * r_n * v_t / np.linalg.norm(v_t), atol=1e-6 * size[c])
            t = np.linalg.svd(n[None])[2][1:]
            frame = np.vstack([n, t])
            turned = frame @ w @ frame.T
            p.motion[p.pairs[c]], kept = free[p.pairs[c]], p.motion[p.pairs[c]].copy()
            u = frame @ lever_velocity(world, c)
            p.motion[p.pairs[c]] = kept
            r = np.array(
                general_shock_law(
                    p.geometry[c, TO_CLOSE], tuple(u), tuple(turned[np.triu_indices(3)]), coefficient, p.dt
                )
            )
            assert r[0] > 0.0
    assert closed > 50
