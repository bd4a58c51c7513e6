"""Newton's restitution: a contact that is about to collide is to leave at e_n times the speed at which it came.

For each contact the shock law demands V_n >= b, with b = -g/dt as long as nothing rebounds. Here

    b = -e_n V_n_before      if V_n_before < -threshold and the gap would close within the step,
    b <= -V_n_before         if it was opening: an overlap that was just given up may come back, but no deeper.

Since b <= -V_n_before at every contact, normal forces give no energy: their work is the sum of
R_n dt (b + V_n_before)/2 (Moreau), and no term is positive, whatever the mixture of coefficients. Friction together
with Newton's law may still give some, when several contacts are struck at once (Kane). Then the coefficients of that
cluster are lowered in that step, and it is solved again; without rebound contact forces give no energy at all.

Contacts that a grain meets after its first rebound in a step are reached by `blows.py`, where chains can be followed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..detect.clusters import unite
from ..model.columns import A_0, A_1, INV_MASS, INV_SPIN, MOBILITY, R_N, R_Z, Q, S, V, W
from ..model.law import Law, Ledger
from .blows import ALONE, FOLLOWED, TOO_LARGE, follow
from .rows import Array, Rows, need

ROUNDING = 1e-11  # of force times speed: energy that is none
CARE = 2.0, 4.0  # times the excess by which a first and a second correction lower the rebound; a third one ends it
FREE, STRUCK, HELD = 0.0, 1.0, 2.0  # what a contact did in the step before: no force, a blow that is over, or neither


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

    memory = (
        3  # share taken off the coefficients within a step; how often that was done; 1 for a blow in the step before
    )

    def check(self) -> None:
        need("restitution", self.normal, 0.0, 1.0)
        need("tangential restitution", np.asarray(self.tangential), -1.0, 1.0)
        need("threshold", np.asarray(self.threshold), 0.0, np.inf)
        self.extended = bool(np.any(self.tangential))
        self._collides, self._mark = np.zeros(0, np.bool_), np.zeros(0, np.int8)

    def prepare(self, rows: Rows) -> None:
        if not len(rows.pairs):
            self._collides, self._mark = np.zeros(0, np.bool_), np.zeros(0, np.int8)
            return
        before, slip = rows.velocity_before
        free, _ = rows.contact_velocity(rows.motion)
        share, _, last = self._columns(rows)
        threshold, gap = rows.of_pair(np.asarray(self.threshold)), rows.to_close.copy()
        e_n, e_t = ((1.0 - share) * rows.of_pair(np.asarray(e)) for e in (self.normal, self.tangential))
        self._collides = rebounds(before, free, gap, threshold, rows.dt)
        limit = np.maximum(gap, before * rows.dt)
        rows.to_close = np.where(self._collides, e_n * before * rows.dt, limit)
        slip = np.where(self._collides, e_t, 0.0)[:, None] * slip
        rows.forces[last == STRUCK] = 0.0  # that blow is over
        self._mark = np.zeros(len(gap), np.int8)
        if (self._collides & (e_n > 0.0)).any() and rows.levers is None and not gives_way(rows):
            blows = follow(
                self._collides, last == HELD, share >= 1.0, rows.pairs, rows.geometry, limit, rows.before, rows.drift,
                free - before, np.stack([e_n, e_t, threshold], axis=1), rows.dt,
            )  # fmt: skip
            known, chain = blows.mark == ALONE, blows.mark == FOLLOWED
            rows.forces[known | chain] = 0.0
            rows.forces[known | chain, : R_Z + 1] = blows.impulse[known | chain] / rows.dt
            struck = blows.impulse[:, R_N] > 0.0
            rows.to_close[chain] = np.where(struck, np.minimum(-blows.v_n * rows.dt, limit), limit)[chain]
            slip[chain] = np.where((struck & (e_t != 0.0))[:, None], -blows.v_t, 0.0)[chain]
            self._mark = blows.mark
        if rows.extra is not None:
            rows.rebound = -slip

    def accepts(self, rows: Rows) -> bool:
        """False where contacts of a cluster gave energy; their rebound is then lowered."""
        rebound = -rows.to_close / rows.dt * rows.repulsion
        if not (rebound > 0.0).any():
            return True
        work = contact_work(rows)
        of = clusters(rows, self._mark == FOLLOWED)
        gained, scale, cause = (np.bincount(of, w) for w in (work, work_scale(rows), np.maximum(rebound, 0.0)))
        guilty = (gained > ROUNDING * scale) & (cause > 0.0)
        if not guilty.any():
            return True
        share, tries, _ = self._columns(rows)
        made = np.zeros_like(gained)
        np.maximum.at(made, of, tries)
        care = np.array([*CARE, np.inf])[np.minimum(made, len(CARE)).astype(np.int64)]
        lower = np.ones_like(gained)
        lower[guilty] = 1.0 - np.minimum(1.0, care[guilty] * gained[guilty] / cause[guilty])
        share[:] = 1.0 - (1.0 - share) * lower[of]
        tries[:] = (made + guilty)[of]
        return False

    def conclude(self, rows: Rows) -> None:
        self.ledger = self._balance(rows)
        share, tries, last = self._columns(rows)
        share[:] = tries[:] = 0.0
        last[:] = np.where((self._mark == ALONE) | (self._mark == FOLLOWED), STRUCK, HELD)
        last[rows.repulsion <= 0.0] = FREE

    def take_back(self, rows: Rows) -> None:
        share, tries, _ = self._columns(rows)
        share[:] = tries[:] = 0.0

    def missed(self, rows: Rows) -> float:
        """Energy that blows among too many free grains have lost, over what all blows of the step brought.

        It counts where the law gives back more than it takes, e_n^2 > 1/2, and there by the difference.
        """
        before, _ = rows.velocity_before
        e_n, pressed = rows.of_pair(self.normal), rows.repulsion > 0.0
        brought = float((0.5 * rows.normal_mass * before**2)[self._collides & pressed].sum())
        weight = np.maximum(2.0 * e_n**2 - 1.0, 0.0)
        lost = float((weight * self._plastic(rows))[self._mark == TOO_LARGE].sum())
        return lost / brought if brought > 0.0 else 0.0

    def _columns(self, rows: Rows) -> Array:
        """(3, c) its memory."""
        return rows.memory[:, self.at : self.at + self.memory].T

    def _plastic(self, rows: Rows) -> Array:
        """(c,) J, what contacts took that were to rebound, had the step found them in time."""
        before, _ = rows.velocity_before
        met = rows.repulsion * rows.dt  # N s
        late = ~self._collides & (self._mark != ALONE) & (self._mark != FOLLOWED)
        late &= met > rows.of_pair(np.asarray(self.threshold)) * rows.normal_mass
        return np.where(late, np.maximum(0.5 * met * (rows.to_close / rows.dt - before), 0.0), 0.0)

    def _balance(self, rows: Rows) -> Ledger:
        """What the step has lost beyond the law: late blows met without rebound, and rebounds that were lowered."""
        before, _ = rows.velocity_before
        e_n, share = rows.of_pair(self.normal), self._columns(rows)[0]
        late = float((e_n**2 * self._plastic(rows)).sum())
        lowered = float((0.5 * rows.dt * rows.repulsion * e_n * share * np.abs(before))[self._collides].sum())
        v, s, mass, turn = rows.before[:, V], rows.before[:, S], rows.before[:, INV_MASS], rows.before[:, INV_SPIN]
        kinetic = sum(
            float(((u * u).sum(axis=1)[some := by > 0.0] / by[some]).sum()) for u, by in ((v, mass), (s, turn))
        )
        return Ledger(late + lowered, max(-rows.dt * float(contact_work(rows).sum()), 0.0), 0.5 * kinetic)


def rebounds(before: Array, free: Array, gap: Array, threshold: Array, dt: float) -> NDArray[np.bool_]:
    """(c,) True for contacts that came faster than the threshold and would close their gap within the step."""
    return np.asarray((before < -threshold) & (gap + dt * np.minimum(before, free) <= 0.0))


def gives_way(rows: Rows) -> bool:
    """True when forces move the cell: then every blow is felt by all contacts at once."""
    return rows.bodies.flows and bool((rows.bodies.flow[:, MOBILITY] != 0.0).any())


def clusters(rows: Rows, chain: NDArray[np.bool_]) -> NDArray[np.int32]:
    """(c,) the cluster of each contact: bodies that give way, joined by contacts with a force, or of a chain (c,)."""
    bodies = rows.bodies.count + len(rows.bodies.walls)
    joined = ((rows.repulsion > 0.0) | chain) & (rows.motion[rows.pairs[:, 1], INV_MASS] > 0.0)
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
    work = rows.repulsion * (before_n + v_n) + (rows.tangential_force * (before_t + v_t)).sum(axis=1)
    if rows.extra is not None:
        spin = rows.before[:, S] + rows.motion[:, S]
        i, j = rows.pairs.T
        turning = rows.extra[:, A_1, None] * spin[j] - rows.extra[:, A_0, None] * spin[i] + 2.0 * rows.extra[:, W]
        work = work + (rows.forces[:, Q] * turning).sum(axis=1)
    return np.asarray(0.5 * work)
