"""Levels of accuracy: little is asked while grains move, much where they are still; what is left is carried over."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from support.builders import floor, grains

from rigidgrains import AcceleratedSweeps, AutoStep, FixedSweeps, MomentumCriterion, Scene, Simulation, Sweeps
from rigidgrains.solve.accuracy import LEVELS, STILL, STRICT, contact_travel
from rigidgrains.solve.criteria import FlowCriterion
from rigidgrains.solve.extent import extent_of
from rigidgrains.solve.sweeps import SolveReport
from rigidgrains.solve.virtual_power import powers

REST = SolveReport(sweeps=1, updates=1, converged=True, mean_force=1.0, travel=0.1 * STILL)
MOTION = SolveReport(sweeps=1, updates=1, converged=True, mean_force=1.0, travel=10.0 * STILL)


def bed(accuracy, *, count=120, **settings):
    """Disks that fall into a box, in steps of a tenth of sqrt(d/g) at most."""
    scene = Scene(dimension=2, gravity=(0, -1), friction=0.5)
    scene.add_grains(count=count, radius=(0.4, 0.6), region=((0, 0), (10, 30)), seed=5)
    scene.add_box(lower=(0, 0), upper=(10, 40), open=["top"])
    dt = AutoStep(travel=0.1, drop=0.01)
    return Simulation(scene, dt=dt, solver=AcceleratedSweeps(accuracy=accuracy, **settings))


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_asked_depends_on_the_step_before(level):
    """At rest the same of all levels; overlaps are removed in motion alone, and not by the exact level."""
    solver = AcceleratedSweeps(accuracy=level)
    rest, motion = solver.for_step(REST), solver.for_step(MOTION)
    assert (rest.criterion, rest.gap, rest.slack) == (STRICT, "g_pos", 0.0)
    assert rest.reach == motion.reach == {"fast": 2.0, "balanced": 4.0, "exact": math.inf}[level]
    assert motion.gap == ("g_pos" if level == "exact" else 0.1)
    assert isinstance(motion.criterion, MomentumCriterion if level == "exact" else FlowCriterion)
    assert AcceleratedSweeps().for_step(REST).criterion == MomentumCriterion()


def test_settings_of_the_user_win_one_by_one():
    """A criterion replaces the rule that stops alone, max_sweeps the bound alone, gap the removal alone."""
    own = MomentumCriterion(0.5)
    by_rule = AcceleratedSweeps(accuracy="balanced", criterion=own).for_step(MOTION)
    assert (by_rule.criterion, by_rule.reach, by_rule.gap) == (own, 4.0, 0.1)
    by_bound = AcceleratedSweeps(accuracy="balanced", max_sweeps=77).for_step(REST)
    assert (by_bound.criterion, by_bound.reach, by_bound.max_sweeps) == (STRICT, math.inf, 77)
    by_gap = AcceleratedSweeps(accuracy="balanced", gap="g_pos").for_step(MOTION)
    assert (by_gap.gap, by_gap.slack, by_gap.reach) == ("g_pos", 5e-4, 4.0)
    again = copy.deepcopy(AcceleratedSweeps(accuracy="balanced", max_sweeps=77))
    assert again.for_step(MOTION).max_sweeps == 77


def test_keys_of_a_scene_win_as_well():
    scene = Scene(dimension=2, solver={"accuracy": "fast", "epsilon": 0.3})
    assert scene.make_solver().for_step(MOTION).criterion == MomentumCriterion(0.3)
    assert scene.make_solver().for_step(MOTION).reach == 2.0
    plain = Scene(dimension=2, solver={"accuracy": "fast"}).make_solver()
    assert isinstance(plain.for_step(MOTION).criterion, FlowCriterion)


def test_mistakes_are_told():
    with pytest.raises(ValueError, match="accuracy = 'best' is unknown; choose one of fast, balanced, exact"):
        AcceleratedSweeps(accuracy="best")
    with pytest.raises(ValueError, match="reach = 0"):
        AcceleratedSweeps(reach=0)
    with pytest.raises(ValueError, match=r"accuracy.*belongs to method = 'accelerated', not to 'sweeps'"):
        Scene(dimension=2, solver={"method": "sweeps", "accuracy": "fast"})


def test_travel_is_the_mean_way_of_contacts_that_carry_a_force():
    """A disk slides over the floor at v, another stands on it, a third flies above: v/2 dt over the radius."""
    bodies = grains([[0.0, 1.0, 0.0], [5.0, 1.0, 0.0], [9.0, 1.3, 0.0]], 1.0, dimension=2, walls=[floor()])
    bodies.gravity[:] = [0.0, -10.0, 0.0]
    bodies.motion[0, 0] = 0.5
    simulation = Simulation(bodies, dt=0.01, solver=AcceleratedSweeps(accuracy="exact"))
    simulation.step()
    assert simulation.last_solve.travel == pytest.approx(0.5 * 0.5 * 0.01, rel=1e-9)
    assert contact_travel(simulation.contacts.problem(bodies, 0.01)) == simulation.last_solve.travel
    bodies.motion[0, 0] = 0.0
    simulation.step()
    assert simulation.last_solve.travel < STILL


def test_what_flows_may_leave_a_part_of_what_friction_dissipates():
    """Few sweeps of a flowing bed: the verdict is that of the measured powers, at parts just above and just below."""
    simulation = bed(None, criterion=FixedSweeps(4))
    simulation.run(until=4.0)
    problem = simulation.contacts.problem(simulation.bodies, simulation.dt)
    found = powers(problem)
    part = max(found.lost, found.gained) / found.slid
    assert 0.0 < part < math.inf
    assert FlowCriterion(1.01 * part, overlap=1.0).judge(problem).met
    assert not FlowCriterion(0.99 * part, overlap=1.0).judge(problem).met
    assert not FlowCriterion(1.01 * part, overlap=0.0).judge(problem).met


@pytest.mark.parametrize("level", LEVELS)
def test_a_bed_comes_to_rest_and_is_exact_there(level):
    """Long steps: the last ones have a momentum error of 0.1 % at most, and grains creep by no more.

    No step makes more sweeps than its level allows, and those that would need more are carried over, not failed.
    """
    simulation = bed(level)
    sweeps = []
    while simulation.time < 40.0:
        simulation.step()
        allowed = LEVELS[level].reach * extent_of(simulation.contacts.problem(simulation.bodies, simulation.dt))
        if allowed < math.inf and simulation.contacts.count and not simulation.last_solve.exhausted:
            sweeps.append(simulation.last_solve.sweeps - 5 * math.ceil(max(allowed, 4.0)))
    assert max(sweeps, default=0) <= 0  # five attempts at most
    report = simulation.report()
    last = simulation.last_solve
    assert last.travel < STILL
    assert last.converged
    assert last.momentum_error <= 1e-3
    assert report.asked_steps == report.converged_steps
    assert report.carried_steps == report.steps - report.asked_steps
    assert (report.carried_steps > 0) is (level != "exact")
    before = simulation.bodies.position.copy()
    simulation.run(steps=50)
    way = np.linalg.norm(simulation.bodies.position - before, axis=1)
    assert way.mean() < 50 * 1e-3 * simulation.dt**2  # 0.1 % of a free fall in each step, g = 1
    assert not report.warnings


def test_a_flow_is_told_as_a_flow():
    """In motion nothing is called soft or unconverged for what was not asked."""
    simulation = bed("balanced")
    report = simulation.run(until=7.0)
    assert report.rigidity["verdict"] == "flowing"
    assert not report.warnings
    assert "accuracy" in str(report)
    assert "carried over" in report.convergence()


def test_a_run_goes_on_to_the_bit(tmp_path):
    """What the last step has told of motion and rest is kept."""
    from rigidgrains import resume
    from rigidgrains.trajectory.writer import TrajectoryWriter

    first = bed("balanced")
    first.observe(TrajectoryWriter(tmp_path / "run.vtkhdf"), every=10**6)
    first.run(until=7.0)
    second = resume(tmp_path / "run.vtkhdf")
    assert second.solver == first.solver
    assert second.last_solve == first.last_solve
    first.run(until=14.0)
    second.run(until=14.0)
    np.testing.assert_array_equal(second.bodies.motion, first.bodies.motion)
    np.testing.assert_array_equal(second.contacts.forces, first.contacts.forces)


def test_a_scene_needs_no_time_step():
    """Nobody comes further than a hundredth of a diameter from rest in a step."""
    scene = Scene(dimension=2, gravity=(0, -10), friction=0.5)
    scene.add_grains(count=20, radius=0.5, region=((0, 0), (5, 8)))
    scene.add_box(lower=(0, 0), upper=(5, 10), open=["top"])
    simulation = Simulation(scene)
    simulation.run(until=3.0)
    assert simulation.auto is not None
    assert simulation.step_sizes.max() <= math.sqrt(0.01 * 1.0 / 10.0) * (1.0 + 1e-12)
    assert simulation.step_sizes.max() >= 0.9 * math.sqrt(0.01 * 1.0 / 10.0)
    assert isinstance(simulation.solver, Sweeps)


def test_a_pour_needs_no_time_step_either():
    """No grain is there at the beginning: what will come in tells how long a step may be."""
    scene = Scene(dimension=2, gravity=(0, -10), friction=0.5)
    scene.add_inflow(name="spout", region=((1, 4), (4, 6)), radius=(0.1, 0.2), rate=20, total=12, velocity=(0, -1))
    scene.add_box(lower=(0, 0), upper=(5, 8), open=["top"])
    simulation = Simulation(scene)
    simulation.run(until=2.5)
    assert simulation.bodies.count == 12
    assert simulation.step_sizes.max() <= math.sqrt(0.01 * 0.4 / 10.0)
    assert simulation.report().max_overlap_of_run < 0.02


def test_a_heavy_piston_is_carried():
    """Ten thousand grains' mass on sixty grains: within the sweeps of a level that knows of it, and at rest exactly."""
    scene = Scene(dimension=2, gravity=(0, -10), friction=0.5, solver={"accuracy": "balanced"})
    scene.add_grains(count=60, radius=(0.4, 0.6), density=1.2732, region=((0, 0), (8, 12)))
    scene.add_box(lower=(0, 0), upper=(8, 30), open=["top"])
    scene.add_piston(name="lid", point=(0, 14), normal=(0, -1), mass=1e4, load=0.0)
    simulation = Simulation(scene)
    report = simulation.run(until=6.0)
    assert report.wall_force["lid"][1] == pytest.approx(1e5, rel=5e-3)
    assert report.max_overlap_of_run < 0.05
    assert not report.warnings
