"""The friction table: one coefficient for each pair of materials or walls with a coefficient of their own."""

from __future__ import annotations

import numpy as np

from .references import DEFAULT
from .scene import Scene
from .values import Array


class FrictionTable:
    """Rows are materials, and walls of a material with their own coefficient; row 0 is the default material."""

    def __init__(self, scene: Scene) -> None:
        self.rows: dict[tuple[str, float | None], int] = {(DEFAULT, None): 0}
        self.otherwise = scene.friction
        self.own = {material.name: material.friction for material in scene.material}
        self.pairs = {frozenset(pair.materials): pair.friction for pair in scene.pair}

    def row(self, material: str | None, own: float | None = None) -> int:
        """Row of a body: its material, and a wall's own coefficient."""
        return self.rows.setdefault((material or DEFAULT, own), len(self.rows))

    def table(self) -> Array:
        """Coefficients (k, k)."""
        keys = list(self.rows)
        return np.array([[self.coefficient(*a, *b) for b in keys] for a in keys])

    def coefficient(self, material: str, own: float | None, other: str, other_own: float | None) -> float:
        """The first that is given: the pair's, the wall's own, that of two of a kind, the scene's."""
        alike = self.own.get(material) if material == other else None
        candidates = (self.pairs.get(frozenset({material, other})), own, other_own, alike)
        return next((mu for mu in candidates if mu is not None), self.otherwise)
