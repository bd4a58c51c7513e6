"""The command `view`: a trajectory in the browser, as one file or live."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from .words import OutputPath, Switch, app, out, plain, refuse, whole

if TYPE_CHECKING:
    from ..trajectory.reader import Trajectory

LARGE = 80.0  # MB, from which a page is slow to open


@app.command
def view(
    file: Path,
    /,
    *,
    output: OutputPath = None,
    every: Annotated[int, Parameter(converter=whole)] = 1,
    force: Switch = False,
    open: bool = True,
    live: Switch = False,
    port: Annotated[int, Parameter(converter=whole)] = 0,
) -> None:
    """Look at a trajectory in the browser: one HTML file that needs no server and no network.

    Parameters
    ----------
    file
        A trajectory, NAME.vtkhdf.
    output
        File to write. Default: NAME.html in this folder.
    every
        Take every so many frames; the last is always there.
    force
        Overwrite a file that is there.
    open
        Show it in the browser when it is ready.
    live
        Serve the page to this machine only, and follow the file while a run writes it. Ctrl-C ends it.
    port
        Port of the live view. Default: any that is free.
    """
    from ..trajectory.errors import TrajectoryError
    from ..trajectory.reader import Trajectory

    if live and (output is not None or force or every != 1):
        refuse("--live writes no file: leave out --output, --force and --every")
    try:
        trajectory = Trajectory(file)
    except TrajectoryError as problem:
        refuse(str(problem))
    if live:
        _follow(trajectory, open, port)
    else:
        _write(trajectory, output or Path(f"{file.stem}.html"), every, force, open)


def _write(trajectory: Trajectory, path: Path, every: int, force: bool, show: bool) -> None:
    from rich.progress import Progress

    from ..files.outputs import OutputError
    from ..trajectory.errors import TrajectoryError
    from ..view.page import PageError, write_page
    from .words import err

    try:
        with Progress(console=err, transient=True) as bar:
            task = bar.add_task("packing frames", total=None)
            write_page(
                trajectory,
                path,
                every=every,
                force=force,
                tell=lambda done, total: bar.update(task, completed=done, total=total),
            )
    except (OutputError, PageError, TrajectoryError) as problem:
        refuse(str(problem))
    size = path.stat().st_size / 1e6
    hint = "; --every 2 would halve it" if size > LARGE else ""
    out.print(f"{plain(path)} written, {size:.1f} MB{hint}", soft_wrap=True)
    if show:
        import webbrowser

        webbrowser.open(path.resolve().as_uri())


def _follow(trajectory: Trajectory, show: bool, port: int) -> None:
    from ..view.live import LiveError, follow

    def tell(address: str) -> None:
        out.print(f"live view at {plain(address)}  (Ctrl-C ends it)", soft_wrap=True)

    try:
        follow(trajectory, port=port, show=show, tell=tell)
    except LiveError as problem:
        refuse(str(problem))
