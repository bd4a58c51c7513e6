"""Path following: heavy bodies that press light ones which slide, where an interior point gets stuck."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from support.builders import floor, grains, plane, prepare

from rigidgrains import AcceleratedSweeps, Bodies, SecondOrder
from rigidgrains.fclib import global_problem
from rigidgrains.solve.matrix import second_order
from rigidgrains.solve.matrix.interior import product, velocity_in_cone
from rigidgrains.solve.matrix.path import FAR, Path
from rigidgrains.solve.matrix.second_order import GlobalSystem, LocalSystem
from rigidgrains.solve.matrix.solve import in_space

DT = 0.02


def pressed(seed: int, ratio: float = 1e6) -> Bodies:
    """A piston of so many grain masses comes down at 8 m/s on a lattice of 27 disks that fly in all directions."""
    rng = np.random.default_rng(seed)
    lattice = [[1.0 + 2.0 * k + row % 2, 1.0 + np.sqrt(3.0) * row, 0.0] for row in range(6) for k in range(5 - row % 2)]
    position = 1.002 * np.array(lattice)
    position[:, :2] += 0.01 * rng.uniform(-1.0, 1.0, (len(position), 2))
    velocity = np.zeros_like(position)
    velocity[:, :2] = rng.normal(size=(len(position), 2)) * 4.0 - [0.0, 4.0]
    walls = [
        floor(),
        plane([0, 0, 0], [1, 0, 0], "left"),
        plane([10.04, 0, 0], [-1, 0, 0], "right"),
        plane([0, position[:, 1].max() + 1.01, 0], [0, -1, 0], "lid", mass=ratio),
    ]
    bodies = grains(
        position, 1.0, 1.0, dimension=2, friction=0.3, gravity=[0, -10.0, 0], velocity=velocity, walls=walls
    )
    bodies.motion[-1, 1] = -8.0
    return bodies


@pytest.mark.parametrize(("seed", "ratio"), [
    (0, 1e6),
    *(pytest.param(*case, marks=pytest.mark.slow) for case in [(0, 1e4), (1, 1e6), (0, 1e7)]),
])  # fmt: skip
def test_a_heavy_body_on_sliding_ones(seed, ratio):
    """Converged, and no rebound."""
    for solver in (SecondOrder(), AcceleratedSweeps()):
        problem = prepare(pressed(seed, ratio), DT)
        report = solver.solve(problem, np.random.default_rng(0))
        assert report.converged, report
        assert report.weakened == 1.0
        assert problem.motion[-1, 1] <= 0.0  # no rebound


def test_it_takes_a_path(monkeypatch):
    monkeypatch.setattr(second_order, "BEGINNINGS", tuple(b for b in second_order.BEGINNINGS if b[0] != "path"))
    assert not SecondOrder().solve(prepare(pressed(0), DT), np.random.default_rng(0)).converged


def test_points_stay_near_the_path_and_pass_turning_points():
    """u = W x + q + t n to rounding, x o y within a factor of t depth n; t rises on the way, and ends at nothing."""
    stated = global_problem(prepare(pressed(0), DT))
    local = stated.local()
    q = np.zeros((len(local.mu), 3))
    q[:, :2] = local.q.reshape(-1, 2)
    system = GlobalSystem(stated.M, in_space(stated.H, 2))
    point = Path.of(system, q, local.mu, 2, local.W.diagonal()[::2])
    point.begin(1e-4)
    t = [point.t]
    while point.t > 1e-6 and len(t) < 400:
        assert point.step() > 0.0
        t.append(point.t)
        pulled = point.scale * system.times(point.scale * point.x) + point.q - point.u
        pulled[:, 0] += point.t
        assert np.abs(pulled).max() <= 1e-9 * (point.t + np.abs(point.x).max())
        along = product(point.x, velocity_in_cone(point.u))[:, 0] / (point.t * point.depth)
        assert 1.0 / FAR <= along.min() <= along.max() <= FAR
    assert point.t <= 1e-6
    assert (np.diff(t) > 0.0).any()


@pytest.mark.parametrize("seed", range(6))
def test_sign_of_the_determinant(seed):
    """Against numpy's, of dense matrices."""
    rng = np.random.default_rng(seed)
    c = int(rng.integers(2, 6))
    W, left, scale = rng.normal(size=(3 * c, 3 * c)), rng.normal(size=(c, 3, 3)), rng.uniform(0.5, 2.0, (c, 3))
    factors = LocalSystem(sparse.csr_array(W)).factorise(left, np.tile(np.eye(3), (c, 1, 1)), scale)
    dense = scale.ravel()[:, None] * W * scale.ravel()
    for k in range(c):
        dense[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] += left[k]
    assert factors.sign == np.linalg.slogdet(dense)[0]
