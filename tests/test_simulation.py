"""The run: steps, observers, ends, divergence, reports."""

from __future__ import annotations

import dataclasses
import json
import os
import signal

import numpy as np
import pytest
from builders import UP, chain, column, exact, grains, plane, prepare, settle, triangular

from rigidgrains import (
    Bodies,
    DivergenceError,
    History,
    Observer,
    Report,
    Simulation,
    StopRun,
    StopWhenStatic,
    Sweeps,
)
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


class Counter(Observer):
    """Keeps what it was told."""

    def __init__(self):
        self.log = []

    def start(self, simulation, steps):
        self.log.append(("start", simulation.steps, steps))

    def look(self, simulation):
        self.log.append(("look", simulation.steps))

    def finish(self, simulation):
        self.log.append(("finish", simulation.steps))


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


# Divergence


class Bomb(Sweeps):
    """A solver that spoils one velocity in a given step."""

    at, value = 3, np.inf

    def solve(self, problem, rng):
        report = super().solve(problem, rng)
        self.at -= 1
        if self.at == 0:
            problem.motion[1, 0] = self.value
        return report


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 1e12])
def test_divergence_keeps_the_last_good_state(value):
    """Velocities that are not finite or run away raise, and the state before that step is there."""
    solver = Bomb()
    solver.value = value
    simulation = Simulation(triangular(3, 3, mu=0.3, g=5.0), dt=DT, solver=solver)
    simulation.run(steps=2)
    bodies = simulation.bodies
    position, motion, orientation = bodies.position.copy(), bodies.motion.copy(), bodies.orientation.copy()
    walls = [wall.shape.point.copy() for wall in bodies.walls]
    with pytest.raises(DivergenceError, match=r"step 3 .*diverged.*smaller dt"):
        simulation.run(steps=2)
    np.testing.assert_array_equal(bodies.position, position)
    np.testing.assert_array_equal(bodies.motion, motion)
    np.testing.assert_array_equal(bodies.orientation, orientation)
    for wall, point in zip(bodies.walls, walls):
        np.testing.assert_array_equal(wall.shape.point, point)
    assert simulation.steps == 2
    assert simulation.report().steps == 2


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_force_that_is_no_number_is_a_divergence(value):
    """An external force of NaN or infinity stops the run before any position is lost."""
    bodies = column(3, force=np.zeros((3, 3)))
    simulation = Simulation(bodies, dt=DT)
    simulation.run(steps=2)
    position, motion = bodies.position.copy(), bodies.motion.copy()
    bodies.force[1, 0] = value
    with pytest.raises(DivergenceError):
        simulation.run(steps=1)
    np.testing.assert_array_equal(bodies.position, position)
    np.testing.assert_array_equal(bodies.motion, motion)


def test_spin_that_is_no_number_is_a_divergence():
    """NaN in a spin is as bad as in a velocity, also without friction to spread it."""
    bodies = column(2)
    simulation = Simulation(bodies, dt=DT)
    simulation.step()
    bodies.motion[0, 3] = np.nan
    with pytest.raises(DivergenceError):
        simulation.step()


def test_a_run_goes_on_after_divergence():
    """With a sound solver the kept state carries on: forces of the failed step are not carried over."""
    parallel = Sweeps(order="parallel", criterion=FixedSweeps(3000))
    simulation = Simulation(triangular(6, 6, mu=0.3), dt=DT, solver=parallel)
    with pytest.raises(DivergenceError):
        simulation.run(steps=3)
    simulation.solver = Sweeps()
    report = simulation.run(steps=3)
    assert np.isfinite(report.mean_overlap)
    assert report.wall_force["piston"][1] == pytest.approx(10.0, rel=0.01)  # its load


def test_fast_but_honest_motion_is_no_divergence():
    """Free flight at any speed is not an error."""
    bodies = grains([[0, 0, 0]], velocity=[[1e6, 0, 0]])
    Simulation(bodies, dt=DT).run(steps=3)
    assert bodies.position[0, 0] == pytest.approx(3e4)


# Ctrl-C


def test_interrupt_ends_cleanly():
    """The first Ctrl-C ends the run after the step in hand; the old handler is back."""
    before = signal.getsignal(signal.SIGINT)
    counter = Counter()

    def press(simulation):
        if simulation.steps == 4:
            os.kill(os.getpid(), signal.SIGINT)

    report = resting().observe(press).observe(counter).run(steps=1000)
    assert report.stopped == "interrupted"
    assert report.steps in (4, 5)
    assert counter.log[-1] == ("finish", report.steps)
    assert signal.getsignal(signal.SIGINT) is before


def test_second_interrupt_ends_at_once():
    """Two Ctrl-C raise KeyboardInterrupt, and observers still finish."""
    counter = Counter()

    def press_twice(simulation):
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(1000):  # let the handler run
                pass

    simulation = resting().observe(counter).observe(press_twice)
    with pytest.raises(KeyboardInterrupt):
        simulation.run(steps=1000)
    assert counter.log[-1] == ("finish", 1)


# What is refused


@pytest.mark.parametrize("dt", [0.0, -1e-3, np.nan, np.inf, None])
def test_bad_dt(dt):
    """What, which value, and the remedy."""
    with pytest.raises(ValueError, match=rf"dt = {dt} is no time step; give a positive"):
        Simulation(column(2), dt=dt)


def test_run_without_an_end():
    with pytest.raises(ValueError, match=r"run\(\) needs an end: until = .*steps = "):
        resting().run()


@pytest.mark.parametrize("ask", [{"until": np.nan}, {"until": np.inf}, {"steps": -3}])
def test_bad_end(ask):
    """An end that is none is refused by name, with its value."""
    (name, value), *_ = ask.items()
    with pytest.raises(ValueError, match=f"{name} = {value}"):
        resting().run(**ask)


def test_bad_interval():
    with pytest.raises(ValueError, match=r"every = 0 .*every 1 step"):
        resting().observe(print, every=0)


@pytest.mark.parametrize("speed", [0.0, -1.0, np.nan])
def test_bad_bound(speed):
    with pytest.raises(ValueError, match=rf"speed = {speed} .*positive speed"):
        StopWhenStatic(speed=speed)


def test_material_without_friction_entry_is_refused():
    """A material beyond the table is an error where the bodies are made, not a read of strange memory."""
    with pytest.raises((ValueError, IndexError)):
        prepare(grains([[0, 0, 0], [2, 0, 0]], friction=0.3, material=1), DT)


def test_bodies_own_their_arrays():
    """A run does not write into the arrays the bodies were made of."""
    position, push = np.array([[0.0, 0.0, 0.0]]), np.array([[1.0, 0.0, 0.0]])
    bodies = Bodies.assemble(dimension=3, position=position, radius=np.ones(1), density=1.0, velocity=push)
    Simulation(bodies, dt=DT).run(steps=3)
    np.testing.assert_array_equal(position, [[0.0, 0.0, 0.0]])


def test_walls_without_grains():
    """Nothing to simulate is an error with a name."""
    with pytest.raises(ValueError, match="0 grains"):
        Simulation(grains(np.zeros((0, 3)), walls=[plane([0, 0, 0], UP, "floor")]), dt=DT)
