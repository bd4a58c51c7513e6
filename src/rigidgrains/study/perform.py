"""One run of a study, from wherever it stands to its result; killed at any time, it can be called again."""

from __future__ import annotations

import socket
import time as clock
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..app.runner import Outcome, Plan, RunFailed, Watch, resume_run, run_scene
from ..files.outputs import whole
from ..runtime.version import __version__
from ..simulation.tally import INTERRUPTED
from ..simulation.triggers import Interrupt
from ..trajectory.errors import TrajectoryError, WriteError
from ..trajectory.reader import Trajectory
from .alone import alone
from .folder import SCENE, Job
from .measures import evaluate
from .result import TRAJECTORY, Result, add_times, read_result, same

if TYPE_CHECKING:
    from ..simulation.simulation import Simulation

PAUSE = 1.0  # s, between two looks whether to stop, and two words about the progress
Tell = Callable[[float], None]  # of the share that is done, 0 to 1
OUTSIDE = (OSError, WriteError, MemoryError)  # what is no fault of the run


def perform(job: Job, tell: Tell = lambda share: None) -> str:
    """Run, or go on, and measure; gives the state: done, failed, unmeasured, or begun if it was stopped or is taken."""
    if job.stop.exists():
        return "begun"
    job.place.mkdir(parents=True, exist_ok=True)
    with alone(job.place) as mine:
        if not mine:
            return "begun"
        began, started = clock.time(), clock.perf_counter()
        result = read_result(job)
        if fresh := result is None or bool(result.error):
            result = _run(job, tell)
        if result is None:
            state = "begun"
        else:
            if not result.error:
                _measure(job, result, own=fresh)
            result.save(job.place)
            state = result.state(job)
        seconds = clock.perf_counter() - started
        add_times(job.place, {
            "host": socket.gethostname(), "began": began, "seconds": seconds, "version": __version__, "state": state,
        })  # fmt: skip
        return state


def _run(job: Job, tell: Tell) -> Result | None:
    """Bring the run to its end; None if it was stopped before."""
    scene, file = job.place / SCENE, job.place / TRAJECTORY
    watch = Watch(_teller(tell), Asked(job.stop))
    with whole(scene) as part:
        part.write_text(job.text, encoding="utf-8")
    try:
        ended = _end_of(file) if file.exists() else None
        if ended is None:
            outcome = _resumed(file, watch) if file.exists() else None
            if outcome is None:
                outcome = run_scene(scene, output=job.place, force=True, progress=False, watch=watch)
            if outcome.report.stopped == INTERRUPTED:
                return None
            ended = outcome.report.steps, outcome.report.time
        return Result(job.mark, steps=ended[0], time=ended[1])
    except Exception as problem:
        outside = isinstance(problem, OUTSIDE) or isinstance(problem.__context__, OUTSIDE)
        return Result(job.mark, error=_one_line(problem, job), again=outside)


def _resumed(file: Path, watch: Watch) -> Outcome | None:
    """Go on with a file; None if it cannot be, and the run has to begin anew."""
    try:
        return resume_run(file, force=True, progress=False, watch=watch)
    except TrajectoryError:
        return None


def _end_of(file: Path) -> tuple[int, float] | None:
    """Steps and time of a run that came to its end, by time or by an observer's wish; None if it has not."""
    try:
        with Trajectory(file) as trajectory:
            report, plan = trajectory.report, Plan.read(file, trajectory.run)
    except TrajectoryError:
        return None
    if not report or report.get("stopped") == INTERRUPTED:
        return None
    late = plan.until is not None and plan.until - report["time"] <= 1e-9 * report["dt"]
    if report.get("stopped") or late or (plan.last_step is not None and plan.last_step <= report["steps"]):
        return int(report["steps"]), float(report["time"])
    return None


def _measure(job: Job, result: Result, *, own: bool) -> None:
    """Measure what is wanted and not there yet; own : this process has just run it."""
    with Trajectory(job.place / TRAJECTORY, own=own) as trajectory:
        for name, one in job.measures.items():
            if name in result.measures and same(result.measures[name]["of"], job.wanted[name]):
                continue
            value, error = None, ""
            try:
                value = evaluate(name, one, trajectory, job.folder)
            except Exception as problem:
                error = _one_line(problem, job)
            result.measures[name] = {"of": job.wanted[name], "value": value, "error": error}


class Asked(Interrupt):
    """An interrupt that also comes by a file, for runs on other machines."""

    def __init__(self, stop: Path) -> None:
        super().__init__()
        self._stop, self._next, self._there = stop, 0.0, False

    @property
    def asked(self) -> bool:
        now = clock.monotonic()
        if now >= self._next:
            self._next, self._there = now + PAUSE, self._stop.exists()
        return self._there or super().asked


def _teller(tell: Tell) -> Callable[[Simulation, Plan], None]:
    """Tells the share that is done, now and then."""
    due = clock.monotonic() + PAUSE

    def look(simulation: Simulation, plan: Plan) -> None:
        nonlocal due
        now = clock.monotonic()
        if now >= due:
            due = now + PAUSE
            by_time = simulation.time / plan.until if plan.until else 0.0
            tell(max(by_time, simulation.steps / plan.last_step if plan.last_step else 0.0))

    return look


def _one_line(problem: Exception, job: Job) -> str:
    """What happened, without the folders of this machine."""
    told = " ".join(str(problem).split())
    for folder in (job.place, job.folder):
        told = told.replace(f"{folder.resolve()}/", "").replace(f"{folder}/", "")
    kind = "" if isinstance(problem, (ValueError, RunFailed)) else f"{type(problem).__name__}: "
    return f"{kind}{told}" if told else type(problem).__name__
