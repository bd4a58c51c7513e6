"""Two dimensions are flat three: the same bits as a solver written for the plane."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from support.builders import cloud, prepare, triangular
from support.kernels import sweep

from rigidgrains.model.shapes import Cylinder
from rigidgrains.model.walls import Drive, Wall
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.solve.criteria import FixedSweeps
from rigidgrains.solve.sweeps import Sweeps

DT = 0.01


def flat_sweep(sequence, v, s, inv_mass, inv_spin, pairs, normal, gap, m_n, m_t, mu, r_n, r_t, dt):
    """Eq. (sphere-shock) in the plane: two velocity components and one spin, lists of plain numbers.

    v (b, 2), s (b,) = radius * spin, normal (c, 2), r_n (c,), r_t (c, 2); the solution is left in v, s, r_n, r_t.
    """
    rate = 1.0 / dt
    for c in sequence:
        i, j = pairs[c]
        n_x, n_y = normal[c]
        turn = s[i] + s[j]
        v_x = v[j][0] - v[i][0] + turn * n_y
        v_y = v[j][1] - v[i][1] - turn * n_x
        v_n = v_x * n_x + v_y * n_y
        a = m_t[c] * rate
        new_n = r_n[c] - m_n[c] * rate * (v_n + gap[c] * rate)
        new_x = r_t[c][0] - a * (v_x - v_n * n_x)
        new_y = r_t[c][1] - a * (v_y - v_n * n_y)
        if new_n <= 0.0:
            new_n, new_x, new_y = 0.0, 0.0, 0.0
        else:
            limit, square = mu[c] * new_n, new_x * new_x + new_y * new_y
            if square > limit * limit:
                factor = limit / sqrt(square)
                new_x, new_y = factor * new_x, factor * new_y
        p_n, p_x, p_y = dt * (new_n - r_n[c]), dt * (new_x - r_t[c][0]), dt * (new_y - r_t[c][1])
        torque = n_x * p_y - n_y * p_x
        p_x, p_y = p_x + p_n * n_x, p_y + p_n * n_y
        v[i] = (v[i][0] - inv_mass[i] * p_x, v[i][1] - inv_mass[i] * p_y)
        v[j] = (v[j][0] + inv_mass[j] * p_x, v[j][1] + inv_mass[j] * p_y)
        s[i] -= inv_spin[i] * torque
        s[j] -= inv_spin[j] * torque
        r_n[c], r_t[c] = new_n, (new_x, new_y)


def worlds():
    packing = triangular(5, 5, mu=0.3, g=3.0)
    packing.velocity[:, :2] += np.random.default_rng(4).normal(size=(packing.count, 2))
    crowd = cloud(60, dimension=2, mu=0.4, seed=8, speed=3.0)
    crowd.position *= 0.75  # close enough to touch at once
    return {"packing": packing, "cloud": crowd}


@pytest.mark.parametrize("world", ["packing", "cloud"])
def test_flat_twin_gives_the_same_bits(world):
    """Thirty random sweeps of a dedicated solver of the plane, and of the kernel: equal to the last bit."""
    problem = prepare(worlds()[world], DT)
    motion, geometry = problem.motion, problem.geometry
    v, s = [tuple(row) for row in motion[:, :2].tolist()], motion[:, 5].tolist()
    r_n, r_t = [0.0] * problem.count, [(0.0, 0.0)] * problem.count
    rng = np.random.default_rng(0)
    assert problem.count > 10
    for _ in range(30):
        sequence = rng.permutation(problem.count).astype(np.int32)
        sweep(sequence, motion, problem.pairs, geometry, problem.forces, DT)
        flat_sweep(
            sequence.tolist(), v, s, motion[:, 6].tolist(), motion[:, 7].tolist(), problem.pairs.tolist(),
            geometry[:, :2].tolist(), *geometry[:, 3:7].T.tolist(), r_n, r_t, DT,
        )  # fmt: skip
    assert max(r_n) > 0.0
    np.testing.assert_array_equal(problem.forces[:, 0], r_n)
    np.testing.assert_array_equal(problem.forces[:, 1:3], r_t)
    np.testing.assert_array_equal(motion[:, :2], v)
    np.testing.assert_array_equal(motion[:, 5], s)


def test_masses_of_disks():
    """Mass ~ area, I = m r^2/2: m_t of two equal disks is m/6, of two equal spheres m/7."""
    for dimension, share in [(2, 6.0), (3, 7.0)]:
        bodies = cloud(2, dimension=dimension)
        bodies.motion[:2, 6] = 1.0
        bodies.motion[:2, 7] = {2: 2.0, 3: 2.5}[dimension]
        bodies.position[1] = bodies.position[0] + [bodies.radius.sum(), 0.0, 0.0]
        assert prepare(bodies, DT).geometry[0, 5] == pytest.approx(1.0 / share)


@pytest.mark.parametrize("world", ["packing", "cloud", "drum"])
def test_a_flat_run_stays_in_the_plane(world):
    """No bit of z, and no spin but about z, also with friction, gravity and a turning drum."""
    if world == "drum":
        bodies = cloud(30, dimension=2, mu=0.5)
        spin = np.array([0.0, 0.0, 2.0])
        shape = Cylinder(np.zeros(3), np.array([0.0, 0.0, 1.0]), 12.0, True, np.inf)
        bodies.walls.append(Wall("drum", shape, drive=Drive(spin=spin)))
        bodies.motion = np.vstack([bodies.motion, np.zeros((1, 8))])
        bodies.gravity[1] = -20.0
    else:
        bodies = worlds()[world]
    Simulation(bodies, dt=DT, solver=Sweeps(criterion=FixedSweeps(20))).run(steps=100)
    assert np.isfinite(bodies.motion).all()
    assert not bodies.position[:, 2].any()
    assert not bodies.motion[:, 2:5].any()
    assert bodies.motion[: bodies.count, 5].any()


def test_disks_and_flat_spheres_agree_without_friction():
    """Without friction the moment of inertia does not matter: disks move as spheres of the same masses."""
    paths = []
    for dimension in (2, 3):
        bodies = cloud(40, dimension=2, mu=0.0, seed=3)
        bodies.dimension = dimension
        if dimension == 3:
            bodies.orientation = np.tile([1.0, 0.0, 0.0, 0.0], (40, 1))
            bodies.motion[:, 7] *= 1.25
        Simulation(bodies, dt=DT, solver=Sweeps(criterion=FixedSweeps(20))).run(steps=60)
        paths.append(bodies.position)
    np.testing.assert_array_equal(*paths)
