"""From a scene file to a folder of results, and on from there: what `rigidgrains run` and `rigidgrains resume` do."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_args

from .cell import CellError
from .folder import PICTURE, PLOT, PROBLEMS, REPORT, choose_folder, copies_of, make_folder
from .observe.history import History
from .observe.progress import Progress
from .observe.report import Report
from .observe.stop import StopWhenStatic
from .outputs import check_outputs
from .scene import Solver, load_scene
from .simulation import DivergenceError, Simulation
from .solve.criteria import RigidSweeps
from .stage.errors import StageError
from .trajectory import store
from .trajectory.errors import TrajectoryError, WriteError
from .trajectory.reader import Trajectory
from .trajectory.resume import resume
from .trajectory.writer import Checkpoints, TrajectoryWriter

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

    def set_end(self, simulation: Simulation, until: float | None, steps: int | None) -> None:
        """Where to end: a time with dt = "auto", a number of the step otherwise."""
        adaptive = simulation.auto is not None
        self.until = until if adaptive else None
        last = simulation.last_step(until=None if adaptive else until, steps=steps)
        self.last_step = None if math.isinf(last) else int(last)

    def reached(self, simulation: Simulation) -> bool:
        """Whether the simulation is where the run shall end, or beyond."""
        if self.until is not None and self.until - simulation.time <= 1e-9 * simulation.dt:
            return True
        return self.last_step is not None and self.last_step <= simulation.steps


@dataclass
class Outcome:
    """What a run left behind. differing : frames that came out otherwise than before it was resumed"""

    report: Report
    trajectory: Path
    differing: int = 0

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
) -> Outcome:
    """Run a scene file to its end and save everything; raises SceneError or ValueError before the first step."""
    scene = load_scene(path, to_run=True, ends=until is not None or steps is not None)
    if until is None and steps is None:
        until, steps = scene.run.until, scene.run.steps
    _check_end(until, steps)
    _check_interval("checkpoint-every", checkpoint_every)
    _check_interval("save-problems", save_problems)
    if solver is not None:
        scene.solver = _chosen(solver, scene.solver)
    simulation = Simulation(scene, seed=seed)
    if rigid is not None:
        if scene.solver.method != "sweeps":
            raise ValueError(
                f"--rigid {rigid:g} counts plain sweeps; method '{scene.solver.method}' has other criteria"
            )
        simulation.solver.criterion = RigidSweeps(rigid)
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
    copies = copies_of(path, folder, [Path(grains.file) for grains in scene.grains if grains.file is not None])
    made = [*store.outputs(file, contacts=wish.contacts), *copies, *(folder / name for name in (REPORT, PICTURE, PLOT))]
    check_outputs(*made, *([] if save_problems is None else [problems]), force=force)
    if live:
        from .view.live import LiveView

        simulation.observe(LiveView(title=scene.title or path.stem))
    text, history = path.read_text(encoding="utf-8-sig"), History()
    make_folder(folder)
    writer = TrajectoryWriter(
        file,
        contacts=wish.contacts,
        precision=wish.precision,
        compression="gzip" if wish.compress else None,
        force=force,
        history=history,
        scene=text,
        run=asdict(plan),
    )
    for target, source in copies.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    for name, wanted in ((PICTURE, plan.picture), (PLOT, plan.plot)):
        if not wanted:  # one of an earlier run would be taken for one of this
            (folder / name).unlink(missing_ok=True)
    if save_problems is not None:
        simulation.observe(_problem_saver(problems), every=save_problems)
    return _run(simulation, plan, writer, history, progress)


def resume_run(
    path: Path,
    *,
    until: float | None = None,
    steps: int | None = None,
    checkpoint_every: int | None = None,
    progress: bool = True,
) -> Outcome:
    """Go on with a run from its last checkpoint to its end, or to a new one."""
    _check_end(until, steps)
    _check_interval("checkpoint-every", checkpoint_every)
    with Trajectory(path) as trajectory:
        words = trajectory.run
    if not words:
        raise TrajectoryError(f"{path} was written by a program; resume it there: rigidgrains.resume({path.name!r})")
    plan = Plan(**words)
    simulation = resume(path)
    if until is not None or steps is not None:
        plan.set_end(simulation, until, steps)
    if plan.reached(simulation):
        there = f"t = {simulation.time:g} s, step {simulation.steps:,}"
        raise TrajectoryError(f"{path}: the run is already at {there}; give a later end with --until, or --steps")
    plan.checkpoint_every = checkpoint_every or plan.checkpoint_every
    history = History()
    writer = TrajectoryWriter(path, resume=True, history=history, run=asdict(plan))
    return _run(simulation, plan, writer, history, progress)


def _run(simulation: Simulation, plan: Plan, writer: TrajectoryWriter, history: History, progress: bool) -> Outcome:
    """Watch the simulation as planned, run it to its last step and save what is made of the file."""
    simulation.observe(history, every=plan.every)
    if plan.stop_speed is not None:
        simulation.observe(StopWhenStatic(plan.stop_speed))
    simulation.observe(writer, every=plan.frame_every, interval=plan.frame_time)
    simulation.observe(Checkpoints(writer, every=plan.checkpoint_every))
    if progress:
        simulation.observe(Progress(), every=5)
    path = writer.path
    try:
        steps = None if plan.last_step is None else max(0, plan.last_step - simulation.steps)
        report = simulation.run(until=plan.until, steps=steps)
    except (CellError, DivergenceError, StageError) as failure:
        _save(simulation, plan, path)
        raise RunFailed(f"{failure} Saved in {path}.") from None
    except WriteError as failure:
        raise RunFailed(f"{failure.filename}: {failure.strerror}") from None
    except MemoryError:
        there = f"t = {simulation.time:g} s"
        raise RunFailed(f"there is not enough memory at {there}; go on elsewhere: rigidgrains resume {path}") from None
    _save(simulation, plan, path)
    return Outcome(report, path, writer.differing)


def _save(simulation: Simulation, plan: Plan, path: Path) -> None:
    """Write the report and draw the pictures that are wanted."""
    folder = path.parent
    try:
        (folder / REPORT).write_text(simulation.report().to_json() + "\n", encoding="utf-8")
        if plan.picture:
            from .view.packing import draw_packing

            draw_packing(simulation, folder / PICTURE, colour=plan.colour)
        if plan.plot:
            from .view.series import draw_history

            with Trajectory(path) as trajectory:
                draw_history(trajectory, folder / PLOT)
    except OSError as problem:
        reason = problem.strerror or problem
        told = f"results cannot be written to {folder}/: {reason}; the run had come to {simulation.time:g} s"
        raise RunFailed(told) from None


def _problem_saver(folder: Path) -> Callable[[Simulation], None]:
    """Writes the contact problem of a step in the FCLIB format; steps without contacts have none."""
    from .fclib import save_problem

    folder.mkdir(exist_ok=True)

    def save(simulation: Simulation) -> None:
        if simulation.contacts.count:
            save_problem(simulation, folder / f"step-{simulation.steps:06d}.hdf5", force=True)

    return save


def _chosen(method: str, settings: Solver) -> Solver:
    """Another method in place of the scene's, with its own defaults; the gap policy is the scene's."""
    known = get_args(Solver.model_fields["method"].annotation)
    if method not in known:
        raise ValueError(f"--solver {method} is unknown; choose one of {', '.join(known)}")
    return settings if method == settings.method else Solver(method=method, gap=settings.gap, slack=settings.slack)


def _check_end(until: float | None, steps: int | None) -> None:
    for name, value in (("until", until), ("steps", steps)):
        if value is not None and not 0 < value < math.inf:
            raise ValueError(f"--{name} {value} is no end of a run; give a positive number")


def _check_interval(name: str, steps: int | None) -> None:
    if steps is not None and steps < 1:
        raise ValueError(f"--{name} {steps} is no interval; give 1 step or more")
