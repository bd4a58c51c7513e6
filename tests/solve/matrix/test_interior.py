"""The second-order method: certified to 1e-10 without a sweep, and in agreement with the sweeps."""

from __future__ import annotations

import numpy as np
import pytest
from support.builders import chain, cloud, column, prepare, triangular

from rigidgrains.app.bench import dense_problem
from rigidgrains.fclib import global_problem, local_problem, solve_problem
from rigidgrains.laboratory.recheck import check_matrix
from rigidgrains.solve.matrix import solve
from rigidgrains.solve.matrix.interior import apply, divide, largest_step, scaling, velocity_in_cone
from rigidgrains.solve.matrix.polish import into_cone


def inside(n, seed=0):
    """Points inside the circular cone."""
    rng = np.random.default_rng(seed)
    t = rng.normal(size=(n, 2))
    return np.column_stack([np.linalg.norm(t, axis=1) + rng.uniform(0.01, 1.0, n), t])


def product(x, y):
    """x o y, by definition."""
    return np.column_stack([(x * y).sum(1), x[:, :1] * y[:, 1:] + y[:, :1] * x[:, 1:]])


def test_scaling_brings_both_to_the_same_point():
    """F y = F^-1 x and F^-1 F = 1."""
    x, u = inside(200), np.random.default_rng(1).normal(size=(200, 3))
    u[:, 0] = np.abs(u[:, 0]) + 0.01
    y = velocity_in_cone(u)
    F, back = scaling(x, y, u)
    np.testing.assert_allclose(apply(F, y), apply(back, x), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(F @ back, np.broadcast_to(np.eye(3), F.shape), atol=1e-9)


def test_division_undoes_the_product():
    x, z = inside(200), np.random.default_rng(2).normal(size=(200, 3))
    np.testing.assert_allclose(divide(product(x, z), x), z, rtol=1e-7, atol=1e-7)


def test_the_largest_step_ends_on_the_cone():
    """One contact at a time: at the end of the step |x_t| = x_n or u_n = 0, and before it both are inside."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        x, dx, du = inside(1, int(rng.integers(1 << 30))), rng.normal(size=(1, 3)), rng.normal(size=(1, 3))
        u = np.array([[1.0, 0.0, 0.0]])
        step = largest_step(x, u, dx, du)
        if not np.isfinite(step):
            continue
        end, opening = (x + step * dx)[0], (u + step * du)[0, 0]
        margin = end[0] - np.hypot(*end[1:])
        assert min(margin, opening) == pytest.approx(0.0, abs=1e-8 * (1.0 + step))
        assert max(margin, opening) >= -1e-8 * (1.0 + step)


def test_into_cone_keeps_what_is_inside():
    mu = np.array([0.5, 0.5, 0.0])
    r = into_cone(np.array([[2.0, 0.3, 0.4], [-1.0, 1.0, 0.0], [1.0, 3.0, 0.0]]), mu)
    np.testing.assert_array_equal(r, [[2.0, 0.3, 0.4], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])


WORLDS = {
    "pressed disks": lambda mu: prepare(triangular(8, 8, mu=mu, g=1.0), 1e-2),
    "colliding disks": lambda mu: prepare(cloud(60, mu=mu, dimension=2, speed=30.0), 1e-2),
    "colliding spheres": lambda mu: prepare(cloud(60, mu=mu, speed=30.0), 1e-2),
}


def no_sweep(*_, **__):
    raise AssertionError("a sweep was made")


@pytest.fixture
def without_sweeps(monkeypatch):
    """Sweeps of any kind are mistakes."""
    monkeypatch.setattr(
        "rigidgrains.solve.matrix.general.BlockRows.sweep",
        lambda rows, r, sequence: no_sweep() if len(sequence) else None,
    )
    monkeypatch.setattr(solve, "accelerated_sweeps", no_sweep)
    monkeypatch.setattr(solve, "plain_sweeps", no_sweep)
    return monkeypatch


def dual_energy(problem, r):
    """(r W r)/2 + q r: of a problem without friction, what its solution makes least."""
    local = problem.local()
    return 0.5 * r @ (local.W @ r) + local.q @ r


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("mu", [0.0, 0.05, 0.3, 1.0])
@pytest.mark.parametrize("form", [local_problem, global_problem])
def test_certified_without_sweeps_and_equal_to_the_sweeps(world, mu, form, without_sweeps):
    """1e-10 by W and by bodies, measured by other formulas; velocities and energies are those of sweeps.

    Without friction velocities are unique. With friction they need not be; here sweeps and second order agree on them,
    wherever sweeps come to an answer.
    """
    problem = form(WORLDS[world](mu))
    found = solve_problem(problem, solver="second-order", tolerance=1e-10)
    without_sweeps.undo()
    assert found.solver == "second-order"
    assert found.converged
    assert found.iterations > 0
    assert check_matrix(problem, found.r) <= 1e-10
    swept = solve_problem(problem, solver="sweeps", tolerance=1e-11)
    if mu == 0.0:  # a convex problem
        assert swept.converged
    if swept.converged:
        np.testing.assert_allclose(found.u, swept.u, atol=1e-7 * np.linalg.norm(problem.local().q))
        energies = dual_energy(problem, found.r), dual_energy(problem, swept.r)
        assert energies[0] == pytest.approx(energies[1], rel=1e-7)


def test_most_of_these_cases_are_solved_by_sweeps_too():
    """So that the agreement above means something."""
    solved = 0
    for world in WORLDS.values():
        for mu in (0.05, 0.3, 1.0):
            solved += solve_problem(local_problem(world(mu)), solver="sweeps", tolerance=1e-11).converged
    assert solved >= 6


def test_it_may_be_warmed_up_and_says_so():
    problem = local_problem(WORLDS["pressed disks"](0.3))
    found = solve_problem(problem, solver="second-order", tolerance=1e-10, warm=20)
    assert found.solver == "second-order after 20 sweeps"
    assert found.converged
    for wrong in ({"solver": "second-order", "warm": -1}, {"solver": "sweeps", "warm": 10}):
        with pytest.raises(ValueError, match=r"warm = .* is no number of sweeps before solver = 'second-order'"):
            solve_problem(problem, **wrong)


@pytest.mark.parametrize("ratio", [1e3, 1e6, 1e9])
@pytest.mark.parametrize("dimension", [2, 3])
def test_heavy_among_light(ratio, dimension):
    """Every fifth body of a column heavier by the ratio; each contact carries the weight above it."""
    mass = np.where(np.arange(20) % 5 == 4, ratio, 1.0)
    problem = prepare(column(20, mass=mass, g=10.0, friction=0.3), 1e-2)
    found = solve_problem(global_problem(problem, dimension=dimension), solver="second-order", tolerance=1e-8)
    assert found.iterations > 0
    assert found.converged == (ratio < 1e9)  # velocities are then lost in the rounding of large forces
    order = np.argsort(problem.points()[:, 1])
    r_n = found.r.reshape(-1, dimension)[order, 0] / problem.dt
    np.testing.assert_allclose(r_n, 10.0 * np.cumsum(mass[::-1])[::-1], rtol=1e-5)


def test_forces_known_from_theory():
    """A column of weights and a pressed chain, without friction and with it."""
    for mu in (0.0, 0.5):
        problem = prepare(column(10, g=10.0, friction=mu), 1e-2)
        found = solve_problem(global_problem(problem, dimension=3), solver="second-order", tolerance=1e-11)
        assert found.iterations > 0
        r_n = np.sort(found.r.reshape(-1, 3)[:, 0]) / problem.dt
        np.testing.assert_allclose(r_n, 10.0 * np.arange(1, 11), rtol=1e-8)
    problem = prepare(chain(100, force=2.0), 1e-2)
    found = solve_problem(local_problem(problem), solver="second-order", tolerance=1e-12)
    np.testing.assert_allclose(found.r.reshape(-1, 2)[:, 0] / problem.dt, 2.0, rtol=1e-8)


@pytest.mark.parametrize("mu", [0.0, 0.3])
def test_a_squeezed_lattice_of_spheres(mu):
    """Some hundred contacts, many of them sliding."""
    _, problem = dense_problem(200)
    problem.geometry[:, 6] = mu
    found = solve_problem(global_problem(problem), solver="second-order", tolerance=1e-10)
    assert found.converged
    assert found.iterations > 0


def test_giving_up_is_said():
    _, problem = dense_problem(200)
    found = solve_problem(global_problem(problem), solver="second-order", tolerance=1e-30, max_iterations=3)
    assert not found.converged
    assert found.reason


@pytest.mark.slow
@pytest.mark.parametrize("mu", [0.0, 0.3])
def test_thousands_of_contacts(mu):
    _, problem = dense_problem(1190)
    problem.geometry[:, 6] = mu
    found = solve_problem(global_problem(problem), solver="second-order", tolerance=1e-10)
    assert found.contacts > 2500
    assert found.converged


@pytest.mark.parametrize("parts", [(), solve.GROWING])
def test_growing_friction_leads_to_a_solution(parts, monkeypatch):
    """With neither an interior point nor enough sweeps from no forces."""
    monkeypatch.setattr(solve, "MOST", {**solve.MOST, "auto": 20})
    monkeypatch.setattr(solve, "GROWING", parts)
    monkeypatch.setattr("rigidgrains.solve.matrix.second_order.BEGINNINGS", ())
    problem = global_problem(WORLDS["pressed disks"](0.5))
    found = solve_problem(problem, tolerance=1e-10)
    assert found.solver == "accelerated, then second-order"
    assert found.converged == bool(parts)
