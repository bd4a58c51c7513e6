"""The solver laboratory: several solvers on copies of one contact problem, watched, timed and checked."""

from .case import Case, Sample, Trial
from .compare import Comparison, check_solvers, compare, default_solvers, save
from .figures import draw_comparison, draw_profiles
from .matrix import MatrixCase
from .profiles import profiles
from .sources import open_cases, scene_problem
from .step import StepCase

__all__ = [
    "Case",
    "Comparison",
    "MatrixCase",
    "Sample",
    "StepCase",
    "Trial",
    "check_solvers",
    "compare",
    "default_solvers",
    "draw_comparison",
    "draw_profiles",
    "open_cases",
    "profiles",
    "save",
    "scene_problem",
]
