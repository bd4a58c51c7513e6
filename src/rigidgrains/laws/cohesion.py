"""Cohesion: an attraction that the contact force has to overcome, R_n >= -F, |R_t| <= mu (R_n + F).

The attraction of a step is known at its beginning, so it acts on the bodies like an external force, and the shock law
finds the rest, N = R_n + F >= 0, as if there were none. Forces of the solver are (N, R_t), that of a frame is R.

    constant F up to a range (Kadau et al.)     acts on every pair that is nearer than the range
    range zero                                  acts on contacts: closed, N > 0, in the step before, or g <= 0
    F exp(-g/decay) up to a range               a liquid bridge: forms when grains touch, breaks at the range
                                                (the exponential form of Richefeu et al. for capillary bridges)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.law import Law
from .rows import Array, Rows, need


@dataclass
class Cohesion(Law):
    """Tables (k, k).

    force : N, at contact; range : m, the distance at which it ends; decay : m, over which it falls, inf for none
    """

    force: Array
    range: Array | float = 0.0
    decay: Array | float = np.inf

    memory = 1  # touched, and not further apart than the range since
    attracts = True

    def check(self) -> None:
        need("cohesion", self.force, 0.0, np.inf)
        need("range", np.asarray(self.range), 0.0, np.finfo(float).max)
        if not (np.asarray(self.decay) > 0.0).all():
            raise ValueError("decay is out of range; give a positive length")
        self.reach = float(np.max(self.range))

    def prepare(self, rows: Rows) -> None:
        gap = rows.gap
        bonded = (rows.memory[:, self.at] > 0.0) | (gap <= 0.0)
        reach, decay = rows.of_pair(np.asarray(self.range)), rows.of_pair(np.asarray(self.decay))
        near = gap <= reach
        acts = np.where(reach == 0.0, bonded, np.where(np.isinf(decay), near, near & bonded))
        pull = np.where(acts, rows.of_pair(self.force) * np.exp(-np.maximum(gap, 0.0) / decay), 0.0)
        rows.attract(pull)

    def conclude(self, rows: Rows) -> None:
        reach, gap = rows.of_pair(np.asarray(self.range)), rows.gap
        still = (rows.memory[:, self.at] > 0.0) & (gap <= reach) & (reach > 0.0)
        rows.memory[:, self.at] = (rows.repulsion > 0.0) | still


def bond_energy(gap: Array, force: Array, reach: Array, decay: Array) -> Array:
    """J, of bonds at given gaps (m): minus the work that it takes to part them; 0 beyond the range."""
    gap = np.maximum(gap, 0.0)
    with np.errstate(invalid="ignore"):
        falling = decay * (np.exp(-gap / decay) - np.exp(-reach / decay))
    return np.asarray(np.where(gap < reach, -force * np.where(np.isinf(decay), reach - gap, falling), 0.0))
