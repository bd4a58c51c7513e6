"""The tables of coefficients: one for each pair of materials or walls with a friction of their own."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..laws import LAWS
from ..model.coefficients import Coefficient, coefficients_of
from ..model.law import Law
from .errors import Problem, SceneError
from .references import DEFAULT
from .scene import Scene
from .values import Array

DENSITY = 2500.0  # kg/m^3, of grains and materials that give none


class FrictionTable:
    """Rows are materials, and walls of a material with their own friction; row 0 is the default material.

    Everybody who will ever have a row is asked before any table is made: walls, grains, and grains yet to come.
    """

    def __init__(self, scene: Scene, later: Iterable[Scene] = ()) -> None:
        """later : the scene as it is in stages, whose walls may have a friction of their own."""
        self.rows: dict[tuple[str, float | None], int] = {(DEFAULT, None): 0}
        users = [(wall.material, wall.friction) for one in (scene, *later) for wall in one.surfaces()]
        users += [(name, None) for grains in scene.grains for name in grains.materials]
        users += [(inflow.material, None) for inflow in scene.inflow]
        for material, own in users:
            self.rows.setdefault((material or DEFAULT, own), len(self.rows))
        self._take(scene)

    def of(self, scene: Scene) -> FrictionTable:
        """The same rows, with the coefficients of the scene as it is in a stage."""
        other = copy.copy(self)
        other._take(scene)
        return other

    def _take(self, scene: Scene) -> None:
        self.scene = scene
        self.own = {material.name: material for material in scene.material}
        self.pairs = {frozenset(pair.materials): pair for pair in scene.pair}

    @property
    def names(self) -> list[str]:
        """Of the rows: each has a name of its own, also those of walls of one material with frictions of their own."""
        return [name if own is None else f"{name} (friction {own!r})" for name, own in self.rows]

    def density(self, material: str | None) -> float:
        """kg/m^3 of grains of a material that give none of their own."""
        own = self.own.get(material or DEFAULT)
        return DENSITY if own is None or own.density is None else own.density

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

    def laws(self) -> list[Law]:
        """The laws beyond plain friction that some material or pair asks for."""
        return [kind(**tables) for name, kind in LAWS.items() if (tables := self._tables(name))]

    def _tables(self, law: str) -> dict[str, Any]:
        """The coefficients of a law by the names of its fields; none if nobody asks for it."""
        own = coefficients_of(law)
        given = {one.key: self._given(one) for one in own}
        if all(given[one.key] is None for one in own if not one.needs):
            return {}
        return {one.table: self._otherwise(one) if (t := given[one.key]) is None else t for one in own}

    def _given(self, one: Coefficient) -> Array | None:
        """A table (k, k) of a coefficient; None where no material or pair gives it."""
        names = [material for material, _ in self.rows]
        values = [[self.given(one.key, a, b) for b in names] for a in names]
        if all(value is None for row in values for value in row):
            return None
        absent = math.nan if one.otherwise is None else one.otherwise
        table = np.array([[absent if value is None else value for value in row] for row in values])
        if one.otherwise is None:
            sliding = self.table()
            table = np.where(np.isnan(table), sliding, table)
            self._check_static(table, sliding)
        return table

    def _otherwise(self, one: Coefficient) -> Array | float | None:
        """What stands for a coefficient that nobody gives: a table as of the others, or one number for no bound."""
        finite = one.otherwise is not None and math.isfinite(one.otherwise)
        return np.full(2 * (len(self.rows),), one.otherwise) if finite else one.otherwise

    def _check_static(self, static: Array, sliding: Array) -> None:
        """Raise where a static coefficient is less than the sliding one that another table gives."""
        for a, b in np.argwhere(static < sliding):
            names = [list(self.rows)[k][0] for k in (a, b)]
            told = f"between '{names[0]}' and '{names[1]}' static friction is less than sliding, {sliding[a, b]:g}"
            raise SceneError([Problem("static_friction", float(static[a, b]), f"{told}; give both in one table")])
