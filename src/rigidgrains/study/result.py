"""What a run of a study has left in its folder: its end, its measures, and apart from them when and where it ran."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..files.outputs import whole
from .folder import Job

RESULT, TIMES, TRAJECTORY = "result.json", "times.json", "scene.vtkhdf"


@dataclass
class Result:
    """The outcome of one run; all of it is the same wherever and however often it was run.

    error  : why it failed; empty if it came to its end
    again  : whether that came from outside, a full disk or a dead worker: it is then tried again
    measures : for each name what was measured ("of", "code"), the "value" or None, and an "error"
    """

    mark: str
    error: str = ""
    again: bool = False
    steps: int = 0
    time: float = 0.0
    measures: dict[str, dict[str, Any]] = field(default_factory=dict)

    def state(self, job: Job) -> str:
        """done; failed; unmeasured if a measure failed; begun if a measure of the study is not there yet."""
        if self.error:
            return "begun" if self.again else "failed"
        told = [self.measures.get(name) for name in job.measures]
        if not all(one is not None and same(one["of"], wanted) for one, wanted in zip(told, job.wanted.values())):
            return "begun"
        return "unmeasured" if any(one and one["error"] for one in told) else "done"

    def value(self, name: str) -> float:
        """A measure; NaN if there is none."""
        value = self.measures.get(name, {}).get("value")
        return math.nan if value is None else float(value)

    def told(self, job: Job) -> str:
        """What went wrong, in one line."""
        wrong = [
            f"{name}: {one['error']}" for name in job.measures if (one := self.measures.get(name, {})).get("error")
        ]
        return "; ".join([self.error] if self.error else wrong)

    def save(self, folder: Path) -> None:
        with whole(folder / RESULT) as part:
            part.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")


def same(there: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether a measure is the one that is wanted; code that cannot be seen from here is taken to be the same."""
    return there == wanted or (not wanted["code"] and {**there, "code": ""} == wanted)


def read_result(job: Job) -> Result | None:
    """The result of a run; None if it has none, or one that is not its own."""
    try:
        result = Result(**json.loads((job.place / RESULT).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return result if result.mark == job.mark else None


def state_of(job: Job) -> str:
    """done, failed, unmeasured, begun or waiting."""
    result = read_result(job)
    if result is not None:
        return result.state(job)
    return "begun" if (job.place / TRAJECTORY).exists() else "waiting"


def add_times(folder: Path, entry: dict[str, Any]) -> None:
    """Keep when and where a worker had the run, apart from its results."""
    try:
        earlier = json.loads((folder / TIMES).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        earlier = []
    with whole(folder / TIMES) as part:
        part.write_text(json.dumps([*earlier, entry]) + "\n", encoding="utf-8")


def times_of(folder: Path) -> list[dict[str, Any]]:
    try:
        return list(json.loads((folder / TIMES).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return []
