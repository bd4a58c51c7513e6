"""Frames: lists of grains that move together are kept, and nobody meets unseen."""

from __future__ import annotations

import numpy as np
import pytest
from support.builders import cloud, exact, grains, plane
from support.checks import listed

from rigidgrains import AutoStep, Simulation
from rigidgrains.detect.neighbours import Neighbours
from rigidgrains.model.shapes import Cylinder
from rigidgrains.model.walls import Wall
from rigidgrains.trajectory.checkpoint import pack, unpack


def block(side, *, pitch=2.2, height=0.0):
    """Centres of a cubic lattice."""
    site = np.stack(np.meshgrid(*3 * [np.arange(side)], indexing="ij"), axis=-1).reshape(-1, 3)
    return pitch * site[:, [2, 1, 0]] + [1.2, 1.2, 1.2 + height]


def test_a_block_that_flies_as_a_whole_keeps_its_lists():
    """Half a radius in each step, along one wall and towards another that is far away."""
    walls = [plane([0, 0, 0], [1.0, 0, 0], "side"), plane([0, 0, 0], [0, 0, 1.0], "floor")]
    bodies = grains(block(5, height=50.0), 1.0, velocity=[0, 0, -50.0], walls=walls)
    simulation = Simulation(bodies, dt=0.01, solver=exact())
    simulation.run(steps=60)
    assert simulation.neighbours.builds == 1
    assert bodies.position[0, 2] == pytest.approx(21.2)
    report = simulation.run(steps=60)  # now it lands
    assert report.max_overlap_of_run < 1e-6
    assert bodies.position[:, 2].min() >= 1.0 - 1e-9


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_whoever_leaves_its_skin_is_listed_anew(axis, sign):
    """Grains at rest, half a radius apart, are no pairs; one that flies at another, along any axis, makes one."""
    bodies, neighbours = grains(block(3, pitch=2.5), 1.0), Neighbours()
    neighbours.refresh(bodies, 0.1)
    assert listed(neighbours.pairs) == []
    bodies.velocity[13, axis] = sign * 6.0  # the one in the middle; the frame of all goes along by 1/27 of it
    away = bodies.position - bodies.position[13]
    (hit,) = np.flatnonzero((sign * away[:, axis] > 2.0) & (np.linalg.norm(away, axis=1) < 3.0))
    neighbours.refresh(bodies, 0.1)
    assert (min(13, hit), max(13, hit)) in listed(neighbours.pairs)
    assert neighbours.builds == 2


@pytest.mark.parametrize("seed", range(4))
def test_whoever_meets_within_a_step_is_listed(seed):
    """Swarms that pass through each other and through walls, with a grain that flies far ahead; no contact stops them.

    All pairs are looked at, at five instants of each step.
    """
    rng, dt = np.random.default_rng(seed), 0.1
    n = 120
    position = rng.uniform(0.0, 16.0, (n, 3)) + np.where(np.arange(n) < n // 2, 0.0, 14.0)[:, None] * [0, 0, 1.0]
    velocity = np.where(np.arange(n) < n // 2, 0.0, -10.0)[:, None] * [0.2, 0, 1.0] + rng.normal(0.0, 0.3, (n, 3))
    velocity[7] = [300.0, 20.0, -10.0]
    tube = Wall("tube", Cylinder(np.array([8.0, 8.0, 0.0]), np.array([0.0, 0, 1.0]), 9.0, True, np.inf))
    bodies = grains(
        position, rng.uniform(0.4, 0.6, n), velocity=velocity, walls=[plane([0, 0, 4.0], [0, 0, 1.0]), tube]
    )
    neighbours, met = Neighbours(), 0
    for step in range(30):
        neighbours.refresh(bodies, dt)
        bodies.velocity[:] += rng.normal(0.0, 0.05, (n, 3))  # blows
        if step % 7 == 3:
            bodies.velocity[rng.integers(n)] *= -1.0
        neighbours.widen(bodies, dt)
        pairs, near = set(listed(neighbours.pairs)), [set(wall.grains.tolist()) for wall in neighbours.walls]
        for part in np.linspace(0.0, 1.0, 5):
            there = bodies.position + part * dt * bodies.velocity
            i, j = np.triu_indices(n, 1)
            touch = np.linalg.norm(there[i] - there[j], axis=1) < bodies.radius[i] + bodies.radius[j]
            found = set(zip(i[touch].tolist(), j[touch].tolist()))
            assert found <= pairs
            met += len(found)
            for wall, known in zip(bodies.walls, near):
                gap, _ = wall.shape.gaps(np.arange(n, dtype=np.int32), there, bodies.radius)
                assert set(np.flatnonzero(gap < 0.0).tolist()) <= known
        bodies.position += dt * bodies.velocity
    assert met > 100


def test_a_flight_is_resumed_to_the_bit():
    """Frames are kept in a checkpoint: both runs make their lists in the same steps."""
    bodies = cloud(60, seed=3, speed=0.5)
    bodies.velocity[:] += [40.0, 0, 0]
    straight = Simulation(bodies, dt=AutoStep(longest=0.02), solver=exact())
    straight.run(steps=5)
    arrays, text = pack(straight)
    other = unpack({name: array.copy() for name, array in arrays.items()}, text)
    for one in (straight, other):
        one.run(steps=25)
    assert straight.neighbours.builds == other.neighbours.builds
    np.testing.assert_array_equal(straight.bodies.position, other.bodies.position)
    np.testing.assert_array_equal(straight.neighbours.frames.block, other.neighbours.frames.block)
