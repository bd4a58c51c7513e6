"""The command line. Everything heavy is imported inside the commands: help loads no compiler."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

from cyclopts import App, CycloptsError, Parameter, Token
from rich.console import Console

from . import __version__

BAD_INPUT, FAILED, INTERRUPTED = 2, 3, 130

app = App(
    name="rigidgrains",
    version=__version__,
    help="Contact dynamics for dense granular media: perfectly rigid grains, exact Signorini and Coulomb conditions.",
)
out, err = Console(highlight=False), Console(stderr=True, highlight=False)


def main() -> None:
    """Entry point: wrong words on the command line and bad input end with exit code 2."""
    try:
        app(exit_on_error=False, print_error=True)
    except CycloptsError:
        sys.exit(BAD_INPUT)
    except BrokenPipeError:  # the reader went away, as with `| head`
        sys.stderr.close()
        sys.exit(1)
    except OSError as problem:
        _fail(f"{problem.filename or 'output'}: {problem.strerror}")


def _whole(kind: object, tokens: Sequence[Token]) -> int:
    """A whole number: 2.5 steps are a mistake, not two."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError(f"{tokens[0].value} is not a whole number") from None


@app.command
def run(
    scene: Path,
    /,
    *,
    until: float | None = None,
    steps: Annotated[int | None, Parameter(converter=_whole)] = None,
    seed: Annotated[int | None, Parameter(converter=_whole)] = None,
    rigid: float | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Run a scene; report, history, final state and pictures go to a folder.

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
    rigid
        Choose the sweeps of each step so that the diffusion length is this many times the extent of each cluster.
    output
        Folder for the results. Default: a new folder named after the scene.
    quiet
        No progress bar and no report.
    json
        Print the report as one JSON object.
    """
    from .runner import RunFailed, run_scene
    from .scene import SceneError

    try:
        outcome = run_scene(
            scene, until=until, steps=steps, seed=seed, output=output, rigid=rigid, progress=not (quiet or json)
        )
    except (SceneError, ValueError) as problem:
        _refuse(str(problem))
    except RunFailed as failure:
        _fail(str(failure))
    if json:
        print(outcome.report.to_json())
    elif not quiet:
        _print_report(str(outcome.report), outcome.folder)
    if outcome.report.stopped == "interrupted":
        sys.exit(INTERRUPTED)


@app.command
def new(
    name: str | None = None,
    *,
    list: Annotated[bool, Parameter(negative=())] = False,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
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
    """
    from .gallery import scene_text, scenes

    if list or name is None:
        for known, title in scenes().items():
            out.print(f"[bold]{known:<12}[/] {title}")
        return
    if name not in scenes():
        from difflib import get_close_matches

        near = get_close_matches(name, scenes(), n=1, cutoff=0.4)
        hint = f"did you mean '{near[0]}'? " if near else ""
        _refuse(f"no scene is called '{name}'; {hint}known: {', '.join(scenes())}")
    path = output or Path(f"{name}.toml")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(scene_text(name))
    except FileExistsError:
        _refuse(f"{path} exists and is left alone; choose another name with --output")
    except OSError as problem:
        _refuse(f"{path} cannot be written: {problem.strerror}; choose another place with --output")
    out.print(f"{path} written. Run it: [bold]rigidgrains run {path}[/]")


@app.command
def info(scene: Path | None = None, /) -> None:
    """Say what a scene holds, or, without one, what is installed here.

    Parameters
    ----------
    scene
        A scene file in TOML.
    """
    from .scene import SceneError

    if scene is None:
        from .about import versions

        rows = versions()
    else:
        from .about import scene_facts

        try:
            rows = scene_facts(scene)
        except (SceneError, ValueError) as problem:
            _refuse(str(problem))
    _print_rows(rows)


@app.command
def reproduce(
    *names: str,
    list: Annotated[bool, Parameter(negative=())] = False,
    all: Annotated[bool, Parameter(negative=())] = False,
    quick: Annotated[bool, Parameter(negative=())] = False,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("reproduce"),
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
        Folder for figures, results.json and index.html.
    """
    from .reproduce import TARGETS

    if list or not (names or all):
        _print_rows([(target.name, target.title) for target in TARGETS.values()])
        return
    from .reproduce.progress import run_with_progress

    try:
        passed = run_with_progress([*TARGETS] if all else [*names], output, quick=quick, out=out)
    except (ValueError, OSError) as problem:
        _refuse(str(problem))
    if not passed:
        sys.exit(1)


@app.command
def schema(*, output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None) -> None:
    """Print the JSON Schema of scene files, for editors that complete and check TOML.

    Parameters
    ----------
    output
        File to write instead of the screen.
    """
    from .scene import Scene

    text = json.dumps(Scene.json_schema(), indent=2)
    if output is None:
        print(text)
        return
    try:
        output.write_text(text + "\n", encoding="utf-8")
    except OSError as problem:
        _refuse(f"{output} cannot be written: {problem.strerror}; choose another place with --output")


@app.command
def bench(
    *,
    quick: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Measure contact updates per second, neighbour search, import time and memory on this machine.

    Parameters
    ----------
    quick
        Small packings: ends within a minute.
    json
        Print one JSON object.
    """
    from json import dumps

    from . import bench as benchmark

    figures = benchmark.run(sizes=(10_000, 100_000)) if quick else benchmark.run()
    if json:
        print(dumps(figures))
    else:
        _print_rows(benchmark.describe(figures))


def _print_report(text: str, folder: Path) -> None:
    _print_rows([tuple(line.split("  ", 1)) for line in text.splitlines()])  # type: ignore[misc]
    out.print(f"\nresults in [bold]{folder}/[/]: " + ", ".join(sorted(file.name for file in folder.iterdir())))


def _print_rows(rows: list[tuple[str, str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for name, text in rows:
        table.add_row(Text(name.strip()), Text(text.strip(), style="yellow" if name.strip() == "warning" else ""))
    out.print(table)


def _plain(text: object) -> str:
    from rich.markup import escape

    return escape(str(text))


def _fail(message: str) -> NoReturn:
    """A run that could not be finished."""
    err.print(f"[bold red]failed[/] {_plain(message)}", soft_wrap=True)
    sys.exit(FAILED)


def _refuse(message: str) -> NoReturn:
    """Bad input: say what, which value and the remedy, without a traceback."""
    err.print(f"[bold red]error[/] {_plain(message)}", soft_wrap=True)
    sys.exit(BAD_INPUT)
