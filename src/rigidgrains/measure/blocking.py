"""Error of the mean of a correlated series, by blocking: Flyvbjerg and Petersen, J. Chem. Phys. 91 (1989) 461."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .state import Array, double

ERROR = 1  # column of the blocks


class Blocking(NamedTuple):
    """mean, its standard error, and blocks (levels, 3): length of a block, error at that length, error of the error."""

    mean: float
    error: float
    blocks: Array

    @property
    def settled(self) -> bool:
        """False when the series is too short for its correlation: then the error is only a lower bound."""
        return _level(self.blocks) is not None


def blocking(series: Any) -> Blocking:
    """Mean and standard error of a series of correlated numbers.

    Neighbours are averaged in pairs again and again; once blocks are uncorrelated the error rises no more. Taken is the
    first length B with B^3 > 2 N (error_B/error_1)^4, where the bias that is left and the scatter are alike
    (Wolff, Comput. Phys. Commun. 156 (2004) 143; Lee et al., Phys. Rev. E 83 (2011) 066706). If there is none, the
    largest error of all lengths is given and `settled` is False.
    """
    x = double(series)
    if x.ndim != 1 or len(x) < 2 or not np.all(np.isfinite(x)):
        raise ValueError(f"a series of shape {x.shape} has no error; give 2 or more finite numbers in a row")
    mean, blocks, length = float(x.mean()), [], 1
    while len(x) >= 2:
        error = math.sqrt(float(x.var()) / (len(x) - 1))
        blocks.append((length, error, error / math.sqrt(2.0 * (len(x) - 1))))
        x = 0.5 * (x[: len(x) // 2 * 2 : 2] + x[1::2])
        length *= 2
    table = np.array(blocks)
    level = _level(table)
    return Blocking(mean, float(table[:, ERROR].max() if level is None else table[level, ERROR]), table)


def _level(blocks: Array) -> int | None:
    """Row of the first length that is long enough."""
    length, error, scatter = blocks.T
    if error[0] == 0.0:
        return 0
    count = 0.5 * (error[0] / scatter[0]) ** 2 + 1.0
    enough = np.flatnonzero(length**3 > 2.0 * count * (error / error[0]) ** 4)
    return int(enough[0]) if len(enough) else None
