"""Add the figures of `rigidgrains bench --json` to history.jsonl: one line for a commit and a kind of machine.

    rigidgrains bench --quick --json | python benchmarks/record.py

`slower.py` compares such lines. A line of the same commit and machine is replaced.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import llvmlite.binding

HISTORY = Path(__file__).with_name("history.jsonl")


def flat(figures: dict[str, Any], before: str = "") -> dict[str, float]:
    """Numbers under names with dots; of lists, their items."""
    found: dict[str, float] = {}
    for name, value in figures.items():
        value = dict(enumerate(value)) if isinstance(value, list) else value
        if isinstance(value, dict):
            found |= flat(value, f"{before}{name}.")
        elif isinstance(value, int | float):
            found[f"{before}{name}"] = float(f"{value:.4g}")
    return found


def machine() -> str:
    """Kind of processor, system and Python: only lines that have these in common are compared."""
    return f"{llvmlite.binding.get_host_cpu_name()}, {platform.system()}, Python {platform.python_version_tuple()[1]}"


def commit() -> str:
    """The commit of the sources; with a + if they have been changed since."""
    told = ["git", "describe", "--always", "--abbrev=10", "--dirty=+"]
    return subprocess.run(told, capture_output=True, text=True, check=True, cwd=HISTORY.parent).stdout.strip()


def record(figures: dict[str, Any], path: Path = HISTORY) -> dict[str, Any]:
    """Add a line; gives it."""
    line = {"commit": commit(), "machine": machine(), "figures": flat(figures)}
    lines = [json.loads(old) for old in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    lines = [old for old in lines if any(old[name] != line[name] for name in ("commit", "machine"))]
    path.write_text("".join(json.dumps(one) + "\n" for one in [*lines, line]), encoding="utf-8")
    return line


if __name__ == "__main__":
    print(f"recorded {record(json.load(sys.stdin))['commit']} in {HISTORY.name}")
