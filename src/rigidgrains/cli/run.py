"""Commands that make and run scenes: run, resume, new, schema."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .words import (
    INTERRUPTED,
    Changes,
    OutputPath,
    Quiet,
    Switch,
    Threads,
    Whole,
    app,
    err,
    fail,
    out,
    plain,
    print_rows,
    refuse,
    use_threads,
)

if TYPE_CHECKING:
    from ..app.runner import Outcome


@app.command
def run(
    scene: Path,
    /,
    *,
    until: float | None = None,
    steps: Whole = None,
    seed: Whole = None,
    solver: str | None = None,
    accuracy: str | None = None,
    rigid: float | None = None,
    output: OutputPath = None,
    force: Switch = False,
    checkpoint_every: Whole = None,
    live: Switch = False,
    save_problems: Whole = None,
    threads: Threads = None,
    set: Changes = None,
    quiet: Quiet = False,
    json: Switch = False,
) -> None:
    """Run a scene; trajectory, report and pictures go to a folder.

    Parameters
    ----------
    scene
        A scene file in TOML; `rigidgrains new --list` shows ready-made ones.
    until
        Simulated time at which to stop (s); wins over the scene's.
    steps
        Number of steps after which to stop; wins over the scene's.
    seed
        Seed of all random numbers; wins over the scene's.
    solver
        Method to find the forces, with its defaults: sweeps, accelerated or second-order; wins over the
        scene's.
    accuracy
        What a step is asked: fast, balanced or exact; wins over the scene's.
    rigid
        Choose the sweeps of each step so that the diffusion length is this many times the extent of each cluster.
    output
        Folder for the results. Default: a new folder named after the scene.
    force
        Overwrite the results of an earlier run in that folder; its pictures and contact problems are removed.
    checkpoint_every
        Steps between states from which the run can be resumed. Default: one each minute of computing.
    live
        Show the run in the browser while it goes on, with plots, pause and stop.
    save_problems
        Write the contact problem of every so many steps, in the FCLIB format, to the folder problems/ of the results.
    threads
        Threads to use; the results are the same bits for any number. Default: one for each physical core.
    set
        Change a word of the scene, as often as needed: --set friction=0.3 --set grains.sand.radius=1e-3; values as in
        TOML. The scene that is kept with the results is the changed one.
    quiet
        No progress bar and no report.
    json
        Print the report as one JSON object.
    """
    from ..app.runner import RunFailed, run_scene
    from ..scene import SceneError

    use_threads(threads)
    if accuracy is not None and solver not in (None, "accelerated"):
        refuse(f"--accuracy {accuracy} is a level of accelerated sweeps, not of --solver {solver}; give one of them")
    if accuracy is not None and rigid is not None:
        refuse(
            f"--accuracy {accuracy} is a level of accelerated sweeps, and --rigid counts plain ones; give one of them"
        )
    try:
        outcome = run_scene(
            scene,
            changes=read_changes(set) | ({} if accuracy is None else {"solver.accuracy": accuracy}),
            until=until,
            steps=steps,
            seed=seed,
            output=output,
            solver=solver,
            rigid=rigid,
            checkpoint_every=checkpoint_every,
            force=force,
            live=live,
            save_problems=save_problems,
            progress=not (quiet or json),
        )
    except (SceneError, ValueError) as problem:
        refuse(str(problem))
    except RunFailed as failure:
        fail(str(failure))
    tell(outcome, quiet=quiet, json=json)


@app.command
def resume(
    file: Path,
    /,
    *,
    until: float | None = None,
    steps: Whole = None,
    checkpoint_every: Whole = None,
    force: Switch = False,
    threads: Threads = None,
    quiet: Quiet = False,
    json: Switch = False,
) -> None:
    """Go on with a run from its last checkpoint, as if it had never stopped, to its end or to a new one.

    A run that is at its end gets the report and the pictures that are missing.

    Parameters
    ----------
    file
        The trajectory of the run, NAME.vtkhdf.
    until
        Simulated time at which to stop (s). Default: the end that the run was given.
    steps
        Number of further steps after the checkpoint.
    checkpoint_every
        Steps between states from which the run can be resumed.
    force
        Overwrite a report and pictures beside the file that are not of this run.
    threads
        Threads to use; the results are the same bits for any number. Default: one for each physical core.
    quiet
        No progress bar and no report.
    json
        Print the report as one JSON object.
    """
    from ..app.runner import RunFailed, resume_run

    use_threads(threads)
    try:
        outcome = resume_run(
            file,
            until=until,
            steps=steps,
            checkpoint_every=checkpoint_every,
            force=force,
            progress=not (quiet or json),
        )
    except ValueError as problem:
        refuse(str(problem))
    except RunFailed as failure:
        fail(str(failure))
    tell(outcome, quiet=quiet, json=json)


@app.command
def new(
    name: str | None = None,
    *,
    list: Switch = False,
    output: OutputPath = None,
    force: Switch = False,
) -> None:
    """Write one of the gallery scenes to a file, ready to run and to change.

    Parameters
    ----------
    name
        Name of the scene.
    list
        Show the names and what each scene is.
    output
        File to write. Default: NAME.toml in this folder.
    force
        Overwrite a file that is there.
    """
    from ..gallery import scene_text, scenes

    if list or name is None:
        for known, title in scenes().items():
            out.print(f"[bold]{known:<12}[/] {title}")
        return
    if name not in scenes():
        from difflib import get_close_matches

        near = get_close_matches(name, scenes(), n=1, cutoff=0.4)
        hint = f"did you mean '{near[0]}'? " if near else ""
        refuse(f"no scene is called '{name}'; {hint}known: {', '.join(scenes())}")
    path = output or Path(f"{name}.toml")
    _write(path, scene_text(name), force=force)
    out.print(f"{plain(path)} written. Run it: [bold]rigidgrains run {plain(path)}[/]")


@app.command
def schema(*, output: OutputPath = None, force: Switch = False) -> None:
    """Print the JSON Schema of scene files, for editors that complete and check TOML.

    Parameters
    ----------
    output
        File to write instead of the screen.
    force
        Overwrite a file that is there.
    """
    from ..scene import Scene

    text = json.dumps(Scene.json_schema(), indent=2)
    if output is None:
        print(text)
    else:
        _write(output, text + "\n", force=force)


def read_changes(given: list[str] | None) -> dict[str, Any]:
    """Names and values of --set; a name that is given twice is a mistake."""
    from ..scene.change import read_assignment

    changes: dict[str, Any] = {}
    for text in given or []:
        name, value = read_assignment(text)
        if name in changes:
            raise ValueError(f"--set {name} is given twice; keep one of them")
        changes[name] = value
    return changes


def _write(path: Path, text: str, *, force: bool) -> None:
    from ..files.outputs import OutputError, check_outputs, whole

    try:
        check_outputs(path, force=force)
        with whole(path) as part:
            part.write_text(text, encoding="utf-8")
    except OutputError as problem:
        refuse(str(problem))
    except OSError as problem:
        refuse(f"{path} cannot be written: {problem.strerror}; choose another place with --output")


def tell(outcome: Outcome, *, quiet: bool, json: bool) -> None:
    """Print the report of a run, where its results are, and how to go on if it was interrupted."""
    from ..simulation.tally import INTERRUPTED as WORD

    report, folder = outcome.report, outcome.folder
    if json:
        print(report.to_json())
    elif not quiet:
        lines = (line.split("  ", 1) for line in str(report).splitlines())
        print_rows([(name, value) for name, value in lines])
        files = ", ".join(sorted(file.name for file in folder.iterdir()))
        out.print(f"\nresults in [bold]{plain(folder)}/[/]: {plain(files)}")
    if outcome.differing:
        err.print(
            f"[bold yellow]warning[/] {outcome.differing} frames came out otherwise than before the run was resumed: "
            "another machine, or another version of a library?"
        )
    if outcome.finished is not None:
        made = f"made {', '.join(outcome.finished)}" if outcome.finished else "nothing is missing"
        if not quiet:
            told = f"the run is finished, {made}; to go on, give a later end with --until, or --steps"
            err.print(told, soft_wrap=True)
    elif report.stopped == WORD:
        err.print(f"interrupted; go on with: [bold]rigidgrains resume {plain(outcome.trajectory)}[/]", soft_wrap=True)
        sys.exit(INTERRUPTED)
