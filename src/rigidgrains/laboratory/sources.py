"""Where problems come from: a step of a scene, a file in FCLIB's format, or a folder of both."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from ..contacts.problem import ContactProblem
from ..fclib import read_impulses, read_problem
from ..observe.stop import StopWhenStatic
from ..scene import load_scene
from ..simulation.simulation import Simulation
from ..simulation.stepper import DivergenceError
from ..simulation.triggers import Interrupt
from ..solve.sweeps import SolveReport, Sweeps
from .case import SECOND_ORDER, Case
from .compare import check_solvers
from .matrix import KNOWN, MatrixCase
from .step import StepCase, known_solvers

if TYPE_CHECKING:
    from ..scene import Scene

SCENES, PROBLEMS = (".toml",), (".hdf5", ".h5")
GUESS = "guesses/1"


def open_cases(
    path: str | Path,
    *,
    step: int | None = None,
    warm: bool = False,
    solvers: Sequence[str] | None = None,
    tell: Callable[[str], None] | None = None,
) -> list[Case]:
    """The problems of a scene, a problem file or a folder; raises ValueError for what is none, before scenes run.

    step    : of a scene, counted from 1; default: the last
    warm    : start from the forces carried over, or from the guess in a file; otherwise from none
    solvers : names that are to work on all of them
    tell    : is told what is being done
    """
    path = Path(path)
    files = _files(path)
    if step is not None and step < 1:
        raise ValueError(f"step {step} does not exist; the first is 1")
    if step is not None and not any(map(_is_scene, files)):
        raise ValueError(f"{path} holds no steps; leave out --step")
    if solvers is not None:
        steps = (*known_solvers(), SECOND_ORDER)
        check_solvers(solvers, {file.name: steps if _is_scene(file) else KNOWN for file in files}, elsewhere=steps)
    stems = [file.stem for file in files]
    names = {file: file.stem if stems.count(file.stem) == 1 else file.name for file in files}
    scenes = {file: load_scene(file) for file in files if _is_scene(file)}
    ends = {file: _last_step(file, scene, step) for file, scene in scenes.items()}
    cases: dict[Path, Case] = {file: _from_file(file, names[file], warm) for file in files if not _is_scene(file)}
    for file, scene in scenes.items():
        cases[file] = _from_scene(file, names[file], scene, ends[file], warm, tell)
    return [cases[file] for file in files]


def scene_problem(
    scene: Scene, *, step: int, tell: Callable[[str], None] | None = None
) -> tuple[ContactProblem, Simulation]:
    """The problem of a step (counted from 1) before the solve, with the forces carried over; the simulation after it.

    A scene that says when it is at rest stops there, and the step after is taken.
    """
    simulation = Simulation(scene)
    if scene.run.stop_speed is not None:
        simulation.observe(StopWhenStatic(scene.run.stop_speed))
    if tell is not None:
        simulation.observe(lambda at: tell(f"step {at.steps:,} of {step:,}"), every=max(1, step // 200))
    with Interrupt() as interrupt:
        simulation.advance(until=None, steps=step - 1, interrupt=interrupt)
    if interrupt.asked:
        raise KeyboardInterrupt
    tap = Tap(simulation.solver)
    simulation.solver = tap
    try:
        simulation.step()
    except DivergenceError:
        if tap.seen is None:
            raise
    finally:
        simulation.solver = tap.solver
    assert tap.seen is not None
    return tap.seen, simulation


class Tap(Sweeps):
    """A solver that keeps a copy of the last problem it was given, and hands it on."""

    def __init__(self, solver: Sweeps) -> None:
        super().__init__(order=solver.order, gap=solver.gap, slack=solver.slack)
        self.solver = solver
        self.seen: ContactProblem | None = None

    def solve(self, problem: ContactProblem, rng: Generator) -> SolveReport:
        self.seen = copy.deepcopy(problem)
        return self.solver.solve(problem, rng)


def _files(path: Path) -> list[Path]:
    known = ", ".join(f"*{ending}" for ending in (*SCENES, *PROBLEMS))
    if path.is_dir():
        found = sorted(file for file in path.iterdir() if file.suffix.lower() in (*SCENES, *PROBLEMS))
        if not found:
            raise ValueError(f"{path} holds neither scenes nor problems ({known}); give another folder")
        return found
    if not path.exists():
        raise ValueError(f"{path} does not exist; give a scene, a problem file or a folder of them")
    if path.suffix.lower() not in (*SCENES, *PROBLEMS):
        raise ValueError(f"{path} is neither a scene nor a problem; such files end in {known}")
    return [path]


def _is_scene(file: Path) -> bool:
    return file.suffix.lower() in SCENES


def _last_step(file: Path, scene: Scene, step: int | None) -> int:
    """The step asked for, or the one at which the scene ends."""
    run = scene.run
    auto = run.dt in ("auto", None)
    if step is None and run.until is None and run.steps is None:
        raise ValueError(f"{file} does not say when to stop; add until = ... (s) to [run], or pass --step")
    ends = [] if run.steps is None else [run.steps]
    if step is None and run.until is not None and auto and run.steps is None:
        raise ValueError(f"{file} has dt = 'auto', whose steps are not known beforehand; pass --step")
    if run.until is not None and isinstance(run.dt, float):
        ends.append(int(np.ceil(run.until / run.dt - 1e-9)))
    last = max(1, min(ends)) if ends else None
    if step is not None and last is not None and step > last:
        raise ValueError(f"{file} ends at step {last:,}, before step {step:,}; choose another, or a later end in [run]")
    return step or last or 1


def _from_scene(file: Path, name: str, scene: Scene, step: int, warm: bool, tell: Callable[[str], None] | None) -> Case:
    told = None if tell is None else lambda text: tell(f"{file.name}: {text}")
    problem, simulation = scene_problem(scene, step=step, tell=told)
    step = simulation.steps
    if problem.count == 0:
        raise ValueError(f"{file} has no contacts in step {step}; choose another with --step")
    if not warm:
        problem.forces[:] = 0.0
    return StepCase(name, problem, f"step {step:,}, from {'carried forces' if warm else 'no forces'}")


def _from_file(file: Path, name: str, warm: bool) -> Case:
    problem = read_problem(file)
    if problem.count == 0:
        raise ValueError(f"{file} has no contacts; there is nothing to compare")
    start = read_impulses(file, GUESS) if warm else None
    if warm and start is None:
        raise ValueError(f"{file} holds no guess to start from; leave out --warm")
    return MatrixCase(name, problem, f"FCLIB, from {'a guess' if warm else 'no forces'}", start)
