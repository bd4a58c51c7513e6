"""From a scene file to a folder of results, and on from there: what `rigidgrains run` and `rigidgrains resume` do."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, get_args

from ..events.errors import StageError
from ..files.outputs import check_outputs
from ..model.cell import CellError
from ..observe.history import History
from ..observe.progress import Progress
from ..observe.stop import StopWhenStatic
from ..runtime.arguments import is_number
from ..scene import Solver, load_scene
from ..scene.load import changed_scene
from ..simulation.report import Report
from ..simulation.simulation import Simulation
from ..simulation.stepper import DivergenceError
from ..simulation.triggers import Interrupt
from ..solve.aliases import current
from ..solve.criteria import RigidSweeps
from ..trajectory import store
from ..trajectory.errors import Mismatch, TrajectoryError, WriteError, damaged
from ..trajectory.lock import check_unlocked
from ..trajectory.reader import Trajectory
from ..trajectory.resume import resume
from ..trajectory.texts import PACKING
from ..trajectory.writer import Checkpoints, TrajectoryWriter
from .folder import (
    PICTURE,
    PLOT,
    PROBLEMS,
    REPORT,
    SCENE,
    choose_folder,
    clear,
    copies_of,
    make_folder,
    problem_saver,
    reported_step,
    save_results,
    saved_problems,
)

FRAMES = 100  # of a run that does not say how many


class RunFailed(RuntimeError):
    """The run could not go on; what it had found is saved."""


@dataclass
class Plan:
    """How a run is watched and when it ends; kept in its file, so that it can be resumed alike.

    last_step : number of the step at which it ends; until : s, the time, with dt = "auto"
    frame_time : s, time between frames, in place of `frame_every`
    """

    last_step: int | None
    every: int
    frame_every: int
    checkpoint_every: int | None
    stop_speed: float | None
    picture: bool
    plot: bool
    colour: str
    until: float | None = None
    frame_time: float | None = None

    @classmethod
    def read(cls, path: Path, words: dict[str, Any]) -> Plan:
        """The plan that was kept in a file; refused if it is of a later version, or none."""
        known = {field.name for field in fields(cls)}
        if unknown := sorted(words.keys() - known):
            raise TrajectoryError(
                f"{path}: how it was run has the unknown key {unknown[0]!r}, of a later version; update rigidgrains"
            )
        try:
            plan = cls(**words)
            least = {"last_step": 0, "every": 1, "frame_every": 1, "checkpoint_every": 1}
            wrong = [name for name, low in least.items() if not _is_count(getattr(plan, name), low)]
            times = ("stop_speed", "until", "frame_time")
            wrong += [name for name in times if not _is_positive(getattr(plan, name))]
        except TypeError as problem:
            raise damaged(path, problem) from None
        wrong += [name for name in ("every", "frame_every") if getattr(plan, name) is None]
        if wrong or not isinstance(plan.colour, str):
            name = (wrong or ["colour"])[0]
            raise damaged(path, Mismatch(f"it was run with {name} = {getattr(plan, name)!r}"))
        return plan

    def set_end(self, simulation: Simulation, until: float | None, steps: int | None) -> None:
        """Where to end: a time with dt = "auto", a number of the step otherwise."""
        adaptive = simulation.auto is not None
        self.until = until if adaptive else None
        last = simulation.last_step(until=None if adaptive else until, steps=steps)
        self.last_step = None if math.isinf(last) else int(last)

    @property
    def results(self) -> list[str]:
        """Names of the files that are made when the run has ended."""
        return [REPORT, *([PICTURE] if self.picture else []), *([PLOT] if self.plot else [])]

    def reached(self, simulation: Simulation) -> bool:
        """Whether the simulation is where the run shall end, or beyond; or all its stages are over."""
        if simulation.stages is not None and simulation.stages.over:
            return True
        return self.passed(simulation)

    def passed(self, simulation: Simulation) -> bool:
        """Whether its last time or step has come."""
        if self.until is not None and self.until - simulation.time <= 1e-9 * simulation.dt:
            return True
        return self.last_step is not None and self.last_step <= simulation.steps


@dataclass
class Watch:
    """Somebody who follows a run from outside.

    tell      : called after each step with the simulation and the plan
    interrupt : asked between two steps whether to end the run, as by Ctrl-C
    """

    tell: Callable[[Simulation, Plan], None]
    interrupt: Interrupt


@dataclass
class Outcome:
    """What a run left behind.

    differing : frames that came out otherwise than before it was resumed
    finished  : files that were made of a run that was at its end already; None of one that went on
    """

    report: Report
    trajectory: Path
    differing: int = 0
    finished: list[str] | None = None

    @property
    def folder(self) -> Path:
        return self.trajectory.parent


def run_scene(
    path: Path,
    *,
    until: float | None = None,
    steps: int | None = None,
    seed: int | None = None,
    output: Path | None = None,
    solver: str | None = None,
    rigid: float | None = None,
    checkpoint_every: int | None = None,
    force: bool = False,
    live: bool = False,
    save_problems: int | None = None,
    progress: bool = True,
    changes: Mapping[str, Any] | None = None,
    watch: Watch | None = None,
) -> Outcome:
    """Run a scene file to its end and save everything; raises SceneError or ValueError before the first step.

    changes : words that win over those of the file, by their names; the scene that is kept has them
    watch   : who else looks at the run, and may end it between two steps
    """
    scene = load_scene(path, to_run=True, ends=until is not None or steps is not None, changes=changes)
    if until is None and steps is None:
        until, steps = scene.run.until, scene.run.steps
    _check_end(until, steps)
    _check_interval("checkpoint-every", checkpoint_every)
    _check_interval("save-problems", save_problems)
    if solver is not None:
        scene.solver = _chosen(solver, scene.solver)
    elif rigid is not None and not scene.solver.given("method"):
        scene.solver = _chosen("sweeps", scene.solver)
    simulation = Simulation(scene, seed=seed)
    if rigid is not None:
        if scene.solver.method != "sweeps":
            raise ValueError(
                f"--rigid {rigid:g} counts plain sweeps; method '{scene.solver.method}' has other criteria"
            )
        simulation.solver.criterion = RigidSweeps(rigid)
    if until is None and steps is None and simulation.stages is not None:
        until = simulation.stages.left(0.0, simulation.dt)
    wish, last = scene.output, int(simulation.last_step(until=until, steps=steps))
    plan = Plan(
        last_step=last,
        every=wish.every,
        frame_every=wish.frame_every or max(1, math.ceil(last / FRAMES)),
        checkpoint_every=checkpoint_every or wish.checkpoint_every,
        stop_speed=scene.run.stop_speed,
        picture=wish.picture,
        plot=wish.plot,
        colour=wish.colour,
    )
    plan.set_end(simulation, until, steps)
    if plan.until is not None and wish.frame_every is None:
        plan.frame_time = plan.until / FRAMES
    folder = choose_folder(path, output)
    file, problems = folder / f"{path.stem}{store.SUFFIX}", folder / PROBLEMS
    text = changed_scene(path, changes or {})
    named = [*(table.file for table in scene.grains), *(table.file for table in scene.shape)]
    files = [Path(file) for file in named if file is not None]
    copies = copies_of(path, folder, files, text)
    if file in [*copies, *(folder / source.name for source in files)]:
        file = folder / f"{path.stem}-run{store.SUFFIX}"  # the scene starts from a file of that name
    results = [folder / name for name in (REPORT, PICTURE, PLOT)]
    made = [*store.outputs(file, contacts=wish.with_contacts), *copies, *results]
    earlier = saved_problems(folder)
    with_problems = save_problems is not None or bool(earlier)
    check_outputs(*made, *([problems] if with_problems else []), force=force)
    if live:
        from ..view.live import LiveView

        simulation.observe(LiveView(title=scene.title or path.stem))
    history = History()
    make_folder(folder)
    if with_problems:
        make_folder(problems)
    writer = TrajectoryWriter(
        file,
        contacts=wish.with_contacts,
        fields=wish.fields,
        precision=wish.precision,
        compression="gzip" if wish.compress else None,
        force=force,
        history=history,
        scene=text,
        run=asdict(plan),
    )
    for target, source in copies.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        if target == folder / SCENE:
            target.write_text(text, encoding="utf-8")
        else:
            shutil.copyfile(source, target)
    clear([*results, *earlier])
    if save_problems is not None:
        simulation.observe(problem_saver(problems), every=save_problems)
    return _run(simulation, plan, writer, history, progress, watch)


def resume_run(
    path: Path,
    *,
    until: float | None = None,
    steps: int | None = None,
    checkpoint_every: int | None = None,
    force: bool = False,
    progress: bool = True,
    watch: Watch | None = None,
) -> Outcome:
    """Go on with a run from its last checkpoint to its end, or to a new one; at its end, make what is missing."""
    _check_end(until, steps)
    _check_interval("checkpoint-every", checkpoint_every)
    check_unlocked(path)
    folder = path.parent
    with Trajectory(path) as trajectory:
        words = trajectory.run
        reported = reported_step(folder / REPORT, trajectory.history, trajectory.report)
        packed = bool(trajectory.text(PACKING))
    if packed:
        raise TrajectoryError(
            f"{path} is a packing, not a run: start one from it with file = {path.name!r} in [[grains]], or make a "
            f"scene: rigidgrains import {path}"
        )
    if not words:
        raise TrajectoryError(f"{path} was written by a program; resume it there: rigidgrains.resume({path.name!r})")
    plan = Plan.read(path, words)
    if reported is None:
        remedy = f"not made by this run, as far as {path.name} knows: resume that in a folder of its own"
        check_outputs(*(folder / name for name in plan.results), force=force, remedy=remedy)
    simulation = resume(path)
    if until is not None or steps is not None:
        plan.set_end(simulation, until, steps)
        if plan.passed(simulation):
            there = f"t = {simulation.time:g} s, step {simulation.steps:,}"
            raise TrajectoryError(f"{path}: the run is already at {there}; give a later end with --until, or --steps")
    elif plan.reached(simulation):
        missing = plan.results
        if reported == simulation.steps:  # what lies beside that report is of the same state
            missing = [name for name in missing if not (folder / name).exists()]
        _save(simulation, plan, path, missing)
        return Outcome(simulation.report(), path, finished=missing)
    plan.checkpoint_every = checkpoint_every or plan.checkpoint_every
    history = History()
    writer = TrajectoryWriter(path, resume=True, history=history, run=asdict(plan))
    return _run(simulation, plan, writer, history, progress, watch)


def _run(
    simulation: Simulation,
    plan: Plan,
    writer: TrajectoryWriter,
    history: History,
    progress: bool,
    watch: Watch | None,
) -> Outcome:
    """Watch the simulation as planned, run it to its last step and save what is made of the file."""
    simulation.observe(history, every=plan.every)
    if plan.stop_speed is not None:
        simulation.observe(StopWhenStatic(plan.stop_speed))
    simulation.observe(writer, every=plan.frame_every, interval=plan.frame_time)
    simulation.observe(Checkpoints(writer, every=plan.checkpoint_every))
    if progress:
        simulation.observe(Progress(), every=5)
    if watch is not None:
        simulation.observe(lambda simulation: watch.tell(simulation, plan))
    path = writer.path
    try:
        steps = None if plan.last_step is None else max(0, plan.last_step - simulation.steps)
        with (
            watch.interrupt if watch is not None else Interrupt() as interrupt
        ):  # a run that is interrupted has results like any other
            simulation.advance(until=plan.until, steps=steps, interrupt=interrupt)
    except (CellError, DivergenceError, StageError) as failure:
        _save(simulation, plan, path, plan.results)
        raise RunFailed(f"{failure} Saved in {path}.") from None
    except WriteError as failure:
        raise RunFailed(f"{failure.filename}: {failure.strerror}") from None
    except MemoryError:
        there = f"t = {simulation.time:g} s"
        raise RunFailed(f"there is not enough memory at {there}; go on elsewhere: rigidgrains resume {path}") from None
    _save(simulation, plan, path, plan.results)
    return Outcome(simulation.report(), path, writer.differing)


def _save(simulation: Simulation, plan: Plan, path: Path, names: list[str]) -> None:
    """Write the report and draw the pictures that are named."""
    try:
        save_results(simulation, path, names, colour=plan.colour)
    except OSError as problem:
        reason = problem.strerror or problem
        told = f"results cannot be written to {path.parent}/: {reason}; the run had come to {simulation.time:g} s"
        raise RunFailed(told) from None


def _is_count(value: Any, least: int) -> bool:
    """A whole number from the least on, or none."""
    return value is None or (is_number(value, whole=True) and value >= least)


def _is_positive(value: Any) -> bool:
    """A positive number, or none."""
    return value is None or (is_number(value) and 0.0 < value < math.inf)


def _chosen(method: str, settings: Solver) -> Solver:
    """Another method in place of the scene's, with its own defaults; the gap policy is the scene's."""
    known, method = get_args(Solver.model_fields["method"].annotation), current(method)
    if method not in known:
        raise ValueError(f"--solver {method} is unknown; choose one of {', '.join(known)}")
    kept = {name: getattr(settings, name) for name in ("gap", "slack") if settings.given(name)}
    return settings if method == settings.method else Solver(method=method, **kept)


def _check_end(until: float | None, steps: int | None) -> None:
    for name, value in (("until", until), ("steps", steps)):
        if value is not None and not 0 < value < math.inf:
            raise ValueError(f"--{name} {value} is no end of a run; give a positive number")


def _check_interval(name: str, steps: int | None) -> None:
    if steps is not None and steps < 1:
        raise ValueError(f"--{name} {steps} is no interval; give 1 step or more")
