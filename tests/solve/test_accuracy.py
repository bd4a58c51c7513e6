"""Levels of accuracy: little is asked while grains move, much where they are still; what is left is carried over."""

from __future__ import annotations

import copy
import math
from dataclasses import replace

import numpy as np
import pytest
from support.builders import chain, floor, grains

from rigidgrains import AcceleratedSweeps, AutoStep, FixedSweeps, Frame, MomentumCriterion, Scene, Simulation, Sweeps
from rigidgrains.certificate import check
from rigidgrains.measure import energy_budget
from rigidgrains.model.columns import INV_M_ALL
from rigidgrains.runtime.threads import only
from rigidgrains.solve.accuracy import DROP, LEAVES, LEVELS, STILL, STRICT, is_slow, is_still, part_of_crossing
from rigidgrains.solve.criteria import FlowCriterion
from rigidgrains.solve.extent import extent_of, loaded_extent
from rigidgrains.solve.measures import measure
from rigidgrains.solve.orders import Coloured
from rigidgrains.solve.sweeps import SolveReport
from rigidgrains.solve.virtual_power import powers


def step(travel, *, still=False):
    """A step in which contacts moved by so many times what is still."""
    return SolveReport(sweeps=1, updates=1, converged=True, mean_force=1.0, travel=travel * STILL, still=still)


REST, MOTION = step(0.1), step(10.0)


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
    assert (rest.still, motion.still, solver.still) == (True, False, None)


def test_short_steps_in_motion_may_make_fewer_sweeps():
    """As the square root of the part of a fall by DROP: what is left spreads from step to step. None at rest."""
    simulation = bed("balanced")
    simulation.last_solve = MOTION
    fall = math.sqrt(DROP * 2.0 * simulation.bodies.mean_radius / 1.0)  # a dt^2 = DROP d
    for dt, part in ((fall / 4.0, 0.5), (fall / 100.0, 0.1), (2.0 * fall, 1.0)):
        simulation.dt = dt
        assert simulation._solver_of_step().reach == pytest.approx(4.0 * part)
    simulation.dt, simulation.last_solve = fall / 4.0, REST
    assert simulation._solver_of_step().reach == 4.0
    assert part_of_crossing(1.0, math.inf) == 1.0


def test_what_is_still_is_a_speed():
    """A step of a quarter of a fall by DROP is still where contacts move by a quarter as much; so with overlaps."""
    solver = AcceleratedSweeps(accuracy="balanced")
    for travel, part, still in ((0.9, 1.0, True), (0.9, 0.5, False), (0.24, 0.5, True), (0.26, 0.5, False)):
        assert solver.for_step(step(travel), part).still is still
    assert solver.for_step(step(0.49, still=True), 0.5).still
    assert [solver.for_step(step(3.0), part).gap for part in (1.0, 0.5)] == ["g_pos", 0.1]


def test_settings_of_the_user_win_one_by_one():
    """A criterion replaces the rule that stops alone, max_sweeps the bound alone, gap the removal alone."""
    own = MomentumCriterion(0.5)
    by_rule = AcceleratedSweeps(accuracy="balanced", criterion=own).for_step(MOTION)
    assert (by_rule.criterion, by_rule.reach, by_rule.gap) == (own, 4.0, 0.1)
    by_bound = AcceleratedSweeps(accuracy="balanced", max_sweeps=77).for_step(REST)
    assert (by_bound.criterion, by_bound.reach, by_bound.max_sweeps) == (STRICT, math.inf, 77)
    by_gap = AcceleratedSweeps(accuracy="balanced", gap="g_pos").for_step(MOTION)
    assert (by_gap.gap, by_gap.slack, by_gap.reach) == ("g_pos", 5e-4, 4.0)
    near_rest, deep = step(1.1), replace(MOTION, deepest=0.01)
    assert (AcceleratedSweeps().for_step(near_rest).gap, AcceleratedSweeps().for_step(deep).gap) == ("g_pos", 0.05)
    assert AcceleratedSweeps(accuracy="fast").for_step(deep).gap == 0.1
    again = copy.deepcopy(AcceleratedSweeps(accuracy="balanced", max_sweeps=77))
    assert again.for_step(MOTION).max_sweeps == 77


def test_keys_of_a_scene_win_as_well():
    scene = Scene(dimension=2, solver={"accuracy": "fast", "epsilon": 0.3})
    assert scene.make_solver().for_step(MOTION).criterion == MomentumCriterion(0.3)
    assert scene.make_solver().for_step(MOTION).reach == 2.0
    plain = Scene(dimension=2, solver={"accuracy": "fast"}).make_solver()
    assert isinstance(plain.for_step(MOTION).criterion, FlowCriterion)


def test_balanced_is_the_default_everywhere():
    scene = Scene(dimension=2, gravity=(0, -1))
    scene.add_grains(positions=[(0.0, 0.5)], radius=0.5)
    made = [AcceleratedSweeps(), scene.make_solver(), Simulation(scene).solver, Simulation(scene.build()).solver]
    made += [Simulation(scene, solver="accelerated").solver, AcceleratedSweeps(order="coloured")]
    assert [solver.accuracy for solver in made] == ["balanced"] * len(made)
    assert [solver.own for solver in made] == [()] * len(made)
    assert Simulation(scene, accuracy="fast").solver.accuracy == "fast"


def test_what_trembles_is_not_asked_by_turns():
    """Rest begins below the bound, and ends above twice as much."""
    asked = [is_still(step(travel, still=still)) for travel, still in ((0.9, False), (1.1, False), (1.9, True))]
    assert asked == [True, False, True]
    assert not is_still(step(1.01 * LEAVES, still=True))


def test_settings_that_are_changed_later_win_too():
    solver = AcceleratedSweeps()
    solver.max_sweeps = 9
    assert (solver.for_step(REST).max_sweeps, solver.for_step(REST).criterion) == (9, STRICT)


def test_a_bound_of_the_user_is_carried_over_as_well():
    """Only the exact level fails where sweeps do not do."""
    for level, carried in (("balanced", True), ("exact", False)):
        simulation = bed(level, max_sweeps=3)
        report = simulation.run(until=8.0)
        assert (report.carried_steps > 0) is carried
        assert any("before the criterion was met" in text for text in report.warnings) is not carried


def test_strays_do_not_stretch_a_packing():
    """A box that is filled evenly has its own length; one grain far away adds little."""
    places = [[x, y + 0.5, 0.0] for x in range(40) for y in range(5)]
    for far, length in (([], 40.0), ([[300.0, 0.5, 0.0]], 300.0)):
        bodies = grains(places + far, 0.5, dimension=2, walls=[floor()])
        bodies.gravity[:] = [0.0, -1.0, 0.0]
        simulation = Simulation(bodies, dt=0.01, accuracy="exact")
        simulation.step()
        problem = simulation.contacts.problem(bodies, 0.01)
        assert extent_of(problem) == pytest.approx(length, rel=0.03)
        assert loaded_extent(problem) == pytest.approx(40.0, rel=0.03) or far
        assert loaded_extent(problem) < 0.3 * length or not far


def test_mistakes_are_told():
    with pytest.raises(ValueError, match="accuracy = 'best' is unknown; choose one of fast, balanced, exact"):
        AcceleratedSweeps(accuracy="best")
    with pytest.raises(ValueError, match="reach = 0"):
        AcceleratedSweeps(reach=0)
    with pytest.raises(ValueError, match=r"accuracy.*belongs to method = 'accelerated', not to 'sweeps'"):
        Scene(dimension=2, solver={"method": "sweeps", "accuracy": "fast"})
    with pytest.raises(ValueError, match=r"accuracy = 'fast' is a level of accelerated sweeps, not of plain sweeps"):
        Simulation(grains([[0.0, 1.0, 0.0]], 1.0), dt=0.1, solver="sweeps", accuracy="fast")
    with pytest.raises(ValueError, match=r"fallback = 7 .* accuracy = 'balanced' carries them over; take .* 'exact'"):
        AcceleratedSweeps(fallback=7)
    with pytest.raises(ValueError, match=r"fallback.*carries them over; take accuracy = 'exact'"):
        Scene(dimension=2, solver={"fallback": 7})


def test_travel_is_the_mean_way_of_contacts_that_carry_a_force():
    """A disk slides over the floor at v, another stands on it, a third flies above: v/2 dt over the radius."""
    bodies = grains([[0.0, 1.0, 0.0], [5.0, 1.0, 0.0], [9.0, 1.3, 0.0]], 1.0, dimension=2, walls=[floor()])
    bodies.gravity[:] = [0.0, -10.0, 0.0]
    bodies.motion[0, 0] = 0.5
    simulation = Simulation(bodies, dt=0.01, solver=AcceleratedSweeps(accuracy="exact"))
    simulation.step()
    assert simulation.last_solve.travel == pytest.approx(0.5 * 0.5 * 0.01, rel=1e-9)
    seen = measure(simulation.contacts.problem(bodies, 0.01))
    assert (seen.travel, seen.fastest) == (simulation.last_solve.travel, simulation.last_solve.fastest)
    assert simulation.last_solve.fastest == pytest.approx(0.5 * 0.01, rel=1e-9)
    bodies.motion[0, 0] = 0.0
    simulation.step()
    assert simulation.last_solve.travel < STILL


def test_what_flows_may_leave_a_part_of_what_friction_dissipates():
    """Few sweeps of a flowing bed: the verdict is that of the measured powers, at parts just above and just below."""
    simulation = bed("exact", criterion=FixedSweeps(4))
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
        reach = simulation.solver.for_step(simulation.last_solve).reach
        simulation.step()
        allowed = reach * extent_of(simulation.contacts.problem(simulation.bodies, simulation.dt))
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
    assert way.mean() < 50 * 5e-3 * simulation.dt**2  # g = 1: steps that end at 1 % of the load creep by 1e-2 each
    certificate = check(Frame.of(simulation))
    assert certificate.passed, str(certificate)
    assert certificate.accuracy < 1e-3
    assert not report.warnings


def test_a_flow_is_told_as_a_flow():
    """In motion nothing is called soft or unconverged for what was not asked."""
    simulation = bed("balanced")
    report = simulation.run(until=7.0)
    assert report.rigidity["verdict"] == "flowing"
    assert not report.warnings
    told = str(report)
    for words in (
        "in motion",
        "asked 10 % of the power of friction",
        "carried over",
        "at rest",
        "asked 0.1 % of the load",
    ):
        assert words in told
    assert "converged" not in told
    assert report.as_dict()["reached"]["motion"] > 0.0
    assert "pairs come closer by 0.1 radii, a fall from rest is 0.01 diameters at most" in told
    assert "carried over" in report.convergence()


def test_what_rests_and_gets_nowhere_is_told():
    """One sweep a step, and a chain that is pressed at its end: after ten steps at rest it should have been solved."""
    simulation = Simulation(chain(60), dt=1e-6, solver=AcceleratedSweeps(max_sweeps=1))
    report = simulation.run(steps=30)
    assert report.still_steps > 20
    assert report.unsettled_steps > 5
    assert any("steps, at rest, miss more than 1 % of the load" in text for text in report.warnings)


def test_the_energy_of_removed_overlaps_is_booked():
    """By the tally as by the budget of each step."""
    simulation = bed("balanced")
    given, removed = 0.0, 0
    while simulation.time < 6.0:
        simulation.step()
        given += energy_budget(simulation).returned
        removed += simulation.last_solve.removed > 0.0
    assert removed > 10
    assert given > 0.0
    assert simulation.report().returned_energy == pytest.approx(given, rel=1e-9)


def test_a_frame_says_what_its_step_was_asked():
    """And the certificate measures it again: what moves is certified or within what was asked, and no claim is free."""
    simulation, verdicts = bed("balanced"), set()
    while simulation.time < 8.0:
        before = simulation.last_solve
        simulation.step()
        frame, last = Frame.of(simulation), simulation.last_solve
        assert frame.figures["asked_momentum"] == (1e-3 if last.still or is_slow(before) else 1e-2)
        asked = 0.05 if is_slow(before) else 0.1
        assert frame.figures["asked_power"] == (math.inf if last.still else asked)
        assert (frame.figures["still"], frame.figures["carried"]) == (last.still, last.carried)
        certificate = check(frame)
        assert not certificate.violated, str(certificate)
        verdicts.add(certificate.verdict.split(":")[0].split(" to ")[0])
        if certificate.within and last.converged:
            for claim in ("asked_power", "asked_overlap"):
                other = Frame.of(simulation)
                other.figures[claim] = 1e-9
                found = check(other)
                assert found.violated
                assert found.verdict.endswith("what was asked is not met")
    assert verdicts == {"certified", "within what was asked"}


def test_a_step_that_has_failed_is_violated():
    """The exact level with too few sweeps: asked, and not met."""
    simulation = bed("exact", max_sweeps=3)
    simulation.run(until=8.0)
    assert not simulation.last_solve.converged
    assert check(Frame.of(simulation)).violated


def test_threads_change_no_bit():
    """A default run on one thread and on two."""
    found = []
    for threads in (1, 2):
        with only(threads):
            simulation = bed("balanced", count=200, order=Coloured(worth=1))
            simulation.run(steps=120)
            found.append((simulation.bodies.motion.copy(), simulation.contacts.forces.copy(), simulation.last_solve))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])
    assert found[0][2] == found[1][2]


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
    assert second.tally == first.tally
    assert Frame.of(second).figures == Frame.of(first).figures
    first.run(until=14.0)
    second.run(until=14.0)
    np.testing.assert_array_equal(second.bodies.motion, first.bodies.motion)
    np.testing.assert_array_equal(second.contacts.forces, first.contacts.forces)


def test_a_scene_needs_no_time_step():
    """Nobody comes further than a four-hundredth of a diameter from rest in a step, with dt = "auto" too."""
    scene = Scene(dimension=2, gravity=(0, -10), friction=0.5)
    scene.add_grains(count=20, radius=0.5, region=((0, 0), (5, 8)))
    scene.add_box(lower=(0, 0), upper=(5, 10), open=["top"])
    steps = {level: Simulation(scene, accuracy=level).auto for level in LEVELS}
    assert [(step.travel, step.drop) for step in steps.values()] == [(1.0, 0.0025), (0.1, 0.0025), (0.1, 0.0025)]
    assert Simulation(scene.build(), accuracy="exact").auto == steps["exact"]
    assert Simulation(scene, dt="auto").auto == Simulation(scene).auto == AutoStep(drop=0.0025)
    simulation = Simulation(scene)
    simulation.run(until=3.0)
    assert simulation.auto is not None
    assert simulation.step_sizes.max() <= math.sqrt(0.0025 * 1.0 / 10.0) * (1.0 + 1e-12)
    assert simulation.step_sizes.max() >= 0.9 * math.sqrt(0.0025 * 1.0 / 10.0)
    assert isinstance(simulation.solver, Sweeps)


def test_a_cell_under_pressure_needs_no_time_step():
    """From rest its pressure brings neighbours closer by no more than a four-hundredth of a diameter in a step."""
    scene = Scene(dimension=2, friction=0.4, cell={"lower": (0, 0), "upper": (6, 6), "pressure": 1.0})
    scene.add_grains(count=20, radius=0.5, density=1.0)
    simulation = Simulation(scene)
    simulation.run(until=20.0)
    bodies = simulation.bodies
    strain = bodies.cell.volume * 1.0 * bodies.flow[0, INV_M_ALL]  # V P/M (1/s^2) along an axis, least at the end
    assert simulation.step_sizes.max() <= math.sqrt(0.0025 * 1.0 / strain)  # of grains 1 apart, whose diameter is 1
    assert simulation.report().max_overlap_of_run < 0.02


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
