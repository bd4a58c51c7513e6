"""What an observer may answer, and what a resumed run knows of it."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
from support.builders import column

import rigidgrains as rg


def resting() -> rg.Simulation:
    return rg.Simulation(column(2), dt=0.01)


class Late(rg.Observer):
    """Ends the run at a step; keeps count."""

    def __init__(self, step: int) -> None:
        self.step, self.finished = step, 0

    def look(self, simulation):
        return f"step {self.step} reached" if simulation.steps >= self.step else None

    def finish(self, simulation):
        self.finished += 1


@pytest.mark.parametrize("kind", ["function", "numpy text", "observer"])
def test_a_text_ends_the_run_and_is_its_reason(kind):
    """After the third of ten steps, with the state of that step, and in the report as text that JSON knows."""
    answers = {
        "function": lambda sim: "step 3 reached" if sim.steps == 3 else None,
        "numpy text": lambda sim: np.str_("step 3 reached") if sim.steps == 3 else None,
        "observer": Late(3),
    }
    simulation = resting().observe(answers[kind])
    report = simulation.run(steps=10)
    assert report.stopped == "step 3 reached"
    assert type(report.stopped) is str
    assert simulation.steps == 3
    assert simulation.whole
    assert "stopped" in str(report)


def test_a_text_before_the_first_step_ends_the_run_there():
    class Never(Late):
        def start(self, simulation, steps):
            return "nothing to do"

    never, before, after = Never(9), Late(9), Late(9)
    report = resting().observe(before).observe(never).observe(after).run(steps=4)
    assert (report.stopped, report.steps) == ("nothing to do", 0)
    assert (before.finished, never.finished, after.finished) == (1, 1, 0)  # those that were started


@pytest.mark.parametrize(
    "answer", [True, False, np.True_, np.bool_(False), 0, 1.5, "", "  ", b"enough", [], np.zeros(2), rg.StopRun("no")]
)
def test_any_other_answer_is_refused(answer):
    """It says who, what was returned, and what to do; the state is that of the step, and observers are finished."""
    late = Late(99)

    def settled(simulation):
        return answer

    simulation = resting().observe(late).observe(settled)
    with pytest.raises(TypeError) as told:
        simulation.run(steps=4)
    assert "settled returned" in str(told.value)
    assert repr(answer) in str(told.value)
    assert "return a text" in str(told.value)
    assert (simulation.steps, simulation.whole, late.finished) == (1, True, 1)


def test_methods_are_held_to_the_same():
    class Eager(rg.Observer):
        def look(self, simulation):
            return True

    with pytest.raises(TypeError, match=r"Eager returned True"):
        resting().observe(Eager()).run(steps=2)
    with pytest.raises(TypeError, match=r"Eager.look returned True"):
        resting().observe(Eager().look).run(steps=2)


def test_functions_of_which_a_call_runs_nothing_are_refused_at_once():
    """Generators and coroutines: what stands in them would never run."""

    def stepwise(simulation):
        yield "enough"

    async def later(simulation):
        return "enough"

    async def both(simulation):
        yield "enough"

    class Called:
        def __call__(self, simulation):
            yield "enough"

    class Waits(rg.Observer):
        async def look(self, simulation):
            return "enough"

    for function in (stepwise, partial(stepwise), both, Called()):
        with pytest.raises(TypeError, match=r"has a yield in it.*return instead"):
            resting().observe(function)
    for function in (later, Waits()):
        with pytest.raises(TypeError, match="is async, and nothing awaits it"):
            resting().observe(function)


def test_coroutines_that_come_unannounced_are_closed():
    """Python would warn of one that nobody awaits."""

    async def later():
        return "enough"

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TypeError, match="returned <coroutine"):
            resting().observe(lambda simulation: later()).run(steps=1)


def test_a_stop_without_a_word_is_still_told():
    def stop(simulation):
        raise rg.StopRun

    assert resting().observe(stop).run(steps=3).stopped == "an observer ended the run"


class Counter(rg.Observer):
    """Ends the run after so many looks, over a restart too."""

    def __init__(self, most: int) -> None:
        self.most, self.looks = most, 0

    def look(self, simulation):
        self.looks += 1
        return f"{self.most} looks" if self.looks == self.most else None

    def state(self):
        return {"looks": self.looks}

    def restore(self, state):
        self.looks = state["looks"]


def test_own_observers_go_on_where_they_were(tmp_path):
    """Three looks before the restart, two after it; a new one without its state would want five."""
    path = tmp_path / "run.vtkhdf"
    resting().observe(Counter(5)).observe(rg.TrajectoryWriter(path)).run(steps=3)
    resumed = rg.resume(path).observe(Counter(5))
    assert resumed.run(steps=10).stopped == "5 looks"
    assert resumed.steps == 5


@pytest.mark.parametrize("value", [np.arange(3), np.int64(3), {1, 2}, lambda: 0])
def test_what_a_file_cannot_keep_of_an_observer_is_told(tmp_path, value):
    class Keeps(Counter):
        def state(self):
            return {"looks": value}

    with pytest.raises(TypeError, match=r"Keeps: state\(\) cannot be kept in a file .*; return numbers, texts"):
        resting().observe(Keeps(5)).observe(rg.TrajectoryWriter(tmp_path / "run.vtkhdf")).run(steps=1)
