"""Newton's restitution: a contact that is about to collide is to leave at e_n times the speed at which it came.

For each contact the shock law demands V_n >= b, with b = -g/dt as long as nothing rebounds. Here

    b = -e_n V_n_before      if V_n_before < -threshold and the gap would close within the step,
    b <= -V_n_before         if it was opening: an overlap that was just given up may come back, but no deeper.

Since b <= -V_n_before at every contact, normal forces give no energy: their work is the sum of
R_n dt (b + V_n_before)/2 (Moreau), and no term is positive, whatever the mixture of coefficients. Friction together
with Newton's law may still give some, when several contacts are struck at once (Kane). Then the coefficients of that
cluster are lowered in that step, and it is solved again; without rebound contact forces give no energy at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..detect.clusters import unite
from .base import Array, Law, Rows, need
from .blows import ALONE, FOLLOWED, follow

ROUNDING = 1e-9  # of the work that contacts do: energy that is none
CARE = 2.0, 4.0  # times the excess by which a first and a second correction lower the rebound; a third one ends it


@dataclass
class Restitution(Law):
    """Tables (k, k).

    normal     : e_n, 0 to 1
    tangential : e_t, -1 to 1: sticking means V_t = -e_t V_t_before; needs friction to act
    threshold  : m/s, slower contacts do not rebound
    """

    normal: Array
    tangential: Array | float = 0.0
    threshold: Array | float = 0.0

    memory = 3  # share taken off the coefficients within a step; how often that was done; 1 for a blow in the step before

    def check(self) -> None:
        need("restitution", self.normal, 0.0, 1.0)
        need("tangential restitution", np.asarray(self.tangential), -1.0, 1.0)
        need("threshold", np.asarray(self.threshold), 0.0, np.inf)
        self.extended = bool(np.any(self.tangential))

    def prepare(self, rows: Rows) -> None:
        before, slip = rows.velocity_before
        free, _ = rows.contact_velocity(rows.motion)
        gap, keep = rows.geometry[:, 3].copy(), 1.0 - rows.memory[:, self.at]
        threshold = rows.of_pair(np.asarray(self.threshold))
        self._collides = rebounds(before, free, gap, threshold, rows.dt)
        e_n, e_t = keep * rows.of_pair(self.normal), keep * rows.of_pair(np.asarray(self.tangential))
        limit = np.maximum(gap, before * rows.dt)
        rows.geometry[:, 3] = np.where(self._collides, e_n * before * rows.dt, limit)
        slip = np.where(self._collides, e_t, 0.0)[:, None] * slip
        rows.forces[rows.memory[:, self.at + 2] > 0.0] = 0.0  # of a blow that is over
        self._mark = np.zeros(len(gap), np.int8)
        if (self._collides & (e_n > 0.0)).any() and not gives_way(rows):
            coefficients = np.stack([e_n, e_t, threshold], axis=1)
            blows = follow(
                self._collides, rows.pairs, rows.geometry, limit, rows.before, rows.drift, free - before, coefficients,
                rows.dt,
            )  # fmt: skip
            known = (blows.mark == ALONE) | (blows.mark == FOLLOWED)
            rows.forces[known] = 0.0
            rows.forces[known, 0:4] = blows.impulse[known] / rows.dt
            chained = (blows.mark == FOLLOWED) & (blows.impulse[:, 0] > 0.0)
            rows.geometry[chained, 3] = -blows.v_n[chained] * rows.dt
            slip[chained] = np.where(e_t[chained, None] != 0.0, -blows.v_t[chained], 0.0)
            self._mark = blows.mark
        if rows.extra is not None:
            rows.extra[:, 0:3] = slip
    def accepts(self, rows: Rows) -> bool:
        """False where contacts of a cluster gave energy; their rebound is then lowered."""
        rebound = -rows.geometry[:, 3] / rows.dt * rows.forces[:, 0]
        if not (rebound > 0.0).any():
            return True
        work = contact_work(rows)
        of = clusters(rows)
        gained, scale, cause = (np.bincount(of, w) for w in (work, work_scale(rows), np.maximum(rebound, 0.0)))
        guilty = (gained > ROUNDING * scale) & (cause > 0.0)
        if not guilty.any():
            return True
        share, tries = rows.memory[:, self.at], rows.memory[:, self.at + 1]
        made = np.zeros_like(gained)
        np.maximum.at(made, of, tries)
        care = np.array([*CARE, np.inf])[np.minimum(made, len(CARE)).astype(np.int64)]
        lower = np.ones_like(gained)
        lower[guilty] = 1.0 - np.minimum(1.0, care[guilty] * gained[guilty] / cause[guilty])
        share[:] = 1.0 - (1.0 - share) * lower[of]
        tries[:] = (made + guilty)[of]
        return False

    def conclude(self, rows: Rows) -> None:
        rows.memory[:, self.at : self.at + 2] = 0.0
        rows.memory[:, self.at + 2] = (self._collides | (self._mark > 0)) & (rows.forces[:, 0] > 0.0)


def rebounds(before: Array, free: Array, gap: Array, threshold: Array, dt: float) -> NDArray[np.bool_]:
    """(c,) True for contacts that came faster than the threshold and would close their gap within the step."""
    return np.asarray((before < -threshold) & (gap + dt * np.minimum(before, free) <= 0.0))


def gives_way(rows: Rows) -> bool:
    """True when forces move the cell: then every blow is felt by all contacts at once."""
    return rows.bodies.flows and bool((rows.bodies.flow[:, 3:7] != 0.0).any())


def clusters(rows: Rows) -> NDArray[np.int32]:
    """(c,) the cluster of each contact: bodies that give way, joined by contacts with a force."""
    bodies = rows.bodies.count + len(rows.bodies.walls)
    joined = (rows.forces[:, 0] > 0.0) & (rows.motion[rows.pairs[:, 1], 6] > 0.0)
    return unite(rows.pairs, joined, bodies)[rows.pairs[:, 0]]


def work_scale(rows: Rows) -> Array:
    """(c,) W, the numbers that the work of each contact is made of, added up: rounding is relative to this."""
    before_n, before_t = rows.velocity_before
    v_n, v_t = rows.contact_velocity(rows.motion)
    speed = np.abs(before_n) + np.abs(v_n) + np.abs(before_t).sum(axis=1) + np.abs(v_t).sum(axis=1)
    return np.asarray(np.abs(rows.forces).sum(axis=1) * speed)


def contact_work(rows: Rows) -> Array:
    """(c,) W, R (V + V_before)/2 of each contact, and the same of torques: the energy that it gives to its bodies."""
    before_n, before_t = rows.velocity_before
    v_n, v_t = rows.contact_velocity(rows.motion)
    work = rows.forces[:, 0] * (before_n + v_n) + (rows.forces[:, 1:4] * (before_t + v_t)).sum(axis=1)
    if rows.extra is not None:
        spin = rows.before[:, 3:6] + rows.motion[:, 3:6]
        i, j = rows.pairs.T
        turning = rows.extra[:, 4:5] * spin[j] - rows.extra[:, 3:4] * spin[i] + 2.0 * rows.extra[:, 8:11]
        work = work + (rows.forces[:, 4:7] * turning).sum(axis=1)
    return np.asarray(0.5 * work)
