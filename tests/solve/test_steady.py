"""The extrapolation factor, and how flow and rest are told apart."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.builders import belt, column, grains, prepare, triangular
from support.cells import SHEAR, cell_of, gas

from rigidgrains.laws import Rolling
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.solve.accelerated import AcceleratedSweeps
from rigidgrains.solve.criteria import FixedSweeps
from rigidgrains.solve.steady import AT_REST, IN_FLOW, LEAST, MOST, ExtrapolationFactor
from rigidgrains.solve.virtual_power import flows, power_sums, powers

DT = 0.01


def risen(factor: ExtrapolationFactor, cosine: float, times: int) -> float:
    for _ in range(times):
        factor.rise(cosine)
    return factor.beta


def test_the_factor_rises_as_nesterov_has_it():
    """beta = (theta - 1)/theta' with theta' = (1 + sqrt(1 + 4 theta^2))/2, from theta = 1; close to 1 - 3/k."""
    factor, theta = ExtrapolationFactor(30.0), 1.0
    for _ in range(199):
        above = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * theta**2))
        factor.rise(0.1)
        assert factor.beta == pytest.approx((theta - 1.0) / above)
        theta = above
    assert factor.beta == pytest.approx(1.0 - 3.0 / 199, abs=0.01)
    factor.begin_anew()
    assert factor.beta == 0.0


@pytest.mark.parametrize(("flowing", "cosine"), [(False, AT_REST), (True, IN_FLOW)])
def test_a_steady_factor_keeps_its_cosine(flowing, cosine):
    """More where changes and steps agree better than that, less where they do not, within bounds."""
    factor = ExtrapolationFactor(10.0)
    factor.keep_steady(flows=flowing)
    assert risen(factor, cosine, 200) == pytest.approx(0.9)  # 1 - d/L, where it begins
    assert risen(factor, cosine - 0.1, 20) < 0.9
    assert risen(factor, cosine + 0.1, 40) > 0.9
    assert risen(factor, 0.0, 2000) == pytest.approx(1.0 - MOST)
    assert risen(factor, 1.0, 5000) == pytest.approx(1.0 - LEAST)


def test_a_lowered_factor_may_rise_again():
    factor = ExtrapolationFactor(100.0)
    factor.keep_steady(flows=True)
    risen(factor, IN_FLOW, 2000)
    factor.lower()
    factor.begin_anew()
    assert risen(factor, IN_FLOW, 50) == pytest.approx(1.0 - MOST)
    assert risen(factor, 1.0, 100) > 1.0 - MOST


def test_a_disk_on_a_moving_belt_flows_until_it_rolls():
    """What slides is dissipated by a contact that obeys its law; a disk that rolls dissipates nothing."""
    for speed, slides in ((5.0, True), (0.0, False)):
        bodies = grains([[0.0, 1.0, 0.0]], dimension=2, gravity=[0.0, -10.0, 0.0], walls=[belt([speed, 0.0, 0.0])])
        bodies.friction[:] = 0.3
        problem = prepare(bodies, DT)
        AcceleratedSweeps().solve(problem, np.random.default_rng(0))
        assert flows(problem) is slides


def test_a_packing_on_its_way_to_rest_does_not_flow():
    """What slides there is a part of what is wrong, however little is left of that."""
    for sweeps in (20, 60, 200, 600):
        problem = prepare(triangular(12, 12, mu=0.2, g=1.0), DT)
        AcceleratedSweeps(criterion=FixedSweeps(sweeps)).solve(problem, np.random.default_rng(0))
        found = powers(problem)
        assert found.slid < found.lost + found.gained
        assert not flows(problem)


def test_nothing_flows_without_forces():
    problem = prepare(column(3, g=0.0), DT)
    assert not flows(problem)


@pytest.mark.parametrize("rolls", [False, True])
def test_what_slides_in_a_sheared_cell_goes_with_its_strain(rolls):
    """Grains at rest among themselves: V_t is the tangential part of L b, and with torques the spins count as well."""
    bodies = gas(30, side=5.5, cell=cell_of(5.5, 5.5, rate=0.7 * SHEAR), speed=0.0)
    bodies.laws = [Rolling(0.1)] if rolls else []
    simulation = Simulation(bodies, dt=DT, solver=AcceleratedSweeps(criterion=FixedSweeps(1)))
    simulation.step()
    bodies.motion[: bodies.count, :6] = 0.0
    contacts = simulation.contacts
    problem = contacts.problem(bodies, DT)
    assert problem.count > 20
    problem.forces[:] = 0.0
    problem.forces[:, 0] = 2.0
    bodies.motion[: bodies.count, 5] = spin = np.linspace(-1.0, 1.0, bodies.count)  # s = lever * spin, about z
    branch = (bodies.radius[contacts.pairs].sum(axis=1) + contacts.gap)[:, None] * contacts.normal
    turning = spin[contacts.pairs].sum(axis=1)[:, None] * np.cross([0.0, 0.0, 1.0], contacts.normal)
    v = branch @ (0.7 * SHEAR).T - turning
    v_t = v - (v * contacts.normal).sum(axis=1)[:, None] * contacts.normal
    expected = 2.0 * (problem.geometry[:, 6] * np.linalg.norm(v_t, axis=1)).sum()
    if rolls:
        expected += 0.1 * 2.0 * np.abs(np.diff((spin / bodies.radius)[contacts.pairs])).sum()  # mu_r R_n |W|
    assert power_sums(problem, 1.0)[2] == pytest.approx(expected, rel=1e-9)
