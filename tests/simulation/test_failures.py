"""What goes wrong: divergence, interruption, and what is refused."""

from __future__ import annotations

import os
import signal
import threading
import warnings

import numpy as np
import pytest
from support.builders import UP, Counter, column, grains, plane, prepare, triangular

import rigidgrains as rg
from rigidgrains import Bodies, DivergenceError, Simulation, StopWhenStatic, Sweeps, measure
from rigidgrains.solve.criteria import FixedSweeps

DT = 0.01


def resting(**rest):
    return Simulation(column(3), dt=DT, **rest)


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


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, None), (signal.SIGTERM, 143)])
def test_an_interruption_raises_when_everything_is_safe(number, code):
    """After the step in hand observers are finished, then Python's own exception comes; the old handlers are back."""
    before = signal.getsignal(number)
    counter, simulation = Counter(), resting()

    def press(simulation):
        if simulation.steps == 4:
            os.kill(os.getpid(), number)

    simulation.observe(press).observe(counter)
    with pytest.raises(KeyboardInterrupt if code is None else SystemExit) as raised:
        simulation.run(steps=1000)
    assert code is None or raised.value.code == code
    assert counter.log[-1] == ("finish", 4)
    assert simulation.report().stopped == "interrupted"
    assert (simulation.whole, simulation.midway) == (True, False)
    assert signal.getsignal(number) is before
    simulation.observe(lambda now: None)
    assert simulation.run(steps=3).steps == 7  # it goes on from where it was


def press_now(*_):
    os.kill(os.getpid(), signal.SIGINT)


def test_a_loop_over_parameters_ends_with_the_run_that_was_interrupted():
    done = []

    def loop():
        for mu in (0.1, 0.2, 0.3):
            simulation = resting()
            if mu == 0.2:
                simulation.observe(press_now, every=5)
            done.append(simulation.run(steps=10).steps)

    with pytest.raises(KeyboardInterrupt):
        loop()
    assert done == [10]


def test_an_interruption_while_observers_finish_waits_for_them():
    """The last state is being written: the run is complete, and the loop around it still ends."""

    class Slow(Counter):
        def finish(self, simulation):
            press_now()
            super().finish(simulation)

    slow, other, simulation = Slow(), Counter(), resting()
    simulation.observe(other).observe(slow)
    with pytest.raises(KeyboardInterrupt):
        simulation.run(steps=3)
    assert slow.log[-1] == other.log[-1] == ("finish", 3)
    assert simulation.report().stopped == ""


def test_an_interruption_in_a_run_within_a_run_ends_both():
    inner, outer, counter = resting(), resting(), Counter()
    inner.observe(press_now, every=2)
    outer.observe(counter).observe(lambda now: inner.run(steps=100), every=3)
    with pytest.raises(KeyboardInterrupt):
        outer.run(steps=100)
    assert (inner.steps, outer.steps) == (2, 3)
    assert inner.report().stopped == outer.report().stopped == "interrupted"
    assert counter.log[-1] == ("finish", 3)


def test_the_error_of_an_observer_wins_over_an_interruption():
    """As in Python itself: what goes wrong while one cleans up is what is told."""

    def fail(now):
        press_now()
        raise ArithmeticError("mine")

    counter, simulation, before = Counter(), resting(), signal.getsignal(signal.SIGINT)
    simulation.observe(counter).observe(fail)
    with pytest.raises(ArithmeticError, match="mine"):
        simulation.run(steps=5)
    assert counter.log[-1] == ("finish", 1)
    assert signal.getsignal(signal.SIGINT) is before


def test_runs_in_other_threads_are_not_asked():
    """Only the main thread hears signals; handlers are left alone elsewhere."""
    found, before = [], signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=lambda: found.append(resting().run(steps=20).steps))
    thread.start()
    thread.join()
    assert found == [20]
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("again", [signal.SIGINT, signal.SIGTERM])
def test_second_interrupt_ends_at_once(again):
    """The second raises where it is, and observers still finish."""
    counter = Counter()

    def press_twice(simulation):
        for number in (signal.SIGINT, again):
            os.kill(os.getpid(), number)
            for _ in range(1000):  # let the handler run
                pass

    simulation = resting().observe(counter).observe(press_twice)
    with pytest.raises(KeyboardInterrupt if again == signal.SIGINT else SystemExit):
        simulation.run(steps=1000)
    assert counter.log[-1] == ("finish", 1)


# What is refused


@pytest.mark.parametrize("dt", [0.0, -1e-3, np.nan, np.inf, "long", True, 1e-300])
def test_bad_dt(dt):
    """What, which value, and the remedy."""
    with pytest.raises(ValueError, match=rf"dt = {dt!r} is no time step; give a positive"):
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


def test_an_end_that_is_past_is_told():
    """No step is taken; a run that finds itself at its end, to a step, has nothing to be told."""
    simulation = resting()
    simulation.run(until=0.105)
    assert simulation.time == pytest.approx(0.11)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert simulation.run(until=0.105).steps == 11
    with pytest.warns(UserWarning, match=r"until = 0\.05 s is past, .* at t = 0\.11 s: no step is taken"):
        assert simulation.run(until=0.05).steps == 11


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


def test_a_step_that_failed_leaves_no_row_without_forces():
    """The state before it is kept, but the forces of its contacts are gone: they would count as zero, and as ended."""
    scene = rg.Scene(dimension=2, gravity=(0, -10), run={"dt": 1e-2})
    scene.add_grains(positions=[(0, 0.5)], radius=0.5)
    scene.add_plane("floor", point=(0, 0), normal=(0, 1), displacement=(0, "0*sqrt(0.075 - t)"))
    lifetimes, history = measure.ContactLifetimes(), rg.History()
    record = rg.Measure(contacts=lifetimes)
    simulation = rg.Simulation(scene).observe(history, every=5).observe(record, every=5)
    with pytest.raises(rg.StageError, match="step 8 cannot begin"):
        simulation.run(steps=50)
    assert simulation.steps == 7
    assert history["step"].tolist() == record["step"].tolist() == [5]
    assert record["contacts.ended"].tolist() == [0]
