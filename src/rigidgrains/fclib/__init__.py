"""FCLIB, the public format of frictional contact problems: read, write, solve, and export any step of a run."""

from ..solve.matrix.problem import GlobalProblem, Info, LocalProblem
from ..solve.matrix.solve import SOLVERS, Solution, solve_problem
from ..solve.matrix.step import forces, global_problem, impulses, local_problem
from .read import ProblemFileError, read_impulses, read_problem
from .save import save_problem
from .write import write_problem, write_solution

__all__ = [
    "SOLVERS",
    "GlobalProblem",
    "Info",
    "LocalProblem",
    "ProblemFileError",
    "Solution",
    "forces",
    "global_problem",
    "impulses",
    "local_problem",
    "read_impulses",
    "read_problem",
    "save_problem",
    "solve_problem",
    "write_problem",
    "write_solution",
]
