"""A command that makes a new packing of one: edit."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from .words import Dashed, OutputPath, Switch, app, err, frame_number, out, plain, refuse


@app.command
def edit(
    file: Path,
    /,
    *operations: Annotated[str, Parameter(name="OPERATIONS", allow_leading_hyphen=True)],
    output: OutputPath = None,
    frame: Dashed = "last",
    density: float | None = None,
    radius: float | None = None,
    force: Switch = False,
) -> None:
    """Cut, mirror, scale, glue, thin out or replicate a packing, in the order given.

    A new file of one frame is written, from which scenes start: `file = "sample.vtkhdf"` in `[[grains]]`.

    Parameters
    ----------
    file
        A trajectory, a packing made before, or a file of another program.
    operations
        `--cut x=0:0.1,y=:0.2`, `--select NAME`, `--remove NAME`, `--thin SHARE`, `--mirror x`, `--move x=0.1`,
        `--scale FACTOR`, `--replicate 2,1,1`, `--glue FILE@top`, `--swap of=NAME,material=NAME,density=...,share=...`,
        `--no-walls`, `--no-forces`.
    output
        Packing to write, NAME.vtkhdf. Default: NAME-edited.vtkhdf beside the file.
    frame
        Number of the frame to begin with, or `last`.
    density
        Mass density of grains whose file tells no mass (kg/m^3). Default: 2500.
    radius
        Radius (m) of all grains, for files that have none.
    force
        Overwrite a file of that name.
    """
    from ..packing import Packing
    from ..packing.operations import read_operations

    path = output or file.with_name(f"{file.stem}-edited.vtkhdf")
    numbers = {"density": density, "radius": radius}
    wrong = [f"--{name} {value:g}: give a positive number" for name, value in numbers.items()
             if value is not None and not 0.0 < value < math.inf]  # fmt: skip
    try:
        asked = read_operations(operations, wrong)
        packing = Packing(file, frame_number(frame, "last"), density=density, radius=radius)
        for operation in asked:
            packing = operation(packing)
        packing.save(path, force=force)
    except (ValueError, OSError) as problem:
        refuse(str(problem))
    out.print(f"{plain(repr(packing))} written to [bold]{plain(path)}[/]", soft_wrap=True)
    for line in packing.notes:
        err.print(f"note {plain(line)}", soft_wrap=True)
