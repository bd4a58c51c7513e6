"""Commands that exchange files with other programs: export, import."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from .words import Dashed, OutputPath, Switch, Whole, app, err, frame_number, out, plain, refuse

PATIENCE = 1.0  # s before a progress bar appears


@app.command
def export(
    file: Path,
    /,
    *,
    to: str,
    frame: Dashed = "all",
    every: Whole = None,
    fields: str | None = None,
    no_contacts: Switch = False,
    single: Switch = False,
    compress: Switch = False,
    output: OutputPath = None,
    force: Switch = False,
) -> None:
    """Write a trajectory, or one frame of it, for another program, or a thinner one of a large run.

    Parameters
    ----------
    file
        A trajectory, NAME.vtkhdf.
    to
        gsd (HOOMD-blue, OVITO), lammps (dump), lammps-data (one frame, for read_data), extxyz (ASE, OVITO), csv, vtu
        (ParaView), stl or obj (surfaces); vtkhdf: a trajectory of fewer frames, arrays or digits.
    frame
        Number of a frame, `last` or `all`.
    every
        Take one frame in so many. Default: all.
    fields
        Arrays of grains to write, with commas: velocity,load. Positions, radii, masses, materials, ids, groups and
        scalars are always written. Default: all.
    no_contacts
        Leave out contacts. A trajectory with chosen fields has none.
    single
        Arrays of a trajectory in single precision.
    compress
        Compress the arrays of a trajectory.
    output
        File or folder to make. Default: named after the trajectory, beside it.
    force
        Overwrite what is there.
    """
    from .. import formats

    which = frame_number(frame, "last", "all")
    if every is not None and every < 1:
        refuse(f"--every {every} cannot be; take one frame in 1 or more")
    notes: list[str] = []
    try:
        with Waiting("frames") as waiting:
            made = formats.export(
                file, to, output, which, every=every or 1, contacts=False if no_contacts else None, single=single,
                fields=None if fields is None else [name.strip() for name in fields.split(",") if name.strip()],
                compress=compress, force=force, tell=waiting.tell, note=notes.append,
            )  # fmt: skip
    except ValueError as problem:
        refuse(str(problem))
    out.print(f"written to [bold]{plain(made)}[/]" + ("/" if made.is_dir() else ""))
    for line in notes:
        err.print(f"note {plain(line)}")


@app.command(name="import")
def import_(
    file: Path,
    /,
    *,
    output: OutputPath = None,
    frame: Dashed | None = None,
    density: float | None = None,
    dimension: Whole = None,
    overlap: float | None = None,
    radius: float | None = None,
    periodic: str = "",
    force: Switch = False,
) -> None:
    """Make a scene that starts from the grains of a file of another program.

    Parameters
    ----------
    file
        LAMMPS dump or data file, extended XYZ, CSV or GSD with positions and radii, or a trajectory.
    output
        Scene to write. Default: NAME.toml in this folder.
    frame
        Number of a frame, or `last`. Default: the last.
    density
        Mass density of the grains (kg/m^3). Default: by the masses in the file; 2500 without them.
    dimension
        2 for disks, 3 for spheres. Default: 2 if all z are equal.
    overlap
        Overlap to allow, as a share of the smaller radius. Default: 0.05.
    radius
        Radius (m) of all grains, for files that have none.
    periodic
        Directions along which the box of a LAMMPS data file is periodic, `xy` for instance.
    force
        Overwrite a scene of that name.
    """
    from ..scene.start import start_scene

    for name, value, good in (
        ("density", density, density is None or density > 0.0),
        ("dimension", dimension, dimension in (None, 2, 3)),
        ("overlap", overlap, overlap is None or 0.0 <= overlap <= 1.0),
        ("radius", radius, radius is None or 0.0 < radius < float("inf")),
        ("periodic", periodic, set(periodic) <= set("xyz")),
    ):
        if not good:
            wanted = {
                "density": "a positive number", "dimension": "2 or 3", "overlap": "a number from 0 to 1",
                "radius": "a positive number", "periodic": "letters of x, y and z",
            }[name]  # fmt: skip
            refuse(f"--{name} {value} cannot be; give {wanted}")
    which = None if frame is None else frame_number(frame, "last")
    path = output or Path(f"{file.stem}.toml")
    try:
        state = start_scene(
            file, path, frame=which, density=density, dimension=dimension, overlap=overlap, radius=radius,
            periodic=periodic, force=force,
        )  # fmt: skip
    except ValueError as problem:
        refuse(str(problem))
    out.print(f"{plain(path)} written, {len(state.radius)} grains. Run it: [bold]rigidgrains run {plain(path)}[/]")


class Waiting:
    """A progress bar that appears only when something takes long."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._bar: Any = None

    def __enter__(self) -> Waiting:
        self._started = time.monotonic()
        return self

    def tell(self, done: int, total: int) -> None:
        """So many of so many are done."""
        if self._bar is None and time.monotonic() - self._started > PATIENCE and done < total:
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

            self._bar = Progress(
                BarColumn(bar_width=30), MofNCompleteColumn(), self._what, TimeRemainingColumn(), console=err,
                transient=True,
            )  # fmt: skip
            self._task = self._bar.add_task(self._what, total=total)
            self._bar.start()
        if self._bar is not None:
            self._bar.update(self._task, completed=done)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
