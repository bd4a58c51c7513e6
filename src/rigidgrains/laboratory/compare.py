"""Several solvers on one problem, ratios to the reference, and the files that a comparison leaves behind."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ..runtime.threads import only
from ..runtime.version import __version__
from ..solve.aliases import TRIALS, current
from ..solve.sweeps import LOOK
from .case import Case, Sample, Trial
from .profiles import profiles

REFERENCE = "random"
COSTS = ("updates", "seconds")
MAX_SWEEPS = 20_000


@dataclass(frozen=True)
class Comparison:
    """Trials of several solvers on one problem, all from the same start and on so many threads."""

    name: str
    about: str
    contacts: int
    tolerance: float
    max_sweeps: int
    trials: list[Trial]
    threads: int = 1

    @property
    def clock(self) -> str:
        """Which seconds are meant, in words."""
        return "seconds of the processor" if self.threads == 1 else f"seconds on {self.threads} threads"

    @property
    def reference(self) -> Trial:
        """The random sweep, or the first solver where it was not asked for."""
        return next((trial for trial in self.trials if trial.solver == REFERENCE), self.trials[0])

    def gain(self, trial: Trial, cost: str) -> float:
        """How many times less a converged solver has cost than the reference; a lower bound if that did not converge.

        cost : "updates" or "seconds"; NaN where there is nothing to compare
        """
        own, other = getattr(trial, cost), getattr(self.reference, cost)
        return other / own if trial.converged and own > 0.0 else math.nan

    def record(self) -> dict[str, Any]:
        """Ready for JSON; numbers that are not finite become None."""
        return {
            "name": self.name,
            "about": self.about,
            "contacts": self.contacts,
            "reference": self.reference.solver,
            "trials": [self._row(trial) for trial in self.trials],
        }

    def _row(self, trial: Trial) -> dict[str, Any]:
        gains = {f"{cost}_gain": self.gain(trial, cost) for cost in COSTS}
        curve = {name: list(column) for name, column in zip(Sample._fields, zip(*trial.curve))}
        kept = {name: value for name, value in vars(trial).items() if name not in ("curve", "forces")}
        return _finite({**kept, **gains, "gains_are_lower_bounds": not self.reference.converged, "curve": curve})


def compare(
    case: Case,
    *,
    solvers: Sequence[str] | None = None,
    tolerance: float = 1e-6,
    max_sweeps: int = MAX_SWEEPS,
    seed: int = 0,
    threads: int = 1,
    tell: Callable[[str], None] | None = None,
) -> Comparison:
    """Run several solvers on copies of one problem.

    solvers    : names among `case.names`; default: `case.default`
    tolerance  : for the residual
    max_sweeps : a solver that needs more has not converged
    seed       : of the order of random sweeps, the same for each solver
    threads    : for sweeps by colours and accelerated ones of large scenes; seconds are then those by the clock
    tell       : is told what is being done
    """
    check_limits(tolerance, max_sweeps)
    names = check_solvers(solvers, {case.name: case.names}) if solvers is not None else case.default
    trials = []
    for name in names:
        if tell is not None:
            tell(f"{case.name}: {name}")
        with only(threads):
            trials.append(case.try_solver(name, tolerance=tolerance, max_sweeps=max_sweeps, seed=seed))
    return Comparison(case.name, case.about, case.count, tolerance, max_sweeps, trials, threads)


def check_limits(tolerance: float, max_sweeps: int) -> None:
    if not 0.0 < tolerance < math.inf:
        raise ValueError(f"tolerance = {tolerance} is never reached; give a positive number")
    if max_sweeps < LOOK:
        raise ValueError(f"max_sweeps = {max_sweeps} shows nothing; give at least {LOOK}")


def check_solvers(
    names: Sequence[str], known: Mapping[str, Sequence[str]], *, elsewhere: Sequence[str] = ()
) -> tuple[str, ...]:
    """The names, each once; raises ValueError for one that is unknown, or that one of the problems has no use for.

    known     : for each problem the names of its solvers
    elsewhere : names that exist for other problems
    """
    names = [current(name, TRIALS) for name in names]
    everything = list(dict.fromkeys(name for choice in known.values() for name in choice))
    if not names:
        raise ValueError(f"no solver is named; choose among {', '.join(everything)}")
    for name in names:
        if name not in everything and name not in elsewhere:
            near = get_close_matches(name, everything, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise ValueError(f"solver {name!r} is unknown; {hint}choose among {', '.join(everything)}")
        for problem, choice in known.items():
            if name not in choice:
                raise ValueError(f"solver {name!r} does not work on {problem}; choose among {', '.join(choice)}")
    return tuple(dict.fromkeys(names))


def default_solvers(cases: Sequence[Case]) -> tuple[str, ...]:
    """Those that are usual for every one of the problems."""
    return tuple(name for name in cases[0].default if all(name in case.default for case in cases))


def costs(comparisons: Sequence[Comparison], cost: str) -> dict[str, list[float]]:
    """For each solver its cost for each problem, inf where it did not converge; without solvers that have none."""
    table = {}
    for k, first in enumerate(comparisons[0].trials):
        trials = [comparison.trials[k] for comparison in comparisons]
        if not all(math.isnan(getattr(trial, cost)) for trial in trials):
            table[first.solver] = [getattr(trial, cost) if trial.converged else math.inf for trial in trials]
    return table


def summary(comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """Everything, ready for JSON."""
    record: dict[str, Any] = {
        "version": __version__,
        "tolerance": comparisons[0].tolerance,
        "max_sweeps": comparisons[0].max_sweeps,
        "threads": comparisons[0].threads,
        "problems": [comparison.record() for comparison in comparisons],
    }
    if len(comparisons) > 1:
        ratios = {cost: profiles(costs(comparisons, cost)) for cost in COSTS}
        record["profiles"] = {
            cost: {name: _finite({"ratios": list(row)})["ratios"] for name, row in table.items()}
            for cost, table in ratios.items()
        }
    return record


def save(comparisons: Sequence[Comparison], folder: Path) -> list[Path]:
    """Write results.json, a figure for each problem and, for several, their profiles; returns the files."""
    from .figures import draw_comparison, draw_profiles

    folder.mkdir(parents=True, exist_ok=True)
    made = [folder / "results.json"]
    made[0].write_text(json.dumps(summary(comparisons), indent=1) + "\n", encoding="utf-8")
    for comparison in comparisons:
        made.append(folder / (f"{comparison.name}.png" if len(comparisons) > 1 else "comparison.png"))
        draw_comparison(comparison, made[-1])
    if len(comparisons) > 1:
        made.append(folder / "profiles.png")
        draw_profiles(comparisons, made[-1])
    return made


def _finite(value: Any) -> Any:
    """The same with None for numbers that are not finite."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value
