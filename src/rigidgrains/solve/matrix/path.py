"""Path following: from contacts that are all open to a solution, along a path that may turn back on its way.

Where heavy bodies press light ones that slide, there are several solutions and the way to any of them has turning
points: an interior point whose tau must fall gets stuck at the first. Here all contacts are pulled apart by t,

    u = W x + q + t n,   x o y = t depth n  (interior.py has the rest),

so that for a large t all is known. Points with these properties form a path, on which t falls to zero, rises again
beyond each turning point, and falls again: Lemke's method for linear problems, with smooth corners and round cones. The
way along it is not left to the sign of dt but to that of a determinant, which changes at each turning point.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .interior import INSIDE, Interior, Linear, apply, largest_step, product

Array = NDArray[np.float64]

APART = 10.0  # times the largest of q and W x: t at the beginning
NEAR, FAR = 2.0, 4.0  # factors between t depth and x o y: within the first a step goes on, to the second at most
SHORTEST = 0.95  # of t that a step may take away
TRIES = 16  # halvings of a step


@dataclass
class Path(Interior):
    """A point near the path.

    t      : how far contacts are pulled apart, in units of q
    depth  : x o y over t
    length : of the last step, 1 where t changes by itself and nothing else does
    """

    t: float = np.inf
    depth: float = 1.0
    length: float = 1.0
    _first: int = 0  # sign of the determinant where the path begins

    def begin(self, softness: float) -> None:
        """Where all contacts are open; x is then what they would press with, as soft as they may be."""
        n = np.zeros_like(self.x)
        n[:, 0] = 1.0
        self.depth = self._pressing(softness)
        self.x = self.depth * n
        self.t = APART * max(float(np.abs(self._velocity(self.x) - self.q).max()), float(np.abs(self.q).max()))
        self.u = self._velocity(self.x) + self.t * n
        self.length, self._first, self.tau = 1.0, 0, np.inf

    def _step(self) -> float:
        """Back to the path, and on along it if it is near; returns the part of that way, 0 if there is none."""
        x, u, t = self.x, self.u, self.t
        n = np.zeros_like(x)
        n[:, 0] = 1.0
        self.tau = tau = t * self.depth
        at = Linear.at(x, u)
        factors = self.system.factorise(at.left, np.tile(np.eye(3), (len(x), 1, 1)), self.scale)
        back = at.direction(factors, tau * n - product(at.middle, at.middle), self._velocity(x) + t * n - u)
        along = at.direction(factors, tau * n, t * n)  # as ln t grows by one
        self._first = self._first or factors.sign
        forward = -1.0 if factors.sign == self._first else 1.0

        def local(dx: Array, du: Array) -> Array:
            """As seen from here: 1 where x and y of all contacts change by themselves."""
            dy = du.copy()
            dy[:, 0] += (at.slip * du[:, 1:]).sum(1)
            return np.concatenate([apply(at.back, dx), apply(at.F, dy)]) / np.sqrt(tau * len(x))

        tangent = local(*along)
        size = float((tangent**2).sum()) + 1.0
        change = -float((local(*back) * tangent).sum()) / size  # of ln t, so that it is back at right angles
        if _strays(at, tau) <= NEAR:
            self.length = min(2.0 * self.length, np.sqrt(size))
            change += forward * self.length / np.sqrt(size)
        change = max(change, -SHORTEST)
        dx, du = back[0] + change * along[0], back[1] + change * along[1]
        reach = min(1.0, INSIDE * largest_step(x, u, dx, du))
        limit = max(FAR, _strays(at, tau))
        for _ in range(TRIES):
            there = x + reach * dx, u + reach * du
            if _strays(Linear.at(*there), tau * (1.0 + reach * change)) <= limit:
                self.x, self.u, self.t = *there, t * (1.0 + reach * change)
                return reach
            reach, self.length = 0.5 * reach, 0.5 * self.length
        return 0.0


def _strays(at: Linear, tau: float) -> float:
    """The largest factor between x o y and tau of any contact."""
    n, slid = at.middle[:, 0], np.linalg.norm(at.middle[:, 1:], axis=1)
    least, most = float(((n - slid) ** 2).min()), float(((n + slid) ** 2).max())
    factor = max(tau / least, most / tau) if least > 0.0 else np.inf
    return factor if np.isfinite(factor) else np.inf
