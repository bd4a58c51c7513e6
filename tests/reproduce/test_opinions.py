"""Second opinions of `reproduce` obey laws of their own: means over orders, momentum, modes of a column."""

from __future__ import annotations

import copy
import itertools
import math

import numpy as np
import pytest
from support.builders import UP, exact, floor, grains, plane

from rigidgrains import Simulation
from rigidgrains.reproduce.collision import least_parting
from rigidgrains.reproduce.finite_chain import mean_sweep, slowest_wave
from rigidgrains.reproduce.network import all_modes, piston_rate
from rigidgrains.reproduce.packing_waves import compress
from rigidgrains.reproduce.relaxation import Network, network_of
from rigidgrains.reproduce.written_out import written_out
from rigidgrains.solve.criteria import FixedSweeps
from rigidgrains.solve.sweeps import Sweeps
from rigidgrains.theory import Q_RANDOM, damping_time, frequency, stiffness


def test_the_mean_sweep_is_the_mean_over_all_orders():
    """Five contacts, 120 orders, each swept as Eq. (1d-update) says; the wall's contact has one neighbour."""
    n = 5
    half = np.where(np.eye(n, k=1) + np.eye(n, k=-1) > 0, 0.5, 0.0)
    half[0, 1] = 1.0
    mean = np.zeros((n, 2 * n))
    for order in itertools.permutations(range(n)):
        state = np.eye(n, 2 * n)  # forces in terms of old forces and of the sources b
        for i in order:
            state[i] = half[i] @ state + np.eye(1, 2 * n, n + i)[0]
        mean += state / math.factorial(n)
    assert np.hstack(mean_sweep(n)) == pytest.approx(mean, abs=1e-14)


def test_the_slowest_wave_of_a_long_chain_is_that_of_the_paper():
    """Ends and steps count for less and less: 4 parts in 1000 at 100 disks and N_I = 10."""
    k = math.pi / 200.0
    omega, tau = slowest_wave(100, 10)
    assert omega == pytest.approx(frequency(k, Q_RANDOM, 10, 1.0, 1.0), rel=4e-3)
    assert tau == pytest.approx(damping_time(k, Q_RANDOM, 10, 1.0, 1.0), rel=4e-3)


def test_a_chain_written_out_comes_to_rest_under_its_load():
    """After a slow load nothing moves, overlaps far from the load are F/kappa, and the gaps add up to the way."""
    load = 0.05 * np.minimum(1.0, np.arange(1.0, 1201.0) / 200.0)
    chain = written_out(50, load, 3, sweeps=40)
    assert abs(chain.place[-1] - chain.place[-50]) < 1e-4
    assert chain.place == pytest.approx(chain.gap.sum(axis=1))
    assert -chain.gap[-1, 1:25].mean() == pytest.approx(0.05 / stiffness(Q_RANDOM, 40, 1.0, 1.0), rel=0.05)
    assert set(chain.sweeps) == {40}


def test_a_chain_written_out_flies_as_one_before_it_meets_the_wall():
    """Implicit Euler: F t (t + dt)/2 n m for the centre of mass, here with so many sweeps that the chain is rigid."""
    chain = written_out(5, np.full(10, 0.01), 0, sweeps=400, first=1.0)
    assert chain.place[-1] == pytest.approx(-0.01 * 10 * 11 / 2 / 5, rel=1e-6)


def column(n):
    """Upright disks with friction between a floor and a piston, at rest under its load."""
    position = np.zeros((n, 3))
    position[:, 1] = 0.5 + np.arange(n)
    lid = plane([0.0, n, 0.0], -UP, name="piston", mass=1.0, load=1.0)
    bodies = grains(position, 0.5, dimension=2, friction=0.5, walls=[floor(), lid])
    simulation = Simulation(bodies, dt=1.0, solver=exact())
    simulation.step()
    return simulation


def test_sweeps_over_a_network_stop_it_and_keep_its_momentum():
    """A push on one disk: in the end everything is at rest, and the floor has taken all momentum."""
    simulation = column(6)
    network = network_of(simulation, piston=1)
    network.velocity[3] = [0.0, -1.0, 0.0]
    network.velocity[5] = [0.3, 0.0, 0.0]
    push = float((network.momentum(1, 6)).sum())
    network.relax(network.random(2000, 0))
    assert np.abs(network.velocity[:6, 1]).max() < 1e-9
    base = network.pairs[:, 1] == 6
    assert network.force[base, 1].sum() == pytest.approx(push, abs=1e-9)  # on the floor, the second body
    i, j = network.pairs.T
    slide = (
        network.velocity[j, 0]
        - network.velocity[i, 0]
        + (network.spin[i, 2] + network.spin[j, 2]) * network.normal[:, 1]
    )
    assert np.abs(slide).max() < 1e-9  # all contacts stick


def test_the_slowest_of_all_modes_is_the_swing_of_the_piston():
    """Two ways to the same eigenvalue, in a packing without floppy modes; and a flow is seen whole at the start."""
    packing = compress(60, 2, sweeps=60)
    modes = all_modes(packing)
    assert modes.rates.min() == pytest.approx(piston_rate(packing), rel=1e-9)
    assert modes.rates.min() > 1e-3
    flow = np.random.default_rng(0).normal(size=len(modes.loose))
    assert modes.follow(flow, 0.0 * flow, flow, 10, 0)[0] == pytest.approx(flow @ flow)


def test_spheres_that_slide_stick_across_their_slip():
    """One sphere on a floor, at its limit of friction along x: pushed along x it slides, along y it rolls."""
    pairs, normal = np.array([[0, 1]]), np.array([[0.0, 0.0, -1.0]])
    mobility, turning = np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]), np.array([2.5, 0.0])
    for axis, sticks in ((0, False), (1, True)):
        network = Network(pairs, normal, np.array([False]), np.array([[0.3, 0.0, 0.0]]), mobility, turning)
        network.velocity[0, axis] = 1.0
        network.relax([np.array([0])])
        slide = network.velocity[0] + np.cross(network.spin[0], normal[0])  # at the floor
        assert bool(abs(slide[axis]) < 1e-12) is sticks
        assert np.allclose(network.force[0], [0.0, 0.0, 0.0] if not sticks else [0.0, 1.0 / 3.5, 0.0])


def test_the_least_motion_that_parts_a_pair():
    """Two disks of mass 1 with an overlap o: each leaves with o/2 dt, energy (o/dt)^2/4."""
    pair = grains(np.array([[0.0, 0.0, 0.0], [0.99, 0.0, 0.0]]), 0.5, dimension=2)
    simulation = Simulation(pair, dt=0.01, solver=Sweeps(criterion=FixedSweeps(1), gap="g"))
    start = copy.deepcopy(pair)
    simulation.step()
    least = least_parting(start, simulation.contacts)
    assert least.energy == pytest.approx(0.25 * (0.01 / 0.01) ** 2, rel=1e-6)
    assert least.speed == pytest.approx(0.0, abs=1e-12)
