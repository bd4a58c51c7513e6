"""Deflation: the directions along which extrapolation would feed contacts that slide, found and left out."""

from __future__ import annotations

import numpy as np
import pytest
from support.builders import prepare, triangular

from rigidgrains import Scene, Simulation
from rigidgrains.laws.rolling import Rolling
from rigidgrains.runtime.memory import Workspace
from rigidgrains.solve.deflation import EVERY, KEPT, TIMES, Deflation
from rigidgrains.solve.kernels.factory import apply_forces

DT, CONTACTS, PAIR = 0.01, 200, 12


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def swinging(rng, sweeps=9 * EVERY, angle=0.12):
    """Changes, (sweeps, c, 4): a pair turns and grows on a few contacts, beside a slow steady change of all.

    With the weights, the two vectors of the pair and the steady one.
    """
    weight = np.repeat(rng.uniform(0.5, 2.0, (CONTACTS, 1)), 4, axis=1)
    pair = np.zeros((2, CONTACTS, 4))
    pair[:, 40 : 40 + PAIR] = rng.standard_normal((2, PAIR, 4))
    steady = 0.3 * rng.standard_normal((CONTACTS, 4))
    at = np.arange(sweeps)
    turning = np.stack([np.cos(angle * at), np.sin(angle * at)], axis=1) * (1.05**at)[:, None]
    slow = (1.0 - 1e-3 * at)[:, None, None] * steady
    return np.tensordot(turning, pair, 1) + slow, weight, pair, steady


def found(rng):
    """A deflation that has seen such changes; these are given as forces that start from zero."""
    changes, weight, pair, steady = swinging(rng)
    deflation, nothing = Deflation(Workspace()), np.zeros((CONTACTS, 4))
    for sweep, change in enumerate(changes):
        deflation.remember(sweep, change, nothing)
    assert deflation.find_directions(changes[-1], nothing, weight)
    return deflation, weight, pair, steady


def share(deflation, weight, vector):
    """How much of a vector, as a part of its square, lies along the directions."""
    along = [(weight[deflation.rows] * d * vector[deflation.rows]).sum() for d in deflation.directions]
    return float(np.square(along).sum() / (weight * vector**2).sum())


def test_a_pair_that_grows_is_found_and_what_is_steady_is_not(rng):
    deflation, weight, pair, steady = found(rng)
    assert set(deflation.rows) <= set(range(40, 40 + PAIR))
    shares = [share(deflation, weight, vector) for vector in pair]  # cut to contacts that hold 0.8
    assert min(shares) > 0.5
    assert np.mean(shares) > 0.65
    assert share(deflation, weight, steady) < 0.05


def test_directions_are_at_right_angles(rng):
    deflation, weight, _, _ = found(rng)
    deflation.begin_anew()
    changes, nothing = swinging(rng)[0], np.zeros((CONTACTS, 4))
    for sweep, change in enumerate(changes):
        deflation.remember(sweep, np.roll(change, 30, axis=0), nothing)
    assert deflation.find_directions(np.roll(changes[-1], 30, axis=0), nothing, weight)  # on other rows
    d, w = deflation.directions, weight[deflation.rows]
    products = np.einsum("akx,kx,bkx->ab", d, w, d)
    assert len(d) == 2 * TIMES
    np.testing.assert_allclose(products, np.eye(len(d)), atol=1e-12)


def test_after_so_many_all_begins_anew(rng):
    deflation, weight, _, _ = found(rng)
    changes, nothing = swinging(rng)[0], np.zeros((CONTACTS, 4))
    for _ in range(TIMES - 1):
        for sweep, change in enumerate(changes):
            deflation.remember(sweep, change, nothing)
        assert deflation.find_directions(changes[-1], nothing, weight)
    assert not deflation.find_directions(changes[-1], nothing, weight)
    assert len(deflation.rows) == len(deflation.directions) == 0


def test_too_few_changes_or_none_show_no_direction(rng):
    deflation, nothing = Deflation(Workspace()), np.zeros((CONTACTS, 4))
    assert not deflation.find_directions(rng.random((CONTACTS, 4)), nothing, np.ones((CONTACTS, 4)))
    for sweep in range(EVERY * KEPT):
        deflation.remember(sweep, nothing, nothing)
    assert not deflation.find_directions(nothing, nothing, np.ones((CONTACTS, 4)))


@pytest.mark.parametrize("laws", [[], [Rolling(0.1, 0.05)]])
def test_velocities_follow_what_is_taken_out(laws, rng):
    """Forces without their part along the directions, and the very velocities that such forces give; torques too."""
    bodies = triangular(5, 5, mu=0.4, g=3.0)
    bodies.laws += laws
    problem = prepare(bodies, DT)
    assert problem.forces.shape[1] == (7 if laws else 4)
    weight = np.repeat(1.0 / problem.geometry[:, 4:5], problem.forces.shape[1], axis=1)
    free = problem.motion.copy()
    last = rng.random(problem.forces.shape)
    problem.forces[:] = last + rng.random(problem.forces.shape)
    problem.motion[:] = free
    apply_forces(problem)
    deflation, nothing = Deflation(Workspace()), np.zeros_like(problem.forces)
    for sweep in range(EVERY * KEPT):
        deflation.remember(sweep, rng.standard_normal(problem.forces.shape), nothing)
    assert deflation.find_directions(rng.standard_normal(problem.forces.shape), nothing, weight)
    step, start = problem.forces - last, problem.forces.copy()
    before = share(deflation, weight, step)
    deflation.measure(1.0, problem.forces, last)
    deflation.take_out(problem, start)
    assert before > 1e-3 > 1e-20 > share(deflation, weight, problem.forces - last)
    np.testing.assert_array_equal(start, problem.forces)
    moved = problem.motion.copy()
    problem.motion[:] = free
    apply_forces(problem)
    np.testing.assert_allclose(moved, problem.motion, atol=1e-12)


@pytest.mark.slow
def test_a_collapse_converges_in_every_step():
    """Disks fall into a box: without it one step in a thousand oscillates on, restart after restart."""
    scene = Scene(dimension=2, gravity=(0, -9.81), friction=0.5)
    scene.add_grains(count=150, radius=(1e-3, 2e-3), region=((0, 0), (0.045, 0.07)), seed=7)
    scene.add_box(lower=(0, 0), upper=(0.045, 0.09), open=["top"])
    simulation = Simulation(scene, dt=1e-4)
    assert simulation.run(steps=1500).converged_steps == 1500
