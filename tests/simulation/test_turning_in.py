"""Grains of other shapes do not turn into each other within a step, and what is lowered for it can be certified."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.builders import floor
from support.shaped import cube, shaped, thrown

from rigidgrains import AcceleratedSweeps, Frame, Simulation
from rigidgrains.certificate import check
from rigidgrains.certificate.couples import turned
from rigidgrains.contacts.shaped import TOO_DEEP
from rigidgrains.detect.wall_points import balls_of, vertex_gaps_ahead
from rigidgrains.model.turning import turned_ahead
from rigidgrains.shapes import build
from rigidgrains.simulation import stepper
from rigidgrains.simulation.integrate import move

DIAMETER = 1e-3  # share of it that grains may overlap by, at a tenth of it per step


def exactly(bodies, dt):
    return Simulation(bodies, dt=dt, solver=AcceleratedSweeps(accuracy="exact"))


@pytest.mark.parametrize("seed", [3, 4])
@pytest.mark.parametrize("dimension", [2, 3])
def test_blows_leave_no_overlaps(dimension, seed):
    """Squares or cubes that fly into each other with spins, by 0.1 diameters a step; every step is certified."""
    rng, side = np.random.default_rng(seed), 4 if dimension == 2 else 3
    axes = [np.arange(side)] * dimension + [np.zeros(1)] * (3 - dimension)
    position = 1.6 * np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    count, flat = len(position), np.arange(3) < dimension
    turn = rng.normal(size=(count, 4))
    angle = turn / np.linalg.norm(turn, axis=1)[:, None] if dimension == 3 else rng.uniform(0.0, 6.0, count)
    velocity = 4.0 * (position.mean(axis=0) - position) / np.abs(position).max() + rng.normal(size=(count, 3)) * flat
    spin = rng.normal(size=(count, 3)) * (flat if dimension == 3 else ~flat & (np.arange(3) == 2))
    bodies = shaped(
        position, {"cube": cube(dimension)}, dimension=dimension, orientation=angle, velocity=velocity, spin=spin,
        friction=0.4,
    )  # fmt: skip
    diameter = 2.0 * bodies.radius[0]
    simulation = exactly(bodies, 0.1 * diameter / np.linalg.norm(velocity, axis=1).max())
    for _ in range(40):
        simulation.step()
        assert simulation.contacts.deepest < DIAMETER * diameter
        certificate = check(Frame.of(simulation))
        assert certificate.passed, str(certificate)


def spinning_box(seed):
    """A box that falls on a floor, spinning about an axis that leans."""
    turn = np.random.default_rng(seed).normal(size=4)
    spin, size = np.array([[6.0, 12.0, 0.0]]), [1.0, 0.9, 0.8]
    return shaped(
        [[0.0, 0.75, 0.0]], {"box": build.box(size)}, dimension=3, orientation=turn[None] / np.linalg.norm(turn),
        velocity=[[0.0, -1.0, 0.0]], spin=spin, friction=0.5, gravity=[0.0, -10.0, 0.0], walls=[floor()],
    )  # fmt: skip


@pytest.mark.parametrize("turns", [0, stepper.TURNS])
def test_a_step_that_further_solves_do_not_solve_is_told(monkeypatch, turns):
    """With none allowed, a step in which a corner turns in has failed; else none has."""
    monkeypatch.setattr(stepper, "TURNS", turns)
    simulation, why = exactly(spinning_box(1), 5e-3), set()
    for _ in range(100):
        simulation.step()
        why |= {simulation.last_solve.why} if simulation.last_solve.exhausted else set()
    assert any("turn into each other" in text for text in why) is (turns == 0)
    assert (simulation.report().exhausted_steps > 0) is (turns == 0)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_corners_that_spin_on_a_wall_do_not_sink_in(seed):
    """A box whose corner stays on a floor while its axis of spin leans: a step of the corner adds a^2 l/4 at most.

    Each is less than what is let through, and without a look at the depth itself they add up.
    """
    bodies = spinning_box(seed)
    simulation = exactly(bodies, 5e-3)
    for _ in range(100):
        simulation.step()
        assert simulation.contacts.deepest < 1.01 * TOO_DEEP * bodies.radius[0]
        certificate = check(Frame.of(simulation))
        assert certificate.passed, str(certificate)


def test_where_the_step_will_take_the_grains():
    """`turned_ahead` and `vertex_gaps_ahead` tell what the step then does, to the bit and to rounding."""
    bodies = thrown(3, 8, walls=[floor()])
    grains, dt = np.arange(8, dtype=np.int32), 0.01
    ahead = turned_ahead(bodies, dt)
    gap = vertex_gaps_ahead(bodies, 0, grains, np.zeros(8, np.int64), ahead, dt)
    move(bodies, dt)
    np.testing.assert_array_equal(bodies.orientation, ahead)
    balls = balls_of(bodies, grains)
    np.testing.assert_allclose(gap, (balls.place[:, 1] - balls.radius)[balls.first], rtol=0.0, atol=1e-14)


def test_grains_at_rest_are_solved_once():
    """Where nothing moves far within a step nobody looks for turns."""
    bodies = thrown(2, 9, inward=0.0)
    bodies.velocity[:] = 0.0
    bodies.motion[:, 3:6] = 0.0
    simulation = exactly(bodies, 1e-4)
    simulation.step()
    assert simulation.contacts.sunk(bodies, simulation.dt) is None


def test_normals_of_crossing_edges_turn_by_more_than_the_edges():
    """Two lines that cross: |d - d_0 - dt V_n| stays within what `turned` says, and not within the turn alone."""
    rng, beyond = np.random.default_rng(1), 0
    for _ in range(2000):
        angle, turn, gap = math.radians(rng.uniform(5.0, 90.0)), rng.uniform(0.0, 0.04), 0.1
        edge = np.array([math.cos(angle), math.sin(angle), 0.0])
        way = rng.normal(size=3) * 0.1
        spin = rng.normal(size=3)
        spin *= turn / np.linalg.norm(spin)
        twisted = edge + np.cross(spin, edge) + 0.5 * np.cross(spin, np.cross(spin, edge))
        normal = np.cross([1.0, 0.0, 0.0], twisted)
        distance = (np.array([0.0, 0.0, gap]) + way) @ normal / np.linalg.norm(normal)
        miss = abs(distance - gap - way[2])
        moved = np.linalg.norm(way) + turn * gap  # the point of the edge and its lever
        assert miss <= turned(np.array([math.sin(angle)]), np.array([turn]))[0] * moved * (1.0 + turn)
        beyond += miss > turn * moved
    assert beyond > 0
