"""Cells that deform in matrix form: FCLIB's problem, the second-order method and the laboratory know their flow."""

from __future__ import annotations

import numpy as np
import pytest
from support.builders import prepare
from support.cells import CONTROLS, cell_of, gas

from rigidgrains.laboratory.recheck import check_step
from rigidgrains.laboratory.step import StepCase
from rigidgrains.model.columns import BRANCH, L, S, V
from rigidgrains.solve.accelerated import AcceleratedSweeps
from rigidgrains.solve.criteria import ResidualCriterion
from rigidgrains.solve.kernels.factory import apply_forces
from rigidgrains.solve.matrix.step import forces, frames, global_problem, impulses
from rigidgrains.solve.residual import residual
from rigidgrains.solve.second_order import SecondOrder

DT = 0.05


def compressed(control, seed=1):
    """The first problem of a gas in a cell, in which grains fly at each other."""
    return prepare(gas(60, side=10.5, seed=seed, cell=cell_of(10.5, 10.5, **control)), DT)


def contact_velocities(problem):
    """(c, 2) u of FCLIB from the velocities of the engine: V with the flow of the cell, in the frame, and gap/dt."""
    p = problem
    i, j = p.pairs.T
    v = p.motion[j, V] - p.motion[i, V] - np.cross(p.motion[i, S] + p.motion[j, S], p.normal)
    v += p.branch[:, [BRANCH]] * (p.normal @ p.flow[:, L].T)
    u = np.einsum("cij,cj->ci", frames(p.normal, 2)[:, :2], v)
    u[:, 0] += p.to_close / p.dt
    return u


@pytest.mark.parametrize("control", CONTROLS)
def test_the_matrices_are_those_of_the_engine(control):
    """u = W r + q for any r, as forces that act in the engine make it; free components of L among what moves."""
    problem = compressed(control)
    problem.forces[:, :3] = np.random.default_rng(2).normal(size=(problem.count, 3))
    problem.forces[:, 1:] -= (problem.forces[:, 1:] * problem.normal).sum(axis=1)[:, None] * problem.normal
    stated = global_problem(problem, dimension=2)
    r = impulses(problem, 2).ravel()
    np.testing.assert_allclose(forces(problem, r, 2), problem.forces, atol=1e-12)
    apply_forces(problem)
    expected = contact_velocities(problem).ravel()
    local = stated.local()
    np.testing.assert_allclose(local.W @ r + local.q, expected, atol=1e-10)
    np.testing.assert_allclose(stated.H.T @ stated.body_velocity(r) + stated.w, expected, atol=1e-10)
    solved = global_problem(problem, dimension=2, solved=True)
    np.testing.assert_allclose(solved.local().q, local.q, atol=1e-10)


@pytest.mark.parametrize("control", CONTROLS)
def test_the_second_order_method_solves_them(control, rng):
    """To rounding, and so do sweeps; both satisfy a residual that shares nothing with either."""
    found, swept = compressed(control), compressed(control)
    free = found.copy()
    report = SecondOrder(criterion=ResidualCriterion(1e-10)).solve(found, rng)
    assert report.converged
    assert report.sweeps > 0
    assert AcceleratedSweeps(criterion=ResidualCriterion(1e-9), fallback=0).solve(swept, rng).converged
    for p in (found, swept):
        assert residual(p) < 1e-8
        assert check_step(free, p.forces) < 1e-8
    assert check_step(free, 1.001 * found.forces) > 1e-4


def test_a_copy_has_a_cell_of_its_own():
    problem = compressed(CONTROLS[2])
    problem.forces[:, 0] = 1.0
    other = problem.copy()
    before = problem.motion.copy()
    apply_forces(other)
    assert np.abs(other.flow - problem.flow).max() > 0.0
    assert np.shares_memory(other.flow, other.motion)
    np.testing.assert_array_equal(problem.motion, before)


@pytest.mark.parametrize("control", [CONTROLS[0], CONTROLS[2]])
def test_the_laboratory_compares_solvers_on_them(control):
    case = StepCase("cell", compressed(control))
    for name in ("coloured", "accelerated", "second-order"):
        trial = case.try_solver(name, tolerance=1e-6, max_sweeps=20_000, seed=0)
        assert trial.converged, name
        assert trial.checked < 1e-5
