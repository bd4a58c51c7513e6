"""Command that certifies: check."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .words import Dashed, Switch, Threads, app, frame_number, out, plain, print_rows, refuse, use_threads

if TYPE_CHECKING:
    from ..certificate import Certificate

VIOLATED = 1


@app.command
def check(
    file: Path,
    /,
    *,
    frame: Dashed = "all",
    tolerance: float | None = None,
    threads: Threads = None,
    json: Switch = False,
) -> None:
    """Hold the frames of a trajectory against the laws, from the stored numbers alone.

    A frame is certified, within what its step was asked, or violated. Ends with 1 if one is violated, 2 if the file
    cannot be checked, else with 0.

    Parameters
    ----------
    file
        A trajectory, NAME.vtkhdf.
    frame
        Number of one frame (-1 is the last), `last`, or `all`.
    tolerance
        Accepted where laws hold to the accuracy of the sweeps, relative to the forces. Default: 0.005.
    threads
        Threads to use; the results are the same bits for any number. Default: one for each physical core.
    json
        Print everything as one JSON object.
    """
    from ..certificate import TOLERANCE, check_file, summary
    from ..trajectory.errors import TrajectoryError, reading

    use_threads(threads)
    if tolerance is not None and not 0.0 < tolerance < math.inf:
        refuse(f"--tolerance {tolerance} accepts nothing or everything; give a positive number, 5e-3 for instance")
    which = frame_number(frame, "last", "all")
    frames = None if which == "all" else [-1 if which == "last" else int(which)]
    certificates = []
    try:
        with reading(file):
            for certificate in check_file(file, frames, tolerance=TOLERANCE if tolerance is None else tolerance):
                certificates.append(certificate)
                if not json:
                    _print(certificate, full=frames is not None)
    except TrajectoryError as problem:
        refuse(str(problem))
    passed = all(certificate.passed for certificate in certificates)
    violated = any(certificate.violated for certificate in certificates)
    if json:
        from json import dumps

        frames_told = [certificate.as_dict() for certificate in certificates]
        told = {"file": str(file), "passed": passed, "violated": violated, "verdict": summary(certificates)}
        print(dumps(told | {"frames": frames_told}))
    else:
        out.print(
            f"[bold {'red' if violated else 'green'}]{plain(file)}[/]: {plain(summary(certificates))}", soft_wrap=True
        )
    if violated:
        sys.exit(VIOLATED)


def _print(certificate: Certificate, *, full: bool) -> None:
    """A line; with all laws if a single frame was asked for, else with those that fail where a law is violated."""
    if full:
        print_rows(certificate.rows())
        return
    colour = "[red]" if certificate.violated else ""
    out.print(f"{plain(certificate.title)}: {colour}{plain(certificate.verdict)}", soft_wrap=True)
    if certificate.violated:
        print_rows([(f"  {broken.name}", str(broken)) for broken in certificate.failed])
