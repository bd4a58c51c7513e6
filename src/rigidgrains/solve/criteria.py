"""Convergence criteria: when the sweeps of a step may stop.

dR is the change of a contact force over the last sweep; averages run over all candidates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol


class Criterion(Protocol):
    """A rule that ends the iteration of a step."""

    def tolerance(self, mean: float) -> tuple[float, float] | None:
        """(epsilon, delta) for counting unsettled contacts, given <|R|>; None when sweeps need not be watched."""

    def satisfied(self, sweeps: int, unsettled: int, mean: float, previous: float) -> bool:
        """True when no further sweep is needed, given <|R|> after the last two sweeps."""


@dataclass(frozen=True)
class LocalCriterion:
    """Eq. (localcrit): |dR| <= epsilon |R| + delta for every contact.

    delta : N, needed because tiny forces never settle; None takes epsilon <|R|>
    """

    epsilon: float = 1e-3
    delta: float | None = None

    def __post_init__(self) -> None:
        _check("epsilon", self.epsilon, least=0.0)
        if self.delta is not None:
            _check("delta", self.delta, least=0.0)

    def tolerance(self, mean: float) -> tuple[float, float]:
        return self.epsilon, self.epsilon * mean if self.delta is None else self.delta

    def satisfied(self, sweeps: int, unsettled: int, mean: float, previous: float) -> bool:
        return unsettled == 0


@dataclass(frozen=True)
class GlobalCriterion:
    """Eq. (globalcrit): the change of <|R|> is at most epsilon <|R|>."""

    epsilon: float = 1e-3

    def __post_init__(self) -> None:
        _check("epsilon", self.epsilon, least=0.0)

    def tolerance(self, mean: float) -> tuple[float, float]:
        return 0.0, 0.0

    def satisfied(self, sweeps: int, unsettled: int, mean: float, previous: float) -> bool:
        return abs(mean - previous) <= self.epsilon * mean


@dataclass(frozen=True)
class FixedSweeps:
    """Eq. (constNI): the same number of sweeps in every step."""

    sweeps: int

    def __post_init__(self) -> None:
        _check("sweeps", self.sweeps, least=1)

    def tolerance(self, mean: float) -> None:
        return None

    def satisfied(self, sweeps: int, unsettled: int, mean: float, previous: float) -> bool:
        return sweeps >= self.sweeps


def _check(name: str, value: float, *, least: float) -> None:
    if not least <= value < math.inf:
        raise ValueError(f"{name} = {value} makes no criterion; give a finite number of at least {least:g}")
