"""Contact forces of a step that ends early give no energy, whatever the masses; what is given back is booked."""

from __future__ import annotations

import numpy as np
import pytest
from support.builders import column, floor, grains, plane, settle

from rigidgrains import (
    AcceleratedSweeps,
    Frame,
    LocalCriterion,
    MomentumCriterion,
    Restitution,
    Scene,
    Simulation,
    Sweeps,
    certificate,
    measure,
)
from rigidgrains.contacts.problem import ContactProblem
from rigidgrains.solve.criteria import Verdict
from rigidgrains.solve.kernels.factory import apply_forces
from rigidgrains.solve.passivity import Passive, make_passive

DT = 0.01
NEVER = LocalCriterion(0.0, 0.0)  # changes of nothing at all: sweeps go on to the last


def tangle(rng: np.random.Generator, ratio: float, *, flat: bool, mu: float = 0.5) -> ContactProblem:
    """Bodies of masses up to the ratio, one fixed and one driven wall, contacts anywhere: harder than any packing."""
    n, c = 12, 30
    m = np.exp(rng.uniform(0.0, np.log(ratio), n))
    motion = np.zeros((n + 2, 8))
    motion[: n + 1, 0:3] = rng.normal(size=(n + 1, 3))
    motion[:n, 3:6] = rng.normal(size=(n, 3))
    motion[:n, 6], motion[:n, 7] = 1.0 / m, (2.0 if flat else 2.5) / m
    i = rng.integers(0, n, c)
    j = (i + rng.integers(1, n + 2 - i)) % (n + 2)
    normal = rng.normal(size=(c, 3))
    if flat:
        motion[:, 2:5] = normal[:, 2] = 0.0
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    geometry = np.zeros((c, 8))
    geometry[:, 0:3], geometry[:, 3], geometry[:, 6] = normal, np.maximum(rng.normal(size=c), 0.0) * DT, mu
    mobility = motion[i, 6] + motion[j, 6]
    geometry[:, 4], geometry[:, 5] = 1.0 / mobility, 1.0 / (mobility + motion[i, 7] + motion[j, 7])
    forces = np.zeros((c, 4))
    if rng.random() < 0.5:  # carried over from who knows where
        forces[:, 0] = rng.exponential(size=c) * np.exp(rng.uniform(0.0, np.log(10.0 * ratio))) / DT
    pairs = np.stack([i, j], axis=1).astype(np.int32)
    return ContactProblem(motion, pairs, geometry, forces, DT, rng.normal(size=(n, 3)), np.full(n, 0.5))


def work(problem: ContactProblem, free: np.ndarray) -> tuple[float, float]:
    """J, of all impulses along the ways of their bodies, relative to the driven wall; and what rounding may make of it.

    From the bodies alone: none of it is asked of the contacts but the force on the wall.
    """
    p, n = problem, len(problem.motion) - 2
    jump = p.motion[:n, :6] - free[:n]
    inertia = 1.0 / np.repeat(p.motion[:n, 6:8], 3, axis=1)
    at_wall = p.pairs[:, 1] == n
    force = p.forces[:, :1] * p.geometry[:, 0:3] + p.forces[:, 1:4]
    wall = float((DT * force[at_wall]).sum(axis=0) @ p.motion[n, 0:3])
    impulses = DT * np.linalg.norm(p.forces, axis=1)
    size = float((impulses**2 / p.geometry[:, 4]).sum() + (inertia * free[:n] ** 2).sum())
    return float((inertia * jump * p.motion[:n, :6]).sum()) + wall, size


@pytest.mark.parametrize("sweeps", [1, 10, 100])
@pytest.mark.parametrize("flat", [True, False], ids=["2D", "3D"])
@pytest.mark.parametrize("method", ["random", "symmetric", "accelerated"])
def test_no_step_that_ends_early_gives_energy(method, flat, sweeps):
    """Mass ratios from 1 to 1e9. Many would: forces are then made weaker, and the report says so."""
    rng = np.random.default_rng(sweeps)
    weaker = 0
    for ratio in (1.0, 1e2, 1e4, 1e6, 1e9):
        for _ in range(12):
            problem = tangle(rng, ratio, flat=flat)
            free = problem.motion[:, :6].copy()
            if method == "accelerated":
                solver: Sweeps = AcceleratedSweeps(
                    criterion=MomentumCriterion(0.0, 0.0, 0.0), max_sweeps=sweeps, fallback=0
                )
            else:
                solver = Sweeps(order=method, criterion=NEVER, max_sweeps=sweeps)
            report = solver.solve(problem, rng)
            given, size = work(problem, free)
            assert given <= 1e-10 * size, (ratio, report)
            assert (problem.forces[:, 0] >= 0.0).all()
            limit = 0.5 * problem.forces[:, 0] * (1.0 + 1e-12)
            assert (np.linalg.norm(problem.forces[:, 1:4], axis=1) <= limit).all()
            if report.weakened < 1.0:
                weaker += 1
                assert not report.converged
                assert "given energy" in report.why
    assert weaker > 0


@pytest.mark.parametrize("excess", [1.25, 2.0, 10.0])
def test_forces_too_strong_are_scaled_to_what_holds(excess):
    """A column at rest with a multiple of the forces that hold it gets these back: s = -a/b is 1 over the multiple."""
    simulation = settle(column(5))
    problem = simulation.contacts.problem(simulation.bodies, simulation.dt)
    held = problem.forces.copy()
    problem.motion[:, :6] = 0.0
    problem.motion[:5, 1] = -10.0 * simulation.dt
    problem.forces[:] = excess * held
    apply_forces(problem)
    assert make_passive(problem) == pytest.approx(1.0 / excess)
    np.testing.assert_allclose(problem.forces, held, atol=1e-9 * held.max())
    np.testing.assert_allclose(problem.motion[:5, :3], 0.0, atol=1e-9)
    assert make_passive(problem) == 1.0


def test_a_gap_is_closed_and_no_more():
    """A disk that comes at v to a gap g < v dt: twice the force would throw it back; s = 1/2 lets it just arrive."""
    v, gap, m = 3.0, 0.01, 2.0
    bodies = grains([0, 1.0 + gap, 0], mass=m, dimension=2, velocity=[[0, -v, 0]], gravity=[0, 0, 0], walls=[floor()])
    simulation = Simulation(bodies, dt=DT)
    simulation.step()
    problem = simulation.contacts.problem(simulation.bodies, DT)
    exact = problem.forces.copy()
    assert exact[0, 0] == pytest.approx(m / DT * (v - gap / DT))
    problem.motion[0, :6], problem.motion[0, 1] = 0.0, -v
    problem.forces[:] = 2.0 * exact
    apply_forces(problem)
    assert make_passive(problem) == pytest.approx(0.5)
    np.testing.assert_allclose(problem.forces, exact, rtol=1e-12)
    assert problem.motion[0, 1] == pytest.approx(-gap / DT)


@pytest.mark.parametrize("again", [True, False])
def test_a_criterion_is_met_by_passive_forces_alone(again):
    """Forces a little too strong are met, and handed back as what holds; or as they were, if that is not met."""
    simulation = settle(column(5))
    problem = simulation.contacts.problem(simulation.bodies, simulation.dt)
    held = problem.forces.copy()
    problem.motion[:, :6] = 0.0
    problem.motion[:5, 1] = -10.0 * simulation.dt
    problem.forces[:] = 1.001 * held
    apply_forces(problem)
    motion, answers = problem.motion.copy(), iter([True, again])

    class Said:
        def judge(self, problem):
            return Verdict(next(answers))

    assert Passive(Said()).judge(problem).met is again
    np.testing.assert_allclose(problem.forces, (1.0 if again else 1.001) * held, rtol=1e-9, atol=1e-9 * held.max())
    if not again:
        np.testing.assert_allclose(problem.motion, motion, atol=1e-12)


def test_clusters_are_judged_one_by_one():
    """What one column gives is not set against what another loses; a piston on both makes them one."""
    both = np.array([[0.0, 1.0, 0.0], [0.0, 3.0, 0.0], [5.0, 1.0, 0.0], [5.0, 3.0, 0.0]])
    for walls, shares in (([floor()], [0.5, 1.0]), ([floor(), plane([0, 4, 0], [0, -1, 0], "lid", mass=1.0)], None)):
        simulation = settle(grains(both, gravity=[0, -10.0, 0], walls=walls))
        problem = simulation.contacts.problem(simulation.bodies, simulation.dt)
        held = problem.forces[:, 0].copy()
        movable = problem.motion[:, 6] > 0.0
        problem.motion[:, :6] = 0.0
        problem.motion[movable, 1] = -10.0 * simulation.dt
        left = problem.pairs[:, 0] < 2
        problem.forces[left] *= 2.0
        problem.forces[~left] *= 0.9
        given = problem.forces[:, 0].copy()
        apply_forces(problem)
        make_passive(problem)
        share = problem.forces[:, 0] / given
        if shares is None:
            assert np.ptp(share) < 1e-12
            assert share[0] < 1.0
        else:
            np.testing.assert_allclose(share[left], 0.5)
            np.testing.assert_allclose(share[~left], 1.0)
            np.testing.assert_allclose(problem.forces[left, 0], held[left])


def heavy(ratio: float, **solver: object) -> Simulation:
    """Thirty disks in a box, and a piston of so many times their mass that falls on them."""
    scene = Scene(dimension=2, gravity=(0, -10), friction=0.3)
    scene.add_grains(count=30, radius=0.5, region=((0, 0), (5, 8)), density=4 / np.pi)
    scene.add_box(lower=(0, 0), upper=(5, 40), open=["top"])
    scene.add_piston("lid", point=(0, 12), normal=(0, -1), mass=ratio)
    return Simulation(scene, dt=0.01, solver=AcceleratedSweeps(accuracy="exact", **solver))  # type: ignore[arg-type]


@pytest.mark.parametrize("ratio", [1e3, 1e6])
def test_a_heavy_piston_does_not_bounce_off_light_grains(ratio):
    """Stopped after 300 sweeps, many steps do not converge; yet nothing rebounds, and energy falls in each step."""
    simulation = heavy(ratio, max_sweeps=300, fallback=0)
    before = measure.energy(simulation)
    for _ in range(150):
        simulation.step()
        now = measure.energy(simulation)
        assert now.total <= before.total + 1e-9 * (now.kinetic + before.kinetic)
        before = now
    assert simulation.bodies.motion[-1, 1] < 0.2


def test_forces_made_weaker_are_reported():
    simulation = heavy(1e3, max_sweeps=20, fallback=0)
    simulation.run(steps=130)
    report = simulation.report()
    assert report.weakened_steps == simulation.tally.weakened > 0
    assert any("given energy" in text for text in report.warnings)


def test_removal_of_overlaps_is_booked():
    """Two overlapping disks are moved apart within a step: with g/dt they carry m (g/dt)^2/4 of kinetic energy."""
    overlap, m = 0.02, 3.0
    bodies = grains([[0, 0, 0], [2.0 - overlap, 0, 0]], mass=m, dimension=2)
    simulation = Simulation(bodies, dt=DT, solver=Sweeps(gap="g"))
    simulation.step()
    found = measure.energy_budget(simulation)
    kinetic = m * (0.5 * overlap / DT) ** 2
    assert found.kinetic == pytest.approx(kinetic)
    assert found.returned == pytest.approx(2.0 * kinetic)  # R_n g: half of it is lost in the jump
    assert found.shocks == pytest.approx(kinetic)
    assert found.contacts == pytest.approx(0.0, abs=1e-12 * kinetic)
    assert abs(found.error) < 1e-12 * kinetic


def test_rebound_is_booked():
    """A disk that comes at v and leaves at e v: m v (1 + e) e v is returned, m v^2 (1 + e)^2/2 lost in the jump."""
    e, v, m = 0.8, 3.0, 2.0
    law = Restitution(normal=np.array([[e]]))
    bodies = grains(
        [0, 1.0, 0], mass=m, dimension=2, velocity=[[0, -v, 0]], gravity=[0, 0, 0], walls=[floor()], laws=[law]
    )
    simulation = Simulation(bodies, dt=DT)
    simulation.step()
    found = measure.energy_budget(simulation)
    assert found.kinetic == pytest.approx(-0.5 * m * v**2 * (1.0 - e**2))
    assert found.returned == pytest.approx(m * v * (1.0 + e) * e * v)
    assert found.contacts == pytest.approx(0.0, abs=1e-12)


def mixture(words: dict, **cell: object) -> Scene:
    """Light and heavy disks, 1 to 1e4."""
    scene = Scene(dimension=2, cell=cell) if cell else Scene(dimension=2, gravity=(0, -10))
    scene.add_material("grain", friction=0.4, **words)
    for name, density, lower in (("light", 1.0, 0.0), ("heavy", 1e4, 6.0)):
        scene.add_grains(
            count=20,
            radius=(0.4, 0.5),
            region=((0, lower), (6, lower + 6)),
            density=density,
            material="grain",
            name=name,
        )
    if not cell:
        scene.add_box(lower=(0, 0), upper=(6, 40), open=["top"], material="grain")
    return scene


@pytest.mark.parametrize("sweeps", [2, 20])
@pytest.mark.parametrize(
    ("words", "cell"),
    [
        ({"rolling": 0.05}, {}),
        ({}, {"lower": (0, 0), "upper": (6, 12), "stress": {"xx": 500.0, "yy": 500.0}}),
        ({}, {"lower": (0, 0), "upper": (6, 12), "rate": {"xy": 3.0}}),
    ],
    ids=["rolling", "stress", "shear"],
)
@pytest.mark.parametrize("method", ["random", "accelerated"])
def test_no_step_that_ends_early_gives_energy_by_torques_or_cells(words, cell, method, sweeps):
    """By the budget, which knows bodies and cell alone: contacts take energy, in every step."""
    solver: Sweeps = AcceleratedSweeps(accuracy="exact", criterion=MomentumCriterion(0.0, 0.0, 0.0), max_sweeps=sweeps)
    if method == "random":
        solver = Sweeps(criterion=NEVER, max_sweeps=sweeps)
    simulation = Simulation(mixture(words, **cell), dt=0.01, solver=solver)
    simulation.bodies.velocity[:, :2] = np.random.default_rng(1).normal(0.0, 5.0, (40, 2))
    for _ in range(60):
        simulation.step()
        found = measure.energy_budget(simulation)
        scale = abs(found.kinetic) + abs(found.work) + abs(found.shocks)
        assert found.contacts >= -1e-9 * scale
    assert sweeps > 2 or simulation.tally.weakened > 0


def test_what_sleeps_gives_no_energy_either():
    """A heavy grain falls beside a heap that sleeps; steps end early, and the heap stays where it is."""
    scene = Scene(dimension=2, gravity=(0, -10), friction=0.4)
    scene.add_box(lower=(0, 0), upper=(40, 40), open=["top"])
    scene.add_grains(positions=[(1.0 + 2.0 * k, 1.0) for k in range(4)], radius=1.0, density=1.0)
    scene.add_grains(positions=[(20.0, 8.0), (20.0, 6.0), (20.0, 4.0), (20.0, 2.0)], radius=1.0, density=1e5)
    solver = Sweeps(criterion=LocalCriterion(1e-6), max_sweeps=3, sleep=True)
    simulation = Simulation(scene, dt=0.01, solver=solver)
    before = measure.energy(simulation)
    for _ in range(150):
        simulation.step()
        now = measure.energy(simulation)
        assert now.total <= before.total + 1e-9 * (now.kinetic + before.kinetic + abs(before.potential))
        before = now


@pytest.mark.parametrize("seed", range(3))
def test_what_converges_gives_no_energy(seed):
    """Disks that fall into a heap: energy falls in every step, and all are converged and certified."""
    scene = Scene(dimension=2, gravity=(0, -10), friction=0.3)
    scene.add_grains(count=60, radius=(0.4, 0.5), region=((0, 0), (8, 16)))
    scene.add_box(lower=(0, 0), upper=(8, 40), open=["top"])
    simulation = Simulation(scene, dt=0.01, accuracy="exact", seed=seed)
    before = measure.energy(simulation)
    for _ in range(200):
        simulation.step()
        assert simulation.last_solve.converged
        assert simulation.last_solve.weakened == 1.0
        assert certificate.check(Frame.of(simulation)).passed
        now = measure.energy(simulation)
        assert now.total <= before.total + 1e-12 * (now.kinetic + before.kinetic + abs(before.potential))
        before = now
