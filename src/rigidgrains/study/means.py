"""The table of a study in words: a row for each point, with mean and standard error over its replicas."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .table import mean_and_error

if TYPE_CHECKING:
    from .study import Study


def means_of(study: Study, rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Heads of the columns, and the cells of each row."""
    body = []
    for first in range(0, len(rows), study.replicas):
        group = rows[first : first + study.replicas]
        done = sum(row["state"] == "done" for row in group)
        cells = [number(group[0][name]) for name in study.names] + [f"{done} of {len(group)}"]
        for name in study.measure:
            mean, error = mean_and_error([[row[name] for row in group]])
            cells.append(spread(float(mean[0]), float(error[0])))
        body.append(cells)
    return [*study.names, "runs", *study.measure], body


def number(value: Any) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6g}"
    return str(value)


def spread(mean: float, error: float) -> str:
    """A mean with its error, rounded to two digits of the error."""
    if math.isnan(mean):
        return ""
    if math.isnan(error) or error <= 0.0:
        return f"{mean:.6g}"
    digits = 1 - math.floor(math.log10(error))
    return f"{mean:.{digits}f} ± {error:.{digits}f}" if 0 <= digits <= 6 else f"{mean:.4g} ± {error:.2g}"
