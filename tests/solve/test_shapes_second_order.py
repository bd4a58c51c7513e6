"""The second-order method and the laboratory where contacts have levers: a struck tower of blocks, in 2D and 3D."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rigidgrains as rg
from rigidgrains.laboratory.recheck import check_step
from rigidgrains.solve.criteria import ResidualCriterion
from rigidgrains.solve.kernels.factory import without_forces
from rigidgrains.solve.second_order import SecondOrder
from rigidgrains.solve.sweeps import Sweeps

SIDE, DT = 0.1, 1e-3


def struck_tower(dimension):
    """The problem of the step in which the topmost of four blocks is struck from aside, without its forces."""
    scene = rg.Scene(dimension=dimension, gravity=(0, -9.81) if dimension == 2 else (0, 0, -9.81), friction=0.4)
    scene.add_shape("block", box=[SIDE] * dimension)
    up = np.eye(dimension)[-1]
    blocks = [(k + 0.5) * SIDE * up for k in range(4)]
    turn = {"angles": [0.0] * 4} if dimension == 2 else {"quaternions": [[1.0, 0.0, 0.0, 0.0]] * 4}
    scene.add_grains(positions=blocks, shape="block", size="as drawn", **turn)
    scene.add_plane("floor", point=[0.0] * dimension, normal=up.tolist())
    simulation = rg.Simulation(scene, dt=DT, accuracy="exact", seed=1)
    simulation.run(steps=5)
    contacts, bodies = simulation.contacts, simulation.bodies
    problem = contacts.problem(bodies, DT).copy()
    problem.motion[:] = without_forces(problem)
    problem.motion[3, 0] += 0.3
    problem.motion[3, 5] += 0.05  # and turned a little: contacts at one side open
    problem.forces[:] = 0.0
    return problem


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_second_order_method_moves_a_struck_tower_as_sweeps_do(dimension):
    problem = struck_tower(dimension)
    assert problem.count == (8 if dimension == 2 else 16)
    moved = {}
    for solver in (
        SecondOrder(criterion=ResidualCriterion(1e-10)),
        Sweeps(criterion=ResidualCriterion(1e-10), max_sweeps=200_000),
    ):
        own = replace(problem, motion=problem.motion.copy(), forces=problem.forces.copy())
        report = solver.solve(own, np.random.default_rng(0))
        assert report.converged
        assert check_step(problem, own.forces) <= 1e-8  # the laws by other formulas, of the laboratory
        moved[type(solver).__name__] = own.motion[:, :6]
    one, other = moved.values()
    assert np.abs(one[3, 0] - problem.motion[3, 0]) > 1e-3  # friction acts
    np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-6 * 0.3)
