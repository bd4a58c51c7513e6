"""Whether the arrays and the text of a checkpoint make sense: compiled loops follow its indices without looking."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.arrays import PER_CONTACT, grain_arrays
from ..model.cell import IMAGES
from ..model.columns import INV_MASS, INV_SPIN
from .errors import Mismatch
from .verify import OF_CELL, TABLE, WALLS, Shape, check, dimension, finite, positive, within

Array = NDArray[Any]

FINITE = ("gravity", "motion_before", "reference")
STATE: dict[str, tuple[str, Shape]] = {
    "gravity": ("f", (3,)),
    "friction": ("f", TABLE),
    "motion_before": ("f", ("before", "x")),
    "step_sizes": ("f", ("s",)),
    "skin": ("f", ("m",)),
    "reference": ("f", ("m", 3)),
    "block": ("iu", ("m",)),
    "block_shape": ("iu", (3,)),
    "block_side": ("f", (2,)),
    "pair_start": ("iu", ("starts",)),
    "pair_partner": ("iu", ("pairs",)),
    "pair_last": ("iu", ("pairs",)),
    "pair_image": ("iu", ("pairs",)),
    "wall_start": ("iu", ("ends",)),
    "wall_grains": ("iu", ("near",)),
    "wall_last": ("iu", ("near",)),
    "wall_skin": ("f", ("lists",)),
    "wall_travel": ("f", ("lists",)),
    "wall_clear": ("f", ("lists", "y")),
    "wall_seen_at": ("f", ("lists", 3)),
    "contact_wall_rows": ("iuf", ("touched", 2)),  # of no kind without walls
    "list_vectors": ("f", (3, 3)),
    "given_grain": ("iu", ("given", 2)),
    "given_force": ("f", ("given", 4)),
    "given_image": ("iu", ("images", 3)),
    "given_vectors": ("f", (3, 3)),
    "given_feature": ("iu", ("points",)),
    "given_lever": ("f", ("points", 3)),
    **{f"cell_{name}": ("iuf", shape) for name, shape in OF_CELL.items()},
    **{f"wall_{name}": ("f", WALLS) for name in ("point", "normal", "along", "about", "spin", "load")},
}


def state(arrays: dict[str, Array], text: str) -> None:
    """Raise unless the arrays and the text of a checkpoint fit each other, and every index has its place."""
    words = json.loads(text)
    sizes: dict[str, int] = {"w": len(words["walls"])}
    _grains(arrays, dimension(words["dimension"]), sizes)
    _contacts(arrays, sizes)
    for name, (kinds, shape) in STATE.items():
        if name in arrays:
            check(name, arrays[name], kinds, shape, sizes)
    for name, found in arrays.items():
        if name.startswith("law_"):
            check(name, found, "f", TABLE, {} if found.size == 1 else sizes)  # a number stands for all materials
        if name in FINITE:
            finite(name, found)
    n, c, pairs, near = (sizes[letter] for letter in ("n", "c", "pairs", "near"))
    mobility = arrays["motion"][:n, INV_MASS]
    positive(
        "mobility", mobility[mobility != 0.0] if words.get("motions") else mobility
    )  # 0 where motion is prescribed
    if (slowest := arrays["motion"][:n, INV_SPIN].min(initial=0.0)) < 0.0:  # 0 for a grain that cannot turn
        raise Mismatch(f"mobility of turning goes down to {slowest:g}, and should not be negative")
    _none_or_all("skin", arrays["skin"], n)
    least = n + len(_present(words))
    if not least <= sizes["before"] <= sizes["b"] or sizes["x"] < 6:  # rows may have been lent within the last step
        told = f"motion has {sizes['b']} rows, {sizes['before']} before the step"
        raise Mismatch(f"{told}, for {n} grains and {least - n} walls")
    within("material", arrays["material"], sizes["k"])
    if "shape" in arrays:
        within("shape", arrays["shape"], len(words.get("shapes") or ()))
    if sizes.get("scalars", 0) != len(words.get("scalar_names", [])):
        raise Mismatch(f"scalars has {sizes.get('scalars', 0)} columns for {len(words['scalar_names'])} names")
    materials = np.array([wall["material"] for wall in words["walls"]])
    check("material of walls", materials.reshape(-1), "iuf" if not materials.size else "iu", WALLS[:1], sizes)
    within("material of walls", materials, sizes["k"])
    images = len(IMAGES) if "cell_vectors" in arrays else 1
    for name, stop in (("pair_image", images), ("contact_image", images), ("pair_partner", n), ("wall_grains", n)):
        within(name, arrays.get(name, np.zeros(0, int)), stop)
    within("contact_pairs", arrays["contact_pairs"], sizes["b"])
    within("contact_wall_rows", arrays["contact_wall_rows"], c + 1)
    for name in ("pair_last", "wall_last"):
        within(name, arrays[name], max(c, 1), -1)
    _starts("pair_start", arrays["pair_start"], sizes.get("m", 0), pairs)
    _starts("wall_start", arrays["wall_start"], sizes["lists"], near)
    if "block" in arrays:
        there_were = n if words.get("stage") is None else max(n, int(words["stage"]["next_id"]))
        _blocks(arrays["block"], arrays["block_shape"], there_were)
    for name, ends in words["groups"].items():
        start, stop = ends
        if not 0 <= start <= stop <= n:
            raise Mismatch(f"group {name} goes from {start} to {stop}, and there are {n} grains")


def _grains(arrays: dict[str, Array], dimension: int, sizes: dict[str, int]) -> None:
    """Raise unless arrays of grains are as model/arrays.py declares them; those of earlier files may be missing."""
    for column in grain_arrays():
        if column.name not in arrays or not column.checkpoint:
            _may_lack(column.name, column.needed)
            continue
        found = arrays[column.name]
        rows = "b" if column.walls else column.name if column.sparse else "n"
        check(column.name, found, column.kinds, (rows, *column.shape(dimension)), sizes)
        if column.sparse:
            _none_or_all(column.name, found, sizes["n"])
        if column.values == "finite":
            finite(column.name, found)
        elif column.values == "positive":
            positive(column.name, found)


def _contacts(arrays: dict[str, Array], sizes: dict[str, int]) -> None:
    """The same for the rows of contacts."""
    for column in PER_CONTACT.values():
        name = f"contact_{column.name}"
        if name not in arrays or not column.checkpoint:
            _may_lack(name, column.needed)
            continue
        found, width = arrays[name], column.shape(0)
        of_laws = not column.widths and any(isinstance(size, str) for size in width)  # of no rows without laws
        check(name, found, column.kinds, (name if of_laws else "c", *width), sizes)
        if of_laws:
            _none_or_all(name, found, sizes["c"])
        if column.widths and found.shape[1] not in column.widths:
            told = " or ".join(map(str, column.widths))
            raise Mismatch(f"{name} has {found.shape[1]} columns, and should have {told}")
        if column.values == "finite":
            finite(name, found)


def _may_lack(name: str, needed: bool) -> None:
    if needed:
        raise Mismatch(f"{name} is missing")


def _none_or_all(name: str, found: Array, rows: int) -> None:
    if len(found) not in (0, rows):
        raise Mismatch(f"{name} has {len(found)} rows, and should have {rows}")


def _present(words: dict[str, Any]) -> list[int]:
    """Numbers of the walls that are there."""
    every = range(len(words["walls"]))
    present = list(every) if words.get("stage") is None else list(words["stage"]["present"])
    if any(w not in every for w in present):
        raise Mismatch(f"walls {present} are there, of {len(every)}")
    return present


def _starts(name: str, found: Array, rows: int, end: int) -> None:
    """Where the part of each row begins: from 0 up to the end, never back."""
    if len(found) == 1 and rows == 0 and found[0] == end:
        return
    if len(found) != rows + 1 or found[0] != 0 or found[-1] != end or (np.diff(found.astype(np.int64)) < 0).any():
        raise Mismatch(f"{name} does not cut {end} entries into {rows} rows")


def _blocks(block: Array, shape: Array, grains: int) -> None:
    """Raise unless there are no more blocks than there were grains, also those that have left since."""
    count = int(shape.min(initial=1)) > 0 and int(np.prod(shape.astype(object)))
    if not count or count > max(1, grains):
        raise Mismatch(f"blocks are {shape.tolist()}, for {grains} grains")
    within("block", block, count, -count)
