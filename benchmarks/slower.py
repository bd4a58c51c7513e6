"""What got slower: the last line of history.jsonl against those before it from the same kind of machine.

    python benchmarks/slower.py             # exit code 1 if anything got slower
    python benchmarks/slower.py --by 0.2    # by more than 20 %

A figure is told if it is worse than the median of up to ten lines before by more than 10 % and by more than three times
their scatter. On a machine that does other things at the same time such lines say little.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from statistics import median
from typing import Any

HISTORY = Path(__file__).with_name("history.jsonl")
LINES = 10
MORE_IS_BETTER = ("updates_per_second.", "kinds.", "speed_up")
NOT_JUDGED = ("shares.", "threads")  # shares of a step add up to one


def slower(lines: list[dict[str, Any]], by: float = 0.1) -> list[tuple[str, float, float]]:
    """Name, median before, and now, of each figure that got worse."""
    last = lines[-1]
    before = [line["figures"] for line in lines[:-1] if line["machine"] == last["machine"]][-LINES:]
    found = []
    for name, now in last["figures"].items():
        had = [figures[name] for figures in before if name in figures]
        if not had or name.startswith(NOT_JUDGED):
            continue
        middle = median(had)
        scatter = 1.48 * median(abs(value - middle) for value in had)
        worse = middle - now if name.startswith(MORE_IS_BETTER) else now - middle
        if worse > max(by * middle, 3.0 * scatter):
            found.append((name, middle, now))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="What got slower since the last commits.")
    parser.add_argument("--by", type=float, default=0.1, help="share that is told; default 0.1")
    asked = parser.parse_args()
    lines = [json.loads(line) for line in HISTORY.read_text(encoding="utf-8").splitlines()] if HISTORY.exists() else []
    if len(lines) < 2:
        print("nothing to compare with yet")
        return
    found = slower(lines, asked.by)
    for name, before, now in found:
        print(f"{name}: {before:.4g} -> {now:.4g}")
    print(f"{lines[-1]['commit']}: {len(found) or 'nothing'} got slower")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
