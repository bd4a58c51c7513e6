"""The registry of solvers: methods, orders and criteria by the names that scenes, files and command lines use.

A file holds these names and the settings of each, never the place of a class in the program.
"""

from __future__ import annotations

from typing import Any

from ..runtime.registry import Registry
from .accelerated import AcceleratedSweeps
from .accuracy import LEVEL
from .aliases import SETTINGS, rename
from .criteria import (
    FixedSweeps,
    FlowCriterion,
    GlobalCriterion,
    LocalCriterion,
    MomentumCriterion,
    OverlapCriterion,
    ResidualCriterion,
    RigidSweeps,
)
from .orders import ORDERS, Order
from .second_order import SecondOrder
from .sweeps import Sweeps

METHODS: Registry[Sweeps] = Registry("solver")
METHODS.register("sweeps", Sweeps, earlier=["Sweeps"])
METHODS.register("accelerated", AcceleratedSweeps, earlier=["AcceleratedSweeps"])
METHODS.register("second-order", SecondOrder, earlier=["SecondOrder"])

CRITERIA: Registry[Any] = Registry("criterion")
CRITERIA.register("local", LocalCriterion, earlier=["LocalCriterion"])
CRITERIA.register("global", GlobalCriterion, earlier=["GlobalCriterion"])
CRITERIA.register("fixed", FixedSweeps, earlier=["FixedSweeps"])
CRITERIA.register("rigid", RigidSweeps, earlier=["RigidSweeps"])
CRITERIA.register("residual", ResidualCriterion, earlier=["ResidualCriterion"])
CRITERIA.register("momentum", MomentumCriterion, earlier=["MomentumCriterion"])
CRITERIA.register("flow", FlowCriterion)
CRITERIA.register("overlap", OverlapCriterion, earlier=["OverlapCriterion"])

NAMED_ORDERS: Registry[Order] = Registry("order")
for _name, _order in ORDERS.items():  # random_blocks was RandomBlocks
    NAMED_ORDERS.register(_name, _order, earlier=[_name.title().replace("_", "")])

KINDS: dict[str, Registry[Any]] = {"method": METHODS, "order": NAMED_ORDERS, "criterion": CRITERIA}
NONE: Registry[Any] = Registry("setting")


def words_of(thing: Any, kind: str = "method") -> Any:
    """A solver with its order and criterion as plain words; None for a class that is not in the registry."""
    if thing is None or isinstance(thing, (bool, int, float, str)):
        return thing
    if isinstance(thing, tuple):
        return list(thing)
    known = KINDS.get(kind, NONE)
    name = known.name_of(thing)
    if name is None:
        return None
    settings = {key: words_of(value, key) for key, value in vars(thing).items() if not key.startswith("_")}
    return {"name": name, "version": known.version(name), **settings}


def from_words(words: Any, kind: str = "method") -> Any:
    """The thing of which the words are; raises ValueError for what this version does not know.

    Earlier files have {"class": "module.Class"}: the class counts, whatever it is called now. Before there were levels
    of accuracy, accelerated sweeps asked every step what their settings say.
    """
    if not isinstance(words, dict):
        return words
    given = rename(words, SETTINGS, notice=False) if kind == "method" else words
    settings = {key: from_words(value, key) for key, value in given.items() if key not in ("name", "class", "version")}
    said = str(words.get("name", str(words.get("class")).rpartition(".")[2]))
    try:
        found = KINDS.get(kind, NONE).find(said, words.get("version", 1))
        if found is AcceleratedSweeps and settings.get("accuracy") is None:
            settings |= {"accuracy": "exact", "own": LEVEL}
        return found(**settings)
    except (TypeError, ValueError):
        told = ", ".join(f"{key} = {value!r}" for key, value in settings.items())
        raise ValueError(f"{said}({told})") from None
