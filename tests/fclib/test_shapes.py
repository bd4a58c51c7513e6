"""Grains of other shapes in FCLIB: boxes of pentagons and cubes go to a file and come back, and are solved there."""

from __future__ import annotations

import numpy as np
import pytest

import rigidgrains as rg
from rigidgrains.fclib import forces, read_impulses, read_problem, save_problem, solve_problem
from rigidgrains.solve.kernels.factory import apply_forces, without_forces

KINDS = "pentagons", "cubes"
MU = 0.4


def box(kind: str) -> rg.Scene:
    """A few grains of one shape that lie in a box, after a fall."""
    flat = kind == "pentagons"
    scene = rg.Scene(dimension=2 if flat else 3, gravity=(0, -9.81) if flat else (0, 0, -9.81), friction=MU)
    scene.add_shape(kind, **({"polygon": 5} if flat else {"solid": "cube"}))
    side, high = (0.045, 0.12) if flat else (0.03, 0.08)
    corner = (side, high) if flat else (side, side, high)
    scene.add_grains(count=14, radius=5e-3, shape=kind, region=(tuple(0.0 * x for x in corner), corner))
    scene.add_box(lower=tuple(0.0 * x for x in corner), upper=corner, open=["top"])
    return scene


@pytest.fixture(scope="module", params=KINDS)
def settled(request):
    simulation = rg.Simulation(box(request.param), dt=1e-3, accuracy="exact", seed=2)
    simulation.run(steps=250)
    assert simulation.contacts.count > 20
    return simulation


def contact_velocity(simulation):
    """(c, 3) m/s, from velocities, spins and levers: two surfaces that are a gap apart along n."""
    bodies, contacts = simulation.bodies, simulation.contacts
    i, j = contacts.pairs.T
    n, between = contacts.geometry[:, :3], contacts.pairs[:, 1] < bodies.count
    own = bodies.velocity[i] + np.cross(bodies.spin[i], contacts.lever)
    other = np.zeros_like(own)  # of walls, which are at rest
    j, n, gap = j[between], n[between], contacts.geometry[between, 7]
    lever = contacts.lever[between] + gap[:, None] * n - (bodies.position[j] - bodies.position[i[between]])
    other[between] = bodies.velocity[j] + np.cross(bodies.spin[j], lever)
    return other - own


@pytest.mark.parametrize("form", ["local", "global"])
def test_a_step_comes_back_from_a_file_and_its_solution_obeys_the_laws(settled, form, tmp_path):
    path = tmp_path / "step.hdf5"
    save_problem(settled, path, form=form)
    problem, guess = read_problem(path), read_impulses(path, "guesses/1")
    found = solve_problem(problem, tolerance=1e-10)
    assert found.converged
    local = problem.local()
    speed = np.linalg.norm(local.q) / np.sqrt(problem.count)
    assert np.linalg.norm(local.W @ (found.r - guess)) / np.sqrt(problem.count) < 1e-2 * speed  # as the step has it
    # The forces of the file act in the engine: V of levers is W r + q of the file
    bodies, p = settled.bodies, settled.contacts.problem(settled.bodies, settled.dt).copy()
    p.motion[:] = without_forces(p)
    p.forces[:] = forces(p, found.r, bodies.dimension)
    apply_forces(p)
    kept = bodies.motion.copy()
    try:
        bodies.motion[:] = p.motion
        v = contact_velocity(settled)
    finally:
        bodies.motion[:] = kept
    n, close = p.geometry[:, :3], p.geometry[:, 3]
    v_n = np.einsum("ca,ca->c", v, n)
    u = (local.W @ found.r + local.q).reshape(problem.count, -1)
    np.testing.assert_allclose(u[:, 0], v_n + close / p.dt, atol=1e-9 * speed)
    v_t = v - v_n[:, None] * n
    np.testing.assert_allclose(np.linalg.norm(u[:, 1:], axis=1), np.linalg.norm(v_t, axis=1), atol=1e-9 * speed)
    # Signorini and Coulomb
    r_n, r_t = p.forces[:, 0], p.forces[:, 1:4]
    gap, top = close + p.dt * v_n, r_n.max()
    assert gap.min() >= -1e-7 * speed * p.dt
    assert np.abs(gap * r_n).max() <= 1e-7 * speed * p.dt * top
    assert (np.linalg.norm(r_t, axis=1) <= MU * r_n + 1e-9 * top).all()
    slides = np.linalg.norm(v_t, axis=1) > 1e-4 * speed
    lost = MU * r_n * np.linalg.norm(v_t, axis=1) + np.einsum("ca,ca->c", r_t, v_t)
    assert np.abs(lost[slides]).max(initial=0.0) <= 1e-5 * speed * top
