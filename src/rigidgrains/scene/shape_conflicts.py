"""What does not go together with grains that are not round, each told in one line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .errors import Problem, SceneError
from .formed import shapes_in_file
from .references import Tables, present
from .shape import ROUND

ROUND_ONLY = {
    "rolling": "rolling friction",
    "twisting": "twisting friction",
    "tangential_restitution": "it",
    "cohesion": "cohesion",
}
DEFORMS = ("rate", "stress", "pressure")


def shape_conflicts(cell: Any, tables: Tables, dimension: int) -> Iterator[Problem]:
    """Laws and cells that want round grains, where some are not."""
    shaped = shaped_groups(tables, dimension)
    straight = {t.name for _, _, t in present(tables, "shape") if not is_round(t, dimension)} - {*ROUND.values()}
    for _, index, inflow in present(tables, "inflow"):
        shaped += [f"inflow[{index}] has shape '{name}'" for name in inflow.shape or () if name in straight]
    if not shaped:
        return
    told = shaped[0]
    for key, index, table in present(tables, "material", "pair"):
        for word, law in ROUND_ONLY.items():
            if table.given(word) and getattr(table, word) != 0.0:
                message = f"{law} is for scenes where all grains are round, and {told}; remove it or the shape"
                yield Problem(f"{key}[{index}].{word}", getattr(table, word), message)
    for word in DEFORMS if cell is not None and cell.deforms else ():
        if cell.given(word):
            message = f"a cell can deform where all grains are round, and {told}; remove {word} or the shape"
            value = getattr(cell, word)
            yield Problem(f"cell.{word}", value.present() if hasattr(value, "present") else value, message)


def shaped_groups(tables: Tables, dimension: int) -> list[str]:
    """A sentence about each group with grains that are not round."""
    straight = {t.name for _, _, t in present(tables, "shape") if not is_round(t, dimension)}
    found = []
    for _, index, grains in present(tables, "grains"):
        kept = shapes_in_file(grains)
        if kept is not None and kept.catalogue is not None:
            others = np.flatnonzero(~kept.catalogue.round)
            found.append(f"those of grains[{index}] in its file have shape '{kept.catalogue.names[others[0]]}'")
        for name in grains.shape or ():
            if name in straight and name not in ROUND.values():
                found.append(f"grains[{index}] has shape '{name}'")
                break
    return found


def is_round(shape: Any, dimension: int) -> bool:
    """True for a shape that is a disk or sphere; one that cannot be made is blamed for itself alone."""
    if len(shape.kinds) != 1 or any(shape.dimension_mistakes(dimension, shape.kinds[0])):
        return True
    try:
        parts = shape.make(dimension).parts
    except SceneError:
        return True
    return len(parts) == 1 and len(parts[0].vertices) == 1
