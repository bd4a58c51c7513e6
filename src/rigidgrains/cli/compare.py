"""The command of the solver laboratory: compare."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from .words import INTERRUPTED, OutputPath, Switch, Threads, Whole, app, err, fail, out, plain, refuse, use_threads

if TYPE_CHECKING:
    from ..laboratory import Comparison, Trial

NOTHING = "–"


@app.command
def compare(
    source: Path,
    /,
    *,
    solvers: str | None = None,
    step: Whole = None,
    warm: Switch = False,
    tolerance: float = 1e-6,
    max_sweeps: Whole = None,
    output: OutputPath = None,
    force: Switch = False,
    threads: Threads = None,
    json: Switch = False,
) -> None:
    """Run several solvers on one contact problem and draw how they converge; for a folder, their profiles as well.

    Parameters
    ----------
    source
        A scene in TOML, a problem in FCLIB's HDF5 format, or a folder of them.
    solvers
        Names with commas between them: random, symmetric, coloured, accelerated,
        associated (accelerated, for a packing that is known to carry its load), random_blocks, random_sequential,
        ordered, parallel, second-order (without a sweep); for problem files random, symmetric, accelerated,
        second-order.
    step
        Step of the scene whose problem is solved, counted from 1. Default: the last.
    warm
        Start from the forces carried over from the step before (or the guess in a file), not from none.
    tolerance
        For the residual.
    max_sweeps
        Sweeps after which a solver has not converged. Default: 20000.
    output
        Folder for figures and results.json. Default: a new one, NAME-compare.
    force
        Overwrite what is in that folder.
    threads
        For solvers that can use several; seconds are then those by the clock, not of the processor. Default: 1.
    json
        Print everything as one JSON object.
    """
    from json import dumps

    from ..laboratory import save
    from ..laboratory.compare import summary
    from ..simulation.stepper import DivergenceError

    use_threads(threads)
    try:
        folder = _folder(source, output, force)
        with _waiting(shown=not json) as tell:
            found = _compare(source, solvers, step, warm, tolerance, max_sweeps, threads or 1, tell)
            save(found, folder)
    except OSError as trouble:
        refuse(f"{trouble.filename or folder}: {trouble.strerror or trouble}; choose another place with --output")
    except ValueError as trouble:  # mistakes in scenes and files too
        refuse(str(trouble))
    except DivergenceError as trouble:
        fail(str(trouble))
    except KeyboardInterrupt:
        err.print("interrupted; nothing was written")
        sys.exit(INTERRUPTED)
    if json:
        print(dumps(summary(found)))
        return
    if len(found) == 1:
        _print_trials(found[0])
    else:
        _print_problems(found)
    made = "comparison.png" if len(found) == 1 else "profiles.png, a figure for each problem"
    out.print(f"\nwritten to [bold]{plain(folder)}/[/]: {made}, results.json", soft_wrap=True)


def _compare(
    source: Path, solvers: str | None, step: int | None, warm: bool, tolerance: float, max_sweeps: int | None,
    threads: int, tell: Callable[[str], None] | None,
) -> list[Comparison]:  # fmt: skip
    """Mistakes are told before anything runs."""
    from ..laboratory import compare, default_solvers, open_cases
    from ..laboratory.compare import MAX_SWEEPS, check_limits

    most = MAX_SWEEPS if max_sweeps is None else max_sweeps
    check_limits(tolerance, most)
    names = None if solvers is None else [name.strip() for name in solvers.split(",") if name.strip()]
    cases = open_cases(source, step=step, warm=warm, solvers=names, tell=tell)
    chosen = names or default_solvers(cases)
    return [
        compare(case, solvers=chosen, tolerance=tolerance, max_sweeps=most, threads=threads, tell=tell)
        for case in cases
    ]


def _folder(source: Path, output: Path | None, force: bool) -> Path:
    """The folder asked for, or a new one named after the source: earlier results are never overwritten unasked."""
    if output is not None:
        if output.exists() and not output.is_dir():
            raise ValueError(f"{output} is a file; choose a folder with --output")
        if output.is_dir() and any(output.iterdir()) and not force:
            raise ValueError(f"{output} is not empty; pass --force to write into it, or choose another with --output")
        return _writable(output)
    stem = source.resolve().name if source.is_dir() else source.stem
    folder, number = Path(f"{stem}-compare"), 1
    while folder.exists():
        number += 1
        folder = Path(f"{stem}-compare-{number}")
    return _writable(folder)


def _writable(folder: Path) -> Path:
    """The folder, if it can be made and filled; nothing is made yet."""
    place = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
    if not place.is_dir() or not os.access(place, os.W_OK):
        raise ValueError(f"output folder {folder} cannot be written; choose another with --output")
    return folder


@contextmanager
def _waiting(*, shown: bool) -> Iterator[Callable[[str], None] | None]:
    """A line on the terminal that says what is being done."""
    if not shown:
        yield None
        return
    with err.status("") as line:
        yield lambda text: line.update(plain(text))


def _print_trials(found: Comparison) -> None:
    """One row for each solver, and what kept those from converging that did not."""
    about = found.about and f", {found.about}"
    out.print(
        f"[bold]{plain(found.name)}[/]: {found.contacts:,} contacts{plain(about)}; residual {found.tolerance:g}\n"
    )
    rows = [("solver", "sweeps", "updates", "gain", "seconds", "gain", "residual", "momentum", "converged")]
    for trial in found.trials:
        row = (
            trial.solver,
            f"{trial.sweeps:,}" + (" steps" if math.isnan(trial.updates) else ""),
            NOTHING if math.isnan(trial.updates) else f"{trial.updates:.3g}",
            _gain(found, trial, "updates"),
            f"{trial.seconds:.3g}",
            _gain(found, trial, "seconds"),
            f"{trial.residual:.2g}",
            f"{trial.momentum_error:.2g}",
            "yes" if trial.converged else "no",
        )
        rows.append(row)
    _print_table(rows)
    out.print(f"\ngain: so many times less than {_reference([found])} in this run; {found.clock}", soft_wrap=True)
    for trial in found.trials:
        if not trial.converged:
            out.print(f"[yellow]{plain(trial.solver)}[/] did not converge: {plain(trial.why)}", soft_wrap=True)


def _print_problems(found: list[Comparison]) -> None:
    """Seconds of each solver for each problem, then how many were solved."""
    names = [trial.solver for trial in found[0].trials]
    out.print(f"{found[0].clock} to a residual of {found[0].tolerance:g}\n")
    rows = [["problem", "contacts", *names]]
    for comparison in found:
        seconds = [f"{trial.seconds:.3g}" if trial.converged else NOTHING for trial in comparison.trials]
        rows.append([comparison.name, f"{comparison.contacts:,}", *seconds])
    solved = [sum(comparison.trials[k].converged for comparison in found) for k in range(len(names))]
    rows.append(["solved", f"of {len(found)}", *map(str, solved)])
    gains = [[comparison.gain(comparison.trials[k], "seconds") for comparison in found] for k in range(len(names))]
    rows.append(["gain", "median", *map(_median, gains)])
    _print_table(rows)
    out.print(f"\ngain: so many times less than {_reference(found)}; {NOTHING} not converged", soft_wrap=True)


def _reference(found: list[Comparison]) -> str:
    missed = not all(comparison.reference.converged for comparison in found)
    return found[0].reference.solver + (" where it converged (elsewhere at least)" if missed else "")


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    """The first row is the head; no number is cut short, however narrow the terminal."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    for k, row in enumerate(rows):
        words = [row[0].ljust(widths[0]), *(text.rjust(width) for text, width in zip(row[1:], widths[1:]))]
        out.print("  ".join(words), style="" if k else "bold", markup=False, soft_wrap=True)


def _gain(found: Comparison, trial: Trial, cost: str) -> str:
    gain = found.gain(trial, cost)
    if math.isnan(gain):
        return NOTHING
    return f"{'' if found.reference.converged else '> '}{gain:.3g}"


def _median(gains: list[float]) -> str:
    known = sorted(gain for gain in gains if not math.isnan(gain))
    return f"{median(known):.3g}" if known else NOTHING
