"""One factory of loops: each loop for each kind of contact, against a second implementation and against each other."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from rigidgrains.app.bench import dense_problem
from rigidgrains.model.columns import (
    A_0,
    A_1,
    BRANCH,
    EXTRA_BRANCH,
    EXTRA_MOVING,
    M_N,
    M_R,
    M_T,
    MOVING,
    MU,
    MU_R,
    MU_T,
    R_N,
    R_T,
    TO_CLOSE,
    U_T,
    N,
    Q,
    S,
    V,
    W,
)  # fmt: skip
from rigidgrains.runtime.barrier import new_meeting
from rigidgrains.runtime.simd import WIDTH
from rigidgrains.solve.kernels.factory import apply_forces, kernels_for
from rigidgrains.solve.measures import measure
from rigidgrains.solve.orders import Coloured, Ordered
from rigidgrains.solve.residual import missing_overlap, natural_map, residual, worst_contact
from rigidgrains.solve.virtual_power import powers

KINDS = "friction", "cell", "torque", "torque in a cell"
MOVED = "moved cell", "torque in a moved cell"
OPENING = ("friction", True), ("torque in a cell", True)  # under the associated law


def make(kind, grains=120, seed=3):
    """A dense packing with forces, whose contacts are of this kind; every column has some value."""
    rng = np.random.default_rng(seed)
    _, p = dense_problem(grains, coloured=True)
    p.geometry[:, MU] = rng.choice([0.0, 0.2, 0.5], p.count)
    p.geometry[:, TO_CLOSE] = 1e-3 * rng.exponential(size=p.count)
    flow, forces = np.zeros((3, 8)), np.abs(rng.normal(size=(p.count, 7)))
    length = rng.uniform(1.5, 2.0, p.count)
    moves = length if "moved" in kind else np.zeros(p.count)
    if "cell" in kind:
        flow[:, :3] = np.triu(rng.normal(size=(3, 3)))
    if "moved" in kind:
        flow[:, 3:6] = np.triu(rng.uniform(1e-3, 2e-3, (3, 3)))
        p.colouring.alone[:] = True
    extra, branch = None, np.stack([length, moves], axis=1) if "cell" in kind else None
    if "torque" in kind:
        extra = np.zeros((p.count, 14))
        extra[:, U_T], extra[:, W] = 0.01 * rng.normal(size=(2, p.count, 3))
        extra[:, [A_0, A_1]] = rng.uniform(0.3, 0.7, (p.count, 2))
        extra[:, M_R], extra[:, MU_R] = rng.uniform(0.1, 0.5, p.count), rng.choice([0.0, 0.05, math.inf], p.count)
        extra[:, MU_T] = rng.choice([0.0, 0.02], p.count)
        if branch is not None:
            extra[:, [EXTRA_BRANCH, EXTRA_MOVING]] = branch
    return replace(
        p, forces=forces if extra is not None else forces[:, :4].copy(), extra=extra, branch=branch, flow=flow
    )


def copied(p):
    return replace(p, motion=p.motion.copy(), forces=p.forces.copy(), flow=p.flow.copy())


# A second implementation: vectors in numpy, contact by contact, as the laws are written on paper


def velocity(p, c):
    i, j = p.pairs[c]
    v = p.motion[j, V] - p.motion[i, V] - np.cross(p.motion[i, S] + p.motion[j, S], p.geometry[c, N])
    if p.branch is not None:
        v = v + p.branch[c, BRANCH] * p.flow[:, :3] @ p.geometry[c, N]
    return v


def spin(p, c):
    i, j = p.pairs[c]
    return p.extra[c, A_1] * p.motion[j, S] - p.extra[c, A_0] * p.motion[i, S] + p.extra[c, W]


def force_asked(p, c, associated):
    """(R_n, R_t) by Coulomb's law or the associated one."""
    n, (m_n, m_t, mu) = p.geometry[c, N], p.geometry[c, [M_N, M_T, MU]]
    v = velocity(p, c)
    v_n = v @ n
    v_t = v - v_n * n + (0.0 if p.extra is None else p.extra[c, U_T])
    r_n = p.forces[c, R_N] - m_n / p.dt * (p.geometry[c, TO_CLOSE] / p.dt + v_n)
    r_t = p.forces[c, R_T] - m_t / p.dt * v_t
    size = np.linalg.norm(r_t)
    if associated and size > mu * r_n:
        r_n = (r_n + mu * m_n / m_t * size) / (1.0 + mu**2 * m_n / m_t)
    if r_n <= 0.0:
        return 0.0, np.zeros(3)
    return r_n, r_t * (min(1.0, mu * r_n / size) if size else 1.0)


def torque_asked(p, c, r_n):
    n = p.geometry[c, N]
    q = p.forces[c, Q] - p.extra[c, M_R] / p.dt * spin(p, c)
    if r_n <= 0.0:
        return np.zeros(3)
    along = q @ n
    across = q - along * n
    size, bound = np.linalg.norm(across), p.extra[c, MU_R] * r_n
    across *= bound / size if size > bound else 1.0
    return across + np.clip(along, -p.extra[c, MU_T] * r_n, p.extra[c, MU_T] * r_n) * n


def push(p, c, impulse, angular=None):
    (i, j), n = p.pairs[c], p.geometry[c, N]
    p.motion[i, V] -= p.motion[i, 6] * impulse
    p.motion[j, V] += p.motion[j, 6] * impulse
    turn = np.cross(n, impulse)
    p.motion[i, S] -= p.motion[i, 7] * turn
    p.motion[j, S] -= p.motion[j, 7] * turn
    if p.branch is not None and p.branch[c, MOVING]:
        p.flow[:, :3] += p.flow[:, 3:6] * np.outer(impulse, p.branch[c, MOVING] * n)
    if angular is not None:
        p.motion[i, S] -= p.extra[c, A_0] * p.motion[i, 7] * angular
        p.motion[j, S] += p.extra[c, A_1] * p.motion[j, 7] * angular


def update(p, c, associated=False):
    r_n, r_t = force_asked(p, c, associated)
    push(p, c, p.dt * ((r_n - p.forces[c, R_N]) * p.geometry[c, N] + r_t - p.forces[c, R_T]))
    p.forces[c, R_N], p.forces[c, R_T] = r_n, r_t
    if p.extra is not None:
        q = torque_asked(p, c, r_n)
        push(p, c, np.zeros(3), p.dt * (q - p.forces[c, Q]))
        p.forces[c, Q] = q


def lacking(p):
    """(c, 4) or (c, 7) R - R', all from the same velocities."""
    out = np.empty_like(p.forces)
    for c in range(p.count):
        r_n, r_t = force_asked(p, c, False)
        torque = [] if p.extra is None else torque_asked(p, c, r_n)
        out[c] = p.forces[c] - np.concatenate([[r_n], r_t, torque])
    return out


def test_the_moved_cell_of_these_tests_moves():
    p = make("moved cell")
    flow = p.flow.copy()
    apply_forces(p)
    assert np.abs(p.flow - flow).max() > 1e-6


@pytest.mark.parametrize(("kind", "associated"), [*((kind, False) for kind in (*KINDS, *MOVED)), *OPENING])
def test_a_sweep_is_that_of_the_laws(kind, associated):
    found, expected = make(kind), make(kind)
    sequence = np.random.default_rng(5).permutation(found.count).astype(np.int32)
    for _ in range(2):
        kernels_for(found).sweep(sequence, *found.arrays, found.dt, associated)
        for c in sequence:
            update(expected, c, associated)
    for name in ("forces", "motion", "flow"):
        one, other = getattr(found, name), getattr(expected, name)
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-10 * np.abs(other).max(), err_msg=name)


@pytest.mark.parametrize(("kind", "associated"), [*((kind, False) for kind in (*KINDS, *MOVED)), *OPENING])
def test_lanes_and_colours_have_the_bits_of_single_contacts(kind, associated):
    """Enough contacts of a colour fill the lanes, and some are left over."""
    by_colour, single = make(kind, 400), make(kind, 400)
    by, loops = by_colour.colouring, kernels_for(single)
    colours = np.random.default_rng(1).permutation(by.count)
    sizes = np.diff(by.start)
    assert (sizes >= WIDTH).any()
    assert (sizes % WIDTH).any()
    for _ in range(3):
        what = new_meeting(), colours, by.sequence, by.start, by.alone, by.inner, by.tiles
        loops.coloured_sweep(0, 1, *what, *by_colour.arrays, by_colour.dt, associated)
        loops.sweep(by.arranged(colours), *single.arrays, single.dt, associated)
    for name in ("forces", "motion", "flow"):
        np.testing.assert_array_equal(getattr(by_colour, name), getattr(single, name), err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
def test_tiles_change_no_bit(kind):
    """Colours within tiles, tile after tile on one of three threads after another, or colour after colour."""
    tiled, single = make(kind, 400), make(kind, 400)
    by, loops = tiled.colouring, kernels_for(tiled)
    colours = np.arange(by.count)
    middle = (by.start[:-1] + by.start[1:]) // 2
    tiles = np.stack([by.start[:-1], middle, by.start[1:]])
    inner = ~by.alone
    owner = np.zeros(tiled.count, int)
    for k in range(by.count):
        owner[by.sequence[middle[k] : by.start[k + 1]]] = 1
    shared = np.intersect1d(tiled.pairs[owner == 0], tiled.pairs[owner == 1])
    assert shared.size  # so that tiles have to be cut where no grain is shared; here colour by colour
    for k in colours:
        what = new_meeting(), np.array([k]), by.sequence, by.start, by.alone, inner, tiles
        loops.coloured_sweep(0, 1, *what, *tiled.arrays, tiled.dt, False)
    loops.sweep(by.arranged(colours), *single.arrays, single.dt)
    np.testing.assert_array_equal(tiled.forces, single.forces)
    np.testing.assert_array_equal(tiled.motion, single.motion)


@pytest.mark.parametrize("kind", [*KINDS, *MOVED])
def test_all_ways_to_sweep_agree(kind, rng):
    """Stored order, watched sweeps and forces that act by colours; a survey tells what a sweep of one would change."""
    one, other, watched = make(kind), make(kind), make(kind)
    order, loops = Ordered(), kernels_for(one)
    for p in (one, watched):
        order.begin(p)
    order.sweep(one, rng)
    loops.sweep(np.arange(other.count, dtype=np.int32), *other.arrays, other.dt)
    unsettled, total = order.checked_sweep(watched, rng, 0.0, 1e-3)
    for p in (one, watched):
        np.testing.assert_array_equal(p.forces, other.forces)
        np.testing.assert_array_equal(p.motion, other.motion)
    change = np.linalg.norm(other.forces - make(kind).forces, axis=1)
    assert unsettled == (change > 1e-3).sum() > 0
    assert total == pytest.approx(np.linalg.norm(other.forces, axis=1).sum())
    before, expected = copied(one), 0
    for c in range(one.count):
        single = copied(one)
        update(single, c)
        expected += np.linalg.norm(single.forces[c] - one.forces[c]) > 1e-3
    assert loops.survey(*one.arrays, one.dt, 0.0, 1e-3)[0] == expected
    for name in ("forces", "motion", "flow"):
        np.testing.assert_array_equal(getattr(one, name), getattr(before, name), err_msg=name)


@pytest.mark.parametrize("kind", [*KINDS, *MOVED])
def test_forces_act_as_they_should(kind):
    """On velocities, spins and cell; by colours in lanes to the same bits."""
    one, lanes, expected = make(kind, 300), make(kind, 300), make(kind, 300)
    loops, by = kernels_for(one), one.colouring
    loops.apply_forces(*one.arrays, one.dt)
    loops.coloured_forces(0, 1, new_meeting(), by.start, by.alone, *lanes.arrays, lanes.dt)
    for c in range(expected.count):
        r = expected.forces[c]
        angular = None if expected.extra is None else expected.dt * r[Q]
        push(expected, c, expected.dt * (r[R_N] * expected.geometry[c, N] + r[R_T]), angular)
    for name in ("motion", "flow"):
        np.testing.assert_array_equal(getattr(lanes, name), getattr(one, name), err_msg=name)
        np.testing.assert_allclose(getattr(one, name), getattr(expected, name), rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("kind", [*KINDS, *MOVED])
def test_measures_are_those_of_the_laws(kind):
    p = make(kind)
    lack, force = lacking(p), np.linalg.norm(p.forces, axis=1)
    size = np.linalg.norm(lack, axis=1)
    np.testing.assert_allclose(natural_map(p), size, rtol=1e-9, atol=1e-9 * size.max())
    assert residual(p) == pytest.approx(np.linalg.norm(lack) / np.linalg.norm(p.forces), rel=1e-9)
    mean = np.linalg.norm(p.forces[:, :4], axis=1).mean()
    assert worst_contact(p) == pytest.approx((size / (force + mean)).max(), rel=1e-9)
    overlap = (np.abs(lack[:, R_N]) / p.geometry[:, M_N]).mean() * p.dt**2
    assert missing_overlap(p) == pytest.approx(overlap, rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_travel_is_the_mean_speed_of_contacts_with_a_force_and_fastest_the_largest(kind):
    p = make(kind)
    p.forces[::3, R_N] = 0.0
    rebound = np.zeros((p.count, 3)) if p.extra is None else p.extra[:, U_T]
    speeds = []
    for c in np.flatnonzero(p.forces[:, R_N] > 0.0):
        v, n = velocity(p, c), p.geometry[c, N]
        speeds.append(math.hypot(v @ n, np.linalg.norm(v - (v @ n) * n + rebound[c])))
    found, way = measure(p), p.dt / p.radius.mean()
    assert found.travel == pytest.approx(np.mean(speeds) * way, rel=1e-12)
    assert found.fastest == pytest.approx(np.max(speeds) * way, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_powers_are_those_of_the_laws(kind):
    """Power of forces that should have none, R_n (V_n + gap/dt) and the like for friction, rolling and twisting."""
    p = make(kind)
    terms, slides = [], 0.0
    for c in range(p.count):
        n, r = p.geometry[c, N], p.forces[c]
        v = velocity(p, c)
        v_n = v @ n
        v_t = v - v_n * n + (0.0 if p.extra is None else p.extra[c, U_T])
        friction = p.geometry[c, MU] * r[R_N] * np.linalg.norm(v_t)
        terms += [r[R_N] * (v_n + p.geometry[c, TO_CLOSE] / p.dt), friction + r[R_T] @ v_t]
        slides += friction
        if p.extra is not None:
            z, q = spin(p, c), r[Q]
            twist = p.extra[c, MU_T] * r[R_N] * abs(z @ n)
            across = np.linalg.norm(z - (z @ n) * n)
            roll = p.extra[c, MU_R] * r[R_N] * across if p.extra[c, MU_R] < math.inf else 0.0
            terms += [twist + (q @ n) * (z @ n), roll + q @ (z - (z @ n) * n)]
            slides += twist + roll
    found, terms = powers(p), np.array(terms)
    assert found.gained / found.lost == pytest.approx(terms[terms > 0].sum() / -terms[terms < 0].sum(), rel=1e-9)
    assert found.slid / found.gained == pytest.approx(slides / terms[terms > 0].sum(), rel=1e-9)


def test_a_jacobi_sweep_takes_all_from_the_same_velocities(rng):
    for kind in (*KINDS, *MOVED):
        p = make(kind, 60)
        expected, start = copied(p), copied(p)
        motion, *_, cell, _ = p.arrays
        kernels_for(p).parallel_sweep(motion.copy(), cell.copy(), *p.arrays, p.dt, 0.0, 0.0)
        for c in range(p.count):
            single = copied(start)
            update(single, c)
            expected.forces[c] = single.forces[c]
        np.testing.assert_allclose(p.forces, expected.forces, rtol=0.0, atol=1e-10 * np.abs(p.forces).max())


@pytest.mark.parametrize("kind", KINDS)
def test_threads_change_no_bit(kind, monkeypatch):
    from rigidgrains.runtime.threads import get_threads, set_threads

    monkeypatch.setattr("rigidgrains.runtime.threads.WORTH", 1)

    kept, results = get_threads(), []
    try:
        for threads in (1, 3):
            set_threads(threads)
            p, order = make(kind, 400), Coloured(worth=0)
            order.begin(p)
            order.sweeps(p, np.random.default_rng(0), 3)
            results.append(p.forces)
    finally:
        set_threads(kept)
    np.testing.assert_array_equal(*results)
