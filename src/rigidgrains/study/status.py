"""How a study stands: how many of its runs are done, failed, begun or waiting, and what they took."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .folder import RUNS, jobs_of
from .result import read_result, state_of, times_of

if TYPE_CHECKING:
    from .study import Study

STATES = ("done", "unmeasured", "failed", "begun", "waiting")


@dataclass(frozen=True)
class Status:
    """Runs by their state.

    errors  : of runs that failed or could not be measured, by the names of their folders
    seconds : that all workers have spent on them
    others  : runs in the folder that belong to no point of the study any more
    """

    folder: Path
    total: int
    counts: dict[str, int]
    errors: dict[str, str]
    seconds: float
    others: int
    interrupted: bool = False

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to run."""
        return self.counts["begun"] + self.counts["waiting"] == 0

    def __str__(self) -> str:
        told = [f"{self.counts[state]} {state}" for state in STATES if self.counts[state] or state == "done"]
        rows = [f"{self.total} runs: {', '.join(told)}"]
        if self.seconds:
            rows.append(f"{self.seconds:.3g} s of computing")
        if self.others:
            rows.append(f"{self.others} folders in {RUNS}/ are of earlier versions of the study, and not in its table")
        return "\n".join(rows)


def status_of(study: Study, folder: Path) -> Status:
    """Look at all runs."""
    jobs = [job for _, job in jobs_of(study, folder)]
    states = {job.label: state_of(job) for job in jobs}
    errors = {
        job.label: result.told(job)
        for job in jobs
        if states[job.label] in ("failed", "unmeasured", "begun") and (result := read_result(job)) is not None
    }
    there = {path.name for path in (folder / RUNS).glob("*")}
    counted = Counter(states.values())
    return Status(
        folder,
        len(jobs),
        {state: counted[state] for state in STATES},
        {label: error for label, error in errors.items() if error},
        sum(entry.get("seconds", 0.0) for job in jobs for entry in times_of(job.place)),
        len(there - states.keys()),
    )
