"""The run: steps, observers, ends, divergence, reports."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from support.builders import UP, Counter, chain, column, exact, grains, plane, settle, triangular

from rigidgrains import History, Report, Simulation, StopRun, StopWhenStatic, Sweeps
from rigidgrains.solve.criteria import FixedSweeps, LocalCriterion

DT = 0.01


def resting(**rest):
    return Simulation(column(3), dt=DT, **rest)


# How long


@pytest.mark.parametrize(("ask", "steps"), [({"steps": 7}, 7), ({"until": 0.1}, 10), ({"until": 0.095}, 10)])
def test_run_ends_where_asked(ask, steps):
    """A number of steps, or the first step at or after a time."""
    report = resting().run(**ask)
    assert report.steps == steps
    assert report.time == pytest.approx(steps * DT)


def test_the_nearer_end_counts():
    """steps and until together: whichever comes first."""
    assert resting().run(steps=3, until=1.0).steps == 3
    assert resting().run(steps=300, until=0.05).steps == 5


def test_runs_go_on():
    """steps counts from now, until from the beginning of time; a time that has passed asks for nothing."""
    simulation = resting()
    simulation.run(steps=4)
    simulation.run(steps=4)
    assert simulation.steps == 8
    simulation.run(until=0.1)
    assert simulation.steps == 10
    simulation.run(until=0.05)
    assert simulation.steps == 10


def test_time_has_no_drift():
    """t = n dt exactly, and the number of steps is right for a dt that is no binary fraction."""
    simulation = Simulation(grains([[0, 0, 0]]), dt=0.1)
    simulation.run(until=100.0)
    assert simulation.steps == 1000
    assert simulation.time == 1000 * 0.1


def test_two_runs_are_one():
    """Stopping and going on changes no bit."""
    whole, parts = (Simulation(triangular(3, 3, mu=0.3, g=5.0), dt=DT, seed=2) for _ in range(2))
    whole.run(steps=12)
    for steps in (1, 4, 7):
        parts.run(steps=steps)
    np.testing.assert_array_equal(whole.bodies.motion, parts.bodies.motion)
    np.testing.assert_array_equal(whole.contacts.forces, parts.contacts.forces)


# Observers


def test_observer_is_called_in_turn():
    """start, a look after every so many steps, finish."""
    counter = Counter()
    resting().observe(counter, every=3).run(steps=8)
    assert counter.log == [("start", 0, 8), ("look", 3), ("look", 6), ("finish", 8)]


def test_a_function_is_an_observer():
    """Any function of the simulation will do; `observe` can be chained."""
    times, steps = [], []
    simulation = resting()
    assert simulation.observe(lambda s: times.append(s.time), every=2).observe(lambda s: steps.append(s.steps)) is (
        simulation
    )
    simulation.run(steps=4)
    assert times == pytest.approx([0.02, 0.04])
    assert steps == [1, 2, 3, 4]


def test_an_observer_stops_the_run():
    """StopRun ends it after the step in hand, with its text in the report; finish is still called."""
    counter = Counter()

    def stop(simulation):
        if simulation.steps == 5:
            raise StopRun("seen enough")

    report = resting().observe(counter).observe(stop).run(steps=100)
    assert report.steps == 5
    assert report.stopped == "seen enough"
    assert counter.log[-1] == ("finish", 5)


def test_a_stopped_run_can_go_on():
    """The reason of an earlier stop is forgotten by the next run."""
    simulation = resting()

    def stop_once(simulation):
        if simulation.steps == 2:
            raise StopRun("pause")

    assert simulation.observe(stop_once).run(steps=5).stopped == "pause"
    assert simulation.run(steps=5).stopped == ""
    assert simulation.steps == 7


def test_finish_is_called_when_a_run_fails():
    """Files get closed though an observer raises."""
    counter = Counter()

    def fail(simulation):
        raise RuntimeError("broken observer")

    simulation = resting().observe(counter).observe(fail)
    with pytest.raises(RuntimeError, match="broken observer"):
        simulation.run(steps=3)
    assert counter.log[-1] == ("finish", 1)


def test_stop_when_static():
    """A grain that slides to a halt between rough walls is static ten looks after its last fast step."""
    lid = plane([0, 2.0, 0], -UP, "piston", mass=1.0, load=10.0)
    bodies = grains([[0, 1, 0]], velocity=[[0.95, 0, 0]], friction=0.5, walls=[plane([0, 0, 0], UP), lid])
    # Two contacts with mu F = 5 N each on 1 kg: 0.1 m/s per step, at rest (below 0.01 m/s) after step 10.
    simulation = Simulation(bodies, dt=DT, solver=exact()).observe(StopWhenStatic(speed=0.01, looks=10))
    report = simulation.run(steps=100)
    assert "static" in report.stopped
    assert report.steps == 19


def test_stop_when_static_watches_the_piston():
    """A piston that still falls is a moving body, wherever it stands in the list of walls."""
    lid = plane([0, 50.0, 0], -UP, "piston", mass=1.0)
    simulation = Simulation(column(2, walls=[lid]), dt=DT).observe(StopWhenStatic(speed=0.05, looks=2))
    report = simulation.run(steps=40)  # far from landing: 50 m take more than 2 s
    assert report.stopped == ""


def test_history_has_a_row_per_look():
    """Columns by name; the mean force of a resting column is the mean of m g, 2 m g, 3 m g."""
    history = History()
    Simulation(column(3, g=10.0), dt=DT, solver=exact()).observe(history, every=2).run(steps=6)
    assert len(history) == 3
    np.testing.assert_allclose(history["time"], [0.02, 0.04, 0.06])
    np.testing.assert_allclose(history["mean_force"], 20.0, rtol=1e-9)
    np.testing.assert_allclose(history["kinetic_energy"], 0.0, atol=1e-12)
    assert (history["contacts"] == 3).all()


def test_history_of_a_fixed_number_of_sweeps():
    """The mean force is that of the forces found, also when sweeps are not watched."""
    history = History()
    Simulation(column(3, g=10.0), dt=DT, solver=Sweeps(criterion=FixedSweeps(400))).observe(history).run(steps=1)
    assert history["mean_force"][0] == pytest.approx(20.0, rel=1e-6)


# The report


def test_report_of_a_column():
    """Every field of a case that is known by hand."""
    report = Simulation(column(3, g=10.0), dt=DT, solver=exact()).run(steps=5)
    assert (report.grains, report.steps, report.contacts, report.candidates) == (3, 5, 3, 3)
    assert report.converged_steps == 5
    assert report.sweeps_max >= report.sweeps_mean > 0.0
    assert report.updates == round(report.sweeps_mean * 5) * 3
    assert report.wall_force["floor"][:2] == pytest.approx([0.0, -30.0], abs=1e-6)
    assert report.kinetic_energy == pytest.approx(0.0, abs=1e-12)
    assert report.max_overlap < 1e-9
    assert report.warnings == []
    assert report.seconds > 0.0
    assert "3 carry a force" in str(report)


def test_report_is_ready_for_json():
    """Plain numbers and text, every field once, back unchanged."""
    report = resting().run(steps=2)
    fields = {field.name for field in dataclasses.fields(Report)}
    assert set(report.as_dict()) == fields
    assert json.loads(json.dumps(report.as_dict())) == report.as_dict()


def test_report_before_the_first_step():
    """Nothing has happened, and nothing fails."""
    report = resting().report()
    assert (report.steps, report.contacts, report.sweeps_mean) == (0, 0, 0.0)


def test_unconverged_steps_are_counted_and_told():
    """Steps that ran out of sweeps are missing in converged_steps and named in a warning."""
    solver = Sweeps(criterion=LocalCriterion(1e-14, 0.0), max_sweeps=2)
    report = Simulation(chain(30), dt=DT, solver=solver).run(steps=3)
    assert report.converged_steps == 0
    assert any("3 of 3 steps" in text and "max_sweeps" in text for text in report.warnings)


def test_large_displacement_is_told():
    """A grain that flies 0.5 radii in one step: the report says so, and which dt would do (a fifth)."""
    report = Simulation(grains([[0, 0, 0]], velocity=[[50.0, 0, 0]]), dt=DT).run(steps=2)
    assert report.max_displacement_over_radius == pytest.approx(0.5)
    assert any("0.5 radii" in text and "0.002 s" in text for text in report.warnings)
    assert Simulation(grains([[0, 0, 0]], velocity=[[5.0, 0, 0]]), dt=DT).run(steps=2).warnings == []


def test_large_overlap_is_told():
    """An overlap of a tenth of a radius that carries a force is named; g_pos keeps it as it is."""
    bodies = grains([[0, 0, 0], [1.9, 0, 0]], force=[[1.0, 0, 0], [-1.0, 0, 0]])
    report = settle(bodies).report()
    assert report.max_overlap == pytest.approx(0.1, rel=1e-9)
    assert report.mean_overlap == pytest.approx(0.1, rel=1e-9)
    assert any("overlap" in text for text in report.warnings)
