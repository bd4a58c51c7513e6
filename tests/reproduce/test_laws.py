"""Targets of `rigidgrains reproduce` about the laws, in their quick form, and the event-driven reference they use."""

from __future__ import annotations

import importlib
import math

import numpy as np
import pytest

from rigidgrains.reproduce import events


@pytest.mark.parametrize("name", ["graphs", "criteria", pytest.param("collision", marks=pytest.mark.slow)])
def test_every_row_of_a_target_passes(name):
    """Each row within its tolerance, shares of progress that rise to one, a figure and notes."""
    shares: list[float] = []
    result = importlib.import_module(f"rigidgrains.reproduce.{name}").run(True, shares.append)
    assert [row.quantity for row in result.rows if not row.passed] == []
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)
    assert result.figure.axes
    assert result.notes


# The event-driven reference against exact cases


def test_two_disks_collide_when_and_as_they_should():
    """An elastic head-on collision swaps the velocities; the disks touch when the gap of 2 is closed at speed 1."""
    position, velocity = np.array([[0.0, 0.0], [3.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 0.0]])
    flight = events.disks(position, velocity, 1.0, until=5.0)
    np.testing.assert_allclose(flight.times, [2.0], rtol=1e-14)
    np.testing.assert_array_equal(flight.pairs, [[0, 1]])
    np.testing.assert_allclose(velocity, [[0.0, 0.0], [1.0, 0.0]], atol=1e-14)
    np.testing.assert_allclose(position, [[2.0, 0.0], [6.0, 0.0]], rtol=1e-14)


def test_an_oblique_inelastic_collision_keeps_the_tangential_velocity():
    """Impact parameter 0.6: the normal is (0.8, 0.6), and e = 0 takes the energy m_n V_n^2/2 = V_n^2/4."""
    position, velocity = np.array([[0.0, 0.0], [2.0, 0.6]]), np.array([[1.0, 0.0], [0.0, 0.0]])
    flight = events.disks(position, velocity, 0.0, until=2.0)
    np.testing.assert_allclose(flight.times, [1.2], rtol=1e-13)
    np.testing.assert_allclose(velocity, [[1.0 - 0.4 * 0.8, -0.4 * 0.6], [0.4 * 0.8, 0.4 * 0.6]], rtol=1e-13)
    assert flight.energy[0] - flight.energy[1] == pytest.approx(0.8**2 / 4.0, rel=1e-13)


@pytest.mark.parametrize("e", [0.7, 1.0])
def test_a_gas_keeps_momentum_and_loses_energy_only_if_inelastic(e):
    """Forty disks fly at each other; e = 1 keeps the energy, no disk enters another."""
    rng = np.random.default_rng(3)
    axis = 2.0 * np.arange(7) - 6.0
    position = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)[:40] + rng.uniform(-0.4, 0.4, (40, 2))
    velocity = rng.normal(size=(40, 2)) - 0.3 * position
    momentum = velocity.sum(axis=0)
    flight = events.disks(position, velocity, e, until=10.0)
    assert flight.ended
    assert len(flight.times) > 40
    np.testing.assert_allclose(velocity.sum(axis=0), momentum, atol=1e-12)
    if e == 1.0:
        np.testing.assert_allclose(flight.energy, flight.energy[0], rtol=1e-12)
    else:
        assert np.all(np.diff(flight.energy) < 0.0)
    distance = np.linalg.norm(position[:, None] - position, axis=-1)
    assert distance[np.triu_indices(40, 1)].min() > 1.0 - 1e-9


def test_elastic_grains_in_a_row_pass_their_velocities_on():
    """Newton's cradle: two collisions, the last grain leaves with the first one's velocity."""
    flight = events.column(np.array([1.0, 2.0]), np.array([1.0, 0.0, 0.0]), 1.0, wall=False)
    assert flight.ended
    np.testing.assert_allclose(flight.times, [1.0, 3.0], rtol=1e-14)
    np.testing.assert_array_equal(flight.pairs, [[0, 1], [1, 2]])
    np.testing.assert_allclose(flight.energy, 0.5, rtol=1e-14)


def test_a_bouncing_ball_comes_to_rest_in_finite_time():
    """Dropped from height h, its infinitely many bounces end at sqrt(2h/g) (1 + e)/(1 - e)."""
    flight = events.column(np.array([1.0]), np.array([0.0]), 0.5, wall=True, gravity=2.0, most=100)
    assert not flight.ended
    assert flight.times[0] == pytest.approx(1.0, rel=1e-14)
    assert flight.times[-1] == pytest.approx(3.0, rel=1e-12)
    np.testing.assert_allclose(flight.energy[1:6], 2.0 * 0.25 ** np.arange(1, 6), rtol=1e-12)


@pytest.mark.parametrize(
    ("gaps", "speeds", "wall", "critical"),
    [
        ([1.0, 0.7], [1.0, 0.0, -1.0], False, 7.0 - 4.0 * math.sqrt(3.0)),
        ([1.0, 1.0], [-1.0, -1.0], True, 3.0 - 2.0 * math.sqrt(2.0)),
        ([1.0, 1.0, 1.0], [-1.0, -1.0, -1.0], True, 1.0 / 3.0),
    ],
)
def test_a_row_collapses_below_the_critical_restitution(gaps, speeds, wall, critical):
    """McNamara & Young 1992, Bernu & Mazighi 1990: finitely many collisions above it, infinitely many below."""
    below = events.column(np.array(gaps), np.array(speeds), 0.99 * critical, wall=wall)
    above = events.column(np.array(gaps), np.array(speeds), 1.01 * critical, wall=wall)
    assert not below.ended
    assert above.ended
    assert len(above.times) < 100
