"""Commands that tell: info, doctor, bench, reproduce."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from .words import Switch, Threads, app, err, out, plain, print_rows, refuse, use_threads


@app.command
def info(file: Path | None = None, /) -> None:
    """Say what a scene or a trajectory holds, or, without a file, what is installed here.

    Parameters
    ----------
    file
        A scene file in TOML, or the trajectory of a run, NAME.vtkhdf.
    """
    from ..app.about import scene_facts, trajectory_facts, versions
    from ..scene import SceneError

    if file is None:
        print_rows(versions())
        return
    try:
        print_rows(trajectory_facts(file) if file.suffix == ".vtkhdf" else scene_facts(file))
    except (SceneError, ValueError) as problem:
        refuse(str(problem))


@app.command
def doctor(*, run: Switch = False) -> None:
    """Say what this installation has, what is missing, and how to get it. Paste it into a report of a fault.

    Exit code 1 if something that is needed is missing or does not work.

    Parameters
    ----------
    run
        Also compute: settle two grains and hold them against the laws.
    """
    from ..app.doctor import examine, try_out

    found = examine()
    if run and not found.problems:
        try:
            found.rows.append(("try-out", try_out()))
        except Exception as problem:  # whatever is broken here
            found.problems.append(f"the try-out failed: {type(problem).__name__}: {problem}")
    print_rows(found.rows)
    for told in found.problems:
        err.print(f"[bold red]problem[/] {plain(told)}", soft_wrap=True)
    if found.problems:
        sys.exit(1)
    out.print("all that is needed is here")


@app.command
def reproduce(
    *names: str,
    list: Switch = False,
    all: Switch = False,
    quick: Switch = False,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("reproduce"),
    force: Switch = False,
) -> None:
    """Reproduce the figures and claims of the founding paper and hold the numbers against it.

    Parameters
    ----------
    names
        Targets to run; `--list` shows them.
    list
        Show the targets.
    all
        Run every target.
    quick
        Smaller systems and fewer seeds.
    output
        Folder for figures, results.json and index.html; results of other targets in it stay.
    force
        Overwrite files in that folder that are not of our making.
    """
    from ..reproduce import TARGETS

    if list or not (names or all):
        print_rows([(target.name, target.title) for target in TARGETS.values()])
        return
    from ..reproduce.progress import run_with_progress

    try:
        passed = run_with_progress([*TARGETS] if all else [*names], output, quick=quick, force=force, out=out)
    except (ValueError, OSError) as problem:
        refuse(str(problem))
    if not passed:
        sys.exit(1)


@app.command
def bench(
    *,
    quick: Switch = False,
    threads: Threads = None,
    json: Switch = False,
) -> None:
    """Measure contact updates per second, neighbour search, import time and memory on this machine.

    Parameters
    ----------
    quick
        Small packings: ends within a minute.
    threads
        Threads to use; the results are the same bits for any number. Default: one for each physical core.
    json
        Print one JSON object.
    """
    from json import dumps

    from ..app import bench as benchmark
    from ..observe.bar import Bar

    use_threads(threads)
    sizes = (10_000, 100_000) if quick else (10_000, 100_000, 1_000_000)
    if json:
        print(dumps(benchmark.run(sizes)))
        return
    with Bar() as bar:
        figures = benchmark.run(sizes, tell=bar.tell)
    print_rows(benchmark.describe(figures))
