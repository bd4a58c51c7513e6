"""The associated law of friction: contacts open as they slide (dilatancy), and packings at rest find their forces.

Coulomb's law leaves many forces to a packing at rest, and as many to one that gives way under the same load. Sweeps
that build friction up from nothing end between the two: ever more contacts creep at their limit, and the load sinks.
Let a sliding contact open, V_n = mu |V_t|, and forces become those of a convex problem, whose velocities are unique: if
any forces hold the packing, sweeps find some that do. Where nothing slides the law is Coulomb's, so these are right.
Where contacts must slide they go on opening; then Coulomb's law takes over.

Such forces may come from nowhere: grains that fill a channel hold each other between its walls though nothing has ever
pressed them. So this is for packings that are known to carry their load, and begins only when asked for.
"""

from __future__ import annotations

import math

import numpy as np

from ..contacts.problem import ContactProblem
from ..model.columns import BRANCH, L, S, V
from ..model.turning import by_turning
from .criteria import Verdict
from .measures import Measures, measure

STILL = 1e-3  # of the mean |V| before any force acts: a contact with less is at rest
SPARE = 0.7  # of the momentum error that is allowed: single contacts settle at its cost
FALL = 0.97  # what slides must fall below this within L/d sweeps: what does not fall flows


class AssociatedStart:
    """Which law sweeps obey, decided before the first one, and again whenever the state is looked at.

    on : whether it is the associated one at present
    """

    on = False
    _closing = False  # Coulomb's law has the last word, for a few sweeps

    def begin(self, problem: ContactProblem, extent: float) -> None:
        """Where no forces are carried over and most contacts are at rest.

        extent : L/d
        """
        p = problem
        mu = p.friction
        cold = not p.repulsion.any()
        self.on = bool(cold and mu.any() and np.isfinite(mu).all() and _rests(p))
        self._extent, self._wait = extent, 0.0
        self._mark, self._slid = 0, math.inf

    def decide(self, problem: ContactProblem, verdict: Verdict, sweeps: int) -> bool:
        """Decide anew after so many sweeps; returns whether another law holds from now on."""
        if self.on:
            self._closing = verdict.nearly and verdict.share <= SPARE and sweeps >= self._wait
            self.on = not (self._closing or self._look_for_flow(problem, sweeps))
            return not self.on
        if self._closing and not verdict.nearly:  # single contacts have settled at the cost of all others
            self._closing, self.on, self._wait = False, True, sweeps + self._extent
            self._mark, self._slid = sweeps, math.inf
            return True
        return False

    def _look_for_flow(self, problem: ContactProblem, sweeps: int) -> bool:
        """Measure once in L/d sweeps what slides; returns whether it does so for good."""
        if sweeps < self._mark + self._extent:
            return False
        found, before = measure(problem), self._slid
        self._mark, self._slid = sweeps, found.slid
        return slides_for_good(found, before)


def slides_for_good(found: Measures, before: float) -> bool:
    """Whether what is left is what opens, R_n V_n = mu R_n |V_t|, or what slides has not fallen since the look before.

    before : `slid` of that look
    """
    return found.slid >= found.gained >= 2.0 * found.lost or found.slid > FALL * before


def _rests(problem: ContactProblem) -> bool:
    """Whether most contacts have no velocity yet: loads and gravity move walls and whole packings, not neighbours."""
    p = problem
    i, j = p.pairs[:, 0], p.pairs[:, 1]
    speed = p.motion[j, V] - p.motion[i, V]
    if p.levers is None:
        speed -= np.cross(p.motion[i, S] + p.motion[j, S], p.normal)
    else:
        speed += by_turning(p.levers, p.motion[i, S], p.motion[j, S])
    if p.branch is not None:
        speed += p.branch[:, [BRANCH]] * (p.normal @ p.flow[:, L].T)
    size = np.sqrt((speed**2).sum(axis=1))
    return bool(np.median(size) <= STILL * size.mean())
