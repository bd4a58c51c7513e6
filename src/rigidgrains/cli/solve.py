"""The command that solves a contact problem from a file: solve."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .words import OutputPath, Switch, Whole, app, print_rows, refuse

if TYPE_CHECKING:
    from ..fclib import Solution

NOT_CONVERGED = 1


@app.command
def solve(
    problem: Path,
    /,
    *,
    solver: str = "auto",
    tolerance: float = 1e-8,
    max_iterations: Whole = None,
    warm: Whole = None,
    output: OutputPath = None,
    force: Switch = False,
    json: Switch = False,
) -> None:
    """Solve a frictional contact problem in FCLIB's HDF5 format; exit code 1 if it does not converge.

    Parameters
    ----------
    problem
        A local (W, q, mu) or global (M, H, f, w, mu) problem.
    solver
        auto, accelerated, sweeps or second-order (interior point and Newton steps).
    tolerance
        For the residual: FCLIB's natural map over the norm of q, as given and with forces in units of velocity.
    max_iterations
        Sweeps, or steps of the second-order method, after which to give up with the best point found.
    warm
        Accelerated sweeps that bring the second-order method near, at most. Default: none.
    output
        File for the problem and its solution, in the same format.
    force
        Overwrite a file that is there.
    json
        Print one JSON object.
    """
    from json import dumps

    from ..fclib import read_problem, solve_problem, write_solution
    from ..files.outputs import check_outputs

    try:
        if output is not None:
            check_outputs(output, force=force, source=problem)
        stated = read_problem(problem)
        found = solve_problem(stated, solver=solver, tolerance=tolerance, max_iterations=max_iterations, warm=warm or 0)
    except ValueError as trouble:
        refuse(str(trouble))
    if output is not None:
        try:
            write_solution(stated, found.r, output, force=force)
        except OSError as trouble:
            refuse(f"{output} cannot be written: {trouble.strerror or trouble}; choose another place with --output")
    if json:
        print(dumps(record(found)))
    else:
        print_rows(describe(found))
    if not found.converged:
        sys.exit(NOT_CONVERGED)


def record(found: Solution) -> dict[str, Any]:
    """The figures, ready for JSON."""
    return {
        "contacts": found.contacts,
        "solver": found.solver,
        "iterations": found.iterations,
        "seconds": found.seconds,
        "residual": found.residual,
        "scaled_residual": found.scaled_residual,
        "converged": found.converged,
        "reason": found.reason,
    }


def describe(found: Solution) -> list[tuple[str, str]]:
    """The figures in words."""
    verdict = "converged" if found.converged else f"not converged: {found.reason}; this is the best point found"
    return [
        ("contacts", f"{found.contacts:,}"),
        ("solver", found.solver),
        ("iterations", f"{found.iterations:,}"),
        ("seconds", f"{found.seconds:.3g}"),
        ("residual", f"{found.residual:.3g} (scaled {found.scaled_residual:.3g})"),
        ("verdict", verdict),
    ]
