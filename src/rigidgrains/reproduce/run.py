"""Run targets one after another; write figures, results.json and a page that shows them all."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ..files.outputs import check_outputs
from ..runtime.version import __version__
from . import TARGETS
from .base import Result, Target, Tick
from .page import TITLE, page

RECORD, PAGE, FIGURES = "results.json", "index.html", ("png", "svg")


@dataclass
class Done:
    """A target that has run."""

    target: Target
    result: Result
    seconds: float
    quick: bool

    def as_dict(self) -> dict[str, Any]:
        return {
            "target": self.target.name,
            "title": self.target.title,
            "version": __version__,
            "quick": self.quick,
            "passed": self.result.passed,
            "seconds": round(self.seconds, 2),
            "figures": [*self.result.figures(self.target.name)],
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
    targets: list[Target],
    output: Path,
    *,
    quick: bool,
    force: bool = False,
    watch: Callable[[Target], Tick] | None = None,
) -> list[Done]:
    """Run the targets. After each one the folder holds all that is known so far: nothing is lost by an interruption.

    Targets of earlier runs stay on the page until they are run again.

    force : overwrite files in the folder that no earlier run has made
    watch : makes the function that a target tells its progress
    """
    known = earlier(output)
    ours = {name for target in known.values() for name in target.get("figures", [target["target"]])}
    new = [name for target in targets for name in target.figures if name not in ours]
    made = [output / f"{name}.{ending}" for name in new for ending in FIGURES]
    check_outputs(*made, *([] if known else [output / RECORD, output / PAGE]), force=force)
    output.mkdir(parents=True, exist_ok=True)
    finished: list[Done] = []
    for target in targets:
        started = time.perf_counter()
        tick = watch(target) if watch else _ignore
        result = import_module(f".{target.module}", __package__).run(quick, tick)
        tick(1.0)
        for name, figure in result.figures(target.name).items():
            for ending in FIGURES:
                figure.savefig(output / f"{name}.{ending}", dpi=150)
        finished.append(Done(target, result, time.perf_counter() - started, quick))
        known[target.name] = finished[-1].as_dict()
        order = [*TARGETS, *known]
        record = {"targets": sorted(known.values(), key=lambda one: order.index(one["target"]))}
        (output / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        (output / PAGE).write_text(page(record, output), encoding="utf-8")
    return finished


def earlier(folder: Path) -> dict[str, dict[str, Any]]:
    """What earlier runs left in a folder, by the names of their targets; empty where its files are not ours."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        if TITLE not in (folder / PAGE).read_text(encoding="utf-8"):
            return {}
        shared = {key: record[key] for key in ("version", "quick") if key in record}  # as earlier versions wrote it
        found = {known["target"]: shared | known for known in record["targets"]}
        page({"targets": [*found.values()]}, folder)
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return found


def _ignore(share: float) -> None:
    """Nobody watches."""
