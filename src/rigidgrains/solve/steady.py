"""The extrapolation factor beta: Nesterov's, which rises to one, and later one on which changes and steps agree.

A real mode with too large a beta has a cosine near 0 between what a sweep changes and the step that forces have taken,
one with too small a beta near 1, a complex pair that neither grows nor decays about 0.5.
"""

from __future__ import annotations

import math

AT_REST, IN_FLOW = 0.8, 0.9  # the cosine that a steady beta keeps: less means that beta is too large
GAIN = 0.05  # of 1 - beta, per sweep, by what the cosine lacks
LEAST, MOST = 0.01, 0.5  # of 1 - beta


class ExtrapolationFactor:
    """The factor beta of the next sweep, for a packing of so many grains across.

    steady : whether it is bound by the cosine
    """

    def __init__(self, extent: float) -> None:
        self.steady, self._cosine = False, AT_REST
        self._damping = min(1.0 / extent, MOST)
        self.begin_anew()

    def begin_anew(self) -> None:
        """No extrapolation."""
        self._theta, self.beta = 1.0, 0.0

    def keep_steady(self, *, flows: bool) -> None:
        """From now on up to a bound that follows the cosine. Where contacts slide, complex pairs ask for less."""
        self.steady, self._cosine = True, IN_FLOW if flows else AT_REST

    def lower(self) -> None:
        """So small that hardly anything oscillates; the cosine of flow may raise it again."""
        self._damping, self._cosine = MOST, IN_FLOW

    def rise(self, cosine: float) -> None:
        """A larger beta, as Nesterov has it, up to the bound."""
        theta = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * self._theta**2))
        self._theta, self.beta = theta, (self._theta - 1.0) / theta
        if self.steady and self.beta >= 1.0 - self._damping:
            self._damping = min(max(self._damping * math.exp(GAIN * (self._cosine - cosine)), LEAST), MOST)
            self.beta = min(self.beta, 1.0 - self._damping)
