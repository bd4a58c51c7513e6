"""What a target of `rigidgrains reproduce` returns: rows of numbers held against the paper, and a figure."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

# Colours that the colour-blind can tell apart, in the order in which to use them.
INKS = ("#1f5a92", "#b3382c", "#2f7d5b", "#8c6bb1", "#c98a1b", "#5c5c5c")
Tick = Callable[[float], None]  # told the share of the work that is done, 0 to 1


@dataclass(frozen=True)
class Row:
    """One number held against the paper or theory.

    expected  : what the paper says, or a theory worked out in the docs; `source` tells which
    rule      : "equal" within the tolerance, or "above" / "below" the expected value
    tolerance : absolute
    error     : standard error of the measured value, nan where there is none
    """

    quantity: str
    expected: float
    measured: float
    tolerance: float = 0.0
    rule: Literal["equal", "above", "below"] = "equal"
    error: float = math.nan
    unit: str = ""
    source: str = ""

    @property
    def passed(self) -> bool:
        """The verdict."""
        if self.rule == "above":
            return self.measured > self.expected
        if self.rule == "below":
            return self.measured < self.expected
        return abs(self.measured - self.expected) <= self.tolerance

    def as_dict(self) -> dict[str, Any]:
        """For results.json: numbers that are not finite become null."""
        numbers = {"paper": self.expected, "measured": self.measured, "tolerance": self.tolerance, "error": self.error}
        finite = {name: value if math.isfinite(value) else None for name, value in numbers.items()}
        return {
            "quantity": self.quantity, **finite, "rule": self.rule, "unit": self.unit, "source": self.source,
            "verdict": "pass" if self.passed else "fail",
        }  # fmt: skip


@dataclass
class Result:
    """Rows, figures and, in a sentence or two, what is to be seen.

    more : further figures, by a short name that goes into the names of their files
    """

    rows: list[Row]
    figure: Figure
    notes: list[str] = field(default_factory=list)
    more: dict[str, Figure] = field(default_factory=dict)

    def figures(self, target: str) -> dict[str, Figure]:
        """All figures, by the names of their files without ending."""
        return {target: self.figure} | {f"{target}-{name}": figure for name, figure in self.more.items()}

    @property
    def passed(self) -> bool:
        return all(row.passed for row in self.rows)


@dataclass(frozen=True)
class Target:
    """One figure or claim of the paper.

    module : name of the module beside this one; its `run(quick, tick) -> Result` does the work
    more   : names of the further figures that its result has
    """

    name: str
    title: str
    module: str
    more: tuple[str, ...] = ()

    @property
    def figures(self) -> list[str]:
        """Names of the files with its figures, without ending."""
        return [self.name, *(f"{self.name}-{name}" for name in self.more)]


def new_figure(rows: int = 1, columns: int = 1, *, width: float = 8.0, height: float = 5.0) -> tuple[Figure, Any]:
    """A figure in house style and its axes (an array when there are several)."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns)
    for panel in [axes] if rows * columns == 1 else axes.flat:
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(color="#8a8a8a", alpha=0.25, lw=0.5)
    return figure, axes
