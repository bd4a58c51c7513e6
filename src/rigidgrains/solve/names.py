"""The registry of solvers: methods, orders and criteria by the names that scenes, files and command lines use.

A file holds these names and the settings of each, never the place of a class in the program.
"""

from __future__ import annotations

from typing import Any

from .accelerated import AcceleratedSweeps
from .criteria import (
    FixedSweeps,
    GlobalCriterion,
    LocalCriterion,
    MomentumCriterion,
    OverlapCriterion,
    ResidualCriterion,
    RigidSweeps,
)
from .orders import ORDERS
from .relaxed import RelaxedSweeps
from .second_order import SecondOrder
from .sweeps import Sweeps

VERSION = 1  # of the settings; a change that older programs misread raises it

METHODS: dict[str, type[Sweeps]] = {
    "sweeps": Sweeps,
    "accelerated": AcceleratedSweeps,
    "relaxed": RelaxedSweeps,
    "second-order": SecondOrder,
}
CRITERIA: dict[str, type[Any]] = {
    "local": LocalCriterion,
    "global": GlobalCriterion,
    "fixed": FixedSweeps,
    "rigid": RigidSweeps,
    "residual": ResidualCriterion,
    "momentum": MomentumCriterion,
    "overlap": OverlapCriterion,
}
KINDS: dict[str, dict[str, type[Any]]] = {"method": METHODS, "order": dict(ORDERS), "criterion": CRITERIA}


def words_of(thing: Any, kind: str = "method") -> Any:
    """A solver with its order and criterion as plain words; None for a class that is not in the registry."""
    if thing is None or isinstance(thing, (bool, int, float, str)):
        return thing
    name = next((name for name, known in KINDS.get(kind, {}).items() if type(thing) is known), None)
    if name is None:
        return None
    settings = {key: words_of(value, key) for key, value in vars(thing).items() if not key.startswith("_")}
    return {"name": name, "version": VERSION, **settings}


def from_words(words: Any, kind: str = "method") -> Any:
    """The thing of which the words are; raises ValueError for what this version does not know.

    Earlier files have {"class": "module.Class"}: the class counts, wherever it is now.
    """
    if not isinstance(words, dict):
        return words
    settings = {key: from_words(value, key) for key, value in words.items() if key not in ("name", "class", "version")}
    said = words.get("name", str(words.get("class")).rpartition(".")[2])
    known = {own.__name__: own for own in KINDS.get(kind, {}).values()} | KINDS.get(kind, {})
    told = f"{said}({', '.join(f'{key} = {value!r}' for key, value in settings.items())})"
    if words.get("version", 1) > VERSION:
        raise ValueError(told)
    try:
        return known[said](**settings)
    except (KeyError, TypeError, ValueError):
        raise ValueError(told) from None
