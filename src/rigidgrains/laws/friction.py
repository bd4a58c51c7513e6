"""Friction that depends on the history or on the speed of a contact. The coefficient of a step is known beforehand.

Static and sliding friction: a contact that slid in the step before has mu_d, any other mu_s: those that stuck, and new
ones. So a contact lets go at mu_s R_n, bears mu_d R_n from the next step on, and holds again after the first step in
which less than mu_d R_n was enough to stop it. Within a step the coefficient does not change: the law is Coulomb's, and
every solver finds its forces.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model.law import Law
from ..runtime.compiled import law as compile_law
from .rows import Array, Rows, need


@dataclass
class StaticFriction(Law):
    """mu_s of contacts that do not slide; mu_d is the friction of the bodies.

    static : (k, k)
    """

    static: Array

    memory = 1

    def check(self) -> None:
        need("static", self.static, 0.0, np.inf)

    def prepare(self, rows: Rows) -> None:
        slid = rows.memory[:, self.at] > 0.0
        rows.friction = np.where(slid, rows.friction, rows.of_pair(self.static))

    def conclude(self, rows: Rows) -> None:
        rows.memory[:, self.at] = rows.sliding


@dataclass
class SpeedFriction(Law):
    """mu(v): a function of the sliding speed at the beginning of the step, compiled by Numba.

    function : of the speed |V_t| (m/s) and of the coefficient that the contact would have otherwise, to a coefficient
               of friction; after StaticFriction that is mu_s or mu_d
    """

    function: Callable[[float, float], float]

    storable = False

    def __post_init__(self) -> None:
        compiled: Any = self.function if hasattr(self.function, "py_func") else compile_law(self.function)
        try:
            compiled(0.0, 0.5)
        except Exception as problem:  # Numba has many
            reason = str(problem).strip().splitlines()[0]
            raise ValueError(f"friction must be a function of speed and coefficient for Numba: {reason}") from None

        def fill(speed: Any, mu: Any) -> None:
            for c in range(len(speed)):
                mu[c] = compiled(speed[c], mu[c])

        self._fill: Any = compile_law(fill)

    def tables(self) -> dict[str, Any]:
        return {"function": np.ones((1, 1))}  # a mark: there was one

    def prepare(self, rows: Rows) -> None:
        speed = np.linalg.norm(rows.velocity_before[1], axis=1)
        mu = rows.friction.copy()
        self._fill(speed, mu)
        if not (mu >= 0.0).all():
            bad = int(np.flatnonzero(~(mu >= 0.0))[0])
            raise ValueError(f"friction {mu[bad]:g} at a speed of {speed[bad]:g} m/s; return a number of at least 0")
        rows.friction = mu
