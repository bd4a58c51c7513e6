"""What one sees while waiting: on a terminal, in a log, in a notebook."""

from __future__ import annotations

import copy
import io
import re
import sys
import threading
import types
import warnings

import numpy as np
import pytest
from rich.console import Console
from support.builders import chain

import rigidgrains as rg
from rigidgrains.app import bench
from rigidgrains.observe import bar as room
from rigidgrains.observe.bar import Bar, Log
from rigidgrains.observe.progress import Progress
from rigidgrains.simulation.simulation import Simulation
from rigidgrains.solve.criteria import FixedSweeps
from rigidgrains.solve.sweeps import Sweeps


class Clock:
    """Time passes when it is told to."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


def terminal(width: int) -> Console:
    return Console(file=io.StringIO(), force_terminal=True, force_jupyter=False, width=width, color_system=None)


def last_line(console: Console) -> str:
    """What stands on the terminal in the end."""
    return re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "\r", console.file.getvalue()).strip())[-1]


def moving(console: Console) -> Simulation:
    simulation = Simulation(chain(9), dt=0.01, solver=Sweeps(criterion=FixedSweeps(7)))
    simulation.observe(Progress(console))
    return simulation


def test_the_bar_tells_time_sweeps_speed_and_what_remains():
    """Speeds belong together: updates per step are sweeps times contacts."""
    console = terminal(200)
    moving(console).run(steps=4)
    told = last_line(console)
    assert "100 %" in told
    assert "4/4 steps" in told
    assert "t = 0.04 s" in told
    assert "7 sweeps  9 candidates" in told
    steps, updates = re.findall(r"([\d.e+]+) steps/s, ([\d.e+-]+) M updates/s", told)[-1]
    assert float(updates) * 1e6 / float(steps) == pytest.approx(7 * 9, rel=0.02)


def test_eighty_columns_hold_bar_percent_time_left_and_count():
    """43.2 % after 432 of 1000 s leave 568 s; whole details or none."""
    clock, console = Clock(), terminal(80)
    with Bar(console=console, now=clock) as bar:
        for _ in range(432):
            clock.seconds += 1.0
            bar.tell((clock.seconds - 1000.0) / 1000.0, "432,000/1,000,000 steps", "t = 0.04321 s", "5000 sweeps")
        line = last_line(console)
    assert len(line) <= 80
    assert line[: room.WIDTH].startswith("━" * 8)  # 0.432 of 20 characters
    assert line.endswith("43 %  0:09:28 left  432,000/1,000,000 steps  t = 0.04321 s")


@pytest.mark.parametrize("width", [40, 60, 80, 132])
def test_no_line_is_cut(width):
    """Every word that is shown is whole, at any width that holds bar, percent and time."""
    console, details = terminal(width), ("1/9 steps", "t = 1 s", "17 sweeps", "300 candidates")
    with Bar(console=console, now=Clock()) as bar:
        bar.tell(1.0, *details)
    line = last_line(console).rstrip()
    assert len(line) <= width
    shown = line.split("taken")[1].split("  ")[1:]
    assert tuple(shown) == details[: len(shown)]
    assert "…" not in line


def test_the_time_left_follows_the_pace_of_the_last_half_minute():
    """100 s of compiling, then a hundredth each second: after 50 of those, 50 s are left, not 150."""
    clock = Clock()
    bar = Bar(console=Console(file=io.StringIO()), now=clock)
    assert "-:--:-- left" in bar.line()
    clock.seconds += 100.0
    for done in range(1, 51):
        clock.seconds += 1.0
        bar.tell(done / 100.0)
    assert "50 %  0:00:50 left" in bar.line()
    bar.tell(1.0)
    assert "0:02:30 taken" in bar.line()


def test_without_a_terminal_there_is_a_line_each_half_minute():
    """By a clock of our own: three lines in 119 s, at 30, 60 and 90, each with the share of 300 s and what is left."""
    clock, console = Clock(), Console(file=io.StringIO(), force_terminal=False, force_jupyter=False, width=40)
    bar = Bar("work", console=console, now=clock)

    def ended(seconds: float) -> bool:
        for _ in range(int(seconds)):
            clock.seconds += 1.0
            bar.tell((clock.seconds - 1000.0) / 300.0, "a detail that is longer than a line of forty characters")
            if clock.seconds >= 1119.0:
                return True
        return False

    Log(bar, console).say_until(ended)
    lines = console.file.getvalue().splitlines()
    assert [line.split("  a detail")[0] for line in lines] == [
        "work   10 %  0:04:30 left", "work   20 %  0:04:00 left", "work   30 %  0:03:30 left",
    ]  # fmt: skip
    assert all(line.endswith("forty characters") for line in lines)


class Heard(io.StringIO):
    """A log that can be waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.line = threading.Event()

    def write(self, text: str) -> int:
        written = super().write(text)
        if "\n" in text:
            self.line.set()
        return written


def test_a_run_writes_to_a_log_while_it_goes_on(monkeypatch):
    """Also within a step that takes long; and a short run writes nothing."""
    log = Heard()
    console = Console(file=log, force_terminal=False, force_jupyter=False)
    moving(console).run(steps=3)
    assert log.getvalue() == ""
    monkeypatch.setattr(room, "SILENCE", 0.01)
    simulation = moving(console)
    simulation.observe(lambda sim: None if log.line.wait(60.0) else "no line came")
    assert simulation.run(steps=2).stopped == ""
    assert re.search(r"\d+ %  .* left", log.getvalue())


def test_reproduce_and_bench_tell_how_far_they_are(monkeypatch, tmp_path):
    """bench: shares grow from 0, each with what is measured next; reproduce: a bar for each target."""
    told: list[tuple[float, str]] = []
    for name in ("search_over_sweep", "start_seconds", "_child", "sweep_seconds", "kind_rates"):
        monkeypatch.setattr(bench, name, lambda *words: 1.0)
    monkeypatch.setattr("rigidgrains.app.bench_step.shares", lambda grains: {})
    monkeypatch.setattr("rigidgrains.app.bench_step.speed_up", lambda grains: 1.0)
    monkeypatch.setattr("rigidgrains.app.bench_step.sweep_ratio", lambda grains: 1.0)
    monkeypatch.setattr("rigidgrains.app.bench_step.outside_sweeps", lambda grains: (1.0, 1.0))
    monkeypatch.setattr(bench, "dense_problem", lambda *words, **more: (None, chain_problem()))
    bench.run(sizes=(10,), tell=lambda share, what: told.append((share, what)))
    assert [share for share, _ in told] == pytest.approx(np.arange(13) / 13)
    assert told[0][1] == "ordered sweeps, 10 grains"
    assert told[-1][1] == "bytes per grain"

    from rigidgrains.reproduce import progress

    class Target:
        name, title = "fig", "a figure"

    def targets(names, output, *, quick, force, watch):
        tick = watch(Target)
        tick(0.5)
        tick(1.0)
        return []

    console = terminal(80)
    monkeypatch.setattr(progress, "Bar", lambda name: Bar(name, console=console))
    monkeypatch.setattr(progress, "reproduce", targets)
    monkeypatch.setattr(progress, "check_names", lambda names: names)
    progress.run_with_progress(["fig"], tmp_path, quick=True, force=False, out=terminal(80))
    assert re.search(r"fig +100 %  0:00:0\d taken", last_line(console))


def chain_problem():
    simulation = Simulation(chain(9), dt=0.01)
    simulation.step()
    return simulation.contacts.problem(simulation.bodies, 0.01)


def test_adaptive_steps_are_measured_by_time():
    """How many steps there will be is not known: the share is that of the time."""
    console = terminal(120)
    simulation = Simulation(chain(3), dt="auto")
    simulation.bodies.velocity[0, 0] = 0.01
    shares = []

    class Watched(Progress):
        def look(self, sim):
            super().look(sim)
            shares.append(self._bar.share)

    simulation.observe(Watched(console)).run(until=1.0)
    assert shares[0] == pytest.approx(simulation.step_sizes[0] / 1.0)
    assert shares[-1] == 1.0


def test_a_finished_bar_leaves_nothing_that_cannot_be_copied():
    """But for the console itself, which is the caller's."""
    for console in (terminal(80), Console(file=io.StringIO(), force_terminal=False)):
        observer = Progress(console)
        Simulation(chain(3), dt=0.01).observe(observer).run(steps=1)
        copy.deepcopy(observer, {id(console): console})


def test_compiling_is_told_apart_from_computing():
    """A law that is compiled within the run costs compiling and no computing; the second run compiles nothing."""
    from numba import njit

    simulation = Simulation(chain(9), dt=0.01)
    simulation.run(steps=1)
    before = simulation.report()

    def compiled(sim):
        inner = njit(lambda x: x + 1.0)
        njit(lambda x: inner(x) * 2.0)(1.0)  # one within the other: counted once

    simulation.observe(compiled)
    report = simulation.run(steps=1)
    spent = report.compile_seconds - before.compile_seconds
    assert spent > 0.0
    assert f"(and {report.compile_seconds:.2f} s compiling)" in report.cost()
    assert report.seconds >= before.seconds  # a part counted twice would take computing below nothing
    again = Simulation(chain(9), dt=0.01)
    again.run(steps=1)
    assert again.report().compile_seconds == 0.0
    assert "compiling" not in again.report().cost()
    assert rg.Report.of(again).as_dict()["compile_seconds"] == 0.0


def test_in_a_notebook_a_line_changes_without_widgets(monkeypatch):
    """Nothing but IPython's display is asked for, once, and then its handle."""
    shown: list[dict] = []

    class Handle:
        def update(self, data, *, raw):
            assert raw
            shown.append(data)

    def display(data, *, raw, display_id):
        assert raw
        assert display_id is True
        shown.append(data)
        return Handle()

    fake = types.ModuleType("IPython.display")
    fake.display = display
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", fake)
    monkeypatch.setitem(sys.modules, "ipywidgets", None)  # importing it fails
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        moving(Console(file=io.StringIO(), force_jupyter=True)).run(steps=4)
    assert shown[0]["text/plain"].startswith("░" * room.WIDTH)
    assert shown[-1]["text/plain"].startswith("█" * room.WIDTH + " 100 %")
    assert "4/4 steps" in shown[-1]["text/plain"]
    assert all(set(data) == {"text/plain"} for data in shown)
