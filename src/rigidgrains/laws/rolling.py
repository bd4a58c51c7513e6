"""Rolling and twisting friction: a contact carries a torque T that stops the relative spin W as far as R_n allows.

    rolling    T_t across n, |T_t| <= mu_r R_n, against W_t; a disk, no box
    twisting   T_n along n,  |T_n| <= mu_t R_n, against W_n

Both coefficients are lengths. If the bound is not reached, that part of W is zero at the end of the step: the graph is
as steep as Coulomb's. T acts on body 1 and -T on body 0; walls take it without turning. In 2D all spin is rolling.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.columns import INV_SPIN
from ..model.law import Law
from .rows import Array, Rows, need


@dataclass
class Rolling(Law):
    """rolling : (k, k) mu_r (m); twisting : (k, k) mu_t (m); inf never rolls or twists"""

    rolling: Array
    twisting: Array | float = 0.0

    extended = True

    def check(self) -> None:
        need("rolling", self.rolling, 0.0, np.inf)
        need("twisting", np.asarray(self.twisting), 0.0, np.inf)

    def prepare(self, rows: Rows) -> None:
        bodies = rows.bodies
        i, j = rows.pairs[:, 0], rows.body
        curvature = np.append(1.0 / bodies.radius, np.zeros(len(bodies.walls)))
        spin = np.vstack([np.zeros((bodies.count, 3)), *(wall.drive.spin for wall in bodies.walls)])
        lever = 1.0 / (curvature[i] + curvature[j])
        rows.shares = np.stack([lever * curvature[i], lever * curvature[j]], axis=1)
        one, other = rows.motion[rows.pairs, INV_SPIN].T
        inverse = rows.shares[:, 0] ** 2 * one + rows.shares[:, 1] ** 2 * other
        rows.turning_mass = np.divide(1.0, inverse, out=np.zeros(len(inverse)), where=inverse > 0.0)
        rows.rolling_limit = rows.of_pair(self.rolling) / lever
        rows.twisting_limit = rows.of_pair(np.asarray(self.twisting)) / lever
        rows.wall_spin = lever[:, None] * spin[j]
        rows.lever = lever
