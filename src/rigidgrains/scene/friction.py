"""The tables of coefficients: one for each pair of materials or walls with a friction of their own."""

from __future__ import annotations

import math

import numpy as np

from ..laws.cohesion import Cohesion
from ..laws.friction import StaticFriction
from ..laws.restitution import Restitution
from ..laws.rolling import Rolling
from ..model.law import Law
from .errors import Problem, SceneError
from .references import DEFAULT
from .scene import Scene
from .values import Array


class FrictionTable:
    """Rows are materials, and walls of a material with their own friction; row 0 is the default material.

    Everybody who will ever have a row is asked before any table is made: walls, grains, and grains yet to come.
    """

    def __init__(self, scene: Scene) -> None:
        self.rows: dict[tuple[str, float | None], int] = {(DEFAULT, None): 0}
        users = [(wall.material, wall.friction) for wall in scene.surfaces()]
        users += [(grains.material, None) for grains in scene.grains]
        users += [(inflow.material, None) for inflow in scene.inflow]
        for material, own in users:
            self.rows.setdefault((material or DEFAULT, own), len(self.rows))
        self.scene = scene
        self.own = {material.name: material for material in scene.material}
        self.pairs = {frozenset(pair.materials): pair for pair in scene.pair}

    def row(self, material: str | None, own: float | None = None) -> int:
        """Row of a body: its material, and a wall's own friction."""
        return self.rows[material or DEFAULT, own]

    def table(self) -> Array:
        """Friction coefficients (k, k)."""
        keys = list(self.rows)
        return np.array([[self.friction(*a, *b) for b in keys] for a in keys])

    def friction(self, material: str, own: float | None, other: str, other_own: float | None) -> float:
        """The first that is given: the pair's, the wall's own, that of two of a kind, the scene's."""
        candidates = (self.given("friction", material, other, alike=False), own, other_own)
        alike = self.given("friction", material, other)
        return next((mu for mu in (*candidates, alike) if mu is not None), self.scene.friction)

    def given(self, key: str, material: str, other: str, *, alike: bool = True) -> float | None:
        """What is given for two materials: by their pair, else by the material if they are alike."""
        pair = self.pairs.get(frozenset({material, other}))
        value = None if pair is None else getattr(pair, key)
        if value is None and alike and material == other and material in self.own:
            value = getattr(self.own[material], key)
        return None if value is None else float(value)

    def coefficients(self, key: str, otherwise: float) -> Array | None:
        """A table (k, k) of another coefficient; None where no material or pair gives it."""
        names = [material for material, _ in self.rows]
        values = [[self.given(key, a, b) for b in names] for a in names]
        if all(value is None for row in values for value in row):
            return None
        return np.array([[otherwise if value is None else value for value in row] for row in values])

    def or_zero(self, key: str) -> Array:
        """A table (k, k) of a coefficient, 0 where it is not given."""
        table = self.coefficients(key, 0.0)
        return np.zeros(2 * (len(self.rows),)) if table is None else table

    def laws(self) -> list[Law]:
        """The laws beyond plain friction that some material or pair asks for."""
        found: list[Law] = []
        if (static := self.coefficients("static_friction", math.nan)) is not None:
            sliding = self.table()
            static = np.where(np.isnan(static), sliding, static)
            self._check_static(static, sliding)
            found.append(StaticFriction(static))
        if (force := self.coefficients("cohesion", 0.0)) is not None:
            decay = self.coefficients("decay", math.inf)
            found.append(Cohesion(force, self.or_zero("range"), math.inf if decay is None else decay))
        if (normal := self.coefficients("restitution", 0.0)) is not None:
            found.append(Restitution(normal, self.or_zero("tangential_restitution"), self.or_zero("threshold")))
        if any(self.coefficients(key, 0.0) is not None for key in ("rolling", "twisting")):
            found.append(Rolling(self.or_zero("rolling"), self.or_zero("twisting")))
        return found

    def _check_static(self, static: Array, sliding: Array) -> None:
        """Raise where a static coefficient is less than the sliding one that another table gives."""
        for a, b in np.argwhere(static < sliding):
            names = [list(self.rows)[k][0] for k in (a, b)]
            told = f"between '{names[0]}' and '{names[1]}' static friction is less than sliding, {sliding[a, b]:g}"
            raise SceneError([Problem("static_friction", float(static[a, b]), f"{told}; give both in one table")])
