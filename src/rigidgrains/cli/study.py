"""Commands for many runs: study run, status, table, plot, export, check and new."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from .words import (
    INTERRUPTED,
    OutputPath,
    Quiet,
    Switch,
    Whole,
    app,
    err,
    fail,
    one_line,
    out,
    plain,
    print_rows,
    refuse,
)

if TYPE_CHECKING:
    from ..study import Study
    from ..study.status import Status

study = App(name="study", help="Many runs of one scene: vary its words, run on all cores or a cluster, get one table.")
app.command(study)

Options = Annotated[list[str] | None, Parameter(negative=())]
KINDS = (".csv", ".parquet", ".nc", ".html")


@study.command
def run(
    source: Path,
    /,
    *,
    output: OutputPath = None,
    workers: Whole = None,
    cluster: str | None = None,
    slurm: Options = None,
    pbs: Options = None,
    lsf: Options = None,
    part: str | None = None,
    limit: Whole = None,
    retry: Switch = False,
    quiet: Quiet = False,
) -> None:
    """Run what a study lacks; called again, it goes on where it was.

    Parameters
    ----------
    source
        A study file in TOML, or the folder of a study to go on with.
    output
        Folder of the study. Default: one named after the study file.
    workers
        Processes of one thread each. Default: one for each physical core. With a queue: number of jobs.
    cluster
        Address of a Dask scheduler, tcp://HOST:PORT, or its file, in place of local workers.
    slurm
        Start workers as SLURM jobs, with options of dask_jobqueue: --slurm queue=long --slurm walltime=12:00:00.
    pbs
        The same with PBS.
    lsf
        The same with LSF.
    part
        Run one part of the study in this process, without Dask: 3/16 for the third of sixteen jobs of an array.
    limit
        Begin no more than so many runs.
    retry
        Run failed ones again, too.
    quiet
        No table while it runs, and none at the end.
    """
    from ..study.errors import StudyFailed
    from ..study.live import LiveTable

    queues = {kind: words for kind, words in (("slurm", slurm), ("pbs", pbs), ("lsf", lsf)) if words is not None}
    if len(queues) + (cluster is not None) + (part is not None) > 1:
        refuse("--cluster, --slurm, --pbs, --lsf and --part exclude each other; keep one")
    if workers is not None and (cluster is not None or part is not None):
        refuse("--workers are processes of this machine or jobs of a queue; leave it out with --cluster and --part")
    with one_line():
        found = _read(source)
        folder = output or found.folder or Path(source.stem)
        kept = found.run
        watcher = None if quiet else LiveTable(err)
        try:
            with _queue(queues) as target:
                status = kept(
                    folder, workers=workers if target is None or workers else 1, cluster=target or cluster, part=part,
                    limit=limit, retry=retry, watcher=watcher,
                )  # fmt: skip
        except StudyFailed as failure:
            fail(f"{failure}")
        _tell(status, quiet)


@study.command
def status(folder: Path, /) -> None:
    """Tell how many runs of a study are done, failed, begun or waiting.

    Parameters
    ----------
    folder
        The folder of a study.
    """
    with one_line():
        _tell(_opened(folder).status(), False)


@study.command
def table(folder: Path, /, *, runs: Switch = False) -> None:
    """Print the table of a study, and bring its files table.csv and table.parquet up to date.

    Parameters
    ----------
    folder
        The folder of a study.
    runs
        A row for each run. Default: one for each point, means and standard errors over replicas.
    """
    from ..study.means import means_of
    from ..study.table import write_tables

    with one_line():
        found = _opened(folder)
        rows = write_tables(found, folder)
        head, body = means_of(found, rows)
        if runs:
            head, body = list(rows[0]), [[_cell(value) for value in row.values()] for row in rows]
        widths = [max(len(row[k]) for row in [head, *body]) for k in range(len(head))]
        for row in [head, *body]:  # whole, however long the lines are: they may go into a pipe
            out.print(plain("  ".join(cell.rjust(width) for cell, width in zip(row, widths))), soft_wrap=True)


@study.command
def plot(
    folder: Path,
    what: Annotated[list[str] | None, Parameter(negative=())] = None,
    *,
    against: str | None = None,
    hue: str | None = None,
    panels: str | None = None,
    output: OutputPath = None,
    force: Switch = False,
) -> None:
    """Plot measures against one varied word, with standard errors over replicas.

    Parameters
    ----------
    folder
        The folder of a study.
    what
        Measures to plot, with commas or blanks between. Default: all.
    against
        The varied word on the axis.
    hue
        The varied word that colours tell.
    panels
        The varied word that has a panel for each of its values.
    output
        PNG, SVG or PDF to write. Default: plot.png in the folder of the study, which is replaced.
    force
        Overwrite a file that is there.
    """
    with one_line():
        from ..files.outputs import check_outputs
        from ..study.plot import draw_study
        from ..view.save import check_kind, save_figure

        found, path = _opened(folder), output or folder / "plot.png"
        check_kind(path)
        check_outputs(path, force=force or output is None)
        names = [name.strip() for words in what or [] for name in words.split(",") if name.strip()]
        save_figure(draw_study(found, names, against=against, hue=hue, panels=panels), path)
        out.print(f"written to [bold]{plain(path)}[/]", soft_wrap=True)


@study.command
def export(folder: Path, /, *, output: OutputPath = None, pages: bool = True, force: Switch = False) -> None:
    """Write a study as one HTML page, or its table for other programs.

    Parameters
    ----------
    folder
        The folder of a study.
    output
        File to write, by its ending: .html, .csv, .parquet, or .nc for the xarray dataset. Default: study.html in the
        folder of the study, which is replaced.
    pages
        With .html: make the page of each run, too, to which it links.
    force
        Overwrite a file that is there.
    """
    with one_line():
        from ..files.outputs import check_outputs
        from ..study.export import export_study

        found, path = _opened(folder), output or folder / "study.html"
        if path.suffix.lower() not in KINDS:
            refuse(f"{path}: a study is written as {', '.join(KINDS)}; call it so")
        check_outputs(path, force=force or output is None)
        export_study(found, path, pages=pages)
        out.print(f"written to [bold]{plain(path)}[/]", soft_wrap=True)


@study.command
def check(source: Path, /) -> None:
    """Check a study, every combination of it, without running anything.

    Parameters
    ----------
    source
        A study file in TOML.
    """
    with one_line():
        found = _read(source)
    points = len(found.runs) // found.replicas
    told = [
        ("runs", f"{len(found.runs)}: {points} points, {found.replicas} replicas"),
        ("varied", ", ".join(found.names)),
    ]
    print_rows([*told, ("measured", ", ".join(found.measure) or "nothing")])


@study.command
def new(name: str | None = None, *, list: Switch = False, output: OutputPath = None, force: Switch = False) -> None:
    """Write one of the gallery studies to a folder, ready to run and to change.

    Parameters
    ----------
    name
        Name of the study.
    list
        Show the names and what each study is.
    output
        Folder to write. Default: NAME in this folder.
    force
        Overwrite files that are there.
    """
    from ..gallery import studies, study_files

    if list or name is None:
        for known, title in studies().items():
            out.print(f"[bold]{known:<12}[/] {title}")
        return
    if name not in studies():
        refuse(f"no study is called '{name}'; known: {', '.join(studies())}")
    with one_line():
        from ..files.outputs import check_outputs, whole

        folder, texts = output or Path(name), study_files(name)
        check_outputs(*(folder / file for file in texts), force=force)
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in texts.items():
            with whole(folder / file) as written:
                written.write_text(text, encoding="utf-8")
        path = folder / "study.toml"
        command = f"rigidgrains study run {plain(path)} --output {plain(name)}-runs"
        out.print(f"{plain(folder)}/ written. Run it: [bold]{command}[/]", soft_wrap=True)


def _read(source: Path) -> Study:
    from ..study import Study

    return Study(source)


def _opened(folder: Path) -> Study:
    """A study that has a folder."""
    found = _read(folder) if folder.is_dir() else None
    if found is None or found.folder is None:
        raise ValueError(f"{folder} is no folder with the runs of a study; give one that `study run` has made")
    return found


def _tell(status: Status, quiet: bool) -> None:
    """How it stands; errors of single runs; the exit code of an interrupted one."""
    if not quiet:
        print_rows([("study", str(status.folder)), *(("", line) for line in str(status).splitlines())])
        for label, error in [*status.errors.items()][:10]:
            err.print(f"[bold yellow]warning[/] {plain(label)}: {plain(error)}", soft_wrap=True)
        if len(status.errors) > 10:
            err.print(f"and {len(status.errors) - 10} more; see rigidgrains study table --runs {plain(status.folder)}")
    if status.interrupted:
        err.print(f"interrupted; go on with: [bold]rigidgrains study run {plain(status.folder)}[/]", soft_wrap=True)
        sys.exit(INTERRUPTED)


@contextmanager
def _queue(queues: dict[str, list[str]]) -> Iterator[object]:
    """A cluster of queued jobs, if one is asked for."""
    if not queues:
        yield None
        return
    from ..study.clusters import queue_cluster

    ((kind, options),) = queues.items()
    with queue_cluster(kind, options) as cluster:
        yield cluster


def _cell(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)
