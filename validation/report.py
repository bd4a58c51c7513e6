"""What all validations share: their options, a table of results against published numbers, a file of figures."""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Result:
    """A measured mean with its standard error, what was expected, and how far it may be away."""

    what: str
    value: float
    error: float
    expected: float
    within: float

    @property
    def agrees(self) -> bool:
        return abs(self.value - self.expected) <= self.within


class Options(argparse.Namespace):
    """quick : a small run; processes : runs at a time; json, figure : files to write"""

    quick: bool
    processes: int
    json: Path | None
    figure: Path | None

    def finish(self, results: Sequence[Result]) -> None:
        """Print the table, and write it if asked."""
        width = max(len(result.what) for result in results)
        print(f"{'':{width}}  {'measured':>20}  {'expected':>20}")
        for result in results:
            measured, expected = spread(result.value, result.error), spread(result.expected, result.within)
            print(f"{result.what:{width}}  {measured:>20}  {expected:>20}  {'agrees' if result.agrees else 'DIFFERS'}")
        if self.json:
            rows = [{**asdict(result), "agrees": result.agrees} for result in results]
            self.json.write_text(json.dumps(rows, indent=1) + "\n")


def settings(about: str | None) -> Options:
    """The options of a validation."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smaller system, to see that it runs")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="runs at a time")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--figure", type=Path, help="draw into this file")
    return parser.parse_args(namespace=Options())


def gauge(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard error of independent runs; an error of NaN for a single one."""
    some = np.asarray(values, dtype=float)
    return float(some.mean()), float(some.std(ddof=1) / math.sqrt(len(some))) if len(some) > 1 else math.nan


def spread(value: float, error: float) -> str:
    """A number with its error, both to the same place."""
    if not error > 0.0:
        return f"{value:.4g}"
    places = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:.{places}f} ± {error:.{places}f}"
