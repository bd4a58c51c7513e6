"""Run targets one after another; write figures, results.json and a page that shows them all."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from .. import __version__
from . import TARGETS
from .base import Result, Target, Tick
from .page import page


@dataclass
class Done:
    """A target that has run."""

    target: Target
    result: Result
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        return {
            "target": self.target.name,
            "title": self.target.title,
            "passed": self.result.passed,
            "seconds": round(self.seconds, 2),
            "rows": [row.as_dict() for row in self.result.rows],
            "notes": self.result.notes,
        }


def check_names(names: list[str]) -> list[Target]:
    """The targets asked for, in the order of the paper; raises ValueError that names the unknown ones."""
    unknown = [name for name in names if name not in TARGETS]
    if unknown:
        raise ValueError(f"no target is called {', '.join(map(repr, unknown))}; known are {', '.join(TARGETS)}")
    return [target for name, target in TARGETS.items() if name in names]


def reproduce(
    targets: list[Target], output: Path, *, quick: bool, watch: Callable[[Target], Tick] | None = None
) -> list[Done]:
    """Run the targets. After each one the folder holds all that is known so far: nothing is lost by an interruption.

    watch : makes the function that a target tells its progress
    """
    output.mkdir(parents=True, exist_ok=True)
    finished: list[Done] = []
    for target in targets:
        started = time.perf_counter()
        tick = watch(target) if watch else _ignore
        result = import_module(f".{target.module}", __package__).run(quick, tick)
        tick(1.0)
        for ending in ("png", "svg"):
            result.figure.savefig(output / f"{target.name}.{ending}", dpi=150)
        finished.append(Done(target, result, time.perf_counter() - started))
        record = {"version": __version__, "quick": quick, "targets": [done.as_dict() for done in finished]}
        (output / "results.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        (output / "index.html").write_text(page(record, output), encoding="utf-8")
    return finished


def _ignore(share: float) -> None:
    """Nobody watches."""
