"""Commands that show a trajectory on paper and on the screen: render, video, plot."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ..runtime.signals import STOPPING
from .words import Dashed, OutputPath, Switch, app, err, frame_number, one_line, out, plain, refuse

if TYPE_CHECKING:
    from ..trajectory.reader import Trajectory
    from ..view.packing import Look

KINDS = (".png", ".svg", ".pdf")
Several = Annotated[list[str] | None, Parameter(negative=())]


@app.command
def render(
    file: Path,
    /,
    *,
    frame: Dashed = "last",
    colour: Annotated[str, Parameter(name=["--colour", "--color", "-c"])] = "load",
    forces: Switch = False,
    size: str | None = None,
    view: Dashed = "default",
    output: OutputPath = None,
    force: Switch = False,
) -> None:
    """Draw frames of a trajectory, in 2D or 3D.

    Parameters
    ----------
    file
        A trajectory, NAME.vtkhdf.
    frame
        Number of the frame, counted from 0 (-1 is the last); `last`; or `all` for a folder of pictures.
    colour
        What the colour of a grain shows: load, radius, speed, peculiar (speed about the flow of a cell), rotation,
        contacts, id, status, group, material, density, or the name of a scalar.
    forces
        Draw the contact forces, as lines or tubes whose width follows the force.
    size
        Pixels of the longer side, or WIDTHxHEIGHT. Default: 1600.
    view
        3D: azimuth,elevation of the eye in degrees, or front, side, top. Default: -55,20.
    output
        PNG, SVG or PDF to write; with `--frame all` a folder. Default: beside the trajectory, with its name.
    force
        Overwrite what is there.
    """
    with _errors(), _opened(file) as trajectory:
        from ..view.layout import read_size
        from ..view.packing import Look
        from ..view.video import Some

        every = frame == "all"
        number = _number(frame, trajectory)
        path = output or (file.with_name(f"{file.stem}-frames") if every else file.with_suffix(".png"))
        _check_output(path, file, force, folder=every)
        frames = Some(trajectory, 1) if every else [trajectory[number]]
        look = Look.at(frames, colour=colour, forces=forces, size=read_size(size) if size else None, view=view)
        if every:
            _draw_all(trajectory, look, path)
        else:
            _draw_one(trajectory, number, look, path)
    out.print(f"written to [bold]{plain(path)}[/]", soft_wrap=True)


@app.command
def video(
    file: Path,
    /,
    *,
    output: OutputPath = None,
    fps: float = 25.0,
    every: int = 1,
    colour: Annotated[str, Parameter(name=["--colour", "--color", "-c"])] = "load",
    forces: Switch = False,
    size: str | None = None,
    view: Dashed = "default",
    force: Switch = False,
) -> None:
    """Make an MP4 video of a trajectory: the same view and colour scale in all frames.

    Parameters
    ----------
    file
        A trajectory, NAME.vtkhdf.
    output
        MP4 to write. Default: beside the trajectory, with its name.
    fps
        Frames per second.
    every
        Take each so manyth frame of the trajectory.
    colour
        What the colour of a grain shows: load, radius, speed, peculiar (speed about the flow of a cell), rotation,
        contacts, id, status, group, material, density, or the name of a scalar.
    forces
        Draw the contact forces, as lines or tubes whose width follows the force.
    size
        Pixels of the longer side, or WIDTHxHEIGHT. Default: 1280.
    view
        3D: azimuth,elevation of the eye in degrees, or front, side, top. Default: -55,20.
    force
        Overwrite a video that is there.
    """
    path = output or file.with_suffix(".mp4")
    with _errors(), _opened(file) as trajectory:
        from ..view.layout import read_size
        from ..view.video import PIXELS, write_video

        _check_output(path, file, force, kinds=(".mp4",))
        with _bar("frames") as tell:
            count = write_video(
                trajectory, path, fps=fps, every=every, colour=colour, forces=forces,
                size=read_size(size) if size else PIXELS, view=view, tell=tell,
            )  # fmt: skip
    out.print(f"{count} frames, {count / fps:.3g} s, written to [bold]{plain(path)}[/]", soft_wrap=True)


@app.command
def plot(
    file: Path,
    /,
    what: Several = None,
    *,
    frame: Dashed = "last",
    output: OutputPath = None,
    force: Switch = False,
) -> None:
    """Plot what a trajectory recorded: against time, and as distributions of one frame.

    Parameters
    ----------
    file
        A trajectory, NAME.vtkhdf.
    what
        Panels to show, with commas or blanks between: energies, overlap, sweeps, residual, walls, springs, rigidity,
        packing, stress, forces, rose, sizes. Default: all that the file has something for.
    frame
        The frame of which forces, directions and sizes are shown: a number counted from 0, or `last`.
    output
        PNG, SVG or PDF to write. Default: NAME-plots.png beside the trajectory.
    force
        Overwrite what is there.
    """
    path = output or file.with_name(f"{file.stem}-plots.png")
    with _errors(), _opened(file) as trajectory:
        from ..view.series import draw_plots

        _check_output(path, file, force)
        names = [name.strip() for words in what or [] for name in words.split(",") if name.strip()]
        if frame == "all":
            raise ValueError("--frame all is for render; a plot shows one frame, a number or last")
        draw_plots(trajectory, path, what=names, frame=_number(frame, trajectory))
    out.print(f"written to [bold]{plain(path)}[/]", soft_wrap=True)


def _draw_one(trajectory: Trajectory, number: int, look: Look, path: Path) -> None:
    from ..view.save import save_figure

    save_figure(look.draw(trajectory[number]), path)


def _draw_all(trajectory: Trajectory, look: Look, folder: Path) -> None:
    """One picture for each frame; pictures of an earlier, longer series do not stay among them."""
    from ..view.save import save_figure

    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("frame-*.png"):
        old.unlink()
    digits = max(4, len(str(len(trajectory) - 1)))
    with _bar("pictures") as tell:
        for k, frame in enumerate(trajectory):
            tell(k, len(trajectory))
            save_figure(look.draw(frame), folder / f"frame-{k:0{digits}d}.png")
        tell(len(trajectory), len(trajectory))


def _number(word: str, trajectory: Trajectory) -> int:
    """A frame's number, counted from 0."""
    which = frame_number(word, "last", "all")
    return trajectory[-1 if isinstance(which, str) else which].index


def _check_output(
    path: Path, source: Path, force: bool, *, folder: bool = False, kinds: tuple[str, ...] = KINDS
) -> None:
    """Refuse early what could not be written at the end of much work."""
    from ..files.outputs import check_outputs

    if folder:
        if path.exists() and not path.is_dir():
            raise ValueError(f"{path} is a file; give the name of a folder for the pictures")
        check_outputs(path, force=force)
        return
    if path.is_dir():
        raise ValueError(f"{path} is a folder; give the name of a file in it")
    if path.suffix.lower() not in kinds:
        raise ValueError(
            f"{path}: a {'video' if '.mp4' in kinds else 'picture'} ends in {', '.join(kinds)}; call it so"
        )
    check_outputs(path, force=force, source=source)
    if not path.parent.is_dir():
        raise ValueError(f"{path}: there is no folder {path.parent}; make it first, or choose another")


@contextmanager
def _opened(file: Path) -> Iterator[Trajectory]:
    from ..trajectory.reader import Trajectory

    with Trajectory(file) as trajectory:
        yield trajectory


@contextmanager
def _errors() -> Iterator[None]:
    """The same for a picture that cannot be written."""
    try:
        with one_line():
            yield
    except OSError as problem:
        reason = problem.strerror or str(problem).strip().split("\n")[0]
        refuse(f"{problem.filename or 'output'} cannot be written: {reason}; choose another place with --output")


@contextmanager
def _bar(word: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar, fed with what is done and the total; it shows up when it is first fed.

    An interrupt or a wish to terminate takes effect where the bar is fed, so that nothing half done is left; a second
    one at once.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = BarColumn(bar_width=30), MofNCompleteColumn(), TextColumn(word), TimeRemainingColumn()
    bar = Progress(*columns, console=err)
    task = bar.add_task(word, total=None)
    asked = False

    def ask(number: int, stack: Any) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True

    def tell(done: int, total: int) -> None:
        if asked:
            raise KeyboardInterrupt
        bar.start()
        bar.update(task, completed=done, total=total)

    before = {number: signal.signal(number, ask) for number in STOPPING}
    try:
        yield tell
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if bar.live.is_started:
            bar.stop()
