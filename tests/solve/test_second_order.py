"""The second-order method of a simulation: exact cases, large mass ratios, refusals, reports, restarts."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from support.builders import chain, cloud, column, floor, grains, prepare, triangular

import rigidgrains as rg
from rigidgrains import Scene, SecondOrder, Simulation, TrajectoryWriter, resume
from rigidgrains.laboratory.recheck import check_step
from rigidgrains.laws.rolling import Rolling
from rigidgrains.scene.make_solver import make_solver
from rigidgrains.solve.criteria import FixedSweeps, LocalCriterion, ResidualCriterion
from rigidgrains.solve.sweeps import Sweeps

DT = 0.01


def solved(bodies, **settings):
    """A problem, its copy before the solve, and the report."""
    problem = prepare(bodies, DT)
    free = replace(problem, motion=problem.motion.copy(), forces=problem.forces.copy())
    return problem, free, SecondOrder(**settings).solve(problem, np.random.default_rng(0))


@pytest.mark.parametrize(
    "bodies", [lambda: triangular(6, 6, mu=0.3, g=3.0), lambda: cloud(40, mu=0.3, speed=30.0), lambda: column(12)]
)
def test_forces_obey_the_laws_and_no_sweep_is_made(bodies, monkeypatch):
    """By formulas that share nothing with the solver; velocities are those that the forces give."""
    monkeypatch.setattr(Sweeps, "solve", None)
    problem, free, report = solved(bodies())
    assert report.converged
    assert report.sweeps > 0
    assert report.updates == 0
    assert f"{report.sweeps} iterations of the second-order method" in report.why
    assert check_step(free, problem.forces) <= 1e-5
    assert report.residual <= 1e-5
    assert report.momentum_error <= 1e-3


def test_a_chain_carries_its_load_to_the_digits_asked_for():
    problem, _, report = solved(chain(30, force=2.0), criterion=ResidualCriterion(1e-9))
    assert report.converged
    np.testing.assert_allclose(problem.forces[:, 0], 2.0, rtol=1e-7)


def test_the_velocities_are_those_of_sweeps():
    """Without friction they are unique."""
    problem, free, _ = solved(triangular(6, 6, g=3.0), criterion=ResidualCriterion(1e-9))
    other = prepare(triangular(6, 6, g=3.0), DT)
    report = Sweeps(criterion=ResidualCriterion(1e-9), max_sweeps=100_000).solve(other, np.random.default_rng(0))
    assert report.converged
    scale = np.abs(free.motion[:, :6]).max()
    np.testing.assert_allclose(problem.motion[:, :6], other.motion[:, :6], rtol=0.0, atol=1e-7 * scale)


def test_too_few_iterations_are_reported():
    """With the residual of the best forces."""
    problem, free, report = solved(cloud(40, mu=0.3, speed=30.0), max_sweeps=2)
    assert not report.converged
    assert "not met by" in report.why
    assert report.residual == pytest.approx(check_step(free, problem.forces), rel=1e-6)
    assert report.residual > 1e-3


def test_warm_sweeps_are_reported():
    _, _, report = solved(triangular(4, 4, mu=0.3, g=3.0), warm=10)
    assert report.converged
    assert report.why.endswith("after 10 sweeps")
    assert report.updates == 10 * prepare(triangular(4, 4, mu=0.3, g=3.0), DT).count


def test_nothing_to_solve():
    report = SecondOrder().solve(prepare(grains([[0, 5, 0]], walls=[floor()]), DT), np.random.default_rng(0))
    assert (report.sweeps, report.converged) == (0, True)


def heavy(ratio: float, count: int = 16) -> Scene:
    """A piston above loose disks of mean mass pi/4, in a box of four or ten diameters."""
    width, top = (4, 6) if count == 16 else (10, 14)
    scene = Scene(dimension=2, gravity=(0, -10), friction=0.3)
    scene.add_grains(count=count, radius=(0.4, 0.6), density=1.0, region=((0, 0), (width, top - 1)), seed=3)
    scene.add_box(lower=(0, 0), upper=(width, 30), open=["top"])
    scene.add_piston("piston", point=(0, top), normal=(0, -1), mass=ratio * 0.25 * math.pi)
    return scene


HEAVY = [(1e3, 16, 55), (1e6, 16, 55), pytest.param(1e6, 100, 100, marks=pytest.mark.slow)]


@pytest.mark.parametrize(("ratio", "count", "steps"), HEAVY)
def test_a_heavy_piston_comes_to_rest_without_rebound(ratio, count, steps):
    """Without restitution its velocity never turns upwards, and box and grains carry its weight."""
    simulation = Simulation(heavy(ratio, count), dt=2.0 * DT, solver="second-order")
    bodies, piston, fastest = simulation.bodies, simulation.bodies.count + len(simulation.bodies.walls) - 1, 0.0
    for _ in range(steps):
        simulation.step()
        fastest = max(fastest, bodies.motion[piston, 1])
    impact = math.sqrt(2.0 * 10.0 * 4.0)  # m/s, after four of the six diameters at least
    assert fastest <= 1e-5 * impact
    assert abs(bodies.motion[piston, 1]) <= 1e-5 * impact
    walls = rg.wall_forces(bodies, simulation.contacts)
    carried = -sum(force[1] for name, force in walls.items() if name != "piston")
    assert carried == pytest.approx(10.0 * (ratio * 0.25 * math.pi + bodies.mass.sum()), rel=1e-3)


def test_a_run_is_resumed_to_the_bit_and_reported(tmp_path):
    whole, half = (Simulation(heavy(10.0), dt=DT, solver=SecondOrder(max_sweeps=400)) for _ in range(2))
    whole.run(steps=60)
    half.observe(TrajectoryWriter(tmp_path / "half.vtkhdf"), every=15)
    half.run(steps=30)
    again = resume(tmp_path / "half.vtkhdf")
    assert isinstance(again.solver, SecondOrder)
    assert again.solver.max_sweeps == 400
    again.run(steps=30)
    np.testing.assert_array_equal(whole.bodies.motion, again.bodies.motion)
    report = whole.report()
    assert report.sweeps_unit == "iterations of the second-order method"
    assert "\niterations " in str(report)
    assert "(second-order method)" in str(report)
    assert "0 contact updates" in str(report)
    whole.tally.converged -= 1
    assert "smaller dt" in whole.report().warnings[0]


def test_scenes_ask_for_it():
    scene = Scene(dimension=2, solver={"method": "second-order", "epsilon": 1e-3, "gap": "g", "warm": 5})
    solver = make_solver(scene.solver)
    assert isinstance(solver, SecondOrder)
    assert (solver.gap, solver.warm, solver.max_sweeps) == ("g", 5, 1000)
    assert solver.criterion == rg.MomentumCriterion(1e-3)
    scene.add_grains(positions=[(0, 1)], radius=1.0)
    assert isinstance(Simulation(scene, dt=DT, solver="second-order").solver, SecondOrder)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"order": "random"}, "order.*is that of sweeps"),
        ({"criterion": "local"}, "criterion.*watches sweeps"),
        ({"criterion": "fixed", "sweeps": 10}, "criterion.*watches sweeps"),
        ({"criterion": "rigid"}, "criterion.*counts plain sweeps"),
        ({"sleep": True}, "sleep.*leaves contacts out of sweeps"),
        ({"associated": True}, "associated.*belongs to method = 'accelerated'"),
        ({"fallback": 100}, "fallback.*belongs to method = 'accelerated'"),
        ({"warm": -1}, "warm"),
    ],
)
def test_what_has_no_meaning_without_sweeps_is_refused(words, says):
    with pytest.raises(ValueError, match=says):
        Scene(dimension=2, solver={"method": "second-order", **words})


def test_warm_belongs_to_it():
    with pytest.raises(ValueError, match=r"warm.*belongs to method = 'second-order'"):
        Scene(dimension=2, solver={"method": "sweeps", "warm": 10})


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"criterion": LocalCriterion()}, "looks at the state"),
        ({"criterion": FixedSweeps(10)}, "looks at the state"),
        ({"sleep": True}, "sleep = False"),
        ({"warm": 1.5}, "warm = 1.5 is no number"),
        ({"max_grains": -1}, "max_grains = -1 is no number"),
        ({"max_sweeps": 0}, "max_sweeps = 0"),
    ],
)
def test_wrong_settings_are_refused(settings, says):
    with pytest.raises(ValueError, match=says):
        SecondOrder(**settings)


def scene_with(**words) -> Scene:
    scene = Scene(dimension=2, gravity=(0, -10), **words)
    scene.add_grains(positions=[(1, 1), (3, 1)], radius=0.9)
    scene.add_plane("floor", point=(0, 0), normal=(0, 1))
    return scene


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"friction": math.inf}, "knows no friction = inf"),
        ({"material": [{"name": "default", "rolling": 0.1}]}, "knows no torques at contacts, as Rolling"),
    ],
)
def test_what_it_does_not_know_is_refused_before_the_first_step(words, says):
    scene = Scene(dimension=2, **words)
    scene.add_grains(positions=[(1, 1), (3, 1)], radius=0.9)
    Simulation(scene, dt=DT)
    with pytest.raises(ValueError, match=says):
        Simulation(scene, dt=DT, solver="second-order")


def test_too_many_grains_are_refused_before_the_first_step():
    with pytest.raises(ValueError, match="2 grains are more than max_grains = 1; take method = 'accelerated'"):
        Simulation(scene_with(), dt=DT, solver=SecondOrder(max_grains=1))


def test_what_comes_later_is_refused_too():
    simulation = Simulation(scene_with(), dt=DT, solver="second-order")
    simulation.bodies.laws.append(Rolling(np.full((1, 1), 0.1)))
    with pytest.raises(ValueError, match="knows forces and finite friction alone"):
        simulation.run(steps=200)


def test_the_command_refuses_in_one_line(tmp_path, capsys):
    from rigidgrains.cli import app

    (tmp_path / "scene.toml").write_text(
        "dimension = 2\nfriction = inf\n[[grains]]\npositions = [[1, 1]]\nradius = 0.5\n[run]\ndt = 0.01\nsteps = 3\n"
        '[solver]\nmethod = "second-order"\n[output]\npicture = false\nplot = false\n'
    )
    with pytest.raises(SystemExit) as stopped:
        app(["run", str(tmp_path / "scene.toml"), "--output", str(tmp_path / "out")])
    assert stopped.value.code == 2
    said = capsys.readouterr()
    assert "knows no friction = inf" in said.err + said.out
    assert "Traceback" not in said.err + said.out


def test_cohesion_and_restitution_are_known():
    """Laws without torques change the rows alone: two grains stick against a pull, and rebound."""
    scene = Scene(dimension=2, friction=0.5, material=[{"name": "default", "cohesion": 2.0}])
    scene.add_grains(name="pair", positions=[(0, 0), (2, 0)], radius=1.0, density=1 / math.pi)
    scene.add_force(grains="pair", index=0, force=(-1.0, 0.0))
    scene.add_force(grains="pair", index=1, force=(1.0, 0.0))
    simulation = Simulation(scene, dt=DT, solver="second-order")
    simulation.run(steps=20)
    assert np.abs(simulation.bodies.velocity).max() < 1e-9
    scene = Scene(dimension=2, friction=0.0, material=[{"name": "default", "restitution": 0.5}])
    scene.add_grains(positions=[(0, 0), (2.05, 0)], radius=1.0, velocity=[(1.0, 0.0), (-1.0, 0.0)])
    simulation = Simulation(scene, dt=DT, solver="second-order")
    simulation.run(steps=20)
    np.testing.assert_allclose(simulation.bodies.velocity[:, 0], [-0.5, 0.5], rtol=1e-6)
