"""Threads: the same bits whatever their number, and clear words about numbers that are none."""

from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest
from numba import _dispatcher
from support.builders import prepare, triangular

from rigidgrains.app import bench
from rigidgrains.detect.grid import near_pairs
from rigidgrains.runtime import threads
from rigidgrains.runtime.barrier import meet, new_meeting
from rigidgrains.runtime.board import DISMISSED, LARGEST, OPEN, new_board
from rigidgrains.runtime.compiled import kernel
from rigidgrains.runtime.handing import take_bits
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.solve.accelerated import AcceleratedSweeps
from rigidgrains.solve.criteria import FixedSweeps, MomentumCriterion
from rigidgrains.solve.orders import Coloured
from rigidgrains.solve.residual import natural_map, residual
from rigidgrains.solve.sweeps import Sweeps
from rigidgrains.solve.virtual_power import momentum_error

DT = 0.01


@pytest.fixture
def small_parts(monkeypatch):
    """Every loop is cut into parts and shared among threads; the number is put back afterwards."""
    monkeypatch.setattr(threads, "PART", 256)
    monkeypatch.setattr(threads, "WORTH", 1)
    monkeypatch.setattr(threads, "LEAST", 1)
    yield
    threads.set_threads(None)


def on_each(task):
    """What a task gives on one, two and three threads."""
    found = []
    for number in (1, 2, 3):
        threads.set_threads(number)
        found.append(task())
    return found


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("solver", [Sweeps, AcceleratedSweeps])
def test_a_run_has_the_same_bits(solver):
    """Everything in a step: search, contacts, sweeps, acceleration, motion."""

    def run():
        bodies = bench.dense_bodies(3000)
        bodies.motion[:, :6] *= 20.0
        criterion = FixedSweeps(5) if solver is Sweeps else MomentumCriterion(1e-2, 0.05)
        simulation = Simulation(
            bodies, dt=0.05, seed=1, solver=solver(order=Coloured(worth=1), criterion=criterion, max_sweeps=40)
        )
        simulation.run(steps=4)
        assert simulation.neighbours.builds > 1
        return bodies.position.tobytes() + bodies.orientation.tobytes() + simulation.contacts.forces.tobytes()

    first, *others = on_each(run)
    assert all(other == first for other in others)


@pytest.mark.usefixtures("small_parts")
def test_figures_of_a_problem_have_the_same_bits():
    problem = prepare(triangular(30, 30, mu=0.3, g=3.0), DT)
    Sweeps(order="coloured", criterion=FixedSweeps(3)).solve(problem, np.random.default_rng(1))
    first, *others = on_each(lambda: (residual(problem), momentum_error(problem), natural_map(problem).tobytes()))
    assert 0.0 < first[0] < 1.0
    assert all(other == first for other in others)


@pytest.mark.usefixtures("small_parts")
def test_a_search_in_parts_finds_the_same_pairs():
    """Against one search in one part."""
    bodies = bench.dense_bodies(5000)
    found = on_each(lambda: near_pairs(bodies.position, bodies.radius, 0.3))
    threads.PART = 10**9
    whole = near_pairs(bodies.position, bodies.radius, 0.3)
    assert len(whole.partner) > 5000
    for pairs in found:
        np.testing.assert_array_equal(pairs.start, whole.start)
        np.testing.assert_array_equal(pairs.partner, whole.partner)


@kernel
def ends(first, last, scale):
    """What a part of a loop is given, as whole number, float and truth."""
    return first, scale * last, first == 0


@kernel
def fill(first, last, rows, names):
    for k in range(first, last):
        rows[k] += names[k % 2] * k


@kernel
def take_turns(thread, threads, meeting, rounds, seen):
    """Each thread in turn adds to a number: all of them are there."""
    for turn in range(rounds):
        if turn % threads == thread:
            seen[0] = 2.0 * seen[0] + thread
        meet(meeting, threads)
    return threads


@pytest.mark.usefixtures("small_parts")
def test_a_kernel_in_parts_returns_what_it_does_in_one():
    """Whole numbers stay whole; arguments of other types get another kernel."""
    found = on_each(lambda: threads.spread(ends, 1000, 0.5))
    assert found[0] == [(0, 128.0, True), (256, 256.0, False), (512, 384.0, False), (768, 500.0, False)]
    assert found[1:] == [found[0]] * 2
    assert all(isinstance(first, int) and truth in (True, False) for first, _, truth in found[2])
    for kind in (np.float64, np.int64):

        def filled(kind=kind):
            rows = np.zeros(3000, kind)
            assert threads.spread(fill, len(rows), rows, (1, 2)) == [None] * 12
            return rows.tolist()

        assert on_each(filled) == [[k * (1 + k % 2) for k in range(3000)]] * 3


@pytest.mark.usefixtures("small_parts")
def test_threads_of_a_team_are_all_there_and_go_when_there_is_nothing_to_do():
    for number in (2, 5, 3):
        threads.set_threads(number)
        seen = np.zeros(1)
        assert threads.together(take_turns, number, 10 * number, seen) == number
        expected = 0.0
        for turn in range(10 * number):
            expected = 2.0 * expected + turn % number
        assert seen[0] == expected
    crew, patience = threads._team(), time.monotonic() + 20.0
    while crew.waits and time.monotonic() < patience:
        time.sleep(0.01)
    assert not crew.waits
    assert threads.spread(ends, 1000, 1.0)[-1] == (768, 1000.0, False)  # and come again


@kernel
def take_late(board, share):
    """Take a share that was there a moment ago; returns whether it still was."""
    return take_bits(board, OPEN, ~(np.int64(1) << share)) >> share & 1 != 0


def test_who_comes_late_takes_nothing_of_a_team_that_was_dismissed():
    """A thread may sleep between its look at the board and its hand on a share, until all have gone."""
    board, _ = new_board()
    assert not any(take_late(board, share) for share in range(LARGEST))
    assert board[OPEN] == DISMISSED


@pytest.mark.usefixtures("small_parts")
def test_a_team_has_no_more_threads_than_shares():
    """Also on machines with more cores than there are bits in a number."""
    threads.set_threads(80)
    assert len(threads.spread(ends, 80 * 4096, 1.0, part=1024)) == 320
    assert len(threads._team()._inboxes) < LARGEST


@pytest.mark.usefixtures("small_parts")
def test_a_forked_process_has_a_team_of_its_own():
    threads.set_threads(2)
    threads.spread(ends, 1000, 1.0)
    if not hasattr(os, "fork"):
        pytest.skip("no fork here")
    if (child := os.fork()) == 0:
        found = threads.spread(ends, 1000, 1.0)
        os._exit(0 if found[-1] == (768, 1000.0, False) else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.usefixtures("small_parts")
def test_parts_cover_all_rows_once_and_in_order():
    threads.set_threads(3)
    parts = threads.in_parts(lambda first, last: (first, last), 1000)
    assert [first for first, _ in parts] == [0, *(last for _, last in parts[:-1])]
    assert parts[-1][1] == 1000
    assert len(parts) == 4


@pytest.mark.usefixtures("small_parts")
def test_work_is_really_shared():
    """Two parts that wait for each other can only end on two threads."""
    threads.set_threads(2)
    both = threading.Barrier(2, timeout=20.0)
    met = threads.in_parts(lambda first, last: both.wait() >= 0, 512)
    assert met == [True, True]


@pytest.mark.usefixtures("small_parts")
def test_two_runs_at_a_time_do_not_wait_for_each_other():
    """Sweeps of two Python threads share the threads; neither is stuck, and both have the bits of a run alone."""

    def run():
        problem = prepare(triangular(20, 20, mu=0.3, g=3.0), DT)
        solver = Sweeps(order=Coloured(worth=1), criterion=FixedSweeps(60))
        solver.solve(problem, np.random.default_rng(1))
        return problem.forces.tobytes()

    threads.set_threads(3)
    alone, found = run(), []
    runners = [threading.Thread(target=lambda: found.append(run()), daemon=True) for _ in range(3)]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join(60.0)
    assert found == [alone] * 3


@pytest.mark.usefixtures("small_parts")
def test_an_error_in_a_shared_task_is_told():
    threads.set_threads(2)

    def fail(first, last):
        raise ArithmeticError("of some part")

    with pytest.raises(ArithmeticError, match="of some part"):
        threads.in_parts(fail, 1000)


@pytest.mark.usefixtures("small_parts")
def test_nobody_waits_for_a_thread_that_failed():
    """An error, or a second Ctrl-C, on the first thread lets the others go; the next task finds them ready."""
    threads.set_threads(3)

    def interrupted(*given):
        raise KeyboardInterrupt

    crew = threads._team()
    address = crew._find(take_turns, (new_meeting(), 6, np.zeros(1)))
    crew._known[interrupted, _dispatcher.compute_fingerprint((new_meeting(), 6, np.zeros(1)))] = address
    with pytest.raises(KeyboardInterrupt):
        threads.together(interrupted, 3, 6, np.zeros(1))
    seen = np.zeros(1)
    assert threads.together(take_turns, 3, 6, seen) == 3
    assert seen[0] == 2.0 * (2.0 * (2.0 * (2.0 * (2.0 * 0.0 + 1) + 2) + 0) + 1) + 2


@pytest.mark.parametrize("number", [0, -1, 2.5, "two", 10**6])
def test_what_is_no_number_of_threads(number, monkeypatch):
    with pytest.raises(ValueError, match=f"threads = {number} is no number of threads; give a whole number"):
        threads.set_threads(number)
    monkeypatch.setenv("RIGIDGRAINS_THREADS", str(number))
    with pytest.raises(ValueError, match="RIGIDGRAINS_THREADS"):
        threads.get_threads()


def test_where_the_number_comes_from(monkeypatch):
    """What was set, then the variables, then the cores of this machine."""
    for name in threads.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    assert 1 <= threads.get_threads() <= (os.cpu_count() or 1)
    monkeypatch.setenv("NUMBA_NUM_THREADS", "3")
    assert threads.get_threads() == 3
    monkeypatch.setenv("RIGIDGRAINS_THREADS", "2")
    assert threads.get_threads() == 2
    monkeypatch.setenv("RIGIDGRAINS_THREADS", " ")  # empty is as good as not set
    assert threads.get_threads() == 3
    monkeypatch.setenv("RIGIDGRAINS_THREADS", "2")
    threads.set_threads(5)
    assert threads.get_threads() == 5
    threads.set_threads(None)
    assert threads.get_threads() == 2
