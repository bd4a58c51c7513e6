"""Commands that look after files: repair."""

from __future__ import annotations

from pathlib import Path

from .words import OutputPath, Switch, app, out, plain, print_rows, refuse


@app.command
def repair(file: Path, /, *, output: OutputPath = None, force: Switch = False) -> None:
    """Copy the intact frames of a damaged trajectory to a new file; the old one is left as it is.

    Parameters
    ----------
    file
        The damaged trajectory.
    output
        File to write. Default: NAME-repaired.vtkhdf beside it.
    force
        Overwrite a file of that name.
    """
    from ..trajectory.repair import repair as mend

    try:
        found = mend(file, output, force=force)
    except ValueError as problem:
        refuse(str(problem))
    lost = ", ".join(map(str, found.lost[:10])) + (", ..." if len(found.lost) > 10 else "")
    print_rows(
        [
            ("intact", f"{found.frames} frames"),
            ("lost", f"{len(found.lost)} frames" + (f" ({lost})" if lost else "")),
            ("checkpoint", "intact: the run can be resumed" if found.checkpoint else "lost: it cannot be resumed"),
        ]
    )
    out.print(f"written to [bold]{plain(found.path)}[/]")
