"""The network of springs that sweeps make of contacts: the chain of the paper is its simplest case."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.builders import UP, exact, floor, grains, plane

from rigidgrains import Simulation
from rigidgrains.reproduce.network import kinematics, piston_rate, random_factor
from rigidgrains.reproduce.packing_fits import wave_number
from rigidgrains.theory import Q_RANDOM


def test_the_factor_of_a_random_sweep():
    """b = 1/2 is Eq. (q-randsweep); without return, as with very many neighbours, the factor is e - 1."""
    assert random_factor(0.5) == pytest.approx(4.0 * math.sqrt(math.e) - 5.0, rel=1e-12)
    assert random_factor(0.5) == pytest.approx(2.0 * Q_RANDOM, rel=1e-12)
    assert random_factor(1e-12) == pytest.approx(math.e - 1.0, rel=1e-9)


def test_the_factor_by_drawing_orders():
    """A tree of contacts with k = 6 neighbours, b = 1/6, updated at random times: the mean change is the factor."""
    rng = np.random.default_rng(0)

    def change(time, neighbours):
        times = rng.random(neighbours)
        return 1.0 + sum(change(s, 5) for s in times if s < time) / 6.0

    drawn = [change(rng.random(), 6) for _ in range(20_000)]
    assert np.mean(drawn) == pytest.approx(random_factor(1.0 / 6.0), abs=4.0 * np.std(drawn) / math.sqrt(len(drawn)))


def column(n, piston_mass=1.0):
    """Upright disks of diameter and mass 1 between a floor and a piston, at rest under its load."""
    position = np.zeros((n, 3))
    position[:, 1] = 0.5 + np.arange(n)
    lid = plane([0.0, n, 0.0], -UP, name="piston", mass=piston_mass, load=1.0)
    simulation = Simulation(grains(position, 0.5, dimension=2, walls=[floor(), lid]), dt=1.0, solver=exact())
    simulation.step()
    return simulation


def test_a_chain_under_a_piston_has_the_speed_of_the_paper():
    """c^2/N_I = q d^2/dt^2: rate = q k^2, with k of a column on a fixed base under the mass of the piston."""
    n = 100
    k = wave_number(n / 1.0) / n
    assert piston_rate(column(n)) == pytest.approx(Q_RANDOM * k**2, rel=0.02)  # ends are worth about one grain


def test_kinematics_is_the_contact_velocity():
    """H^T on random velocities gives Eq. (contact-veloc) of every contact, and H M^-1 H^T the masses of its rows."""
    simulation = column(5)
    shift, mass = kinematics(simulation)
    contacts, bodies = simulation.contacts, simulation.bodies
    carrying = contacts.forces[:, 0] > 0.0
    own = (shift @ np.diag(1.0 / mass) @ shift.T).diagonal()
    assert own == pytest.approx(1.0 / contacts.geometry[carrying, 4])
    unknowns = np.random.default_rng(1).normal(size=len(mass))
    bodies.motion[:5, 0:2] = unknowns[:-1].reshape(5, 3)[:, :2]
    bodies.motion[6, 1] = unknowns[-1]
    i, j = contacts.pairs[carrying].T
    normal = ((bodies.motion[j, 0:3] - bodies.motion[i, 0:3]) * contacts.normal[carrying]).sum(axis=1)
    assert shift @ unknowns == pytest.approx(normal)
