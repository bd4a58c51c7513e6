"""Shares of the slow tests that take about equally long, by measured times: `slow_seconds.txt` beside this file.

A test that is not listed there counts as UNKNOWN seconds; every test is in exactly one share.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

SECONDS = Path(__file__).with_name("slow_seconds.txt")
UNKNOWN, LONG = 30.0, 100.0  # seconds; cases of a function stay together, with what they share, up to LONG


def function_of(case: str) -> str:
    """The test function of a case `file::function[values]`."""
    return case.partition("[")[0]


def measured() -> dict[str, float]:
    """Seconds of all slow cases of a function, by `file::function`."""
    lines = (line.split(maxsplit=1) for line in SECONDS.read_text(encoding="utf-8").splitlines() if line[:1] != "#")
    return {name: float(seconds) for seconds, name in lines}


def shares_of(cases: Iterable[str], shares: int, seconds: dict[str, float]) -> dict[str, int]:
    """The share of each case: the longest first, each into the share that has least."""
    functions: dict[str, list[str]] = {}
    for case in cases:
        functions.setdefault(function_of(case), []).append(case)
    parts: list[tuple[float, list[str]]] = []
    for name, together in functions.items():
        takes = seconds.get(name, UNKNOWN)
        if takes <= LONG:
            parts.append((takes, together))
        else:
            parts += [(takes / len(together), [case]) for case in together]
    load, found = [0.0] * shares, {}
    for takes, together in sorted(parts, key=lambda part: (-part[0], part[1])):
        least = load.index(min(load))
        load[least] += takes
        found |= dict.fromkeys(together, least)
    return found


def turned(cases: list[str], turn: int) -> list[str]:
    """The cases begun elsewhere in each turn: if time runs out, it is not always the same ones that are left."""
    start = int(len(cases) * (turn * 0.618 % 1.0))
    return cases[start:] + cases[:start]
