"""The contact problem of a step as an FCLIB file."""

from __future__ import annotations

from pathlib import Path

from ..contacts.problem import ContactProblem
from ..simulation.simulation import Simulation
from ..solve.matrix.step import global_problem, impulses
from .write import write_problem

FORMS = ("local", "global")


def save_problem(
    source: Simulation | ContactProblem, path: str | Path, *, form: str = "local", force: bool = False
) -> None:
    """Write the last step of a simulation, or a problem whose forces are still to be found, with its forces as a guess.

    form  : "local" for W and q, "global" for M, H, f and w
    force : overwrite a file that is there
    """
    if form not in FORMS:
        raise ValueError(f"form {form!r} is unknown; choose one of {', '.join(FORMS)}")
    solved = not isinstance(source, ContactProblem)
    problem = source if isinstance(source, ContactProblem) else source.contacts.problem(source.bodies, source.dt)
    dimension = None if isinstance(source, ContactProblem) else source.bodies.dimension
    if problem.count == 0:
        early = not isinstance(source, ContactProblem) and not source.steps
        raise ValueError(
            f"{path}: there is no contact problem to save: "
            + ("no step has been made; run the simulation first" if early else "the step has no contacts; save another")
        )
    stated = global_problem(problem, dimension=dimension, solved=solved)
    guess = impulses(problem, stated.dimension).ravel()
    write_problem(stated if form == "global" else stated.local(), path, guess=guess, force=force)
