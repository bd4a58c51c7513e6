"""How much momentum sweeps have, and how flow and rest are told apart."""

from __future__ import annotations

import math

import numpy as np
import pytest
from builders import belt, column, grains, prepare, triangular

from rigidgrains.solve.accelerated import AcceleratedSweeps
from rigidgrains.solve.criteria import FixedSweeps
from rigidgrains.solve.power import flows, powers
from rigidgrains.solve.steady import AT_REST, IN_FLOW, LEAST, MOST, Amount

DT = 0.01


def risen(amount: Amount, cosine: float, times: int) -> float:
    for _ in range(times):
        amount.rise(cosine)
    return amount.beta


def test_momentum_rises_as_nesterov_has_it():
    """beta = (theta - 1)/theta' with theta' = (1 + sqrt(1 + 4 theta^2))/2, from theta = 1; close to 1 - 3/k."""
    amount, theta = Amount(30.0), 1.0
    for _ in range(199):
        above = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * theta**2))
        amount.rise(0.1)
        assert amount.beta == pytest.approx((theta - 1.0) / above)
        theta = above
    assert amount.beta == pytest.approx(1.0 - 3.0 / 199, abs=0.01)
    amount.begin_anew()
    assert amount.beta == 0.0


@pytest.mark.parametrize(("flowing", "cosine"), [(False, AT_REST), (True, IN_FLOW)])
def test_steady_momentum_keeps_its_cosine(flowing, cosine):
    """More where changes and steps agree better than that, less where they do not, within bounds."""
    amount = Amount(10.0)
    amount.keep_steady(flows=flowing)
    assert risen(amount, cosine, 200) == pytest.approx(0.9)  # 1 - d/L, where it begins
    assert risen(amount, cosine - 0.1, 20) < 0.9
    assert risen(amount, cosine + 0.1, 40) > 0.9
    assert risen(amount, 0.0, 2000) == pytest.approx(1.0 - MOST)
    assert risen(amount, 1.0, 5000) == pytest.approx(1.0 - LEAST)


def test_lowered_momentum_may_rise_again():
    amount = Amount(100.0)
    amount.keep_steady(flows=True)
    risen(amount, IN_FLOW, 2000)
    assert not amount.lowered
    amount.lower()
    assert amount.lowered
    amount.begin_anew()
    assert risen(amount, IN_FLOW, 50) == pytest.approx(1.0 - MOST)
    assert risen(amount, 1.0, 100) > 1.0 - MOST


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
